//! The state of the work on backups that all clones of an engine share.
//!
//! What it is not: durable. What there is to do is in the ledger.
//!
//! Invariant: a lock here guards whole values, so a panic under it leaves nothing half done.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use shelfmark_store::Snapshot;
use shelfmark_tables::Result;

/// Work of a face; it is told when to stop, and returns how much was done.
pub(super) type Runner = Arc<dyn Fn(&dyn Fn() -> bool) -> Result<u64> + Send + Sync>;

/// Locks and callbacks of the work on backups.
#[derive(Default)]
pub(crate) struct State {
    /// Held while work is done, and while it is begun or called off.
    working: Mutex<()>,
    /// Those who wait to begin work or to call it off: whoever works lets them.
    waiting: AtomicUsize,
    /// The work of faces that goes with that of the engine.
    runners: Mutex<Vec<Runner>>,
    /// The moments whose rows are being copied, by the ids of the work.
    moments: Mutex<BTreeMap<String, Arc<dyn Snapshot>>>,
}

impl State {
    /// Waits until the piece of work that is being done has ended, and keeps it so.
    pub(super) fn hold(&self) -> MutexGuard<'_, ()> {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        let held = self.working.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::AcqRel);
        held
    }

    /// Returns true if somebody waits in [`State::hold`].
    pub(super) fn is_wanted(&self) -> bool {
        self.waiting.load(Ordering::Acquire) > 0
    }

    /// Keeps others from working, unless somebody works or is about to.
    pub(super) fn try_hold(&self) -> Option<MutexGuard<'_, ()>> {
        if self.is_wanted() {
            return None;
        }
        match self.working.try_lock() {
            Ok(held) => Some(held),
            Err(TryLockError::Poisoned(held)) => Some(held.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Returns the moment whose rows some work copies, if this process has begun with it.
    pub(super) fn moment(&self, work: &str) -> Option<Arc<dyn Snapshot>> {
        self.moments.lock().unwrap_or_else(PoisonError::into_inner).get(work).cloned()
    }

    /// Holds a moment until it is let go.
    pub(super) fn hold_moment(&self, work: &str, moment: Arc<dyn Snapshot>) {
        let mut moments = self.moments.lock().unwrap_or_else(PoisonError::into_inner);
        moments.insert(work.to_owned(), moment);
    }

    /// Lets the moment of some work go, if one is held.
    pub(super) fn let_moment_go(&self, work: &str) {
        self.moments.lock().unwrap_or_else(PoisonError::into_inner).remove(work);
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
