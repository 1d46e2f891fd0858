//! `COPY`: exports rows of a table to delimited text, and imports them from it, as cqlsh does.
//!
//! What it is not: a bulk loader. Rows are read and written by the statements that everybody has.
//!
//! Invariant: a file is never held as a whole; whatever is wrong with it is told with its line, and
//! how many rows came before it.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal as _, Write};

use shelfmark_cql::CqlType;
use shelfmark_cql_protocol::client::Query;
use shelfmark_cql_syntax::ast::{Attributes, InsertValues, Statement};
use shelfmark_cql_syntax::quoted_name;
use shelfmark_cql_types::{Native, from_text, to_literal};
use shelfmark_store::vfs;
use shelfmark_transfer::delimited::{Field, Reader, Writer, Wrong};
use shelfmark_transfer::rows::field_of;

use super::copy_command::{Copy, Options, parse};
use super::copy_input::{Input, STANDARD};
use super::shell::{Shell, Stop, warn};

/// Approximate size of a batch's text, in bytes. Source: ours; servers refuse batches of 50 KiB,
/// and one that is refused is written row by row.
const BATCH_SIZE_BYTES: usize = 20_000;
/// Rows of a batch. Source: ours.
const BATCH_ROWS: usize = 100;
/// The beginnings of servers' warnings about batches over several partitions, which these are.
const OF_BATCHES: [&str; 2] = ["Batch for ", "Unlogged batch "];
/// Milliseconds between two reports on a terminal.
const REPORT_PERIOD_MS: u64 = 250;

impl Shell {
    /// Runs a `COPY`, given the text behind that word.
    pub(super) fn copy(&mut self, text: &str) -> Result<(), Stop> {
        let copy = parse(text)?;
        if copy.reads { self.copy_from(&copy) } else { self.copy_to(&copy) }
    }

    /// Returns the names and types of the columns: all of the table, or those that are named.
    fn columns_of(&mut self, copy: &Copy) -> Result<Vec<Column>, Stop> {
        let text = format!("SELECT {} FROM {} LIMIT 1", selected(&copy.columns), copy.table);
        let page = self.session.all(&text)?.page.unwrap_or_default();
        let columns = page.columns.into_iter();
        Ok(columns.map(|own| Column { name: own.name.to_string(), kind: own.kind }).collect())
    }

    fn copy_to(&mut self, copy: &Copy) -> Result<(), Stop> {
        let columns = self.columns_of(copy)?;
        let options = &copy.options;
        let text =
            format!("SELECT {} FROM {}{}", selected(&copy.columns), copy.table, self.tokens(copy)?);
        let cannot = |error: io::Error| cannot("write", &copy.file, &error);
        let output: Box<dyn Write> = match copy.file.as_str() {
            STANDARD => Box::new(io::stdout()),
            path => Box::new(created(path).map_err(cannot)?),
        };
        let mut writer = Writer::new(BufWriter::new(output), options.dialect());
        if options.header {
            for column in &columns {
                writer.field(&Field { text: column.name.clone(), quoted: false });
            }
            writer.end().map_err(cannot)?;
        }
        let mut progress = Progress::new(self, "exported");
        let mut query = Query {
            text: &text,
            consistency: self.consistency,
            page_size: Some(options.page_rows),
            ..Query::default()
        };
        loop {
            self.go_on()?;
            let page = self.session.ask(&query)?.page.unwrap_or_default();
            for row in &page.rows {
                for (column, cell) in columns.iter().zip(row) {
                    writer.field(&field_of(&column.kind, cell.as_deref(), &options.null));
                }
                writer.end().map_err(cannot)?;
            }
            progress.add(self, page.rows.len() as u64);
            query.paging = page.paging;
            if query.paging.is_none() {
                break;
            }
        }
        writer.finish().map_err(cannot)?;
        let rows = progress.end(self);
        match copy.file.as_str() {
            // Standard output is the rows' alone.
            STANDARD => Ok(()),
            file => self.say(&format!("{rows} rows exported to {file}.")),
        }
    }

    /// Returns the restriction to the range of tokens that was asked for.
    fn tokens(&mut self, copy: &Copy) -> Result<String, Stop> {
        let (begin, end) = copy.options.tokens;
        if begin.is_none() && end.is_none() {
            return Ok(String::new());
        }
        let key = self.partition_key(&copy.table)?.join(", ");
        let lower = begin.map(|token| format!("token({key}) > {token}"));
        let upper = end.map(|token| format!("token({key}) <= {token}"));
        let both: Vec<String> = lower.into_iter().chain(upper).collect();
        Ok(format!(" WHERE {}", both.join(" AND ")))
    }

    fn partition_key(&mut self, table: &str) -> Result<Vec<String>, Stop> {
        let (keyspace, name) = match table.split_once('.') {
            Some((keyspace, name)) => (plain(keyspace), plain(name)),
            None => (self.keyspace.clone().unwrap_or_default(), plain(table)),
        };
        let literal = |name: &str| to_literal(&CqlType::Text, Some(name.as_bytes()));
        let text = format!(
            "SELECT column_name, kind, position FROM system_schema.columns WHERE keyspace_name = {} \
             AND table_name = {}",
            literal(&keyspace),
            literal(&name)
        );
        let page = self.session.all(&text)?.page.unwrap_or_default();
        let mut found: Vec<(Vec<u8>, String)> = Vec::new();
        for row in &page.rows {
            if let [Some(column), Some(kind), Some(position)] = row.as_slice()
                && &kind[..] == b"partition_key"
            {
                let column = String::from_utf8_lossy(column).into_owned();
                found.push((position.to_vec(), quoted_name(&column).into_owned()));
            }
        }
        found.sort();
        Ok(found.into_iter().map(|(_, column)| column).collect())
    }

    fn copy_from(&mut self, copy: &Copy) -> Result<(), Stop> {
        let options = &copy.options;
        let mut columns = self.columns_of(copy)?;
        let Input { name, line, bytes } = self.copy_input(copy)?;
        let mut reader = Reader::new(bytes, options.dialect(), line);
        let wrong = |wrong: Wrong| match wrong {
            Wrong::Io(error) => cannot("read", &name, &error),
            wrong => Stop::wrong(format!("{name}, {wrong}")),
        };
        if options.header
            && let Some((line, names)) = reader.record().map_err(wrong)?
        {
            let named = by_header(&columns, &names, copy.columns.is_empty());
            columns = named.map_err(|why| Stop::wrong(format!("{name}, line {line}: {why}")))?;
        }
        check_columns(&columns, options)?;
        let mut import = Import::new(copy, &name, columns);
        let mut progress = Progress::new(self, "imported");
        let (mut skipped, mut taken) = (0, 0);
        let done = loop {
            if let Err(stop) = self.go_on() {
                break Err(stop);
            }
            if options.rows_max.is_some_and(|most| taken >= most) {
                break Ok(());
            }
            let (line, fields) = match reader.record() {
                Ok(Some(record)) => record,
                Ok(None) => break Ok(()),
                // Who interrupts what is typed ends it.
                Err(error) => break Err(self.go_on().err().unwrap_or_else(|| wrong(error))),
            };
            if skipped < options.skip_rows {
                skipped += 1;
                continue;
            }
            taken += 1;
            let ready = import.add(line, &fields);
            let ready = ready.map_err(|why| Stop::wrong(format!("{name}, line {line}: {why}")));
            match ready {
                Ok(false) => {}
                Ok(true) => {
                    let (rows, written) = self.write(&mut import);
                    progress.add_bytes(self, rows, reader.bytes());
                    if let Err(stop) = written {
                        break Err(stop);
                    }
                }
                Err(stop) => break Err(stop),
            }
        };
        // What was read before something was wrong is written all the same.
        let (rows, rest) = self.write(&mut import);
        progress.add(self, rows);
        let rows = progress.end(self);
        let all = done.and(rest);
        let end = if all.is_ok() { "." } else { "; the rest was not." };
        self.say(&format!("{rows} rows imported from {name}{end}"))?;
        all
    }

    /// Writes the pending rows, and returns how many were written, and why the others were not.
    fn write(&mut self, import: &mut Import) -> (u64, Result<(), Stop>) {
        let rows = std::mem::take(&mut import.waiting);
        import.bytes = 0;
        let Some((_, first)) = rows.first() else { return (0, Ok(())) };
        let together: Vec<&str> = rows.iter().map(|(_, row)| row.as_str()).collect();
        let text = match rows.len() {
            1 => first.clone(),
            _ => format!("BEGIN BATCH {}; APPLY BATCH", together.join("; ")),
        };
        match self.insert(&text) {
            Err(Stop::Refused(_)) => {}
            Err(stop) => return (0, Err(stop)),
            Ok(()) => return (rows.len() as u64, Ok(())),
        }
        // One by one, to find the one that is refused.
        for (written, (line, row)) in (0..).zip(&rows) {
            match self.insert(row) {
                Ok(()) => {}
                Err(Stop::Refused(refusal)) => {
                    let why = format!("{}, line {line}: {refusal}", import.file);
                    return (written, Err(Stop::wrong(why)));
                }
                Err(stop) => return (written, Err(stop)),
            }
        }
        (rows.len() as u64, Ok(()))
    }

    fn insert(&mut self, text: &str) -> Result<(), Stop> {
        let consistency = self.consistency;
        let answered = self.session.ask(&Query { text, consistency, ..Query::default() })?;
        for warning in answered.warnings {
            let is_known = OF_BATCHES.iter().any(|begin| warning.starts_with(begin));
            if !is_known && self.told.insert(warning.clone()) {
                warn(&warning);
            }
        }
        Ok(())
    }
}

fn cannot(what: &str, file: &str, error: &io::Error) -> Stop {
    Stop::wrong(format!("cannot {what} {file}: {error}"))
}

/// Creates or truncates a file.
fn created(path: &str) -> io::Result<File> {
    let file = vfs::open_or_create(path.as_ref())?;
    file.set_len(0)?;
    Ok(file)
}

/// A copied column.
#[derive(Debug, Clone, PartialEq)]
struct Column {
    name: String,
    kind: CqlType,
}

fn selected(columns: &[String]) -> String {
    if columns.is_empty() { "*".to_owned() } else { columns.join(", ") }
}

/// Returns a name as it is stored.
fn plain(written: &str) -> String {
    match written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\""),
        None => written.to_lowercase(),
    }
}

/// Orders the columns as in a header; where columns were named, it must have the same ones.
fn by_header(columns: &[Column], names: &[Field], any_order: bool) -> Result<Vec<Column>, String> {
    let find = |name: &Field| {
        let text = name.text.trim();
        let found = columns.iter().find(|own| own.name == text);
        let folded = || columns.iter().find(|own| own.name == text.to_lowercase());
        found.or_else(folded).cloned().ok_or_else(|| format!("the table has no column {text}"))
    };
    if !any_order {
        // As cqlsh: the columns that were named count, and the header is passed over.
        return Ok(columns.to_vec());
    }
    let found: Vec<Column> = names.iter().map(find).collect::<Result<_, _>>()?;
    for (place, column) in found.iter().enumerate() {
        if found.iter().take(place).any(|other| other == column) {
            return Err(format!("the column {} stands twice in the header", column.name));
        }
    }
    Ok(found)
}

fn check_columns(columns: &[Column], options: &Options) -> Result<(), Stop> {
    let unknown = |name: &&String| !columns.iter().any(|column| column.name == plain(name));
    if let Some(name) = options.skip_columns.iter().find(unknown) {
        return Err(Stop::wrong(format!("SKIPCOLS names {name}, which is not copied")));
    }
    if columns.iter().any(|column| column.kind == CqlType::Counter) {
        return Err(Stop::wrong(
            "COPY … FROM does not take tables of counters: their cells can be added to only; use \
             UPDATE",
        ));
    }
    Ok(())
}

/// An import in progress.
struct Import {
    file: String,
    head: String,
    tail: String,
    columns: Vec<Column>,
    /// True for each column that is written.
    wanted: Vec<bool>,
    null: String,
    /// The rows that are pending, each with its line.
    waiting: Vec<(u64, String)>,
    bytes: usize,
}

impl Import {
    fn new(copy: &Copy, file: &str, columns: Vec<Column>) -> Self {
        let skipped: Vec<String> = copy.options.skip_columns.iter().map(|own| plain(own)).collect();
        let wanted: Vec<bool> = columns.iter().map(|own| !skipped.contains(&own.name)).collect();
        let names = columns.iter().zip(&wanted).filter(|(_, wanted)| **wanted);
        let names: Vec<String> =
            names.map(|(own, _)| quoted_name(&own.name).into_owned()).collect();
        Self {
            file: file.to_owned(),
            head: format!("INSERT INTO {} ({}) VALUES (", copy.table, names.join(", ")),
            tail: match copy.options.ttl_seconds {
                Some(seconds) => format!(") USING TTL {seconds}"),
                None => ")".to_owned(),
            },
            columns,
            wanted,
            null: copy.options.null.clone(),
            waiting: Vec::new(),
            bytes: 0,
        }
    }

    /// Adds a statement for a record, and returns true if those pending are enough for a batch.
    fn add(&mut self, line: u64, fields: &[Field]) -> Result<bool, String> {
        if fields.len() != self.columns.len() {
            return Err(format!(
                "the record has {} fields, and {} columns are copied",
                fields.len(),
                self.columns.len()
            ));
        }
        let mut text = self.head.clone();
        let columns = self.columns.iter().zip(&self.wanted);
        let pairs = columns.zip(fields).filter(|((_, wanted), _)| **wanted);
        for (number, ((column, _), field)) in pairs.enumerate() {
            if number > 0 {
                text.push_str(", ");
            }
            let value = literal(&column.kind, field, &self.null);
            text.push_str(&value.map_err(|why| format!("column {}: {why}", column.name))?);
        }
        text.push_str(&self.tail);
        self.bytes += text.len();
        self.waiting.push((line, text));
        Ok(self.waiting.len() >= BATCH_ROWS || self.bytes >= BATCH_SIZE_BYTES)
    }
}

/// Returns a field as a constant of CQL.
fn literal(kind: &CqlType, field: &Field, null: &str) -> Result<String, String> {
    let text = field.text.as_str();
    if !field.quoted && text == null {
        return Ok("null".to_owned());
    }
    let is_text = matches!(kind, CqlType::Native(Native::Text | Native::Ascii));
    let plain = if is_text { text } else { text.trim() };
    match kind {
        CqlType::Native(Native::Blob) => {
            let digits = plain.strip_prefix("0x").or_else(|| plain.strip_prefix("0X"));
            let digits = digits.ok_or_else(|| format!("'{plain}' does not begin with 0x"))?;
            let bytes = from_text(kind, digits).map_err(|error| error.to_string())?;
            Ok(to_literal(kind, Some(&bytes)))
        }
        CqlType::Native(_) => {
            let bytes = from_text(kind, plain).map_err(|error| error.to_string())?;
            Ok(to_literal(kind, Some(&bytes)))
        }
        _ if is_one_term(plain) => Ok(plain.to_owned()),
        _ => Err(format!("'{plain}' is no {kind}")),
    }
}

/// Returns true if a text is exactly one constant of CQL.
fn is_one_term(text: &str) -> bool {
    let parsed = shelfmark_cql_syntax::parse(&format!("INSERT INTO t (c) VALUES ({text})"));
    let Ok(parsed) = parsed else { return false };
    let Statement::Insert(insert) = parsed.statement else { return false };
    let is_plain = !insert.if_not_exists && parsed.markers.is_empty();
    let one = matches!(&insert.values, InsertValues::Columns { values, .. } if values.len() == 1);
    is_plain && one && insert.attributes == Attributes::default()
}

/// The progress of a copy.
struct Progress {
    what: &'static str,
    shows: bool,
    rows: u64,
    began_ms: u64,
    told_ms: u64,
}

impl Progress {
    fn new(shell: &Shell, what: &'static str) -> Self {
        let now = shell.session.now_ms();
        let shows = io::stderr().is_terminal();
        Self { what, shows, rows: 0, began_ms: now, told_ms: now }
    }

    fn add(&mut self, shell: &Shell, rows: u64) {
        self.add_bytes(shell, rows, 0);
    }

    fn add_bytes(&mut self, shell: &Shell, rows: u64, bytes: u64) {
        self.rows += rows;
        let now = shell.session.now_ms();
        if !self.shows || rows == 0 || now < self.told_ms + REPORT_PERIOD_MS {
            return;
        }
        self.told_ms = now;
        let rate = self.rows.saturating_mul(1_000) / now.saturating_sub(self.began_ms).max(1);
        let read = match bytes {
            0 => String::new(),
            bytes => format!("; {} read", indicatif::HumanBytes(bytes)),
        };
        // The cursor stays in its line.
        let line = format!("\r\x1b[K{} rows {}; {rate} rows/s{read}", self.rows, self.what);
        let _ = io::stderr().write_all(line.as_bytes());
    }

    /// Removes the progress report, and returns how many rows there were.
    fn end(&mut self, _: &Shell) -> u64 {
        if self.shows && self.told_ms > self.began_ms {
            let _ = io::stderr().write_all(b"\r\x1b[K");
        }
        self.rows
    }
}
