//! Flushes, compactions and the removal of log files, on threads of ours.
//!
//! Invariant: a log file goes only after the mark says durably that everything in it is in the
//! tree's files.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::contract::{Error, ErrorKind, Maintained, Result, StoreStats};
use crate::vfs;

use super::fault;
use super::inner::{Inner, LogFileInfo, lock};
use super::tree::Tree;

/// Ticks without work after which deletions may be merged away.
const QUIET_TICKS: u32 = 20;
/// How often old snapshots and memory are looked after when nothing else happens.
const SWEEP_EVERY: Duration = Duration::from_millis(500);

/// How long work that found no room waits before it is tried in the room that only deletions may use.
const ROOM_AGAIN_AFTER: Duration = Duration::from_secs(10);

/// Deletions in memory at which the memory table is written to a file when nothing else is to do: as
/// long as they are in memory, what they delete keeps its space.
const DELETIONS_IN_MEMORY: u64 = 100;

/// Percent of deletions among all entries at which everything is merged when nothing else is to do.
const DELETIONS_PERCENT: u64 = 25;
/// The same of a tree that is merged in seconds.
const SMALL_TREE_DELETIONS_PERCENT: u64 = 5;
/// The same after a range was destroyed …
const DESTROYED_PERCENT: u64 = 3;
/// … and a tree so small that it is merged then anyway.
const SMALL_TREE_BYTES: u64 = 512 * 1024 * 1024;

/// How the threads of a store wake each other.
#[derive(Default)]
pub(super) struct Signals {
    state: Mutex<SignalState>,
    changed: Condvar,
    /// Held while table files are written from memory.
    flushing: Mutex<()>,
    /// Held while table files are merged.
    compacting: Mutex<()>,
}

#[derive(Default)]
struct SignalState {
    /// A memory table may wait to be flushed.
    flush_due: bool,
    /// Levels may have to be merged.
    compact_due: bool,
    /// A range was destroyed, and its space should return.
    reclaim_due: bool,
    /// How often nothing was due in a row.
    quiet: u32,
    /// Something is due that found no room on the disk, at this time of the store's clock.
    waits_for_room_since: Option<Duration>,
    /// Flushes and merges since open.
    flushes: u64,
    compactions: u64,
    /// How often the commit thread sealed the memory table.
    seals: u64,
    /// What was done since open.
    done: Maintained,
    /// The commit thread ended.
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

    /// Notes that a range was destroyed.
    pub(super) fn reclaim_due(&self) {
        self.change(|state| state.reclaim_due = true);
    }

    /// Returns what is counted here, and zeros.
    pub(super) fn stats(&self) -> StoreStats {
        let state = self.lock();
        StoreStats {
            flushes: state.flushes,
            compactions: state.compactions,
            waits_for_room: state.waits_for_room_since.is_some(),
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

    /// Lets the background threads end.
    pub(super) fn stop(&self) {
        self.change(|state| state.stop = true);
    }

    /// Wakes everybody who waits, to look again.
    pub(super) fn wake_all(&self) {
        self.changed.notify_all();
    }

    fn wait<'a>(
        &'a self,
        state: MutexGuard<'a, SignalState>,
        patience: Duration,
    ) -> MutexGuard<'a, SignalState> {
        self.changed.wait_timeout(state, patience).unwrap_or_else(PoisonError::into_inner).0
    }
}

/// What a background thread is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Duty {
    /// Flushes, and everything small.
    Flush,
    /// Compactions.
    Compact,
    /// Both, flushes first.
    Both,
}

/// Runs until the store stops.
pub(super) fn run(inner: &Arc<Inner>, duty: Duty) {
    let worked = catch_unwind(AssertUnwindSafe(|| work(inner, duty)));
    let cause = match worked {
        Ok(Ok(())) => return,
        Ok(Err(cause)) => cause,
        Err(_) => Error::new(ErrorKind::Internal, "a background thread panicked"),
    };
    inner.break_off(ErrorKind::Undetermined, &cause);
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
                inner.signals.change(|state| state.waits_for_room_since = Some(now));
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

/// Waits for something to do. Returns nothing when the store stops.
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
            if let Some(since) = state.waits_for_room_since {
                let is_low = inner.space.ask();
                // Deletions that were taken meanwhile give no room before files are merged.
                let waited = inner.clock.monotonic().saturating_sub(since);
                if !is_low || waited >= ROOM_AGAIN_AFTER && !inner.space.is_nearly_gone() {
                    state.waits_for_room_since = None;
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
    /// Writes sealed memory tables to files, notes it durably, and removes log files.
    ///
    /// The lock for compactions is always taken before the one for flushes.
    pub(super) fn flush(&self) -> Result<()> {
        let _flushing = lock(&self.signals.flushing);
        let Some((upto, bytes)) = self.tree.flush()? else { return Ok(()) };
        self.tree.refresh(|view| self.moments.install(view));
        self.feel_pressure();
        let mut mark = lock(&self.mark);
        mark.mark.flushed_group = mark.mark.flushed_group.max(upto.group);
        mark.mark.flushed_commit = mark.mark.flushed_commit.max(upto.commit);
        mark.write_durably()?;
        drop(mark);
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

    /// Removes the log files whose groups are all among the first `flushed`. Never the newest.
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

    /// Does one compaction if one is due. Returns whether it did.
    pub(super) fn compact(&self) -> Result<bool> {
        self.merge(Tree::compact)
    }

    /// Gives the space of deleted rows back, if there are enough of them to be worth a merge of
    /// everything, or few enough files. `now` says that somebody asks for it.
    pub(super) fn reclaim(&self, now: bool) -> Result<()> {
        let destroyed = std::mem::take(&mut self.signals.lock().reclaim_due);
        if !destroyed && now {
            return Ok(());
        }
        if !now && self.deletions_in_memory.load(Ordering::Relaxed) >= DELETIONS_IN_MEMORY {
            // A store that is about to stop, or takes no writes any more, seals nothing.
            if self.seal_now().is_err() {
                return Ok(());
            }
            self.flush()?;
        }
        if destroyed {
            self.merge(|tree| tree.push_down().map(|()| true))?;
        }
        let view = self.moments.view();
        let files = view.files();
        let share = files.deletions.saturating_mul(100) / files.entries.max(1);
        let is_small = files.bytes <= SMALL_TREE_BYTES;
        let worth_it = share >= DELETIONS_PERCENT
            || is_small && share >= SMALL_TREE_DELETIONS_PERCENT
            || destroyed && (is_small || share >= DESTROYED_PERCENT);
        if files.deletions > 0 && worth_it {
            drop(view);
            self.merge(|tree| tree.merge_all().map(|()| true))?;
        }
        Ok(())
    }

    /// Changes which table files there are by `merge`, which says whether it changed anything.
    pub(super) fn merge(&self, merge: impl Fn(&Tree) -> Result<bool>) -> Result<bool> {
        let _compacting = lock(&self.signals.compacting);
        loop {
            if self.stop.is_stopped() {
                return Ok(false);
            }
            let first_table = self.tree.next_table();
            match merge(&self.tree) {
                Ok(done) => {
                    if done {
                        self.signals.lock().compactions += 1;
                        self.tree.refresh(|view| self.moments.install(view));
                        self.feel_pressure();
                        self.sweep();
                        self.tree.keep_identities();
                    }
                    return Ok(done);
                }
                // Ended on purpose; the next open removes what it had written.
                Err(_) if self.stop.is_stopped() => return Ok(false),
                Err(error) => {
                    let _flushing = lock(&self.signals.flushing);
                    self.tree.remove_unfinished(first_table)?;
                    if !self.tree.merges_again() {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Lets go of moments and memory that nobody needs any more.
    pub(super) fn sweep(&self) {
        self.moments.sweep();
        self.tree.free_retired();
    }

    /// Has the memory table sealed by the commit thread and waits for it.
    pub(super) fn seal_now(&self) -> Result<()> {
        let mut state = self.signals.lock();
        let before = state.seals;
        drop(state);
        self.queue.want_seal();
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
