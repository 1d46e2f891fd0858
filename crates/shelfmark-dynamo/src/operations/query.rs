//! Query: one page of one partition of a table or index.

use shelfmark_engine::weight::Allowance;
use shelfmark_engine::{Engine, Query};

use super::key_range::KeyRange;
use super::paging::{Operation, PageRequest, Prepared, encode};
use crate::errors::{Error, Result, texts};
use crate::face::{Done, Face, Reading, read};
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

/// A query that is ready.
struct Planned {
    engine: Engine,
    target: Target,
    query: Query,
    request: Prepared,
    consistent: bool,
}

/// Answers Query.
pub(super) fn start(face: &Face, body: &[u8], allowance: Allowance, done: Done) {
    match plan(face, body) {
        Ok(planned) => read(face, planned, allowance, done),
        Err(error) => done.answer(Err(error)),
    }
}

fn plan(face: &Face, body: &[u8]) -> Result<Planned> {
    let Request { page, forward } = parse(body)?;
    let (name, index) = (page.table.clone().unwrap_or_default(), page.index.clone());
    let consistent = page.consistent;
    let mut request = page.prepare(Operation::Query).map_err(unwrapped)?;
    let table = table::find(&face.engine, &name)?;
    table::refuse_query(&table, index.as_deref(), consistent)?;
    let target = Target::find(table, index.as_deref())?;
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
    Ok(Planned { engine: (*face.engine).clone(), target, query, request, consistent })
}

/// Takes the prefix of the validation framework away, which these faults of a query do not have.
fn unwrapped(error: Error) -> Error {
    let is_plain = error.message.ends_with(texts::EXPRESSION_IS_EMPTY)
        || error.message.starts_with(texts::NAMES_UNUSED);
    Error { enveloped: error.enveloped && !is_plain, ..error }
}

impl Reading for Planned {
    /// Reads the page again if it exceeded the allowance before: a page sees one snapshot.
    fn go_on(&mut self, allowance: Allowance) -> Result<Option<Answered>> {
        let (limit, bytes_max) = (self.query.limit, self.query.bytes_max);
        let least = |most: Option<usize>, allowed: usize| {
            Some(most.map_or(allowed, |most| most.min(allowed)))
        };
        let is_whole = allowance == Allowance::whole();
        if !is_whole {
            self.query.limit = least(limit, allowance.rows());
            self.query.bytes_max = least(bytes_max, allowance.bytes());
        }
        let page = self.engine.query(&self.target.table, &self.query);
        (self.query.limit, self.query.bytes_max) = (limit, bytes_max);
        let page = page?;
        let is_at_end = page.cursor.is_none() || limit.is_some_and(|limit| page.evaluated >= limit);
        if !is_whole && !is_at_end {
            return Ok(None);
        }
        encode(&self.target, page, &self.request, self.consistent).map(Some)
    }
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
    request.page.check_operator()?;
    let mut shape = Shape::default();
    request.page.shape(Operation::Query, &mut shape);
    shape.check()?;
    Ok(request)
}
