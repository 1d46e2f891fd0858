//! The counts of shards, of items and of bytes, from the rows that are there, after some of either
//! were lost.
//!
//! A split that is under way goes on later: its halves count from nothing, and the shard has all rows
//! until then.
//!
//! Nobody may write to the table meanwhile.

use std::collections::BTreeMap;

use bytes::Bytes;
use shelfmark_records::keys::without_chunk;
use shelfmark_records::shards::{Place, ShardMap, range_of, section, section_key};
use shelfmark_store::{KeyRange, Write as StoreWrite};
use shelfmark_tables::Result;
use shelfmark_tables::catalogue::Table;
use shelfmark_tables::rows::{Moment, Walk, damage};
use shelfmark_tables::shards::{map_of, sum_of};

use super::{Pen, put_count};

/// Counts the rows of each shard of partitions that have a map, and removes the counters of shards
/// that no map has. Returns how many counts were not right.
pub(crate) fn renew(pen: &mut Pen<'_>, table: &Table) -> Result<u64> {
    let moment = Moment::take(&pen.inner.store)?;
    let (map_section, item_section) =
        (section_key(table.id, section::MAP), section_key(table.id, section::ITEMS));
    let mut corrected = 0;
    let mut maps = Walk::over(KeyRange::prefix(map_section.clone()));
    let mut counters = Walk::over(KeyRange::prefix(item_section.clone()));
    let mut next = counters.next(&moment)?;
    while let Some(row) = maps.next(&moment)? {
        let partition = row.key.slice(map_section.len()..);
        let Ok(map) = damage(ShardMap::decode(&row.value))? else {
            pen.delete(row.key)?;
            continue;
        };
        let wanted = counts(&moment, table, &partition, &map)?;
        let own = [item_section.as_slice(), &partition].concat();
        // The counters lie in the order of the maps; those before this one's have none.
        while let Some(row) =
            next.take_if(|row| row.key.as_ref() < own.as_slice() || row.key.starts_with(&own))
        {
            if !wanted.contains_key(&row.key) {
                pen.delete(row.key)?;
            }
            next = counters.next(&moment)?;
        }
        for (key, count) in wanted {
            corrected += u64::from(put_count(pen, &moment, key, count)?);
        }
    }
    while let Some(row) = next {
        pen.delete(row.key)?;
        next = counters.next(&moment)?;
    }
    Ok(corrected)
}

/// Returns where the counters of a partition's shards lie, and what they should say.
fn counts(
    moment: &Moment,
    table: &Table,
    partition: &Bytes,
    map: &ShardMap,
) -> Result<BTreeMap<Bytes, u64>> {
    let place = Place::named(table.id, &table.key, partition.clone());
    let mut counts = BTreeMap::new();
    for (number, entry) in map.entries.iter().enumerate() {
        let range = range_of(&place, map, number);
        let sum = moment.with(|snapshot| sum_of(snapshot, table, range.clone()))?;
        counts.insert(place.counter_key(entry.id), sum.rows);
    }
    Ok(counts)
}

/// Counts the bytes of each shard of all partitions, and removes the counters of shards that no map
/// has and of partitions without rows. Returns how many counts were not right.
///
/// The maps are right by now ([`renew`]) and the rows are mended.
pub(crate) fn renew_bytes(pen: &mut Pen<'_>, table: &Table) -> Result<u64> {
    let moment = Moment::take(&pen.inner.store)?;
    let counters = section_key(table.id, section::BYTES);
    let mut kept = Walk::over(KeyRange::prefix(counters.clone()));
    let mut next = kept.next(&moment)?;
    let mut corrected = 0;
    let mut rest = table.counts_bytes().then(|| KeyRange::prefix(table.key.prefix.clone()));
    while let Some(range) = rest.take() {
        let Some(first) = Walk::over(range.clone()).next(&moment)? else { break };
        let item = table.key_item(without_chunk(&first.key)?)?;
        let place = Place::of(table.id, &table.key, &table.key_of(&item)?.partition)?;
        let wanted = bytes_of(&moment, table, &place)?;
        let own = [counters.as_slice(), &place.partition].concat();
        // The counters lie in the order of the partitions; those before this one's have no rows.
        while let Some(row) =
            next.take_if(|row| row.key.as_ref() < own.as_slice() || row.key.starts_with(&own))
        {
            if !wanted.contains_key(&row.key) {
                corrected += u64::from(StoreWrite::counter(&row.value).ok() != Some(0));
                pen.delete(row.key)?;
            }
            next = kept.next(&moment)?;
        }
        for (key, bytes) in wanted {
            corrected += u64::from(put_count(pen, &moment, key, bytes)?);
        }
        let behind = KeyRange::prefix(place.rows).end;
        rest = behind.map(|start| KeyRange { start, end: range.end });
    }
    while let Some(row) = next {
        let is_wrong = table.counts_bytes() && StoreWrite::counter(&row.value).ok() != Some(0);
        corrected += u64::from(is_wrong);
        pen.delete(row.key)?;
        next = kept.next(&moment)?;
    }
    Ok(corrected)
}

/// Returns where the bytes of a partition's shards are counted, and how many there are.
fn bytes_of(moment: &Moment, table: &Table, place: &Place) -> Result<BTreeMap<Bytes, u64>> {
    let map = moment.with(|snapshot| map_of(snapshot, place))?;
    let mut wanted = BTreeMap::new();
    for (number, entry) in map.entries.iter().enumerate() {
        let range = range_of(place, &map, number);
        let sum = moment.with(|snapshot| sum_of(snapshot, table, range.clone()))?;
        wanted.insert(place.bytes_key(entry.id), sum.bytes);
    }
    Ok(wanted)
}
