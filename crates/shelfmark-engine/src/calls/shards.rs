//! Shards of partitions: which there are, and their splits.

use std::sync::Arc;

use shelfmark_model::Value;
use shelfmark_tables::Result;
use shelfmark_tables::catalogue::Table;
use shelfmark_tables::shards::{
    HookResult, Shard, ShardGrowth, SplitEvent, SplitFailure, SplitSubscription,
};

use crate::background::Work;
use crate::engine::Engine;

impl Engine {
    /// Returns the shards of a partition in key order, as of one moment. A partition that was never
    /// split, or is empty, is one shard.
    ///
    /// Cost: one or two point reads per shard.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the table keeps no exact counts. Create it with
    ///   `shard_bytes_max`, `shard_items_max` or `exact_counts`.
    pub fn shards(&self, table: &Table, partition: &[Value]) -> Result<Vec<Shard>> {
        self.inner.partition_shards(table, partition)
    }

    /// Has `hook` told of every split in this engine until the subscription is dropped.
    ///
    /// It is called after the cut has been decided and before it takes effect, from the thread that
    /// splits, and once per split, but for these: it, or another subscriber, answered with an error or
    /// panicked, so that the split waits and all are told again ([`Engine::split_due`]; writes go on,
    /// and [`Engine::split_failures`] shows the error); the process ended before the split did; or
    /// several engines share the store.
    pub fn on_split(
        &self,
        hook: impl Fn(&SplitEvent) -> HookResult + Send + Sync + 'static,
    ) -> SplitSubscription {
        self.inner.on_split(hook)
    }

    /// Returns the splits that could not be done yet, and why.
    #[must_use]
    pub fn split_failures(&self) -> Vec<SplitFailure> {
        self.inner.split_failures()
    }

    /// Splits the shards that durable writes made too large: those that their answers name
    /// ([`crate::Written::grown_shard`]) in one partition. Returns how many splits were done by this
    /// call: where another thread is splitting the partition it is left to that one.
    ///
    /// Writes never split by themselves. Whoever wants it at once calls this after its writes; for
    /// all others the upkeep thread does it a little later. While the shards are known to have
    /// room this costs a look into memory.
    ///
    /// What could not be done is tried at a later call; see [`Engine::split_failures`].
    ///
    /// # Errors
    ///
    /// * Those of the store. Nothing is lost; call again.
    pub fn split_after(
        &self,
        table: &Arc<Table>,
        partition: &[Value],
        grown: impl IntoIterator<Item = ShardGrowth>,
    ) -> Result<usize> {
        let done = self.inner.split_after(table, partition, grown)?;
        self.inner.background.did(Work::Splits, done as u64);
        Ok(done)
    }

    /// Splits the shards of a table that any writes made too large, if they have been committed
    /// since the call before this one. Returns how many splits were done.
    ///
    /// # Errors
    ///
    /// * As [`Engine::split_after`]; the other partitions are seen to all the same.
    pub fn split_due(&self, table: &Arc<Table>) -> Result<usize> {
        self.inner.split_due(table)
    }

    /// Splits as [`Engine::split_due`] does, for every table that was used since the engine was
    /// opened.
    ///
    /// # Errors
    ///
    /// * As [`Engine::split_due`]; the other tables are seen to all the same.
    pub fn split_all_due(&self) -> Result<usize> {
        self.inner.split_all_due()
    }
}
