//! The interface of a kind of row: how it is read, and what follows from it.
//!
//! There are two kinds, items and rows of cells. What is done with rows of either (verification,
//! repair) is written once, over this interface.
//!
//! Invariant: what a kind says follows from a row is what its writes put beside it.

use bytes::Bytes;
use shelfmark_records::items::Stored;

use super::scan::RawRow;
use crate::catalogue::Table;
use crate::error::Result;

/// An index as a walk sees it.
pub struct IndexRange<'a> {
    /// Its name.
    pub name: &'a str,
    /// The prefix of the keys of its entries.
    pub prefix: Bytes,
    /// Every row has its entries.
    pub is_complete: bool,
}

/// An entry that a row has in an index.
pub struct Entry {
    /// Without chunk.
    pub key: Vec<u8>,
    /// The records that may be there. There are several where the table's settings decided at the
    /// time of the write.
    pub records: Vec<Stored>,
    /// False for the unique key of an expired row, which is free to be taken.
    pub is_required: bool,
}

/// A kind of row, for one table.
pub trait RowKind {
    /// A stored row that could be read.
    type Row;

    /// Returns the table.
    fn table(&self) -> &Table;

    /// Returns what all keys of rows begin with.
    fn rows_prefix(&self) -> Bytes;

    /// Reads a stored row, and checks that it is as the engine would have written it.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the record or its key cannot be read, or they do not fit each other.
    fn read(&self, raw: &RawRow) -> Result<Self::Row>;

    /// Tells whether it counts as a row.
    fn is_row(&self, row: &Self::Row) -> bool;

    /// Returns the indexes of the table.
    fn indexes(&self) -> Vec<IndexRange<'_>>;

    /// Returns the entries of a row in the index of this position.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Corrupt`]: a value of the index's key cannot be read. Run `verify`.
    fn entries(&self, row: &Self::Row, at: usize) -> Result<Vec<Entry>>;

    /// Returns the key (without chunk) of the row that an entry of the index of this position leads to.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Corrupt`]: the entry cannot be read. Run `verify`.
    fn entry_leads_to(&self, at: usize, entry: &RawRow) -> Result<Vec<u8>>;

    /// Returns when something of a row is over, and the key of that due time.
    fn due(&self, raw: &RawRow, row: &Self::Row) -> Option<(u64, Bytes)>;
}
