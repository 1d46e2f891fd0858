//! Marks: deletions that late writes must respect, kept where readers of rows do not meet them.
//!
//! `[marks][table id]`, then `00` and the end of a range of rows, `01` and a row, or `02` and the
//! end of a range that is still to be purged. Rows are named by their keys without `[rows][table
//! id]` and without chunk. Ranges of `00` are disjoint, so the first that ends behind a row decides.
//!
//! A range that covers too many others to replace them in one commit lies one level higher, at `05`,
//! `06` or `07`, and leaves them as they are. Each level is disjoint in itself, and the latest
//! deletion of all levels counts.
//!
//! Beside them lies the table's lease, at `04`: see `lease`.
//!
//! Invariant: no mark is later than the bound at `03`, which rises in steps, in the same commit.

use bytes::Bytes;
use shelfmark_store::txn::Transaction as Buffer;
use shelfmark_store::{Direction, KeyRange, ScanLimits};

use super::codec::{put_deletion, take_deletion};
use super::keys::CellKeys;
use super::lease::StoredLease;
use super::{Deletion, Timestamp};
use crate::error::{Error, ErrorKind, Result};
use crate::keys::{Tree, tree_key};
use crate::records::{Reader, put_varint};
use crate::rows::View;

/// The levels of ranges, the lowest first.
const RANGES: [u8; 4] = [0, 5, 6, 7];
const ROWS: u8 = 1;
const PURGES: u8 = 2;
const BOUND: u8 = 3;
const LEASE: u8 = 4;

/// How far the persisted bound rises above the mark that raised it, in microseconds.
const BOUND_STEP_MICROS: i64 = 60_000_000;

/// Marks of ranges to be purged that one page of a read gives.
///
/// Source: ours; a partition has few, and the one behind them tells where the next partition is.
const PURGES_AT_ONCE: usize = 8;

/// Most older ranges of its level that one deletion replaces; above, it lies one level higher. So
/// four levels are enough for 2048⁴ deletions within one grace period.
///
/// Source: ours; they are read and deleted in one commit of the smallest driver.
const REPLACED_MAX: usize = 2048;

/// What laying a mark over others has put.
pub(super) struct Laid {
    /// The keys that were put, and the seconds at which what they say happened.
    pub(super) keys: Vec<(Bytes, u64)>,
    /// The level on which they lie.
    pub(super) level: usize,
}

/// A range of rows, and what was deleted of it. Bounds are keys without `[rows][table id]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RangeMark {
    pub(super) start: Bytes,
    pub(super) end: Bytes,
    pub(super) deletion: Deletion,
}

impl RangeMark {
    pub(super) fn decode(end: &[u8], value: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(value);
        let start = Bytes::copy_from_slice(reader.prefixed()?);
        let deletion = take_deletion(&mut reader)?;
        Ok(Self { start, end: Bytes::copy_from_slice(end), deletion })
    }

    fn encode(&self) -> Vec<u8> {
        let mut value = Vec::with_capacity(self.start.len() + 20);
        put_varint(&mut value, self.start.len() as u64);
        value.extend_from_slice(&self.start);
        put_deletion(&mut value, self.deletion);
        value
    }

    pub(super) fn covers(&self, row: &[u8]) -> bool {
        self.start.as_ref() <= row && row < self.end.as_ref()
    }
}

fn key(table: u64, kind: u8, rest: &[u8]) -> Bytes {
    let mut key = tree_key(Tree::Marks, table);
    key.push(kind);
    key.extend_from_slice(rest);
    key.into()
}

/// Returns where the mark of a range lies on the level `kind` that ends at `end`.
pub(super) fn range_key(table: u64, kind: u8, end: &[u8]) -> Bytes {
    key(table, kind, end)
}

/// Returns what the keys of marks of ranges begin with, level by level.
pub(super) fn range_prefixes(table: u64) -> impl Iterator<Item = Bytes> {
    RANGES.into_iter().map(move |kind| key(table, kind, &[]))
}

/// Returns how many levels hold marks of ranges, counted up to the highest that does.
pub(super) fn levels(view: &impl View, table: u64) -> Result<usize> {
    for (level, kind) in RANGES.iter().enumerate().rev() {
        if !ending_behind(view, table, *kind, &[], None, 1)?.is_empty() {
            return Ok(level + 1);
        }
    }
    Ok(0)
}

/// Returns where the bound of a table's marks lies.
pub(super) fn bound_key(table: u64) -> Bytes {
    key(table, BOUND, &[])
}

/// Returns where the lease of a table lies.
pub(super) fn lease_key(table: u64) -> Bytes {
    key(table, LEASE, &[])
}

/// Returns the latest deletion that concerns a row, by its own mark and by those of ranges on the
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
        let covering = first.filter(|mark| mark.covers(row));
        latest = latest.max(covering.map(|mark| mark.deletion.timestamp));
    }
    Ok(latest)
}

/// Returns marks of ranges that end behind `row`, in order, until one begins at `before` or later.
fn ending_behind(
    view: &impl View,
    table: u64,
    kind: u8,
    row: &[u8],
    before: Option<&[u8]>,
    limit: usize,
) -> Result<Vec<RangeMark>> {
    let prefix = key(table, kind, &[]);
    let mut range = KeyRange::prefix(prefix.clone());
    range = range.after(&key(table, kind, row), Direction::Ascending);
    let mut marks = Vec::new();
    let mut rest = Some(range);
    while let Some(range) = rest.take() {
        let limits = ScanLimits { rows_max: limit.min(256), ..ScanLimits::default() };
        let page = view.scan(&range, Direction::Ascending, limits)?;
        for row in &page.rows {
            let mark =
                RangeMark::decode(row.key.get(prefix.len()..).unwrap_or_default(), &row.value)?;
            if before.is_some_and(|before| mark.start.as_ref() >= before) {
                return Ok(marks);
            }
            marks.push(mark);
            if marks.len() >= limit {
                return Ok(marks);
            }
        }
        rest = page.next;
    }
    Ok(marks)
}

/// Leaves the mark of a deleted row, unless there is a later one. Returns its key if it was put.
pub(super) fn mark_row(
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

/// Lays the mark of a deleted range over those that are there, which stay where they are later. Where
/// they are too many to be replaced it lies above them.
///
/// # Errors
///
/// * `LimitExceeded`: the highest level, too, has too many. Wait until some are forgotten.
pub(super) fn mark_range(
    view: &std::cell::RefCell<Buffer>,
    table: u64,
    new: &RangeMark,
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

/// Replaces the marks `old`, which are all of one level that meet the new one.
fn lay_over(
    view: &std::cell::RefCell<Buffer>,
    table: u64,
    kind: u8,
    new: &RangeMark,
    old: &[RangeMark],
) -> Result<Vec<(Bytes, u64)>> {
    let mut pieces: Vec<RangeMark> = Vec::new();
    let mut at = new.start.clone();
    for mark in old {
        if mark.start < at {
            // What lies before the new range stays as it was.
            pieces.push(RangeMark { end: at.clone(), ..mark.clone() });
        }
        let from = mark.start.clone().max(at.clone());
        let to = mark.end.clone().min(new.end.clone());
        if mark.deletion.timestamp >= new.deletion.timestamp {
            push_piece(&mut pieces, at.clone(), from.clone(), new.deletion);
            push_piece(&mut pieces, from, to.clone(), mark.deletion);
            at = to;
        }
        if mark.end > new.end {
            push_piece(&mut pieces, at.clone(), new.end.clone(), new.deletion);
            pieces.push(RangeMark { start: new.end.clone(), ..mark.clone() });
            at = new.end.clone();
        }
    }
    push_piece(&mut pieces, at, new.end.clone(), new.deletion);
    let mut buffer = view.borrow_mut();
    for mark in old {
        buffer.delete(key(table, kind, &mark.end));
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

fn push_piece(pieces: &mut Vec<RangeMark>, start: Bytes, end: Bytes, deletion: Deletion) {
    if start < end {
        pieces.push(RangeMark { start, end, deletion });
    }
}

/// Has the persisted bound above the timestamp once the commit is done.
fn raise_bound(buffer: &mut Buffer, table: u64, timestamp: Timestamp) -> Result<()> {
    let key = bound_key(table);
    let bound = buffer.get(&key)?.map(|value| bound_of(&value)).transpose()?;
    if bound.is_none_or(|bound| bound < timestamp) {
        let bound = timestamp.saturating_add(BOUND_STEP_MICROS);
        buffer.put(key, Bytes::copy_from_slice(&bound.to_be_bytes()));
    }
    Ok(())
}

fn bound_of(value: &[u8]) -> Result<Timestamp> {
    let bytes = value.try_into().map_err(|_| Error::corrupt("the bound of marks is damaged"))?;
    Ok(Timestamp::from_be_bytes(bytes))
}

/// Returns the timestamp that no mark of the table is above.
pub(super) fn persisted_bound(view: &impl View, table: u64) -> Result<Timestamp> {
    match view.get(&bound_key(table))? {
        Some(value) => bound_of(&value),
        None => Ok(Timestamp::MIN),
    }
}

/// Tells whether ranges of the table are still to be purged.
pub(super) fn has_purges(view: &impl View, table: u64) -> Result<bool> {
    Ok(!ending_behind(view, table, PURGES, &[], None, 1)?.is_empty())
}

/// Returns the ranges of the table that are still to be purged, in order of their ends.
pub(super) fn purges(view: &impl View, table: u64) -> Result<Vec<RangeMark>> {
    let mut purges = ending_behind(view, table, PURGES, &[], None, usize::MAX)?;
    purges.iter_mut().for_each(name_end);
    Ok(purges)
}

/// The name of a range that is to be purged is its end and a timestamp; leaves the end.
fn name_end(purge: &mut RangeMark) {
    purge.end.truncate(purge.end.len().saturating_sub(size_of::<Timestamp>()));
}

/// The ranges of one partition that are still to be purged.
#[derive(Debug, Default)]
pub(super) struct PartitionPurges {
    /// They may overlap.
    marks: Vec<RangeMark>,
    /// What the names of rows begin with in the next partition that has some; `None` if none has.
    pub(super) next_partition: Option<Bytes>,
}

impl PartitionPurges {
    /// Returns the latest deletion that covers a row.
    pub(super) fn covering(&self, row: &[u8]) -> Option<Timestamp> {
        let covering = self.marks.iter().filter(|mark| mark.covers(row));
        covering.map(|mark| mark.deletion.timestamp).max()
    }
}

/// Returns the ranges of one partition that are still to be purged. Rows in it have names that begin
/// with `partition`.
///
/// Cost: one seek, and the marks of this partition.
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
            let mut mark = RangeMark::decode(name, &row.value)?;
            name_end(&mut mark);
            if !mark.start.starts_with(partition) {
                let length = keys.partition_length_of(&mark.start)?;
                found.next_partition = Some(mark.start.slice(..length));
                return Ok(found);
            }
            found.marks.push(mark);
        }
        rest = page.next;
    }
    Ok(found)
}

/// Notes a range whose rows are deleted by its mark and still there.
pub(super) fn put_purge(buffer: &mut Buffer, table: u64, mark: &RangeMark) {
    buffer.put(key(table, PURGES, &purge_name(mark)), mark.encode());
}

/// Forgets a range that was purged.
pub(super) fn remove_purge(buffer: &mut Buffer, table: u64, mark: &RangeMark) {
    buffer.delete(key(table, PURGES, &purge_name(mark)));
}

/// Two purges may end at one place: the timestamp keeps them apart.
fn purge_name(mark: &RangeMark) -> Vec<u8> {
    let mut name = mark.end.to_vec();
    name.extend_from_slice(&mark.deletion.timestamp.to_be_bytes());
    name
}

/// What a key in the tree of marks is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkKind {
    /// A range of rows was deleted. The level on which the mark lies, as its keys have it.
    Range(u8),
    /// A row was deleted.
    Row,
    /// A range of rows is still to be purged.
    Purge,
    /// The bound that no mark is above.
    Bound,
    /// The bound that no row is above.
    Lease,
}

/// A mark, as it was found.
#[derive(Debug, Clone)]
pub(crate) struct FoundMark {
    pub(crate) kind: MarkKind,
    /// The rows that it concerns: keys without `[rows][table id]`. Empty for rows and bounds.
    pub(crate) range: (Bytes, Bytes),
    /// The deletion's timestamp, or the bound.
    pub(crate) timestamp: Timestamp,
    /// Second since the Unix epoch at which the deletion happened.
    pub(crate) at_seconds: u64,
}

/// Reads what lies at a key behind `[marks][table id]`.
///
/// # Errors
///
/// * `Corrupt`: it is none of the known ones, or its key and value do not fit.
pub(super) fn found(rest: &[u8], value: &[u8]) -> Result<FoundMark> {
    let damaged = || Error::corrupt("a mark cannot be read");
    let (kind, name) = rest.split_first().ok_or_else(damaged)?;
    let mut reader = Reader::new(value);
    let level = RANGES.contains(kind).then_some(*kind);
    let (kind, range, deletion) = match *kind {
        kind if level.is_some() || kind == PURGES => {
            let end = match level {
                Some(_) => name,
                None => {
                    name.split_last_chunk::<{ size_of::<Timestamp>() }>().ok_or_else(damaged)?.0
                }
            };
            let mark = RangeMark::decode(end, value)?;
            let is_named = level.is_some() || purge_name(&mark) == name;
            if mark.start >= mark.end || mark.encode() != value || !is_named {
                return Err(damaged());
            }
            let kind = level.map_or(MarkKind::Purge, MarkKind::Range);
            (kind, (mark.start, mark.end), mark.deletion)
        }
        ROWS => {
            let deletion = take_deletion(&mut reader)?;
            if !reader.is_empty() {
                return Err(damaged());
            }
            (MarkKind::Row, (Bytes::new(), Bytes::new()), deletion)
        }
        BOUND if name.is_empty() => {
            let deletion = Deletion { timestamp: bound_of(value)?, at_seconds: 0 };
            (MarkKind::Bound, (Bytes::new(), Bytes::new()), deletion)
        }
        LEASE if name.is_empty() => {
            let deletion = Deletion { timestamp: StoredLease::decode(value)?.until, at_seconds: 0 };
            (MarkKind::Lease, (Bytes::new(), Bytes::new()), deletion)
        }
        _ => return Err(damaged()),
    };
    let Deletion { timestamp, at_seconds } = deletion;
    Ok(FoundMark { kind, range, timestamp, at_seconds })
}

/// Returns when a mark may be forgotten: the second at which its deletion happened; `None` if it is
/// gone.
pub(super) fn happened_at(view: &impl View, mark_key: &[u8]) -> Result<Option<u64>> {
    let Some(value) = view.get(mark_key)? else { return Ok(None) };
    let mut reader = Reader::new(&value);
    let prefix = tree_prefix_length(mark_key)?;
    if mark_key.get(prefix).is_some_and(|kind| RANGES.contains(kind)) {
        reader.prefixed()?;
    }
    Ok(Some(take_deletion(&mut reader)?.at_seconds))
}

fn tree_prefix_length(mark_key: &[u8]) -> Result<usize> {
    let damaged = || Error::corrupt("a mark's key is damaged");
    let mut rest = mark_key.get(1..).ok_or_else(damaged)?;
    shelfmark_keycode::take_ordered_varint(&mut rest).map_err(|_| damaged())?;
    Ok(mark_key.len() - rest.len())
}
