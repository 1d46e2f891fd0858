//! Rows of cells as readers get them: the live cells alone, with their timestamps and expiries.
//!
//! Decoded straight from the record: values share its memory, dead and expired cells are stepped
//! over.

use bytes::Bytes;

use super::codec::{RowReader, StoredCell};
use super::{Expiry, Liveness, Timestamp, has_expired};
use crate::error::Result;

/// The live cells of a row, or of the statics of a partition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LiveRow {
    /// The row was inserted; `None` if only its cells make it exist.
    pub inserted: Option<Liveness>,
    /// The cells, by column, then by path.
    pub cells: Vec<LiveCell>,
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
    /// When it stops being there.
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

    /// Tells whether the row exists: it was inserted, or a cell is live.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.inserted.is_some() || !self.cells.is_empty()
    }

    /// Returns the bytes of its cells, for budgets and reports.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.cells.iter().map(|cell| cell.path.len() + cell.value.len() + 8).sum()
    }

    /// Decodes what is live at `now` of a stored row and was written after `deleted`. `room` is how
    /// many cells are expected.
    pub(super) fn decode(
        head: &Bytes,
        chunks: &[Bytes],
        now: u64,
        deleted: Option<Timestamp>,
        is_declared: impl Fn(u32) -> bool,
        room: usize,
    ) -> Result<Self> {
        let mut reader = RowReader::new(head)?;
        let covered = |timestamp: Timestamp| deleted.is_some_and(|deleted| timestamp <= deleted);
        let inserted =
            reader.liveness.filter(|own| !has_expired(own.expiry, now) && !covered(own.timestamp));
        let mut row = Self { inserted, cells: Vec::with_capacity(room) };
        reader.each_cell(head, chunks, |cell| {
            let StoredCell { column, path, timestamp, value, expiry, dead_at: _ } = cell;
            if let Some(value) = value
                && !has_expired(expiry, now)
                && !covered(timestamp)
                && is_declared(column)
            {
                row.cells.push(LiveCell { column, path, value, timestamp, expiry });
            }
        })?;
        Ok(row)
    }
}
