//! Ids of shards, and shards as DescribeStream shows them.
//!
//! An id is `shardId-`, the milliseconds at which the shard was opened in 20 digits, `-`, and its
//! number in the stream in 8 hex digits.

use shelfmark_engine::{ErrorKind, StreamShardState};
use shelfmark_model::StreamShard;

use super::StreamName;
use super::sequence::sequence_number;
use crate::errors::{Error, Exception, Result, texts};
use crate::json::Writer;
use crate::scope::ScopedEngine;

/// The beginning of the id of every shard.
pub(crate) const SHARD_ID_PREFIX: &str = "shardId-";

/// Returns the id of a shard.
pub(crate) fn shard_id(shard: &StreamShard) -> String {
    format!("{SHARD_ID_PREFIX}{:020}-{:08x}", shard.opened_at_micros / 1_000, shard.number)
}

/// Returns the number in the id of a shard.
pub(crate) fn shard_number(id: &str) -> Option<u64> {
    let (time, number) = id.strip_prefix(SHARD_ID_PREFIX)?.split_once('-')?;
    let is_time = time.len() == 20 && time.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = number.len() >= 8 && number.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_time || !is_number {
        return None;
    }
    u64::from_str_radix(number, 16).ok()
}

/// Finds a shard by its id; `arn` is how the client called the stream.
pub(crate) fn find_shard(
    engine: &ScopedEngine,
    name: &StreamName,
    arn: &str,
    id: &str,
) -> Result<StreamShardState> {
    let missing = || Error::new(Exception::ResourceNotFound, texts::shard_not_found(id, arn));
    let number = shard_number(id).ok_or_else(missing)?;
    match engine.stream_shard(&engine.table_name(&name.table), &name.label, number) {
        Ok(state) if shard_id(&state.shard) == id => Ok(state),
        Ok(_) => Err(missing()),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(missing()),
        Err(error) => Err(error.into()),
    }
}

/// Writes a shard. `parent` is the id of the one it follows, if that can still be read.
pub(crate) fn put_shard(out: &mut Writer, state: &StreamShardState, parent: Option<&str>) {
    out.object(|out| {
        out.name("ShardId").text(&shard_id(&state.shard));
        out.name("SequenceNumberRange").object(|out| {
            out.name("StartingSequenceNumber").text(&sequence_number(state.first));
            if let Some(last) = state.last {
                out.name("EndingSequenceNumber").text(&sequence_number(last));
            }
        });
        if let Some(parent) = parent {
            out.name("ParentShardId").text(parent);
        }
    });
}
