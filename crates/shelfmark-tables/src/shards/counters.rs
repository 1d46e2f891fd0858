//! Reads the shard map of a partition, and the counters of its shards.

use bytes::Bytes;
use shelfmark_model::Value;
use shelfmark_records::shards::{Place, ShardMap};
use shelfmark_store::{Snapshot, Write as StoreWrite};

use crate::catalogue::Table;
use crate::error::Result;
use crate::items::partition_count_key;

/// Returns the map of a partition, if it has one.
pub(super) fn read_map(snapshot: &dyn Snapshot, place: &Place) -> Result<Option<ShardMap>> {
    let map = snapshot.get(&place.map_key())?;
    Ok(map.map(|map| ShardMap::decode(&map)).transpose()?)
}

/// Returns the count of one counter.
pub(super) fn counter(snapshot: &dyn Snapshot, key: &[u8]) -> Result<i64> {
    match snapshot.get(key)? {
        None => Ok(0),
        Some(value) => Ok(StoreWrite::counter(&value)?),
    }
}

/// Reads the shard map of a partition; one without a map is one shard.
///
/// # Errors
///
/// * [`crate::ErrorKind::Corrupt`]: the map cannot be read. Run `verify`.
/// * Those of the store.
pub fn map_of(snapshot: &dyn Snapshot, place: &Place) -> Result<ShardMap> {
    Ok(read_map(snapshot, place)?.unwrap_or_else(ShardMap::whole))
}

/// Returns what a counter of items says.
///
/// # Errors
///
/// * [`crate::ErrorKind::Corrupt`]: the counter cannot be read. Run `verify`.
/// * Those of the store.
pub fn counted(snapshot: &dyn Snapshot, key: &[u8]) -> Result<u64> {
    Ok(u64::try_from(counter(snapshot, key)?).unwrap_or(0))
}

/// Returns how many items the shard at `number` holds, both halves of one that is being split
/// included.
///
/// # Errors
///
/// * As [`counted`].
pub fn items(
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
///
/// # Errors
///
/// * As [`counted`].
pub fn bytes(snapshot: &dyn Snapshot, place: &Place, map: &ShardMap, number: usize) -> Result<u64> {
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
