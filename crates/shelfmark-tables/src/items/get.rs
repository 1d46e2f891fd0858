//! Point reads.

use bytes::Bytes;
use shelfmark_model::{Item, Key, Projection, item_size_bytes};
use shelfmark_records::keys::chunk_key;
use shelfmark_store::KeyRange;

use crate::catalogue::Table;
use crate::error::Result;
use crate::report::{AccessReport, AccessStep};
use crate::rows::{View, read_row};

/// A point read.
#[derive(Debug, Clone)]
pub struct Get {
    /// The key of the item.
    pub key: Key,
    /// The parts of the item that come back.
    pub projection: Projection,
}

impl Get {
    /// Creates a read of the whole item.
    #[must_use]
    pub fn new(key: Key) -> Self {
        Self { key, projection: Projection::All }
    }

    /// Returns the first key that the read looks at, where it is known beforehand.
    pub(crate) fn head(&self, table: &Table) -> Option<Bytes> {
        let is_of_others = table.mapped.is_some() || table.readable.is_some();
        let row_key = (!is_of_others).then(|| table.key.row_key(&self.key).ok())??;
        Some(chunk_key(&row_key, 0).into())
    }
}

/// The answer of a point read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Got {
    /// The item, if it is there.
    pub item: Option<Item>,
    /// The cost of the read: one step, the range of one row.
    pub report: AccessReport,
}

/// Answers a point read over `view`; expired items are absent.
pub(crate) fn get(view: &impl View, table: &Table, get: &Get, now: u64) -> Result<Got> {
    table.check_items()?;
    let row_key = table.key.row_key(&get.key)?;
    let mut step = AccessStep::new(&table.schema.name.name, None);
    let row = read_row(view, &row_key)?;
    step.ranges.push(KeyRange::prefix(row_key));
    let mut item = None;
    if let Some(row) = row {
        let live = table.decode_row(&row, now)?;
        if let Some(live) = live {
            step.rows_read = 1;
            step.rows_returned = 1;
            step.bytes_read = item_size_bytes(&live) as u64;
            item = Some(get.projection.apply(live));
        }
    }
    Ok(Got { item, report: AccessReport { steps: vec![step] } })
}
