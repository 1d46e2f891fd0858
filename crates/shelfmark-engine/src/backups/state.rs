//! The state of the work on backups that all clones of an engine share.
//!
//! What it is not: durable. What there is to do is in the ledger.
//!
//! Invariant: a lock here guards whole values, so a panic under it leaves nothing half done.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use shelfmark_tables::Result;

/// Work of a face; it is told when to stop, and returns how much was done.
pub(super) type Runner = Arc<dyn Fn(&dyn Fn() -> bool) -> Result<u64> + Send + Sync>;

/// Locks and callbacks of the work on backups.
#[derive(Default)]
pub(crate) struct State {
    /// Held while work is done, and while it is begun or called off.
    working: Mutex<()>,
    /// The work of faces that goes with that of the engine.
    runners: Mutex<Vec<Runner>>,
}

impl State {
    /// Waits until no work is done, and keeps it so.
    pub(super) fn hold(&self) -> MutexGuard<'_, ()> {
        self.working.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps others from working, unless somebody works.
    pub(super) fn try_hold(&self) -> Option<MutexGuard<'_, ()>> {
        match self.working.try_lock() {
            Ok(held) => Some(held),
            Err(TryLockError::Poisoned(held)) => Some(held.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Adds work of a face.
    pub(super) fn add_runner(&self, runner: Runner) {
        self.runners.lock().unwrap_or_else(PoisonError::into_inner).push(runner);
    }

    /// Returns the work of faces.
    pub(super) fn runners(&self) -> Vec<Runner> {
        self.runners.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
