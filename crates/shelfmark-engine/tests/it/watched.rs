//! A store that counts what is asked of it, and lets a test step in between two calls.

#![allow(
    dead_code,
    reason = "what is counted is asked for by the tests of many tables, which come next"
)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use shelfmark_store::clock::ManualClock;
use shelfmark_store::memory::MemoryStore;
use shelfmark_store::{
    Caps, Commit, Completion, Direction, KeyRange, Maintained, Page, Queued, Result, ScanLimits,
    Snapshot, SnapshotId, Store, StoreStats,
};

/// What was asked of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    pub(crate) gets: u64,
    pub(crate) scans: u64,
    /// Rows that scans delivered.
    pub(crate) rows: u64,
    pub(crate) commits: u64,
    /// Writes in all commits.
    pub(crate) writes: u64,
}

type Hook = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Shared {
    gets: AtomicU64,
    scans: AtomicU64,
    rows: AtomicU64,
    commits: AtomicU64,
    writes: AtomicU64,
    /// Run after the next scan that delivers a row of this tree.
    hook: Mutex<Option<(u8, Hook)>>,
}

/// The store.
pub(crate) struct Watched {
    inner: MemoryStore,
    shared: Arc<Shared>,
}

struct WatchedSnapshot {
    inner: Arc<dyn Snapshot>,
    shared: Arc<Shared>,
}

impl Watched {
    pub(crate) fn new(clock: &Arc<ManualClock>) -> Arc<Self> {
        Arc::new(Self { inner: MemoryStore::new(clock.clone()), shared: Arc::default() })
    }

    /// Returns what was asked since the last call.
    pub(crate) fn take(&self) -> Counts {
        let of = |count: &AtomicU64| count.swap(0, Ordering::SeqCst);
        Counts {
            gets: of(&self.shared.gets),
            scans: of(&self.shared.scans),
            rows: of(&self.shared.rows),
            commits: of(&self.shared.commits),
            writes: of(&self.shared.writes),
        }
    }

    /// Runs `hook` after the next scan that delivers a row whose key begins with `tree`.
    pub(crate) fn after_scan_of(&self, tree: u8, hook: impl FnOnce() + Send + 'static) {
        *self.hook() = Some((tree, Box::new(hook)));
    }

    fn hook(&self) -> std::sync::MutexGuard<'_, Option<(u8, Hook)>> {
        self.shared.hook.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wrap(&self, inner: Arc<dyn Snapshot>) -> Arc<dyn Snapshot> {
        Arc::new(WatchedSnapshot { inner, shared: Arc::clone(&self.shared) })
    }
}

fn add(count: &AtomicU64, n: usize) {
    count.fetch_add(n as u64, Ordering::SeqCst);
}

impl Store for Watched {
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>> {
        Ok(self.wrap(self.inner.snapshot()?))
    }

    fn latest(&self) -> Result<Arc<dyn Snapshot>> {
        Ok(self.wrap(self.inner.latest()?))
    }

    fn submit(&self, commit: Commit, done: Completion) -> Result<Queued> {
        if !commit.writes.is_empty() {
            add(&self.shared.commits, 1);
            add(&self.shared.writes, commit.writes.len());
        }
        self.inner.submit(commit, done)
    }

    fn boundaries(&self, range: &KeyRange) -> Result<Vec<Bytes>> {
        self.inner.boundaries(range)
    }

    fn destroy_range(&self, range: &KeyRange) -> Result<()> {
        self.inner.destroy_range(range)
    }

    fn maintain(&self) -> Result<Maintained> {
        self.inner.maintain()
    }

    fn caps(&self) -> Caps {
        self.inner.caps()
    }

    fn stats(&self) -> StoreStats {
        self.inner.stats()
    }

    fn close(&self) -> Result<()> {
        self.inner.close()
    }
}

impl Snapshot for WatchedSnapshot {
    fn id(&self) -> SnapshotId {
        self.inner.id()
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        add(&self.shared.gets, 1);
        self.inner.get(key)
    }

    fn scan(&self, range: &KeyRange, direction: Direction, limits: ScanLimits) -> Result<Page> {
        let page = self.inner.scan(range, direction, limits)?;
        add(&self.shared.scans, 1);
        add(&self.shared.rows, page.rows.len());
        let mut hook = self.shared.hook.lock().unwrap_or_else(PoisonError::into_inner);
        let is_met = |tree: u8| page.rows.iter().any(|row| row.key.first() == Some(&tree));
        let met = hook.take_if(|(tree, _)| is_met(*tree));
        drop(hook);
        if let Some((_, hook)) = met {
            hook();
        }
        Ok(page)
    }

    fn time_left(&self) -> Option<Duration> {
        self.inner.time_left()
    }
}
