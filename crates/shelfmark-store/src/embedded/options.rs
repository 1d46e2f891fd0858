//! Options of an embedded store, and its fixed limits.
//!
//! What it is not: stored. Only the durability is written down (in the superblock), because recovery must
//! know what was promised.

use std::time::Duration;

use crate::contract::{Caps, Durability};

/// Longest key in bytes: the tree writes key lengths in 16 bits.
pub(super) const KEY_BYTES_MAX: usize = 65_535;
/// Longest value in bytes.
pub(super) const VALUE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Largest sum of keys and values of one commit, in bytes.
pub(super) const COMMIT_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Most writes of one commit.
pub(super) const COMMIT_WRITES_MAX: usize = 1_000_000;
/// Closes a group to further commits once it holds this many bytes.
pub(super) const GROUP_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Closes a group to further commits once it holds this many.
pub(super) const GROUP_COMMITS_MAX: usize = 4096;
/// Most bytes queued before new commits are refused with `Busy`.
pub(super) const QUEUE_BYTES_MAX: usize = 128 * 1024 * 1024;
/// Bounds the time between a change of the superblock and its sync.
pub(super) const SUPERBLOCK_SYNC_INTERVAL: Duration = Duration::from_millis(100);

/// Options for opening an embedded store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The moment at which a commit is acknowledged.
    pub durability: Durability,
    /// Size in bytes at which the memory table is flushed. Memory use is up to about five times
    /// this while the disk falls behind.
    pub memory_table_bytes: u64,
    /// Size in bytes at which a new log file is started.
    pub log_file_bytes: u64,
    /// Most bytes of zeros preallocated in the log, so that a sync need not lengthen a file; 0
    /// where that gains nothing, as on file systems that never overwrite in place.
    pub log_ahead_bytes: u64,
    /// Most bytes of table blocks kept in memory; grows with use. Together with the memory tables it
    /// is what a busy store takes: with the defaults less than 400 MB.
    pub block_cache_bytes: u64,
    /// Threads for flushes and compactions, 1 or 2.
    pub background_threads: usize,
    /// Greatest age of a snapshot before its reads answer `TooOld`.
    pub snapshot_age_max: Duration,
    /// Most bytes written while a snapshot is open before its reads answer `TooOld`.
    pub snapshot_bytes_max: u64,
    /// Free bytes of the file system below which commits are refused, except deletions
    /// ([`crate::Commit::is_deletion`]).
    pub disk_free_bytes_min: u64,
    /// Free bytes of the file system below which deletions are refused too and table files are not
    /// merged. At most `disk_free_bytes_min`.
    pub disk_free_bytes_reserve: u64,
    /// The number behind which the commits of a new store begin. A store whose keys are copied from
    /// another one, stamped keys among them, begins behind that one's last commit.
    pub commits_after: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            durability: Durability::Sync,
            memory_table_bytes: 64 * 1024 * 1024,
            log_file_bytes: 64 * 1024 * 1024,
            log_ahead_bytes: 1024 * 1024,
            block_cache_bytes: 128 * 1024 * 1024,
            background_threads: 2,
            snapshot_age_max: Duration::from_secs(60),
            snapshot_bytes_max: 96 * 1024 * 1024,
            disk_free_bytes_min: 256 * 1024 * 1024,
            disk_free_bytes_reserve: 64 * 1024 * 1024,
            commits_after: 0,
        }
    }
}

impl Options {
    /// Returns the capabilities and limits of a store opened with these options.
    pub(super) fn caps(&self) -> Caps {
        Caps {
            key_size_bytes_max: KEY_BYTES_MAX,
            value_size_bytes_max: VALUE_BYTES_MAX,
            commit_size_bytes_max: COMMIT_BYTES_MAX,
            commit_writes_max: COMMIT_WRITES_MAX,
            snapshot_age_max: self.snapshot_age_max,
            snapshot_bytes_max: self.snapshot_bytes_max,
            stamps_total_order: true,
            // The folder is locked, and what is behind a failed commit fails with it.
            is_exclusive: true,
            validates_ranges: true,
            // Its only process adds up a group's deltas by itself.
            adds_within: false,
            ingests: true,
            holds_copies: true,
            // A read that misses the cache waits for the disk of this machine, microseconds.
            reads_may_wait: false,
            durability: self.durability,
        }
    }
}
