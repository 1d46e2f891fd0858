//! `shelfmark design`: models, defects, proofs.
//!
//! What it is not: it judges nothing itself; `shelfmark-design` does, and this prints.
//!
//! Invariant: a model that does not parse ends with exit code 2; otherwise the code is 0 unless
//! `--deny` finds what it denies. The machine forms have exactly the fields that are documented.

mod check;
mod confirm;
mod draw;
mod import;
mod plan;
mod prove;
mod size;
mod verify;

use std::io::{Read as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use shelfmark_design::{Document, Report};

use crate::arguments::{Design, DesignVerb};

/// Something that was denied was found; it has been printed.
#[derive(Debug)]
pub(crate) struct Denied;

impl std::fmt::Display for Denied {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("denied")
    }
}

impl std::error::Error for Denied {}

/// A text that is no model, with its messages.
#[derive(Debug)]
pub(crate) struct NoModel(Report);

impl std::fmt::Display for NoModel {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = self.0.count;
        let plural = if count == 1 { "" } else { "s" };
        write!(out, "{}\n{count} error{plural}\n", self.0)
    }
}

impl std::error::Error for NoModel {}

pub(crate) fn run(design: &Design) -> anyhow::Result<()> {
    match &design.verb {
        DesignVerb::New => print(shelfmark_design::starter()),
        DesignVerb::Fmt { files, check } => fmt(files, *check),
        DesignVerb::Check(run) => check::run(run),
        DesignVerb::Prove(run) => prove::run(run),
        DesignVerb::Confirm(run) => confirm::run(run),
        DesignVerb::Verify { certificates } => verify::run(certificates),
        DesignVerb::Plan(run) => plan::run(run),
        DesignVerb::Size { file, schema, format } => size::run(file, schema.as_deref(), *format),
        DesignVerb::Import { file, from } => import::run(file, *from),
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
    shelfmark_store::vfs::replace(path, text.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))
}

fn document(path: &Path) -> anyhow::Result<Document> {
    let text = text_of(path)?;
    Ok(Document::parse(&path.display().to_string(), &text).map_err(NoModel)?)
}

fn fmt(files: &[std::path::PathBuf], check: bool) -> anyhow::Result<()> {
    let mut changed = Vec::new();
    for path in files {
        let text = text_of(path)?;
        let name = path.display().to_string();
        let formatted = Document::format(&name, &text).map_err(NoModel)?;
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
    if let Some(text) = shelfmark_design::explain(what) {
        return print(&text);
    }
    let Some(file) = file else {
        let known = shelfmark_design::lints().join(", ");
        bail!("{what} is no lint; known: {known}. For a pattern, name its model with --file");
    };
    let document = document(file)?;
    let text = document
        .explain(what)
        .ok_or_else(|| anyhow!("{} has no pattern {what}", file.display()))?;
    print(&text)
}

fn json(file: Option<&Path>, back: bool) -> anyhow::Result<()> {
    let Some(file) = file else {
        return print(&format!("{:#}\n", Document::json_schema()));
    };
    if back {
        let text = Document::text_of_json(&text_of(file)?).map_err(|error| anyhow!(error))?;
        return print(&text);
    }
    let value = document(file)?.to_json().map_err(|error| anyhow!(error))?;
    print(&format!("{value:#}\n"))
}
