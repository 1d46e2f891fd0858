//! Rows of cells as readers get them: the live cells alone, with their timestamps and expiries.
//!
//! Decoded straight from the record: values share its memory, dead and expired cells are stepped
//! over.

use bytes::Bytes;

use super::codec::{RowReader, StoredCell};
use super::layout::{Declared, is_seen};
use super::{Expiry, Liveness, Timestamp, has_expired};
use crate::error::Result;

/// Size that a cell counts beside its path and value, in bytes.
const CELL_BYTES: usize = 8;

/// The live cells of a row, or of the statics of a partition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LiveRow {
    /// The row was inserted; `None` if only its cells make it exist.
    pub inserted: Option<Liveness>,
    /// The cells, by column, then by path.
    pub cells: Vec<LiveCell>,
    /// The columns that are null here although the item that the row is made of has a value for them,
    /// which does not fit. Empty where the row is one of cells.
    pub misfits: Vec<u32>,
}

/// One live cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveCell {
    /// Number of the column.
    pub column: u32,
    /// Empty for a plain column; otherwise which element: a map's key, a set's member, a place in a
    /// list, a field. Elements are sorted by these bytes.
    pub path: Bytes,
    /// The value in its plain serialisation.
    pub value: Bytes,
    /// Microseconds since the Unix epoch.
    pub timestamp: Timestamp,
    /// The expiry.
    pub expiry: Option<Expiry>,
}

impl LiveRow {
    /// Returns the live cell of a plain column.
    #[must_use]
    pub fn cell(&self, column: u32) -> Option<&LiveCell> {
        let place = self.cells.partition_point(|cell| cell.column < column);
        self.cells.get(place).filter(|cell| cell.column == column)
    }

    /// Returns the live elements of a collection, sorted by path.
    #[must_use]
    pub fn elements(&self, column: u32) -> &[LiveCell] {
        let start = self.cells.partition_point(|cell| cell.column < column);
        let end = self.cells.partition_point(|cell| cell.column <= column);
        self.cells.get(start..end).unwrap_or_default()
    }

    /// Returns true if the row exists: it was inserted, or a cell is live.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.inserted.is_some() || !self.cells.is_empty()
    }

    /// Returns the bytes of its cells, for budgets and reports.
    #[must_use]
    #[inline]
    pub fn size_bytes(&self) -> usize {
        self.cells.iter().map(|cell| cell.path.len() + cell.value.len() + CELL_BYTES).sum()
    }

    /// Decodes what of a stored row is visible. `room` is how many cells are expected.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the bytes are none that this crate makes.
    pub fn decode(
        head: &Bytes,
        chunks: &[Bytes],
        visible: &Visible<'_>,
        room: usize,
    ) -> Result<Self> {
        let mut reader = RowReader::new(head)?;
        let inserted = visible.liveness(reader.liveness);
        let mut row = Self { inserted, cells: Vec::with_capacity(room), misfits: Vec::new() };
        reader.each_cell(head, chunks, |cell| {
            if let Some(value) = visible.value(cell) {
                row.cells.push(LiveCell {
                    column: cell.column,
                    path: cell.shared(cell.path),
                    value: cell.shared(value),
                    timestamp: cell.timestamp,
                    expiry: cell.expiry,
                });
            }
        })?;
        Ok(row)
    }
}

/// The part of a stored row that a reader sees.
pub struct Visible<'l> {
    /// The columns that are seen, sorted; `None` are all.
    pub declared: Option<&'l [Declared]>,
    /// Second since the Unix epoch: what expired by then is gone.
    pub now: u64,
    /// The timestamp of a deletion that is still stored: what was written up to it is deleted.
    pub deleted: Option<Timestamp>,
}

impl StoredCell<'_> {
    /// Works as [`LiveRow::size_bytes`], of one cell.
    pub fn size_bytes(&self, value: &[u8]) -> usize {
        self.path.len() + value.len() + CELL_BYTES
    }
}

impl Visible<'_> {
    #[inline]
    fn is_covered(&self, timestamp: Timestamp) -> bool {
        self.deleted.is_some_and(|deleted| timestamp <= deleted)
    }

    /// Returns the row's own liveness, if it is seen.
    #[inline]
    pub fn liveness(&self, stored: Option<Liveness>) -> Option<Liveness> {
        stored.filter(|own| !has_expired(own.expiry, self.now) && !self.is_covered(own.timestamp))
    }

    /// Returns a cell's value, if it is seen.
    #[inline]
    pub fn value<'r>(&self, cell: &StoredCell<'r>) -> Option<&'r [u8]> {
        cell.value.filter(|_| {
            !has_expired(cell.expiry, self.now)
                && !self.is_covered(cell.timestamp)
                && is_seen(self.declared, cell.column, cell.timestamp)
        })
    }
}
