//! The commit thread: takes groups from the queue, has them written and tells who waits for them.
//!
//! It never sleeps while something is queued, unless a caller leads what is queued (`leader.rs`) or
//! background work is behind (`admission.rs`), and does what is due between groups and when none comes.
//!
//! Invariant: after an error nothing more is written, and everybody who waits is told.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use crate::contract::{Durability, Error, ErrorKind};
use crate::locks::lock;

use super::admission::Pace;
use super::committer::Failure;
use super::inner::Inner;
use super::options::SUPERBLOCK_SYNC_INTERVAL;
use super::queue::Work;

/// Runs until the queue is stopped and empty, or a write fails.
pub(super) fn run(inner: &Arc<Inner>) {
    match catch_unwind(AssertUnwindSafe(|| work(inner))) {
        Ok(Ok(())) => {}
        Ok(Err(failure)) => inner.fail(&failure),
        Err(_) => inner
            .fail(&Failure::after(Error::new(ErrorKind::Internal, "the commit thread panicked"))),
    }
}

fn work(inner: &Inner) -> Result<(), Failure> {
    let mut pace = Pace::default();
    loop {
        match inner.queue.next(idle_timeout(inner)) {
            Work::Group { layer, first_commit, commits, bytes } => {
                inner.keep_pace(&mut pace, bytes);
                let told = lock(&inner.committer).group(inner, &layer, first_commit, commits)?;
                told.committed();
                inner.written.keep_keys_only();
                lock(&inner.committer).run_due_work(inner, false).map_err(Failure::after)?;
            }
            Work::Seal => lock(&inner.committer).seal(inner).map_err(Failure::after)?,
            Work::Due => {
                lock(&inner.committer).run_due_work(inner, false).map_err(Failure::after)?;
            }
            Work::Idle => {
                lock(&inner.committer).run_due_work(inner, true).map_err(Failure::after)?;
            }
            Work::Stop => {
                let mut log = lock(&inner.log);
                inner.sync_log(&mut log).map_err(Failure::after)?;
                return Ok(());
            }
            Work::Again => {}
            Work::Broken => return Ok(()),
        }
    }
}

/// Returns how long to wait for a group before a sync is due.
fn idle_timeout(inner: &Inner) -> Option<Duration> {
    let superblock = lock(&inner.superblock).is_dirty().then_some(SUPERBLOCK_SYNC_INTERVAL);
    let log = match inner.options.durability {
        Durability::Interval(interval) if lock(&inner.log).writer.is_dirty() => Some(interval),
        Durability::Interval(_) | Durability::Sync => None,
    };
    match (superblock, log) {
        (Some(superblock), Some(log)) => Some(superblock.min(log)),
        (one, other) => one.or(other),
    }
}

impl Inner {
    /// Ends all writing after a failure, and tells everybody who waits.
    pub(super) fn fail(&self, failure: &Failure) {
        self.poison(failure.kind, &failure.cause);
        self.queue.end();
    }
}
