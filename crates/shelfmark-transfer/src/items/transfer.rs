//! A table of items to a file, and a file into a table of items.
//!
//! Invariant: counts and checksums of an export and of the import of its files are equal.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;
use shelfmark_dynamo::export_form;
use shelfmark_model::Item;

use super::client::{Client, Connect};
use super::csv::{Columns, Needed};
use super::definition::Definition;
use super::put::ItemPutter;
use super::scan::{ItemSource, SEGMENTS_MAX};
use super::text::{item_of, text_of};
use super::{plain, workbench};
use crate::control::Control;
use crate::delimited::{Dialect, Field, Writer};
use crate::error::{Error, Result};
use crate::export::{ExportPosition, export};
use crate::feed::{Bad, Feeding, Imported, Keep, Kept, feed};
use crate::input::{Input, Place, Record, Records};
use crate::output::{ExportFolder, ExportedTable, FileOutput, Output};
use crate::position::PositionFile;
use crate::sums::Sums;
use crate::walk::{Mark, walk};

/// The form of items in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemForm {
    /// The service's export: lines of `{"Item": {"pk": {"S": "a"}}}`, alone or in a folder with manifests.
    DynamoDbJson,
    /// Plain JSON, a line each.
    JsonLines,
    /// Delimited text with a header.
    Csv,
    /// A data model of NoSQL Workbench with its rows.
    Workbench,
}

/// A place for an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Standard output.
    Standard,
    /// A file.
    File(PathBuf),
    /// A folder as the service's exports are, of objects that are always packed.
    Folder(PathBuf),
}

impl Target {
    fn path(&self) -> Option<&Path> {
        match self {
            Self::Standard => None,
            Self::File(path) | Self::Folder(path) => Some(path),
        }
    }
}

/// An export of a table of items.
pub struct ItemExport<'e> {
    /// The endpoint.
    pub connect: &'e Connect<'e>,
    /// The table's name.
    pub table: String,
    /// The form.
    pub form: ItemForm,
    /// The place.
    pub target: Target,
    /// True to pack a file as gzip.
    pub is_packed: bool,
    /// Segments that are read at once.
    pub segments: usize,
    /// A random number for the id of an export.
    pub random: u64,
}

/// An export that ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Exported {
    /// The rows.
    pub sums: Sums,
    /// The definition of the table.
    pub definition: Definition,
    /// The bytes that were written.
    pub bytes: u64,
    /// The rows of earlier calls among them.
    pub earlier: u64,
}

/// Exports a table.
///
/// # Errors
///
/// * [`crate::ErrorKind::Invalid`]: the form cannot carry the table, or the call is wrong.
/// * Those of the endpoint and of files; call again to go on where it ended.
pub fn export_items<'e>(what: &'e ItemExport<'e>, control: &'e Control<'e>) -> Result<Exported> {
    if !(1..=SEGMENTS_MAX).contains(&what.segments) {
        return Err(Error::invalid(format!("a table is read in 1 to {SEGMENTS_MAX} segments")));
    }
    let definition = Definition::read(&Client::new(what.connect, control)?, &what.table)?;
    let of = format!("export of {} as {:?}", what.table, (what.form, what.is_packed));
    let file = what.target.path().map_or(PositionFile::none(), |at| PositionFile::beside(at, of));
    let position = match file.load()? {
        Some(position) => position,
        None => ExportPosition::new(first_note(what, &definition, control)?, what.segments),
    };
    let (source, earlier) = (source(what, position.parts(), control), position.rows());
    let columns = columns(what, &position.note, &definition)?;
    let encode = |item: &Item, out: &mut Vec<u8>, sums: &mut Sums| {
        let text = text_of(item);
        sums.add(text.as_bytes());
        encode(what.form, item, &text, &columns, out)
    };
    let is_packed = what.is_packed || matches!(what.target, Target::Folder(_));
    let mut output = output(what, &position.note, &definition, &columns)?;
    let sums = export(&source, &encode, is_packed, &mut *output, (&file, position), control)?;
    Ok(Exported { sums, definition, bytes: output.bytes(), earlier })
}

fn source<'e>(
    what: &'e ItemExport<'e>,
    segments: usize,
    control: &'e Control<'e>,
) -> ItemSource<'e> {
    ItemSource { connect: what.connect, control, table: what.table.clone(), segments }
}

/// Decides what the calls of one export have in common: columns, or the id of the folder.
fn first_note(
    what: &ItemExport<'_>,
    definition: &Definition,
    control: &Control<'_>,
) -> Result<String> {
    match (what.form, &what.target) {
        (ItemForm::Csv, _) => {
            let needed = needed(&source(what, what.segments, control), control)?;
            let types = definition.key_types();
            let header = Columns::of(needed, &definition.key_names()).header(&types);
            serde_json::to_string(&header.into_iter().map(|own| own.text).collect::<Vec<_>>())
                .map_err(|error| Error::invalid(error.to_string()))
        }
        (ItemForm::DynamoDbJson, Target::Folder(_)) => {
            Ok(export_form::id(control.clock.now_millis(), what.random))
        }
        _ => Ok(String::new()),
    }
}

/// Reads the whole table for the attributes of its items and their types.
fn needed(source: &ItemSource<'_>, control: &Control<'_>) -> Result<Needed> {
    let mut all = Needed::default();
    walk(
        source,
        &vec![Mark::Begin; source.segments],
        control,
        &|_| {
            Ok(Box::new(|items: Vec<Item>| {
                let mut needed = Needed::default();
                items.iter().try_for_each(|item| needed.add(item))?;
                Ok(needed)
            }))
        },
        &mut |_, needed, _| all.merge(needed),
    )?;
    Ok(all)
}

fn columns(what: &ItemExport<'_>, note: &str, definition: &Definition) -> Result<Columns> {
    if what.form != ItemForm::Csv {
        return Ok(Columns::default());
    }
    let names: Vec<String> =
        serde_json::from_str(note).map_err(|error| Error::invalid(error.to_string()))?;
    let header: Vec<Field> = names.into_iter().map(|text| Field { text, quoted: false }).collect();
    Columns::read(&header, &definition.key_types())
}

fn record(fields: &[Field], out: &mut Vec<u8>) -> Result<()> {
    let mut writer = Writer::new(out, Dialect::COMMON);
    fields.iter().for_each(|field| writer.field(field));
    writer.end().map_err(|error| Error::invalid(error.to_string()))
}

fn encode(
    form: ItemForm,
    item: &Item,
    text: &str,
    columns: &Columns,
    out: &mut Vec<u8>,
) -> Result<()> {
    match form {
        ItemForm::DynamoDbJson => {
            out.extend_from_slice(b"{\"Item\":");
            out.extend_from_slice(text.as_bytes());
            out.extend_from_slice(b"}\n");
        }
        ItemForm::JsonLines => {
            let line = plain::line_of(item).map_err(Error::invalid)?;
            out.extend_from_slice(line.as_bytes());
            out.push(b'\n');
        }
        ItemForm::Csv => record(&columns.record(item)?, out)?,
        ItemForm::Workbench => {
            out.extend_from_slice(b",\n");
            out.extend_from_slice(text.as_bytes());
        }
    }
    Ok(())
}

fn output(
    what: &ItemExport<'_>,
    note: &str,
    definition: &Definition,
    columns: &Columns,
) -> Result<Box<dyn Output>> {
    let path = match (&what.target, what.form) {
        (Target::Folder(root), ItemForm::DynamoDbJson) => {
            // The id begins with the time.
            let start_ms = note.split('-').next().and_then(|time| time.parse().ok());
            let start_ms = start_ms.unwrap_or_default();
            let (arn, table_id) = (definition.arn.clone(), definition.id.clone());
            let table = ExportedTable { id: note.to_owned(), arn, table_id, start_ms };
            return Ok(Box::new(ExportFolder::new(root.clone(), table)));
        }
        (Target::Folder(root), _) => {
            let why = format!("{} is a folder; this form is one file", root.display());
            return Err(Error::invalid(why));
        }
        (Target::File(path), _) => Some(path.clone()),
        (Target::Standard, _) => None,
    };
    let output = FileOutput::new(path, what.is_packed);
    Ok(Box::new(match what.form {
        ItemForm::Csv => {
            let mut head = Vec::new();
            record(&columns.header(&definition.key_types()), &mut head)?;
            output.with_head(head)
        }
        ItemForm::Workbench => {
            let (head, tail) = workbench::around(definition)?;
            output.with_list(head, tail)
        }
        ItemForm::DynamoDbJson | ItemForm::JsonLines => output,
    }))
}

/// An import into a table of items, which is there.
pub struct ItemImport<'i> {
    /// The endpoint.
    pub connect: &'i Connect<'i>,
    /// The table's name.
    pub table: String,
    /// The form.
    pub form: ItemForm,
    /// The settings of the feed.
    pub feeding: Feeding,
}

/// Returns the form of the records in files of items; none for those that are read as a whole.
#[must_use]
pub fn records_of(form: ItemForm) -> Option<Records> {
    match form {
        ItemForm::DynamoDbJson | ItemForm::JsonLines => Some(Records::Lines),
        ItemForm::Csv => Some(Records::Delimited { dialect: Dialect::COMMON, header: true }),
        ItemForm::Workbench => None,
    }
}

/// Puts all records of an input.
///
/// # Errors
///
/// * [`crate::ErrorKind::BadRecord`]: more records are bad than may be.
/// * Those of the endpoint and of files; call again to go on where it ended.
pub fn import_items<'i>(
    what: &'i ItemImport<'i>,
    input: &mut Input,
    position: &PositionFile,
    control: &'i Control<'i>,
) -> Result<Imported> {
    let definition = Definition::read(&Client::new(what.connect, control)?, &what.table)?;
    let columns = match (what.form, input.header()) {
        (ItemForm::Csv, Some(header)) => Columns::read(header, &definition.key_types())?,
        _ => Columns::default(),
    };
    let begin = move || {
        let client = Client::new(what.connect, control)?;
        let putter = ItemPutter::new(client, &what.table);
        let columns = columns.clone();
        let keep: Keep<'i> = Box::new(move |records: &[(Place, Record)]| {
            keep(&putter, what.form, &columns, records)
        });
        Ok(keep)
    };
    feed(input, what.feeding, position, control, &begin)
}

fn keep(
    putter: &ItemPutter<'_>,
    form: ItemForm,
    columns: &Columns,
    records: &[(Place, Record)],
) -> Result<Kept> {
    let mut kept = Kept::default();
    let (mut items, mut places) = (Vec::with_capacity(records.len()), Vec::new());
    for (place, record) in records {
        match decode(form, columns, record) {
            Ok(item) => {
                items.push(item);
                places.push(place);
            }
            Err(why) => kept.bad.push(Bad { place: place.clone(), why }),
        }
    }
    let put = putter.put(&items)?;
    kept.sums = put.sums;
    for (at, why) in put.refused {
        if let Some(place) = places.get(at) {
            kept.bad.push(Bad { place: (*place).clone(), why });
        }
    }
    kept.bad.sort_by_key(|bad| bad.place.line);
    Ok(kept)
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "Item")]
    item: Option<&'a RawValue>,
}

fn decode(form: ItemForm, columns: &Columns, record: &Record) -> std::result::Result<Item, String> {
    let text = match record {
        Record::Fields(fields) => return columns.item(fields),
        Record::Line(line) => {
            std::str::from_utf8(line).map_err(|_| "it is not UTF-8".to_owned())?
        }
    };
    match form {
        ItemForm::JsonLines => plain::item_of(text),
        ItemForm::Workbench => item_of(text),
        ItemForm::DynamoDbJson | ItemForm::Csv => {
            let line: Line<'_> =
                serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))?;
            let item = line.item.ok_or(
                "it has no \"Item\": lines of a full export are {\"Item\": {…}}; incremental exports are \
                 not read",
            )?;
            item_of(item.get())
        }
    }
}
