//! A table of CQL to a file, and a file into a table of CQL.

use std::sync::Arc;

use super::peer::{ConnectCql, Peer};
use super::put::RowPutter;
use super::range::RowSource;
use super::table::RowTable;
use super::text::{cell_of, field_of};
use super::{Row, json};
use crate::control::Control;
use crate::delimited::{Dialect, Field, Writer};
use crate::error::{Error, Result};
use crate::export::{ExportPosition, export};
use crate::feed::{Bad, Feeding, Imported, Keep, Kept, feed};
use crate::input::{Input, Place, Record, Records};
use crate::items::{SEGMENTS_MAX, Target};
use crate::output::{FileOutput, Output as _};
use crate::position::PositionFile;
use crate::sums::Sums;

/// The form of rows in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowForm {
    /// JSON, a line each.
    JsonLines,
    /// Delimited text with a header, quotes doubled.
    Csv,
    /// The form of cqlsh's COPY: no header, quotes escaped.
    Copy,
}

impl RowForm {
    fn dialect(self) -> Option<Dialect> {
        match self {
            Self::JsonLines => None,
            Self::Csv => Some(Dialect::COMMON),
            Self::Copy => Some(Dialect::default()),
        }
    }
}

/// An export of a table of CQL.
pub struct RowExport<'e> {
    /// The server.
    pub connect: &'e ConnectCql<'e>,
    /// The table, `KEYSPACE.NAME`.
    pub table: String,
    /// The form.
    pub form: RowForm,
    /// The place.
    pub target: Target,
    /// True to pack the file as gzip.
    pub is_packed: bool,
    /// Ranges of tokens that are read at once.
    pub ranges: usize,
    /// True to keep write times and expiries.
    pub with_stamps: bool,
}

/// An export that ended.
#[derive(Debug, Clone, PartialEq)]
pub struct RowsExported {
    /// The rows.
    pub sums: Sums,
    /// The bytes that were written.
    pub bytes: u64,
    /// The rows of earlier calls among them.
    pub earlier: u64,
    /// The statements that make the table, if the server tells them.
    pub definition: Vec<String>,
}

/// Exports a table.
///
/// # Errors
///
/// * [`crate::ErrorKind::Invalid`]: the form cannot carry what is asked for.
/// * Those of the server and of files; call again to go on where it ended.
pub fn export_rows<'e>(what: &'e RowExport<'e>, control: &'e Control<'e>) -> Result<RowsExported> {
    if !(1..=SEGMENTS_MAX).contains(&what.ranges) {
        return Err(Error::invalid(format!("a table is read in 1 to {SEGMENTS_MAX} segments")));
    }
    if what.with_stamps && what.form != RowForm::JsonLines {
        return Err(Error::invalid(
            "delimited text has no place for write times and expiries: use --format jsonl with --cells",
        ));
    }
    let path = match &what.target {
        Target::Standard => None,
        Target::File(path) | Target::Folder(path) => Some(path.clone()),
    };
    let mut peer = Peer::new(what.connect, control)?;
    let table = Arc::new(RowTable::read(&mut peer, &what.table)?);
    let definition = definition(&mut peer, &table)?;
    let of = (what.form, what.is_packed, what.with_stamps);
    let of = format!("export of {} as {of:?}", what.table);
    let file = path.as_deref().map_or(PositionFile::none(), |at| PositionFile::beside(at, of));
    let position = match file.load()? {
        Some(position) => position,
        None => ExportPosition::new(String::new(), what.ranges),
    };
    let earlier = position.rows();
    let source = RowSource {
        connect: what.connect,
        control,
        table: Arc::clone(&table),
        ranges: position.parts(),
        with_stamps: what.with_stamps,
    };
    let encode = |row: &Row, out: &mut Vec<u8>, sums: &mut Sums| {
        row.add_to(&table, sums);
        encode(what.form, &table, row, out)
    };
    let mut output = FileOutput::new(path, what.is_packed);
    if what.form == RowForm::Csv {
        let mut head = Vec::new();
        let names = table.columns.iter();
        let names = names.map(|own| Field { text: own.name.clone(), quoted: false });
        record(Dialect::COMMON, &names.collect::<Vec<_>>(), &mut head)?;
        output = output.with_head(head);
    }
    let sums = export(&source, &encode, what.is_packed, &mut output, (&file, position), control)?;
    Ok(RowsExported { sums, bytes: output.bytes(), earlier, definition })
}

/// Asks for the statements that make a table; none where the server does not know that.
fn definition(peer: &mut Peer<'_>, table: &RowTable) -> Result<Vec<String>> {
    use shelfmark_cql_protocol::client::{Query, Request};
    let text = format!("DESCRIBE TABLE {}", table.full_name());
    let query = Query { text: &text, ..Query::default() };
    let Ok(answer) = peer.ask(&Request::Query(query))? else { return Ok(Vec::new()) };
    let rows = answer.page.unwrap_or_default().rows;
    let statement = |row: &Vec<Option<bytes::Bytes>>| {
        shelfmark_cql_syntax::recreating(&super::peer::text_of(row.get(3))).to_owned()
    };
    Ok(rows.iter().map(statement).collect())
}

fn record(dialect: Dialect, fields: &[Field], out: &mut Vec<u8>) -> Result<()> {
    let mut writer = Writer::new(out, dialect);
    fields.iter().for_each(|field| writer.field(field));
    writer.end().map_err(|error| Error::invalid(error.to_string()))
}

fn encode(form: RowForm, table: &RowTable, row: &Row, out: &mut Vec<u8>) -> Result<()> {
    let Some(dialect) = form.dialect() else {
        let mut line = String::new();
        json::put_line(table, row, &mut line);
        out.extend_from_slice(line.as_bytes());
        out.push(b'\n');
        return Ok(());
    };
    let mut fields = Vec::with_capacity(row.cells.len());
    for (column, cell) in table.columns.iter().zip(&row.cells) {
        let field = field_of(&column.kind, cell.as_deref(), "");
        let read = cell_of(&column.kind, &field, "");
        if read.as_ref().ok() != Some(cell) {
            return Err(Error::invalid(format!(
                "delimited text cannot carry a value of the column {} ({}): use --format jsonl",
                column.name, column.kind
            )));
        }
        fields.push(field);
    }
    record(dialect, &fields, out)
}

/// An import into a table of CQL, which is there.
pub struct RowImport<'i> {
    /// The server.
    pub connect: &'i ConnectCql<'i>,
    /// The table, `KEYSPACE.NAME`.
    pub table: String,
    /// The form.
    pub form: RowForm,
    /// The settings of the feed.
    pub feeding: Feeding,
}

/// Returns the form of the records in files of rows.
#[must_use]
pub fn row_records_of(form: RowForm) -> Records {
    match form.dialect() {
        None => Records::Lines,
        Some(dialect) => Records::Delimited { dialect, header: form == RowForm::Csv },
    }
}

/// Writes all records of an input.
///
/// # Errors
///
/// * [`crate::ErrorKind::BadRecord`]: more records are bad than may be.
/// * Those of the server and of files; call again to go on where it ended.
pub fn import_rows<'i>(
    what: &'i RowImport<'i>,
    input: &mut Input,
    position: &PositionFile,
    control: &'i Control<'i>,
) -> Result<Imported> {
    let table = Arc::new(RowTable::read(&mut Peer::new(what.connect, control)?, &what.table)?);
    let places = places(&table, input.header())?;
    let begin = move || {
        let mut putter = RowPutter::new(what.connect, control, Arc::clone(&table))?;
        let (table, places) = (Arc::clone(&table), places.clone());
        let keep: Keep<'i> = Box::new(move |records: &[(Place, Record)]| {
            let mut kept = Kept::default();
            let (mut rows, mut of) = (Vec::with_capacity(records.len()), Vec::new());
            for (place, record) in records {
                match decode(&table, &places, record) {
                    Ok(row) => {
                        rows.push(row);
                        of.push(place);
                    }
                    Err(why) => kept.bad.push(Bad { place: place.clone(), why }),
                }
            }
            let put = putter.put(&rows)?;
            kept.sums = put.sums;
            for (at, why) in put.refused {
                let place = of.get(at).map(|place| (*place).clone());
                kept.bad.extend(place.map(|place| Bad { place, why }));
            }
            kept.bad.sort_by_key(|bad| bad.place.line);
            Ok(kept)
        });
        Ok(keep)
    };
    feed(input, what.feeding, position, control, &begin)
}

/// Returns the places of the columns in the order of the fields: the header's, or the table's own.
fn places(table: &RowTable, header: Option<&[Field]>) -> Result<Vec<usize>> {
    let Some(header) = header else { return Ok((0..table.columns.len()).collect()) };
    let mut places = Vec::new();
    for field in header {
        let name = field.text.trim();
        let place = table.place(name).ok_or_else(|| {
            Error::invalid(format!("the table has no column {name}, which the header names"))
        })?;
        if places.contains(&place) {
            return Err(Error::invalid(format!("the column {name} stands twice in the header")));
        }
        places.push(place);
    }
    Ok(places)
}

fn decode(table: &RowTable, places: &[usize], record: &Record) -> std::result::Result<Row, String> {
    let fields = match record {
        Record::Line(line) => {
            let line = std::str::from_utf8(line).map_err(|_| "it is not UTF-8".to_owned())?;
            return json::row_of(table, line);
        }
        Record::Fields(fields) => fields,
    };
    if fields.len() != places.len() {
        return Err(format!(
            "the record has {} fields, and {} columns are copied",
            fields.len(),
            places.len()
        ));
    }
    let mut row = Row { cells: vec![None; table.columns.len()], stamps: Vec::new() };
    for (place, field) in places.iter().zip(fields) {
        if let (Some(column), Some(cell)) = (table.columns.get(*place), row.cells.get_mut(*place)) {
            let parsed = cell_of(&column.kind, field, "");
            *cell = parsed.map_err(|why| format!("{}: {why}", column.name))?;
        }
    }
    json::check_key(table, &row)?;
    Ok(row)
}
