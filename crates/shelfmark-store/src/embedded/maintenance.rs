//! Background threads: flushes, compactions and the removal of log files.
//!
//! Invariant: a log file goes only after the superblock says durably that everything in it is in the
//! tree's files.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::contract::{Error, ErrorKind, Maintained, Result, StoreStats};
use crate::locks::lock;
use crate::vfs;

use super::fault;
use super::inner::{Inner, LogFileInfo};
use super::tree::Tree;

/// Idle ticks after which tombstones may be merged away.
const QUIET_TICKS: u32 = 20;
/// Interval at which old snapshots and memory are released when nothing else happens.
const SWEEP_EVERY: Duration = Duration::from_millis(500);

/// Time that work waits for disk space before it is tried in the reserve that only deletions may
/// use.
const DISK_SPACE_RETRY_AFTER: Duration = Duration::from_secs(10);

/// Tombstones in memory at which an idle store flushes its memory table: until then, what they
/// delete keeps its space.
const TOMBSTONES_IN_MEMORY: u64 = 100;

/// Percentage of tombstones among all entries at which an idle store merges everything.
const TOMBSTONES_PERCENT: u64 = 25;
/// The same percentage for a tree that is merged in seconds.
const SMALL_TREE_TOMBSTONES_PERCENT: u64 = 5;
/// The same percentage after a range was destroyed …
const DESTROYED_PERCENT: u64 = 3;
/// … and a tree so small that it is merged then anyway.
const SMALL_TREE_BYTES: u64 = 512 * 1024 * 1024;

/// Signals by which the threads of a store wake each other.
#[derive(Default)]
pub(super) struct Signals {
    state: Mutex<SignalState>,
    changed: Condvar,
    /// Held during a flush.
    pub(super) flushing: Mutex<()>,
    /// Held during a compaction.
    pub(super) compacting: Mutex<()>,
    /// Held while rows are ingested; taken before the others.
    pub(super) ingesting: Mutex<()>,
    ingestion: Mutex<Ingestion>,
}

/// The state of an ingestion, for merges and flushes that fail beside it.
#[derive(Default)]
struct Ingestion {
    is_running: bool,
    /// The first number of files that a merge or a flush left behind meanwhile.
    left_behind: Option<u64>,
}

#[derive(Default)]
struct SignalState {
    /// True if a sealed memory table waits to be flushed.
    flush_due: bool,
    /// True if a compaction may be due.
    compact_due: bool,
    /// True if a range was destroyed and its space should be freed.
    reclaim_due: bool,
    /// Ticks in a row in which nothing was due.
    quiet: u32,
    /// The time since which work waits for free disk space.
    waits_for_disk_space_since: Option<Duration>,
    /// Flushes and merges since open.
    flushes: u64,
    compactions: u64,
    /// Times that the commit thread sealed the memory table.
    seals: u64,
    /// Work done since open.
    done: Maintained,
    /// True once the commit thread has ended.
    writer_ended: bool,
    stop: bool,
}

impl Signals {
    fn lock(&self) -> MutexGuard<'_, SignalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut SignalState)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Notes that the commit thread sealed the memory table, or found it empty.
    pub(super) fn sealed(&self) {
        self.change(|state| {
            state.seals += 1;
            state.flush_due = true;
        });
    }

    /// Notes that a flush and a compaction may be due.
    pub(super) fn work_due(&self) {
        self.change(|state| {
            state.flush_due = true;
            state.compact_due = true;
        });
    }

    /// Notes that a compaction may be due.
    pub(super) fn compaction_due(&self) {
        self.change(|state| state.compact_due = true);
    }

    /// Notes that rows are being ingested from now on, and returns `first_table` of that moment.
    pub(super) fn begin_ingestion(&self, first_table: impl FnOnce() -> u64) -> u64 {
        let mut ingestion = lock(&self.ingestion);
        *ingestion = Ingestion { is_running: true, left_behind: None };
        first_table()
    }

    /// Notes that no rows are being ingested any more. Returns the first number of the files that
    /// merges and flushes left behind meanwhile.
    pub(super) fn end_ingestion(&self) -> Option<u64> {
        std::mem::take(&mut *lock(&self.ingestion)).left_behind
    }

    /// Notes that a range was destroyed.
    pub(super) fn reclaim_due(&self) {
        self.change(|state| state.reclaim_due = true);
    }

    /// Returns the statistics that are counted here; the others are zero.
    pub(super) fn stats(&self) -> StoreStats {
        let state = self.lock();
        StoreStats {
            flushes: state.flushes,
            compactions: state.compactions,
            waits_for_disk_space: state.waits_for_disk_space_since.is_some(),
            ..StoreStats::default()
        }
    }

    /// Waits for `time`, or until something changes.
    pub(super) fn pause(&self, time: Duration) {
        drop(self.wait(self.lock(), time));
    }

    /// Notes that the commit thread ended.
    pub(super) fn writer_ended(&self) {
        self.change(|state| state.writer_ended = true);
    }

    /// Tells the background threads to end.
    pub(super) fn stop(&self) {
        self.change(|state| state.stop = true);
    }

    /// Wakes all waiting threads.
    pub(super) fn wake_all(&self) {
        self.changed.notify_all();
    }

    fn wait<'a>(
        &'a self,
        state: MutexGuard<'a, SignalState>,
        idle_timeout: Duration,
    ) -> MutexGuard<'a, SignalState> {
        self.changed.wait_timeout(state, idle_timeout).unwrap_or_else(PoisonError::into_inner).0
    }
}

/// The duty of a background thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Duty {
    /// Flushes, and everything small.
    Flush,
    /// Compactions.
    Compact,
    /// Both, flushes first.
    Both,
}

/// Runs the duty until the store stops.
pub(super) fn run(inner: &Arc<Inner>, duty: Duty) {
    let worked = catch_unwind(AssertUnwindSafe(|| work(inner, duty)));
    let cause = match worked {
        Ok(Ok(())) => return,
        Ok(Err(cause)) => cause,
        Err(_) => Error::new(ErrorKind::Internal, "a background thread panicked"),
    };
    inner.poison(ErrorKind::Undetermined, &cause);
}

fn work(inner: &Inner, duty: Duty) -> Result<()> {
    while let Some(task) = next_task(inner, duty) {
        let outcome = match task {
            Task::Flush => inner.flush().map(|()| true),
            Task::Compact => inner.compact(),
            Task::Reclaim => inner.reclaim(false).map(|()| false),
        };
        match outcome {
            Ok(true) => inner.signals.change(|state| state.compact_due = true),
            Ok(false) => {}
            // The log has everything, and readers what they had: it can wait.
            Err(error) if fault::is_full(&error) => {
                inner.space.ask();
                let now = inner.clock.monotonic();
                inner.signals.change(|state| state.waits_for_disk_space_since = Some(now));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

enum Task {
    Flush,
    Compact,
    Reclaim,
}

/// Waits for a task; returns `None` when the store stops.
fn next_task(inner: &Inner, duty: Duty) -> Option<Task> {
    let (flushes, compacts) = (duty != Duty::Compact, duty != Duty::Flush);
    let mut state = inner.signals.lock();
    loop {
        if state.stop {
            return None;
        }
        if flushes && std::mem::take(&mut state.flush_due) {
            state.quiet = 0;
            return Some(Task::Flush);
        }
        if compacts && std::mem::take(&mut state.compact_due) {
            state.quiet = 0;
            return Some(Task::Compact);
        }
        if compacts && state.quiet >= QUIET_TICKS {
            state.quiet = 0;
            return Some(Task::Reclaim);
        }
        state = inner.signals.wait(state, SWEEP_EVERY);
        if flushes {
            drop(state);
            inner.sweep();
            state = inner.signals.lock();
            if let Some(since) = state.waits_for_disk_space_since {
                let is_low = inner.space.ask();
                // Deletions that were taken meanwhile give no room before files are merged.
                let waited = inner.clock.monotonic().saturating_sub(since);
                if !is_low || waited >= DISK_SPACE_RETRY_AFTER && !inner.space.is_nearly_gone() {
                    state.waits_for_disk_space_since = None;
                    state.flush_due = true;
                    state.compact_due = true;
                }
            }
        }
        if compacts {
            state.quiet += 1;
        }
    }
}

impl Inner {
    /// Flushes the sealed memory tables, records that durably, and removes log files.
    ///
    /// The lock for compactions is always taken before the one for flushes.
    pub(super) fn flush(&self) -> Result<()> {
        let flushing = lock(&self.signals.flushing);
        let first_table = self.tree.next_table();
        let flushed = match self.tree.flush() {
            Ok(flushed) => flushed,
            Err(error) => {
                drop(flushing);
                self.remove_left_behind(first_table, &lock(&self.signals.compacting))?;
                return Err(error);
            }
        };
        let Some((upto, bytes)) = flushed else { return Ok(()) };
        self.tree.refresh(|view| self.snapshots.install(view));
        self.measure_backlog();
        let mut superblock = lock(&self.superblock);
        superblock.superblock.flushed_group = superblock.superblock.flushed_group.max(upto.group);
        superblock.superblock.flushed_commit =
            superblock.superblock.flushed_commit.max(upto.commit);
        superblock.write_durably()?;
        drop(superblock);
        let removed = self.remove_log_files(upto.group)?;
        self.signals.change(|state| {
            state.flushes += 1;
            state.done.flushed_bytes += bytes;
            state.done.log_files_removed += removed;
        });
        self.sweep();
        self.tree.keep_identities();
        Ok(())
    }

    /// Removes the log files whose groups are all among the first `flushed`, never the newest file.
    pub(super) fn remove_log_files(&self, flushed: u64) -> Result<usize> {
        let gone: Vec<LogFileInfo> = {
            let mut files = lock(&self.files);
            let keep_from = files
                .iter()
                .rposition(|file| file.first_group <= flushed.saturating_add(1))
                .unwrap_or(0);
            files.drain(..keep_from).collect()
        };
        for file in &gone {
            vfs::remove(&file.path)
                .map_err(|error| fault::io("remove the log file", &file.path, error))?;
        }
        Ok(gone.len())
    }

    /// Runs one compaction if one is due, and returns true if it did.
    pub(super) fn compact(&self) -> Result<bool> {
        self.merge(Tree::compact)
    }

    /// Frees the space of deleted rows, if there are enough of them to be worth a full merge or few
    /// enough files. `now` says that somebody asks for it.
    pub(super) fn reclaim(&self, now: bool) -> Result<()> {
        let destroyed = std::mem::take(&mut self.signals.lock().reclaim_due);
        if !destroyed && now {
            return Ok(());
        }
        if !now && self.tombstones_in_memory.load(Ordering::Relaxed) >= TOMBSTONES_IN_MEMORY {
            // A store that is about to stop, or takes no writes any more, seals nothing.
            if self.seal_now().is_err() {
                return Ok(());
            }
            self.flush()?;
        }
        if destroyed {
            self.merge(|tree| tree.push_down().map(|()| true))?;
        }
        let view = self.snapshots.view();
        let files = view.files();
        let share = files.tombstones.saturating_mul(100) / files.entries.max(1);
        let is_small = files.bytes <= SMALL_TREE_BYTES;
        let worth_it = share >= TOMBSTONES_PERCENT
            || is_small && share >= SMALL_TREE_TOMBSTONES_PERCENT
            || destroyed && (is_small || share >= DESTROYED_PERCENT);
        if files.tombstones > 0 && worth_it {
            drop(view);
            self.merge(|tree| tree.merge_all().map(|()| true))?;
        }
        Ok(())
    }

    /// Changes the set of table files by `merge`, which returns true if it changed anything.
    pub(super) fn merge(&self, merge: impl Fn(&Tree) -> Result<bool>) -> Result<bool> {
        let compacting = lock(&self.signals.compacting);
        loop {
            if self.stop.is_stopped() {
                return Ok(false);
            }
            let first_table = self.tree.next_table();
            match merge(&self.tree) {
                Ok(done) => {
                    if done {
                        self.signals.lock().compactions += 1;
                        self.tree.refresh(|view| self.snapshots.install(view));
                        self.measure_backlog();
                        self.sweep();
                        self.tree.keep_identities();
                    }
                    return Ok(done);
                }
                // Ended on purpose; the next open removes what it had written.
                Err(_) if self.stop.is_stopped() => return Ok(false),
                Err(error) => {
                    self.remove_left_behind(first_table, &compacting)?;
                    if !self.tree.merges_again() {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Removes the table files from number `from` on that a failed flush or merge left behind, so that
    /// they take no room from those who try again. No merge runs meanwhile.
    fn remove_left_behind(&self, from: u64, _compacting: &MutexGuard<'_, ()>) -> Result<()> {
        if self.stop.is_stopped() {
            // The next open removes them.
            return Ok(());
        }
        let _flushing = lock(&self.signals.flushing);
        let mut ingestion = lock(&self.signals.ingestion);
        if ingestion.is_running {
            // Its files have such numbers, too; it removes what was left behind at its end.
            let before = ingestion.left_behind.map_or(from, |before| before.min(from));
            ingestion.left_behind = Some(before);
            return Ok(());
        }
        self.tree.remove_unfinished(from)
    }

    /// Releases snapshots and memory that nobody needs any more.
    pub(super) fn sweep(&self) {
        self.snapshots.sweep();
        self.tree.free_retired();
    }

    /// Asks the commit thread to seal the memory table and waits for it.
    pub(super) fn seal_now(&self) -> Result<()> {
        let mut state = self.signals.lock();
        let before = state.seals;
        drop(state);
        self.queue.request_seal();
        state = self.signals.lock();
        while state.seals == before {
            if state.writer_ended {
                return self.queue.lock().check_open();
            }
            state = self.signals.wait(state, SWEEP_EVERY);
        }
        Ok(())
    }

    /// Does all background work that is due and waits for it.
    pub(super) fn maintain(&self) -> Result<Maintained> {
        let before = self.signals.lock().done;
        self.seal_now()?;
        self.flush()?;
        while self.compact()? {}
        self.reclaim(true)?;
        self.sweep();
        let after = self.signals.lock().done;
        Ok(Maintained {
            flushed_bytes: after.flushed_bytes - before.flushed_bytes,
            log_files_removed: after.log_files_removed - before.log_files_removed,
        })
    }
}
