//! `shelfmark design`: models, defects, proofs.
//!
//! What it is not: it judges nothing itself; `shelfmark-design` does, and this prints.
//!
//! Invariant: a model that cannot be read or does not parse, and a call that names what there is
//! not, end with exit code 2 and nothing on standard output; otherwise the code is 0 unless
//! `--deny` finds what it denies. The machine forms have exactly the fields that are documented.

mod calls;
mod check;
mod confirm;
mod draw;
mod endpoint;
mod import;
mod plan;
mod prove;
mod size;
mod verify;

use std::io::{Read as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use shelfmark_design::{Document, Report, nearest};

use crate::arguments::{Design, DesignVerb};

/// The error for a denied finding that was printed.
#[derive(Debug)]
pub(crate) struct Denied;

impl std::fmt::Display for Denied {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("denied")
    }
}

impl std::error::Error for Denied {}

/// The error before any work: a text with messages, or a wrong argument.
#[derive(Debug)]
pub(crate) enum NoModel {
    Text(Report),
    Call(anyhow::Error),
}

impl NoModel {
    fn call(message: String) -> anyhow::Error {
        Self::Call(anyhow!(message)).into()
    }
}

impl std::fmt::Display for NoModel {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(report) => {
                let count = shelfmark_design::shown::counted(report.count, "error");
                writeln!(out, "{report}\n{count}")
            }
            Self::Call(error) => writeln!(out, "error: {error:#}"),
        }
    }
}

impl std::error::Error for NoModel {}

pub(crate) fn run(design: &Design) -> anyhow::Result<()> {
    match &design.verb {
        DesignVerb::New => print(shelfmark_design::starter()),
        DesignVerb::Fmt { files, check } => fmt(files, *check),
        DesignVerb::Check(run) => check::run(run),
        DesignVerb::Prove { run, deny, save } => prove::run(run, deny, save.as_deref()),
        DesignVerb::Confirm(run) => confirm::run(run),
        DesignVerb::Verify { certificates } => verify::run(certificates),
        DesignVerb::Plan(run) => plan::run(run),
        DesignVerb::Calls(run) => calls::run(run),
        DesignVerb::Size { file, schema, format } => size::run(file, schema.as_deref(), *format),
        DesignVerb::Import { file, from, log, span, tls_ca } => {
            if let Some(server) = import::server(file) {
                return import::live(&server, tls_ca.as_deref());
            }
            import::run(file, *from, log.as_deref(), span.as_deref())
        }
        DesignVerb::Explain { what, file } => explain(what, file.as_deref()),
        DesignVerb::Draw(draw) => draw::run(draw),
        DesignVerb::Json { file, back } => json(file.as_deref(), *back),
    }
}

fn print(text: &str) -> anyhow::Result<()> {
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

fn text_of(path: &Path) -> anyhow::Result<String> {
    read(path).map_err(|error| NoModel::Call(error).into())
}

fn read(path: &Path) -> anyhow::Result<String> {
    if path.as_os_str() == "-" {
        let mut text = String::new();
        let most = shelfmark_design::limits::SOURCE_BYTES_MAX as u64 + 1;
        std::io::stdin().take(most).read_to_string(&mut text)?;
        return Ok(text);
    }
    let bytes = shelfmark_store::vfs::read(path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    String::from_utf8(bytes).map_err(|_| anyhow!("{} is no UTF-8 text", path.display()))
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    shelfmark_store::vfs::replace_shared(path, text.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))
}

fn document(path: &Path) -> anyhow::Result<Document> {
    let text = text_of(path)?;
    Ok(Document::parse(&path.display().to_string(), &text).map_err(NoModel::Text)?)
}

/// Fails on the name of a schema that the model does not have.
fn known_schema(document: &Document, schema: Option<&str>) -> anyhow::Result<()> {
    let Some(schema) = schema else { return Ok(()) };
    let known = document.schemas();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    if known.contains(&schema) {
        return Ok(());
    }
    Err(NoModel::call(format!("there is no schema {schema}{}", suggestion(schema, &known))))
}

/// Returns the words of `--deny` in their canonical spelling; fails on unknown ones.
fn known_words<'k>(denied: &[String], known: &[&'k str]) -> anyhow::Result<Vec<&'k str>> {
    let spelt = |word: &String| {
        known.iter().copied().find(|one| one.eq_ignore_ascii_case(word)).ok_or_else(|| {
            NoModel::call(format!("nothing is called {word}{}", suggestion(word, known)))
        })
    };
    denied.iter().map(spelt).collect()
}

/// Suggests the nearest known word, and lists all.
fn suggestion(written: &str, known: &[&str]) -> String {
    const SHOWN_MAX: usize = 60;
    let meant = nearest(written, known.iter().copied());
    let meant = meant.map_or_else(String::new, |meant| format!("; did you mean {meant}?"));
    if known.is_empty() {
        return format!("{meant}; the model has none");
    }
    let more = if known.len() > SHOWN_MAX { ", …" } else { "" };
    let shown: Vec<&str> = known.iter().copied().take(SHOWN_MAX).collect();
    format!("{meant}{} known: {}{more}", if meant.is_empty() { ";" } else { "" }, shown.join(", "))
}

/// Prints a hint for a model without schemas, in which nothing can be found.
fn hint_without_schemas(document: &Document) {
    if document.schemas().is_empty() {
        anstream::eprintln!(
            "{} has no schema to look at; `shelfmark design plan` derives one",
            document.name()
        );
    }
}

fn fmt(files: &[std::path::PathBuf], check: bool) -> anyhow::Result<()> {
    let mut changed = Vec::new();
    for path in files {
        let text = text_of(path)?;
        let name = path.display().to_string();
        let formatted = Document::format(&name, &text).map_err(NoModel::Text)?;
        if path.as_os_str() == "-" {
            print(&formatted)?;
        } else if formatted != text {
            changed.push(name);
            if !check {
                write(path, &formatted)?;
            }
        }
    }
    if check && !changed.is_empty() {
        bail!("not formatted: {}; run `shelfmark design fmt`", changed.join(", "));
    }
    Ok(())
}

fn explain(what: &str, file: Option<&Path>) -> anyhow::Result<()> {
    let lint =
        shelfmark_design::explain(what).or_else(|| shelfmark_design::explain(&what.to_uppercase()));
    match (lint, file) {
        (Some(text), None) => return print(&text),
        (None, None) => {
            let known = shelfmark_design::lints();
            let meant = suggestion(what, &known);
            return Err(NoModel::call(format!(
                "{what} is no lint{meant}. For a pattern, name its model with --file"
            )));
        }
        _ => {}
    }
    let Some(file) = file else { return Ok(()) };
    let document = document(file)?;
    if let Some(text) = document.explain(what) {
        return print(&text);
    }
    if let Some(text) = shelfmark_design::explain(what) {
        return print(&text);
    }
    let known: Vec<&str> = document.patterns().collect();
    let meant = suggestion(what, &known);
    Err(NoModel::call(format!("{} has no pattern {what}{meant}", file.display())))
}

fn json(file: Option<&Path>, back: bool) -> anyhow::Result<()> {
    let Some(file) = file else {
        return print(&format!("{:#}\n", Document::json_schema()));
    };
    if back {
        let name = file.display().to_string();
        let json = text_of(file)?;
        return print(&Document::text_of_json(&name, &json).map_err(NoModel::Text)?);
    }
    let value = document(file)?.to_json().map_err(|error| anyhow!(error))?;
    print(&format!("{value:#}\n"))
}
