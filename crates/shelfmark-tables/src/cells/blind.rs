//! The fast way of inserts that say all of their rows and are later than all that was said of them:
//! the rows are written without being read.
//!
//! Whatever else is to follow from a row (entries of indexes, rows of views) takes the other way, and
//! so does everything that would be refused, and a commit of which one row takes it. A due time of the
//! row that was there stays behind: whoever looks at that row then finds nothing to forget.
//!
//! Invariant: what is written is the rows that the other way would have written.

use std::sync::{Arc, PoisonError};

use bytes::Bytes;
use shelfmark_records::cells::tombstones::HighWater;
use shelfmark_records::cells::{CellsLayout, due, encode_inserted};
use shelfmark_records::keys::chunk_key;
use shelfmark_store::{Commit, Write};

use super::apply::expiry;
use super::find::{due_at, due_entry};
use super::request::{CellChange, CellOperation, Mutation};
use super::write::CellWrites;
use crate::catalogue::Table;
use crate::commit::Done;
use crate::error::Result;
use crate::tables::Tables;

/// Returns the values of an insert by column, if it gives every column of the row one.
fn whole_row<'m>(
    columns: &[u32],
    is_insert: bool,
    operations: &'m [CellOperation],
) -> Option<Vec<(u32, &'m Bytes)>> {
    if !is_insert || operations.len() != columns.len() {
        return None;
    }
    let mut cells = Vec::with_capacity(operations.len());
    for operation in operations {
        let CellOperation::Set { column, value } = operation else { return None };
        cells.push((*column, value));
    }
    cells.sort_unstable_by_key(|(column, _)| *column);
    cells.iter().map(|(column, _)| column).eq(columns).then_some(cells)
}

/// A row to be written as it is here, whatever is stored.
struct BlindRow<'m> {
    mutation: &'m Mutation,
    /// The prefix of the keys of its partition.
    partition: Vec<u8>,
    head: Vec<u8>,
    value: Bytes,
    /// Key and value of its due time, if it expires.
    due: Option<(Bytes, Bytes)>,
}

impl<'m> BlindRow<'m> {
    /// Encodes the row; `None` if the mutation does not say all of it.
    fn of(
        table: &Table,
        layout: &CellsLayout,
        mutation: &'m Mutation,
        now: u64,
    ) -> Result<Option<Self>> {
        let (Some(columns), CellChange::Row { clustering, is_insert, operations }) =
            (&layout.blind_columns, &mutation.change)
        else {
            return Ok(None);
        };
        let Some(cells) = whole_row(columns, *is_insert, operations) else { return Ok(None) };
        // What needs no latch to be seen is looked at first.
        if !table.shared.cells.is_blind_after(mutation.timestamp) {
            return Ok(None);
        }
        let expiry = expiry(now, mutation.ttl_seconds);
        let Some(value) = encode_inserted(mutation.timestamp, expiry, &cells) else {
            return Ok(None);
        };
        let partition = layout.keys.partition(&mutation.partition)?;
        let row = layout.keys.row_of(partition.clone(), clustering)?;
        let due = expiry.map(|expiry| {
            let second = due_at(expiry.at_seconds, layout.grace_seconds);
            let rest = row.get(layout.keys.prefix.len()..).unwrap_or_default();
            due_entry(table, second, due::ROW, rest)
        });
        Ok(Some(Self { mutation, partition, head: chunk_key(&row, 0), value, due }))
    }
}

/// Tells whether no two of the rows are the same; of such the parts would have to be merged.
fn are_distinct(rows: &[BlindRow<'_>]) -> bool {
    let mut heads: Vec<&[u8]> = rows.iter().map(|row| row.head.as_slice()).collect();
    heads.sort_unstable();
    heads.windows(2).all(|pair| pair.first() != pair.last())
}

impl Tables {
    /// Queues mutations of one table without reading their rows; `None` if one must be read.
    pub(super) fn attempt_blind_cells(
        &self,
        writes: &CellWrites,
        done: &mut Done<()>,
    ) -> Result<Option<bool>> {
        let Some(first) = writes.mutations.first() else { return Ok(None) };
        if !self.is_alone || first.table.items.is_some() {
            return Ok(None);
        }
        let current = self.catalogue.current(&first.table)?;
        let table = current.as_ref().unwrap_or(&first.table);
        let layout = table.cells()?;
        layout.check_no_view()?;
        let now = writes.now.unwrap_or_else(|| self.environment.clock.now_seconds());
        let mut rows = Vec::with_capacity(writes.mutations.len());
        for mutation in &writes.mutations {
            if !Arc::ptr_eq(&mutation.table, &first.table) {
                return Ok(None);
            }
            let Some(row) = BlindRow::of(table, layout, mutation, now)? else { return Ok(None) };
            rows.push(row);
        }
        if !are_distinct(&rows) {
            return Ok(None);
        }
        self.queue_blind_rows(table, rows, done)
    }

    /// Queues rows under their latches; `None` if something there may be later than one of them.
    fn queue_blind_rows(
        &self,
        table: &Table,
        rows: Vec<BlindRow<'_>>,
        done: &mut Done<()>,
    ) -> Result<Option<bool>> {
        let state = &table.shared.cells;
        let _gate = table.shared.gate.read().unwrap_or_else(PoisonError::into_inner);
        if table.is_retired() {
            return Ok(Some(false));
        }
        let mut partitions: Vec<(Vec<u8>, bool)> =
            rows.iter().map(|row| (row.partition.clone(), false)).collect();
        partitions.dedup();
        let _partitions = self.partitions.lock(&partitions);
        let _latched = self.latches.lock(rows.iter().map(|row| row.head.as_slice()));
        let is_latest = |row: &BlindRow<'_>| {
            let Mutation { timestamp, partition, .. } = row.mutation;
            state.is_blind_after(*timestamp) && *timestamp > self.written.latest(partition)
        };
        if !rows.iter().all(is_latest) {
            return Ok(None);
        }
        let Some(until) = rows.iter().map(|row| row.mutation.timestamp).max() else {
            return Ok(None);
        };
        let mut writes = Vec::with_capacity(rows.len() + 1);
        for row in rows {
            self.written.raise(&row.mutation.partition, row.mutation.timestamp);
            writes.push(Write::Put { key: row.head.into(), value: row.value });
            writes.extend(row.due.map(|(key, value)| Write::Put { key, value }));
        }
        let written = HighWater { until, has_chunks: false };
        let renewal = state.high_water.renew(table.id, written, |key, value| {
            writes.push(Write::Put { key, value });
        });
        let queued = self.queue(Commit::of(writes), Ok(()), done)?;
        if let Some(renewal) = renewal.filter(|_| queued) {
            renewal.queued();
        }
        Ok(Some(queued))
    }
}
