//! The buffer that the writes of one commit are applied to.
//!
//! Invariant: what was read through it is validated when its commit is queued.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use shelfmark_records::cells::Timestamp;
use shelfmark_store::txn::Transaction as Buffer;
use shelfmark_store::{Commit, Snapshot};

use super::guards::Guards;
use crate::error::{Error, ErrorKind, Result};
use crate::tables::Tables;

/// A buffer that writes are applied to.
pub(crate) struct Writer {
    pub(crate) buffer: RefCell<Buffer>,
    /// Second since the Unix epoch.
    pub(crate) now: u64,
    /// Microseconds since the Unix epoch, for the change log.
    pub(crate) now_micros: u64,
    /// Changes logged so far, which order the changes of one commit.
    pub(crate) changes: Cell<u32>,
    /// Nobody else writes to the store, and the gates of the tables are held until this is queued.
    pub(crate) is_gated: bool,
    /// Set when this writes on behalf of the expiry sweep.
    pub(crate) expiring: bool,
    /// Nothing but deletions and checks was applied.
    pub(crate) deletes_only: Cell<bool>,
    /// The latest tombstone that this leaves, whatever the table.
    pub(crate) tombstone: Cell<Timestamp>,
    /// Most bytes that the store takes in a commit.
    pub(crate) bytes_max: usize,
    /// The partitions that were touched, where the store validates no ranges.
    pub(crate) guards: Option<Guards>,
}

impl Writer {
    /// Refuses to go on where the commit is larger already than the store takes, before more is read for
    /// it: what streams and indexes get is much more than whoever deletes asked for.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::LimitExceeded`]: write fewer items at a time.
    pub(crate) fn check_size(&self) -> Result<()> {
        if self.buffer.borrow().written_bytes() <= self.bytes_max {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::LimitExceeded,
            format!(
                "more than {} bytes would be written at once, with what streams and indexes get; write \
                 fewer items at a time",
                self.bytes_max
            ),
        ))
    }

    /// Returns the commit of what was written, resting on what was read.
    pub(crate) fn into_commit(self) -> Commit {
        let mut buffer = self.buffer.into_inner();
        if let Some(guards) = self.guards {
            guards.enter(&mut buffer);
        }
        let is_deletion = self.deletes_only.get();
        Commit { is_deletion, ..buffer.into_commit() }
    }
}

impl Tables {
    /// Creates a writer whose caller holds the gates of its tables until its commit is queued.
    pub(crate) fn gated_writer(&self) -> Result<Writer> {
        Ok(Writer { is_gated: self.is_alone, ..self.writer(self.store.latest()?) })
    }

    pub(crate) fn writer(&self, view: Arc<dyn Snapshot>) -> Writer {
        let clock = &self.environment.clock;
        Writer {
            buffer: RefCell::new(Buffer::new(view)),
            now: clock.now_seconds(),
            now_micros: clock.now_micros(),
            changes: Cell::new(0),
            deletes_only: Cell::new(true),
            tombstone: Cell::new(Timestamp::MIN),
            is_gated: false,
            expiring: false,
            bytes_max: self.store.caps().commit_size_bytes_max,
            guards: (!self.validates_ranges).then(Guards::default),
        }
    }
}
