//! Interactive transactions: a body that reads and writes, run again when others were faster.

use std::cell::RefCell;
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_store::random::SplitMix;
use shelfmark_store::{Commit, ErrorKind as StoreErrorKind};

use super::batch::lock_gates;
use crate::catalogue::Table;
use crate::engine::{Engine, Inner};
use crate::error::{Error, ErrorKind, Failure, Result};
use crate::read::{self, Get, Got, Query, ResultPage, Scan};
use crate::write::{Applied, Write, Writer, Written, apply};

/// How often a body is run again before the caller is told of the conflict.
const ATTEMPTS_MAX: u32 = 256;

/// After this many conflicts the keys of the last attempt are latched before the next.
const OPTIMISTIC_ATTEMPTS: u32 = 2;

/// A running transaction. It reads its own writes; nothing is visible to others before the body
/// has returned `Ok`.
pub struct Transaction<'e> {
    inner: &'e Inner,
    engine: &'e Engine,
    writer: Writer,
    random: RefCell<SplitMix>,
    /// The tables written to, and whether each was known to hold rows of several chunks.
    tables: RefCell<Vec<(Arc<Table>, bool)>>,
    needs_chunks: RefCell<Option<Arc<Table>>>,
}

impl Engine {
    /// Runs `body` in a transaction and commits what it wrote, all or nothing.
    ///
    /// The body may run several times: when an item that it read was written meanwhile, it starts
    /// over with a new view and the same random numbers. It must do nothing but read and write
    /// through the transaction. Returning an error aborts: nothing is written, and the error comes
    /// back.
    ///
    /// Isolation: serializable on items; range reads see a snapshot.
    /// Durability: the writes are on disk once this returns `Ok`.
    ///
    /// # Errors
    ///
    /// * Whatever `body` returned.
    /// * [`ErrorKind::Conflict`]: others were faster every time. Retry later.
    /// * [`ErrorKind::Undetermined`]: read what it would have written.
    pub fn transact<T>(&self, body: impl FnMut(&Transaction<'_>) -> Result<T>) -> Result<T> {
        self.inner.transact(self, body)
    }
}

impl Inner {
    fn transact<T>(
        &self,
        engine: &Engine,
        mut body: impl FnMut(&Transaction<'_>) -> Result<T>,
    ) -> Result<T> {
        let seed = self.environment.random.number();
        let mut contended: Vec<Bytes> = Vec::new();
        for attempt in 0..ATTEMPTS_MAX {
            let latched = self.latches.lock(contended.iter().map(AsRef::as_ref));
            let transaction = Transaction {
                inner: self,
                engine,
                writer: self.writer(self.store.latest()?),
                random: RefCell::new(SplitMix::new(seed)),
                tables: RefCell::default(),
                needs_chunks: RefCell::default(),
            };
            let outcome = body(&transaction);
            if let Some(table) = transaction.needs_chunks.take() {
                drop(latched);
                self.catalogue.set_chunked(&table)?;
                continue;
            }
            let value = match outcome {
                Ok(value) => value,
                Err(error) if error.kind() == ErrorKind::TooOld => continue,
                Err(error) => {
                    // What the body saw may be queued and not durable: its answer waits for that.
                    drop(latched);
                    self.store.commit(Commit::default())?;
                    return Err(error);
                }
            };
            match transaction.commit(latched)? {
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
    /// The keys that were read or written.
    Conflict(Vec<Bytes>),
}

impl Transaction<'_> {
    fn commit(self, latched: shelfmark_store::latch::Latched<'_>) -> Result<Ended> {
        let (tables, chunked): (Vec<_>, Vec<_>) = self.tables.into_inner().into_iter().unzip();
        let gates = lock_gates(&tables);
        let commit = self.writer.buffer.into_inner().into_commit();
        let keys = commit.validate.clone();
        // A put that did not look would leave the chunks behind that have come meanwhile.
        let is_stale = |(table, chunked): (&Arc<Table>, &bool)| {
            table.is_retired() || table.has_chunks() != *chunked
        };
        if tables.iter().zip(&chunked).any(is_stale) {
            return Ok(Ended::Conflict(Vec::new()));
        }
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        let queued = self.inner.store.submit(
            commit,
            Box::new(move |outcome| {
                let _ = sender.send(outcome);
            }),
        );
        // Latches and gates are released before the sync: only queueing needs them.
        drop((gates, latched));
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
        match receiver.recv() {
            Ok(outcome) => Ok(outcome.map(|_| Ended::Committed)?),
            Err(_) => {
                Err(Error::new(ErrorKind::Undetermined, "the commit ended without an answer"))
            }
        }
    }

    /// Reads one item; it must not change before the commit.
    ///
    /// # Errors
    ///
    /// * As [`Engine::get`].
    pub fn get(&self, table: &Table, get: &Get) -> Result<Got> {
        let current = self.inner.catalogue.current(table)?;
        let table = current.as_deref().unwrap_or(table);
        let got = read::get(&self.writer.buffer, table, get, self.writer.now)?;
        self.engine.report(&got.report);
        Ok(got)
    }

    /// Reads one page of a partition: a snapshot with this transaction's writes on top.
    ///
    /// # Errors
    ///
    /// * As [`Engine::query`].
    pub fn query(&self, table: &Table, query: &Query) -> Result<ResultPage> {
        let current = self.inner.catalogue.current(table)?;
        let table = current.as_deref().unwrap_or(table);
        let page = read::query(&self.writer.buffer, table, query, self.writer.now)?;
        self.engine.report(&page.report);
        Ok(page)
    }

    /// Reads one page of a table: a snapshot with this transaction's writes on top.
    ///
    /// # Errors
    ///
    /// * As [`Engine::scan`].
    pub fn scan(&self, table: &Table, scan: &Scan) -> Result<ResultPage> {
        let current = self.inner.catalogue.current(table)?;
        let table = current.as_deref().unwrap_or(table);
        let page = read::scan(&self.writer.buffer, table, scan, self.writer.now)?;
        self.engine.report(&page.report);
        Ok(page)
    }

    /// Does one write.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::ConditionFailed`] and the other refusals: the write is not part of the
    ///   transaction; go on, or return the error to abort.
    pub fn write(&self, write: &Write) -> Result<Written> {
        let current = self.inner.catalogue.current(&write.table)?;
        self.write_to(current.unwrap_or_else(|| Arc::clone(&write.table)), write)
    }

    fn write_to(&self, table: Arc<Table>, write: &Write) -> Result<Written> {
        table.check_items()?;
        let chunked = table.has_chunks();
        let applied = apply(&self.writer, &table, write)?;
        match applied {
            Applied::Written(written) => {
                self.tables.borrow_mut().push((table, chunked));
                self.engine.report(&written.report);
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
