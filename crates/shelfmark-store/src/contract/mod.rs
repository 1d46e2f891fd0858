//! The storage contract: what every driver promises and the engine relies on.
//!
//! It is synchronous. An embedded read costs no scheduling; a remote driver blocks a thread of a
//! pool that is sized for it. Only a commit has a completion, because a writer should go on
//! reading while its group is synced.

mod admission;
mod caps;
mod commit;
mod error;
mod peers;
mod places;
mod range;

pub(crate) use admission::NUMBER_BYTES;
pub use admission::admit;
pub use caps::{Caps, Durability, LEVELS_MAX, Maintained, StoreStats};
pub use commit::{AddWithin, Commit, CommitNumber, Committed, Completion, Queued, Write, add_at};
pub use error::{Error, ErrorKind, Result};
pub use peers::{Peer, Peers};
pub use places::{PlaceKind, StoredPlace};
pub use range::{Direction, KeyRange, Page, Row, ScanLimits};

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

/// An ordered, durable space of keys with atomic commits and snapshots.
///
/// Implementations are shared between threads; every method may be called from any of them.
pub trait Store: Send + Sync {
    /// Returns a view of the last published commit.
    ///
    /// It never sees half a commit. It pins old versions until it is dropped, so it is bounded in
    /// time and in bytes written meanwhile ([`Caps::snapshot_age_max`],
    /// [`Caps::snapshot_bytes_max`]); past either bound its reads answer [`ErrorKind::TooOld`].
    ///
    /// Cost: no read, no sync; microseconds.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Closed`]: the store was closed. Open it again.
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>>;

    /// Returns a view of the newest queued commit, durable or not.
    ///
    /// For a read that precedes a write under the latches of [`crate::latch`]: it lets the next
    /// write of a hot row build on one that is still being synced. An answer that a client sees
    /// must not be taken from it unless the commit it depends on has completed; queue an empty
    /// [`Commit`] and wait for it. Drivers without a queue return [`Store::snapshot`].
    ///
    /// # Errors
    ///
    /// As [`Store::snapshot`].
    fn latest(&self) -> Result<Arc<dyn Snapshot>>;

    /// Returns a view of a moment that its first read chooses, for one answer.
    ///
    /// It shows what was published before this call, and perhaps what is published before that
    /// read. No commit rests on it. Drivers for which a moment costs a round trip save it where
    /// the answer is one key; others return [`Store::snapshot`]. A later read answers
    /// [`ErrorKind::TooOld`] if what the first one showed was written meanwhile: begin again, with
    /// [`Store::snapshot`].
    ///
    /// # Errors
    ///
    /// As [`Store::snapshot`].
    fn snapshot_at_first_read(&self) -> Result<Arc<dyn Snapshot>> {
        self.snapshot()
    }

    /// Returns a view of the last published commit for a copy or a check of the whole store, which may take
    /// long. No commit rests on it.
    ///
    /// Drivers whose snapshots pin more than files on disk may do work first so that this one does not, and
    /// then bound it by other limits than those of [`Store::snapshot`]; the others return that. Nothing that
    /// it shows is freed meanwhile, so the store may take twice its space on disk.
    ///
    /// # Errors
    ///
    /// As [`Store::snapshot`], and those of a flush.
    fn snapshot_for_copy(&self) -> Result<Arc<dyn Snapshot>> {
        self.snapshot()
    }

    /// Validates a commit and queues it; `done` is called exactly once if and only if this
    /// returns `Ok`, from any thread, possibly before this returns.
    ///
    /// Queue order is commit order. Validation happens here: every key in [`Commit::validate`]
    /// and every key of [`Commit::validate_ranges`] must be unwritten since [`Commit::base`], every
    /// [`Write::PutIfAbsent`] key absent.
    ///
    /// Durability: when `done` is called with `Ok`, the commit is on disk (or, under
    /// [`Durability::Interval`], will be within the interval) and visible to new snapshots.
    ///
    /// # Errors
    ///
    /// Nothing was written in any of these:
    /// * [`ErrorKind::Conflict`]: a validated key, or a key in a validated range, was written since
    ///   the base. Read again, retry.
    /// * [`ErrorKind::Exists`]: a `PutIfAbsent` key is there. Decide.
    /// * [`ErrorKind::LimitExceeded`]: a key, value or the commit is over [`Caps`]. Split it.
    /// * [`ErrorKind::TooOld`]: the base snapshot outlived its bounds. Read again, retry.
    /// * [`ErrorKind::Busy`]: background work is behind. Retry after [`Error::retry_after`].
    /// * [`ErrorKind::ReadOnly`]: the disk is full, or an earlier write failed. Free space (also by
    ///   [`Commit::is_deletion`]), or reopen the store.
    /// * [`ErrorKind::Closed`]: the store was closed.
    ///
    /// `done` may receive [`ErrorKind::Undetermined`]: the commit may or may not be there after a
    /// reopen. Ask by reading a key that it would have put.
    fn submit(&self, commit: Commit, done: Completion) -> Result<Queued>;

    /// Makes durable on this thread what it submitted, where nobody else commits and that is quicker
    /// than to leave it to another thread. For who waits for the answer anyway.
    ///
    /// Never needed: what is submitted becomes durable without it. Its `done` is called before this
    /// returns, so call it without locks that `done` takes. Cost: up to one sync.
    fn lead(&self) {}

    /// Commits and waits: [`Store::submit`], blocking until `done`.
    ///
    /// # Errors
    ///
    /// Those of [`Store::submit`], and [`ErrorKind::Undetermined`].
    fn commit(&self, commit: Commit) -> Result<Committed> {
        commit::blocking(|done| {
            let queued = self.submit(commit, done)?;
            self.lead();
            Ok(queued)
        })
    }

    /// Returns keys that divide `range` into parts of similar size, ascending, both ends excluded.
    ///
    /// For parallel work over a range. May be empty. Costs no read of rows.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Closed`]: the store was closed.
    fn boundaries(&self, range: &KeyRange) -> Result<Vec<Bytes>>;

    /// Returns where keys of `range` lie, `max` places at most, in the order of their first keys. Empty
    /// where a store has no such places, and where all of the range is in memory still.
    ///
    /// Costs no read of rows; a cluster is asked once.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Closed`]: the store was closed.
    /// * [`ErrorKind::Unavailable`]: the cluster does not answer. Call it again.
    fn places(&self, range: &KeyRange, max: usize) -> Result<Vec<StoredPlace>> {
        let _ = (range, max);
        Ok(Vec::new())
    }

    /// Removes the keys of `range` and frees their space, without history.
    ///
    /// Only for ranges that nobody reads or writes any more: the keys of a dropped id. It waits for
    /// no snapshot itself; the caller calls it when no snapshot older than the drop is open
    /// ([`StoreStats::oldest_snapshot`]). Idempotent; after a crash call it again.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Io`], [`ErrorKind::ReadOnly`]: try again later; what remains is garbage only.
    fn destroy_range(&self, range: &KeyRange) -> Result<()>;

    /// Writes rows into the store's files at once, past the log, as they come: bulk loading. `rows` gives
    /// keys and values in ascending order of the keys.
    ///
    /// Only for a range that holds no rows, and that nobody reads or writes before this returns. Whoever
    /// validates keys or ranges is not told of it. An iterator that rests delays no one else.
    ///
    /// Durability: all of them are on disk when it returns, and none if it fails or the process ends
    /// before. Snapshots show them once a commit is complete that was submitted afterwards.
    ///
    /// Cost: the rows are written once, and hardly any memory is held.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: keys are not ascending, one or a value is empty, or the driver does not
    ///   ingest ([`Caps::ingests`]). Commit the rows.
    /// * [`ErrorKind::LimitExceeded`]: a key or a value is over [`Caps`].
    /// * [`ErrorKind::Busy`]: background work is behind. Retry after [`Error::retry_after`].
    /// * [`ErrorKind::ReadOnly`], [`ErrorKind::Io`]: the disk is full, or a write failed. Try again later.
    /// * [`ErrorKind::Closed`]: the store was closed meanwhile.
    /// * Whatever `rows` gives.
    fn ingest(&self, rows: &mut dyn Iterator<Item = Result<(Bytes, Bytes)>>) -> Result<()> {
        let _ = rows;
        Err(Error::new(ErrorKind::Invalid, "this store does not ingest rows; commit them"))
    }

    /// Does the background work that is due (flush, compaction, log removal) and waits for it.
    ///
    /// Drivers do this by themselves; tests and tools call it to have it done now.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Io`]: the work failed; the store turned read-only where data was at risk.
    fn maintain(&self) -> Result<Maintained>;

    /// Returns the driver's capabilities and limits.
    fn caps(&self) -> Caps;

    /// Returns counters and gauges for people and metrics.
    fn stats(&self) -> StoreStats;

    /// Returns why the store refuses puts now, if it does: a failed write, a full disk, or a close.
    ///
    /// For health checks and logs. A driver that refuses each commit for its own reason alone has
    /// nothing to say here.
    ///
    /// Cost: a look into memory.
    fn refusal(&self) -> Option<Error> {
        None
    }

    /// Returns the processes that share the store, where more than one can.
    fn peers(&self) -> Option<&dyn Peers> {
        None
    }

    /// Makes everything durable and stops. Idempotent. Later calls answer [`ErrorKind::Closed`].
    ///
    /// Dropping a store without closing it is like a crash: safe, but the next open replays.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Io`]: something could not be flushed; the next open replays the log.
    fn close(&self) -> Result<()>;
}

/// Identifies the state that a snapshot shows, for validation at commit.
///
/// Opaque outside the drivers: two numbers whose meaning is theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SnapshotId {
    /// Number of the newest commit that the snapshot includes.
    pub commit: CommitNumber,
    /// The driver's own position (embedded: the tree's sequence number readers stay below).
    pub position: u64,
}

/// A consistent view of a store as of one commit.
pub trait Snapshot: Send + Sync {
    /// Returns the id of the state that this snapshot shows.
    fn id(&self) -> SnapshotId;

    /// Returns the value of `key`, or `None` if it is absent.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::TooOld`]: held too long. Take a new snapshot and begin again.
    /// * [`ErrorKind::Corrupt`]: a block failed its checksum. Do not retry; run `verify`.
    /// * [`ErrorKind::Io`]: the disk failed.
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>>;

    /// Returns the values of `keys`, in their order; in parallel where that helps the driver.
    ///
    /// # Errors
    ///
    /// As [`Snapshot::get`].
    fn get_many(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        keys.iter().map(|key| self.get(key)).collect()
    }

    /// Prepares reads of `keys` one by one: a driver for which each costs a round trip reads them
    /// together and keeps the values until the snapshot is dropped. Others do nothing.
    ///
    /// # Errors
    ///
    /// As [`Snapshot::get`].
    fn preload(&self, keys: &[Bytes]) -> Result<()> {
        let _ = keys;
        Ok(())
    }

    /// Returns rows of `range` in key order (descending for [`Direction::Descending`]) until a
    /// limit is met, and the rest of the range.
    ///
    /// A driver may return a shorter page than `limits` allow, even an empty one with a `next`;
    /// only `next == None` means that the range is done.
    ///
    /// # Errors
    ///
    /// As [`Snapshot::get`].
    fn scan(&self, range: &KeyRange, direction: Direction, limits: ScanLimits) -> Result<Page>;

    /// Returns the greatest stamp below or at which nothing more will appear: every
    /// [`Write::PutStamped`] with such a stamp is in this snapshot or will never be committed.
    ///
    /// Who follows stamped keys goes on from here and not from the newest key it saw.
    ///
    /// # Errors
    ///
    /// As [`Snapshot::get`]; where nothing has to be asked, none.
    fn stamped_through(&self) -> Result<CommitNumber> {
        Ok(self.id().commit)
    }

    /// Returns how long this snapshot may still be read, if that is bounded.
    fn time_left(&self) -> Option<Duration> {
        None
    }
}
