//! A store whose reads wait, as those of a store on other machines do, and that says how many waited
//! at once.
//!
//! What it is not: slow to write. Commits go through as they are.
//!
//! Invariant: every read, of one key, of several or of a range, waits once before it is made.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use shelfmark_store::{
    Caps, Commit, CommitNumber, Completion, Direction, KeyRange, Maintained, Page, Peers, Queued,
    Result, ScanLimits, Snapshot, SnapshotId, Store, StoreStats,
};

use crate::forward_to_inner;

/// Waits before a read that begins at this key.
pub type Wait = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// Counters of reads that wait.
#[derive(Debug, Default)]
pub struct Inside {
    now: AtomicUsize,
    max: AtomicUsize,
}

impl Inside {
    /// Returns how many wait now.
    #[must_use]
    pub fn now(&self) -> usize {
        self.now.load(Ordering::SeqCst)
    }

    /// Returns how many have waited at once at most.
    #[must_use]
    pub fn max(&self) -> usize {
        self.max.load(Ordering::SeqCst)
    }
}

/// Another store behind reads that wait.
pub struct WaitingStore {
    inner: Arc<dyn Store>,
    gate: Gate,
    is_announced: bool,
}

#[derive(Clone)]
struct Gate {
    wait: Wait,
    inside: Arc<Inside>,
}

impl Gate {
    fn pass(&self, key: &[u8]) {
        let now = self.inside.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.inside.max.fetch_max(now, Ordering::SeqCst);
        (self.wait)(key);
        self.inside.now.fetch_sub(1, Ordering::SeqCst);
    }
}

impl WaitingStore {
    /// Creates it over `inner`; `wait` is called before each read with the key where it begins.
    #[must_use]
    pub fn new(inner: Arc<dyn Store>, wait: Wait) -> Self {
        Self { inner, gate: Gate { wait, inside: Arc::default() }, is_announced: true }
    }

    /// Has it not say that its reads wait, as a store on this machine would not.
    #[must_use]
    pub fn unannounced(self) -> Self {
        Self { is_announced: false, ..self }
    }

    /// Returns the count of reads that wait.
    #[must_use]
    pub fn inside(&self) -> Arc<Inside> {
        Arc::clone(&self.gate.inside)
    }

    fn waiting(&self, inner: Arc<dyn Snapshot>) -> Arc<dyn Snapshot> {
        Arc::new(WaitingSnapshot { inner, gate: self.gate.clone() })
    }
}

impl Store for WaitingStore {
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>> {
        Ok(self.waiting(self.inner.snapshot()?))
    }

    fn latest(&self) -> Result<Arc<dyn Snapshot>> {
        Ok(self.waiting(self.inner.latest()?))
    }

    fn submit(&self, commit: Commit, done: Completion) -> Result<Queued> {
        self.inner.submit(commit, done)
    }

    fn lead(&self) {
        self.inner.lead();
    }

    fn caps(&self) -> Caps {
        Caps { reads_may_wait: self.is_announced, ..self.inner.caps() }
    }

    forward_to_inner!();
}

struct WaitingSnapshot {
    inner: Arc<dyn Snapshot>,
    gate: Gate,
}

impl Snapshot for WaitingSnapshot {
    fn id(&self) -> SnapshotId {
        self.inner.id()
    }

    fn stamped_through(&self) -> Result<CommitNumber> {
        self.inner.stamped_through()
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        self.gate.pass(key);
        self.inner.get(key)
    }

    fn get_many(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        self.gate.pass(keys.first().map_or(&[], |key| &key[..]));
        self.inner.get_many(keys)
    }

    fn scan(&self, range: &KeyRange, direction: Direction, limits: ScanLimits) -> Result<Page> {
        self.gate.pass(&range.start);
        self.inner.scan(range, direction, limits)
    }

    fn time_left(&self) -> Option<std::time::Duration> {
        self.inner.time_left()
    }
}
