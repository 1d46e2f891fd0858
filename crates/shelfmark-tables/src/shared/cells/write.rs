//! Writes cells into a table of items.
//!
//! A mutation becomes writes of items, worked out from the items that are there. Timestamps play no
//! part: of two writes the later commit counts, as among DynamoDB's own.
//!
//! Invariant: what a write was worked out from is validated when its commit is queued.

use std::sync::Arc;

use shelfmark_model::{Item, Key};
use shelfmark_records::cells::{ClusteringValue, Span};
use shelfmark_store::budget::Room;
use shelfmark_store::{Commit, Direction, KeyRange};

use super::super::grant::Share;
use super::super::typed::read_alone;
use super::CellsOfItems;
use crate::catalogue::Table;
use crate::cells::{CellChange, CellOperation, ConditionalRead, Decision, Mutation, PartitionView};
use crate::commit::{Done, Told, Writer, lock_gates};
use crate::error::{Error, ErrorKind, Failure, Result};
use crate::items::{Applied, Write, apply};
use crate::report::AccessStep;
use crate::rows::{RowScan, Validated, View, read_row};
use crate::tables::Tables;
use shelfmark_records::keys::chunk_key;

/// Most items that one deletion of a range takes away: each is a write of its own in one commit.
///
/// Source: ours; ten times what a transaction of DynamoDB holds.
const DELETED_ITEMS_MAX: usize = 1_000;

/// Memory that an item takes on which a condition is decided, as a multiple of its size: itself and the
/// row that is made of it.
const HELD_TIMES: usize = 2;

impl CellsOfItems {
    /// Returns the key of the row's head that a mutation latches, if it concerns one row.
    pub(crate) fn latched(&self, mutation: &Mutation) -> Result<Option<Vec<u8>>> {
        if self.typed.is_some() {
            return Err(read_alone(&self.base));
        }
        let keys = &mutation.table.cells()?.keys;
        let partition = keys.partition(&mutation.partition)?;
        match &mutation.change {
            CellChange::Row { clustering, .. } | CellChange::DeleteRow(clustering) => {
                Ok(Some(chunk_key(&keys.row_of(partition, clustering)?, 0)))
            }
            _ => Ok(None),
        }
    }

    /// Applies a mutation to the buffer of a commit. Returns what was read, `None` if the table's flag
    /// for rows of several chunks must be persisted first.
    pub(crate) fn apply(
        &self,
        writer: &Writer,
        table: &Arc<Table>,
        mutation: &Mutation,
    ) -> Result<Option<Vec<AccessStep>>> {
        let mut steps = Vec::new();
        for write in self.writes_of(writer, table, mutation)? {
            match apply(writer, table, &write)? {
                Applied::Written(written) => steps.extend(written.report.steps),
                Applied::Refused(refusal) => {
                    return Err(Error::refused(vec![Failure { position: 0, refusal }]));
                }
                Applied::NeedsChunks => return Ok(None),
            }
        }
        Ok(Some(steps))
    }

    /// Returns the writes of items that a mutation is, resting on what is read in a buffer.
    pub(crate) fn writes_of(
        &self,
        writer: &Writer,
        base: &Table,
        mutation: &Mutation,
    ) -> Result<Vec<Write>> {
        self.check_grant(base)?;
        self.note_range(writer, mutation)?;
        match writer.guards {
            None => self.writes(&Validated(&writer.buffer), writer.now, mutation),
            Some(_) => self.writes(&writer.buffer, writer.now, mutation),
        }
    }

    /// Has whoever writes in the partition excluded, where the store validates no ranges.
    fn note_range(&self, writer: &Writer, mutation: &Mutation) -> Result<()> {
        let is_range =
            matches!(mutation.change, CellChange::DeleteSpan(_) | CellChange::DeletePartition);
        if let Some(guards) = writer.guards.as_ref().filter(|_| is_range) {
            let partition = mutation.table.cells()?.keys.partition(&mutation.partition)?;
            guards.note_range();
            guards.touch_partition(self.base.id, &partition);
        }
        Ok(())
    }

    /// Returns the writes of items that a mutation is, given the items that `view` shows.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: items do not have what is written.
    /// * [`ErrorKind::LimitExceeded`]: a key is too long, or the deletion of a range too large.
    fn writes(&self, view: &impl View, now: u64, mutation: &Mutation) -> Result<Vec<Write>> {
        if mutation.ttl_seconds.is_some() {
            return Err(Error::invalid(
                "items have no time to live of their own; set the attribute that the table's time \
                 to live looks at",
            ));
        }
        match &mutation.change {
            CellChange::Row { clustering, is_insert, operations } => {
                let written =
                    self.written(view, now, mutation, clustering, *is_insert, operations)?;
                Ok(written.into_iter().collect())
            }
            CellChange::DeleteRow(clustering) => {
                let key = self.key(&mutation.partition, clustering)?;
                Ok(vec![Write::delete(&self.base, key)])
            }
            CellChange::DeleteSpan(span) => self.deletions(view, mutation, span),
            CellChange::DeletePartition => self.deletions(view, mutation, &Span::all()),
            CellChange::Statics(_) => Err(Error::invalid("items have no static columns")),
        }
    }

    fn check_grant(&self, base: &Table) -> Result<()> {
        if self.typed.is_some() {
            return Err(read_alone(base));
        }
        // As it is now: a statement may have been planned before the grant was taken away.
        let grant = Share::of_table(&base.schema).unwrap_or(self.share);
        if grant == Share::All {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "table {} is another face's, and grants reading alone; start the server with \
             `--share all`, or grant it to this table",
            self.base.schema.name
        )))
    }

    /// Returns the write of one row; `None` if nothing is to be written: what is absent loses nothing.
    fn written(
        &self,
        view: &impl View,
        now: u64,
        mutation: &Mutation,
        clustering: &[ClusteringValue],
        is_insert: bool,
        operations: &[CellOperation],
    ) -> Result<Option<Write>> {
        let key = self.key(&mutation.partition, clustering)?;
        let old = self.find(view, &key, now)?;
        if old.is_none() && mutation.is_deletion() && !is_insert {
            return Ok(None);
        }
        let check = self.checks.as_ref().and_then(|all| all.of_table(&self.base.schema));
        let before = check.as_ref().and_then(|_| old.clone());
        let mut item = old.unwrap_or_else(|| self.key_item(&key));
        self.apply_to(&mut item, operations)?;
        if let Some(check) = check {
            check.check(before.as_ref(), &item).map_err(|why| {
                Error::invalid(format!("table {} does not take this: {why}", self.base.schema.name))
            })?;
        }
        Ok(Some(Write::put(&self.base, item)))
    }

    fn find(&self, view: &impl View, key: &Key, now: u64) -> Result<Option<Item>> {
        let Some(raw) = read_row(view, &self.base.key.row_key(key)?)? else { return Ok(None) };
        self.base.decode_row(&raw, now)
    }

    /// Returns the deletions of all items of a range.
    fn deletions(&self, view: &impl View, mutation: &Mutation, span: &Span) -> Result<Vec<Write>> {
        let range: KeyRange = mutation.table.cells()?.keys.span(&mutation.partition, span)?;
        let mut rows = RowScan::new(view, range, Direction::Ascending, DELETED_ITEMS_MAX);
        let mut writes = Vec::new();
        while let Some(raw) = rows.next_row()? {
            if writes.len() == DELETED_ITEMS_MAX {
                return Err(Error::new(
                    ErrorKind::LimitExceeded,
                    format!(
                        "the deletion concerns more than {DELETED_ITEMS_MAX} items, which one \
                         commit does not take; delete them in parts"
                    ),
                ));
            }
            let key = self.base.key_of(&self.base.key_item(&raw.key)?)?;
            writes.push(Write::delete(&self.base, key));
        }
        Ok(writes)
    }
}

impl Tables {
    /// Decides on items of one partition, seen as rows, and queues what is written.
    pub(crate) fn attempt_conditional_items<T: Send + 'static>(
        &self,
        (items, room): (&CellsOfItems, Option<&Room>),
        read: &ConditionalRead,
        decide: &mut impl FnMut(&PartitionView) -> Result<Decision<T>>,
        told: &Told,
        done: &mut Done<T>,
    ) -> Result<bool> {
        let current = self.catalogue.current(&items.base)?;
        let base = current.unwrap_or_else(|| Arc::clone(&items.base));
        let keys = read.rows.iter().map(|row| items.key(&read.partition, row));
        let keys: Vec<Key> = keys.collect::<Result<_>>()?;
        let heads = keys.iter().map(|key| Ok(chunk_key(&base.key.row_key(key)?, 0)));
        let heads: Vec<Vec<u8>> = heads.collect::<Result<_>>()?;
        let gates = lock_gates(std::slice::from_ref(&base));
        if base.is_retired() {
            return Ok(false);
        }
        let latched = self.latches.lock(heads.iter().map(Vec::as_slice));
        let writer = self.gated_writer()?;
        let mut found: Vec<Option<Item>> = Vec::with_capacity(keys.len());
        let mut held_bytes = 0;
        for key in &keys {
            let item = items.find(&writer.buffer, key, writer.now)?;
            held_bytes += item.as_ref().map_or(0, shelfmark_model::item_size_bytes);
            if let Some(room) = room {
                room.set(held_bytes.saturating_mul(HELD_TIMES)).map_err(Error::no_room)?;
            }
            found.push(item);
        }
        let rows = found.iter().map(|item| item.as_ref().map(|item| items.row_of(item)));
        let view =
            PartitionView { rows: rows.collect(), now: writer.now, statics: Default::default() };
        let mut steps = vec![seen(&base, &found)];
        let answer = match decide(&view) {
            Ok(decision) => {
                for mutation in &decision.mutations {
                    check_same(read, mutation)?;
                    match items.apply(&writer, &base, mutation)? {
                        Some(own) => steps.extend(own),
                        None => {
                            drop((latched, gates));
                            self.catalogue.set_chunked(&base)?;
                            return Ok(false);
                        }
                    }
                }
                Ok(decision.answer)
            }
            Err(error) => Err(error),
        };
        told.note(steps);
        let commit = match &answer {
            Ok(_) => writer.into_commit(),
            // What was seen may be queued and not durable: the answer waits for that.
            Err(_) => Commit::default(),
        };
        let queued = self.queue(commit, answer, done)?;
        drop((latched, gates));
        Ok(queued)
    }
}

/// Refuses mutations of another table or partition than the one that was read.
fn check_same(read: &ConditionalRead, mutation: &Mutation) -> Result<()> {
    if mutation.table.id == read.table.id && mutation.partition == read.partition {
        return Ok(());
    }
    Err(Error::invalid("a conditional write concerns the partition that was read alone"))
}

/// Returns what was read for a condition.
fn seen(base: &Table, found: &[Option<Item>]) -> AccessStep {
    let mut step = AccessStep::new(&base.schema.name.name, None);
    for item in found.iter().flatten() {
        step.rows_read += 1;
        step.bytes_read += shelfmark_model::item_size_bytes(item) as u64;
    }
    step.rows_returned = step.rows_read;
    step
}
