//! Counts the changes that go to each open shard of a stream, to find shards that are too busy.

use std::sync::atomic::{AtomicU64, Ordering};

use shelfmark_model::TableSchema;

/// The changes written to each open shard of a table's stream since the last look. Kept in memory; a
/// new form of the table begins at zero.
#[derive(Debug, Default)]
pub(crate) struct StreamLoad(Box<[AtomicU64]>);

impl StreamLoad {
    /// Creates the counters of a table.
    pub(crate) fn of(schema: &TableSchema) -> Self {
        let shards = schema.options.stream.as_ref().map_or(0, |stream| stream.shards.len());
        Self((0..shards).map(|_| AtomicU64::new(0)).collect())
    }

    /// Counts one change of the shard at this place.
    pub(super) fn count(&self, place: usize) {
        if let Some(counter) = self.0.get(place) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns the counts by shard, and begins at zero.
    pub(super) fn take(&self) -> Vec<u64> {
        self.0.iter().map(|counter| counter.swap(0, Ordering::Relaxed)).collect()
    }
}
