//! Items out of objects: lines of DynamoDB's JSON, of Ion, or of values between delimiters; packed or not.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};

use shelfmark_engine::{LedgerEntry, Table};
use shelfmark_model::{Item, KeyType, Value};

use super::counted::Counted;
use super::object_records::{self, Line, Lines, Records};
use super::{gzip, ion, zstd};
use crate::json::Reader;
use crate::table::{check_attribute_names, check_item};

/// The mark that some programs begin texts with.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The mark that a text of Ion may begin with, in a line of its own too.
const ION_VERSION: &str = "$ion_1_0";

/// The form of the items in an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Csv,
    Ion,
}

/// The packing of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Zstd,
}

impl Format {
    /// Reads the name that requests have for it.
    pub(crate) fn read(name: &str) -> Self {
        match name {
            "CSV" => Self::Csv,
            "ION" => Self::Ion,
            _ => Self::Json,
        }
    }
}

impl Compression {
    /// Reads the name that requests have for it.
    pub(crate) fn read(name: &str) -> Self {
        match name {
            "GZIP" => Self::Gzip,
            "ZSTD" => Self::Zstd,
            _ => Self::None,
        }
    }
}

/// The form of the objects of an import.
#[derive(Debug, Clone)]
pub(crate) struct InputOptions {
    pub(crate) format: Format,
    pub(crate) compression: Compression,
    pub(crate) delimiter: char,
    /// The names of the columns; without them the first line of each object has them.
    pub(crate) header: Vec<String>,
}

impl InputOptions {
    pub(crate) fn put(&self, entry: LedgerEntry) -> LedgerEntry {
        let header = self.header.iter().map(Value::text).collect();
        entry.with("delimiter", self.delimiter.to_string()).with("header", Value::List(header))
    }

    pub(super) fn of(entry: &LedgerEntry) -> Self {
        let header = match entry.item.get("header") {
            Some(Value::List(names)) => {
                names.iter().filter_map(Value::as_text).map(str::to_owned).collect()
            }
            _ => Vec::new(),
        };
        Self {
            format: Format::read(entry.text("format")),
            compression: Compression::read(entry.text("compression")),
            delimiter: entry.text("delimiter").chars().next().unwrap_or(','),
            header,
        }
    }
}

impl InputOptions {
    /// Returns the form of its records.
    fn records(&self) -> Records {
        match self.format {
            Format::Csv => Records::Values(u8::try_from(self.delimiter).unwrap_or(b',')),
            Format::Json => Records::Objects,
            Format::Ion => Records::Lines,
        }
    }

    /// Returns true if a line has nothing in it: delimiters are something, and the version of Ion is not.
    fn is_blank(&self, line: &[u8]) -> bool {
        let is_delimiter = |byte| matches!(self.records(), Records::Values(own) if own == byte);
        let is_space = |byte: &u8| byte.is_ascii_whitespace() && !is_delimiter(*byte);
        line.iter().all(is_space)
            || self.format == Format::Ion && line.trim_ascii() == ION_VERSION.as_bytes()
    }
}

/// Items of one object, in its order.
pub(super) struct Items {
    reader: Counted<Box<dyn BufRead + Send>>,
    lines: Lines,
    /// The place where the record begins that is read.
    begun: u64,
    options: InputOptions,
    types: BTreeMap<String, KeyType>,
}

/// The next thing in an object.
pub(super) enum Next {
    Item(Item),
    /// Something that is no item of the table.
    Refused,
    /// Nothing yet: a blank line, or a part of a record that is too long.
    Nothing,
    End,
}

impl Items {
    /// Begins to read an object of items for a table.
    pub(super) fn new(
        object: Box<dyn Read + Send>,
        mut options: InputOptions,
        table: &Table,
    ) -> io::Result<Self> {
        let unpacked: Box<dyn BufRead + Send> = match options.compression {
            Compression::None => Box::new(BufReader::new(object)),
            Compression::Gzip => {
                Box::new(BufReader::new(gzip::Unpacker::new(BufReader::new(object))))
            }
            Compression::Zstd => {
                Box::new(BufReader::new(zstd::Unpacker::new(BufReader::new(object))))
            }
        };
        let mut reader = Counted::new(unpacked);
        if reader.fill_buf()?.starts_with(BYTE_ORDER_MARK) {
            reader.consume(BYTE_ORDER_MARK.len());
        }
        if options.format == Format::Csv && options.header.is_empty() {
            let first = match Lines::new(options.records()).next(&mut reader)? {
                Line::Whole(line) => String::from_utf8(line).ok(),
                Line::Part | Line::TooLong | Line::End => None,
            };
            let names = first.and_then(|line| object_records::values(&line, options.delimiter));
            options.header = names.unwrap_or_default();
        }
        let (lines, begun) = (Lines::new(options.records()), reader.place());
        Ok(Self { reader, lines, begun, options, types: key_types(table) })
    }

    /// Returns the place in the unpacked object, in bytes, where the record begins that comes next or is
    /// being read.
    pub(super) fn place(&self) -> u64 {
        if self.lines.is_inside() { self.begun } else { self.reader.place() }
    }

    /// Returns how many bytes of the unpacked object were read.
    pub(super) fn read(&self) -> u64 {
        self.reader.place()
    }

    /// Skips the lines before a place where an earlier reading ended. Returns false if `should_stop` ended it
    /// before.
    pub(super) fn skip_to(
        &mut self,
        place: u64,
        should_stop: &dyn Fn() -> bool,
    ) -> io::Result<bool> {
        self.reader.skip_to(place, should_stop)
    }

    /// Returns the next item.
    pub(super) fn next(&mut self, table: &Table) -> io::Result<Next> {
        if !self.lines.is_inside() {
            self.begun = self.reader.place();
        }
        let line = match self.lines.next(&mut self.reader)? {
            Line::End => return Ok(Next::End),
            Line::Part => return Ok(Next::Nothing),
            Line::TooLong => return Ok(Next::Refused),
            Line::Whole(line) => line,
        };
        if self.options.is_blank(&line) {
            return Ok(Next::Nothing);
        }
        let item = match self.options.format {
            Format::Csv => self.of_values(&line),
            Format::Ion => ion::item_of(&line),
            Format::Json => of_json(&line),
        };
        let fits = |item: &Item| {
            check_attribute_names(item).and_then(|()| check_item(table, item)).is_ok()
        };
        Ok(item.filter(fits).map_or(Next::Refused, Next::Item))
    }

    /// Makes an item of a record: keys have their types, all else is text. Empty values are left out.
    fn of_values(&self, line: &[u8]) -> Option<Item> {
        let values =
            object_records::values(std::str::from_utf8(line).ok()?, self.options.delimiter)?;
        if values.len() > self.options.header.len() {
            return None;
        }
        let mut item = Item::new();
        for (name, value) in self.options.header.iter().zip(values) {
            if value.is_empty() || name.is_empty() {
                continue;
            }
            let letter = match self.types.get(name) {
                Some(KeyType::Decimal) => "N",
                Some(KeyType::Bytes) => "B",
                _ => "S",
            };
            // By the rules for values in requests, whatever they are.
            let written = crate::json::Writer::body(|out| out.name(letter).text(&value));
            let read = Reader::new(&written).ok()?.checked_value().ok()?.checked().ok()?;
            item.set(name, read);
        }
        Some(item)
    }
}

fn of_json(line: &[u8]) -> Option<Item> {
    let mut found = None;
    Reader::body(line, |reader, name| {
        match name {
            "Item" => found = reader.attributes()?,
            _ => reader.skip()?,
        }
        Ok(())
    })
    .ok()?;
    found?.checked().ok()
}

/// Returns the types of the attributes that are in keys, of the table and of its indexes.
fn key_types(table: &Table) -> BTreeMap<String, KeyType> {
    let schema = &table.schema;
    let partitions = schema.indexes.iter().flat_map(|index| &index.partition);
    let sorts = schema.indexes.iter().flat_map(|index| &index.sort);
    let partitions = schema.partition.iter().chain(partitions);
    let sorts = schema.sort.iter().chain(sorts);
    partitions
        .map(|own| (own.name.clone(), own.key_type.clone()))
        .chain(sorts.map(|own| (own.name.clone(), own.key_type.clone())))
        .collect()
}
