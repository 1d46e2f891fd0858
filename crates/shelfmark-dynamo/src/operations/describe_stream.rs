//! DescribeStream.

use shelfmark_engine::{StreamShardState, StreamTable};

use crate::describe::{put_key_schema, put_seconds};
use crate::errors::{Error, Result, texts};
use crate::face::Face;
use crate::json::{Reader, Writer};
use crate::limits::SHARDS_PAGE_MAX;
use crate::reply::Answered;
use crate::scope::ScopedEngine;
use crate::shape::Shape;
use crate::streams::{
    SHARD_ID_PREFIX, StreamName, find_shard, put_shard, shard_id, shard_number, view_type_of,
};

#[derive(Debug, Default)]
struct Request {
    arn: Option<String>,
    limit: Option<i64>,
    start: Option<String>,
    filter: Option<Filter>,
}

#[derive(Debug, Default)]
struct Filter {
    filter_type: Option<String>,
    shard: Option<String>,
}

/// A page of the shards of a stream.
struct Page {
    shards: Vec<StreamShardState>,
    /// The id of the last one, if there are more.
    last: Option<String>,
}

/// Answers DescribeStream.
pub(super) fn answer(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(body)?;
    let name = StreamName::asked(request.arn.as_deref())?;
    let arn = request.arn.clone().unwrap_or_default();
    let stream = name.find(&face.engine, &arn)?;
    let page = page(&face.engine, &name, &arn, &request)?;
    let parents = parents(&face.engine, &name, &page.shards)?;
    Ok(Writer::answer(|out| {
        out.name("StreamDescription").object(|out| {
            put_stream(out, &stream, &arn);
            if let Some(last) = &page.last {
                out.name("LastEvaluatedShardId").text(last);
            }
            out.name("Shards").list(|out| {
                for (shard, parent) in page.shards.iter().zip(&parents) {
                    put_shard(out, shard, parent.as_deref());
                }
            });
        });
    }))
}

fn put_stream(out: &mut Writer, stream: &StreamTable, arn: &str) {
    let started_ms = i64::try_from(stream.started_at_micros / 1_000).unwrap_or(i64::MAX);
    put_seconds(out.name("CreationRequestDateTime"), started_ms);
    let schema = &stream.log.schema;
    put_key_schema(out, &schema.partition, &schema.sort);
    out.name("StreamArn").text(arn);
    out.name("StreamLabel").text(&stream.label);
    out.name("StreamStatus").text(if stream.is_open { "ENABLED" } else { "DISABLED" });
    out.name("StreamViewType").text(view_type_of(stream.images));
    out.name("TableName").text(&stream.table.name);
}

fn page(engine: &ScopedEngine, name: &StreamName, arn: &str, request: &Request) -> Result<Page> {
    let limit = request.limit.and_then(|limit| usize::try_from(limit).ok());
    let limit = limit.unwrap_or(SHARDS_PAGE_MAX);
    // A shard that went away meanwhile is one to start behind, too, and so is any other text: ids are
    // compared as texts.
    let after = match request.start.as_deref() {
        Some(id) => shard_number(id).unwrap_or(if id < SHARD_ID_PREFIX { 0 } else { u64::MAX }),
        None => 0,
    };
    let table = engine.table_name(&name.table);
    let mut shards = match &request.filter {
        None => engine.stream_shards(&table, &name.label, after, limit + 1)?,
        Some(filter) => {
            let id = filter.shard.as_deref().unwrap_or_default();
            let parent = find_shard(engine, name, arn, id)?.shard.number;
            let mut all = engine.stream_shards(&table, &name.label, after, usize::MAX)?;
            all.retain(|own| own.shard.parent == Some(parent));
            all
        }
    };
    let has_more = shards.len() > limit;
    shards.truncate(limit);
    let last = shards.last().filter(|_| has_more).map(|last| shard_id(&last.shard));
    Ok(Page { shards, last })
}

/// Returns the ids of the shards that these follow. One that went away is still named, as on the
/// service, where it is known.
fn parents(
    engine: &ScopedEngine,
    name: &StreamName,
    shards: &[StreamShardState],
) -> Result<Vec<Option<String>>> {
    let mut parents = Vec::with_capacity(shards.len());
    for state in shards {
        let Some(number) = state.shard.parent else {
            parents.push(None);
            continue;
        };
        let known = shards.iter().find(|own| own.shard.number == number);
        parents.push(match known {
            Some(parent) => Some(shard_id(&parent.shard)),
            None => {
                let found = engine.stream_shards(
                    &engine.table_name(&name.table),
                    &name.label,
                    number - 1,
                    1,
                )?;
                let parent = found.first().filter(|own| own.shard.number == number);
                parent.map(|parent| shard_id(&parent.shard))
            }
        });
    }
    Ok(parents)
}

fn parse(body: &[u8]) -> Result<Request> {
    let mut request = Request::default();
    Reader::body(body, |reader, name| {
        match name {
            "StreamArn" => request.arn = reader.text()?,
            "Limit" => request.limit = reader.integer()?,
            "ExclusiveStartShardId" => request.start = reader.text()?,
            "ShardFilter" => {
                let mut filter = Filter::default();
                let present = reader.structure(|reader, name| {
                    match name {
                        "Type" => filter.filter_type = reader.text()?,
                        "ShardId" => filter.shard = reader.text()?,
                        _ => reader.skip()?,
                    }
                    Ok(())
                })?;
                request.filter = present.then_some(filter);
            }
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    shape.required("StreamArn", request.arn.is_some());
    shape.range("Limit", request.limit, 1, i64::try_from(SHARDS_PAGE_MAX).ok());
    shape.shard_id("ExclusiveStartShardId", request.start.as_deref());
    if let Some(filter) = &request.filter {
        let filter_type = filter.filter_type.as_deref();
        shape.one_of("ShardFilter.Type", filter_type, &["CHILD_SHARDS"]);
        shape.shard_id("ShardFilter.ShardId", filter.shard.as_deref());
    }
    shape.check()?;
    match &request.filter {
        Some(Filter { filter_type: Some(_), shard: Some(_) }) | None => Ok(request),
        Some(_) => Err(Error::validation(texts::SHARD_FILTER_INCOMPLETE)),
    }
}
