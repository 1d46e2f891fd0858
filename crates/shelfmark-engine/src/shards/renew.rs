//! The counts of shards from the rows that are there, after some of either were lost.
//!
//! A split that is under way goes on later: its halves count from nothing, and the shard has all rows
//! until then.
//!
//! Nobody may write to the table meanwhile.

use std::collections::BTreeMap;

use bytes::Bytes;
use shelfmark_store::KeyRange;

use super::map::{Place, ShardMap};
use super::rows::rows_in;
use super::split::range_of;
use crate::catalogue::Table;
use crate::error::Result;
use crate::layout::{Tree, tree_key};
use crate::renew::{Pen, put_count};
use crate::verify::{Moment, Walk, damage};

/// Counts the rows of each shard of partitions that have a map, and removes the counters of shards
/// that no map has. Returns how many counts were not right.
pub(crate) fn renew(pen: &mut Pen<'_>, table: &Table) -> Result<u64> {
    let moment = Moment::take(&pen.inner.store)?;
    let section = |section: u8| {
        let mut prefix = tree_key(Tree::Shards, table.id);
        prefix.push(section);
        prefix
    };
    let mut corrected = 0;
    let mut maps = Walk::over(KeyRange::prefix(section(0)));
    let mut counters = Walk::over(KeyRange::prefix(section(1)));
    let mut next = counters.next(&moment)?;
    while let Some(row) = maps.next(&moment)? {
        let partition = row.key.slice(section(0).len()..);
        let Ok(map) = damage(ShardMap::decode(&row.value))? else {
            pen.delete(row.key)?;
            continue;
        };
        let wanted = counts(&moment, table, &partition, &map)?;
        let own = [section(1).as_slice(), &partition].concat();
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
    let place = Place::named(table, partition.clone());
    let mut counts = BTreeMap::new();
    for (number, entry) in map.entries.iter().enumerate() {
        let range = range_of(&place, map, number);
        let rows = moment.with(|snapshot| rows_in(snapshot, table, range.clone()))?;
        counts.insert(place.counter_key(entry.id), rows);
    }
    Ok(counts)
}
