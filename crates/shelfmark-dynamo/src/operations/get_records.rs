//! GetRecords.

use shelfmark_engine::ErrorKind;

use crate::errors::{Error, Exception, Result, texts};
use crate::face::Face;
use crate::json::{Reader, Writer};
use crate::limits::{ITERATOR_CHARS_MAX, RECORDS_BYTES_MAX, RECORDS_MAX};
use crate::reply::Answered;
use crate::shape::Shape;
use crate::streams::{Iterator, IteratorFault, put_record};

/// Answers GetRecords.
pub(super) fn answer(face: &Face, body: &[u8]) -> Result<Answered> {
    let (text, limit) = parse(body)?;
    let iterator = Iterator::read(&text, face.now_ms()).map_err(|fault| match fault {
        IteratorFault::Expired => Error::new(Exception::ExpiredIterator, texts::ITERATOR_EXPIRED),
        IteratorFault::Invalid => Error::validation(texts::INVALID_ITERATOR),
    })?;
    let trimmed = |gone: ErrorKind| {
        move |error: shelfmark_engine::Error| {
            if error.kind() == gone {
                return Error::new(Exception::TrimmedDataAccess, texts::TRIMMED);
            }
            error.into()
        }
    };
    let name = &iterator.name;
    name.find(&face.engine, &iterator.arn)?;
    // A shard goes away when everything in it is too old.
    let state = face
        .engine
        .stream_shard(&face.engine.table_name(&name.table), &name.label, iterator.shard)
        .map_err(trimmed(ErrorKind::NotFound))?;
    let page = face
        .engine
        .read_stream(&state, iterator.range, limit, RECORDS_BYTES_MAX)
        .map_err(trimmed(ErrorKind::TooOld))?;
    let next = page.next.map(|range| Iterator { range, ..iterator.clone() }.text(face.now_ms()));
    Ok(Writer::answer(|out| {
        if let Some(next) = &next {
            out.name("NextShardIterator").text(next);
        }
        out.name("Records").list(|out| {
            for change in &page.changes {
                put_record(out, &face.options, &state.log, &state.shard, change);
            }
        });
    }))
}

/// Returns the iterator and the limit of a request.
fn parse(body: &[u8]) -> Result<(String, usize)> {
    let (mut iterator, mut limit) = (None, None);
    Reader::body(body, |reader, name| {
        match name {
            "ShardIterator" => iterator = reader.text()?,
            "Limit" => limit = reader.integer()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    shape.required("ShardIterator", iterator.is_some());
    let text = iterator.unwrap_or_else(|| "-".to_owned());
    shape.text("ShardIterator", &text, 1, ITERATOR_CHARS_MAX);
    shape.range("Limit", limit, 1, i64::try_from(RECORDS_MAX).ok());
    shape.check()?;
    let limit = limit.and_then(|limit| usize::try_from(limit).ok());
    Ok((text, limit.unwrap_or(RECORDS_MAX)))
}
