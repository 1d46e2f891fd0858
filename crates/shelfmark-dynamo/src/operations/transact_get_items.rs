//! TransactGetItems: up to 100 items as of one moment.

use std::sync::Arc;

use shelfmark_engine::weight::Allowance;
use shelfmark_engine::{AccessReport, Get, Table, View};
use shelfmark_model::{Item, Key, Projection};

use super::read_request::{ReadRequest, bytes_read};
use crate::capacity::{Consumed, ConsumedByTable, Detail};
use crate::errors::{Error, Result, cancelled_at, texts};
use crate::face::{Done, Face, Reading, read};
use crate::json::{Attributes, Reader, Writer, put_item};
use crate::limits::{TRANSACTION_ITEMS_MAX, TRANSACTION_SIZE_BYTES_MAX};
use crate::reply::Answered;
use crate::shape::{CAPACITIES, Shape};
use crate::table;

#[derive(Debug, Default)]
struct Request {
    items: Option<Vec<Option<GetRequest>>>,
    capacity: Option<String>,
}

#[derive(Debug, Default)]
struct GetRequest {
    table: Option<String>,
    key: Option<Attributes>,
    read: ReadRequest,
}

struct Planned {
    table: Arc<Table>,
    key: Key,
    projection: Projection,
}

#[derive(Default)]
struct Read {
    items: Vec<Option<Item>>,
    consumed: ConsumedByTable,
    report: AccessReport,
}

/// Reads in progress.
struct Gets {
    view: View,
    detail: Detail,
    /// The remaining reads, the next one last.
    planned: Vec<Planned>,
    size: usize,
    read: Read,
}

/// Answers TransactGetItems.
pub(super) fn start(face: &Face, body: &[u8], allowance: Allowance, done: Done) {
    match parse(body).and_then(|request| gets(face, request)) {
        Ok(gets) => read(face, gets, allowance, done),
        Err(error) => done.answer(Err(error)),
    }
}

fn gets(face: &Face, request: Request) -> Result<Gets> {
    let detail = Detail::of(request.capacity.as_deref());
    let mut planned = plan(face, request)?;
    planned.reverse();
    let view = face.engine.snapshot()?;
    Ok(Gets { view, detail, planned, size: 0, read: Read::default() })
}

impl Reading for Gets {
    fn go_on(&mut self, mut allowance: Allowance) -> Result<Option<Answered>> {
        while allowance.rows() > 0 {
            let Some(Planned { table, key, projection }) = self.planned.pop() else {
                return Ok(Some(encode(std::mem::take(&mut self.read), self.detail)));
            };
            let got = self.view.get(&table, &Get { key, projection })?;
            let bytes = bytes_read(&got);
            allowance.spend(1, bytes);
            self.size = self.size.saturating_add(bytes);
            if self.size > TRANSACTION_SIZE_BYTES_MAX {
                return Err(Error::validation(texts::TRANSACTION_TOO_LARGE));
            }
            let read = &mut self.read;
            read.consumed.add(&table.schema.name.name, Consumed::transaction_read(bytes));
            // A projection that leaves nothing has no item.
            read.items.push(got.item.filter(|item| !item.is_empty()));
            read.report.extend(got.report);
        }
        Ok(None)
    }
}

fn encode(Read { items, consumed, report }: Read, detail: Detail) -> Answered {
    Writer::answer(|out| {
        out.name("Responses").list(|out| {
            for item in &items {
                out.object(|out| {
                    if let Some(item) = item {
                        out.name("Item");
                        put_item(out, item);
                    }
                });
            }
        });
        consumed.put(out, detail);
    })
    .reporting(report)
}

fn parse(body: &[u8]) -> Result<Request> {
    let mut request = Request::default();
    Reader::older_body(body, |reader, name| {
        match name {
            "TransactItems" => request.items = reader.list(parse_item)?,
            "ReturnConsumedCapacity" => request.capacity = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    shape.required("TransactItems", request.items.is_some());
    if let Some(items) = &request.items {
        shape.length("TransactItems", items.len(), 1, TRANSACTION_ITEMS_MAX);
    }
    for (position, item) in request.items.iter().flatten().enumerate() {
        let path = format!("TransactItems.{}.member.Get", position + 1);
        shape.required(&path, item.is_some());
        if let Some(get) = item {
            shape.table(&format!("{path}.TableName"), get.table.as_deref());
            shape.required(&format!("{path}.Key"), get.key.is_some());
        }
    }
    shape.one_of("ReturnConsumedCapacity", request.capacity.as_deref(), CAPACITIES);
    shape.check()?;
    Ok(request)
}

fn parse_item(reader: &mut Reader<'_>) -> Result<Option<Option<GetRequest>>> {
    let mut get = None;
    let present = reader.structure(|reader, name| {
        if name != "Get" {
            return reader.skip();
        }
        let mut request = GetRequest::default();
        let present = reader.structure(|reader, name| {
            match name {
                "TableName" => request.table = reader.text()?,
                "Key" => request.key = reader.attributes()?,
                _ if request.read.member(reader, name)? => {}
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        get = present.then_some(request);
        Ok(())
    })?;
    Ok(present.then_some(get))
}

fn plan(face: &Face, request: Request) -> Result<Vec<Planned>> {
    let mut prepared = Vec::new();
    for get in request.items.into_iter().flatten().flatten() {
        let key = get.key.unwrap_or_default().checked();
        let key = key.map_err(|error| Error { enveloped: false, ..error })?;
        let projection = get.read.in_transaction().prepare();
        let projection = projection.map_err(|error| Error { enveloped: false, ..error })?;
        prepared.push((get.table.unwrap_or_default(), key, projection));
    }
    let mut planned: Vec<Planned> = Vec::with_capacity(prepared.len());
    let count = prepared.len();
    for (name, key, projection) in prepared {
        let table = table::find(&face.engine, &name)?;
        let key = table::read_key(&table, key).and_then(|key| {
            table::check_key_paths(&table.schema, table::projected(&projection))?;
            Ok(key)
        });
        match key {
            Ok(key) => {
                if planned.iter().any(|other| other.table.id == table.id && other.key == key) {
                    return Err(Error::validation(texts::ITEM_TWICE));
                }
                planned.push(Planned { table, key, projection });
            }
            Err(error) => return Err(cancelled_at(planned.len(), count, error)),
        }
    }
    Ok(planned)
}
