//! A caller that leads: it makes durable on its own thread the one commit that is queued.
//!
//! Handing a lone commit to the commit thread and its end back costs two changes of threads, which
//! take as long as the sync of a quick disk. Who commits beside others gains nothing by leading: there
//! groups form while a sync runs, and the commit thread is awake anyway.
//!
//! In interval mode nobody leads: an answer waits for no sync there, and the commit thread, which sleeps
//! until the next one, would not know of a log that became dirty meanwhile.
//!
//! Invariant: nobody depends on a caller to lead. The commit thread was woken, and finds either the
//! commit or nothing to do.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::TryLockError;
use std::sync::atomic::Ordering;

use crate::contract::{Durability, Error, ErrorKind};

use super::committer::Failure;
use super::inner::Inner;

/// Leaves the disk to the commit thread if the last sync took longer: then the change of threads does
/// not count, and the caller's thread may have other things to do.
const SYNC_MICROS_MAX: u64 = 1000;

/// Writes the lone commit of the queue, if there is one and nobody is at it.
pub(super) fn lead(inner: &Inner) {
    let is_slow = inner.counters.last_sync_micros.load(Ordering::Relaxed) > SYNC_MICROS_MAX;
    // What is slowed down waits at the commit thread.
    let is_behind = inner.pressure.load(Ordering::Relaxed) > 0;
    if is_slow || is_behind || inner.options.durability != Durability::Sync {
        return;
    }
    match catch_unwind(AssertUnwindSafe(|| write(inner))) {
        Ok(Ok(())) => {}
        Ok(Err(failure)) => inner.fail(&failure),
        Err(_) => inner.fail(&Failure::after(Error::new(
            ErrorKind::Internal,
            "a thread panicked while it wrote its commit",
        ))),
    }
}

fn write(inner: &Inner) -> Result<(), Failure> {
    let mut committer = match inner.committer.try_lock() {
        Ok(committer) => committer,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return Ok(()),
    };
    let Some((layer, commit)) = inner.queue.take_lone() else { return Ok(()) };
    let told = committer.group(inner, &layer, commit, 1)?;
    let is_due = committer.has_due_work(inner);
    drop(committer);
    told.committed();
    inner.written.keep_keys_only();
    if is_due {
        inner.queue.request_due_work();
    }
    Ok(())
}
