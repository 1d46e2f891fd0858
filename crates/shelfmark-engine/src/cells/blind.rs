//! The fast way of an insert that says all of a row and is later than all that was said of it: the
//! row is written without being read.
//!
//! Whatever else is to follow from a row (entries of indexes, rows of views, due times) takes the
//! other way, and so does everything that would be refused.
//!
//! Invariant: what is written is the row that the other way would have written.

use std::sync::PoisonError;

use bytes::Bytes;
use shelfmark_records::cells::encode_inserted;
use shelfmark_records::cells::tombstones::HighWater;
use shelfmark_records::keys::chunk_key;
use shelfmark_store::{Commit, Write};

use super::request::{CellChange, CellOperation, Mutation};
use crate::commit::Done;
use crate::error::Result;
use crate::inner::Inner;

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

impl Inner {
    /// Queues a mutation without reading its row; `None` if it must be read.
    pub(super) fn attempt_blind_cells(
        &self,
        mutation: &Mutation,
        done: &mut Done<()>,
    ) -> Result<Option<bool>> {
        if mutation.table.items.is_some() {
            return Ok(None);
        }
        let current = self.catalogue.current(&mutation.table)?;
        let table = current.as_ref().unwrap_or(&mutation.table);
        let layout = table.cells()?;
        layout.check_no_view()?;
        let state = &table.shared.cells;
        let timestamp = mutation.timestamp;
        let (Some(columns), CellChange::Row { clustering, is_insert, operations }) =
            (&layout.blind_columns, &mutation.change)
        else {
            return Ok(None);
        };
        if !self.is_alone || mutation.ttl_seconds.is_some() {
            return Ok(None);
        }
        let Some(cells) = whole_row(columns, *is_insert, operations) else { return Ok(None) };
        // What needs no latch to be seen is looked at first.
        if !state.is_blind_after(timestamp) {
            return Ok(None);
        }
        let Some(value) = encode_inserted(timestamp, &cells) else { return Ok(None) };
        let partition = layout.keys.partition(&mutation.partition)?;
        let head = chunk_key(&layout.keys.row_of(partition.clone(), clustering)?, 0);
        let _gate = table.shared.gate.read().unwrap_or_else(PoisonError::into_inner);
        if table.is_retired() {
            return Ok(Some(false));
        }
        let _partition = self.partitions.lock(&[(partition, false)]);
        let _latched = self.latches.lock([head.as_slice()]);
        if !state.is_blind_after(timestamp) || timestamp <= self.written.latest(&mutation.partition)
        {
            return Ok(None);
        }
        self.written.raise(&mutation.partition, timestamp);
        let mut writes = vec![Write::Put { key: head.into(), value }];
        let written = HighWater { until: timestamp, has_chunks: false };
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
