//! What callers see of shards: a partition's shards with their counts, and the wish to hear of
//! splits.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_model::Value;
use shelfmark_store::{Snapshot, Write as StoreWrite};

use super::map::{Entry, Place, ShardMap};
use super::state::{HookResult, SplitEvent, SplitFailure, SplitSubscription};
use crate::catalogue::Table;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::items::partition_count_key;

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
    /// How many items it holds, exactly; expired ones that were not swept yet included.
    pub items: u64,
    /// How many bytes the keys and records of these items have, exactly; `None` if the table does not
    /// count them, or has not counted all from before it did.
    pub bytes: Option<u64>,
    /// It is being split: the subscribers are being told.
    pub splitting: bool,
}

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
        if !table.counts_exactly() {
            return Err(Error::invalid(format!(
                "table {} keeps no exact counts; create it with `shard_bytes_max` or \
                 `shard_items_max`",
                table.schema.name
            )));
        }
        let place = Place::of(table, partition)?;
        let snapshot = self.inner.store.snapshot()?;
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
        self.inner.shards.subscribe(Arc::new(hook))
    }

    /// Returns the splits that could not be done yet, and why.
    #[must_use]
    pub fn split_failures(&self) -> Vec<SplitFailure> {
        self.inner.shards.failures()
    }
}

/// Returns the map of a partition, if it has one.
pub(super) fn read_map(snapshot: &dyn Snapshot, place: &Place) -> Result<Option<ShardMap>> {
    snapshot.get(&place.map_key())?.map(|map| ShardMap::decode(&map)).transpose()
}

/// Returns the count of one counter.
pub(super) fn counter(snapshot: &dyn Snapshot, key: &[u8]) -> Result<i64> {
    match snapshot.get(key)? {
        None => Ok(0),
        Some(value) => Ok(StoreWrite::counter(&value)?),
    }
}

/// As [`read_map`]; a partition without a map is one shard.
pub(crate) fn map_of(snapshot: &dyn Snapshot, place: &Place) -> Result<ShardMap> {
    Ok(read_map(snapshot, place)?.unwrap_or_else(ShardMap::whole))
}

/// Returns what a counter of items says.
pub(crate) fn counted(snapshot: &dyn Snapshot, key: &[u8]) -> Result<u64> {
    Ok(u64::try_from(counter(snapshot, key)?).unwrap_or(0))
}

/// Returns how many items the shard at `number` holds, both halves of one that is being split
/// included.
pub(crate) fn items(
    snapshot: &dyn Snapshot,
    table: &Table,
    place: &Place,
    partition: &[Value],
    map: &ShardMap,
    number: usize,
) -> Result<u64> {
    if map.entries.len() == 1 {
        return counted(snapshot, &partition_count_key(table, partition)?);
    }
    summed(snapshot, map, number, |shard| place.counter_key(shard))
}

/// Returns how many bytes the shard at `number` holds, as [`items`] does.
pub(crate) fn bytes(
    snapshot: &dyn Snapshot,
    place: &Place,
    map: &ShardMap,
    number: usize,
) -> Result<u64> {
    summed(snapshot, map, number, |shard| place.bytes_key(shard))
}

/// Returns the sum of the counters of a shard and of its halves.
fn summed(
    snapshot: &dyn Snapshot,
    map: &ShardMap,
    number: usize,
    key: impl Fn(u64) -> Bytes,
) -> Result<u64> {
    let mut sum = 0_i64;
    for shard in map.counting(number) {
        sum = sum.saturating_add(counter(snapshot, &key(shard))?);
    }
    Ok(u64::try_from(sum).unwrap_or(0))
}

/// Returns the sort key of these bytes.
pub(super) fn sort_values(table: &Table, place: &Place, sort: &[u8]) -> Result<Vec<Value>> {
    let item = table.key_item(&place.row_of(sort))?;
    Ok(table.key_of(&item)?.sort)
}
