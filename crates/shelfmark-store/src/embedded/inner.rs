//! What the threads of one store share.
//!
//! Locks are taken in this order, and none is held while a later-listed thread is waited for:
//! queue, layer, moments, written; log, mark. The queue's lock is never held across a read of files or a
//! sync.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::clock::Clock;
use crate::contract::{Error, ErrorKind};

use super::gaps::Gaps;
use super::log::writer::LogWriter;
use super::maintenance::Signals;
use super::mark::MarkFile;
use super::moments::Moments;
use super::options::Options;
use super::queue::Queue;
use super::recent::RecentGroups;
use super::space::Space;
use super::stripes::Stripes;
use super::tree::{LastGroup, StopFlag, Tree};
use super::written::RecentWrites;

/// Everything of an open store.
pub(super) struct Inner {
    /// The store's folder.
    pub(super) folder: PathBuf,
    /// How it was opened.
    pub(super) options: Options,
    /// Where time comes from.
    pub(super) clock: Arc<dyn Clock>,
    /// The tree.
    pub(super) tree: Tree,
    /// Ends compactions.
    pub(super) stop: StopFlag,
    /// What readers see.
    pub(super) moments: Moments,
    /// Commits on their way.
    pub(super) queue: Queue,
    /// Newest commits per stripe of keys.
    pub(super) stripes: Stripes,
    /// Which commits the last groups held.
    pub(super) recent: RecentGroups,
    /// Which keys the last groups wrote.
    pub(super) written: Arc<RecentWrites>,
    /// Stretches of deletions that scans step over.
    pub(super) gaps: Arc<Gaps>,
    /// The log file that is written, and the numbers of the last group.
    pub(super) log: Mutex<Log>,
    /// The log files on disk, the oldest first.
    pub(super) files: Mutex<Vec<LogFileInfo>>,
    /// The mark.
    pub(super) mark: Mutex<MarkFile>,
    /// Room on the disk.
    pub(super) space: Arc<Space>,
    /// How far the background work is behind; see [`Inner::feel_pressure`].
    pub(super) pressure: AtomicUsize,
    /// Wakes and is woken by the background threads.
    pub(super) signals: Signals,
    /// Counters for people.
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
    /// Where it is.
    pub(super) path: PathBuf,
    /// Number that its first group has or will have.
    pub(super) first_group: u64,
    /// Its length; for the newest one as of its creation.
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
    /// Bytes appended to the log.
    pub(super) log_bytes: AtomicU64,
    /// Commits refused with `Busy`.
    pub(super) busy: AtomicU64,
}

impl Counters {
    /// Adds to a counter. Only sums are ever read, so no order is needed.
    pub(super) fn add(counter: &AtomicU64, amount: u64) {
        counter.fetch_add(amount, Ordering::Relaxed);
    }
}

/// Takes a lock whose guarded value is whole after every single step.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Inner {
    /// Ends all writing because of `cause`: everybody who waits gets `kind`, later commits
    /// `ReadOnly`. Reads go on.
    pub(super) fn break_off(&self, kind: ErrorKind, cause: &Error) {
        let told = self.queue.break_off(cause.clone());
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
