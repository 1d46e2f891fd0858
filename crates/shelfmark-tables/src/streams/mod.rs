//! Change streams as far as writes and commits of the catalogue know them: which log a change goes
//! to, and the marks that open and close a shard's.
//!
//! What it is not: what streams are for. They are started, read and kept in shape by the engine.

mod load;
mod plan;

pub(crate) use load::StreamLoad;
pub(crate) use plan::{resolve_logs, shard_marks};

use shelfmark_model::TableName;

use crate::catalogue::Table;
use crate::error::{Error, Result};

/// The namespace of the tables that hold the logs of shards. No face can name it.
pub const STREAMS_NAMESPACE: &str = "/streams";

/// Returns the name of the table that holds the log of a shard. Names of shards are ordered by
/// table, label and number.
#[must_use]
pub fn log_name(table: &TableName, label: &str, number: u64) -> TableName {
    let stream = stream_prefix(table, label);
    TableName::new(STREAMS_NAMESPACE, format!("{stream}{number:010}"))
}

/// Returns what the names of the logs of one stream begin with.
#[must_use]
pub fn stream_prefix(table: &TableName, label: &str) -> String {
    format!("{}/{}/{label}/", table.namespace, table.name)
}

impl Table {
    /// Returns the changes written to each open shard of the table's stream since the last look, and
    /// begins at zero.
    #[must_use]
    pub fn take_stream_load(&self) -> Vec<u64> {
        self.stream_load.take()
    }

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
