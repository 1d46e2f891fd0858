//! A commit: its writes, its validation, and how its outcome is reported.

use std::sync::Arc;
use std::sync::mpsc;

use bytes::Bytes;

use super::{Error, ErrorKind, KeyRange, Result, Snapshot};

/// The number of a commit: consecutive in queue order, over the whole life of a store. Also the
/// stamp of its [`Write::PutStamped`] keys.
pub type CommitNumber = u64;

/// A callback that is called once with the outcome of a queued commit.
pub type Completion = Box<dyn FnOnce(Result<Committed>) + Send>;

/// One change; its value is never empty.
///
/// The writes of one commit act one after the other, and a commit is seen whole: of several writes
/// to one key the last one counts, and an [`Write::Add`] counts on from what the writes before it
/// in the commit have made of the key. Only [`Write::PutIfAbsent`] asks the store and not the
/// commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// Puts `value` at `key`, whatever was there.
    Put {
        /// The key.
        key: Bytes,
        /// The value; not empty.
        value: Bytes,
    },
    /// Makes `key` absent.
    Delete {
        /// The key.
        key: Bytes,
    },
    /// Puts `value` at `key`, which must be absent ([`ErrorKind::Exists`] otherwise).
    PutIfAbsent {
        /// The key.
        key: Bytes,
        /// The value; not empty.
        value: Bytes,
    },
    /// Puts `value` at `prefix ‖ commit number, 8 bytes big-endian ‖ suffix`.
    ///
    /// The driver fills the number in, so keys of one prefix rise in commit order.
    PutStamped {
        /// The bytes before the stamp.
        prefix: Bytes,
        /// The bytes after the stamp.
        suffix: Bytes,
        /// The value; not empty.
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
        /// The key of the counter.
        key: Bytes,
        /// The amount to add.
        delta: i64,
    },
}

impl Write {
    /// Decodes the value of a counter key.
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

    /// Encodes the value of a counter key.
    #[must_use]
    pub fn counter_value(count: i64) -> Bytes {
        Bytes::copy_from_slice(&(count.cast_unsigned() ^ (1 << 63)).to_be_bytes())
    }
}

/// An addition to numbers within a value, which other commits may add to at the same time
/// ([`Commit::additions`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddWithin {
    /// The key of the value.
    pub key: Bytes,
    /// The value as the caller read it.
    pub seen: Bytes,
    /// Every number that is added to beside others, by the place of its 8 bytes (big-endian) in the
    /// value, and what this addition adds: 0 to those that it leaves as they are.
    pub deltas: Vec<(u32, i64)>,
}

/// Bytes of a number within a value.
const NUMBER: usize = size_of::<u64>();

impl AddWithin {
    /// Returns `value` with the deltas added, if it is as [`AddWithin::seen`] but for the numbers.
    ///
    /// The sums wrap around, as those of [`Write::Add`].
    #[must_use]
    pub fn added_to(&self, value: &[u8]) -> Option<Bytes> {
        let mut numbers_as_seen = value.to_vec();
        let mut sum = value.to_vec();
        for (at, delta) in &self.deltas {
            let place = usize::try_from(*at).ok()?;
            let place = place..place.checked_add(NUMBER)?;
            numbers_as_seen.get_mut(place.clone())?.copy_from_slice(self.seen.get(place)?);
            add_at(&mut sum, *at, *delta)?;
        }
        (self.seen == numbers_as_seen).then(|| sum.into())
    }
}

/// Adds `delta` to the number whose 8 bytes begin at `at`; `None` if the value is shorter.
#[must_use]
pub fn add_at(value: &mut [u8], at: u32, delta: i64) -> Option<()> {
    let place = usize::try_from(at).ok()?;
    let bytes = value.get_mut(place..place.checked_add(NUMBER)?)?;
    let number = u64::from_be_bytes((&*bytes).try_into().ok()?);
    bytes.copy_from_slice(&number.wrapping_add(delta.cast_unsigned()).to_be_bytes());
    Some(())
}

/// A set of writes that happen together or not at all.
#[derive(Clone, Default)]
pub struct Commit {
    /// The snapshot that `validate` and `validate_ranges` are checked against; it stays open until
    /// validation is done.
    pub base: Option<Arc<dyn Snapshot>>,
    /// Keys that were read and must not have been written since `base`.
    ///
    /// For a second commit on one base a driver may instead ask whether the keys have the values
    /// that `base` shows, which is as serializable.
    pub validate: Vec<Bytes>,
    /// Ranges that were read: no key in them may have been put, deleted or added to since `base`.
    ///
    /// Only for drivers that say [`super::Caps::validates_ranges`]; others answer
    /// [`ErrorKind::Invalid`].
    pub validate_ranges: Vec<KeyRange>,
    /// The changes. May be empty: such a commit completes once everything queued before it is
    /// durable.
    pub writes: Vec<Write>,
    /// Additions to numbers within values, whose keys `writes` does not name. A value that is not as
    /// it was seen, but for its numbers, is a [`ErrorKind::Conflict`].
    ///
    /// As with [`Write::Add`] the numbers are not validated, so that additions do not meet. Only for
    /// drivers that say [`super::Caps::adds_within`]; others answer [`ErrorKind::Invalid`].
    pub additions: Vec<AddWithin>,
    /// True if the commit frees space in the end: a driver accepts it also on a nearly full disk.
    /// One that consists of deletions alone need not say so.
    pub is_deletion: bool,
}

impl Commit {
    /// Creates a commit of blind writes.
    #[must_use]
    pub fn of(writes: Vec<Write>) -> Self {
        Self { writes, ..Self::default() }
    }

    /// Marks the commit as one that frees space ([`Commit::is_deletion`]) and returns it.
    #[must_use]
    pub fn deleting(self) -> Self {
        Self { is_deletion: true, ..self }
    }

    /// Returns true if the commit is accepted on a nearly full disk.
    pub(crate) fn is_accepted_on_a_full_disk(&self) -> bool {
        self.is_deletion || self.writes.iter().all(|write| matches!(write, Write::Delete { .. }))
    }
}

/// A commit that was queued.
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
