//! A store that counts what is asked of it, and lets a test step in between two calls.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use shelfmark_store::clock::ManualClock;
use shelfmark_store::memory::MemoryStore;
use shelfmark_store::{
    Caps, Commit, Completion, Direction, KeyRange, Maintained, Page, Queued, Result, ScanLimits,
    Snapshot, SnapshotId, Store, StoreStats, Write,
};

/// What was asked of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    pub(crate) gets: u64,
    pub(crate) scans: u64,
    /// Rows that scans delivered.
    pub(crate) rows: u64,
    /// The bytes of their values.
    pub(crate) value_bytes: u64,
    pub(crate) commits: u64,
    /// Writes in all commits.
    pub(crate) writes: u64,
    /// Commits without writes: who waits for all that is queued.
    pub(crate) waits: u64,
}

/// What a test steps in between of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// A scan that delivered a row of the tree.
    Scan,
    /// A point read of a key of the tree.
    Get,
    /// A commit that writes into the tree, about to be queued.
    Commit,
}

type Hook = Box<dyn FnOnce() -> Result<()> + Send>;

#[derive(Default)]
struct Shared {
    gets: AtomicU64,
    scans: AtomicU64,
    rows: AtomicU64,
    value_bytes: AtomicU64,
    commits: AtomicU64,
    writes: AtomicU64,
    waits: AtomicU64,
    preloaded: Mutex<Vec<Bytes>>,
    hook: Mutex<Option<(Step, u8, Hook)>>,
}

impl Shared {
    /// Runs the hook, if it waits for this step in one of these trees.
    fn step(&self, step: Step, mut trees: impl Iterator<Item = u8>) -> Result<()> {
        let mut hook = self.hook.lock().unwrap_or_else(PoisonError::into_inner);
        let met = hook.take_if(|(own, tree, _)| *own == step && trees.any(|other| other == *tree));
        drop(hook);
        match met {
            Some((_, _, hook)) => hook(),
            None => Ok(()),
        }
    }
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
        Self::with_caps(clock, MemoryStore::default_caps())
    }

    /// Creates a store that others write to as well, so that the engine has it preload.
    pub(crate) fn of_many(clock: &Arc<ManualClock>) -> Arc<Self> {
        Self::with_caps(clock, Caps { is_exclusive: false, ..MemoryStore::default_caps() })
    }

    fn with_caps(clock: &Arc<ManualClock>, caps: Caps) -> Arc<Self> {
        let inner = MemoryStore::with_caps(clock.clone(), caps);
        Arc::new(Self { inner, shared: Arc::default() })
    }

    /// Returns what was asked since the last call.
    pub(crate) fn take(&self) -> Counts {
        let of = |count: &AtomicU64| count.swap(0, Ordering::SeqCst);
        Counts {
            gets: of(&self.shared.gets),
            scans: of(&self.shared.scans),
            rows: of(&self.shared.rows),
            value_bytes: of(&self.shared.value_bytes),
            commits: of(&self.shared.commits),
            writes: of(&self.shared.writes),
            waits: of(&self.shared.waits),
        }
    }

    /// Returns the keys that were preloaded since the last call.
    pub(crate) fn take_preloaded(&self) -> Vec<Bytes> {
        let mut preloaded = self.shared.preloaded.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *preloaded)
    }

    /// Returns the keys that begin with `tree`; this counts as nothing.
    pub(crate) fn keys(&self, tree: u8) -> Vec<Bytes> {
        let snapshot = self.inner.snapshot().expect("memory has a snapshot");
        let limits = ScanLimits { rows_max: usize::MAX, bytes_max: usize::MAX, keys_only: true };
        let page = snapshot.scan(&KeyRange::prefix(vec![tree]), Direction::Ascending, limits);
        page.expect("memory is read").rows.into_iter().map(|row| row.key).collect()
    }

    /// Runs `hook` after the next scan that delivers a row whose key begins with `tree`.
    pub(crate) fn after_scan_of(&self, tree: u8, hook: impl FnOnce() + Send + 'static) {
        self.hook(Step::Scan, tree, move || {
            hook();
            Ok(())
        });
    }

    /// As [`Watched::after_scan_of`]; an error of the hook is the scan's.
    pub(crate) fn failing_scan_of(
        &self,
        tree: u8,
        hook: impl FnOnce() -> Result<()> + Send + 'static,
    ) {
        self.hook(Step::Scan, tree, hook);
    }

    /// Runs `hook` after the next point read of a key that begins with `tree`.
    pub(crate) fn after_get_of(&self, tree: u8, hook: impl FnOnce() + Send + 'static) {
        self.hook(Step::Get, tree, move || {
            hook();
            Ok(())
        });
    }

    /// Runs `hook` before the next commit that writes into `tree` is queued; an error of it is the
    /// commit's.
    pub(crate) fn before_commit_to(
        &self,
        tree: u8,
        hook: impl FnOnce() -> Result<()> + Send + 'static,
    ) {
        self.hook(Step::Commit, tree, hook);
    }

    fn hook(&self, step: Step, tree: u8, hook: impl FnOnce() -> Result<()> + Send + 'static) {
        let mut place = self.shared.hook.lock().unwrap_or_else(PoisonError::into_inner);
        *place = Some((step, tree, Box::new(hook)));
    }

    /// Whether the last hook was run.
    pub(crate) fn was_met(&self) -> bool {
        self.shared.hook.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    fn wrap(&self, inner: Arc<dyn Snapshot>) -> Arc<dyn Snapshot> {
        Arc::new(WatchedSnapshot { inner, shared: Arc::clone(&self.shared) })
    }
}

fn tree_of(write: &Write) -> Option<u8> {
    let key = match write {
        Write::Put { key, .. }
        | Write::PutIfAbsent { key, .. }
        | Write::Delete { key }
        | Write::Add { key, .. } => key,
        Write::PutStamped { prefix, .. } => prefix,
    };
    key.first().copied()
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
        if commit.writes.is_empty() && commit.additions.is_empty() {
            add(&self.shared.waits, 1);
        } else {
            add(&self.shared.commits, 1);
            add(&self.shared.writes, commit.writes.len() + commit.additions.len());
        }
        let added = commit.additions.iter().filter_map(|addition| addition.key.first().copied());
        let trees: Vec<u8> = commit.writes.iter().filter_map(tree_of).chain(added).collect();
        self.shared.step(Step::Commit, trees.into_iter())?;
        self.inner.submit(commit, done)
    }

    fn boundaries(&self, range: &KeyRange) -> Result<Vec<Bytes>> {
        self.inner.boundaries(range)
    }

    fn destroy_range(&self, range: &KeyRange) -> Result<()> {
        self.inner.destroy_range(range)
    }

    fn ingest(&self, rows: &mut dyn Iterator<Item = Result<(Bytes, Bytes)>>) -> Result<()> {
        self.inner.ingest(rows)
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
        let value = self.inner.get(key)?;
        self.shared.step(Step::Get, key.first().copied().into_iter())?;
        Ok(value)
    }

    fn scan(&self, range: &KeyRange, direction: Direction, limits: ScanLimits) -> Result<Page> {
        let page = self.inner.scan(range, direction, limits)?;
        add(&self.shared.scans, 1);
        add(&self.shared.rows, page.rows.len());
        add(&self.shared.value_bytes, page.rows.iter().map(|row| row.value.len()).sum());
        self.shared
            .step(Step::Scan, page.rows.iter().filter_map(|row| row.key.first().copied()))?;
        Ok(page)
    }

    fn preload(&self, keys: &[Bytes]) -> Result<()> {
        let mut preloaded = self.shared.preloaded.lock().unwrap_or_else(PoisonError::into_inner);
        preloaded.extend_from_slice(keys);
        self.inner.preload(keys)
    }

    fn time_left(&self) -> Option<Duration> {
        self.inner.time_left()
    }
}
