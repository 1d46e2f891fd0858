//! The attempt loop of a commit: plan, queue, and plan again after a conflict.
//!
//! Invariant: whoever waits for a call is told exactly once how it ended.

use std::sync::{Arc, Mutex, PoisonError, RwLockReadGuard};

use shelfmark_store::{Commit, ErrorKind as StoreErrorKind};

use crate::catalogue::{Shared, Table};
use crate::error::{Error, ErrorKind, Result};
use crate::tables::Tables;

/// The number of times a call is planned again after a conflict before the caller is told.
const ATTEMPTS_OF_WRITES_MAX: usize = 64;

/// The callback of whoever waits for a call; taken when the call is queued.
pub(crate) type Done<T> = Option<Box<dyn FnOnce(Result<T>) + Send>>;

impl Tables {
    /// Plans and queues until a plan holds. `attempt` returns false to be called again.
    pub(crate) fn submit_planned<T: Send + 'static>(
        &self,
        done: Box<dyn FnOnce(Result<T>) + Send>,
        mut attempt: impl FnMut(&Self, &mut Done<T>) -> Result<bool>,
    ) {
        let mut done = Some(done);
        let mut outcome = Ok(false);
        for _ in 0..ATTEMPTS_OF_WRITES_MAX {
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

    /// Queues a commit whose end is told with `answer`. `false` asks for another attempt.
    pub(crate) fn queue<T: Send + 'static>(
        &self,
        commit: Commit,
        answer: Result<T>,
        done: &mut Done<T>,
    ) -> Result<bool> {
        self.catalogue.check_followed()?;
        let Some(told) = done.take() else { return Ok(true) };
        // The completion is shared so that it survives a refused submit.
        let told = Arc::new(Mutex::new(Some(told)));
        let on_end = Arc::clone(&told);
        let queued = self.store.submit(
            commit,
            Box::new(move |outcome| {
                let told = on_end.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(told) = told {
                    told(outcome.map_err(Error::from).and(answer));
                }
            }),
        );
        match queued {
            Ok(_) => Ok(true),
            Err(error) => {
                *done = told.lock().unwrap_or_else(PoisonError::into_inner).take();
                match error.kind() {
                    StoreErrorKind::Conflict | StoreErrorKind::Exists | StoreErrorKind::TooOld => {
                        Ok(false)
                    }
                    _ => Err(error.into()),
                }
            }
        }
    }

    /// Queues a commit that nobody waits for, of work that is found again if it was not done. `false`
    /// asks for another attempt.
    pub(crate) fn queue_unwatched(&self, commit: Commit) -> Result<bool> {
        match self.store.submit(commit, Box::new(|_| {})) {
            Ok(_) => Ok(true),
            Err(error) => match error.kind() {
                // Written meanwhile, or so the driver says.
                StoreErrorKind::Conflict | StoreErrorKind::TooOld => Ok(false),
                _ => Err(error.into()),
            },
        }
    }

    /// Does work that nobody waits for, with the gate of its table held. `attempt` plans and queues
    /// ([`Tables::queue_unwatched`]), and returns `None` after a conflict. Returns `None` if the table is
    /// retired or others were faster every time, so that the work is still to be done.
    pub(crate) fn submit_unwatched<T>(
        &self,
        table: &Arc<Table>,
        attempt: impl Fn() -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        for _ in 0..ATTEMPTS_OF_WRITES_MAX {
            let _gates = lock_gates(std::slice::from_ref(table));
            if table.is_retired() {
                return Ok(None);
            }
            let outcome = attempt()?;
            if outcome.is_some() {
                return Ok(outcome);
            }
        }
        Ok(None)
    }
}

/// Returns the error of a call whose store ended without an answer.
#[must_use]
pub fn lost() -> Error {
    Error::new(ErrorKind::Undetermined, "the commit ended without an answer")
}

/// Locks the gates of the tables, each once, in the order of their ids.
pub fn lock_gates(tables: &[Arc<Table>]) -> Vec<RwLockReadGuard<'_, ()>> {
    let mut shared: Vec<(u64, &Shared)> =
        tables.iter().map(|table| (table.id, &*table.shared)).collect();
    shared.sort_by_key(|(id, _)| *id);
    shared.dedup_by_key(|(id, _)| *id);
    shared
        .into_iter()
        .map(|(_, shared)| shared.gate.read().unwrap_or_else(PoisonError::into_inner))
        .collect()
}
