//! A fault-injecting driver for tests: the meanest one that still keeps the contract.
//!
//! It wraps another store and makes of every freedom that the contract leaves the worst: the lowest
//! limits, short and empty pages, refusals, commits of which nobody knows whether they happened,
//! acknowledgements that come late and from elsewhere. What runs on it runs on any driver. What it
//! is not: wrong. A caller that breaks on it relied on something that was never promised.
//!
//! Invariant: it never shows a state that the store underneath did not go through, and never hides
//! a commit that was acknowledged.
//!
//! It knows no clock. Used from one thread that waits for its commits, it does the same again for
//! the same seed.

mod dice;
mod horizon;
mod late;
mod options;
mod snapshot;
#[cfg(test)]
mod tests;

pub use dice::Injected;
pub use options::FaultOptions;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;

use self::dice::{Dice, Fate};
use self::horizon::{Horizon, Ticket};
use self::late::Late;
use self::snapshot::FaultInjectingSnapshot;
use crate::contract::{
    Caps, Commit, Committed, Completion, Direction, Error, ErrorKind, KeyRange, Maintained, Peers,
    Queued, Result, ScanLimits, Snapshot, Store, StoreStats, StoredPlace, admit,
};
use crate::lazy::{LazySnapshot, Source};

/// Keys that `boundaries` examines for places to cut.
const CUT_KEYS_MAX: usize = 4096;

/// A store that injects faults into another one.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use shelfmark_store::clock::SystemClock;
/// use shelfmark_store::fault_injection::{FaultOptions, FaultInjectingStore};
/// use shelfmark_store::memory::MemoryStore;
/// use shelfmark_store::{Commit, ErrorKind, Store as _, Write};
///
/// let inner = Arc::new(MemoryStore::new(Arc::new(SystemClock::new())));
/// let options = FaultOptions { busy: 1000, ..FaultOptions::new(7) };
/// let store = FaultInjectingStore::new(inner, options);
/// let write = || Commit::of(vec![Write::Put { key: "a".into(), value: "1".into() }]);
/// assert_eq!(store.commit(write()).unwrap_err().kind(), ErrorKind::Busy);
/// store.set_faults(false);
/// store.commit(write())?;
/// # Ok::<(), shelfmark_store::Error>(())
/// ```
pub struct FaultInjectingStore {
    inner: Arc<dyn Store>,
    dice: Arc<Dice>,
    shared: Arc<Shared>,
    /// Held while a commit is submitted, so that what hides it is taken just before it.
    order: Mutex<()>,
}

/// The state that completions use; they may outlive the store.
#[derive(Default)]
struct Shared {
    horizon: Horizon,
    late: Late,
}

impl FaultInjectingStore {
    /// Wraps `inner`, with faults on.
    #[must_use]
    pub fn new(inner: Arc<dyn Store>, options: FaultOptions) -> Self {
        Self {
            inner,
            dice: Arc::new(Dice::new(options)),
            shared: Arc::new(Shared::default()),
            order: Mutex::new(()),
        }
    }

    /// Switches the errors on or off. Low limits, short pages and late acknowledgements stay: no
    /// caller can tell them from a driver in good health.
    pub fn set_faults(&self, are_on: bool) {
        self.dice.set_faults(are_on);
    }

    /// Returns the counters of injected faults, for a test to make sure that it met them.
    #[must_use]
    pub fn injected(&self) -> Injected {
        self.dice.injected()
    }

    /// Refuses a commit if its faults say so.
    fn refuse(&self, commit: &Commit, fate: Fate) -> Result<()> {
        if fate.is_busy {
            self.dice.count(|counts| &counts.busy);
            return Err(Error::busy("injected: too busy", self.dice.options().busy_wait));
        }
        if fate.is_conflict && !commit.validate.is_empty() {
            self.dice.count(|counts| &counts.conflicts);
            let pick = fate.pick % u64::try_from(commit.validate.len()).unwrap_or(1);
            let key = commit.validate.get(usize::try_from(pick).unwrap_or(0)).cloned();
            return Err(Error::conflict(key.into_iter().collect()));
        }
        Ok(())
    }

    /// Submits a commit that is not refused.
    fn pass_on(&self, commit: Commit, fate: Fate, done: Completion) -> Result<Queued> {
        let order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let hidden = match fate.is_late {
            true => Some(self.shared.horizon.hide(&*self.inner)?),
            false => None,
        };
        let end = End::new(Telling {
            done,
            is_undetermined: fate.undetermined.is_some(),
            late: fate.is_late.then(|| self.dice.options().late_wait),
            hidden,
            shared: Arc::clone(&self.shared),
        });
        let queued = self.inner.submit(commit, end.completion());
        drop(order);
        match &queued {
            Ok(_) => end.submitted(),
            Err(_) => self.shared.horizon.show(hidden, None),
        }
        queued
    }
}

/// The store, for views that choose their moments late.
struct Newest {
    inner: Arc<dyn Store>,
    shared: Arc<Shared>,
    dice: Arc<Dice>,
}

impl Source for Newest {
    fn newest(&self, key: &Bytes) -> Result<Option<Option<Bytes>>> {
        if self.dice.fork_reads().chance(100) {
            return Ok(None);
        }
        Ok(Some(self.now()?.get(key)?))
    }

    fn now(&self) -> Result<Arc<dyn Snapshot>> {
        let published = self.shared.horizon.published(&*self.inner)?;
        Ok(FaultInjectingSnapshot::wrap(published, &self.dice))
    }

    fn lifetime(&self) -> Duration {
        self.inner.caps().snapshot_age_max
    }
}

impl Store for FaultInjectingStore {
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>> {
        let published = self.shared.horizon.published(&*self.inner)?;
        Ok(FaultInjectingSnapshot::wrap(published, &self.dice))
    }

    fn snapshot_at_first_read(&self) -> Result<Arc<dyn Snapshot>> {
        let (inner, shared) = (Arc::clone(&self.inner), Arc::clone(&self.shared));
        Ok(Arc::new(LazySnapshot::new(Newest { inner, shared, dice: Arc::clone(&self.dice) })))
    }

    fn latest(&self) -> Result<Arc<dyn Snapshot>> {
        if self.dice.is_behind() {
            self.dice.count(|counts| &counts.behind);
            return self.snapshot();
        }
        Ok(FaultInjectingSnapshot::wrap(self.inner.latest()?, &self.dice))
    }

    fn submit(&self, mut commit: Commit, done: Completion) -> Result<Queued> {
        admit(&self.caps(), &commit)?;
        let fate = self.dice.commit();
        self.refuse(&commit, fate)?;
        if fate.undetermined == Some(false) {
            // It takes its place like any other, so that what was to be validated is; only its
            // writes are lost.
            commit.writes.clear();
        }
        let queued = self.pass_on(commit, fate, done)?;
        match fate.undetermined {
            Some(true) => self.dice.count(|counts| &counts.undetermined_applied),
            Some(false) => self.dice.count(|counts| &counts.undetermined_lost),
            None => {}
        }
        if fate.is_late {
            self.dice.count(|counts| &counts.late);
        }
        Ok(queued)
    }

    fn lead(&self) {
        self.inner.lead();
    }

    fn places(&self, range: &KeyRange, max: usize) -> Result<Vec<StoredPlace>> {
        self.inner.places(range, max)
    }

    fn boundaries(&self, range: &KeyRange) -> Result<Vec<Bytes>> {
        let mut cuts = self.inner.boundaries(range)?;
        let mut stream = self.dice.fork_reads();
        let limits = ScanLimits { rows_max: CUT_KEYS_MAX, keys_only: true, ..Default::default() };
        let page = self.inner.snapshot()?.scan(range, Direction::Ascending, limits)?;
        for row in page.rows {
            if stream.chance(100) {
                // Nobody said that a boundary is the key of a row.
                let between = range.after(&row.key, Direction::Ascending).start;
                cuts.push(if stream.chance(500) { between } else { row.key });
            }
        }
        cuts.retain(|cut| range.contains(cut) && *cut != range.start);
        cuts.sort_unstable();
        cuts.dedup();
        Ok(cuts)
    }

    fn destroy_range(&self, range: &KeyRange) -> Result<()> {
        self.inner.destroy_range(range)
    }

    fn maintain(&self) -> Result<Maintained> {
        self.inner.maintain()
    }

    fn caps(&self) -> Caps {
        let (inner, options) = (self.inner.caps(), self.dice.options());
        Caps {
            key_size_bytes_max: inner.key_size_bytes_max.min(options.key_size_bytes_max),
            value_size_bytes_max: inner.value_size_bytes_max.min(options.value_size_bytes_max),
            commit_size_bytes_max: inner.commit_size_bytes_max.min(options.commit_size_bytes_max),
            commit_writes_max: inner.commit_writes_max.min(options.commit_writes_max),
            // It delays commits, as drivers do that share their store with other processes.
            is_exclusive: false,
            // As drivers do not whose store locks keys only.
            validates_ranges: false,
            // As drivers do that share their store; what is below is able to.
            adds_within: inner.adds_within,
            // Faults are injected into commits.
            ingests: false,
            // Its snapshots become too old by chance.
            holds_copies: false,
            ..inner
        }
    }

    fn stats(&self) -> StoreStats {
        let inner = self.inner.stats();
        let hidden = u64::try_from(self.shared.horizon.hidden()).unwrap_or(u64::MAX);
        StoreStats {
            commits_pending: inner.commits_pending.max(hidden),
            busy_refusals: inner.busy_refusals + self.injected().busy,
            ..inner
        }
    }

    fn peers(&self) -> Option<&dyn Peers> {
        self.inner.peers()
    }

    fn close(&self) -> Result<()> {
        let closed = self.inner.close();
        self.shared.late.finish();
        closed
    }
}

/// The outcome of a commit, which may come while the commit is still being submitted.
///
/// Invariant: it is told outside of every lock, because a completion may come back into the store.
struct End {
    state: Arc<Mutex<EndState>>,
}

struct EndState {
    is_submitting: bool,
    outcome: Option<Result<Committed>>,
    telling: Option<Telling>,
}

impl End {
    fn new(telling: Telling) -> Self {
        let state = EndState { is_submitting: true, outcome: None, telling: Some(telling) };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Returns the completion that the store underneath calls.
    fn completion(&self) -> Completion {
        let end = Self { state: Arc::clone(&self.state) };
        Box::new(move |outcome| end.step(|state| state.outcome = Some(outcome)))
    }

    /// Notes that the lock under which the commit was submitted is released.
    fn submitted(&self) {
        self.step(|state| state.is_submitting = false);
    }

    fn step(&self, change: impl FnOnce(&mut EndState)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
        if state.is_submitting || state.outcome.is_none() {
            return;
        }
        let (outcome, telling) = (state.outcome.take(), state.telling.take());
        drop(state);
        if let (Some(outcome), Some(telling)) = (outcome, telling) {
            telling.tell(outcome);
        }
    }
}

/// The completion of a commit, and when to call it with which outcome.
struct Telling {
    done: Completion,
    is_undetermined: bool,
    late: Option<Duration>,
    hidden: Option<Ticket>,
    shared: Arc<Shared>,
}

impl Telling {
    fn tell(self, outcome: Result<Committed>) {
        let Self { done, is_undetermined, late, hidden, shared } = self;
        let told = outcome.as_ref().ok().map(|committed| committed.number);
        let outcome = match outcome {
            Ok(_) if is_undetermined => {
                Err(Error::new(ErrorKind::Undetermined, "injected: the answer was lost"))
            }
            other => other,
        };
        let after = Arc::clone(&shared);
        let telling: late::Telling = Box::new(move || {
            shared.horizon.show(hidden, told);
            done(outcome);
        });
        match late {
            Some(wait) => after.late.tell(wait, telling),
            None => telling(),
        }
    }
}
