//! Decodes a stored row of cells, an entry, a tombstone and a due time, for whoever checks a store.
//!
//! What it is not: the checking itself. Nothing is read here; the walks are `verify`'s.

use bytes::Bytes;
use shelfmark_model::IndexState;
use shelfmark_records::cells::check_order;
use shelfmark_records::cells::due::due_key;
use shelfmark_records::cells::tombstones::{HighWater, high_water_key};
use shelfmark_records::cells::{CellRow, CellsLayout, Place, Timestamp};
use shelfmark_records::cells::{ends_of, entries, entry_value, view_row};
use shelfmark_records::items::Stored;
use shelfmark_records::keys::without_chunk;
use xxhash_rust::xxh3::xxh3_64;

use super::find::due_second;
use crate::catalogue::Table;
use crate::error::{Error, Result};
use crate::rows::{Entry, IndexRange, RawRow, RowKind, View};

/// A stored row, or the statics of a partition, that could be read.
pub struct StoredCells {
    place: Place,
    row: CellRow,
}

/// The rows of one table of cells.
pub struct Cells<'t> {
    /// The table.
    pub table: &'t Table,
    /// The layout of its cells.
    pub layout: &'t CellsLayout,
}

impl<'t> Cells<'t> {
    /// Returns the rows of a table of cells.
    ///
    /// # Errors
    ///
    /// * `Invalid`: it is a table of items.
    pub fn of(table: &'t Table) -> Result<Self> {
        Ok(Self { table, layout: table.cells()? })
    }
}

impl RowKind for Cells<'_> {
    type Row = StoredCells;

    fn table(&self) -> &Table {
        self.table
    }

    fn rows_prefix(&self) -> Bytes {
        self.layout.keys.prefix.clone()
    }

    fn read(&self, raw: &RawRow) -> Result<StoredCells> {
        let keys = &self.layout.keys;
        let place = keys.parse(&raw.key)?;
        if keys.place(&place)? != *raw.key {
            return Err(Error::corrupt("a row lies at another key than its own"));
        }
        let row = CellRow::decode(&raw.head, &raw.chunks)?;
        check_order(&raw.head, &raw.chunks)?;
        if row == CellRow::default() {
            return Err(Error::corrupt("a row of nothing"));
        }
        Ok(StoredCells { place, row })
    }

    /// Statics, and rows of dead cells alone, are none.
    fn is_row(&self, row: &StoredCells) -> bool {
        row.place.clustering.is_some() && ends_of(&row.row).is_some()
    }

    fn indexes(&self) -> Vec<IndexRange<'_>> {
        let indexes = self.layout.indexes.iter().map(|index| IndexRange {
            name: &index.schema.name,
            prefix: index.prefix.clone(),
            is_complete: index.schema.state == IndexState::Public,
        });
        indexes.collect()
    }

    fn entries(&self, row: &StoredCells, at: usize) -> Result<Vec<Entry>> {
        let Some(index) = self.layout.indexes.get(at) else { return Ok(Vec::new()) };
        let entries = entries(self.layout, index, &row.place, &row.row)?;
        let entry = |(key, ends): (Bytes, _)| {
            let key = without_chunk(&key)?.to_vec();
            let record = Stored { head: entry_value(ends), chunks: Vec::new() };
            Ok(Entry { key, records: vec![record], is_required: true })
        };
        entries.into_iter().map(entry).collect()
    }

    fn entry_leads_to(&self, at: usize, entry: &RawRow) -> Result<Vec<u8>> {
        let index = self.layout.indexes.get(at);
        let index = index.ok_or_else(|| Error::corrupt("an entry of no index"))?;
        Ok(self.layout.keys.place(&index.place_of(&self.layout.keys, &entry.key)?)?)
    }

    /// Returns the time at which a row is due, and the key of that in the queue; `None` for a row
    /// of a view, for what a view forgets follows from its base.
    fn due(&self, raw: &RawRow, row: &StoredCells) -> Option<(u64, Bytes)> {
        let second = due_second(&row.row, self.layout.grace_seconds);
        let second = second.filter(|_| !self.layout.is_view())?;
        Some((second, due_key(self.table.id, second, &self.layout.due_of_row(&raw.key))))
    }
}

impl StoredCells {
    /// Returns the row that it makes in a view, and its key (without chunk) there.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Corrupt`]: a value of the view's key cannot be read. Run `verify`.
    pub fn in_view(&self, layout: &CellsLayout, view: &Table) -> Result<Option<(Vec<u8>, Stored)>> {
        let made = view_row(layout, view.cells()?, &self.place, &self.row)?;
        Ok(made.map(|(key, row)| (key, row.encode())))
    }

    /// Returns the columns that it has cells of, or of which it remembers a deletion.
    pub fn columns(&self) -> impl Iterator<Item = u32> {
        let cells = self.row.cells.keys().map(|cell| cell.column);
        cells.chain(self.row.collections.keys().copied())
    }

    /// Returns the latest timestamp of anything in a row, deletions included.
    pub(crate) fn latest_in(row: &CellRow) -> Option<Timestamp> {
        let cells = row.cells.values().map(|cell| cell.timestamp);
        let collections = row.collections.values().map(|deletion| deletion.timestamp);
        let of_row = row.deletion.map(|deletion| deletion.timestamp);
        let liveness = row.liveness.map(|liveness| liveness.timestamp);
        cells.chain(collections).chain(of_row).chain(liveness).max()
    }

    /// Returns its latest timestamp.
    pub fn latest(&self) -> Option<Timestamp> {
        let cells = self.row.cells.values().map(|cell| cell.timestamp);
        cells.chain(self.row.liveness.map(|liveness| liveness.timestamp)).max()
    }

    /// Returns the latest timestamp of anything in it, deletions of the row and of collections included.
    pub fn latest_of_all(&self) -> Option<Timestamp> {
        Self::latest_in(&self.row)
    }

    /// Tells whether anything of it is as early as a deletion at `timestamp`, which so was not done.
    pub fn has_of_before(&self, timestamp: Timestamp) -> bool {
        let cells = self.row.cells.values().map(|cell| cell.timestamp);
        let own = cells.chain(self.row.liveness.map(|liveness| liveness.timestamp)).min();
        own.is_some_and(|own| own <= timestamp)
    }
}

/// Returns the high-water mark of a table, if it has one.
///
/// # Errors
///
/// * [`crate::ErrorKind::Corrupt`]: the high-water mark cannot be read. Run `verify`.
/// * Those of the store.
pub fn stored_high_water(view: &impl View, table: u64) -> Result<Option<HighWater>> {
    let stored = view.get(&high_water_key(table))?;
    Ok(stored.map(|value| HighWater::decode(&value)).transpose()?)
}

/// Returns a number that stands for what of a due time comes behind the table's id.
pub fn due_hash(rest: &[u8]) -> u64 {
    xxh3_64(rest)
}
