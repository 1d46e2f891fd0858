//! The memory driver: the whole contract over one ordered map of versions.
//!
//! For `serve --memory`, for tests, and as the oracle of the other drivers. A commit is applied
//! where it is submitted; there is no queue, so the newest commit is always published and
//! [`Store::latest`] is [`Store::snapshot`]. What it is not: durable. Closing or dropping it
//! forgets everything.
//!
//! Invariant: numbers, versions and answers depend on the calls and the clock handed in alone; two
//! stores that saw the same calls hold the same.
//!
//! Locks, in the order in which they are taken: the versions, then the moments. A snapshot is
//! opened and closed under the second alone. A commit raises the published number under both, so
//! whoever reads that number waits for the versions that belong to it.

mod boundaries;
mod chain;
mod effects;
mod snapshot;
mod snapshot_tracker;
#[cfg(test)]
mod tests;
mod versions;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use bytes::Bytes;

use self::snapshot::{MemorySnapshot, too_old};
use self::snapshot_tracker::{Bounds, SnapshotTracker};
use self::versions::Versions;
use crate::clock::Clock;
use crate::contract::{
    AddWithin, Caps, Commit, CommitNumber, Committed, Completion, Durability, Error, ErrorKind,
    KeyRange, Maintained, Queued, Result, Snapshot, Store, StoreStats, Write, admit,
};

/// Keys that are processed per acquisition of the lock.
const KEYS_PER_LOCK: usize = 4096;

/// The default limits: those of the embedded driver, so that what fits here fits on disk.
const DEFAULT_CAPS: Caps = Caps {
    key_size_bytes_max: 65_535,
    value_size_bytes_max: 16 * 1024 * 1024,
    commit_size_bytes_max: 64 * 1024 * 1024,
    commit_writes_max: 1_000_000,
    snapshot_age_max: Duration::from_secs(60),
    snapshot_bytes_max: 96 * 1024 * 1024,
    stamps_total_order: true,
    is_exclusive: true,
    validates_ranges: true,
    adds_within: true,
    ingests: false,
    holds_copies: false,
    reads_may_wait: false,
    durability: Durability::Sync,
};

/// A store in memory.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use shelfmark_store::clock::SystemClock;
/// use shelfmark_store::memory::MemoryStore;
/// use shelfmark_store::{Commit, Store as _, Write};
///
/// # fn main() -> shelfmark_store::Result<()> {
/// let store = MemoryStore::new(Arc::new(SystemClock::new()));
/// let before = store.snapshot()?;
/// store.commit(Commit::of(vec![Write::Put { key: "shelf".into(), value: "3".into() }]))?;
/// assert_eq!(before.get(b"shelf")?, None);
/// assert_eq!(store.snapshot()?.get(b"shelf")?, Some("3".into()));
/// # Ok(())
/// # }
/// ```
pub struct MemoryStore {
    shared: Arc<Shared>,
}

/// The state that the store shares with its snapshots.
struct Shared {
    clock: Arc<dyn Clock>,
    caps: Caps,
    versions: RwLock<Versions>,
    moments: Mutex<SnapshotTracker>,
    commits: AtomicU64,
}

impl MemoryStore {
    /// Creates an empty store with the limits of the embedded driver; `clock` ages its snapshots.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self::with_caps(clock, DEFAULT_CAPS)
    }

    /// Creates an empty store with the given limits.
    ///
    /// Stamps rise in total order and everything is acknowledged at once, whatever `caps` say of
    /// these two.
    #[must_use]
    pub fn with_caps(clock: Arc<dyn Clock>, caps: Caps) -> Self {
        let caps = Caps { stamps_total_order: true, durability: Durability::Sync, ..caps };
        let shared = Shared {
            clock,
            caps,
            versions: RwLock::new(Versions::default()),
            moments: Mutex::new(SnapshotTracker::default()),
            commits: AtomicU64::new(0),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Returns the limits that [`MemoryStore::new`] sets, to change some of them.
    #[must_use]
    pub fn default_caps() -> Caps {
        DEFAULT_CAPS
    }
}

impl Store for MemoryStore {
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>> {
        let at = self.shared.clock.monotonic();
        let (ticket, opened) = self.shared.moments().open(at).ok_or_else(closed)?;
        Ok(Arc::new(MemorySnapshot::new(Arc::clone(&self.shared), ticket, opened)))
    }

    fn latest(&self) -> Result<Arc<dyn Snapshot>> {
        self.snapshot()
    }

    fn submit(&self, commit: Commit, done: Completion) -> Result<Queued> {
        let bytes = admit(&self.shared.caps, &commit)?;
        let Commit { base, validate, validate_ranges, writes, additions, is_deletion: _ } = commit;
        let number = self.shared.apply(
            base.as_deref().map(|base| Read { base, keys: &validate, ranges: &validate_ranges }),
            (effects::detach(writes), additions),
            u64::try_from(bytes).unwrap_or(u64::MAX),
        )?;
        // Outside every lock: the completion may read, commit, or drop the last handle.
        drop(base);
        done(Ok(Committed { number }));
        Ok(Queued { number })
    }

    fn boundaries(&self, range: &KeyRange) -> Result<Vec<Bytes>> {
        boundaries::of(range, |rest, visit| {
            Ok(self.shared.read()?.visit_keys(rest, KEYS_PER_LOCK, visit))
        })
    }

    fn destroy_range(&self, range: &KeyRange) -> Result<()> {
        loop {
            // What was removed is dropped after the lock is released.
            let removed = self.shared.write()?.remove_range(range, KEYS_PER_LOCK);
            if removed.is_empty() {
                return Ok(());
            }
        }
    }

    fn maintain(&self) -> Result<Maintained> {
        loop {
            let mut versions = self.shared.write()?;
            let at = self.shared.clock.monotonic();
            let readers = self.shared.moments().readers(at, self.shared.bounds());
            if !versions.collect_garbage(&readers, KEYS_PER_LOCK) {
                return Ok(Maintained::default());
            }
        }
    }

    fn caps(&self) -> Caps {
        self.shared.caps
    }

    fn stats(&self) -> StoreStats {
        let held = self.shared.read().map_or(0, |versions| versions.held_bytes());
        let mut moments = self.shared.moments();
        moments.expire(self.shared.clock.monotonic(), self.shared.bounds());
        StoreStats {
            commits: self.shared.commits.load(Ordering::Relaxed),
            memory_table_bytes: u64::try_from(held).unwrap_or(u64::MAX),
            snapshots_open: u64::try_from(moments.open_count()).unwrap_or(u64::MAX),
            oldest_snapshot: moments.oldest(),
            published: moments.published(),
            ..StoreStats::default()
        }
    }

    fn close(&self) -> Result<()> {
        self.shared.moments().close();
        let forgotten =
            self.shared.versions.write().unwrap_or_else(PoisonError::into_inner).close();
        // A large map takes a while to drop; nobody should wait for the lock meanwhile.
        drop(forgotten);
        Ok(())
    }
}

/// The reads that a commit is validated against.
struct Read<'a> {
    base: &'a dyn Snapshot,
    keys: &'a [Bytes],
    ranges: &'a [KeyRange],
}

impl Shared {
    /// Validates and applies a commit whose limits were checked.
    fn apply(
        &self,
        read: Option<Read<'_>>,
        (writes, additions): (Vec<Write>, Vec<AddWithin>),
        bytes: u64,
    ) -> Result<CommitNumber> {
        let mut versions = self.write()?;
        if let Some(read) = read {
            self.validate(&versions, &read)?;
        }
        // Only a commit raises the number, and this one holds the lock of the versions.
        let published = self.moments().published();
        if writes.is_empty() && additions.is_empty() {
            return Ok(published);
        }
        let number = published + 1;
        let mut effects = effects::resolve(&versions, number, writes)?;
        effects.extend(effects::added(&versions, additions)?);
        let at = self.clock.monotonic();
        let readers = self.moments().advance(bytes, at, self.bounds());
        versions.apply(effects, bytes, &readers);
        self.commits.fetch_add(1, Ordering::Relaxed);
        Ok(number)
    }

    fn validate(&self, versions: &Versions, read: &Read<'_>) -> Result<()> {
        let moment = read.base.id();
        let written = versions.written_bytes().saturating_sub(moment.position);
        if read.base.time_left() == Some(Duration::ZERO)
            || written > self.caps.snapshot_bytes_max
            || moment.commit < versions.watermark()
        {
            return Err(too_old());
        }
        let keys = read.keys.iter();
        let mut changed: Vec<Bytes> =
            keys.filter(|key| versions.is_written_since(key, moment.commit)).cloned().collect();
        let ranges = read.ranges.iter();
        changed.extend(ranges.filter_map(|range| versions.written_since(range, moment.commit)));
        if changed.is_empty() { Ok(()) } else { Err(Error::conflict(changed)) }
    }

    fn bounds(&self) -> Bounds {
        Bounds { age_max: self.caps.snapshot_age_max, bytes_max: self.caps.snapshot_bytes_max }
    }

    fn moments(&self) -> MutexGuard<'_, SnapshotTracker> {
        // Nothing under this lock can panic half-way through a change.
        self.moments.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self) -> Result<RwLockReadGuard<'_, Versions>> {
        let versions = self.versions.read().map_err(|_| poisoned())?;
        if versions.is_closed() { Err(closed()) } else { Ok(versions) }
    }

    fn write(&self) -> Result<RwLockWriteGuard<'_, Versions>> {
        let versions = self.versions.write().map_err(|_| poisoned())?;
        if versions.is_closed() { Err(closed()) } else { Ok(versions) }
    }
}

fn closed() -> Error {
    Error::new(ErrorKind::Closed, "the memory store was closed")
}

fn poisoned() -> Error {
    Error::new(ErrorKind::Internal, "a commit panicked; what is in memory cannot be trusted")
}
