//! Rows of cells: columns and collection elements that carry a write time and perhaps an expiry.
//!
//! The codec and the merge rules; the language that uses them comes with its face. A row of cells
//! is what all writes to one key add up to, in whatever order they arrive: merging is commutative,
//! associative and idempotent, and a test holds it to that.
//!
//! Invariant: a dead cell stays in its row until the grace period is over, so that a late write
//! with an older timestamp stays dead.

#![allow(dead_code, reason = "the CQL face is the first caller; the codec is part of format 1")]

mod codec;
mod merge;
mod view;

use std::collections::BTreeMap;

use bytes::Bytes;

/// Microseconds since the Unix epoch, as a client or the server wrote them. Later wins.
pub(crate) type Timestamp = i64;

/// Which cell: a column, and for an element of a collection its place in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CellKey {
    /// The column's number.
    pub(crate) column: u32,
    /// Empty for a plain column; the serialised element key (set, map) or position (list).
    pub(crate) path: Bytes,
}

/// When something stops being there, and after how many seconds it was meant to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Expiry {
    pub(crate) ttl_seconds: u32,
    /// Second since the Unix epoch.
    pub(crate) at_seconds: u64,
}

/// What a cell holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    /// A value, perhaps for a time only. It may have zero bytes: that is CQL's empty value.
    Live { value: Bytes, expiry: Option<Expiry> },
    /// Deleted, at this second since the Unix epoch.
    Dead { at_seconds: u64 },
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) timestamp: Timestamp,
    pub(crate) content: Content,
}

/// A deletion of everything that was written up to a timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deletion {
    pub(crate) timestamp: Timestamp,
    /// Second since the Unix epoch at which it happened.
    pub(crate) at_seconds: u64,
}

/// That the row was inserted: it exists though all its cells may be null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Liveness {
    pub(crate) timestamp: Timestamp,
    pub(crate) expiry: Option<Expiry>,
}

/// A row of cells, or the statics of a partition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct CellRow {
    pub(crate) liveness: Option<Liveness>,
    /// A deletion of the whole row.
    pub(crate) deletion: Option<Deletion>,
    /// Deletions of whole collections, by column.
    pub(crate) collections: BTreeMap<u32, Deletion>,
    pub(crate) cells: BTreeMap<CellKey, Cell>,
}

#[cfg(test)]
mod tests;
