//! Writes what was found to be lacking, in blind commits of bounded size, each of which may be made
//! again.

use bytes::Bytes;
use shelfmark_records::catalogue::keys::put_table_name;
use shelfmark_store::{Commit, Write as StoreWrite};
use shelfmark_tables::catalogue::Table;
use shelfmark_tables::rows::{Moment, View as _, patiently};
use shelfmark_tables::{ErrorKind, Result};

use crate::inner::Inner;

/// Writes of one commit.
const WRITES_PER_COMMIT: usize = 256;

/// A commit ends with the write that reaches this many bytes.
const BYTES_PER_COMMIT: usize = 1024 * 1024;

/// The number of times a commit whose outcome nobody knows is made again.
const ATTEMPTS_MAX: usize = 64;

/// Gathers writes. What is not [`Pen::end`]ed is not written.
pub(crate) struct Pen<'i> {
    pub(crate) inner: &'i Inner,
    writes: Vec<StoreWrite>,
    bytes: usize,
}

impl<'i> Pen<'i> {
    pub(crate) fn new(inner: &'i Inner) -> Self {
        Self { inner, writes: Vec::new(), bytes: 0 }
    }

    pub(crate) fn put(&mut self, key: Bytes, value: Bytes) -> Result<()> {
        self.bytes += key.len() + value.len();
        self.add(StoreWrite::Put { key, value })
    }

    pub(crate) fn delete(&mut self, key: Bytes) -> Result<()> {
        self.bytes += key.len();
        self.add(StoreWrite::Delete { key })
    }

    /// Puts a due time of a table if it is not in the queue. Returns whether it was not.
    pub(crate) fn put_due(&mut self, moment: &Moment, table: &Table, due: Bytes) -> Result<bool> {
        if moment.get(&due)?.is_some() {
            return Ok(false);
        }
        let mut name = Vec::new();
        put_table_name(&mut name, &table.schema.name);
        self.put(due, name.into())?;
        Ok(true)
    }

    fn add(&mut self, write: StoreWrite) -> Result<()> {
        self.writes.push(write);
        let caps = self.inner.store.caps();
        let is_full = self.writes.len() >= WRITES_PER_COMMIT.min(caps.commit_writes_max / 2)
            || self.bytes >= BYTES_PER_COMMIT.min(caps.commit_size_bytes_max / 2);
        if is_full { self.end() } else { Ok(()) }
    }

    /// Commits what is left.
    pub(crate) fn end(&mut self) -> Result<()> {
        let writes = std::mem::take(&mut self.writes);
        self.bytes = 0;
        if writes.is_empty() {
            return Ok(());
        }
        // Done twice it is what it is done once.
        persistently(|| {
            self.inner.store.commit(Commit::of(writes.clone()))?;
            Ok(())
        })
    }
}

/// Does what may be done twice until it is known to be done, or fails for another reason than that
/// somebody else was in the way.
pub(crate) fn persistently<T>(mut change: impl FnMut() -> Result<T>) -> Result<T> {
    use ErrorKind::{Conflict, TooOld, Undetermined};
    for _ in 1..ATTEMPTS_MAX {
        match patiently(&mut change) {
            Err(error) if matches!(error.kind(), Undetermined | Conflict | TooOld) => {}
            ended => return ended,
        }
    }
    patiently(change)
}
