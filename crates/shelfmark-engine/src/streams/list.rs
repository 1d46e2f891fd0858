//! Lists the change streams that can be read, and the shards of one.

use std::sync::Arc;

use shelfmark_model::{ChangeImages, StreamShard, TableName};
use shelfmark_store::{Direction, Snapshot};
use shelfmark_tables::catalogue::Table;
use shelfmark_tables::items::{ChangePosition, LogStart, log_end};
use shelfmark_tables::streams::{STREAMS_NAMESPACE, log_name, stream_prefix};
use shelfmark_tables::{Error, ErrorKind, Result};

use crate::engine::Engine;

/// A change stream: the one that a table has now, or one that it had.
#[derive(Debug, Clone)]
pub struct StreamTable {
    /// The table, which may be gone.
    pub table: TableName,
    /// The label of the stream.
    pub label: String,
    /// The images that it keeps.
    pub images: ChangeImages,
    /// Microseconds since the Unix epoch when it was started.
    pub started_at_micros: u64,
    /// True if changes still go to it.
    pub is_open: bool,
    /// A log of the stream: its schema has the key of the table.
    pub log: Arc<Table>,
}

/// A shard of a change stream, and the positions that bound its changes.
#[derive(Debug, Clone)]
pub struct StreamShardState {
    /// The table that holds its log.
    pub log: Arc<Table>,
    /// Its settings.
    pub shard: StreamShard,
    /// The position at which it was opened, before all of its changes.
    pub first: ChangePosition,
    /// The position at which it was closed, behind all of its changes; `None` while it is open.
    pub last: Option<ChangePosition>,
}

impl Engine {
    /// Returns the streams of the tables of a namespace, or of one of them, that can be read: up to
    /// `limit` behind the stream with this table and label, in the order of tables and labels.
    ///
    /// Cost: a seek for each stream.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn streams(
        &self,
        namespace: &str,
        table: Option<&str>,
        after: Option<(&str, &str)>,
        limit: usize,
    ) -> Result<Vec<StreamTable>> {
        let prefix = match table {
            Some(table) => format!("{namespace}/{table}/"),
            None => format!("{namespace}/"),
        };
        let mut from = match after {
            Some((table, label)) => behind(&TableName::new(namespace, table), label),
            None => prefix.clone(),
        };
        from = from.max(prefix.clone());
        let mut found: Vec<StreamTable> = Vec::new();
        while found.len() < limit {
            let Some(log) = self.first_log(&from)?.filter(|log| log.name.starts_with(&prefix))
            else {
                break;
            };
            let Some(stream) = self.stream_of(&log)? else {
                from.clone_from(&log.name);
                continue;
            };
            from = behind(&stream.table, &stream.label);
            found.push(stream);
        }
        Ok(found)
    }

    /// Returns one stream.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: there is none, or nothing of it is left.
    pub fn stream(&self, table: &TableName, label: &str) -> Result<StreamTable> {
        let prefix = stream_prefix(table, label);
        let log = self.first_log(&prefix)?.filter(|log| log.name.starts_with(&prefix));
        let stream = log.map(|log| self.stream_of(&log)).transpose()?.flatten();
        stream.ok_or_else(|| none(table, label))
    }

    /// Returns the shards of a stream that can still be read, older ones first: up to `limit` behind
    /// the one of this number.
    ///
    /// Cost: one or two reads for each shard.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn stream_shards(
        &self,
        table: &TableName,
        label: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<StreamShardState>> {
        let prefix = stream_prefix(table, label);
        let after = log_name(table, label, after);
        let catalogue = &self.inner.catalogue;
        let names = catalogue.names(Some(STREAMS_NAMESPACE), Some(&after), limit)?;
        let own = names.into_iter().filter(|log| log.name.starts_with(&prefix));
        own.filter_map(|log| self.shard_state(&log).transpose()).collect()
    }

    /// Returns one shard of a stream.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: there is no such shard, or it went away with its age.
    pub fn stream_shard(
        &self,
        table: &TableName,
        label: &str,
        number: u64,
    ) -> Result<StreamShardState> {
        let state = self.shard_state(&log_name(table, label, number))?;
        state.ok_or_else(|| none(table, label))
    }

    fn first_log(&self, after: &str) -> Result<Option<TableName>> {
        let after = TableName::new(STREAMS_NAMESPACE, after);
        let names = self.inner.catalogue.names(Some(STREAMS_NAMESPACE), Some(&after), 1)?;
        Ok(names.into_iter().next())
    }

    /// Returns the stream of a log; `None` if it went away just now.
    fn stream_of(&self, log: &TableName) -> Result<Option<StreamTable>> {
        let Some((log, shard)) = self.shard_of(log)? else { return Ok(None) };
        let table = TableName::new(&shard.namespace, &shard.table);
        let is_open = match self.inner.catalogue.table(&table) {
            Ok(base) => {
                base.schema.options.stream.as_ref().is_some_and(|own| own.label == shard.label)
            }
            Err(_) => false,
        };
        Ok(Some(StreamTable {
            table,
            label: shard.label,
            images: shard.images,
            started_at_micros: shard.started_at_micros,
            is_open,
            log,
        }))
    }

    /// Returns the table of a log, and the shard that it holds.
    pub(super) fn shard_of(&self, log: &TableName) -> Result<Option<(Arc<Table>, StreamShard)>> {
        let table = match self.inner.catalogue.table(log) {
            Ok(table) => table,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let shard = table.schema.options.stream_shard.as_deref().cloned();
        let damaged = || Error::corrupt(format!("table {log} says nothing of a change stream"));
        Ok(Some((table, shard.ok_or_else(damaged)?)))
    }

    fn shard_state(&self, log: &TableName) -> Result<Option<StreamShardState>> {
        let Some((log, shard)) = self.shard_of(log)? else { return Ok(None) };
        let snapshot = self.inner.store.snapshot()?;
        let snapshot: &dyn Snapshot = &*snapshot;
        let end = |direction| log_end(snapshot, log.id, LogStart::Front, direction);
        // A salvage may have lost the marks; the stream begins with the store then.
        let first = end(Direction::Ascending)?.map(|(first, _)| first).unwrap_or_default();
        let last = match shard.closed_at_micros {
            Some(_) => Some(end(Direction::Descending)?.map_or(first, |(last, _)| last)),
            None => None,
        };
        Ok(Some(StreamShardState { log, shard, first, last }))
    }
}

/// Returns a name behind the logs of a stream, and before those of all later ones.
fn behind(table: &TableName, label: &str) -> String {
    // What follows the slash, which ends the prefix of their names.
    format!("{}/{}/{label}0", table.namespace, table.name)
}

fn none(table: &TableName, label: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("table {table} has no stream {label}"))
}
