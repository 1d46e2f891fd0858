//! Capabilities, limits and statistics of a driver.

use std::time::Duration;

/// The moment at which a commit is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Acknowledges after the commit's group is synced. The default.
    #[default]
    Sync,
    /// Acknowledges before the sync; the log is synced at most this long afterwards. A power cut
    /// may take the commits of the last interval, whole commits only, newest first; `kill -9` takes
    /// none.
    Interval(Duration),
}

/// Limits and abilities of a driver. Sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// Longest key, in bytes.
    pub key_size_bytes_max: usize,
    /// Longest value, in bytes.
    pub value_size_bytes_max: usize,
    /// Largest sum of keys and values in one commit, in bytes.
    pub commit_size_bytes_max: usize,
    /// Most writes in one commit.
    pub commit_writes_max: usize,
    /// Greatest age of a snapshot before its reads answer `TooOld`.
    pub snapshot_age_max: Duration,
    /// Most bytes that may be written while a snapshot is open.
    pub snapshot_bytes_max: u64,
    /// True if stamps rise in commit order over the whole store, not only per validated key.
    pub stamps_total_order: bool,
    /// True if this handle is the only writer, so a cache of its own commits, in queue order, is
    /// never stale. Not so where several processes share a store, or a commit may take effect after
    /// others.
    pub is_exclusive: bool,
    /// True if the driver validates ranges that were read ([`super::Commit::validate_ranges`]), so
    /// that transactions that read ranges are serializable. Where it is false, whoever runs
    /// transactions has to make those that read ranges exclude each other by keys.
    pub validates_ranges: bool,
    /// True if the driver adds to numbers within values ([`super::Commit::additions`]), so that commits
    /// of several processes may add to one row at the same time.
    pub adds_within: bool,
    /// True if the driver writes rows of a range that holds none into its files at once
    /// ([`crate::Store::ingest`]).
    pub ingests: bool,
    /// True if a snapshot for a copy stands for hours, however much is written meanwhile
    /// ([`crate::Store::snapshot_for_copy`]).
    pub holds_copies: bool,
    /// True if a read may wait for another machine or a slow device, for milliseconds rather than
    /// microseconds. Whoever serves connections then reads on threads that may wait.
    pub reads_may_wait: bool,
    /// The guarantee behind an acknowledgement.
    pub durability: Durability,
}

/// Work done by [`crate::Store::maintain`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Maintained {
    /// Bytes written from memory to the tree.
    pub flushed_bytes: u64,
    /// Log files removed.
    pub log_files_removed: usize,
}

/// Levels of table files that are told apart in [`StoreStats`].
pub const LEVELS_MAX: usize = 7;

/// Counters and gauges of a driver; zero where a driver has no such thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoreStats {
    /// Commits acknowledged since open.
    pub commits: u64,
    /// Groups written since open; `commits / groups` is the group size.
    pub groups: u64,
    /// Syncs of the log since open.
    pub syncs: u64,
    /// Bytes appended to the log since open.
    pub log_bytes_written: u64,
    /// Commits queued and not yet acknowledged.
    pub commits_pending: u64,
    /// Bytes of the commit log on disk.
    pub log_bytes_on_disk: u64,
    /// Bytes of rows in table files on disk, as they are stored; their indexes and filters are not
    /// counted.
    pub tree_bytes_on_disk: u64,
    /// Bytes held in memory tables.
    pub memory_table_bytes: u64,
    /// Open snapshots.
    pub snapshots_open: u64,
    /// Number of the newest commit that the oldest open snapshot includes; `None` without one.
    pub oldest_snapshot: Option<u64>,
    /// Number of the newest published commit.
    pub published: u64,
    /// Commits refused with `Busy` since open.
    pub busy_refusals: u64,
    /// Memory tables written to table files since open.
    pub flushes: u64,
    /// Merges of table files since open.
    pub compactions: u64,
    /// Table files.
    pub table_files: u64,
    /// Table files by level, the freshest first.
    pub level_files: [u64; LEVELS_MAX],
    /// Bytes of cached blocks.
    pub cache_bytes: u64,
    /// Bytes of blocks that may be cached.
    pub cache_bytes_max: u64,
    /// True while flushes or compactions wait for free disk space.
    pub waits_for_disk_space: bool,
    /// Free space of the file system, if known.
    pub disk_free_bytes: Option<u64>,
}
