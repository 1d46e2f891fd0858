//! Change streams: logs of a table's changes for readers outside, which outlive the table.
//!
//! A stream is cut into shards, each for a range of tokens and for some time. The log of a shard is
//! the change log of a table of its own, without rows, in the namespace [`shelfmark_tables::streams::STREAMS_NAMESPACE`]: so it
//! has an id, a record in the catalogue, and its space comes back like any dropped table's. A table's
//! writes go to the shards that its record lists as open. The first entry of a log says that the shard
//! was opened and the last one that it was closed; both have no images and are written by the commits
//! that open and close it, so their positions bound those of all changes.
//!
//! What it is not: queues. Nobody is remembered who reads, and nothing is removed by being read.
//!
//! Invariant: of two changes of one item the later one lies behind the earlier one in one shard, or in
//! a shard that descends from the earlier one's.

mod list;
mod open;
mod read;
mod upkeep;

pub use list::{StreamShardState, StreamTable};
pub use read::{StreamPage, StreamRange};
pub use upkeep::StreamKeeper;

use std::time::Duration;

/// Time for which changes can be read. Source: DynamoDB Developer Guide, "Change data capture for
/// DynamoDB Streams", read 2026-11.
pub(crate) const RETENTION: Duration = Duration::from_secs(24 * 3_600);

/// Age at which a shard that has changes is followed by a new one, so that its log can go away as a
/// whole. Source: observed on the service, about four hours.
pub(crate) const SHARD_AGE_MAX: Duration = Duration::from_secs(4 * 3_600);
