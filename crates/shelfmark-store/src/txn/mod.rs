//! Transactions: optimistic reads and buffered writes over any driver.
//!
//! A transaction reads one snapshot, keeps its writes to itself, sees them in its own reads, and
//! becomes one [`Commit`] that names what was read. What it is not: the commit. It holds no latch,
//! and nothing of it is known to the store before [`Transaction::into_commit`] is submitted.
//!
//! Invariant: if the commit succeeds, every key that was read as of the snapshot, and every key of a
//! range that was read by [`Transaction::scan_validated`], was unwritten from then until the commit.
//! So transactions are serializable where the driver validates ranges
//! ([`crate::Caps::validates_ranges`]), and serializable on keys elsewhere.

mod buffer;
mod merge;
mod ranges;
mod retry;
#[cfg(test)]
mod tests;

pub use buffer::Savepoint;
pub use retry::RetryPolicy;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use self::buffer::Buffer;
use self::ranges::RangeSet;
use crate::contract::{
    AddWithin, Commit, Direction, KeyRange, Page, Result, ScanLimits, Snapshot, Write,
};

/// A set of reads and writes that happen at one moment or not at all.
///
/// Reads take `&self` and may run in several threads.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use shelfmark_store::clock::SystemClock;
/// use shelfmark_store::memory::MemoryStore;
/// use shelfmark_store::txn::Transaction;
/// use shelfmark_store::{ErrorKind, Store as _};
///
/// # fn main() -> shelfmark_store::Result<()> {
/// let store = MemoryStore::new(Arc::new(SystemClock::new()));
/// let mut lend = Transaction::new(store.snapshot()?);
/// if lend.get(b"book 3")?.is_none() {
///     lend.put("book 3", "lent to A");
/// }
/// let mut also = Transaction::new(store.snapshot()?);
/// if also.get(b"book 3")?.is_none() {
///     also.put("book 3", "lent to B");
/// }
/// store.commit(lend.into_commit())?;
/// // Both saw the book on its shelf; only one gets it.
/// let refused = store.commit(also.into_commit()).unwrap_err();
/// assert_eq!(refused.kind(), ErrorKind::Conflict);
/// # Ok(())
/// # }
/// ```
pub struct Transaction {
    base: Arc<dyn Snapshot>,
    reads: Mutex<Reads>,
    buffer: Buffer,
}

/// The keys and ranges that were read from the base.
#[derive(Default)]
struct Reads {
    keys: BTreeSet<Bytes>,
    ranges: RangeSet,
}

impl Transaction {
    /// Begins a transaction on the snapshot `base`.
    ///
    /// On [`crate::Store::snapshot`] what it reads is durable. On [`crate::Store::latest`] it may
    /// build on what is still queued, and conflicts less on a hot key; then nothing it read may be
    /// told to anybody before its commit, or an empty one, has completed.
    #[must_use]
    pub fn new(base: Arc<dyn Snapshot>) -> Self {
        Self { base, reads: Mutex::default(), buffer: Buffer::default() }
    }

    /// Returns the snapshot, for reads that neither see this transaction's writes nor are
    /// validated.
    #[must_use]
    pub fn base(&self) -> &Arc<dyn Snapshot> {
        &self.base
    }

    /// Returns the value of `key` as this transaction sees it, and adds the key to the validated
    /// reads unless the transaction wrote it before.
    ///
    /// # Errors
    ///
    /// * Those of [`Snapshot::get`]. After `TooOld` begin again on a new snapshot.
    pub fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        if let Some(change) = self.buffer.get(key) {
            return Ok(change.value.clone());
        }
        let value = self.base.get(key)?;
        self.noted(key);
        Ok(value)
    }

    /// Returns the values of `keys`, in their order: [`Transaction::get`] of each, with one read of
    /// the store for all that the transaction did not write.
    ///
    /// # Errors
    ///
    /// * Those of [`Transaction::get`].
    pub fn get_many(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        let mut values = vec![None; keys.len()];
        let mut missing = Vec::new();
        let mut places = Vec::new();
        for (key, place) in keys.iter().zip(&mut values) {
            match self.buffer.get(key) {
                Some(change) => *place = change.value.clone(),
                None => {
                    missing.push(key.clone());
                    places.push(place);
                }
            }
        }
        if !missing.is_empty() {
            for (place, value) in places.into_iter().zip(self.base.get_many(&missing)?) {
                *place = value;
            }
            self.reads().keys.extend(missing);
        }
        Ok(values)
    }

    /// Returns rows of `range` as this transaction sees them, page by page as
    /// [`Snapshot::scan`] does. They are **not** validated at commit.
    ///
    /// # Errors
    ///
    /// * Those of [`Snapshot::scan`].
    pub fn scan(&self, range: &KeyRange, direction: Direction, limits: ScanLimits) -> Result<Page> {
        let page = self.base.scan(range, direction, limits)?;
        Ok(merge::merge(&self.buffer, page, range, direction, limits))
    }

    /// Works as [`Transaction::scan`], and adds the covered part of `range` to the validated reads:
    /// no key may have been put there or deleted since the snapshot.
    ///
    /// For drivers with [`crate::Caps::validates_ranges`]; others refuse the commit.
    ///
    /// # Errors
    ///
    /// * Those of [`Snapshot::scan`].
    pub fn scan_validated(
        &self,
        range: &KeyRange,
        direction: Direction,
        limits: ScanLimits,
    ) -> Result<Page> {
        let page = self.scan(range, direction, limits)?;
        self.reads().ranges.insert(merge::covered(range, page.next.as_ref(), direction));
        Ok(page)
    }

    /// Returns true if the transaction read a key that it does not write, or a range.
    #[must_use]
    pub fn reads_more_than_it_writes(&self) -> bool {
        let reads = self.reads();
        !reads.ranges.is_empty() || reads.keys.iter().any(|key| self.buffer.get(key).is_none())
    }

    /// Adds `key` to the validated reads as if it had been read.
    pub fn validate(&self, key: &[u8]) {
        self.noted(key);
    }

    /// Puts `value`, which is not empty, at `key`.
    pub fn put(&mut self, key: impl Into<Bytes>, value: impl Into<Bytes>) {
        self.buffer.set(key.into(), Some(value.into()));
    }

    /// Deletes `key`.
    pub fn delete(&mut self, key: impl Into<Bytes>) {
        self.buffer.set(key.into(), None);
    }

    /// Puts `value`, which is not empty, at `key`, which must be absent.
    ///
    /// Reads nothing: whether the store has the key is found at commit, which then fails with
    /// [`crate::ErrorKind::Exists`].
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Exists`]: this transaction put the key itself. Decide.
    pub fn put_if_absent(&mut self, key: impl Into<Bytes>, value: impl Into<Bytes>) -> Result<()> {
        self.buffer.set_if_absent(key.into(), value.into())
    }

    /// Puts `value`, which is not empty, at `prefix ‖ commit number ‖ suffix`
    /// ([`Write::PutStamped`]). This transaction does not see it.
    pub fn put_stamped(
        &mut self,
        prefix: impl Into<Bytes>,
        suffix: impl Into<Bytes>,
        value: impl Into<Bytes>,
    ) {
        let (prefix, suffix, value) = (prefix.into(), suffix.into(), value.into());
        self.buffer.pass(Write::PutStamped { prefix, suffix, value });
    }

    /// Adds `delta` to the counter at `key` ([`Write::Add`]), after all puts and deletes. This
    /// transaction does not see it.
    pub fn add(&mut self, key: impl Into<Bytes>, delta: i64) {
        self.buffer.pass(Write::Add { key: key.into(), delta });
    }

    /// Adds to numbers within a value ([`Commit::additions`]), whose key this transaction neither puts
    /// nor deletes. This transaction does not see it, and its base need not be what it is added to.
    pub fn add_within(&mut self, addition: AddWithin) {
        self.buffer.add_within(addition);
    }

    /// Sets a savepoint. Costs nothing; from the first savepoint on, each write also keeps what it
    /// replaced.
    pub fn savepoint(&mut self) -> Savepoint {
        self.buffer.savepoint()
    }

    /// Undoes every write since `savepoint`, which stays; later ones go.
    ///
    /// What was read meanwhile is still validated: the decision to roll back rested on it.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the savepoint is gone: an earlier one was rolled back to.
    pub fn rollback_to(&mut self, savepoint: Savepoint) -> Result<()> {
        self.buffer.rollback_to(savepoint)
    }

    /// Returns true if nothing was written. Such a transaction on [`crate::Store::snapshot`] need
    /// not be committed: it saw one moment.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Returns the bytes of all keys and values written, to compare with
    /// [`crate::Caps::commit_size_bytes_max`] before there is too much.
    #[must_use]
    pub fn written_bytes(&self) -> usize {
        self.buffer.bytes()
    }

    /// Returns the commit: the writes, what was read, and the snapshot it was read from.
    #[must_use]
    pub fn into_commit(self) -> Commit {
        let reads = self.reads.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (writes, additions) = self.buffer.into_writes();
        let is_based = !(reads.keys.is_empty() && reads.ranges.is_empty() && additions.is_empty());
        Commit {
            base: is_based.then_some(self.base),
            validate: reads.keys.into_iter().collect(),
            validate_ranges: reads.ranges.into_ranges(),
            writes,
            additions,
            is_deletion: false,
        }
    }

    fn noted(&self, key: &[u8]) {
        let mut reads = self.reads();
        if !reads.keys.contains(key) {
            reads.keys.insert(Bytes::copy_from_slice(key));
        }
    }

    fn reads(&self) -> MutexGuard<'_, Reads> {
        // The sets are whole between two insertions, whatever panicked.
        self.reads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
