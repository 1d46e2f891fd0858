//! Encodes tombstones of cells as keys and values; the engine reads and writes them in the store.
//!
//! Tombstones are deletions that late writes must respect. The bounds beside them are encoded here,
//! too.

use bytes::Bytes;
use shelfmark_keycode::take_ordered_varint;

use super::cell::{Deletion, Timestamp};
use super::codec::{put_deletion, take_deletion};
use super::layout::CellsLayout;
use crate::error::{Error, Result};
use crate::keys::{Tree, tree_key};
use crate::varint::{Reader, put_varint};

/// The levels of ranges, the lowest first.
pub const RANGES: [u8; 4] = [0, 5, 6, 7];
/// Keys of tombstones of single rows have this behind the table id.
pub const ROWS: u8 = 1;
/// Keys of ranges whose rows are still to be removed have this behind the table id.
pub const PURGES: u8 = 2;
pub(crate) const BOUND: u8 = 3;
pub(crate) const HIGH_WATER: u8 = 4;

/// A range of rows, and what was deleted of it. Bounds are keys without `[rows][table id]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeTombstone {
    /// The first key that it covers.
    pub start: Bytes,
    /// The first key behind it.
    pub end: Bytes,
    /// The deletion of its rows.
    pub deletion: Deletion,
}

impl RangeTombstone {
    /// Decodes a tombstone from the end of its range, which its key holds, and its value.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the bytes are none that this crate makes.
    pub fn decode(end: &[u8], value: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(value);
        let start = Bytes::copy_from_slice(reader.prefixed()?);
        let deletion = take_deletion(&mut reader)?;
        Ok(Self { start, end: Bytes::copy_from_slice(end), deletion })
    }

    /// Returns its value.
    pub fn encode(&self) -> Vec<u8> {
        let mut value = Vec::with_capacity(self.start.len() + 20);
        put_varint(&mut value, self.start.len() as u64);
        value.extend_from_slice(&self.start);
        put_deletion(&mut value, self.deletion);
        value
    }

    /// Returns true if the range has this row.
    pub fn covers(&self, row: &[u8]) -> bool {
        self.start.as_ref() <= row && row < self.end.as_ref()
    }
}

/// Returns a key of the tombstones of a table: `[tombstones][table id][kind][rest]`.
pub fn key(table: u64, kind: u8, rest: &[u8]) -> Bytes {
    let mut key = tree_key(Tree::Tombstones, table);
    key.push(kind);
    key.extend_from_slice(rest);
    key.into()
}

/// Returns where the tombstone of a range lies on the level `kind` that ends at `end`.
pub fn range_key(table: u64, kind: u8, end: &[u8]) -> Bytes {
    key(table, kind, end)
}

/// Returns what the keys of tombstones of ranges begin with, level by level.
pub fn range_prefixes(table: u64) -> impl Iterator<Item = Bytes> {
    RANGES.into_iter().map(move |kind| key(table, kind, &[]))
}

/// Returns where the bound of a table's tombstones lies.
pub fn bound_key(table: u64) -> Bytes {
    key(table, BOUND, &[])
}

/// Returns where the high-water mark of a table lies.
pub fn high_water_key(table: u64) -> Bytes {
    key(table, HIGH_WATER, &[])
}

/// Tells whether a key of the store is that of a table's high-water mark.
pub fn is_high_water_key(key: &[u8]) -> bool {
    let &[tree, ref rest @ ..] = key else { return false };
    let mut rest = rest;
    tree == Tree::Tombstones as u8 && take_ordered_varint(&mut rest).is_ok() && rest == [HIGH_WATER]
}

/// Decodes the bound that no tombstone is above.
///
/// # Errors
///
/// * `Corrupt`: the bytes are none that this crate makes.
pub fn bound_of(value: &[u8]) -> Result<Timestamp> {
    let bytes =
        value.try_into().map_err(|_| Error::corrupt("the bound of tombstones is damaged"))?;
    Ok(Timestamp::from_be_bytes(bytes))
}

/// Reduces the name of a range that is to be purged, an end and a timestamp, to the end.
pub fn name_end(purge: &mut RangeTombstone) {
    purge.end.truncate(purge.end.len().saturating_sub(size_of::<Timestamp>()));
}

/// Returns the name of a purge: two may end at one place, so the timestamp keeps them apart.
pub fn purge_name(tombstone: &RangeTombstone) -> Vec<u8> {
    let mut name = tombstone.end.to_vec();
    name.extend_from_slice(&tombstone.deletion.timestamp.to_be_bytes());
    name
}

/// The kind of a key in the tree of tombstones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TombstoneKind {
    /// A range of rows was deleted. The level on which the tombstone lies, as its keys have it.
    Range(u8),
    /// A row was deleted.
    Row,
    /// A range of rows is still to be purged.
    Purge,
    /// The bound that no tombstone is above.
    Bound,
    /// The bound that no row is above.
    HighWater,
}

/// A tombstone, as it was found.
#[derive(Debug, Clone)]
pub struct FoundTombstone {
    /// Its kind.
    pub kind: TombstoneKind,
    /// The rows that it concerns: keys without `[rows][table id]`. Empty for rows and bounds.
    pub range: (Bytes, Bytes),
    /// The deletion's timestamp, or the bound.
    pub timestamp: Timestamp,
    /// Second since the Unix epoch at which the deletion happened.
    pub at_seconds: u64,
}

/// Reads what lies at a key behind `[tombstones][table id]`.
///
/// # Errors
///
/// * `Corrupt`: it is none of the known ones, or its key and value do not fit.
pub fn found(rest: &[u8], value: &[u8]) -> Result<FoundTombstone> {
    let damaged = || Error::corrupt("a tombstone cannot be read");
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
            let tombstone = RangeTombstone::decode(end, value)?;
            let is_named = level.is_some() || purge_name(&tombstone) == name;
            if tombstone.start >= tombstone.end || tombstone.encode() != value || !is_named {
                return Err(damaged());
            }
            let kind = level.map_or(TombstoneKind::Purge, TombstoneKind::Range);
            (kind, (tombstone.start, tombstone.end), tombstone.deletion)
        }
        ROWS => {
            let deletion = take_deletion(&mut reader)?;
            if !reader.is_empty() {
                return Err(damaged());
            }
            (TombstoneKind::Row, (Bytes::new(), Bytes::new()), deletion)
        }
        BOUND if name.is_empty() => {
            let deletion = Deletion { timestamp: bound_of(value)?, at_seconds: 0 };
            (TombstoneKind::Bound, (Bytes::new(), Bytes::new()), deletion)
        }
        HIGH_WATER if name.is_empty() => {
            let deletion = Deletion { timestamp: HighWater::decode(value)?.until, at_seconds: 0 };
            (TombstoneKind::HighWater, (Bytes::new(), Bytes::new()), deletion)
        }
        _ => return Err(damaged()),
    };
    let Deletion { timestamp, at_seconds } = deletion;
    Ok(FoundTombstone { kind, range, timestamp, at_seconds })
}

/// Returns the length of `[tombstones][table id]` in a key.
///
/// # Errors
///
/// * `Corrupt`: the bytes are none that this crate makes.
pub fn tree_prefix_length(tombstone_key: &[u8]) -> Result<usize> {
    let damaged = || Error::corrupt("a tombstone's key is damaged");
    let mut rest = tombstone_key.get(1..).ok_or_else(damaged)?;
    shelfmark_keycode::take_ordered_varint(&mut rest).map_err(|_| damaged())?;
    Ok(tombstone_key.len() - rest.len())
}

/// A high-water mark as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HighWater {
    /// Nothing in the table is later.
    pub until: Timestamp,
    /// A row of several chunks may be there.
    pub has_chunks: bool,
}

impl HighWater {
    /// Returns its value.
    pub fn encode(self) -> Bytes {
        let mut value = self.until.to_be_bytes().to_vec();
        value.push(u8::from(self.has_chunks));
        value.into()
    }

    /// Decodes a value.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the bytes are none that this crate makes.
    pub fn decode(value: &[u8]) -> Result<Self> {
        match value.split_first_chunk::<8>() {
            Some((until, [has_chunks @ (0 | 1)])) => {
                Ok(Self { until: Timestamp::from_be_bytes(*until), has_chunks: *has_chunks == 1 })
            }
            _ => Err(Error::corrupt("a high-water mark is damaged")),
        }
    }
}

impl CellsLayout {
    /// Reads a tombstone from its key behind `[tombstones][table id]`, and its value.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: it cannot be read, or names no row.
    pub fn tombstone(&self, rest: &[u8], value: &[u8]) -> Result<FoundTombstone> {
        let tombstone = found(rest, value)?;
        if tombstone.kind == TombstoneKind::Row {
            self.keys.parse_rest(rest.get(1..).unwrap_or_default())?;
        }
        Ok(tombstone)
    }
}
