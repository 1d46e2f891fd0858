//! Reads and writes tombstones of cells in the store; `shelfmark-records` has their stored form.
//!
//! Tombstones are deletions that late writes must respect, kept where readers of rows do not meet
//! them.
//!
//! `[tombstones][table id]`, then `00` and the end of a range of rows, `01` and a row, or `02` and the
//! end of a range that is still to be purged. Rows are named by their keys without `[rows][table
//! id]` and without chunk. Ranges of `00` are disjoint, so the first that ends behind a row decides.
//!
//! A range that covers too many others to replace them in one commit lies one level higher, at `05`,
//! `06` or `07`, and leaves them as they are. Each level is disjoint in itself, and the latest
//! deletion of all levels counts.
//!
//! Beside them lies the table's high-water mark, at `04`: see `high_water`.
//!
//! Invariant: no tombstone is later than the bound at `03`, which rises in steps, in the same commit.

use bytes::Bytes;
use shelfmark_records::cells::tombstones::{
    PURGES, RANGES, ROWS, RangeTombstone, bound_key, bound_of, key, name_end, purge_name,
    tree_prefix_length,
};
use shelfmark_records::cells::{CellKeys, Deletion, Timestamp, put_deletion, take_deletion};
use shelfmark_records::varint::Reader;
use shelfmark_store::txn::Transaction as Buffer;
use shelfmark_store::{Direction, KeyRange, ScanLimits};

use crate::error::{Error, ErrorKind, Result};
use crate::rows::View;

/// The step by which the persisted bound rises above the tombstone that raised it, in microseconds.
const BOUND_STEP_MICROS: i64 = 60_000_000;

/// Tombstones of ranges to be purged that one page of a read gives.
///
/// Source: ours; a partition has few, and the one behind them tells where the next partition is.
const PURGES_AT_ONCE: usize = 8;

/// Most tombstones that one page of a read gives.
const TOMBSTONES_AT_ONCE: usize = 256;

/// Most older ranges of its level that one deletion replaces; above, it lies one level higher. So
/// four levels are enough for 2048⁴ deletions within one grace period.
///
/// Source: ours; they are read and deleted in one commit of the smallest driver.
const REPLACED_MAX: usize = 2048;

/// The keys that were put to lay a tombstone over others, and their level.
pub struct Laid {
    /// The keys that were put, and the seconds at which what they say happened.
    pub keys: Vec<(Bytes, u64)>,
    /// The level on which they lie.
    pub(super) level: usize,
}

/// Returns how many levels hold tombstones of ranges, counted up to the highest that does.
pub(super) fn levels(view: &impl View, table: u64) -> Result<usize> {
    for (level, kind) in RANGES.iter().enumerate().rev() {
        if !ending_behind(view, table, *kind, &[], None, 1)?.is_empty() {
            return Ok(level + 1);
        }
    }
    Ok(0)
}

/// Returns the latest deletion that concerns a row, by its own tombstone and by those of ranges on the
/// lowest `levels`.
pub(super) fn deletion_of(
    view: &impl View,
    table: u64,
    levels: usize,
    row: &[u8],
) -> Result<Option<Timestamp>> {
    let mut latest = match view.get(&key(table, ROWS, row))? {
        Some(value) => Some(take_deletion(&mut Reader::new(&value))?.timestamp),
        None => None,
    };
    for kind in RANGES.into_iter().take(levels) {
        let first = ending_behind(view, table, kind, row, None, 1)?.pop();
        let covering = first.filter(|tombstone| tombstone.covers(row));
        latest = latest.max(covering.map(|tombstone| tombstone.deletion.timestamp));
    }
    Ok(latest)
}

/// Returns tombstones of ranges that end behind `row`, in order, until one begins at `before` or later.
fn ending_behind(
    view: &impl View,
    table: u64,
    kind: u8,
    row: &[u8],
    before: Option<&[u8]>,
    limit: usize,
) -> Result<Vec<RangeTombstone>> {
    let prefix = key(table, kind, &[]);
    let mut range = KeyRange::prefix(prefix.clone());
    range = range.after(&key(table, kind, row), Direction::Ascending);
    let mut tombstones = Vec::new();
    let mut rest = Some(range);
    // Most often the first one begins behind the range already, and those behind it concern nobody.
    let mut rows_max = 1;
    while let Some(range) = rest.take() {
        rows_max = limit.min(rows_max);
        let limits = ScanLimits { rows_max, ..ScanLimits::default() };
        rows_max = (4 * rows_max).min(TOMBSTONES_AT_ONCE);
        let page = view.scan(&range, Direction::Ascending, limits)?;
        for row in &page.rows {
            let tombstone = RangeTombstone::decode(
                row.key.get(prefix.len()..).unwrap_or_default(),
                &row.value,
            )?;
            if before.is_some_and(|before| tombstone.start.as_ref() >= before) {
                return Ok(tombstones);
            }
            tombstones.push(tombstone);
            if tombstones.len() >= limit {
                return Ok(tombstones);
            }
        }
        rest = page.next;
    }
    Ok(tombstones)
}

/// Leaves the tombstone of a deleted row, unless there is a later one. Returns its key if it was put.
pub(super) fn put_row_tombstone(
    buffer: &mut Buffer,
    table: u64,
    row: &[u8],
    deletion: Deletion,
) -> Result<Option<Bytes>> {
    let key = key(table, ROWS, row);
    if let Some(value) = buffer.get(&key)?
        && take_deletion(&mut Reader::new(&value))?.timestamp >= deletion.timestamp
    {
        return Ok(None);
    }
    let mut value = Vec::with_capacity(12);
    put_deletion(&mut value, deletion);
    buffer.put(key.clone(), value);
    raise_bound(buffer, table, deletion.timestamp)?;
    Ok(Some(key))
}

/// Lays the tombstone of a deleted range over those that are there, which stay where they are later. Where
/// they are too many to be replaced it lies above them.
///
/// # Errors
///
/// * `LimitExceeded`: the highest level, too, has too many. Wait until some are forgotten.
pub fn put_range_tombstone(
    view: &std::cell::RefCell<Buffer>,
    table: u64,
    new: &RangeTombstone,
) -> Result<Laid> {
    for (level, kind) in RANGES.into_iter().enumerate() {
        let old = ending_behind(view, table, kind, &new.start, Some(&new.end), REPLACED_MAX + 1)?;
        if old.len() <= REPLACED_MAX {
            let keys = lay_over(view, table, kind, new, &old)?;
            return Ok(Laid { keys, level });
        }
    }
    Err(Error::new(
        ErrorKind::LimitExceeded,
        "too many deletions of ranges lie within this one; wait for the grace period of some to end",
    ))
}

/// Replaces the tombstones `old`, which are all of one level that meet the new one.
fn lay_over(
    view: &std::cell::RefCell<Buffer>,
    table: u64,
    kind: u8,
    new: &RangeTombstone,
    old: &[RangeTombstone],
) -> Result<Vec<(Bytes, u64)>> {
    let mut pieces: Vec<RangeTombstone> = Vec::new();
    let mut at = new.start.clone();
    for tombstone in old {
        if tombstone.start < at {
            // What lies before the new range stays as it was.
            pieces.push(RangeTombstone { end: at.clone(), ..tombstone.clone() });
        }
        let from = tombstone.start.clone().max(at.clone());
        let to = tombstone.end.clone().min(new.end.clone());
        if tombstone.deletion.timestamp >= new.deletion.timestamp {
            push_piece(&mut pieces, at.clone(), from.clone(), new.deletion);
            push_piece(&mut pieces, from, to.clone(), tombstone.deletion);
            at = to;
        }
        if tombstone.end > new.end {
            push_piece(&mut pieces, at.clone(), new.end.clone(), new.deletion);
            pieces.push(RangeTombstone { start: new.end.clone(), ..tombstone.clone() });
            at = new.end.clone();
        }
    }
    push_piece(&mut pieces, at, new.end.clone(), new.deletion);
    let mut buffer = view.borrow_mut();
    for tombstone in old {
        buffer.delete(key(table, kind, &tombstone.end));
    }
    let mut keys = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let key = key(table, kind, &piece.end);
        buffer.put(key.clone(), piece.encode());
        keys.push((key, piece.deletion.at_seconds));
    }
    raise_bound(&mut buffer, table, new.deletion.timestamp)?;
    Ok(keys)
}

fn push_piece(pieces: &mut Vec<RangeTombstone>, start: Bytes, end: Bytes, deletion: Deletion) {
    if start < end {
        pieces.push(RangeTombstone { start, end, deletion });
    }
}

/// Has the persisted bound above the timestamp once the commit is done.
fn raise_bound(buffer: &mut Buffer, table: u64, timestamp: Timestamp) -> Result<()> {
    let key = bound_key(table);
    // It only rises, so one that is high enough need not be validated.
    let known = buffer.base().get(&key)?.map(|value| bound_of(&value)).transpose()?;
    if known.is_some_and(|known| known >= timestamp) {
        return Ok(());
    }
    let bound = buffer.get(&key)?.map(|value| bound_of(&value)).transpose()?;
    if bound.is_none_or(|bound| bound < timestamp) {
        let bound = timestamp.saturating_add(BOUND_STEP_MICROS);
        buffer.put(key, Bytes::copy_from_slice(&bound.to_be_bytes()));
    }
    Ok(())
}

/// Returns the timestamp that no tombstone of the table is above.
pub(super) fn persisted_bound(view: &impl View, table: u64) -> Result<Timestamp> {
    match view.get(&bound_key(table))? {
        Some(value) => Ok(bound_of(&value)?),
        None => Ok(Timestamp::MIN),
    }
}

/// Tells whether ranges of the table are still to be purged.
pub(super) fn has_purges(view: &impl View, table: u64) -> Result<bool> {
    Ok(!ending_behind(view, table, PURGES, &[], None, 1)?.is_empty())
}

/// Returns the ranges of the table that are still to be purged, in order of their ends.
pub(super) fn purges(view: &impl View, table: u64) -> Result<Vec<RangeTombstone>> {
    let mut purges = ending_behind(view, table, PURGES, &[], None, usize::MAX)?;
    purges.iter_mut().for_each(name_end);
    Ok(purges)
}

/// The ranges of one partition that are still to be purged.
#[derive(Debug, Default)]
pub(super) struct PartitionPurges {
    /// They may overlap.
    tombstones: Vec<RangeTombstone>,
    /// The prefix of the names of rows in the next partition that has some; `None` if none has.
    pub(super) next_partition: Option<Bytes>,
}

impl PartitionPurges {
    /// Returns the latest deletion that covers a row.
    pub(super) fn covering(&self, row: &[u8]) -> Option<Timestamp> {
        let covering = self.tombstones.iter().filter(|tombstone| tombstone.covers(row));
        covering.map(|tombstone| tombstone.deletion.timestamp).max()
    }
}

/// Returns the ranges of one partition that are still to be purged. Rows in it have names that begin
/// with `partition`.
///
/// Cost: one seek, and the tombstones of this partition.
pub(super) fn purges_of(
    view: &impl View,
    table: u64,
    keys: &CellKeys,
    partition: &[u8],
) -> Result<PartitionPurges> {
    let mut found = PartitionPurges::default();
    let prefix = key(table, PURGES, &[]);
    let whole = KeyRange::prefix(prefix.clone());
    // A range ends behind what its partition's rows begin with, and before the next partition.
    let mut rest = Some(KeyRange { start: key(table, PURGES, partition), end: whole.end });
    while let Some(range) = rest.take() {
        let limits = ScanLimits { rows_max: PURGES_AT_ONCE, ..ScanLimits::default() };
        let page = view.scan(&range, Direction::Ascending, limits)?;
        for row in &page.rows {
            let name = row.key.get(prefix.len()..).unwrap_or_default();
            let mut tombstone = RangeTombstone::decode(name, &row.value)?;
            name_end(&mut tombstone);
            if !tombstone.start.starts_with(partition) {
                let length = keys.partition_length_of(&tombstone.start)?;
                found.next_partition = Some(tombstone.start.slice(..length));
                return Ok(found);
            }
            found.tombstones.push(tombstone);
        }
        rest = page.next;
    }
    Ok(found)
}

/// Notes a range whose rows are deleted by its tombstone and still there.
pub(super) fn put_purge(buffer: &mut Buffer, table: u64, tombstone: &RangeTombstone) {
    buffer.put(key(table, PURGES, &purge_name(tombstone)), tombstone.encode());
}

/// Forgets a range that was purged.
pub(super) fn remove_purge(buffer: &mut Buffer, table: u64, tombstone: &RangeTombstone) {
    buffer.delete(key(table, PURGES, &purge_name(tombstone)));
}

/// Returns when a tombstone may be forgotten: the second at which its deletion happened; `None` if it is
/// gone.
pub(super) fn happened_at(view: &impl View, tombstone_key: &[u8]) -> Result<Option<u64>> {
    let Some(value) = view.get(tombstone_key)? else { return Ok(None) };
    let mut reader = Reader::new(&value);
    let prefix = tree_prefix_length(tombstone_key)?;
    if tombstone_key.get(prefix).is_some_and(|kind| RANGES.contains(kind)) {
        reader.prefixed()?;
    }
    Ok(Some(take_deletion(&mut reader)?.at_seconds))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use shelfmark_records::cells::tombstones::range_key;
    use shelfmark_store::clock::ManualClock;
    use shelfmark_store::memory::MemoryStore;
    use shelfmark_store::{Commit, Page, Snapshot, Store as _, Write};

    use super::*;

    #[test]
    fn the_highest_level_with_a_tombstone_counts_whatever_lies_below() {
        let store = MemoryStore::new(Arc::new(ManualClock::at_micros(1)));
        let levels_of = |table| {
            let snapshot = store.snapshot().unwrap();
            levels(&(&*snapshot as &dyn Snapshot), table).unwrap()
        };
        assert_eq!(levels_of(7), 0);
        for (level, kind) in [(1, RANGES[0]), (4, RANGES[3])] {
            let tombstone = RangeTombstone {
                start: Bytes::from_static(b"a"),
                end: Bytes::from_static(b"m"),
                deletion: Deletion { timestamp: 5, at_seconds: 1 },
            };
            let key = range_key(7, kind, &tombstone.end);
            let value = tombstone.encode().into();
            store.commit(Commit::of(vec![Write::Put { key, value }])).unwrap();
            assert_eq!(levels_of(7), level);
            assert_eq!(levels_of(8), 0, "tombstones are of one table");
        }
    }

    /// A view that counts the rows that scans of it give.
    struct Counting<'s>(&'s dyn Snapshot, std::cell::Cell<usize>);

    impl View for Counting<'_> {
        fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
            View::get(&self.0, key)
        }

        fn scan(&self, range: &KeyRange, direction: Direction, limits: ScanLimits) -> Result<Page> {
            let page = View::scan(&self.0, range, direction, limits)?;
            self.1.set(self.1.get() + page.rows.len());
            Ok(page)
        }
    }

    /// A statement may delete ten thousand partitions that are deleted already.
    #[test]
    fn what_lies_behind_a_range_is_not_read_for_its_deletion() {
        let store = MemoryStore::new(Arc::new(ManualClock::at_micros(1)));
        let name = |at: usize| Bytes::from(format!("p{at:04}"));
        let mut writes = Vec::new();
        for at in 0..1_000 {
            let tombstone = RangeTombstone {
                start: name(at),
                end: name(at + 1),
                deletion: Deletion { timestamp: 5, at_seconds: 1 },
            };
            let key = range_key(7, RANGES[0], &tombstone.end);
            writes.push(Write::Put { key, value: tombstone.encode().into() });
        }
        store.commit(Commit::of(writes)).unwrap();
        let snapshot = store.snapshot().unwrap();
        let view = Counting(&*snapshot, std::cell::Cell::default());
        let met = |from: usize, to: usize| {
            view.1.set(0);
            let (start, end) = (name(from), name(to));
            let found =
                ending_behind(&view, 7, RANGES[0], &start, Some(&end), REPLACED_MAX + 1).unwrap();
            (found.len(), view.1.get())
        };
        let (found, read) = met(500, 501);
        assert_eq!(found, 1);
        assert!(read <= 5, "{read} tombstones were read to find one");
        let (found, read) = met(100, 900);
        assert_eq!(found, 800);
        assert!(read <= 800 + 256, "{read}");
    }
}
