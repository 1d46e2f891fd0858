//! Scan: one page of a whole table or index, or of a segment of it.

use shelfmark_engine::{Engine, ResultPage, Scan, Segment};
use shelfmark_model::Condition;

use super::paging::{Operation, PageRequest, encode};
use super::selection::Selected;
use crate::errors::{Error, Result, texts};
use crate::face::Face;
use crate::json::Reader;
use crate::limits::{PAGE_SIZE_BYTES_MAX, SCAN_SEGMENTS_MAX};
use crate::reply::Answered;
use crate::shape::Shape;
use crate::table::{self, Target};

#[derive(Debug, Default)]
struct Request {
    page: PageRequest,
    segment: Option<i64>,
    total: Option<i64>,
}

/// Answers Scan.
pub(super) fn answer(face: &Face, body: &[u8]) -> Result<Answered> {
    let Request { page, segment, total } = parse(body)?;
    let (name, index) = (page.table.clone().unwrap_or_default(), page.index.clone());
    let consistent = page.consistent;
    let mut request = page.prepare(Operation::Scan)?;
    let segment = segment_of(segment, total)?;
    let target = Target::find(table::find(&face.engine, &name)?, index.as_deref())?;
    let selected = request.select(&target, consistent)?;
    let start = request.cursor(&target)?;
    let scan = Scan {
        index,
        segment,
        limit: request.limit,
        bytes_max: Some(PAGE_SIZE_BYTES_MAX),
        start,
        ..Scan::default()
    };
    let page =
        run(&face.engine, &target, scan, request.filter.take(), selected).map_err(|error| {
            // The engine refuses a position that lies in another part of the table.
            match (segment, &request.start) {
                (Some(segment), Some(_))
                    if error.kind() == shelfmark_engine::ErrorKind::Invalid =>
                {
                    Error::validation(texts::start_key_segment(segment.total, segment.number))
                }
                _ => error.into(),
            }
        })?;
    encode(&target, page, &request, consistent)
}

fn parse(body: &[u8]) -> Result<Request> {
    let mut request = Request::default();
    Reader::older_body(body, |reader, name| {
        match name {
            "Segment" => request.segment = reader.integer()?,
            "TotalSegments" => request.total = reader.integer()?,
            // A member of Query: a scan does not know it.
            "KeyConditionExpression" | "KeyConditions" => reader.skip()?,
            _ if request.page.member(reader, name)? => {}
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::older();
    request.page.shape(Operation::Scan, &mut shape);
    shape.range("Segment", request.segment, 0, Some(SCAN_SEGMENTS_MAX - 1));
    shape.range("TotalSegments", request.total, 1, Some(SCAN_SEGMENTS_MAX));
    shape.check()?;
    Ok(request)
}

fn segment_of(segment: Option<i64>, total: Option<i64>) -> Result<Option<Segment>> {
    match (segment, total) {
        (None, None) => Ok(None),
        (Some(_), None) => Err(Error::validation(texts::SEGMENT_WITHOUT_TOTAL)),
        (None, Some(_)) => Err(Error::validation(texts::TOTAL_WITHOUT_SEGMENT)),
        (Some(segment), Some(total)) if segment >= total => {
            Err(Error::validation(texts::segment_too_large(segment, total)))
        }
        (Some(segment), Some(total)) => {
            // The shape has checked both ranges.
            let small = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
            Ok(Some(Segment { number: small(segment), total: small(total) }))
        }
    }
}

/// Reads the page; fetches the items behind the entries of a local index if they are wanted.
pub(super) fn run(
    engine: &Engine,
    target: &Target,
    scan: Scan,
    filter: Option<Condition>,
    selected: Selected,
) -> shelfmark_engine::Result<ResultPage> {
    let scan = Scan {
        filter,
        projection: selected.projection,
        count_only: selected.count_only,
        fetch_base: selected.fetch_base,
        ..scan
    };
    engine.scan(&target.table, &scan)
}
