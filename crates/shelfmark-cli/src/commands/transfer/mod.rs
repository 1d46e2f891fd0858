//! `shelfmark export` and `shelfmark import`: a table into files, and files into a table.
//!
//! What it is not: the transfer, which `shelfmark-transfer` does over any endpoint. Here places are opened,
//! files are chosen, progress is shown and the outcome is told.
//!
//! Invariant: standard output has the rows of an export that goes there, and nothing else then.

mod items;
pub(crate) mod migrate;
mod place;
mod rows;
mod show;
mod told;

use place::Opened;
use show::{Shown, SystemControl};

use std::path::{Path, PathBuf};

use anyhow::bail;
use shelfmark_transfer::items::Target;
use shelfmark_transfer::{ErrorKind, PositionFile};

use crate::arguments::{Export, Format, Import};
use place::Kind;

/// The ending of a file of gzip.
const PACKED: &str = ".gz";

pub(crate) fn export(export: &Export) -> anyhow::Result<()> {
    let target = target(&export.to, export.format);
    let is_packed = export.gzip || is_packed(&export.to);
    let opened = Opened::open(&export.place, false)?;
    check_standard(&export.to, export.pace.json)?;
    let outcome = match opened.kind(&export.table, export.format)? {
        Kind::Items(table) => items::export(export, &opened, &table, target, is_packed),
        Kind::Rows(table) => rows::export(export, &opened, &table, target, is_packed),
    };
    opened.close()?;
    outcome
}

pub(crate) fn import(import: &Import) -> anyhow::Result<()> {
    let opened = Opened::open(&import.place, import.create.is_some())?;
    let outcome = match &import.table {
        None => items::import(import, &opened),
        Some(table) => match opened.kind(table, import.format)? {
            Kind::Items(_) => items::import(import, &opened),
            Kind::Rows(table) => rows::import(import, &opened, &table),
        },
    };
    opened.close()?;
    outcome
}

/// Returns the place of an export: the service's form is a folder unless the name is a file's.
fn target(to: &Path, format: Format) -> Target {
    let name = to.to_string_lossy();
    let name = name.strip_suffix(PACKED).unwrap_or(&name);
    let is_file = [".json", ".jsonl", ".ndjson"].iter().any(|end| name.ends_with(end));
    match to.as_os_str() == "-" {
        true => Target::Standard,
        false if format == Format::DynamodbJson && !is_file && !to.is_file() => {
            Target::Folder(to.to_path_buf())
        }
        false => Target::File(to.to_path_buf()),
    }
}

fn is_packed(path: &Path) -> bool {
    path.to_string_lossy().ends_with(PACKED)
}

/// Returns the path of a table's definition beside its rows.
fn definition_beside(to: &Path, ending: &str) -> PathBuf {
    let mut name = to.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Returns the place where an import notes how far it came: beside its input.
fn position(import: &Import, table: &str) -> PositionFile {
    if import.from.as_os_str() == "-" {
        return PositionFile::none();
    }
    let place = match (&import.place.endpoint, &import.place.server) {
        (Some(url), _) => url.clone(),
        (None, Some(server)) => format!("the console {server}"),
        (None, None) => import.place.data.display().to_string(),
    };
    PositionFile::beside(&import.from, format!("import into {table} at {place}"))
}

/// Adds to an error that the same call goes on, if how far it came was noted.
fn with_hint(
    error: shelfmark_transfer::Error,
    position: &PositionFile,
) -> shelfmark_transfer::Error {
    let is_other = matches!(error.kind(), ErrorKind::BadRecord | ErrorKind::Differs);
    match position.path() {
        Some(path) if path.exists() && !is_other => {
            let text = format!("{error}; the same call goes on where this one ended");
            shelfmark_transfer::Error::new(error.kind(), text)
        }
        _ => error,
    }
}

/// Refuses a form for a table that it is not for.
fn refuse_form(format: Format, table: &str) -> anyhow::Error {
    let why = match format {
        Format::Copy => format!(
            "COPY's form is for CQL's rows: export the table as CQL sees it, dynamodb.{table} over an \
             endpoint cql://HOST:PORT, or use --format csv"
        ),
        _ => "this form is for DynamoDB's items: use --format jsonl, csv or copy".to_owned(),
    };
    anyhow::anyhow!(why)
}

/// Fails where a call names what its place does not have.
fn check_standard(to: &Path, json: bool) -> anyhow::Result<()> {
    if json && to.as_os_str() == "-" {
        bail!("--json prints the outcome where the rows go: write them to a file");
    }
    Ok(())
}
