//! `shelfmark cassandra-cli`: the command language of 2012, from files and at a prompt.
//!
//! What it is not: the language itself, which is `shelfmark-cql`'s; here it is read, run over a
//! connection, and printed.
//!
//! Invariant: a command's words go to standard output, repairs, hints and errors to standard error;
//! a file's first command that fails ends it, and the process exits with 4, as the original does.

mod backend;
mod prompt;

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use anyhow::bail;
use shelfmark_cassandra_cli::{
    Client, Mode, Piece, Place, Script, Warning, document, parse, script,
};

use self::backend::Connected;
use crate::arguments::CassandraCli;
use crate::commands::Stopped;
use crate::commands::cql::read_text;
use crate::connect::Session;

/// Exit code of the process when a command of a file failed.
const FAILED: u8 = 4;

pub(crate) fn run(cli: &CassandraCli) -> anyhow::Result<()> {
    let mode = if cli.forgiving { Mode::Forgiving } else { Mode::Strict };
    let text = match &cli.file {
        Some(path) => Some(read_text(path)?),
        None if std::io::stdin().is_terminal() => None,
        None => Some(read_text(Path::new("-"))?),
    };
    let session = Session::open(&cli.connect)?;
    let mut shell =
        Shell { place: session.place.clone(), client: Client::new(Connected(session), mode), mode };
    let done = shell.serve(cli, text);
    let closed = shell.client.into_backend().0.close();
    done.and(closed)
}

/// A client and the mode in which its language is read.
struct Shell {
    client: Client<Connected>,
    mode: Mode,
    place: String,
}

impl Shell {
    fn serve(&mut self, cli: &CassandraCli, text: Option<(String, String)>) -> anyhow::Result<()> {
        if let Some(keyspace) = &cli.connect.keyspace {
            let cut = script(&format!("use {keyspace};"), Mode::Strict);
            for piece in &cut.pieces {
                match self.piece(piece, "") {
                    Ok(_) => {}
                    Err(Stop::Failed(said)) => bail!("{said}"),
                    Err(Stop::Lost(error)) => return Err(error),
                }
            }
        }
        match text {
            None => prompt::run(self),
            Some((name, text)) => self.file(&name, &text),
        }
    }

    /// Runs a file.
    fn file(&mut self, name: &str, text: &str) -> anyhow::Result<()> {
        let cut = self.cut(text);
        warn_all(name, &cut.warnings);
        if cut.prose_lines > 0 {
            let lines = if cut.prose_lines == 1 { "line" } else { "lines" };
            let (prose, commands) = (cut.prose_lines, cut.pieces.len());
            anstream::eprintln!(
                "{name}: passed over {prose} {lines} of prose between {commands} commands"
            );
        }
        for (index, piece) in cut.pieces.iter().enumerate() {
            let ran = if cut.unfinished && index + 1 == cut.pieces.len() {
                self.open_end(name, piece)
            } else {
                self.piece(piece, name)
            };
            match ran {
                Ok(false) => {}
                Ok(true) => return Ok(()),
                Err(Stop::Failed(said)) => {
                    anstream::eprintln!("{said}");
                    return Err(Stopped { code: FAILED }.into());
                }
                Err(Stop::Lost(error)) => return Err(error),
            }
        }
        Ok(())
    }

    /// Runs the text behind the last semicolon, if the missing one is forgiven. The original drops
    /// it in silence.
    fn open_end(&mut self, name: &str, piece: &Piece) -> Result<bool, Stop> {
        let place = piece.place(0);
        let what = "the command has no semicolon at the end of a line";
        if self.mode == Mode::Strict {
            let (line, column) = (place.line, place.column);
            let last = piece.last_line;
            return Err(Stop::Failed(format!("Line {last} => {line}:{column}: {what}")));
        }
        warn(name, place, what);
        self.piece(piece, name)
    }

    /// Splits a file into commands. In the forgiving mode, a file that is not all commands is a
    /// document.
    fn cut(&self, text: &str) -> Script {
        let cut = script(text, self.mode);
        let readable = |piece: &Piece| parse(piece, self.mode, &mut Vec::new()).is_ok();
        if self.mode == Mode::Strict || cut.pieces.iter().all(readable) {
            cut
        } else {
            document(text)
        }
    }

    /// Runs a command, prints its output, and returns true if it was the last.
    fn piece(&mut self, piece: &Piece, name: &str) -> Result<bool, Stop> {
        let mut warnings = Vec::new();
        let parsed = parse(piece, self.mode, &mut warnings);
        warn_all(name, &warnings);
        let failed = |number: usize, error: String| {
            let line = if name.is_empty() { String::new() } else { format!("Line {number} => ") };
            Stop::Failed(format!("{line}{error}"))
        };
        let command = parsed.map_err(|error| failed(error.place().line, error.to_string()))?;
        let ran = self.client.run(&command);
        let reply = ran.map_err(|error| failed(piece.last_line, error))?;
        let mut out = std::io::stdout().lock();
        for said in &reply.lines {
            writeln!(out, "{said}")?;
        }
        out.flush()?;
        for hint in &reply.hints {
            anstream::eprintln!("hint: {hint}");
        }
        Ok(reply.exit)
    }
}

/// The reason why a command failed.
enum Stop {
    /// The command failed with this message.
    Failed(String),
    /// The connection is lost.
    Lost(anyhow::Error),
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Self::Lost(error.into())
    }
}

fn warn_all(name: &str, warnings: &[Warning]) {
    for warning in warnings {
        warn(name, warning.place(), warning.text());
    }
}

/// Prints a warning about a repair, and its place; typed text has no name.
fn warn(name: &str, place: Place, text: &str) {
    let style = anstyle::AnsiColor::Yellow.on_default().bold();
    let name = if name.is_empty() { String::new() } else { format!("{name}:") };
    let (line, column) = (place.line, place.column);
    anstream::eprintln!("{style}warning:{style:#} {name}{line}:{column}: {text}");
}
