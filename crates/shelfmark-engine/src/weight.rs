//! The weight of a request, which decides the thread that runs it: one measure for all faces.
//!
//! A [`Weight`] is told before a request is executed, from its operation, its bytes and the rows that
//! it names. An [`Allowance`] counts what a read does on the thread that serves connections; a read
//! that needs more goes on at a [`Pool`].
//!
//! What it is not: a pool. The server has one; whoever has a single connection takes [`Inline`].
//!
//! Invariant: where a store may wait for its reads, nothing that touches it is lighter than
//! [`Weight::Waiting`], so a thread that serves connections never waits.

use std::net::SocketAddr;

/// Rows, keys or statements of a request that a thread which serves connections may handle.
///
/// Source: ours; about a millisecond of the embedded driver.
pub const INLINE_ROWS_MAX: usize = 256;

/// Bytes of a request up to which it is parsed and checked where it was read.
///
/// Source: ours; about a millisecond.
pub const INLINE_SIZE_BYTES_MAX: usize = 64 * 1024;

/// Bytes of rows that a thread which serves connections may read for one request.
///
/// Source: ours; about a millisecond. One row may be longer.
pub const INLINE_READ_SIZE_BYTES_MAX: usize = 256 * 1024;

/// The weight of a request: how much work it may be. The greater, the heavier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Weight {
    /// One row or a few that are named: runs where the request was read.
    Light,
    /// A page of rows: begins where the request was read, within an [`Allowance`].
    Page,
    /// May compute for long: runs on a [`Pool`], where few such requests run at once.
    Heavy,
    /// May wait, for the store or for other requests, and computes little meanwhile: runs on a
    /// [`Pool`] beside the heavy ones.
    Waiting,
    /// Checks who a client is: runs on a [`Pool`], where nothing else has to end before it.
    Login,
}

impl Weight {
    /// Weighs a request that names so many rows in so many bytes.
    #[must_use]
    pub const fn of(rows: usize, bytes: usize) -> Self {
        if rows > INLINE_ROWS_MAX || bytes > INLINE_SIZE_BYTES_MAX {
            Self::Heavy
        } else {
            Self::Light
        }
    }

    /// Returns the weight of a request on a store whose reads may wait or not
    /// ([`shelfmark_store::Caps::reads_may_wait`]).
    #[must_use]
    pub const fn over(self, reads_may_wait: bool) -> Self {
        match self {
            Self::Light | Self::Page | Self::Heavy | Self::Waiting if reads_may_wait => {
                Self::Waiting
            }
            own => own,
        }
    }

    /// Tells whether the request has to run on a [`Pool`] from its beginning.
    #[must_use]
    pub const fn is_for_pool(self) -> bool {
        matches!(self, Self::Heavy | Self::Waiting | Self::Login)
    }
}

/// The allowance of a read: how many rows and bytes it may still read on this thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    rows: usize,
    bytes: usize,
}

impl Allowance {
    /// Creates the allowance of a thread that serves connections.
    #[must_use]
    pub const fn inline() -> Self {
        Self { rows: INLINE_ROWS_MAX, bytes: INLINE_READ_SIZE_BYTES_MAX }
    }

    /// Creates the allowance of a thread that a read may keep to its end.
    #[must_use]
    pub const fn whole() -> Self {
        Self { rows: usize::MAX, bytes: usize::MAX }
    }

    /// Returns how many rows may still be read; none once the bytes are used up.
    #[must_use]
    pub const fn rows(&self) -> usize {
        if self.bytes == 0 { 0 } else { self.rows }
    }

    /// Returns how many bytes of rows may still be read.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes what was read off the allowance.
    pub const fn spend(&mut self, rows: usize, bytes: usize) {
        self.rows = self.rows.saturating_sub(rows);
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

/// A pool refused work: it is stopped, or as much waits there as may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused;

/// Work for a [`Pool`]: told once that it is admitted, on the thread that runs it, or that it is
/// refused, on the thread that handed it over. Refused work answers its client and does nothing.
pub type Work = Box<dyn FnOnce(Result<(), Refused>) + Send>;

/// The client's end of the connection that a request came from; none for what no client asked for.
/// Clients take turns at a [`Pool`].
pub type Asker = Option<SocketAddr>;

/// Runs requests away from the threads that serve connections.
pub trait Pool: Send + Sync {
    /// Runs `work` soon, however long it may take, or refuses it at once. Does not wait for it.
    fn run(&self, asker: Asker, weight: Weight, work: Work);

    /// Runs `work`, which is short, on whichever thread serves connections and has time.
    fn share(&self, asker: Asker, work: Box<dyn FnOnce() + Send>);

    /// Lets other heavy work have its turn: called by heavy work between two pages.
    fn pause(&self) {}

    /// Runs `work`, which waits for a disk, and lets other heavy work have the turn of the one that calls
    /// this meanwhile. The caller holds nothing that others wait for.
    fn beside(&self, work: &mut dyn FnMut()) {
        work();
    }

    /// Refuses what a client that has gone asked for and what has not begun.
    fn forget(&self, _asker: Asker) {}

    /// Tells whether work runs where it is handed over, so that handing it over helps nobody.
    fn is_inline(&self) -> bool {
        false
    }
}

/// Runs the work at once: for tests and tools that have one connection.
#[derive(Debug, Clone, Copy, Default)]
pub struct Inline;

impl Pool for Inline {
    fn run(&self, _: Asker, _: Weight, work: Work) {
        work(Ok(()));
    }

    fn share(&self, _: Asker, work: Box<dyn FnOnce() + Send>) {
        work();
    }

    fn is_inline(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_bytes_make_a_request_heavy() {
        assert_eq!(Weight::of(INLINE_ROWS_MAX, INLINE_SIZE_BYTES_MAX), Weight::Light);
        assert_eq!(Weight::of(INLINE_ROWS_MAX + 1, 0), Weight::Heavy);
        assert_eq!(Weight::of(0, INLINE_SIZE_BYTES_MAX + 1), Weight::Heavy);
    }

    #[test]
    fn everything_waits_on_a_store_that_waits() {
        for weight in [Weight::Light, Weight::Page, Weight::Heavy, Weight::Waiting] {
            assert_eq!(weight.over(false), weight);
            assert_eq!(weight.over(true), Weight::Waiting);
        }
        assert_eq!(Weight::Login.over(true), Weight::Login);
        assert!(!Weight::Page.is_for_pool());
    }

    #[test]
    fn an_allowance_ends_with_its_rows_or_its_bytes() {
        let mut left = Allowance::inline();
        left.spend(INLINE_ROWS_MAX - 1, 1);
        assert_eq!((left.rows(), left.bytes()), (1, INLINE_READ_SIZE_BYTES_MAX - 1));
        left.spend(0, usize::MAX);
        assert_eq!(left.rows(), 0);
        let mut left = Allowance::inline();
        left.spend(INLINE_ROWS_MAX + 1, 0);
        assert_eq!(left.rows(), 0);
    }
}
