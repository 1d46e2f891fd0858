//! A store that counts what is read of it: keys, ranges, rows, looks at the newest state.
//!
//! What it is not: a store of its own. Reads and commits are those of the store behind it.
//!
//! Invariant: whatever is read through it is counted once, when it is answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use shelfmark_store::{
    Caps, Commit, CommitNumber, Completion, Direction, KeyRange, Maintained, Page, Peers, Queued,
    Result, ScanLimits, Snapshot, SnapshotId, Store, StoreStats,
};

use crate::forward_to_inner;

/// Counters of reads.
#[derive(Debug, Default)]
pub struct Reads {
    keys: AtomicU64,
    ranges: AtomicU64,
    rows: AtomicU64,
    looks: AtomicU64,
}

impl Reads {
    /// Returns how many rows ranges gave.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows.load(Ordering::SeqCst)
    }

    /// Returns how often somebody asked for the newest state, as everybody does who reads before
    /// writing.
    #[must_use]
    pub fn looks(&self) -> u64 {
        self.looks.load(Ordering::SeqCst)
    }

    /// Returns keys that were looked up, ranges that were read, and their rows, in one sum.
    #[must_use]
    pub fn all(&self) -> u64 {
        let load = |own: &AtomicU64| own.load(Ordering::SeqCst);
        load(&self.keys) + load(&self.ranges) + load(&self.rows)
    }

    /// Begins to count anew.
    pub fn reset(&self) {
        for own in [&self.keys, &self.ranges, &self.rows, &self.looks] {
            own.store(0, Ordering::SeqCst);
        }
    }
}

/// Another store whose reads are counted.
pub struct CountingStore {
    inner: Arc<dyn Store>,
    reads: Arc<Reads>,
    is_exclusive: Option<bool>,
    before_submit: Box<dyn Fn() + Send + Sync>,
}

impl CountingStore {
    /// Creates it over `inner`.
    #[must_use]
    pub fn new(inner: Arc<dyn Store>) -> Self {
        Self { inner, reads: Arc::default(), is_exclusive: None, before_submit: Box::new(|| {}) }
    }

    /// Has it say whether others write to the store too.
    #[must_use]
    pub fn exclusive(self, is_exclusive: bool) -> Self {
        Self { is_exclusive: Some(is_exclusive), ..self }
    }

    /// Calls `call` before each commit.
    #[must_use]
    pub fn before_submit(self, call: impl Fn() + Send + Sync + 'static) -> Self {
        Self { before_submit: Box::new(call), ..self }
    }

    /// Returns the counters.
    #[must_use]
    pub fn reads(&self) -> Arc<Reads> {
        Arc::clone(&self.reads)
    }

    fn counted(&self, inner: Arc<dyn Snapshot>) -> Arc<dyn Snapshot> {
        Arc::new(CountingSnapshot { inner, reads: self.reads() })
    }
}

impl Store for CountingStore {
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>> {
        Ok(self.counted(self.inner.snapshot()?))
    }

    fn latest(&self) -> Result<Arc<dyn Snapshot>> {
        self.reads.looks.fetch_add(1, Ordering::SeqCst);
        Ok(self.counted(self.inner.latest()?))
    }

    fn submit(&self, commit: Commit, done: Completion) -> Result<Queued> {
        (self.before_submit)();
        self.inner.submit(commit, done)
    }

    fn lead(&self) {
        self.inner.lead();
    }

    fn caps(&self) -> Caps {
        let caps = self.inner.caps();
        Caps { is_exclusive: self.is_exclusive.unwrap_or(caps.is_exclusive), ..caps }
    }

    forward_to_inner!();
}

struct CountingSnapshot {
    inner: Arc<dyn Snapshot>,
    reads: Arc<Reads>,
}

impl Snapshot for CountingSnapshot {
    fn id(&self) -> SnapshotId {
        self.inner.id()
    }

    fn stamped_through(&self) -> Result<CommitNumber> {
        self.inner.stamped_through()
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        self.reads.keys.fetch_add(1, Ordering::SeqCst);
        self.inner.get(key)
    }

    fn get_many(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        self.reads.keys.fetch_add(keys.len() as u64, Ordering::SeqCst);
        self.inner.get_many(keys)
    }

    fn scan(&self, range: &KeyRange, direction: Direction, limits: ScanLimits) -> Result<Page> {
        let page = self.inner.scan(range, direction, limits)?;
        self.reads.ranges.fetch_add(1, Ordering::SeqCst);
        self.reads.rows.fetch_add(page.rows.len() as u64, Ordering::SeqCst);
        Ok(page)
    }

    fn time_left(&self) -> Option<std::time::Duration> {
        self.inner.time_left()
    }
}
