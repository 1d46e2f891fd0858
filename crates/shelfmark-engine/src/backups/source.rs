//! The rows that a filling copies: those of one moment that is held, or the newest ones page by page.
//!
//! What it is not: durable. A moment that was held is gone with the process; the copy then begins again.
//!
//! Invariant: while a moment is held, no row of another one is read.

use std::sync::Arc;

use shelfmark_store::Snapshot;
use shelfmark_tables::{Error, ErrorKind};

/// The rows of a table that is copied.
pub(super) struct Source {
    /// The id of the table.
    pub(super) table: u64,
    held: Option<Arc<dyn Snapshot>>,
}

impl Source {
    /// Returns the rows of the table of this id, at the moment that is held, if there is one.
    pub(super) fn new(table: u64, held: Option<Arc<dyn Snapshot>>) -> Self {
        Self { table, held }
    }

    /// Tells whether a moment is held.
    pub(super) fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// Returns the moment to read rows at: the one that is held, else the newest.
    pub(super) fn moment<'m>(&'m self, newest: &'m Arc<dyn Snapshot>) -> &'m dyn Snapshot {
        &**self.held.as_ref().unwrap_or(newest)
    }

    /// Tells whether what failed in this way goes on with new snapshots: they were too old, and not the
    /// moment that is held.
    pub(super) fn goes_on_after(&self, error: &Error) -> bool {
        let stands = |held: &Arc<dyn Snapshot>| held.time_left().is_none_or(|left| !left.is_zero());
        error.kind() == ErrorKind::TooOld && self.held.as_ref().is_none_or(stands)
    }
}
