//! Change streams: logs of a table's changes for readers outside, which outlive the table.
//!
//! A stream is cut into shards, each for a range of tokens and for some time. The log of a shard is
//! the change log of a table of its own, without rows, in the namespace [`STREAMS_NAMESPACE`]: so it
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
mod load;
mod open;
mod plan;
mod read;
mod upkeep;

pub use list::{StreamShardState, StreamTable};
pub(crate) use load::StreamLoad;
pub(crate) use plan::{resolve_logs, shard_marks};
pub use read::{StreamPage, StreamRange};
pub use upkeep::StreamKeeper;

use std::time::Duration;

use shelfmark_model::TableName;

use crate::catalogue::Table;
use crate::error::{Error, Result};

/// The namespace of the tables that hold the logs of shards. No face can name it.
pub(crate) const STREAMS_NAMESPACE: &str = "/streams";

/// Time for which changes can be read. Source: DynamoDB Developer Guide, "Change data capture for
/// DynamoDB Streams", read 2026-11.
pub(crate) const RETENTION: Duration = Duration::from_secs(24 * 3_600);

/// Age at which a shard that has changes is followed by a new one, so that its log can go away as a
/// whole. Source: observed on the service, about four hours.
pub(crate) const SHARD_AGE_MAX: Duration = Duration::from_secs(4 * 3_600);

/// Returns the name of the table that holds the log of a shard. Names of shards are ordered by
/// table, label and number.
fn log_name(table: &TableName, label: &str, number: u64) -> TableName {
    let stream = stream_prefix(table, label);
    TableName::new(STREAMS_NAMESPACE, format!("{stream}{number:010}"))
}

/// Returns what the names of the logs of one stream begin with.
fn stream_prefix(table: &TableName, label: &str) -> String {
    format!("{}/{}/{label}/", table.namespace, table.name)
}

impl Table {
    /// Returns the id of the log that a change of this row goes to, and counts the change. `row_key` is
    /// that of a table with a stream.
    pub(crate) fn stream_log(&self, row_key: &[u8]) -> Result<u64> {
        let missing = || Error::corrupt("a table's change stream has no shard for a row");
        let stream = self.schema.options.stream.as_ref().ok_or_else(missing)?;
        let rest = row_key.get(self.key.prefix.len()..).unwrap_or_default();
        let token = u64::from_be_bytes(*rest.first_chunk::<8>().ok_or_else(missing)?);
        let place = stream.shards.partition_point(|shard| shard.first_token <= token);
        let place = place.checked_sub(1).ok_or_else(missing)?;
        self.stream_load.count(place);
        stream.shards.get(place).map(|shard| shard.log).ok_or_else(missing)
    }
}
