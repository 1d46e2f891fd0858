//! The embedded driver: our commit log over one bought tree, in one folder, in this process.
//!
//! Writers queue their commits; one commit thread writes them to the log group by group, syncs
//! once per group, inserts them into the tree's memory table and publishes them. Memory tables are
//! written to table files in the background, and the log files behind them go. After a crash the
//! log is replayed.
//!
//! What it is not: a tree. That is bought, and only the module `tree` knows it.
//!
//! Invariant: readers read below the published number only, so nobody sees half a group or
//! anything that is not durable; and an acknowledged commit is in a synced log or in a synced table
//! file at every moment.

mod admission;
mod bytes;
mod commit_thread;
mod committer;
mod destroy;
mod fault;
mod free_space;
mod high_water_marks;
mod ingest;
mod inner;
mod latest;
mod layout;
mod leader;
mod lock;
mod log;
mod losses;
mod maintenance;
mod open;
mod options;
mod pending;
mod queue;
mod recent;
mod recovery;
mod report;
mod salvage;
mod salvage_preview;
mod snapshot_tracker;
mod submit;
mod superblock;
mod survey;
mod tombstone_gaps;
mod tree;
mod verify;
mod written;

#[cfg(test)]
mod tests;

pub use options::Options;
pub use report::{Damage, LostPart, Opened, Report, Salvage};
pub use salvage::{end_salvage, salvage};
pub use salvage_preview::{KeptVersion, preview_salvage};
pub use verify::verify;

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use ::bytes::Bytes;

use crate::clock::Clock;
use crate::contract::{
    Caps, Commit, Completion, Error, ErrorKind, KeyRange, Maintained, PlaceKind, Queued, Result,
    Snapshot, Store, StoreStats, StoredPlace,
};

use crate::locks::lock;

use inner::Inner;
use latest::Latest;

/// A store in a folder of its own, shared by the threads of one process.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use shelfmark_store::clock::SystemClock;
/// use shelfmark_store::embedded::{EmbeddedStore, Options};
/// use shelfmark_store::{Commit, Store as _, Write};
///
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path().join("store");
/// let store = EmbeddedStore::open(&folder, Options::default(), Arc::new(SystemClock::new()))?;
/// // Returns once it is on disk.
/// store.commit(Commit::of(vec![Write::Put { key: "a".into(), value: "1".into() }]))?;
/// assert_eq!(store.snapshot()?.get(b"a")?.as_deref(), Some(&b"1"[..]));
/// // So that the next open has nothing to replay.
/// store.close()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct EmbeddedStore {
    inner: Arc<Inner>,
    opened: Opened,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// True once the store is closed; locked while it is being closed.
    closed: Mutex<bool>,
}

impl EmbeddedStore {
    /// Opens the store in `folder`, creating folder and store if they are missing.
    ///
    /// Replays what a crash left in the log. Cost: a few milliseconds after a clean stop; after a
    /// crash up to 0.7 s per 64 MB of log.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: the path is no folder, the folder holds something else, or a newer
    ///   version wrote it. Choose another folder, or a newer version.
    /// * [`ErrorKind::Unavailable`]: it is open already. Stop the other one.
    /// * [`ErrorKind::Corrupt`]: stored bytes are damaged; the message names file and byte, and
    ///   nothing was changed. Restore a backup, or salvage.
    /// * [`ErrorKind::Io`]: the operating system refused; the message says what.
    pub fn open(folder: &Path, options: Options, clock: Arc<dyn Clock>) -> Result<Self> {
        open::open(folder, options, clock)
    }

    /// Returns what recovery found and did at open.
    #[must_use]
    pub fn opened(&self) -> Opened {
        self.opened
    }

    /// Verifies the checksum of every table file in use, while the store is read and written. The
    /// log is not looked at; [`verify`] does that when the store is stopped.
    ///
    /// Cost: one sequential read of the table files, past the block cache.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Closed`]: the store was closed.
    pub fn verify_tables(&self) -> Result<Vec<Damage>> {
        self.check_open()?;
        // The view keeps the files where they are.
        let view = self.inner.snapshots.view();
        let damages = view.files().listed.iter().filter_map(|table| {
            let flaw = tree::listing::check_whole(table).err()?;
            Some(Damage { file: table.path.clone(), offset: flaw.offset, why: flaw.why })
        });
        Ok(damages.collect())
    }

    fn check_open(&self) -> Result<()> {
        // A store that only refuses writes is still read.
        match self.inner.queue.lock().phase {
            queue::Phase::Closed => Err(fault::closed()),
            queue::Phase::Open | queue::Phase::Poisoned(_) => Ok(()),
        }
    }

    fn join(&self) {
        for thread in lock(&self.threads).drain(..) {
            // A thread that panicked has said so in `poison`.
            let _ = thread.join();
        }
    }
}

impl Store for EmbeddedStore {
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>> {
        let pin = self.inner.snapshots.pin();
        if self.inner.snapshots.is_closed() {
            return Err(fault::closed());
        }
        Ok(pin)
    }

    fn snapshot_for_copy(&self) -> Result<Arc<dyn Snapshot>> {
        self.check_open()?;
        // What lies in memory goes to files first: the view pins one memory table, which begins empty.
        if self.inner.seal_now().and_then(|()| self.inner.flush()).is_err() {
            // A store that takes no writes any more is still looked at.
            return self.snapshot();
        }
        let pin = self.inner.snapshots.pin_for_copy();
        if self.inner.snapshots.is_closed() {
            return Err(fault::closed());
        }
        Ok(pin)
    }

    fn latest(&self) -> Result<Arc<dyn Snapshot>> {
        let state = self.inner.queue.lock();
        if matches!(state.phase, queue::Phase::Closed) {
            return Err(fault::closed());
        }
        let pin = self.inner.snapshots.pin();
        let layers: Vec<_> = state.layers().cloned().collect();
        let commit = state.last_commit();
        drop(state);
        if layers.is_empty() {
            return Ok(pin);
        }
        Ok(Arc::new(Latest::new(pin, layers, commit)))
    }

    fn submit(&self, commit: Commit, done: Completion) -> Result<Queued> {
        submit::submit(&self.inner, commit, done)
    }

    fn lead(&self) {
        leader::lead(&self.inner);
    }

    fn boundaries(&self, range: &KeyRange) -> Result<Vec<Bytes>> {
        self.check_open()?;
        let view = self.inner.snapshots.view();
        let inside = |key: &&Bytes| range.contains(key) && **key != range.start;
        Ok(view.files().starts.iter().filter(inside).cloned().collect())
    }

    fn places(&self, range: &KeyRange, max: usize) -> Result<Vec<StoredPlace>> {
        self.check_open()?;
        let view = self.inner.snapshots.view();
        let files = view.files().extents.iter().map(|(first, last, number)| StoredPlace {
            kind: PlaceKind::TableFile,
            name: format!("file {number}"),
            range: KeyRange::new(first.clone(), [last.as_ref(), &[0]].concat()),
        });
        Ok(files.filter(|file| file.range.meets(range)).take(max).collect())
    }

    fn destroy_range(&self, range: &KeyRange) -> Result<()> {
        self.check_open()?;
        self.destroy(range)
    }

    fn ingest(&self, rows: &mut dyn Iterator<Item = Result<(Bytes, Bytes)>>) -> Result<()> {
        self.inner.ingest(rows)
    }

    fn maintain(&self) -> Result<Maintained> {
        self.check_open()?;
        self.inner.maintain()
    }

    fn caps(&self) -> Caps {
        self.inner.options.caps()
    }

    fn stats(&self) -> StoreStats {
        let inner = &self.inner;
        let counters = &inner.counters;
        let view = inner.snapshots.view();
        let (snapshots_open, oldest_snapshot) = inner.snapshots.held();
        let signals = inner.signals.stats();
        StoreStats {
            flushes: signals.flushes,
            compactions: signals.compactions,
            waits_for_disk_space: signals.waits_for_disk_space,
            commits: counters.commits.load(Ordering::Relaxed),
            groups: counters.groups.load(Ordering::Relaxed),
            syncs: counters.syncs.load(Ordering::Relaxed),
            log_bytes_written: counters.log_bytes.load(Ordering::Relaxed),
            commits_pending: inner.queue.lock().commits(),
            log_bytes_on_disk: inner.log_bytes_on_disk(),
            tree_bytes_on_disk: view.files().bytes,
            memory_table_bytes: view.memory_bytes(),
            snapshots_open,
            oldest_snapshot,
            published: inner.snapshots.current().commit,
            busy_refusals: counters.busy.load(Ordering::Relaxed),
            disk_free_bytes: inner.space.free(),
            ..inner.tree.stats()
        }
    }

    fn refusal(&self) -> Option<Error> {
        let open = self.inner.queue.lock().check_open();
        open.and_then(|()| self.inner.space.check(false)).err()
    }

    fn close(&self) -> Result<()> {
        let mut closed = lock(&self.closed);
        if std::mem::replace(&mut *closed, true) {
            return Ok(());
        }
        self.inner.queue.stop();
        self.inner.stop.stop();
        self.inner.signals.stop();
        self.join();
        drop(lock(&self.inner.signals.ingesting));
        let broken = match &self.inner.queue.lock().phase {
            queue::Phase::Poisoned(cause) => Some(cause.clone()),
            queue::Phase::Open | queue::Phase::Closed => None,
        };
        let flushed = match broken {
            None => self.inner.settle_for_close(),
            Some(cause) => Err(Error::new(
                ErrorKind::Io,
                format!("the store had stopped writing, so the next open replays its log: {cause}"),
            )
            .with_source(cause)),
        };
        self.inner.release_folder();
        flushed
    }
}

impl Drop for EmbeddedStore {
    fn drop(&mut self) {
        self.inner.queue.stop();
        self.inner.stop.stop();
        self.inner.signals.stop();
        self.join();
        drop(lock(&self.inner.signals.ingesting));
        self.inner.release_folder();
    }
}
