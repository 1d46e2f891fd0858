//! Keeps the state of tables of cells in memory: locks of partitions, and the timestamps above
//! which a write is sure that no tombstone concerns it.

use shelfmark_records::cells::Timestamp;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::high_water::HighWaterState;
use super::tombstones;
use crate::error::Result;
use crate::rows::View;

const STRIPES: usize = 1024;

/// Striped locks of partitions: shared by writers of single rows, exclusive for whoever reads or
/// deletes more than one row of a partition. Held as latches are: never across a sync.
pub(crate) struct PartitionLocks {
    stripes: Vec<RwLock<()>>,
}

/// Held locks.
#[expect(dead_code, reason = "held, not read")]
pub(crate) enum PartitionLock<'a> {
    Shared(RwLockReadGuard<'a, ()>),
    Exclusive(RwLockWriteGuard<'a, ()>),
}

impl PartitionLocks {
    pub(crate) fn new() -> Self {
        Self { stripes: (0..STRIPES).map(|_| RwLock::new(())).collect() }
    }

    /// Locks partitions, each given by what its keys begin with, and whether exclusively; in stripe
    /// order, so that two callers never wait for each other in a circle.
    pub(crate) fn lock(&self, partitions: &[(Vec<u8>, bool)]) -> Vec<PartitionLock<'_>> {
        let stripe = |key: &[u8]| {
            usize::try_from(xxhash_rust::xxh3::xxh3_64(key) % (STRIPES as u64)).unwrap_or(0)
        };
        let mut wanted: Vec<(usize, bool)> =
            partitions.iter().map(|(key, exclusive)| (stripe(key), !exclusive)).collect();
        // Of one stripe that is wanted both ways, the exclusive lock comes first and is kept.
        wanted.sort_unstable();
        wanted.dedup_by_key(|(stripe, _)| *stripe);
        wanted
            .into_iter()
            .filter_map(|(stripe, is_shared)| Some((self.stripes.get(stripe)?, is_shared)))
            .map(|(lock, is_shared)| {
                // The locks guard nothing themselves, so a panic under one leaves nothing behind.
                if is_shared {
                    PartitionLock::Shared(lock.read().unwrap_or_else(PoisonError::into_inner))
                } else {
                    PartitionLock::Exclusive(lock.write().unwrap_or_else(PoisonError::into_inner))
                }
            })
            .collect()
    }
}

/// The state that all forms of one table of cells share.
#[derive(Debug)]
pub(crate) struct TableState {
    /// No tombstone of the table is later. `i64::MAX` until it was looked up.
    highest_tombstone: AtomicI64,
    is_loaded: AtomicBool,
    loading: Mutex<()>,
    /// A row of several chunks was met. A hint: without it such rows are written as a whole.
    met_chunks: AtomicBool,
    /// The number of levels at which there may be tombstones of ranges.
    levels: AtomicUsize,
    /// Some rows may be covered by tombstones that were not applied to them yet.
    has_purges: AtomicBool,
    /// The newest commit when a purge first found no such tombstone; 0 before.
    purges_ended_at: AtomicU64,
    /// The high-water mark: a write above it is later than all that was there.
    pub(super) high_water: HighWaterState,
}

impl Default for TableState {
    fn default() -> Self {
        Self {
            highest_tombstone: AtomicI64::new(Timestamp::MAX),
            is_loaded: AtomicBool::new(false),
            loading: Mutex::new(()),
            met_chunks: AtomicBool::new(false),
            levels: AtomicUsize::new(usize::MAX),
            has_purges: AtomicBool::new(true),
            purges_ended_at: AtomicU64::new(0),
            high_water: HighWaterState::default(),
        }
    }
}

impl TableState {
    /// Has readers look for deletions that are being purged if ranges were ever deleted: beside other
    /// servers nobody knows more.
    pub(super) fn know_ranges(&self, has_ranges: bool) {
        self.has_purges.store(has_ranges, Ordering::Release);
    }

    /// Reads what was persisted, once; to be called before anything else.
    pub(super) fn load(&self, table: u64, view: &impl View) -> Result<()> {
        if self.is_loaded.load(Ordering::Acquire) {
            return Ok(());
        }
        let _loading = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_loaded.load(Ordering::Acquire) {
            return Ok(());
        }
        self.highest_tombstone.store(tombstones::persisted_bound(view, table)?, Ordering::Release);
        self.levels.store(tombstones::levels(view, table)?, Ordering::Release);
        self.has_purges.store(tombstones::has_purges(view, table)?, Ordering::Release);
        self.is_loaded.store(true, Ordering::Release);
        Ok(())
    }

    /// Tells whether a write at `timestamp` must look for tombstones.
    pub(super) fn may_have_tombstones(&self, timestamp: Timestamp) -> bool {
        timestamp <= self.highest_tombstone.load(Ordering::Acquire)
    }

    /// Notes a tombstone, before it is queued.
    pub(super) fn raise(&self, timestamp: Timestamp) {
        self.highest_tombstone.fetch_max(timestamp, Ordering::AcqRel);
    }

    /// Tells whether neither what was there when the table was first used nor a tombstone can concern a
    /// write at `timestamp`. `false` as long as that was not looked up.
    pub(super) fn is_blind_after(&self, timestamp: Timestamp) -> bool {
        self.high_water.is_above(timestamp) && !self.may_have_tombstones(timestamp)
    }

    /// Notes that a tombstone of a range lies on the highest of so many levels, before it is queued.
    pub(super) fn raise_levels(&self, levels: usize) {
        self.levels.fetch_max(levels, Ordering::AcqRel);
    }

    /// Returns how many levels of tombstones of ranges a late write must look at.
    pub(super) fn levels(&self) -> usize {
        self.levels.load(Ordering::Acquire)
    }

    pub(super) fn note_chunks(&self) {
        self.met_chunks.store(true, Ordering::Release);
    }

    pub(super) fn has_met_chunks(&self) -> bool {
        self.met_chunks.load(Ordering::Acquire)
    }

    pub(super) fn has_purges(&self) -> bool {
        self.has_purges.load(Ordering::Acquire)
    }

    /// Returns true if the table was looked up and, as [`TableState::has_purges`] says, may have
    /// purges.
    pub(super) fn is_purging(&self) -> bool {
        self.is_loaded.load(Ordering::Acquire) && self.has_purges()
    }

    /// Has readers look for deletions that are being purged, before one is queued. The caller has
    /// entered the table's gate.
    pub(super) fn begin_purges(&self) {
        self.purges_ended_at.store(0, Ordering::Release);
        self.has_purges.store(true, Ordering::Release);
    }

    /// Has readers no longer look, once no tombstone was left at two looks in a row and no snapshot is open
    /// that is older than the first: in such a one the last rows are still there. The caller keeps
    /// everybody out of the table's gate, and `newest` is the newest commit.
    pub(super) fn end_purges(&self, newest: u64, oldest_snapshot: Option<u64>) {
        match self.purges_ended_at.load(Ordering::Acquire) {
            0 => self.purges_ended_at.store(newest.max(1), Ordering::Release),
            ended_at if oldest_snapshot.is_none_or(|oldest| oldest >= ended_at) => {
                self.has_purges.store(false, Ordering::Release);
            }
            _ => {}
        }
    }
}

/// Times that are never given twice in one process: places in lists, and the server's timestamps.
#[derive(Debug, Default)]
pub(crate) struct UniqueMicros {
    last: AtomicU64,
}

impl UniqueMicros {
    /// Returns `now`, or what comes next if that was given already. Microseconds.
    pub(crate) fn next(&self, now: u64) -> u64 {
        let last = self
            .last
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |last| Some(now.max(last + 1)))
            .unwrap_or_default();
        now.max(last + 1)
    }
}
