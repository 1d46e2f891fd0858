//! Deletions whose rows are still there: which of them concern a row that is read or written.
//!
//! A deletion of more rows than one commit takes leaves a tombstone beside the ranges of its level, and
//! its rows go in the background. Such tombstones lie in the order of partitions, and one never reaches
//! beyond its partition, so those that can concern a row are one bounded range of keys. It is read
//! when the first row of a partition is met, and again for the next partition that has some: between
//! the two nothing is read.
//!
//! What it is not: what late writes must respect; those are the tombstones of rows and ranges.
//!
//! Invariant: a row is shown as if every deletion of it that was acknowledged had been done.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_model::ViewPart;
use shelfmark_records::cells::view_row;
use shelfmark_records::cells::{
    CellKeys, CellRow, Place, Timestamp, join_partition, split_partition,
};
use shelfmark_records::keys::RowKey;

use super::tombstones::{self, PartitionPurges};
use crate::catalogue::Table;
use crate::error::{Error, ErrorKind, Result};
use crate::rows::{View, read_row};
use crate::tables::Tables;

/// The deletions of one table that are being purged, as far as one reader or writer has met them.
pub(super) struct Purges {
    table: u64,
    /// The table may have some.
    is_any: Cell<bool>,
    met: RefCell<Option<Met>>,
}

/// The deletions found for one partition, and the place of the next partition that has some.
struct Met {
    /// The prefix of the names of its rows. A name is a key without `[rows][table id]`.
    partition: Bytes,
    found: PartitionPurges,
}

impl Purges {
    /// Looks whether the table has any. The table's state has been loaded.
    pub(super) fn of(table: &Table) -> Self {
        let is_any = Cell::new(table.shared.cells.has_purges());
        Self { table: table.id, is_any, met: RefCell::default() }
    }

    /// Tells whether the table may have some.
    pub(super) fn is_any(&self) -> bool {
        self.is_any.get()
    }

    /// Forgets what was met: a deletion was added.
    pub(super) fn forget(&self) {
        self.is_any.set(true);
        *self.met.borrow_mut() = None;
    }

    /// Returns the latest deletion that is being purged and covers a row, given by its name.
    pub(super) fn covering(
        &self,
        view: &impl View,
        keys: &CellKeys,
        row: &[u8],
    ) -> Result<Option<Timestamp>> {
        if !self.is_any.get() {
            return Ok(None);
        }
        let mut met = self.met.borrow_mut();
        if let Some(met) = met.as_ref() {
            if row.starts_with(&met.partition) {
                return Ok(met.found.covering(row));
            }
            if met.is_free(row) {
                return Ok(None);
            }
        }
        let length = keys.partition_length_of(row)?;
        let partition = Bytes::copy_from_slice(row.get(..length).unwrap_or_default());
        let found = tombstones::purges_of(view, self.table, keys, &partition)?;
        let covering = found.covering(row);
        *met = Some(Met { partition, found });
        Ok(covering)
    }
}

impl Met {
    /// Tells whether a row lies behind the partition, and before the next one that has deletions.
    fn is_free(&self, row: &[u8]) -> bool {
        let next = &self.found.next_partition;
        row > self.partition.as_ref() && next.as_ref().is_none_or(|next| row < next.as_ref())
    }
}

/// The base of a view, while deletions of it are being purged: rows of the view that follow from what
/// was deleted are still there, too.
pub(super) struct PurgedBase {
    base: Arc<Table>,
    purges: Purges,
}

impl PurgedBase {
    /// Returns `None` for a table that is no view, and for a view whose base has no such deletions.
    pub(super) fn of(tables: &Tables, view: &impl View, table: &Table) -> Result<Option<Self>> {
        let Some(schema) = &table.cells()?.view_of else { return Ok(None) };
        let base = match tables.catalogue.table(&schema.base) {
            // Both were dropped; who reads the view learns of it.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            base => base?,
        };
        tables.load_state(&base, view)?;
        let purges = Purges::of(&base);
        Ok(purges.is_any().then_some(Self { base, purges }))
    }

    /// Returns what is left of a row of the view, perhaps nothing; `None` if no deletion concerns it
    /// that is being purged.
    ///
    /// A deletion may take away the cell that the view's key is made of and leave the rest of the row,
    /// so the base's row says what is left.
    pub(super) fn left(
        &self,
        view: &impl View,
        table: &Table,
        key: &RowKey,
    ) -> Result<Option<CellRow>> {
        let layout = self.base.cells()?;
        let place = self.place(table, key)?;
        let base_key = layout.keys.place(&place)?;
        let name = base_key.get(layout.keys.prefix.len()..).unwrap_or_default();
        let Some(deleted) = self.purges.covering(view, &layout.keys, name)? else {
            return Ok(None);
        };
        let Some(raw) = read_row(view, &base_key)? else { return Ok(Some(CellRow::default())) };
        let mut row = CellRow::decode(&raw.head, &raw.chunks)?;
        row.delete_up_to(deleted);
        let left = view_row(layout, table.cells()?, &place, &row)?;
        Ok(Some(left.filter(|(own, _)| **own == **key).map(|(_, row)| row).unwrap_or_default()))
    }

    /// Returns where the row of the base lies that a row of the view follows from: a view's key has
    /// every column of its base's key.
    fn place(&self, table: &Table, key: &RowKey) -> Result<Place> {
        let damaged = || Error::corrupt("the key of a row of a view lacks a column of its base's");
        let layout = table.cells()?;
        let schema = layout.view_of.as_ref().ok_or_else(damaged)?;
        let own = layout.keys.parse(key)?;
        let parts = split_partition(&own.partition, layout.partition_columns)?;
        let sort = own.clustering.ok_or_else(damaged)?;
        let of = |wanted: ViewPart| -> Result<Bytes> {
            let in_partition = schema.partition.iter().position(|part| *part == wanted);
            let found = match in_partition {
                Some(at) => parts.get(at).cloned(),
                None => {
                    let at = schema.sort.iter().position(|part| *part == wanted);
                    at.and_then(|at| sort.get(at).cloned().flatten())
                }
            };
            found.ok_or_else(damaged)
        };
        let base = self.base.cells()?;
        let partition: Vec<Bytes> = (0..)
            .take(base.partition_columns)
            .map(|at| of(ViewPart::PartitionColumn(at)))
            .collect::<Result<_>>()?;
        let clustering = (0..)
            .take(base.keys.sort.len())
            .map(|at| of(ViewPart::SortColumn(at)).map(Some))
            .collect::<Result<_>>()?;
        Ok(Place { partition: join_partition(&partition)?, clustering: Some(clustering) })
    }
}
