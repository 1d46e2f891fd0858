//! Exports and imports of tables of CQL.

use std::path::Path;

use anyhow::{Context as _, bail};
use shelfmark_cql_protocol::client::{Query, Request};
use shelfmark_store::vfs;
use shelfmark_transfer::PositionFile;
use shelfmark_transfer::feed::Feeding;
use shelfmark_transfer::input::Input;
use shelfmark_transfer::items::Target;
use shelfmark_transfer::rows::{
    PeerFailure, RowExport, RowForm, RowImport, export_rows, import_rows, row_records_of,
};

use super::told::{self, Told};
use super::{Opened, Shown, SystemControl, definition_beside, refuse_form, with_hint};
use crate::arguments::{Export, Format, Import};
use crate::commands::cql::pieces::pieces;

/// The ending of a definition's file.
const DEFINITION: &str = ".table.cql";
/// Records that a thread keeps at once.
const BATCH_RECORDS: usize = 200;

fn form(format: Format, table: &str) -> anyhow::Result<RowForm> {
    Ok(match format {
        Format::Jsonl => RowForm::JsonLines,
        Format::Csv => RowForm::Csv,
        Format::Copy => RowForm::Copy,
        Format::DynamodbJson | Format::Workbench => return Err(refuse_form(format, table)),
    })
}

/// Exports a table.
pub(super) fn export(
    export: &Export,
    opened: &Opened,
    table: &str,
    target: Target,
    is_packed: bool,
) -> anyhow::Result<()> {
    let connect = || opened.cql();
    let what = RowExport {
        connect: &connect,
        table: table.to_owned(),
        form: form(export.format, table)?,
        target,
        is_packed,
        ranges: export.segments,
        with_stamps: export.cells,
    };
    let shown = Shown::begin(format!("exporting {table}"));
    let system = SystemControl::start()?;
    let is_file = what.target != Target::Standard;
    let exported = system.run(export.pace.rate, &shown, |control| {
        let exported = export_rows(&what, control);
        exported.map_err(|error| with_hint(error, &PositionFile::beside(&export.to, "")))
    })?;
    if is_file && !exported.definition.is_empty() {
        let path = definition_beside(&export.to, DEFINITION);
        let text = exported.definition.join("\n\n") + "\n";
        vfs::replace_shared(&path, text.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    told::export(export, &exported.sums, exported.bytes, exported.earlier)
}

/// Imports a file or folder.
pub(super) fn import(import: &Import, opened: &Opened, table: &str) -> anyhow::Result<()> {
    let form = form(import.format, table)?;
    if let Some(create) = &import.create {
        run_statements(opened, create)?;
    }
    let connect = || opened.cql();
    let what = RowImport {
        connect: &connect,
        table: table.to_owned(),
        form,
        feeding: Feeding {
            threads: usize::from(import.threads),
            batch_records: BATCH_RECORDS,
            skip_bad: import.skip_bad,
        },
    };
    let position = super::position(import, table);
    let system = SystemControl::start()?;
    let shown = Shown::begin(format!("importing into {table}"));
    let imported = system.run(import.pace.rate, &shown, |control| {
        let mut input = Input::open(&import.from, row_records_of(form))?;
        import_rows(&what, &mut input, &position, control)
            .map_err(|error| with_hint(error, &position))
    })?;
    told::imports(import, &[Told { table: table.to_owned(), is_new: false, imported }])
}

/// Runs the statements of a file; what they make may be there already.
fn run_statements(opened: &Opened, file: &str) -> anyhow::Result<()> {
    let path = Path::new(file);
    if !path.is_file() {
        bail!(
            "--create {file}: for a table of CQL it names a file with the statements that make it"
        );
    }
    let text = vfs::read(path).with_context(|| format!("cannot read {file}"))?;
    let text = String::from_utf8(text).with_context(|| format!("{file} is not UTF-8"))?;
    let mut peer = opened.cql().map_err(|why| anyhow::anyhow!(why))?;
    for piece in pieces(&text).0 {
        let statement = piece.text.trim();
        let query = Query { text: statement, ..Query::default() };
        match peer.ask(&Request::Query(query)) {
            Ok(_) => {}
            Err(PeerFailure::Refused(Some(shelfmark_cql::ErrorCode::AlreadyExists), _)) => {}
            Err(PeerFailure::Refused(_, why) | PeerFailure::Lost(why)) => {
                bail!("{file}: {why}, in: {statement}");
            }
        }
    }
    Ok(())
}
