//! Hides commits that are not acknowledged yet from what is published.
//!
//! The store underneath may show a commit at once. To look like a driver with a queue, the moment
//! before a late commit is kept, and shown until the commit is acknowledged.
//!
//! Invariant: what is shown includes every commit that was acknowledged, or whose end was told as
//! undetermined, and it never goes back.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::contract::{CommitNumber, Result, Snapshot, Store};

/// A commit whose outcome was not reported yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ticket(u64);

struct Waiting {
    ticket: Ticket,
    before: Arc<dyn Snapshot>,
}

#[derive(Default)]
struct State {
    tickets: u64,
    /// Number of the newest commit whose outcome was reported.
    told: CommitNumber,
    /// Number of the newest visible commit.
    shown: CommitNumber,
    waiting: VecDeque<Waiting>,
}

#[derive(Default)]
pub(super) struct Horizon {
    state: Mutex<State>,
}

impl Horizon {
    /// Hides a commit that is about to be submitted.
    pub(super) fn hide(&self, store: &dyn Store) -> Result<Ticket> {
        let mut state = self.lock();
        let before = store.snapshot()?;
        state.tickets += 1;
        let ticket = Ticket(state.tickets);
        state.waiting.push_back(Waiting { ticket, before });
        Ok(ticket)
    }

    /// Makes a commit visible again; `told` is its number if it got one. Its end may be told
    /// afterwards.
    pub(super) fn show(&self, ticket: Option<Ticket>, told: Option<CommitNumber>) {
        let mut state = self.lock();
        state.told = state.told.max(told.unwrap_or(0));
        if let Some(ticket) = ticket {
            state.waiting.retain(|waiting| waiting.ticket != ticket);
        }
    }

    /// Returns the published state.
    pub(super) fn published(&self, store: &dyn Store) -> Result<Arc<dyn Snapshot>> {
        let mut state = self.lock();
        let least = state.told.max(state.shown);
        let hidden = state
            .waiting
            .front()
            .map(|waiting| &waiting.before)
            .filter(|before| before.id().commit >= least)
            // It was opened for somebody else, and may have grown old waiting.
            .filter(|before| before.time_left().is_none_or(|left| !left.is_zero()));
        let shown = match hidden {
            // Asked all the same, so that a closed store says so.
            Some(before) => store.snapshot().map(|_| Arc::clone(before))?,
            None => store.snapshot()?,
        };
        state.shown = state.shown.max(shown.id().commit);
        Ok(shown)
    }

    /// Returns how many commits are hidden.
    pub(super) fn hidden(&self) -> usize {
        self.lock().waiting.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
