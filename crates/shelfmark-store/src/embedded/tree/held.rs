//! Bounds what a merge of table files holds in memory, by the size of the files that it writes.
//!
//! Until a file is finished the library keeps the last key of each of its blocks, and a key that was
//! read is a part of the block that it was read from. A value of some kilobytes has a block to
//! itself, so such a merge holds all the values of the file that it writes, decompressed, while the
//! file's size counts them compressed: rows that compress well would be held by the gigabyte.
//!
//! So a merge counts the large values that it read. One that would hold too many is given up and done
//! again with smaller files, and the next ones begin with what the last one taught.
//!
//! What it is not: exact. Files are looked at when the count crosses the bound.
//!
//! Invariant: a merge that is given up halves its files at least, and one with the smallest files is
//! not given up, so each merge ends.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::vfs;

use super::super::bytes::wide;

/// Size of the files that merging makes, where nothing speaks against it.
pub(super) const TABLE_BYTES: u64 = 64 * 1024 * 1024;

/// A value of at least so many bytes may have a block to itself.
const LARGE_BYTES: usize = 2048;

/// Smallest files that a merge writes, in bytes: with the best compression they hold 16 MiB.
const TABLE_BYTES_MIN: u64 = 64 * 1024;

/// Bounds what the merges of a tree hold.
pub(super) struct Held {
    tables: PathBuf,
    bytes_max: u64,
    /// Size of the files that the next merge writes.
    table_bytes: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The first number that a file of the running merge can have.
    first_table: u64,
    /// Files that were written from memory meanwhile.
    flushed: BTreeSet<u64>,
    /// The running merge was given up.
    is_given_up: bool,
}

impl Held {
    /// Creates the bound of a tree with table files in `tables` whose merges may hold about
    /// `bytes_max` bytes.
    pub(super) fn new(tables: PathBuf, bytes_max: u64) -> Self {
        Self {
            tables,
            bytes_max,
            table_bytes: AtomicU64::new(TABLE_BYTES),
            state: Mutex::default(),
        }
    }

    /// Notes that a merge begins whose files have numbers from `first_table` on. Returns how large
    /// they are to be.
    pub(super) fn begin(&self, first_table: u64) -> u64 {
        *self.state() = State { first_table, ..State::default() };
        self.table_bytes.load(Ordering::Relaxed)
    }

    /// Notes a file that was written from memory.
    pub(super) fn flushed(&self, table: u64) {
        self.state().flushed.insert(table);
    }

    /// Returns true if the merge that failed last was given up, and is to be done again.
    pub(super) fn was_given_up(&self) -> bool {
        std::mem::take(&mut self.state().is_given_up)
    }

    /// Returns the bytes of the files that the running merge has written so far.
    fn written(&self) -> u64 {
        let State { first_table, flushed, .. } = &*self.state();
        let mut bytes = 0;
        for path in vfs::list(&self.tables).unwrap_or_default() {
            let name = path.file_name().and_then(|name| name.to_str());
            let Some(number) = name.and_then(|name| name.parse::<u64>().ok()) else { continue };
            if number >= *first_table && !flushed.contains(&number) {
                // A file that is gone meanwhile holds nothing.
                bytes += path.metadata().map_or(0, |data| data.len());
            }
        }
        bytes
    }

    /// Chooses files in which `large_bytes` of values would have been held within the bound, where
    /// they made files of `written` bytes.
    fn learn(&self, large_bytes: u64, written: u64) {
        let bytes = if large_bytes <= self.bytes_max {
            TABLE_BYTES
        } else {
            let fitting =
                u128::from(self.bytes_max) * u128::from(written) / u128::from(large_bytes);
            u64::try_from(fitting).unwrap_or(TABLE_BYTES).clamp(TABLE_BYTES_MIN, TABLE_BYTES)
        };
        self.table_bytes.store(bytes, Ordering::Relaxed);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The large values that one merge has read.
#[derive(Default)]
pub(super) struct Read {
    bytes: u64,
    /// As [`Read::bytes`], at the last look at the files.
    looked_at: u64,
}

impl Read {
    /// Counts a value. Returns false if the merge holds too much and must be given up.
    pub(super) fn count(&mut self, held: &Held, value_bytes: usize) -> bool {
        if value_bytes < LARGE_BYTES {
            return true;
        }
        self.bytes += wide(value_bytes);
        if self.bytes - self.looked_at <= held.bytes_max {
            return true;
        }
        self.looked_at = self.bytes;
        let (table_bytes, written) = (held.table_bytes.load(Ordering::Relaxed), held.written());
        let files = 1 + written / table_bytes;
        if table_bytes == TABLE_BYTES_MIN || self.bytes <= files.saturating_mul(held.bytes_max) {
            return true;
        }
        held.learn(self.bytes, written.min(self.bytes));
        held.table_bytes.fetch_min((table_bytes / 2).max(TABLE_BYTES_MIN), Ordering::Relaxed);
        held.state().is_given_up = true;
        false
    }

    /// Notes that the merge is done.
    pub(super) fn end(&self, held: &Held) {
        held.learn(self.bytes, held.written().min(self.bytes));
    }
}
