//! Tracks the open snapshots and when each expires.
//!
//! What it is not: the snapshots themselves. A snapshot asks [`Bounds`] whether it may still read.
//!
//! Invariant: a moment that is registered and within its bounds is among the [`Readers`] that
//! [`SnapshotTracker::advance`] returned, or is newer than all of them.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::contract::CommitNumber;

/// Limits of a snapshot in time and in bytes written meanwhile.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) age_max: Duration,
    pub(super) bytes_max: u64,
}

/// The opening of a snapshot, by the clock and by the bytes written since the store was opened.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opened {
    pub(super) at: Duration,
    pub(super) written_bytes: u64,
}

impl Opened {
    /// Returns true if a snapshot opened then is expired.
    pub(super) fn is_too_old(self, now: Self, bounds: Bounds) -> bool {
        now.at.saturating_sub(self.at) >= bounds.age_max
            || now.written_bytes.saturating_sub(self.written_bytes) > bounds.bytes_max
    }
}

/// The states that must stay readable when a commit is written.
#[derive(Debug)]
pub(super) struct Readers {
    /// The newest commit; later snapshots read there.
    published: CommitNumber,
    /// The commits that open snapshots read at, ascending.
    moments: Vec<CommitNumber>,
}

impl Readers {
    /// Returns the watermark: the oldest commit that any snapshot may still read at.
    pub(super) fn watermark(&self) -> CommitNumber {
        self.moments.first().copied().unwrap_or(self.published)
    }

    /// Returns the newest commit.
    pub(super) fn published(&self) -> CommitNumber {
        self.published
    }

    /// Returns true if a snapshot reads at a commit in `start..end`.
    pub(super) fn any_in(&self, start: CommitNumber, end: CommitNumber) -> bool {
        let at = self.moments.partition_point(|moment| *moment < start);
        self.moments.get(at).is_some_and(|moment| *moment < end)
    }
}

/// The registration of a snapshot: its commit, then a number that tells equal ones apart.
pub(super) type Ticket = (CommitNumber, u64);

/// The newest commit and the snapshots that are open.
#[derive(Debug, Default)]
pub(super) struct SnapshotTracker {
    /// Number of the newest commit.
    published: CommitNumber,
    /// Bytes written by all commits up to it.
    written_bytes: u64,
    /// Snapshots that may still be read, by ticket; later tickets were opened later.
    live: BTreeMap<Ticket, Opened>,
    tickets: u64,
    is_closed: bool,
}

impl SnapshotTracker {
    /// Registers a snapshot of the newest commit; `None` once the store is closed.
    pub(super) fn open(&mut self, at: Duration) -> Option<(Ticket, Opened)> {
        if self.is_closed {
            return None;
        }
        self.tickets += 1;
        let ticket = (self.published, self.tickets);
        let opened = Opened { at, written_bytes: self.written_bytes };
        self.live.insert(ticket, opened);
        Some((ticket, opened))
    }

    /// Forgets a snapshot.
    pub(super) fn release(&mut self, ticket: Ticket) {
        self.live.remove(&ticket);
    }

    /// Refuses new snapshots.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    /// Makes the next number the newest commit, whose writes are `bytes` long, and returns the
    /// readers beside it.
    pub(super) fn advance(&mut self, bytes: u64, at: Duration, bounds: Bounds) -> Readers {
        self.published += 1;
        self.written_bytes = self.written_bytes.saturating_add(bytes);
        self.readers(at, bounds)
    }

    /// Returns the current readers.
    pub(super) fn readers(&mut self, at: Duration, bounds: Bounds) -> Readers {
        self.expire(at, bounds);
        let mut moments: Vec<CommitNumber> = self.live.keys().map(|ticket| ticket.0).collect();
        moments.dedup();
        Readers { published: self.published, moments }
    }

    /// Removes the expired snapshots.
    pub(super) fn expire(&mut self, at: Duration, bounds: Bounds) {
        let now = Opened { at, written_bytes: self.written_bytes };
        // Tickets ascend with the time of opening, so the first one in bounds ends the search.
        while let Some(entry) = self.live.first_entry() {
            if !entry.get().is_too_old(now, bounds) {
                return;
            }
            entry.remove();
        }
    }

    /// Returns the number of the newest commit.
    pub(super) fn published(&self) -> CommitNumber {
        self.published
    }

    /// Returns the commit of the oldest open snapshot.
    pub(super) fn oldest(&self) -> Option<CommitNumber> {
        self.live.first_key_value().map(|(ticket, _)| ticket.0)
    }

    /// Returns how many snapshots are open.
    pub(super) fn open_count(&self) -> usize {
        self.live.len()
    }
}
