//! The state that the threads of one store share.
//!
//! Locks are taken in this order, and none is held while a later-listed thread is waited for:
//! committer; queue, layer, moments, written; log, superblock. The queue's lock is never held across a read of files or a
//! sync.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::clock::Clock;
use crate::contract::{Error, ErrorKind};

use super::committer::Committer;
use super::free_space::FreeSpace;
use super::high_water_marks::HighWaterMarks;
use super::log::writer::LogWriter;
use super::maintenance::Signals;
use super::options::Options;
use super::queue::Queue;
use super::recent::RecentGroups;
use super::snapshot_tracker::SnapshotTracker;
use super::superblock::SuperblockFile;
use super::tombstone_gaps::TombstoneGaps;
use super::tree::{LastGroup, StopFlag, Tree};
use super::written::RecentWrites;

/// The state of an open store.
pub(super) struct Inner {
    /// The store's folder.
    pub(super) folder: PathBuf,
    /// The options it was opened with.
    pub(super) options: Options,
    /// The clock.
    pub(super) clock: Arc<dyn Clock>,
    /// The tree.
    pub(super) tree: Tree,
    /// Stops running compactions.
    pub(super) stop: StopFlag,
    /// The published state and the snapshots of older ones.
    pub(super) snapshots: SnapshotTracker,
    /// The commits that are queued or being written.
    pub(super) queue: Queue,
    /// A high-water mark of commit numbers per stripe of keys.
    pub(super) high_water_marks: HighWaterMarks,
    /// The last commit of each recent group.
    pub(super) recent: RecentGroups,
    /// The keys that recent groups wrote.
    pub(super) written: Arc<RecentWrites>,
    /// Ranges of tombstones that scans skip.
    pub(super) gaps: Arc<TombstoneGaps>,
    /// The state of whoever writes groups.
    pub(super) committer: Mutex<Committer>,
    /// The log file being written, and the numbers of the last group.
    pub(super) log: Mutex<Log>,
    /// The log files on disk, the oldest first.
    pub(super) files: Mutex<Vec<LogFileInfo>>,
    /// The superblock file.
    pub(super) superblock: Mutex<SuperblockFile>,
    /// The monitor of free disk space.
    pub(super) space: Arc<FreeSpace>,
    /// A measure of how far background work is behind, as [`Inner::measure_backlog`] found it.
    pub(super) pressure: AtomicUsize,
    /// Signals between the commit thread and the background threads.
    pub(super) signals: Signals,
    /// Tombstones in the active memory table.
    pub(super) tombstones_in_memory: AtomicU64,
    /// Counters for statistics.
    pub(super) counters: Counters,
}

/// The end of the log.
pub(super) struct Log {
    /// The file that is appended to.
    pub(super) writer: LogWriter,
    /// Number of the last group.
    pub(super) last_group: u64,
    /// Number of the last commit.
    pub(super) last_commit: u64,
    /// Sequence number of the last group.
    pub(super) last_seqno: u64,
}

impl Log {
    /// Returns where the log ends.
    pub(super) fn end(&self) -> LastGroup {
        LastGroup { group: self.last_group, commit: self.last_commit }
    }
}

/// A log file on disk.
#[derive(Debug, Clone)]
pub(super) struct LogFileInfo {
    /// The path.
    pub(super) path: PathBuf,
    /// Number that its first group has or will have.
    pub(super) first_group: u64,
    /// Its length in bytes; for the newest file as of its creation.
    pub(super) bytes: u64,
}

/// Counters since open.
#[derive(Default)]
pub(super) struct Counters {
    /// Commits acknowledged.
    pub(super) commits: AtomicU64,
    /// Groups written.
    pub(super) groups: AtomicU64,
    /// Syncs of the log.
    pub(super) syncs: AtomicU64,
    /// Microseconds that the last one took.
    pub(super) last_sync_micros: AtomicU64,
    /// Bytes appended to the log.
    pub(super) log_bytes: AtomicU64,
    /// Commits refused with `Busy`.
    pub(super) busy: AtomicU64,
}

impl Counters {
    /// Adds to a counter; only sums are read, so no memory ordering is needed.
    pub(super) fn add(counter: &AtomicU64, amount: u64) {
        counter.fetch_add(amount, Ordering::Relaxed);
    }
}

impl Inner {
    /// Poisons the writer after `cause`: everybody who waits gets `kind`, later commits get
    /// `ReadOnly`, and reads go on.
    pub(super) fn poison(&self, kind: ErrorKind, cause: &Error) {
        let told = self.queue.poison(cause.clone());
        let fate = if kind == ErrorKind::Undetermined {
            "the commit may or may not be there after the store is reopened"
        } else {
            "the commit was not written, and none will be until the store is reopened"
        };
        let error = Error::new(kind, format!("{fate}: {cause}")).with_source(cause.clone());
        told.failed(&error);
        self.signals.wake_all();
    }
}
