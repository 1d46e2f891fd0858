//! BatchGetItem: up to 100 items of several tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use shelfmark_engine::budget::Room;
use shelfmark_engine::weight::Allowance;
use shelfmark_engine::{AccessReport, Get, Table, View};
use shelfmark_model::{Item, Key, Projection};

use super::read_request::{ReadRequest, bytes_read};
use crate::capacity::{Consumed, ConsumedByTable, Detail};
use crate::errors::{Error, Result, texts};
use crate::expression::Kind;
use crate::face::{Done, Face, Reading, read};
use crate::json::{Attributes, Reader, Writer, put_item};
use crate::legacy;
use crate::limits::{BATCH_GET_KEYS_MAX, BATCH_GET_SIZE_BYTES_MAX, SHOWN_CHARS_MAX};
use crate::reply::Answered;
use crate::shape::{CAPACITIES, Shape};
use crate::table;

#[derive(Debug, Default)]
struct Request {
    tables: Option<BTreeMap<String, TableRequest>>,
    capacity: Option<String>,
}

#[derive(Debug, Default)]
struct TableRequest {
    keys: Option<Vec<Attributes>>,
    read: ReadRequest,
}

/// The keys to read from one table.
struct Planned {
    name: String,
    table: Arc<Table>,
    keys: Vec<(Key, Item)>,
    projection: Projection,
    /// The request for this table, to return it with unprocessed keys.
    read: ReadRequest,
}

#[derive(Default)]
struct Answer {
    items: BTreeMap<String, Vec<Item>>,
    unprocessed: Vec<(String, Vec<Item>, ReadRequest)>,
    consumed: ConsumedByTable,
    report: AccessReport,
}

/// A batch of reads in progress.
struct Batch {
    view: View,
    detail: Detail,
    /// The remaining reads, the next table and its next key last.
    planned: Vec<Planned>,
    left: Vec<Item>,
    size: usize,
    /// The room for what is read, if somebody counts.
    room: Option<Arc<Room>>,
    /// There is room for no further item.
    is_full: bool,
    answer: Answer,
}

/// Memory that an item takes, as a multiple of its size: itself, and as text, which grows by doubling.
const ITEM_TIMES: usize = 4;

/// Answers BatchGetItem.
pub(super) fn start(face: &Face, body: &[u8], allowance: Allowance, done: Done) {
    match parse(body).and_then(|request| plan(face, request)) {
        Ok(batch) => {
            let room = done.room().cloned();
            read(face, Batch { room, ..batch }, allowance, done);
        }
        Err(error) => done.answer(Err(error)),
    }
}

fn parse(body: &[u8]) -> Result<Request> {
    let mut request = Request::default();
    Reader::body(body, |reader, name| {
        match name {
            "RequestItems" => request.tables = reader.map(|reader, _| parse_table(reader))?,
            "ReturnConsumedCapacity" => request.capacity = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    shape.required("RequestItems", request.tables.is_some());
    let names = request.tables.iter().flatten().map(|(name, _)| name);
    shape.table_keys("RequestItems", names, || shown(request.tables.iter().flatten()));
    shape.one_of("ReturnConsumedCapacity", request.capacity.as_deref(), CAPACITIES);
    for (name, table) in request.tables.iter().flatten() {
        let path = format!("RequestItems.{name}.member.Keys");
        shape.required(&path, table.keys.is_some());
        let count = table.keys.as_ref().map_or(1, Vec::len);
        shape.length(&path, count, 1, BATCH_GET_KEYS_MAX);
        table.read.shape(&format!("RequestItems.{name}.member."), &mut shape);
    }
    if let Some(tables) = &request.tables {
        shape.length("RequestItems", tables.len(), 1, BATCH_GET_KEYS_MAX);
    }
    shape.check()?;
    Ok(request)
}

/// Shows the tables of a request, as far as the message stays short.
fn shown<'t>(tables: impl Iterator<Item = (&'t String, &'t TableRequest)>) -> String {
    let text = Writer::body(|out| {
        for (name, table) in tables {
            out.name(name).object(|out| {
                out.name("Keys").list(|out| {
                    table.keys.iter().flatten().for_each(|key| put_item(out, key.unchecked()));
                });
                table.read.put(out);
            });
        }
    });
    let text = String::from_utf8_lossy(&text);
    text.chars().take(SHOWN_CHARS_MAX).collect()
}

fn parse_table(reader: &mut Reader<'_>) -> Result<Option<TableRequest>> {
    let mut table = TableRequest::default();
    let present = reader.structure(|reader, name| {
        match name {
            "Keys" => table.keys = reader.list(Reader::attributes)?,
            _ if table.read.member(reader, name)? => {}
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(present.then_some(table))
}

/// Refuses a request that projects some tables by an expression and others by `AttributesToGet`.
fn check_one_kind(tables: &BTreeMap<String, TableRequest>) -> Result<()> {
    let any = |has: fn(&ReadRequest) -> bool| tables.values().any(|table| has(&table.read));
    let legacy = [("AttributesToGet", any(ReadRequest::has_attributes_to_get))];
    legacy::not_mixed(&legacy, &[(Kind::Projection, any(ReadRequest::has_projection))])
}

fn plan(face: &Face, request: Request) -> Result<Batch> {
    let detail = Detail::of(request.capacity.as_deref());
    let tables = request.tables.unwrap_or_default();
    let count: usize = tables.values().flat_map(|table| &table.keys).map(Vec::len).sum();
    if count > BATCH_GET_KEYS_MAX {
        return Err(Error::validation(texts::BATCH_GET_TOO_MANY));
    }
    check_one_kind(&tables)?;
    let mut prepared = Vec::with_capacity(tables.len());
    for (name, table) in tables {
        let keys = table.keys.unwrap_or_default();
        let keys = keys.into_iter().map(Attributes::checked).collect::<Result<Vec<_>>>()?;
        prepared.push((name, keys, table.read.clone().prepare()?, table.read));
    }
    let mut planned = Vec::with_capacity(prepared.len());
    for (name, keys, projection, read) in prepared {
        let table = table::find(&face.engine, &name)?;
        let mut keys = read_keys(&table, keys)?;
        keys.reverse();
        table::check_key_paths(&table.schema, table::projected(&projection))?;
        planned.push(Planned { name, table, keys, projection, read });
    }
    planned.reverse();
    let view = face.engine.snapshot()?;
    let (left, answer) = (Vec::new(), Answer::default());
    Ok(Batch { view, detail, planned, left, size: 0, room: None, is_full: false, answer })
}

fn read_keys(table: &Table, given: Vec<Item>) -> Result<Vec<(Key, Item)>> {
    let mut keys: Vec<(Key, Item)> = Vec::with_capacity(given.len());
    for item in given {
        let key = table::read_key(table, item.clone())?;
        if keys.iter().any(|(other, _)| *other == key) {
            return Err(Error::validation(texts::KEYS_HAVE_DUPLICATES));
        }
        keys.push((key, item));
    }
    Ok(keys)
}

impl Batch {
    /// Takes room for an item; returns false if the client gets it by asking again for what is left.
    fn has_room_for(&self, bytes: usize) -> Result<bool> {
        let Some(room) = &self.room else { return Ok(true) };
        match room.set(self.size.saturating_add(bytes).saturating_mul(ITEM_TIMES)) {
            Ok(()) => Ok(true),
            Err(_) if self.size > 0 => Ok(false),
            Err(why) => Err(shelfmark_engine::Error::no_room(why).into()),
        }
    }

    /// Reads one key of a table, or leaves it unprocessed, and returns the size of the item.
    fn get(&mut self, own: &Planned, (key, given): (Key, Item)) -> Result<usize> {
        if self.is_full || self.size >= BATCH_GET_SIZE_BYTES_MAX {
            self.left.push(given);
            return Ok(0);
        }
        let got = self.view.get(&own.table, &Get { key, projection: own.projection.clone() })?;
        let bytes = bytes_read(&got);
        if !self.has_room_for(bytes)? {
            self.is_full = true;
            self.left.push(given);
            return Ok(bytes);
        }
        self.size = self.size.saturating_add(bytes);
        let consumed = Consumed::read(bytes, own.read.consistent);
        self.answer.consumed.add(&own.table.schema.name.name, consumed);
        if let Some(found) = self.answer.items.get_mut(&own.name) {
            found.extend(got.item);
        }
        self.answer.report.extend(got.report);
        Ok(bytes)
    }
}

impl Reading for Batch {
    fn go_on(&mut self, mut allowance: Allowance) -> Result<Option<Answered>> {
        while let Some(mut own) = self.planned.pop() {
            self.answer.items.entry(own.name.clone()).or_default();
            while let Some(key) = own.keys.pop() {
                if allowance.rows() == 0 {
                    own.keys.push(key);
                    self.planned.push(own);
                    return Ok(None);
                }
                let bytes = self.get(&own, key)?;
                allowance.spend(1, bytes);
            }
            if !self.left.is_empty() {
                let left = std::mem::take(&mut self.left);
                self.answer.unprocessed.push((own.name, left, own.read));
            }
        }
        let report = std::mem::take(&mut self.answer.report);
        Ok(Some(encode(&self.answer, self.detail).reporting(report)))
    }
}

fn encode(answer: &Answer, detail: Detail) -> Answered {
    Writer::answer(|out| {
        out.name("Responses").object(|out| {
            for (name, items) in &answer.items {
                out.name(name).list(|out| items.iter().for_each(|item| put_item(out, item)));
            }
        });
        out.name("UnprocessedKeys").object(|out| {
            for (name, keys, read) in &answer.unprocessed {
                out.name(name).object(|out| {
                    out.name("Keys").list(|out| keys.iter().for_each(|key| put_item(out, key)));
                    read.put(out);
                });
            }
        });
        answer.consumed.put(out, detail);
    })
}
