//! Writing cells: planning mutations under latches and queueing them as one commit.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, mpsc};

use shelfmark_store::Commit;

use super::LiveRow;
use super::apply::apply;
use super::find::Target;
use super::keys::Place;
use super::lease::{Renewal, StoredLease};
use super::page::live_row;
use super::request::{CellChange, ConditionalRead, Decision, Mutation, PartitionView};
use super::told::Told;
use crate::catalogue::Table;
use crate::commit::{ATTEMPTS_MAX, lock_gates};
use crate::engine::{Engine, Inner};
use crate::error::{Error, ErrorKind, Result};
use crate::rows::chunk_key;

/// Told once how a write of cells ended.
pub type CellCompletion = Box<dyn FnOnce(Result<()>) + Send>;

/// Mutations that happen together or not at all.
#[derive(Debug, Clone, Default)]
pub struct CellWrites {
    /// What is written; later mutations see what earlier ones did.
    pub mutations: Vec<Mutation>,
    /// The second since the Unix epoch that expiries count from; the clock's by default.
    pub now: Option<u64>,
}

impl From<Vec<Mutation>> for CellWrites {
    fn from(mutations: Vec<Mutation>) -> Self {
        Self { mutations, now: None }
    }
}

impl Engine {
    /// Does mutations of any tables and partitions, all or none, and waits until they are durable.
    ///
    /// Cost: one point read per row written, and their share of one sync.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: a key or value does not fit, or the table is no table of cells.
    /// * [`ErrorKind::LimitExceeded`]: a row or key is too large. Nothing was written.
    /// * [`ErrorKind::Undetermined`]: read to learn whether it was written; writing the same again
    ///   with the same timestamps does no harm, except to counters and lists.
    /// * [`ErrorKind::Busy`]: retry after [`Error::retry_after`].
    pub fn write_cells(&self, writes: impl Into<CellWrites>) -> Result<()> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.submit_cells(
            writes.into(),
            Box::new(move |outcome| {
                // The receiver waits until it is told.
                let _ = sender.send(outcome);
            }),
        );
        receiver.recv().unwrap_or_else(|_| Err(lost()))
    }

    /// As [`Engine::write_cells`], without waiting: `done` is called once, from any thread, possibly
    /// before this returns. It must not block.
    pub fn submit_cells(&self, writes: CellWrites, done: CellCompletion) {
        let told = Told::new(self.observer.as_ref());
        self.inner.submit_planned(told.before(done), |inner, done| {
            let mutations = inner.current(&writes.mutations)?;
            // What was read is told, so it is read.
            if !told.is_wanted()
                && let [(table, mutation)] = mutations.as_slice()
                && let Some(queued) = inner.attempt_blind_cells(table, mutation, done)?
            {
                return Ok(queued);
            }
            inner.attempt_cells(&mutations, writes.now, &told, done)
        });
    }

    /// Decides on rows of one partition and writes in the same serializable step, and waits until
    /// that is durable. See [`Engine::submit_cells_if`].
    ///
    /// # Errors
    ///
    /// * As [`Engine::write_cells`], and whatever `decide` returned.
    pub fn write_cells_if<T: Send + 'static>(
        &self,
        read: ConditionalRead,
        decide: impl FnMut(&PartitionView) -> Result<Decision<T>>,
    ) -> Result<T> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.submit_cells_if(
            read,
            decide,
            Box::new(move |outcome| {
                let _ = sender.send(outcome);
            }),
        );
        receiver.recv().unwrap_or_else(|_| Err(lost()))
    }

    /// Reads rows and statics of one partition, has `decide` say what to write there, and queues it;
    /// nobody writes the partition in between. `done` is told the answer once what it rests on is
    /// durable.
    ///
    /// `decide` is called before this returns, again after a conflict. It must not call the engine.
    /// Its mutations may concern any rows of the partition that was read, and nothing else.
    pub fn submit_cells_if<T: Send + 'static>(
        &self,
        read: ConditionalRead,
        mut decide: impl FnMut(&PartitionView) -> Result<Decision<T>>,
        done: Box<dyn FnOnce(Result<T>) + Send>,
    ) {
        let told = Told::new(self.observer.as_ref());
        self.inner.submit_planned(told.before(done), |inner, done| {
            inner.attempt_conditional(&read, &mut decide, &told, done)
        });
    }

    /// Returns a timestamp for a write of now: microseconds since the Unix epoch, never the same
    /// twice in one process.
    #[must_use]
    pub fn cell_timestamp(&self) -> super::Timestamp {
        let now = self.inner.environment.clock.now_micros();
        self.inner.timestamps.next(now).cast_signed()
    }
}

fn lost() -> Error {
    Error::new(ErrorKind::Undetermined, "the commit ended without an answer")
}

pub(super) type Done<T> = Option<Box<dyn FnOnce(Result<T>) + Send>>;

impl Inner {
    /// Plans and queues until a plan holds.
    fn submit_planned<T: Send + 'static>(
        &self,
        done: Box<dyn FnOnce(Result<T>) + Send>,
        mut attempt: impl FnMut(&Self, &mut Done<T>) -> Result<bool>,
    ) {
        let mut done = Some(done);
        let mut outcome = Ok(false);
        for _ in 0..ATTEMPTS_MAX {
            outcome = match attempt(self, &mut done) {
                // The moment that was read is gone; there is a new one.
                Err(error) if error.kind() == ErrorKind::TooOld => Ok(false),
                ended => ended,
            };
            if !matches!(outcome, Ok(false)) {
                break;
            }
        }
        let error = match outcome {
            Ok(true) => return,
            Ok(false) => {
                Error::new(ErrorKind::Conflict, "other writers were faster every time; retry")
            }
            Err(error) => error,
        };
        if let Some(done) = done.take() {
            done(Err(error));
        }
    }

    /// Exchanges retired tables for their current form.
    fn current<'m>(&self, mutations: &'m [Mutation]) -> Result<Vec<(Arc<Table>, &'m Mutation)>> {
        mutations
            .iter()
            .map(|mutation| {
                let current = self.catalogue.current(&mutation.table)?;
                let table = current.unwrap_or_else(|| Arc::clone(&mutation.table));
                if table.cells()?.view_of.is_some() {
                    return Err(Error::invalid("a view is written by its base table alone"));
                }
                Ok((table, mutation))
            })
            .collect()
    }

    /// Plans and queues mutations once. `false` asks for another attempt.
    fn attempt_cells(
        &self,
        mutations: &[(Arc<Table>, &Mutation)],
        now: Option<u64>,
        told: &Told,
        done: &mut Done<()>,
    ) -> Result<bool> {
        let plan = Plan::of(self, mutations.iter().map(|(table, mutation)| (table, *mutation)))?;
        let gates = lock_gates(&plan.tables);
        if plan.tables.iter().any(|table| table.is_retired()) {
            return Ok(false);
        }
        let partitions = self.partitions.lock(&plan.partitions);
        let latched = self.latches.lock(plan.rows.iter().map(Vec::as_slice));
        let writer = self.writer(self.store.latest()?);
        let now = now.unwrap_or(writer.now);
        let leases = plan.apply(self, &writer, now, mutations, told)?;
        let is_deletion = mutations.iter().all(|(_, mutation)| mutation.is_deletion());
        let commit = Commit { is_deletion, ..writer.buffer.into_inner().into_commit() };
        let queued = self.queue(commit, Ok(()), done)?;
        if queued {
            leases.into_iter().for_each(Renewal::queued);
        }
        drop((latched, partitions, gates));
        Ok(queued)
    }

    fn attempt_conditional<T: Send + 'static>(
        &self,
        read: &ConditionalRead,
        decide: &mut impl FnMut(&PartitionView) -> Result<Decision<T>>,
        told: &Told,
        done: &mut Done<T>,
    ) -> Result<bool> {
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
        let view = partition_view(&target, read)?;
        let mut is_deletion = true;
        let answer = match decide(&view) {
            Ok(decision) => {
                is_deletion = decision.mutations.iter().all(Mutation::is_deletion);
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
        let lease = renew(&table, &writer, written).filter(|_| answer.is_ok());
        let commit = match &answer {
            Ok(_) => Commit { is_deletion, ..writer.buffer.into_inner().into_commit() },
            // What was seen may be queued and not durable: the answer waits for that.
            Err(_) => Commit::default(),
        };
        let queued = self.queue(commit, answer, done)?;
        if let Some(lease) = lease.filter(|_| queued) {
            lease.queued();
        }
        drop(gates);
        Ok(queued)
    }

    /// Returns the views that a table's rows are kept in.
    pub(super) fn views_of(&self, table: &Table) -> Result<Vec<Arc<Table>>> {
        if !table.cells()?.has_views {
            return Ok(Vec::new());
        }
        let names = table.schema.cells.iter().flat_map(|cells| &cells.views);
        names.map(|name| self.catalogue.table(name)).collect()
    }
}

fn partition_view(target: &Target<'_>, read: &ConditionalRead) -> Result<PartitionView> {
    let one = |clustering| -> Result<Option<LiveRow>> {
        let place = Place { partition: read.partition.clone(), clustering };
        let found = target.find(place)?;
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

/// What a commit of mutations locks and writes.
struct Plan {
    tables: Vec<Arc<Table>>,
    views: BTreeMap<u64, Vec<Arc<Table>>>,
    /// What the keys of each partition begin with, and whether all of it is written.
    partitions: Vec<(Vec<u8>, bool)>,
    /// Heads of rows.
    rows: Vec<Vec<u8>>,
}

impl Plan {
    fn of<'m>(
        inner: &Inner,
        mutations: impl Iterator<Item = (&'m Arc<Table>, &'m Mutation)>,
    ) -> Result<Self> {
        let mut plan = Self {
            tables: Vec::new(),
            views: BTreeMap::new(),
            partitions: Vec::new(),
            rows: Vec::new(),
        };
        for (table, mutation) in mutations {
            let keys = &table.cells()?.keys;
            if let Entry::Vacant(views) = plan.views.entry(table.id) {
                views.insert(inner.views_of(table)?);
                plan.tables.push(Arc::clone(table));
            }
            let partition = keys.partition(&mutation.partition)?;
            let (row, is_whole) = match &mutation.change {
                CellChange::Row { clustering, .. } | CellChange::DeleteRow(clustering) => {
                    (Some(keys.row_of(partition.clone(), clustering)?), false)
                }
                CellChange::Statics(_) => (Some(keys.statics_of(partition.clone())), false),
                CellChange::DeleteSpan(_) | CellChange::DeletePartition => (None, true),
            };
            plan.partitions.push((partition, is_whole));
            plan.rows.extend(row.map(|row| chunk_key(&row, 0)));
        }
        Ok(plan)
    }

    /// Applies the mutations to the writer's buffer. Returns the leases that are queued with them, in
    /// the order of their tables' ids.
    fn apply(
        &self,
        inner: &Inner,
        writer: &crate::commit::Writer,
        now: u64,
        mutations: &[(Arc<Table>, &Mutation)],
        told: &Told,
    ) -> Result<Vec<Renewal<'_>>> {
        let mut targets = BTreeMap::new();
        for table in &self.tables {
            let views = self.views.get(&table.id).map(Vec::as_slice).unwrap_or_default();
            let target = Target::new(inner, writer, table, views, now)?;
            targets.insert(table.id, target.reporting(told.is_wanted()));
        }
        for (table, mutation) in mutations {
            if let Some(target) = targets.get(&table.id) {
                apply(target, mutation)?;
            }
        }
        // In the order of their ids, in which everybody takes the locks of leases.
        let written: BTreeMap<u64, StoredLease> =
            targets.iter().map(|(id, target)| (*id, target.written())).collect();
        told.note(targets.into_values().filter_map(Target::into_step));
        let leases = written.into_iter().filter_map(|(id, written)| {
            let table = self.tables.iter().find(|table| table.id == id)?;
            renew(table, writer, written)
        });
        Ok(leases.collect())
    }
}

/// Puts the lease that the writes to a table take, if that is a newer one.
fn renew<'t>(
    table: &'t Table,
    writer: &crate::commit::Writer,
    written: StoredLease,
) -> Option<Renewal<'t>> {
    table.shared.cells.lease.renew(table.id, written, |key, value| {
        writer.buffer.borrow_mut().put(key, value);
    })
}

impl Table {
    /// Returns how the table's cells lie.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: it is a table of items.
    pub(crate) fn cells(&self) -> Result<&super::CellsLayout> {
        self.cells.as_ref().ok_or_else(|| {
            let name = &self.schema.name;
            Error::new(ErrorKind::Invalid, format!("table {name} holds items, not cells"))
        })
    }
}
