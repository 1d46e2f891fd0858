//! Keeps a high-water mark of commit numbers per stripe of keys, so that validation can skip
//! reading the key.
//!
//! A stripe whose number is not above a reader's moment says that none of its keys was written
//! since. A higher number says nothing about one key; the key itself is looked at then.
//!
//! Invariant: a stripe's number is raised under the queue's lock, before the commit can be seen
//! anywhere else.

use std::sync::atomic::{AtomicU64, Ordering};

use xxhash_rust::xxh3::xxh3_64;

use crate::contract::CommitNumber;

const STRIPES: usize = 64 * 1024;

/// The high-water marks of all stripes.
pub(super) struct HighWaterMarks(Vec<AtomicU64>);

impl HighWaterMarks {
    /// Creates the marks, all zero: nothing was written yet.
    pub(super) fn new() -> Self {
        Self((0..STRIPES).map(|_| AtomicU64::new(0)).collect())
    }

    fn of(&self, key: &[u8]) -> Option<&AtomicU64> {
        let index = usize::try_from(xxh3_64(key) % (STRIPES as u64)).unwrap_or(0);
        self.0.get(index)
    }

    /// Returns an upper bound of the number of the last commit that wrote `key`.
    pub(super) fn get(&self, key: &[u8]) -> CommitNumber {
        self.of(key).map_or(CommitNumber::MAX, |stripe| stripe.load(Ordering::Acquire))
    }

    /// Raises the mark of `key` to `commit`.
    pub(super) fn raise(&self, key: &[u8], commit: CommitNumber) {
        if let Some(stripe) = self.of(key) {
            stripe.store(commit, Ordering::Release);
        }
    }
}
