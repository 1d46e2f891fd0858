//! Rows of cells in interactive transactions.
//!
//! Rows are read and written one by one, and partitions are read in ranges. What it is not: a way to
//! delete ranges. Such a deletion excludes all writers of its partition while it is planned, and a
//! transaction's body runs without locks.
//!
//! Invariant: between the commit of a transaction and the queueing of writers that do not read what
//! they write, one has seen the other: both hold the latches of their rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use shelfmark_records::cells::tombstones::HighWater;
use shelfmark_records::keys::chunk_key;
use shelfmark_store::latch::Latched;

use super::apply::apply;
use super::find::Target;
use super::high_water::Renewal;
use super::page::{CellGet, CellGot};
use super::request::{CellChange, CellPage, CellQuery, Mutation};
use super::state::PartitionLock;
use super::write::renew_high_water;
use crate::catalogue::Table;
use crate::commit::{Transaction, Writer};
use crate::error::{Error, Result};
use crate::items::{Applied, Write};
use crate::report::AccessReport;
use crate::rows::Validated;
use crate::shared::{self, ItemsOfCells};
use crate::tables::Tables;

/// A write of a transaction to one row of cells.
pub(crate) struct CellsWritten {
    pub(crate) table: Arc<Table>,
    stamp: HighWater,
    /// The prefix of the keys of the partition.
    partition: Vec<u8>,
    /// The key of the row's head.
    head: Vec<u8>,
}

impl Transaction<'_> {
    /// Reads one row of cells, with this transaction's writes on top; it must not change before the
    /// commit.
    ///
    /// # Errors
    ///
    /// * As `Engine::get_cells`.
    pub fn get_cells(&self, table: &Table, get: &CellGet) -> Result<CellGot> {
        let current = self.tables.current(table)?;
        let table = current.as_deref().unwrap_or(table);
        self.touch_cells(table, &get.partition)?;
        let now = get.now.unwrap_or(self.writer.now);
        let got = self.tables.get_cells_over(&self.writer.buffer, table, get, now)?;
        self.report(&got.report);
        Ok(got)
    }

    /// Reads one page of a partition of cells, with this transaction's writes on top. What the page
    /// covers must not change before the commit, also where nothing is.
    ///
    /// # Errors
    ///
    /// * As `Engine::query_cells`.
    pub fn query_cells(&self, table: &Table, query: &CellQuery) -> Result<CellPage> {
        let current = self.tables.current(table)?;
        let table = current.as_deref().unwrap_or(table);
        self.touch_cells(table, &query.partition)?;
        let now = query.limits.now.unwrap_or(self.writer.now);
        let buffer = &self.writer.buffer;
        let page = match &self.writer.guards {
            None => self.tables.query_cells_over(&Validated(buffer), table, query, now)?,
            Some(guards) => {
                guards.note_range();
                self.tables.query_cells_over(buffer, table, query, now)?
            }
        };
        self.report(&page.report);
        Ok(page)
    }

    /// Writes cells of one row, or deletes the row.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the key or a value does not fit, it is no table of cells, or a
    ///   range would be deleted. Read the rows and delete each, or use `Engine::write_any`.
    /// * [`crate::ErrorKind::LimitExceeded`]: the row or its key is too large.
    pub fn write_cells(&self, mutation: &Mutation) -> Result<()> {
        if let Some(items) = &mutation.table.items {
            let current = self.tables.catalogue.current(&items.base)?;
            let base = current.as_deref().unwrap_or(&items.base);
            for write in items.writes_of(&self.writer, base, mutation)? {
                self.write(&write)?;
            }
            return Ok(());
        }
        let current = self.tables.catalogue.current(&mutation.table)?;
        let table = current.unwrap_or_else(|| Arc::clone(&mutation.table));
        let layout = table.cells()?;
        layout.check_no_view()?;
        let partition = layout.keys.partition(&mutation.partition)?;
        let row = match &mutation.change {
            CellChange::Row { clustering, .. } | CellChange::DeleteRow(clustering) => {
                layout.keys.row_of(partition.clone(), clustering)?
            }
            CellChange::Statics(_) => layout.keys.statics_of(partition.clone()),
            CellChange::DeleteSpan(_) | CellChange::DeletePartition => {
                return Err(Error::invalid(
                    "a transaction deletes rows of cells one by one; a range is deleted by a batch",
                ));
            }
        };
        self.touch_cells(&table, &mutation.partition)?;
        let views = self.tables.views_of(&table)?;
        let target = Target::new(self.tables, &self.writer, &table, &views, self.writer.now)?
            .reporting(self.observer.is_some());
        apply(&target, mutation)?;
        let stamp = target.written();
        if let Some(step) = target.into_step() {
            self.report(&AccessReport { steps: vec![step] });
        }
        let written = CellsWritten { stamp, partition, head: chunk_key(&row, 0), table };
        self.cells.borrow_mut().push(written);
        Ok(())
    }

    /// Writes an item of a table of cells that is used as a table of items.
    pub(crate) fn write_mapped(
        &self,
        table: &Arc<Table>,
        mapping: &ItemsOfCells,
        write: &Write,
    ) -> Result<Applied> {
        let base = &mapping.base;
        let layout = base.cells()?;
        layout.check_no_view()?;
        let row = mapping.row_key(&write.change.key_of(table)?)?;
        let length = layout.keys.partition_length(&row)?;
        let partition = row.get(..length).unwrap_or_default().to_vec();
        if let Some(guards) = &self.writer.guards {
            guards.touch_partition(base.id, &partition);
        }
        let views = self.tables.views_of(base)?;
        let target = Target::new(self.tables, &self.writer, base, &views, self.writer.now)?;
        let applied = shared::apply(&target, table, mapping, base, write)?;
        let (stamp, head) = (target.written(), chunk_key(&row, 0));
        let written = CellsWritten { stamp, partition, head, table: Arc::clone(base) };
        self.cells.borrow_mut().push(written);
        Ok(applied)
    }

    fn touch_cells(&self, table: &Table, partition: &[u8]) -> Result<()> {
        if let Some(guards) = &self.writer.guards {
            guards.touch_partition(table.id, &table.cells()?.keys.partition(partition)?);
        }
        Ok(())
    }
}

/// Locks the partitions and latches the rows that a transaction wrote.
pub(crate) fn lock_written<'i>(
    tables: &'i Tables,
    written: &[CellsWritten],
) -> (Vec<PartitionLock<'i>>, Latched<'i>) {
    let partitions: Vec<(Vec<u8>, bool)> =
        written.iter().map(|own| (own.partition.clone(), false)).collect();
    let locks = tables.partitions.lock(&partitions);
    (locks, tables.latches.lock(written.iter().map(|own| own.head.as_slice())))
}

/// Puts the high-water marks that the writes of a transaction take.
pub(crate) fn renew_high_waters<'w>(
    written: &'w [CellsWritten],
    writer: &Writer,
) -> Vec<Renewal<'w>> {
    // In the order of their ids, in which everybody takes the locks of high-water marks.
    let mut stamps: BTreeMap<u64, (&Table, HighWater)> = BTreeMap::new();
    for own in written {
        let (_, stamp) = stamps.entry(own.table.id).or_insert((&own.table, own.stamp));
        stamp.until = stamp.until.max(own.stamp.until);
        stamp.has_chunks |= own.stamp.has_chunks;
    }
    let high_waters =
        stamps.into_values().filter_map(|(table, stamp)| renew_high_water(table, writer, stamp));
    high_waters.collect()
}
