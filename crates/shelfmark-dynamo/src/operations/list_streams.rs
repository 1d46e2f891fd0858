//! ListStreams.

use shelfmark_engine::StreamTable;

use super::listing::page;
use crate::errors::{Error, Result, texts};
use crate::face::{Face, RequestHead};
use crate::json::{Reader, Writer};
use crate::limits::STREAMS_PAGE_MAX;
use crate::reply::Answered;
use crate::shape::Shape;
use crate::streams::{StreamName, stream_arn};
use crate::table::name_of;

#[derive(Debug, Default)]
struct Request {
    table: Option<String>,
    limit: Option<i64>,
    start: Option<String>,
}

/// Answers ListStreams. A key that may use some tables only is shown the streams of those.
pub(super) fn answer(face: &Face, head: &RequestHead<'_>, body: &[u8]) -> Result<Answered> {
    let request = parse(body)?;
    let limit = request.limit.and_then(|limit| usize::try_from(limit).ok());
    let limit = limit.unwrap_or(STREAMS_PAGE_MAX);
    let after = match &request.start {
        Some(arn) => Some(
            StreamName::of_arn(arn)
                .map(|name| (name.table, name.label))
                .ok_or_else(|| Error::validation(texts::INVALID_STREAM_ARN))?,
        ),
        None => None,
    };
    let table = request.table.as_deref().map(name_of);
    let (found, has_more) = page(
        limit,
        after,
        |after, most| {
            let after = after.map(|(table, label)| (table.as_str(), label.as_str()));
            face.engine.streams(face.engine.set_name(), table, after, most)
        },
        |stream| (stream.table.name.clone(), stream.label.clone()),
        |stream| head.sees(&stream.table.name),
    )?;
    let arn = |own: &StreamTable| stream_arn(&face.options, &own.table.name, &own.label);
    Ok(Writer::answer(|out| {
        if let Some(last) = found.last().filter(|_| has_more) {
            out.name("LastEvaluatedStreamArn").text(&arn(last));
        }
        out.name("Streams").list(|out| {
            for stream in &found {
                out.object(|out| {
                    out.name("StreamArn").text(&arn(stream));
                    out.name("StreamLabel").text(&stream.label);
                    out.name("TableName").text(&stream.table.name);
                });
            }
        });
    }))
}

fn parse(body: &[u8]) -> Result<Request> {
    let mut request = Request::default();
    Reader::body(body, |reader, name| {
        match name {
            "TableName" => request.table = reader.text()?,
            "Limit" => request.limit = reader.integer()?,
            "ExclusiveStartStreamArn" => request.start = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    if request.table.is_some() {
        shape.table("TableName", request.table.as_deref());
    }
    shape.range("Limit", request.limit, 1, i64::try_from(STREAMS_PAGE_MAX).ok());
    shape.check()?;
    Ok(request)
}
