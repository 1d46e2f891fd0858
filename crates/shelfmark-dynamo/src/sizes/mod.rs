//! The sizes of tables and indexes that DescribeTable shows: how many items, and how many bytes.
//!
//! They are counted when somebody asks and remembered with the state of the store that was counted,
//! so nothing is kept with the items and writers pay nothing. What it is not: statistics of the store;
//! bytes are those of items by DynamoDB's rule, not those on disk.
//!
//! Invariant: a figure is shown again without a new count only if nothing was written since that count
//! began, or while the table is so large that nobody waits for its count.
//!
//! Why it is counted and not kept: `docs/adr/0019-sizes-are-counted.md`.

mod counting;
mod known;

use std::collections::BTreeMap;

use crate::json::Writer;

pub(crate) use counting::Counting;
pub(crate) use known::{Asked, KnownSizes, Started};

/// The number of items of a table or index, and their total size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) items: u64,
    pub(crate) bytes: u64,
}

/// The sizes of a table and of its indexes, by their names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) table: Size,
    pub(crate) indexes: BTreeMap<String, Size>,
    pub(crate) vectors: BTreeMap<String, Size>,
}

impl Size {
    fn add(&mut self, items: u64, bytes: u64) {
        self.items += items;
        self.bytes += bytes;
    }

    /// Writes the members of a description; the one for bytes has this name.
    pub(crate) fn put(self, out: &mut Writer, bytes_name: &str) {
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        out.name(bytes_name).integer(whole(self.bytes));
        out.name("ItemCount").integer(whole(self.items));
    }
}
