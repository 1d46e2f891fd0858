//! Query: one page of one partition of a table or index.

use shelfmark_engine::Query;

use super::key_range::KeyRange;
use super::paging::{Operation, PageRequest, encode};
use crate::errors::Result;
use crate::face::Face;
use crate::json::Reader;
use crate::limits::PAGE_SIZE_BYTES_MAX;
use crate::reply::Answered;
use crate::shape::Shape;
use crate::table::{self, Target};

#[derive(Debug, Default)]
struct Request {
    page: PageRequest,
    forward: Option<bool>,
}

/// Answers Query.
pub(super) fn answer(face: &Face, body: &[u8]) -> Result<Answered> {
    let Request { page, forward } = parse(body)?;
    let (name, index) = (page.table.clone().unwrap_or_default(), page.index.clone());
    let consistent = page.consistent;
    let mut request = page.prepare(Operation::Query)?;
    let target = Target::find(table::find(&face.engine, &name)?, index.as_deref())?;
    let selected = request.select(&target, consistent)?;
    let range = KeyRange::of(&target, std::mem::take(&mut request.keys))?;
    request.check_filter(&target)?;
    let start = request.cursor(&target)?;
    if let Some(position) = &request.start {
        range.check_position(&target, position)?;
    }
    let query = Query {
        index,
        partition: range.partition,
        sort: range.sort,
        descending: forward == Some(false),
        limit: request.limit,
        bytes_max: Some(PAGE_SIZE_BYTES_MAX),
        filter: request.filter.take(),
        projection: selected.projection,
        start,
        count_only: selected.count_only,
        fetch_base: selected.fetch_base,
        peek: false,
    };
    let page = face.engine.query(&target.table, &query)?;
    encode(&target, page, &request, consistent)
}

fn parse(body: &[u8]) -> Result<Request> {
    let mut request = Request::default();
    Reader::body(body, |reader, name| {
        match name {
            "ScanIndexForward" => request.forward = reader.boolean()?,
            _ if request.page.member(reader, name)? => {}
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    request.page.shape(Operation::Query, &mut shape);
    shape.check()?;
    Ok(request)
}
