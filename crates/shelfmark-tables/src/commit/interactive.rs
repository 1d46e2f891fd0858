//! Interactive transactions: a body that reads and writes, run again when others were faster.

use std::cell::RefCell;
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_model::Value;
use shelfmark_store::latch::Reserved;
use shelfmark_store::random::SplitMix;
use shelfmark_store::{Commit, ErrorKind as StoreErrorKind};

use super::attempt::lock_gates;
use super::guards::Guards;
use crate::catalogue::Table;
use crate::cells::{self, CellsWritten, Renewal};
use crate::commit::Writer;
use crate::error::{Error, ErrorKind, Failure, Result};
use crate::items::{Applied, Write, Written, apply};
use crate::items::{Get, Got, Query, ResultPage, Scan};
use crate::report::{AccessReport, Observer};
use crate::rows::Validated;
use crate::tables::Tables;

/// The number of times a body is run again before the caller is told of the conflict.
const ATTEMPTS_OF_TRANSACTIONS_MAX: u32 = 256;

/// After this many conflicts the keys of the last attempt are reserved during the next.
const OPTIMISTIC_ATTEMPTS: u32 = 2;

/// A running transaction. It reads its own writes; nothing is visible to others before the body
/// has returned `Ok`.
pub struct Transaction<'e> {
    pub(crate) tables: &'e Tables,
    pub(crate) observer: Option<&'e Observer>,
    pub(crate) writer: Writer,
    random: RefCell<SplitMix>,
    /// The writes to rows of cells.
    pub(crate) cells: RefCell<Vec<CellsWritten>>,
    /// The tables written to, and whether each was known to hold rows of several chunks.
    written: RefCell<Vec<(Arc<Table>, bool)>>,
    needs_chunks: RefCell<Option<Arc<Table>>>,
}

impl Tables {
    /// Runs `body` in a transaction and commits what it wrote, all or nothing. It may run several
    /// times: when something that it read was written meanwhile, it starts over with a new view and
    /// the same random numbers.
    ///
    /// # Errors
    ///
    /// * Whatever `body` returned.
    /// * [`ErrorKind::Conflict`]: others were faster every time. Retry later.
    /// * [`ErrorKind::Undetermined`]: read what it would have written.
    pub fn transact<T>(
        &self,
        observer: Option<&Observer>,
        mut body: impl FnMut(&Transaction<'_>) -> Result<T>,
    ) -> Result<T> {
        let seed = self.environment.random.number();
        let mut contended: Vec<Bytes> = Vec::new();
        for attempt in 0..ATTEMPTS_OF_TRANSACTIONS_MAX {
            let reserved = self.latches.reserve(contended.iter().map(AsRef::as_ref));
            let transaction = Transaction {
                tables: self,
                observer,
                writer: self.writer(self.store.latest()?),
                random: RefCell::new(SplitMix::new(seed)),
                cells: RefCell::default(),
                written: RefCell::default(),
                needs_chunks: RefCell::default(),
            };
            let outcome = body(&transaction);
            if let Some(table) = transaction.needs_chunks.take() {
                drop(reserved);
                self.catalogue.set_chunked(&table)?;
                continue;
            }
            let value = match outcome {
                Ok(value) => value,
                Err(error) if error.kind() == ErrorKind::TooOld => continue,
                Err(error) => {
                    // What the body saw may be queued and not durable: its answer waits for that.
                    drop(reserved);
                    self.store.commit(Commit::default())?;
                    return Err(error);
                }
            };
            match transaction.commit(reserved)? {
                Ended::Committed => return Ok(value),
                Ended::Conflict(keys) if attempt >= OPTIMISTIC_ATTEMPTS => contended = keys,
                Ended::Conflict(_) => {}
            }
        }
        Err(Error::new(ErrorKind::Conflict, "other transactions were faster every time; retry"))
    }
}

enum Ended {
    Committed,
    /// The keys that were read, and where the ranges that were read begin.
    Conflict(Vec<Bytes>),
}

impl Transaction<'_> {
    fn commit(self, reserved: Reserved<'_>) -> Result<Ended> {
        let cells = self.cells.into_inner();
        let (mut tables, mut chunked): (Vec<_>, Vec<_>) =
            self.written.into_inner().into_iter().unzip();
        for written in &cells {
            chunked.push(written.table.has_chunks());
            tables.push(Arc::clone(&written.table));
        }
        // Whoever latches waits for reservations, also for its own.
        let reserved = Some(reserved).filter(|_| cells.is_empty());
        let gates = lock_gates(&tables);
        let locks = cells::lock_written(self.tables, &cells);
        let high_waters = cells::renew_high_waters(&cells, &self.writer);
        let commit = self.writer.into_commit();
        let mut keys = commit.validate.clone();
        keys.extend(commit.validate_ranges.iter().map(|range| range.start.clone()));
        // A put that did not look would leave the chunks behind that have come meanwhile.
        let is_stale = |(table, chunked): (&Arc<Table>, &bool)| {
            table.is_retired() || table.has_chunks() != *chunked
        };
        if tables.iter().zip(&chunked).any(is_stale) {
            return Ok(Ended::Conflict(Vec::new()));
        }
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        let queued = self.tables.store.submit(
            commit,
            Box::new(move |outcome| {
                let _ = sender.send(outcome);
            }),
        );
        // Reservations and gates are released before the sync: only queueing needs them.
        if queued.is_ok() {
            high_waters.into_iter().for_each(Renewal::queued);
        }
        drop((locks, gates, reserved));
        match queued {
            Ok(_) => {}
            Err(error) => {
                return match error.kind() {
                    StoreErrorKind::Conflict | StoreErrorKind::Exists | StoreErrorKind::TooOld => {
                        Ok(Ended::Conflict(keys))
                    }
                    _ => Err(error.into()),
                };
            }
        }
        self.tables.store.lead();
        match receiver.recv() {
            Ok(outcome) => Ok(outcome.map(|_| Ended::Committed)?),
            Err(_) => {
                Err(Error::new(ErrorKind::Undetermined, "the commit ended without an answer"))
            }
        }
    }

    /// Tells the observer what an answer cost.
    pub(crate) fn report(&self, report: &AccessReport) {
        if let Some(observer) = self.observer {
            observer(report);
        }
    }

    /// Reads one item; it must not change before the commit.
    ///
    /// # Errors
    ///
    /// * As [`Tables::get`].
    pub fn get(&self, table: &Table, get: &Get) -> Result<Got> {
        let current = self.tables.current(table)?;
        let table = current.as_deref().unwrap_or(table);
        if let Some(guards) = &self.writer.guards {
            self.touch(guards, table, &get.key.partition)?;
        }
        let got = self.tables.get_over(&self.writer.buffer, table, get, self.writer.now)?;
        self.report(&got.report);
        Ok(got)
    }

    /// Reads one page of a partition, with this transaction's writes on top. What the page covers
    /// of the range must not change before the commit, also where nothing is.
    ///
    /// # Errors
    ///
    /// * As [`Tables::query`].
    pub fn query(&self, table: &Table, query: &Query) -> Result<ResultPage> {
        let current = self.tables.current(table)?;
        let table = current.as_deref().unwrap_or(table);
        let page = match &self.writer.guards {
            None => self.tables.query_over(
                &Validated(&self.writer.buffer),
                table,
                query,
                self.writer.now,
            )?,
            Some(guards) => {
                match query.index {
                    None => {
                        guards.note_range();
                        self.touch(guards, table, &query.partition)?;
                    }
                    Some(_) => guards.touch_all(table),
                }
                self.tables.query_over(&self.writer.buffer, table, query, self.writer.now)?
            }
        };
        self.report(&page.report);
        Ok(page)
    }

    /// Reads one page of a table, with this transaction's writes on top. What the page covers of
    /// the table must not change before the commit.
    ///
    /// # Errors
    ///
    /// * As [`Tables::scan`].
    pub fn scan(&self, table: &Table, scan: &Scan) -> Result<ResultPage> {
        let current = self.tables.current(table)?;
        let table = current.as_deref().unwrap_or(table);
        let page = match &self.writer.guards {
            None => self.tables.scan_over(
                &Validated(&self.writer.buffer),
                table,
                scan,
                self.writer.now,
            )?,
            Some(guards) => {
                guards.touch_all(table);
                self.tables.scan_over(&self.writer.buffer, table, scan, self.writer.now)?
            }
        };
        self.report(&page.report);
        Ok(page)
    }

    fn touch(&self, guards: &Guards, table: &Table, partition: &[Value]) -> Result<()> {
        match &table.mapped {
            Some(mapping) => {
                guards.touch_partition(table.id, &mapping.partition_prefix(partition)?);
                Ok(())
            }
            None => guards.touch(table, partition),
        }
    }

    /// Does one write.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::ConditionFailed`] and the other refusals: the write is not part of the
    ///   transaction; go on, or return the error to abort.
    pub fn write(&self, write: &Write) -> Result<Written> {
        let current = self.tables.current(&write.table)?;
        self.write_to(current.unwrap_or_else(|| Arc::clone(&write.table)), write)
    }

    fn write_to(&self, table: Arc<Table>, write: &Write) -> Result<Written> {
        table.check_written()?;
        let chunked = table.has_chunks();
        let applied = match &table.mapped {
            Some(mapping) => self.write_mapped(&table, mapping, write)?,
            None => {
                table.check_items()?;
                apply(&self.writer, &table, write)?
            }
        };
        match applied {
            Applied::Written(written) => {
                if table.mapped.is_none() {
                    self.written.borrow_mut().push((table, chunked));
                }
                self.report(&written.report);
                Ok(written)
            }
            Applied::Refused(refusal) => {
                Err(Error::refused(vec![Failure { position: 0, refusal }]))
            }
            Applied::NeedsChunks => {
                *self.needs_chunks.borrow_mut() = Some(table);
                Err(Error::new(ErrorKind::Conflict, "the table is prepared for large rows"))
            }
        }
    }

    /// Returns a random number: the same in every run of the body.
    #[must_use]
    pub fn random(&self) -> u64 {
        self.random.borrow_mut().next_u64()
    }

    /// Returns the second since the Unix epoch at which this run began.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.writer.now
    }
}
