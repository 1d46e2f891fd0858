//! The trees: first bytes that part the store by purpose.
//!
//! They are no files: creating a table writes one catalogue record and nothing else.

use bytes::Bytes;
use shelfmark_keycode::put_ordered_varint;
use shelfmark_store::KeyRange;

/// A first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tree {
    /// Tables, their schemas and ids.
    Catalogue = 0x01,
    /// Rows.
    Rows = 0x02,
    /// Entries of derived tables.
    Index = 0x03,
    /// Deletions that late writes must respect.
    Tombstones = 0x04,
    /// Change logs.
    Changes = 0x05,
    /// Due times: the rows that expire, by time.
    Due = 0x06,
    /// Idempotency tokens.
    Tokens = 0x07,
    /// Exact counts.
    Counts = 0x08,
    /// Shards of partitions that were split.
    Shards = 0x09,
    /// The second copy of the catalogue, behind everything else.
    CatalogueCopy = 0x0a,
    /// Keys that transactions exclude each other by, where the store validates no ranges.
    Guards = 0x0b,
}

impl Tree {
    /// Those whose keys begin with the id of a table or an index.
    pub const OF_IDS: [Self; 7] = [
        Self::Rows,
        Self::Index,
        Self::Tombstones,
        Self::Changes,
        Self::Counts,
        Self::Shards,
        Self::Guards,
    ];
}

/// Returns `[tree][id]`, the bytes that all keys of one table in one tree begin with.
pub fn tree_key(tree: Tree, id: u64) -> Vec<u8> {
    let mut key = Vec::with_capacity(64);
    key.push(tree as u8);
    put_ordered_varint(&mut key, id);
    key
}

/// Returns the range of all keys of one table in one tree.
pub fn tree_range(tree: Tree, id: u64) -> KeyRange {
    KeyRange::prefix(Bytes::from(tree_key(tree, id)))
}
