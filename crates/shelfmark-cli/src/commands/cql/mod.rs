//! `shelfmark cql`: a shell for CQL, and its scripts.
//!
//! What it is not: it parses and plans nothing; the server does, also where it is this process.
//!
//! Invariant: on a script's first refused statement it stops, says where, and exits with 2.

mod complete;
mod copy;
mod copy_command;
mod copy_input;
mod forgiving;
pub(super) mod pieces;
mod shell;
mod show;
mod special;

use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

use anyhow::Context as _;
use shelfmark_store::vfs;

use self::complete::Cql as Language;
use self::shell::{Flow, Shell, Source};
use crate::arguments::Cql;
use crate::commands::Stopped;
use crate::connect::{Listening, Session};
use crate::prompt::{Line, Prompt};

pub(crate) use self::show::json_rows;

const STDIN: &str = "-";

pub(crate) fn run(cql: &Cql) -> anyhow::Result<()> {
    let scripts = scripts(cql)?;
    let interactive = scripts.is_none();
    let session = Session::open(&cql.connect)?;
    let mut shell = Shell::new(session, cql.json, interactive);
    let done = serve(&mut shell, cql, scripts);
    let closed = shell.session.close();
    done.and(closed)
}

fn serve(shell: &mut Shell, cql: &Cql, scripts: Option<Vec<Source>>) -> anyhow::Result<()> {
    if let Some(name) = &cql.connect.keyspace {
        shell.enter(name)?;
    }
    let Some(scripts) = scripts else { return prompt(shell) };
    for mut source in scripts {
        if cql.forgiving {
            forgive(&mut source);
        }
        if shell.script(&source)? == Flow::Exit {
            break;
        }
    }
    Ok(())
}

/// Repairs a document, and prints a warning for each repair.
fn forgive(source: &mut Source) {
    let mended = forgiving::mend(&source.text);
    for (line, warning) in mended.warnings {
        let place =
            source.name.as_ref().map_or_else(String::new, |name| format!("{name}:{line}: "));
        anstream::eprintln!("warning: {place}{warning}");
    }
    source.text = mended.text;
}

/// Reads the scripts to run; `None` if statements are typed.
fn scripts(cql: &Cql) -> anyhow::Result<Option<Vec<Source>>> {
    if !cql.execute.is_empty() {
        let source = |text: &String| Source { name: None, text: text.clone() };
        return Ok(Some(cql.execute.iter().map(source).collect()));
    }
    if cql.file.is_empty() {
        if std::io::stdin().is_terminal() {
            return Ok(None);
        }
        return Ok(Some(vec![source(Path::new(STDIN))?]));
    }
    cql.file.iter().map(|path| source(path)).collect::<anyhow::Result<_>>().map(Some)
}

fn source(path: &Path) -> anyhow::Result<Source> {
    let (name, text) = read_text(path)?;
    Ok(Source { name: Some(name), text })
}

/// Reads a script, and returns it with its name; `-` is standard input.
pub(crate) fn read_text(path: &Path) -> anyhow::Result<(String, String)> {
    let (name, bytes) = if path == Path::new(STDIN) {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes)?;
        ("<stdin>".to_owned(), bytes)
    } else {
        let shown = path.display().to_string();
        let bytes = vfs::read(path).with_context(|| format!("cannot read {shown}"))?;
        (shown, bytes)
    };
    let text = String::from_utf8(bytes).ok().with_context(|| format!("{name} is not UTF-8"))?;
    Ok((name, text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned()))
}

/// Runs typed statements until the user leaves.
fn prompt(shell: &mut Shell) -> anyhow::Result<()> {
    let mut prompt = Prompt::new(Language::default(), "cql_history")?;
    let listening = Listening::start()?;
    shell.interrupted_by(&listening.interrupt);
    let _ = shell.command("SHOW HOST");
    let _ = shell.command("SHOW VERSION");
    anstream::println!("HELP; shows what can be typed.");
    loop {
        if shell.stale {
            let names = shell.names();
            if let Some(language) = prompt.language() {
                language.names = names;
            }
        }
        let head = match &shell.keyspace {
            Some(keyspace) => format!("cql:{keyspace}> "),
            None => "cql> ".to_owned(),
        };
        match prompt.read(&head)? {
            Line::Interrupted => {}
            Line::End => return Ok(()),
            Line::Text(text) => {
                // What was asked for before is over.
                listening.interrupt.forget();
                match shell.script(&Source { name: None, text }) {
                    Ok(Flow::Go) => {}
                    Ok(Flow::Exit) => return Ok(()),
                    Err(error) if error.is::<Stopped>() => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }
}
