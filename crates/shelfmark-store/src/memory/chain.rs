//! The version chain of one key, oldest to newest.
//!
//! Invariant: commits rise along a chain, and after [`Chain::prune`] every moment in `readers`, and
//! the newest one, still finds exactly what it found before. So a chain is never longer than there
//! are readers, plus one.

use bytes::Bytes;

use super::snapshot_tracker::Readers;
use crate::contract::CommitNumber;

/// The value of a key from one commit on; `None` says absent.
#[derive(Debug)]
pub(super) struct Version {
    pub(super) commit: CommitNumber,
    pub(super) value: Option<Bytes>,
}

impl Version {
    fn bytes(&self) -> usize {
        self.value.as_ref().map_or(0, Bytes::len)
    }
}

/// The newest version, stored apart because nearly every key has only that one.
#[derive(Debug)]
pub(super) struct Chain {
    newest: Version,
    /// Ascending by commit.
    older: Vec<Version>,
    /// True if the key stands in the queue of keys with garbage.
    pub(super) is_queued: bool,
}

impl Chain {
    pub(super) fn new(first: Version) -> Self {
        Self { newest: first, older: Vec::new(), is_queued: false }
    }

    /// Returns the number of the commit that wrote the key last.
    pub(super) fn written_at(&self) -> CommitNumber {
        self.newest.commit
    }

    /// Returns the newest value.
    pub(super) fn newest(&self) -> Option<&Bytes> {
        self.newest.value.as_ref()
    }

    /// Returns the value as of `commit`.
    pub(super) fn at(&self, commit: CommitNumber) -> Option<&Bytes> {
        if self.newest.commit <= commit {
            return self.newest.value.as_ref();
        }
        let newer = self.older.partition_point(|version| version.commit <= commit);
        self.older.get(newer.checked_sub(1)?)?.value.as_ref()
    }

    /// Adds the version of a later commit, or replaces that of the same commit, and returns the
    /// bytes that were replaced.
    pub(super) fn push(&mut self, version: Version) -> usize {
        let replaced = self.newest.commit == version.commit;
        let before = std::mem::replace(&mut self.newest, version);
        if replaced {
            return before.bytes();
        }
        self.older.push(before);
        0
    }

    /// Removes the versions that none of `readers` can see, and returns the bytes of their values.
    pub(super) fn prune(&mut self, readers: &Readers) -> usize {
        if self.older.is_empty() {
            return 0;
        }
        let mut freed = 0;
        // A version is what the moments from its commit up to the next version's see.
        let mut end = self.newest.commit;
        for at in (0..self.older.len()).rev() {
            let Some(version) = self.older.get(at) else { break };
            let (start, bytes) = (version.commit, version.bytes());
            if !readers.any_in(start, end) {
                self.older.remove(at);
                freed += bytes;
            }
            end = start;
        }
        // Absent before anything else is what no version says as well.
        let absent = self.older.iter().take_while(|version| version.value.is_none()).count();
        self.older.drain(..absent);
        if self.older.is_empty() {
            // The room for a burst of versions is not kept for ever.
            self.older = Vec::new();
        }
        freed
    }

    /// Returns true if no version can be removed, now or later.
    pub(super) fn has_no_garbage(&self) -> bool {
        self.older.is_empty() && self.newest.value.is_some()
    }

    /// Returns true if the key is absent for every reader, and was written after none of them.
    pub(super) fn is_absent(&self, watermark: CommitNumber) -> bool {
        self.older.is_empty() && self.newest.value.is_none() && self.newest.commit <= watermark
    }

    /// Returns the bytes of all values.
    pub(super) fn bytes(&self) -> usize {
        self.newest.bytes() + self.older.iter().map(Version::bytes).sum::<usize>()
    }
}
