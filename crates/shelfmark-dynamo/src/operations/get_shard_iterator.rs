//! GetShardIterator.

use shelfmark_engine::{ChangePosition, ErrorKind, StreamRange, StreamShardState};

use crate::errors::{Error, Exception, Result, texts};
use crate::face::Face;
use crate::json::{Reader, Writer};
use crate::limits::{SEQUENCE_NUMBER_CHARS_MAX, SEQUENCE_NUMBER_CHARS_MIN};
use crate::reply::Answered;
use crate::shape::Shape;
use crate::streams::{Iterator, StreamName, find_shard, position_of};

/// The types that the service's text lists, in its order, as observed; [`AT_TIMESTAMP`] came later.
const TYPES: &[&str] = &["AFTER_SEQUENCE_NUMBER", "LATEST", "AT_SEQUENCE_NUMBER", "TRIM_HORIZON"];

const AT_TIMESTAMP: &str = "AT_TIMESTAMP";

#[derive(Debug, Default)]
struct Request {
    arn: Option<String>,
    shard: Option<String>,
    iterator_type: Option<String>,
    sequence_number: Option<String>,
    timestamp_ms: Option<i64>,
}

/// Answers GetShardIterator.
pub(super) fn answer(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(body)?;
    let name = StreamName::asked(request.arn.as_deref())?;
    let arn = request.arn.clone().unwrap_or_default();
    name.find(&face.engine, &arn)?;
    let id = request.shard.as_deref().unwrap_or_default();
    let state = find_shard(&face.engine, &name, &arn, id)?;
    let number = request.sequence_number.as_deref();
    let range = match request.iterator_type.as_deref() {
        Some("LATEST") => face.engine.stream_latest(&state)?,
        Some("AT_SEQUENCE_NUMBER") => numbered(face, &state, number, StreamRange::At)?,
        Some("AFTER_SEQUENCE_NUMBER") => numbered(face, &state, number, StreamRange::After)?,
        Some(AT_TIMESTAMP) => since(face, &state, request.timestamp_ms)?,
        _ => StreamRange::Oldest,
    };
    let iterator = Iterator { arn, name, shard: state.shard.number, range };
    Ok(Writer::answer(|out| out.name("ShardIterator").text(&iterator.text(face.now_ms()))))
}

/// Returns the range that begins at a sequence number.
fn numbered(
    face: &Face,
    state: &StreamShardState,
    number: Option<&str>,
    range: fn(ChangePosition) -> StreamRange,
) -> Result<StreamRange> {
    let invalid = || Error::validation(texts::INVALID_SEQUENCE_NUMBER);
    let position = number.and_then(position_of).ok_or_else(invalid)?;
    let latest = match face.engine.stream_latest(state)? {
        StreamRange::After(latest) => latest,
        StreamRange::Oldest | StreamRange::At(_) => state.first,
    };
    if position > latest {
        return Err(invalid());
    }
    let trimmed = || Error::new(Exception::TrimmedDataAccess, texts::TRIMMED);
    if position < state.first {
        return Err(trimmed());
    }
    // The record itself must still be there; after one that is too old there may be one that is not.
    match face.engine.read_stream(state, StreamRange::At(position), 1, 1) {
        Err(error) if error.kind() == ErrorKind::TooOld => Err(trimmed()),
        Err(error) => Err(error.into()),
        Ok(_) => Ok(range(position)),
    }
}

/// Returns the range that begins at a moment.
fn since(face: &Face, state: &StreamShardState, timestamp_ms: Option<i64>) -> Result<StreamRange> {
    let required = || Error::validation(texts::TIMESTAMP_REQUIRED);
    let timestamp_ms = timestamp_ms.ok_or_else(required)?;
    if timestamp_ms > face.now_ms() {
        return Err(Error::validation(texts::TIMESTAMP_IN_THE_FUTURE));
    }
    let at_micros = u64::try_from(timestamp_ms).unwrap_or(0).saturating_mul(1_000);
    Ok(face.engine.stream_since(state, at_micros)?)
}

fn parse(body: &[u8]) -> Result<Request> {
    let mut request = Request::default();
    Reader::body(body, |reader, name| {
        match name {
            "StreamArn" => request.arn = reader.text()?,
            "ShardId" => request.shard = reader.text()?,
            "ShardIteratorType" => request.iterator_type = reader.text()?,
            "SequenceNumber" => request.sequence_number = reader.text()?,
            "Timestamp" => request.timestamp_ms = reader.millis()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    shape.required("StreamArn", request.arn.is_some());
    shape.required("ShardId", request.shard.is_some());
    shape.shard_id("ShardId", request.shard.as_deref());
    shape.required("ShardIteratorType", request.iterator_type.is_some());
    let listed = request.iterator_type.as_deref().filter(|name| *name != AT_TIMESTAMP);
    shape.one_of("ShardIteratorType", listed, TYPES);
    if let Some(number) = &request.sequence_number {
        let (least, most) = (SEQUENCE_NUMBER_CHARS_MIN, SEQUENCE_NUMBER_CHARS_MAX);
        shape.text("SequenceNumber", number, least, most);
    }
    shape.check()?;
    let is_numbered = matches!(
        request.iterator_type.as_deref(),
        Some("AT_SEQUENCE_NUMBER" | "AFTER_SEQUENCE_NUMBER")
    );
    match (is_numbered, &request.sequence_number) {
        (true, None) => Err(Error::validation(texts::SEQUENCE_NUMBER_REQUIRED)),
        (false, Some(_)) => Err(Error::validation(texts::SEQUENCE_NUMBER_FORBIDDEN)),
        _ => Ok(request),
    }
}
