//! A commit: what is written, what must still hold, and how its end is told.

use std::sync::Arc;
use std::sync::mpsc;

use bytes::Bytes;

use super::{Error, ErrorKind, KeyRange, Result, Snapshot};

/// Number of a commit: consecutive in queue order, over the whole life of a store. Also the stamp
/// of its [`Write::PutStamped`] keys.
pub type CommitNumber = u64;

/// Told once how a queued commit ended.
pub type Completion = Box<dyn FnOnce(Result<Committed>) + Send>;

/// One change. Values are never empty.
///
/// The writes of one commit act one after the other, and a commit is seen whole: of several writes
/// to one key the last one counts, and an [`Write::Add`] counts on from what the writes before it
/// in the commit have made of the key. Only [`Write::PutIfAbsent`] asks the store and not the
/// commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// Puts `value` at `key`, whatever was there.
    Put {
        /// Where.
        key: Bytes,
        /// What; not empty.
        value: Bytes,
    },
    /// Makes `key` absent.
    Delete {
        /// Where.
        key: Bytes,
    },
    /// Puts `value` at `key`, which must be absent ([`ErrorKind::Exists`] otherwise).
    PutIfAbsent {
        /// Where.
        key: Bytes,
        /// What; not empty.
        value: Bytes,
    },
    /// Puts `value` at `prefix ‖ commit number, 8 bytes big-endian ‖ suffix`.
    ///
    /// The driver fills the number in, so keys of one prefix rise in commit order.
    PutStamped {
        /// Bytes before the stamp.
        prefix: Bytes,
        /// Bytes after the stamp.
        suffix: Bytes,
        /// What; not empty.
        value: Bytes,
    },
    /// Adds `delta` to the counter at `key` (absent = 0), stored as 8 bytes: big-endian i64 with
    /// the sign bit flipped. Deltas of one group are summed before they are written, so a counter
    /// is no point of contention; it is never validated, and [`super::Store::latest`] may show it
    /// as it was before the queued commits.
    ///
    /// The sum wraps around at the ends of an i64, so that the order of the deltas cannot matter.
    /// Behind a put of the same key in the same commit it counts on from the value put, behind a
    /// delete from 0; a put or delete behind it replaces it. What is there by then and is no
    /// counter makes the commit end as [`ErrorKind::Corrupt`], with nothing written.
    Add {
        /// Where.
        key: Bytes,
        /// How much.
        delta: i64,
    },
}

impl Write {
    /// Reads the value of a counter key.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Corrupt`]: it is not 8 bytes long.
    pub fn counter(value: &[u8]) -> Result<i64> {
        let bytes: [u8; 8] = value
            .try_into()
            .map_err(|_| Error::new(ErrorKind::Corrupt, "a counter is not 8 bytes long"))?;
        Ok((u64::from_be_bytes(bytes) ^ (1 << 63)).cast_signed())
    }

    /// Writes the value of a counter key.
    #[must_use]
    pub fn counter_value(count: i64) -> Bytes {
        Bytes::copy_from_slice(&(count.cast_unsigned() ^ (1 << 63)).to_be_bytes())
    }
}

/// Writes that happen together or not at all.
#[derive(Clone, Default)]
pub struct Commit {
    /// The snapshot that `validate` and `validate_ranges` are checked against; it stays open until
    /// validation is done.
    pub base: Option<Arc<dyn Snapshot>>,
    /// Keys that were read and must not have been written since `base`.
    pub validate: Vec<Bytes>,
    /// Ranges that were read: no key in them may have been put, deleted or added to since `base`.
    ///
    /// Only for drivers that say [`super::Caps::validates_ranges`]; others answer
    /// [`ErrorKind::Invalid`].
    pub validate_ranges: Vec<KeyRange>,
    /// The changes. May be empty: such a commit completes once everything queued before it is
    /// durable.
    pub writes: Vec<Write>,
}

impl Commit {
    /// Creates a commit of blind writes.
    #[must_use]
    pub fn of(writes: Vec<Write>) -> Self {
        Self { writes, ..Self::default() }
    }
}

/// A commit that has taken its place in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queued {
    /// Its number.
    pub number: CommitNumber,
}

/// A commit that is durable and visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Committed {
    /// Its number.
    pub number: CommitNumber,
}

/// Runs `submit` with a completion that wakes this thread, and waits for it.
pub(super) fn blocking(submit: impl FnOnce(Completion) -> Result<Queued>) -> Result<Committed> {
    let (sender, receiver) = mpsc::sync_channel(1);
    submit(Box::new(move |outcome| {
        // The receiver lives until the outcome is there; a failed send means it panicked.
        let _ = sender.send(outcome);
    }))?;
    receiver.recv().unwrap_or_else(|_| {
        Err(Error::new(ErrorKind::Undetermined, "the commit thread ended before it answered"))
    })
}
