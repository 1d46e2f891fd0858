//! What readers see of a row of cells at a moment.

use super::{Cell, CellKey, CellRow, Content, has_expired};

impl Cell {
    /// Returns the value, if the cell is live at that second.
    pub(crate) fn live(&self, now_seconds: u64) -> Option<&bytes::Bytes> {
        match &self.content {
            Content::Live { value, expiry } if !has_expired(*expiry, now_seconds) => Some(value),
            _ => None,
        }
    }
}

impl CellRow {
    /// Tells whether the row exists: it was inserted, or a cell of it is live.
    pub(crate) fn exists(&self, now_seconds: u64) -> bool {
        self.liveness.is_some_and(|liveness| !has_expired(liveness.expiry, now_seconds))
            || self.cells.values().any(|cell| cell.live(now_seconds).is_some())
    }

    /// Walks over the live cells of a column: one for a plain column, one per element else.
    pub(crate) fn live_cells(
        &self,
        column: u32,
        now_seconds: u64,
    ) -> impl Iterator<Item = (&CellKey, &Cell)> {
        self.cells
            .iter()
            .filter(move |(key, cell)| key.column == column && cell.live(now_seconds).is_some())
    }
}
