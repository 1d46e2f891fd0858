//! Shards: contiguous sort-key ranges of a partition that has grown, with their own statistics.
//!
//! A shard is bookkeeping. Reads and writes find items by their keys and never look at shards, so
//! splitting changes no answer; callers list a partition's shards and hear of splits.
//!
//! A split takes two commits, and both change the partition's shard map, a key that every write
//! which creates or removes an item of a sharded table reads and has validated:
//!
//! 1. The cut is written into the map. A write planned with the old map and queued later conflicts
//!    and is planned again; from here on writes count in the new half that they fall into, at first
//!    from nothing, while the old shard's counter stands still.
//! 2. On one snapshot behind the first commit the rows of each half are counted. What the half's
//!    counter shows there has been counted by writes already; the difference is add_bytes, and the map
//!    gets the two halves for the one shard.
//!
//! Additions commute, so writes go on between and beside both commits, and the counts are exact. No
//! write waits for a split; it conflicts with one at most twice. Between the two the subscribers
//! are told; while one of them fails the split stays where it is, is tried again, and survives a
//! restart.
//!
//! Items are counted, and bytes of keys and records where the table asks for it. A table that has
//! begun to ask for it counts what writes change from then on, and a pass in the background adds
//! what was there before ([`pass`]); until then its shards are not split by their bytes.
//!
//! What it is not: a limit. A shard that could not be split goes on growing, and nothing is refused.
//!
//! Invariant: the counters of a partition's shards add up to the partition's count and to the bytes
//! of its rows, at every snapshot.

mod count;
mod grown;
mod listing;
mod map;
mod pass;
mod renew;
mod rooms;
mod rows;
mod split;
mod state;
#[cfg(test)]
mod tests;
mod unsplit;

pub use count::ShardGrowth;
pub(crate) use count::{SizeChange, add_bytes, count, stored_bytes};
pub use listing::Shard;
pub(crate) use listing::{bytes, counted, items, map_of};
pub(crate) use map::{Place, ShardMap, section};
pub(crate) use renew::{renew, renew_bytes};
pub(crate) use rooms::Rooms;
pub(crate) use rows::Sum;
pub(crate) use state::State;
pub use state::{HookResult, SplitEvent, SplitFailure, SplitHook, SplitSubscription};
pub(crate) use unsplit::Unsplit;

use shelfmark_model::TableSchema;

use crate::catalogue::Table;
use crate::error::{Error, Result};

/// Refuses limits that no shard can keep, and has a table whose bytes begin to count look for those
/// of its items from before.
///
/// # Errors
///
/// * [`crate::ErrorKind::Invalid`]: a limit is 0.
pub(crate) fn check_limits(old: Option<&Table>, schema: &mut TableSchema) -> Result<()> {
    let had = old.map(|old| &old.schema.options);
    let options = &schema.options;
    // A table of an earlier build keeps what it has.
    if options.shard_items_max == Some(0) && had.is_none_or(|had| had.shard_items_max != Some(0)) {
        return Err(no_limit(schema, "shard_items_max", "an item"));
    }
    if options.shard_bytes_max == Some(0) {
        return Err(no_limit(schema, "shard_bytes_max", "a byte"));
    }
    let begins =
        options.shard_bytes_max.is_some() && had.is_some_and(|had| had.shard_bytes_max.is_none());
    schema.options.shard_pass = match old {
        _ if options.shard_bytes_max.is_none() => None,
        Some(old) if begins => Some(old.version + 1),
        Some(_) => options.shard_pass,
        None => None,
    };
    Ok(())
}

fn no_limit(schema: &TableSchema, name: &str, least: &str) -> Error {
    Error::invalid(format!(
        "table {}: `{name}` is 0, but a shard holds {least} at least",
        schema.name
    ))
}
