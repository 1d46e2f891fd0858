//! Counters of a store, and the snapshots that are open.
//!
//! Invariant: a snapshot is counted from before its first read until it is dropped.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use shelfmark_store::StoreStats;

/// The counters of a store.
#[derive(Default)]
pub(crate) struct Stats {
    commits: AtomicU64,
    pending: AtomicU64,
    newest: AtomicU64,
    busy: AtomicU64,
    open: Mutex<BTreeMap<u64, u64>>,
}

impl Stats {
    /// Counts a commit that begins; it ends with [`Stats::ended`].
    pub(crate) fn begun(&self) {
        self.pending.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a commit that ended, with its number if it happened.
    pub(crate) fn ended(&self, number: Option<u64>) {
        self.pending.fetch_sub(1, Ordering::Relaxed);
        if let Some(number) = number {
            self.commits.fetch_add(1, Ordering::Relaxed);
            self.newest.fetch_max(number, Ordering::Relaxed);
        }
    }

    /// Counts a commit or read that was refused as busy.
    pub(crate) fn busy(&self) {
        self.busy.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of the newest commit of this process.
    pub(crate) fn newest(&self) -> u64 {
        self.newest.load(Ordering::Relaxed)
    }

    /// Counts a snapshot at `version`.
    pub(crate) fn opened(&self, version: u64) {
        *self.open().entry(version).or_insert(0) += 1;
    }

    /// Takes a snapshot at `version` away.
    pub(crate) fn dropped(&self, version: u64) {
        let mut open = self.open();
        if let Some(count) = open.get_mut(&version) {
            *count -= 1;
            if *count == 0 {
                open.remove(&version);
            }
        }
    }

    /// Returns what was counted.
    pub(crate) fn told(&self) -> StoreStats {
        let open = self.open();
        let commits = self.commits.load(Ordering::Relaxed);
        StoreStats {
            commits,
            groups: commits,
            syncs: commits,
            commits_pending: self.pending.load(Ordering::Relaxed),
            snapshots_open: open.values().sum(),
            oldest_snapshot: open.keys().next().copied(),
            published: self.newest.load(Ordering::Relaxed),
            busy_refusals: self.busy.load(Ordering::Relaxed),
            ..StoreStats::default()
        }
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<u64, u64>> {
        // Counts are whole between two calls, whatever panicked.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
