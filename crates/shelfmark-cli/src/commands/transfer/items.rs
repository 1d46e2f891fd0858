//! Exports and imports of tables of items.

use std::path::Path;

use anyhow::{Context as _, bail};
use shelfmark_engine::Random as _;
use shelfmark_store::vfs;
use shelfmark_transfer::feed::{Feeding, Imported};
use shelfmark_transfer::input::Input;
use shelfmark_transfer::items::{
    Client, Connect, Created, Definition, ItemExport, ItemForm, ItemImport, Target, export_items,
    import_items, read_workbench, records_of,
};
use shelfmark_transfer::{Control, ErrorKind, PositionFile};

use super::told::{self, Told};
use super::{Opened, Shown, SystemControl, definition_beside, refuse_form, with_hint};
use crate::arguments::{Export, Format, Import};
use crate::random::SystemRandom;

/// The ending of a definition's file.
const DEFINITION: &str = ".table.json";
/// Records that a thread keeps at once: a few of the largest batches.
const BATCH_RECORDS: usize = 100;

fn form(format: Format, table: &str) -> anyhow::Result<ItemForm> {
    Ok(match format {
        Format::DynamodbJson => ItemForm::DynamoDbJson,
        Format::Jsonl => ItemForm::JsonLines,
        Format::Csv => ItemForm::Csv,
        Format::Workbench => ItemForm::Workbench,
        Format::Copy => return Err(refuse_form(format, table)),
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
    if export.cells {
        bail!("--cells keeps what only rows of CQL have");
    }
    let connect = || opened.dynamodb();
    let what = ItemExport {
        connect: &connect,
        table: table.to_owned(),
        form: form(export.format, table)?,
        target,
        is_packed,
        segments: export.segments,
        random: SystemRandom.number(),
    };
    let shown = Shown::begin(format!("exporting {table}"));
    let system = SystemControl::start()?;
    let exported = system.run(export.pace.rate, &shown, |control| {
        let exported = export_items(&what, control);
        exported.map_err(|error| with_hint(error, &PositionFile::beside(&export.to, "")))
    })?;
    if what.target != Target::Standard {
        let path = definition_beside(&export.to, DEFINITION);
        let text = exported.definition.text() + "\n";
        vfs::replace_shared(&path, text.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    told::export(export, &exported.sums, exported.bytes, exported.earlier)
}

/// Imports a file or folder.
pub(super) fn import(import: &Import, opened: &Opened) -> anyhow::Result<()> {
    let connect = || opened.dynamodb();
    if import.format == Format::Workbench {
        return import_workbench(import, &connect);
    }
    let table = import.table.as_deref().unwrap_or_default();
    let form = form(import.format, table)?;
    let Some(records) = records_of(form) else { bail!("this form has no records") };
    let system = SystemControl::start()?;
    let shown = Shown::begin(format!("importing into {table}"));
    let mut created = None;
    let imported = system.run(import.pace.rate, &shown, |control| {
        created = create(import, table, &connect, control)?;
        let mut input = Input::open(&import.from, records)?;
        put(import, &mut input, (form, table), &connect, control)
    })?;
    let is_new = created == Some(Created::New);
    told::imports(import, &[Told { table: table.to_owned(), is_new, imported }])
}

/// Creates the table if that is asked for.
fn create(
    import: &Import,
    table: &str,
    connect: &Connect<'_>,
    control: &Control<'_>,
) -> shelfmark_transfer::Result<Option<Created>> {
    let Some(create) = &import.create else { return Ok(None) };
    let path = Path::new(create);
    let text = match path.is_file() {
        true => {
            let bytes = vfs::read(path);
            let bytes = bytes.map_err(|error| {
                let why = format!("cannot read {create}: {error}");
                shelfmark_transfer::Error::new(ErrorKind::Io, why)
            })?;
            String::from_utf8_lossy(&bytes).into_owned()
        }
        false => create.clone(),
    };
    let client = Client::new(connect, control)?;
    Definition::parse(&text, table)?.create(&client).map(Some)
}

fn put(
    import: &Import,
    input: &mut Input,
    (form, table): (ItemForm, &str),
    connect: &Connect<'_>,
    control: &Control<'_>,
) -> shelfmark_transfer::Result<Imported> {
    let position = match form {
        ItemForm::Workbench => PositionFile::none(),
        _ => super::position(import, table),
    };
    let what = ItemImport {
        connect,
        table: table.to_owned(),
        form,
        feeding: Feeding {
            threads: usize::from(import.threads),
            batch_records: BATCH_RECORDS,
            skip_bad: import.skip_bad,
        },
    };
    import_items(&what, input, &position, control).map_err(|error| with_hint(error, &position))
}

/// Imports the tables of a data model, or the one that is named.
fn import_workbench(import: &Import, connect: &Connect<'_>) -> anyhow::Result<()> {
    if import.create.is_some() {
        bail!("a data model has the definitions of its tables: leave --create out");
    }
    let system = SystemControl::start()?;
    let shown = Shown::begin("importing");
    let all = system.run(import.pace.rate, &shown, |control| {
        let mut all = Vec::new();
        for table in read_workbench(&import.from, import.table.as_deref())? {
            let client = Client::new(connect, control)?;
            let created = table.definition.create(&client)?;
            let name = table.definition.table().to_owned();
            let mut input = Input::of_records(table.rows);
            let imported = put(import, &mut input, (ItemForm::Workbench, &name), connect, control)?;
            all.push(Told { table: name, is_new: created == Created::New, imported });
        }
        Ok(all)
    })?;
    told::imports(import, &all)
}
