//! Counts the requests of a connection that are in progress: several at once with HTTP/2.
//!
//! Invariant: a connection is busy for its slot exactly while a request of it is in progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

use crate::connection_slots::ConnectionSlot;
use crate::limits::ABANDONED_REQUESTS_MAX;

/// The requests of one connection.
pub(crate) struct InFlight {
    slot: Arc<ConnectionSlot>,
    count: AtomicUsize,
    /// Requests so far.
    begun: AtomicUsize,
    /// Requests that the client gave up before their answer.
    abandoned: AtomicUsize,
    too_many: Notify,
}

/// A request in progress.
pub(crate) struct Running {
    all: Arc<InFlight>,
    /// The number of the request, from 1.
    pub(crate) number: usize,
    is_answered: bool,
}

impl InFlight {
    pub(crate) fn new(slot: Arc<ConnectionSlot>) -> Arc<Self> {
        let (count, begun, abandoned) = Default::default();
        Arc::new(Self { slot, count, begun, abandoned, too_many: Notify::new() })
    }

    /// Begins a request.
    pub(crate) fn begin(self: &Arc<Self>) -> Running {
        self.count.fetch_add(1, Ordering::SeqCst);
        self.slot.set_busy(true);
        let number = self.begun.fetch_add(1, Ordering::Relaxed) + 1;
        Running { all: Arc::clone(self), number, is_answered: false }
    }

    /// Returns the number of requests so far, and true if one is in progress.
    pub(crate) fn state(&self) -> (usize, bool) {
        (self.begun.load(Ordering::Relaxed), self.count.load(Ordering::SeqCst) > 0)
    }

    /// Returns once the client has given up more requests than it may.
    pub(crate) async fn is_abused(&self) {
        self.too_many.notified().await;
    }
}

impl Running {
    /// Ends the request with its answer; one that is dropped without was given up by its client.
    pub(crate) fn answered(mut self) {
        self.is_answered = true;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let all = &self.all;
        let is_abandoned = !self.is_answered;
        if is_abandoned && all.abandoned.fetch_add(1, Ordering::Relaxed) >= ABANDONED_REQUESTS_MAX {
            all.too_many.notify_one();
        }
        if all.count.fetch_sub(1, Ordering::SeqCst) == 1 {
            all.slot.set_busy(false);
            // One that began meanwhile said so before this.
            if all.count.load(Ordering::SeqCst) > 0 {
                all.slot.set_busy(true);
            }
        }
    }
}
