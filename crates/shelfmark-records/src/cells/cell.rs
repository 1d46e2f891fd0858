//! Cells and rows of cells: what all writes to one key add up to.

use std::collections::BTreeMap;

use bytes::Bytes;

/// Microseconds since the Unix epoch, as a client or the server wrote them. Later wins.
pub type Timestamp = i64;

/// The key of a cell: a column, and for an element of a collection its place in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CellKey {
    /// The column's number.
    pub column: u32,
    /// Empty for a plain column; the serialised element key (set, map) or position (list).
    pub path: Bytes,
}

/// The time at which something expires, and its time to live in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expiry {
    /// As it was asked for.
    pub ttl_seconds: u32,
    /// Second since the Unix epoch: from then on it is gone.
    pub at_seconds: u64,
}

/// The content of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A value, perhaps for a time only. It may have zero bytes: that is CQL's empty value.
    Live {
        /// In its plain serialisation.
        value: Bytes,
        /// The expiry.
        expiry: Option<Expiry>,
    },
    /// Nothing any more.
    Dead {
        /// Second since the Unix epoch at which it was deleted.
        at_seconds: u64,
    },
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The timestamp of its write.
    pub timestamp: Timestamp,
    /// Its content.
    pub content: Content,
}

impl Cell {
    /// Returns the length of its value in bytes; 0 of a dead cell.
    #[must_use]
    pub fn value_bytes(&self) -> usize {
        match &self.content {
            Content::Live { value, .. } => value.len(),
            Content::Dead { .. } => 0,
        }
    }
}

/// A deletion of everything that was written up to a timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deletion {
    /// The timestamp up to which writes are deleted.
    pub timestamp: Timestamp,
    /// Second since the Unix epoch at which it happened.
    pub at_seconds: u64,
}

/// The liveness of a row that was inserted: it exists though all its cells may be null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Liveness {
    /// The timestamp of the insert.
    pub timestamp: Timestamp,
    /// The expiry.
    pub expiry: Option<Expiry>,
}

/// A row of cells, or the statics of a partition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CellRow {
    /// It was inserted; `None` if only its cells make it exist.
    pub liveness: Option<Liveness>,
    /// A deletion of the whole row.
    pub deletion: Option<Deletion>,
    /// Deletions of whole collections, by column.
    pub collections: BTreeMap<u32, Deletion>,
    /// Its cells, dead ones too.
    pub cells: BTreeMap<CellKey, Cell>,
}

/// Returns true if something is over at a second since the Unix epoch.
#[inline]
pub fn has_expired(expiry: Option<Expiry>, now_seconds: u64) -> bool {
    expiry.is_some_and(|expiry| expiry.at_seconds <= now_seconds)
}
