//! Plans one commit: what it locks, what it writes, what it answers.
//!
//! Operations on items and on rows of cells are planned side by side, in their order, against one
//! view; each sees what those before it did.
//!
//! Invariant: gates of tables, locks of partitions and latches of rows are taken in this order and
//! held from reading until the commit is queued, never across a sync.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, PoisonError};

use bytes::Bytes;
use shelfmark_records::cells::CellsLayout;
use shelfmark_records::cells::tombstones::{HighWater, bound_key};
use shelfmark_records::keys::chunk_key;
use shelfmark_store::Commit;
use shelfmark_store::budget::Room;

use super::attempt::{Done, lock_gates};
use super::token::{Once, Token, take_token};
use super::told::Told;
use super::writer::Writer;
use crate::catalogue::Table;
use crate::cells::{self, CellChange, Mutation, Renewal, Target};
use crate::error::{Error, Failure, Result};
use crate::items::{self, Applied, Write, Written};
use crate::report::AccessStep;
use crate::shared::{self, ItemsOfCells};
use crate::tables::Tables;

/// Memory that an item takes which comes back, as a multiple of its size: itself, and as text, which grows
/// by doubling.
const RETURNED_TIMES: usize = 4;

/// One operation of a commit.
#[derive(Clone, Copy)]
pub(crate) enum Operation<'a> {
    /// On an item.
    Item(&'a Write),
    /// On cells of one partition.
    Cells(&'a Mutation),
}

/// The settings with which a commit is planned, beside its operations.
pub(crate) struct Call<'a> {
    pub(crate) token: Option<&'a Token>,
    /// The second since the Unix epoch that expiries of cells count from; the clock's by default.
    pub(crate) now: Option<u64>,
    pub(crate) told: &'a Told,
    /// The room for items that come back and for what is written, if somebody counts.
    pub(crate) room: Option<&'a Room>,
}

impl Call<'_> {
    /// Accounts for so many bytes of items that come back, and for what is written so far.
    ///
    /// # Errors
    ///
    /// * As [`Error::no_room`].
    fn cover(&self, returned_bytes: usize, writer: &Writer) -> Result<()> {
        let Some(room) = self.room else { return Ok(()) };
        let written = writer.buffer.borrow().written_bytes();
        room.set(returned_bytes.saturating_mul(RETURNED_TIMES) + written).map_err(Error::no_room)
    }
}

/// The outcome of one attempt at a call.
enum Attempt<'l> {
    /// Validated and ready to be queued, with its answers and the high-water marks that go with it.
    Ready(Commit, Vec<Written>, Vec<Renewal<'l>>),
    /// Refused, or done before; the answer stands once everything queued is durable.
    Answer(Result<Once>),
    /// This table's flag for chunked rows must be persisted first.
    NeedsChunks(Arc<Table>),
    /// This table's flag for deleted ranges must be persisted first.
    NeedsRanges(Arc<Table>),
}

/// The operations of a commit, and the tables, partitions and rows that it locks.
#[derive(Default)]
struct Plan<'a> {
    /// With the current form of their tables.
    operations: Vec<(Arc<Table>, Operation<'a>)>,
    /// Each once.
    tables: Vec<Arc<Table>>,
    /// Views of the tables of cells.
    views: BTreeMap<u64, Vec<Arc<Table>>>,
    /// The prefix of the keys of each partition of cells, and whether all of it is written.
    partitions: Vec<(Vec<u8>, bool)>,
    /// Heads of rows.
    rows: Vec<Vec<u8>>,
}

impl Tables {
    /// Plans and queues a call once. `false` asks for another attempt.
    pub(crate) fn attempt<'a, T: Send + 'static>(
        &self,
        operations: impl Iterator<Item = Operation<'a>>,
        call: &Call<'_>,
        answer: impl FnOnce(Once) -> Result<T>,
        done: &mut Done<T>,
    ) -> Result<bool> {
        let plan = Plan::of(self, operations)?;
        let gates = lock_gates(&plan.tables);
        if plan.tables.iter().any(|table| table.is_retired()) {
            return Ok(false);
        }
        let partitions = self.partitions.lock(&plan.partitions);
        let latched = self.latches.lock(plan.rows.iter().map(Vec::as_slice));
        let (commit, answer, high_waters) = match plan.apply(self, call)? {
            Attempt::Ready(commit, written, high_waters) => {
                (commit, answer(Once::Written(written)), high_waters)
            }
            Attempt::Answer(outcome) => (Commit::default(), outcome.and_then(answer), Vec::new()),
            Attempt::NeedsChunks(table) => {
                drop((latched, partitions, gates));
                self.catalogue.set_chunked(&table)?;
                return Ok(false);
            }
            Attempt::NeedsRanges(table) => {
                drop((latched, partitions, gates));
                self.catalogue.set_ranged(&table)?;
                return Ok(false);
            }
        };
        let queued = self.queue(commit, answer, done)?;
        if queued {
            high_waters.into_iter().for_each(Renewal::queued);
        }
        drop((latched, partitions, gates));
        Ok(queued)
    }

    /// Queues a write of an item that need not look at it; `None` if it must.
    pub(crate) fn attempt_blind<T: Send + 'static>(
        &self,
        write: &Write,
        answer: impl FnOnce(Written) -> T,
        done: &mut Done<T>,
    ) -> Result<Option<bool>> {
        write.table.check_written()?;
        if write.table.mapped.is_some() {
            return Ok(None);
        }
        let current = self.catalogue.current(&write.table)?;
        let table = current.as_ref().unwrap_or(&write.table);
        table.check_items()?;
        let _gate = table.shared.gate.read().unwrap_or_else(PoisonError::into_inner);
        if table.is_retired() {
            return Ok(Some(false));
        }
        let Some((put, written)) = items::blind(table, write)? else { return Ok(None) };
        self.queue(Commit::of(vec![put]), Ok(answer(written)), done).map(Some)
    }
}

impl<'a> Plan<'a> {
    fn of(tables: &Tables, operations: impl Iterator<Item = Operation<'a>>) -> Result<Self> {
        let mut plan = Self::default();
        for operation in operations {
            let own = match operation {
                Operation::Item(write) => {
                    write.table.check_written()?;
                    write.table.mapped.as_ref().map_or(&write.table, |mapping| &mapping.base)
                }
                Operation::Cells(mutation) => {
                    mutation.table.items_base().unwrap_or(&mutation.table)
                }
            };
            let table = tables.catalogue.current(own)?.unwrap_or_else(|| Arc::clone(own));
            match operation {
                Operation::Item(write) => match &write.table.mapped {
                    Some(mapping) => plan.add_mapped(tables, &table, mapping, write)?,
                    None => plan.add_item(&table, write)?,
                },
                Operation::Cells(mutation) => match &mutation.table.items {
                    Some(items) => plan.rows.extend(items.latched(mutation)?),
                    None => plan.add_cells(tables, &table, mutation)?,
                },
            }
            if plan.tables.iter().all(|known| known.id != table.id) {
                plan.tables.push(Arc::clone(&table));
            }
            plan.operations.push((table, operation));
        }
        Ok(plan)
    }

    fn add_item(&mut self, table: &Table, write: &Write) -> Result<()> {
        table.check_items()?;
        let row_key = table.key.row_key(&write.change.key_of(table)?)?;
        self.rows.push(chunk_key(&row_key, 0));
        Ok(())
    }

    fn add_mapped(
        &mut self,
        tables: &Tables,
        table: &Table,
        mapping: &ItemsOfCells,
        write: &Write,
    ) -> Result<()> {
        let layout = self.layout_of(tables, table)?;
        let row_key = mapping.row_key(&write.change.key_of(&write.table)?)?;
        let length = layout.keys.partition_length(&row_key)?;
        self.partitions.push((row_key.get(..length).unwrap_or_default().to_vec(), false));
        self.rows.push(chunk_key(&row_key, 0));
        Ok(())
    }

    /// Returns how the cells of a table lie that is written, and notes its views.
    fn layout_of<'t>(&mut self, tables: &Tables, table: &'t Table) -> Result<&'t CellsLayout> {
        let layout = table.cells()?;
        layout.check_no_view()?;
        if let Entry::Vacant(views) = self.views.entry(table.id) {
            views.insert(tables.views_of(table)?);
        }
        Ok(layout)
    }

    fn add_cells(&mut self, tables: &Tables, table: &Table, mutation: &Mutation) -> Result<()> {
        let keys = &self.layout_of(tables, table)?.keys;
        let partition = keys.partition(&mutation.partition)?;
        let (row, is_whole) = match &mutation.change {
            CellChange::Row { clustering, .. } | CellChange::DeleteRow(clustering) => {
                (Some(keys.row_of(partition.clone(), clustering)?), false)
            }
            CellChange::Statics(_) => (Some(keys.statics_of(partition.clone())), false),
            CellChange::DeleteSpan(_) | CellChange::DeletePartition => (None, true),
        };
        self.partitions.push((partition, is_whole));
        self.rows.extend(row.map(|row| chunk_key(&row, 0)));
        Ok(())
    }

    /// Returns a table of which a range is deleted beside other servers for the first time.
    fn needs_ranges(&self, tables: &Tables) -> Option<Arc<Table>> {
        let deletes_range = |(table, operation): &&(Arc<Table>, Operation<'_>)| {
            matches!(operation, Operation::Cells(mutation) if mutation.change.is_of_range())
                && !table.has_ranges()
        };
        let found = self.operations.iter().find(deletes_range).filter(|_| !tables.is_alone);
        found.map(|(table, _)| Arc::clone(table))
    }

    /// Returns true if the call does nothing but add to counters.
    fn only_adds(&self) -> bool {
        self.operations.iter().all(|(_, operation)| {
            matches!(operation, Operation::Cells(mutation) if mutation.only_adds())
        })
    }

    /// Has the store read together what the operations will look at one by one.
    fn preload(&self, writer: &Writer) -> Result<()> {
        let of_cells = self.tables.iter().filter(|table| table.cells.is_some());
        let bounds = of_cells.map(|table| bound_key(table.id));
        let heads = self.rows.iter().cloned().map(Bytes::from);
        let keys: Vec<Bytes> = heads.chain(bounds).collect();
        Ok(writer.buffer.borrow().base().preload(&keys)?)
    }

    /// Applies the operations to a new buffer.
    fn apply<'l>(&'l self, tables: &Tables, call: &Call<'_>) -> Result<Attempt<'l>> {
        if let Some(table) = self.needs_ranges(tables) {
            return Ok(Attempt::NeedsRanges(table));
        }
        let writer = tables.gated_writer()?;
        if !tables.is_alone {
            self.preload(&writer)?;
        }
        if let Some(token) = call.token
            && let Some(answer) = take_token(&writer, token)?
        {
            return Ok(Attempt::Answer(Ok(answer)));
        }
        let now = call.now.unwrap_or(writer.now);
        let only_adds = self.only_adds();
        let mut targets = BTreeMap::new();
        for table in self.tables.iter().filter(|table| table.cells.is_some()) {
            let views = self.views.get(&table.id).map(Vec::as_slice).unwrap_or_default();
            let target = Target::new(tables, &writer, table, views, now)?.only_adding(only_adds);
            targets.insert(table.id, target.reporting(call.told.is_wanted()));
        }
        let mut written = Vec::new();
        let mut failures = Vec::new();
        let mut returned_bytes = 0;
        // What writes of items as cells read.
        let mut reads = Vec::new();
        for (position, (table, operation)) in self.operations.iter().enumerate() {
            match operation {
                Operation::Item(write) => {
                    let applied = apply_item(&writer, &targets, table, write)?;
                    returned_bytes += applied.returned_bytes();
                    call.cover(returned_bytes, &writer)?;
                    match applied {
                        Applied::Written(one) => written.push(one),
                        Applied::Refused(refusal) => failures.push(Failure { position, refusal }),
                        Applied::NeedsChunks => return Ok(Attempt::NeedsChunks(Arc::clone(table))),
                    }
                }
                Operation::Cells(mutation) => match (&mutation.table.items, targets.get(&table.id))
                {
                    (Some(items), _) => match items.apply(&writer, table, mutation)? {
                        Some(steps) => reads.extend(steps),
                        None => return Ok(Attempt::NeedsChunks(Arc::clone(table))),
                    },
                    (None, Some(target)) => cells::apply(target, mutation)?,
                    (None, None) => {}
                },
            }
        }
        if !failures.is_empty() {
            return Ok(Attempt::Answer(Err(Error::refused(failures))));
        }
        reads.extend(written.iter().flat_map(|own| own.report.steps.iter().cloned()));
        let high_waters = self.finish(&writer, targets, reads, call.told);
        Ok(Attempt::Ready(writer.into_commit(), written, high_waters))
    }

    /// Tells what was read, and puts the high-water marks that the writes of cells take.
    fn finish(
        &self,
        writer: &Writer,
        targets: BTreeMap<u64, Target<'_>>,
        of_items: Vec<AccessStep>,
        told: &Told,
    ) -> Vec<Renewal<'_>> {
        // In the order of their ids, in which everybody takes the locks of high-water marks.
        let stamps: BTreeMap<u64, HighWater> =
            targets.iter().map(|(id, target)| (*id, target.written())).collect();
        if told.is_wanted() {
            let of_cells = targets.into_values().filter_map(Target::into_step);
            told.note(of_items.into_iter().chain(of_cells).collect::<Vec<AccessStep>>());
        }
        let high_waters = stamps.into_iter().filter_map(|(id, stamp)| {
            let table = self.tables.iter().find(|table| table.id == id)?;
            cells::renew_high_water(table, writer, stamp)
        });
        high_waters.collect()
    }
}

/// Applies a write of an item, to a table of items or to one of cells that is used as such.
fn apply_item(
    writer: &Writer,
    targets: &BTreeMap<u64, Target<'_>>,
    table: &Arc<Table>,
    write: &Write,
) -> Result<Applied> {
    match (&write.table.mapped, targets.get(&table.id)) {
        (Some(mapping), Some(target)) => shared::apply(target, &write.table, mapping, table, write),
        _ => items::apply(writer, table, write),
    }
}
