//! Lists a partition's shards with their counts, and lets callers subscribe to splits.

use std::sync::Arc;

use shelfmark_model::Value;

use super::counters::{bytes, items, map_of, sort_values};
use super::state::{HookResult, SplitEvent, SplitFailure, SplitSubscription};
use crate::catalogue::Table;
use crate::error::{Error, Result};
use crate::tables::Tables;
use shelfmark_records::shards::{Entry, Place};

/// A contiguous sort-key range of a partition.
#[derive(Debug, Clone, PartialEq)]
pub struct Shard {
    /// Its number in the partition; never used again.
    pub id: u64,
    /// Values of the smallest sort key that may be in it, in the table's direction; `None` for the
    /// first shard.
    pub lower: Option<Vec<Value>>,
    /// Values of the smallest sort key behind it; `None` for the last shard.
    pub upper: Option<Vec<Value>>,
    /// The number of items it holds, exactly; expired ones that were not swept yet included.
    pub items: u64,
    /// The bytes of the keys and records of these items, exactly; `None` if the table does not
    /// count them, or has not counted all from before it did.
    pub bytes: Option<u64>,
    /// It is being split: the subscribers are being told.
    pub splitting: bool,
}

impl Tables {
    /// Returns the shards of a partition in key order, as of one moment.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the table keeps no exact counts. Create it with
    ///   `shard_bytes_max`, `shard_items_max` or `exact_counts`.
    pub fn partition_shards(&self, table: &Table, partition: &[Value]) -> Result<Vec<Shard>> {
        if !table.counts_exactly() {
            return Err(Error::invalid(format!(
                "table {} keeps no exact counts; create it with `shard_bytes_max` or \
                 `shard_items_max`",
                table.schema.name
            )));
        }
        let place = Place::of(table.id, &table.key, partition)?;
        let snapshot = self.store.snapshot()?;
        let map = map_of(&*snapshot, &place)?;
        let knows_bytes = table.knows_bytes();
        let sort = |entry: &Entry| sort_values(table, &place, &entry.start);
        let mut shards = Vec::with_capacity(map.entries.len());
        for (number, entry) in map.entries.iter().enumerate() {
            let after = map.entries.get(number + 1);
            shards.push(Shard {
                id: entry.id,
                lower: if number == 0 { None } else { Some(sort(entry)?) },
                upper: after.map(sort).transpose()?,
                items: items(&*snapshot, table, &place, partition, &map, number)?,
                bytes: match knows_bytes {
                    true => Some(bytes(&*snapshot, &place, &map, number)?),
                    false => None,
                },
                splitting: map.split.as_ref().is_some_and(|split| split.place == number),
            });
        }
        Ok(shards)
    }

    /// Has `hook` told of every split, after the cut has been decided and before it takes effect, until
    /// the subscription is dropped.
    pub fn on_split(
        &self,
        hook: impl Fn(&SplitEvent) -> HookResult + Send + Sync + 'static,
    ) -> SplitSubscription {
        self.shards.subscribe(Arc::new(hook))
    }

    /// Returns the splits that could not be done yet, and why.
    #[must_use]
    pub fn split_failures(&self) -> Vec<SplitFailure> {
        self.shards.failures()
    }
}
