//! GetItem.

use std::sync::Arc;

use shelfmark_engine::{Get, Got, Table};

use super::read_request::{ReadRequest, bytes_read};
use crate::capacity::{Consumed, Detail};
use crate::errors::Result;
use crate::face::Face;
use crate::json::{Attributes, Reader, Writer, put_item};
use crate::reply::Answered;
use crate::shape::{CAPACITIES, Shape};
use crate::table;

#[derive(Debug, Default)]
struct Request {
    table: Option<String>,
    key: Option<Attributes>,
    read: ReadRequest,
    capacity: Option<String>,
}

/// Answers GetItem.
pub(super) fn answer(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(body)?;
    let detail = Detail::of(request.capacity.as_deref());
    let consistent = request.read.consistent;
    let (table, got) = run(face, request)?;
    Ok(Writer::answer(|out| {
        if let Some(item) = &got.item {
            out.name("Item");
            put_item(out, item);
        }
        if detail.is_wanted() {
            out.name("ConsumedCapacity");
            Consumed::read(bytes_read(&got), consistent).put(out, &table.schema.name.name, detail);
        }
    })
    .reporting(got.report))
}

fn parse(body: &[u8]) -> Result<Request> {
    let mut request = Request::default();
    Reader::body(body, |reader, name| {
        match name {
            "TableName" => request.table = reader.text()?,
            "Key" => request.key = reader.attributes()?,
            "ReturnConsumedCapacity" => request.capacity = reader.text()?,
            _ if request.read.member(reader, name)? => {}
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    shape.table("TableName", request.table.as_deref());
    shape.required("Key", request.key.is_some());
    shape.one_of("ReturnConsumedCapacity", request.capacity.as_deref(), CAPACITIES);
    request.read.shape("", &mut shape);
    shape.check()?;
    Ok(request)
}

fn run(face: &Face, request: Request) -> Result<(Arc<Table>, Got)> {
    let key = request.key.unwrap_or_default().checked()?;
    let projection = request.read.prepare()?;
    let table = table::find(&face.engine, &request.table.unwrap_or_default())?;
    let key = table::read_key(&table, key)?;
    table::check_key_paths(&table.schema, table::projected(&projection))?;
    let got = face.engine.get(&table, &Get { key, projection })?;
    Ok((table, got))
}
