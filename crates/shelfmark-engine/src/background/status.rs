//! The status of background work: counters per kind of work, the last error, what is set aside.
//!
//! What it is not: durable. It begins anew with the process; nothing here is needed for an answer.
//!
//! Invariant: a record that is set aside is still in the store. It is tried again by every sweep
//! from the front of the queue, and leaves the list when that succeeds.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use shelfmark_tables::{Error, ErrorKind, Result};

use super::leader::DroppedSince;

/// Most records that are set aside before a sweep stops at the next one: the store as a whole is in
/// trouble then, not single records.
const SET_ASIDE_MAX: usize = 1024;

/// A kind of background work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Work {
    /// Building indexes, and giving due times to items that were there before they expired.
    Indexes,
    /// Giving the space of dropped tables and indexes back.
    Purge,
    /// Splitting shards.
    Splits,
    /// Removing the rows of large deletions.
    DeletedCells,
    /// Removing expired items and forgotten tokens.
    Expiry,
    /// Following shards of change streams by new ones, and dropping old ones.
    Streams,
    /// Making backups, restoring them, and keeping histories of tables.
    Backups,
    /// The store's own work: it fails while the store refuses writes, and does flushes and merges.
    Store,
}

impl Work {
    /// Every kind, in the order in which an [`crate::Upkeep`] does them.
    pub const ALL: [Self; 8] = [
        Self::Indexes,
        Self::Purge,
        Self::Splits,
        Self::DeletedCells,
        Self::Expiry,
        Self::Streams,
        Self::Backups,
        Self::Store,
    ];

    /// Tells whether one of several servers on a store does it for all of them. The other kinds go on
    /// with what a server itself has begun or noticed.
    pub(super) const fn is_of_all_servers(self) -> bool {
        matches!(self, Self::Purge | Self::Expiry | Self::Backups)
    }

    /// Returns the name that logs use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Indexes => "index builds",
            Self::Purge => "purge of dropped tables",
            Self::Splits => "splits of shards",
            Self::DeletedCells => "purge of deleted rows",
            Self::Expiry => "expiry",
            Self::Streams => "change streams",
            Self::Backups => "backups",
            Self::Store => "the store",
        }
    }
}

/// The last failure of one kind of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastError {
    /// The error's text.
    pub message: String,
    /// Second since the Unix epoch.
    pub at: u64,
}

/// The status of one kind of background work since the engine was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkStatus {
    /// The kind of work.
    pub work: Work,
    /// The number of runs.
    pub runs: u64,
    /// The work that was done: indexes resumed, ids purged, splits, items and tokens removed,
    /// flushes and merges.
    pub done: u64,
    /// The number of runs that failed.
    pub failures: u64,
    /// The number of runs in a row that have failed up to now; 0 while it works.
    pub failures_in_a_row: u32,
    /// The last failure, also one that was overcome.
    pub last_error: Option<LastError>,
}

/// A record that background work could not handle and went on without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// The work that could not handle it.
    pub work: Work,
    /// Its key in the store.
    pub key: Bytes,
    /// Why, the last time.
    pub error: LastError,
    /// The number of attempts.
    pub attempts: u32,
}

/// The status of all background work of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackgroundStatus {
    /// Each kind of work, in the order of [`Work::ALL`].
    pub works: Vec<WorkStatus>,
    /// Records that were set aside.
    pub set_aside: Vec<SetAside>,
    /// An [`crate::Upkeep`] is being stopped, and long work ends at its next step.
    pub is_stopping: bool,
}

/// Something that a log should tell once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackgroundEvent {
    /// A kind of work fails, which it did not before, or fails otherwise than before.
    Failed {
        /// The kind of work that fails.
        work: Work,
        /// The error's text.
        error: String,
    },
    /// A kind of work that had failed works again.
    Recovered {
        /// The kind of work that had failed.
        work: Work,
        /// The number of runs that had failed.
        failures: u32,
    },
    /// A record was set aside.
    SetAside(SetAside),
    /// A record that had been set aside was handled.
    Handled {
        /// The kind of work that handled it.
        work: Work,
        /// The record's key in the store.
        key: Bytes,
    },
}

/// The status as it is kept.
#[derive(Default)]
pub(crate) struct State {
    inner: Mutex<Inner>,
    /// The ids that wait for other servers' snapshots.
    pub(super) dropped_since: DroppedSince,
}

#[derive(Default)]
struct Inner {
    works: BTreeMap<Work, WorkStatus>,
    set_aside: BTreeMap<Bytes, SetAside>,
    /// Events that no listener was told yet.
    events: Vec<BackgroundEvent>,
}

impl State {
    /// Notes how a run ended: with so much done, or with an error.
    pub(super) fn ran(&self, work: Work, now: u64, outcome: &Result<u64>) {
        let mut inner = self.lock();
        let Inner { works, events, .. } = &mut *inner;
        let status = works.entry(work).or_insert_with(|| WorkStatus::new(work));
        status.runs += 1;
        match outcome {
            Ok(done) => {
                status.done += done;
                let failures = std::mem::take(&mut status.failures_in_a_row);
                if failures > 0 {
                    tell(events, BackgroundEvent::Recovered { work, failures });
                }
            }
            Err(error) => {
                status.failures += 1;
                status.failures_in_a_row = status.failures_in_a_row.saturating_add(1);
                let message = error.to_string();
                let is_new = status.failures_in_a_row == 1
                    || status.last_error.as_ref().is_none_or(|last| last.message != message);
                status.last_error = Some(LastError { message: message.clone(), at: now });
                if is_new {
                    tell(events, BackgroundEvent::Failed { work, error: message });
                }
            }
        }
    }

    /// Notes work that was done outside of a run: who caused it did it at once.
    pub(crate) fn did(&self, work: Work, done: u64) {
        if done > 0 {
            let mut inner = self.lock();
            inner.works.entry(work).or_insert_with(|| WorkStatus::new(work)).done += done;
        }
    }

    /// Returns how many runs of this work have failed in a row.
    pub(super) fn failures_in_a_row(&self, work: Work) -> u32 {
        self.lock().works.get(&work).map_or(0, |status| status.failures_in_a_row)
    }

    /// Sets a record aside because of `error`; `false` if too many are already.
    pub(super) fn set_aside(&self, work: Work, key: &Bytes, now: u64, error: &Error) -> bool {
        let mut inner = self.lock();
        let last = LastError { message: error.to_string(), at: now };
        if let Some(known) = inner.set_aside.get_mut(key) {
            known.attempts = known.attempts.saturating_add(1);
            known.error = last;
            return true;
        }
        if inner.set_aside.len() >= SET_ASIDE_MAX {
            return false;
        }
        let aside = SetAside { work, key: key.clone(), error: last, attempts: 1 };
        tell(&mut inner.events, BackgroundEvent::SetAside(aside.clone()));
        inner.set_aside.insert(key.clone(), aside);
        true
    }

    /// Notes that a record was handled.
    pub(super) fn handled(&self, key: &Bytes) {
        let mut inner = self.lock();
        if inner.set_aside.is_empty() {
            return;
        }
        if let Some(aside) = inner.set_aside.remove(key) {
            let event = BackgroundEvent::Handled { work: aside.work, key: aside.key };
            tell(&mut inner.events, event);
        }
    }

    /// Returns what nobody was told yet.
    pub(super) fn take_events(&self) -> Vec<BackgroundEvent> {
        std::mem::take(&mut self.lock().events)
    }

    pub(super) fn status(&self, is_stopping: bool) -> BackgroundStatus {
        let inner = self.lock();
        let of = |work| inner.works.get(&work).cloned().unwrap_or_else(|| WorkStatus::new(work));
        BackgroundStatus {
            works: Work::ALL.map(of).to_vec(),
            set_aside: inner.set_aside.values().cloned().collect(),
            is_stopping,
        }
    }

    /// Locks the status. A panic under this lock leaves whole values behind.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Notes what nobody was told yet. Where nobody listens the newest are left out.
fn tell(events: &mut Vec<BackgroundEvent>, event: BackgroundEvent) {
    if events.len() < 4 * SET_ASIDE_MAX {
        events.push(event);
    }
}

impl WorkStatus {
    fn new(work: Work) -> Self {
        Self { work, runs: 0, done: 0, failures: 0, failures_in_a_row: 0, last_error: None }
    }
}

/// Runs `work`; a panic is an error like others.
///
/// # Errors
///
/// * Those of `work`, and [`ErrorKind::Internal`] after a panic.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    // Nothing that is shared is left half done: locks in the engine guard whole values.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        Err(Error::new(ErrorKind::Internal, format!("it panicked: {}", text_of(&*panic))))
    })
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a word")
}
