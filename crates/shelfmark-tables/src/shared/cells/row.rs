//! Items as rows of cells, as readers get them.
//!
//! Invariant: each attribute that is no key is shown exactly once: in its column if it fits, in the
//! column of the others if not.

use bytes::Bytes;
use shelfmark_model::{Item, Value};
use shelfmark_records::cells::{LiveCell, LiveRow, Liveness};

use super::CellsOfItems;
use crate::error::Result;
use crate::rows::RawRow;

/// The write time of every cell: items have none.
const NO_TIMESTAMP: i64 = 0;

impl CellsOfItems {
    /// Returns a stored item as a row; one that does not exist if it has expired.
    pub(crate) fn live_row(&self, raw: &RawRow, now: u64) -> Result<LiveRow> {
        let item = self.base.decode_row(raw, now)?;
        Ok(item.map(|item| self.row_of(&item)).unwrap_or_default())
    }

    /// Returns an item as a row.
    pub(super) fn row_of(&self, item: &Item) -> LiveRow {
        let mut cells = Vec::with_capacity(item.len());
        let mut others = Item::new();
        let mut misfits = Vec::new();
        let shown = self.columns.others.as_ref();
        for (name, value) in item.iter().filter(|(name, _)| !self.base.schema.is_key(name)) {
            let column = self.columns.named(name);
            let found = column.and_then(|own| Some((own, self.columns.cells_of(own, value)?)));
            if let Some((column, found)) = found {
                let cell = |(path, raw)| live_cell(column.id, path, raw);
                cells.extend(found.into_iter().map(cell));
                continue;
            }
            misfits.extend(column.map(|own| own.id));
            if shown.is_some() {
                others.push_greater(name.clone(), value.clone());
            }
        }
        if let Some(own) = shown.filter(|_| !others.is_empty()) {
            let text = Bytes::from(own.text.text(&others));
            cells.push(live_cell(own.column, Bytes::new(), text));
        }
        cells.sort_by(|a, b| (a.column, &a.path).cmp(&(b.column, &b.path)));
        let inserted = Some(Liveness { timestamp: NO_TIMESTAMP, expiry: None });
        LiveRow { inserted, cells, misfits }
    }

    /// Tells whether an attribute is shown in a column of its own.
    pub(super) fn has_column(&self, name: &str, value: &Value) -> bool {
        self.columns.named(name).is_some_and(|own| self.columns.cells_of(own, value).is_some())
    }
}

fn live_cell(column: u32, path: Bytes, value: Bytes) -> LiveCell {
    LiveCell { column, path, value, timestamp: NO_TIMESTAMP, expiry: None }
}
