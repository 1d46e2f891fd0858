//! Writes cells, also after deciding on rows of their partition.

use std::sync::Arc;

use shelfmark_records::cells::CellsLayout;
use shelfmark_records::cells::Timestamp;
use shelfmark_records::cells::tombstones::HighWater;
use shelfmark_records::cells::{LiveRow, Place};
use shelfmark_store::Commit;
use shelfmark_store::budget::Room;

use super::apply::apply;
use super::find::Target;
use super::high_water::Renewal;
use super::page::live_row;
use super::request::{ConditionalRead, Decision, Mutation, PartitionView};
use crate::catalogue::Table;
use crate::commit::{Call, Done, Operation, Told, Writer, lock_gates};
use crate::error::{Error, ErrorKind, Result};
use crate::report::Observer;
use crate::tables::Tables;

/// A callback that is told once how a write of cells ended.
pub type CellCompletion = Box<dyn FnOnce(Result<()>) + Send>;

/// Mutations that happen together or not at all.
#[derive(Debug, Clone, Default)]
pub struct CellWrites {
    /// The mutations; later ones see what earlier ones did.
    pub mutations: Vec<Mutation>,
    /// The second since the Unix epoch that expiries count from; the clock's by default.
    pub now: Option<u64>,
}

impl From<Vec<Mutation>> for CellWrites {
    fn from(mutations: Vec<Mutation>) -> Self {
        Self { mutations, now: None }
    }
}

impl Tables {
    /// Does mutations of any tables and partitions, all or none. `done` is called once, from any
    /// thread, possibly before this returns; it must not block.
    pub fn submit_cells(
        &self,
        observer: Option<&Observer>,
        writes: &CellWrites,
        done: CellCompletion,
    ) {
        let told = Told::new(observer);
        self.submit_planned(told.before(done), |tables, done| {
            // What was read is told, so it is read.
            if !told.is_wanted()
                && let Some(queued) = tables.attempt_blind_cells(writes, done)?
            {
                return Ok(queued);
            }
            let call = Call { token: None, now: writes.now, told: &told, room: None };
            let operations = writes.mutations.iter().map(Operation::Cells);
            tables.attempt(operations, &call, |_| Ok(()), done)
        });
    }

    /// Reads rows and statics of one partition, has `decide` say what to write there, and queues it;
    /// nobody writes the partition in between. `done` is told the answer once what it rests on is
    /// durable.
    ///
    /// `decide` is called before this returns, again after a conflict. The rows draw from `room`.
    pub fn submit_cells_if<T: Send + 'static>(
        &self,
        observer: Option<&Observer>,
        room: Option<&Room>,
        read: &ConditionalRead,
        mut decide: impl FnMut(&PartitionView) -> Result<Decision<T>>,
        done: Box<dyn FnOnce(Result<T>) + Send>,
    ) {
        let told = Told::new(observer);
        self.submit_planned(told.before(done), |tables, done| {
            tables.attempt_conditional((read, room), &mut decide, &told, done)
        });
    }

    /// Returns a timestamp for a write of now: microseconds since the Unix epoch, never the same
    /// twice in one process.
    #[must_use]
    pub fn cell_timestamp(&self) -> Timestamp {
        self.timestamps.next(self.environment.clock.now_micros()).cast_signed()
    }

    fn attempt_conditional<T: Send + 'static>(
        &self,
        (read, room): (&ConditionalRead, Option<&Room>),
        decide: &mut impl FnMut(&PartitionView) -> Result<Decision<T>>,
        told: &Told,
        done: &mut Done<T>,
    ) -> Result<bool> {
        if let Some(items) = &read.table.items {
            return self.attempt_conditional_items((items, room), read, decide, told, done);
        }
        let current = self.catalogue.current(&read.table)?;
        let table = current.unwrap_or_else(|| Arc::clone(&read.table));
        let layout = table.cells()?;
        let partition = layout.keys.partition(&read.partition)?;
        let views = self.views_of(&table)?;
        let gates = lock_gates(std::slice::from_ref(&table));
        if table.is_retired() {
            return Ok(false);
        }
        let _partition = self.partitions.lock(&[(partition, true)]);
        let writer = self.writer(self.store.latest()?);
        let now = read.now.unwrap_or(writer.now);
        let target = Target::new(self, &writer, &table, &views, now)?.reporting(told.is_wanted());
        let view = partition_view(&target, read, room)?;
        let answer = match decide(&view) {
            Ok(decision) => {
                for mutation in &decision.mutations {
                    if mutation.table.origin != table.origin || mutation.partition != read.partition
                    {
                        return Err(Error::invalid(
                            "a conditional write concerns the partition that was read alone",
                        ));
                    }
                    apply(&target, mutation)?;
                }
                Ok(decision.answer)
            }
            Err(error) => Err(error),
        };
        let written = target.written();
        told.note(target.into_step());
        let high_water = renew_high_water(&table, &writer, written).filter(|_| answer.is_ok());
        let commit = match &answer {
            Ok(_) => writer.into_commit(),
            // What was seen may be queued and not durable: the answer waits for that.
            Err(_) => Commit::default(),
        };
        let queued = self.queue(commit, answer, done)?;
        if let Some(high_water) = high_water.filter(|_| queued) {
            high_water.queued();
        }
        drop(gates);
        Ok(queued)
    }

    /// Returns the views that a table's rows are kept in.
    pub(crate) fn views_of(&self, table: &Table) -> Result<Vec<Arc<Table>>> {
        if !table.cells()?.has_views {
            return Ok(Vec::new());
        }
        let names = table.schema.cells.iter().flat_map(|cells| &cells.views);
        names.map(|name| self.catalogue.table(name)).collect()
    }
}

fn partition_view(
    target: &Target<'_>,
    read: &ConditionalRead,
    room: Option<&Room>,
) -> Result<PartitionView> {
    let mut held_bytes = 0;
    let mut one = |clustering| -> Result<Option<LiveRow>> {
        let place = Place { partition: read.partition.clone(), clustering };
        let found = target.find(place)?;
        held_bytes += found.held_bytes();
        if let Some(room) = room {
            room.set(held_bytes).map_err(Error::no_room)?;
        }
        let row = found.row().and_then(|row| live_row(row, target.layout, target.now));
        target.keep(found);
        Ok(row)
    };
    let statics = if read.statics { one(None)? } else { None };
    Ok(PartitionView {
        statics: statics.unwrap_or_default(),
        rows: read.rows.iter().map(|row| one(Some(row.clone()))).collect::<Result<_>>()?,
        now: target.now,
    })
}

/// Puts the high-water mark that the writes to a table take, if that is a newer one.
pub(crate) fn renew_high_water<'t>(
    table: &'t Table,
    writer: &Writer,
    written: HighWater,
) -> Option<Renewal<'t>> {
    table.shared.cells.high_water.renew(table.id, written, |key, value| {
        writer.buffer.borrow_mut().put(key, value);
    })
}

impl Table {
    /// Returns how the table's cells lie.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: it is a table of items.
    pub fn cells(&self) -> Result<&CellsLayout> {
        self.cells.as_ref().ok_or_else(|| {
            let name = &self.schema.name;
            Error::new(ErrorKind::Invalid, format!("table {name} holds items, not cells"))
        })
    }
}
