//! Deletes a dead range of keys and frees its space.
//!
//! Whole table files in the range are dropped at once; what remains in the files at its edges is
//! deleted by ordinary commits, and merged away in the background.

use crate::contract::{
    Commit, Direction, ErrorKind, KeyRange, Result, ScanLimits, Snapshot as _, Store as _, Write,
};

use super::EmbeddedStore;

/// Limits the keys that one commit deletes.
const DELETES_PER_COMMIT: usize = 1000;

impl EmbeddedStore {
    /// Implements [`crate::Store::destroy_range`].
    pub(super) fn destroy(&self, range: &KeyRange) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        // So that all of the range is in files, where whole files of it can be dropped.
        self.inner.seal_now()?;
        self.inner.flush()?;
        self.inner.merge(|tree| tree.drop_files(range).map(|()| true))?;
        let mut rest = Some(range.clone());
        let mut deleted = false;
        while let Some(range) = rest {
            let limits = ScanLimits {
                rows_max: DELETES_PER_COMMIT,
                keys_only: true,
                ..ScanLimits::default()
            };
            let page = self.inner.snapshots.pin().scan(&range, Direction::Ascending, limits)?;
            let writes: Vec<Write> =
                page.rows.into_iter().map(|row| Write::Delete { key: row.key }).collect();
            deleted |= !writes.is_empty();
            self.delete(writes)?;
            rest = page.next;
        }
        if deleted {
            self.inner.seal_now()?;
        }
        self.inner.signals.reclaim_due();
        Ok(())
    }

    /// Commits deletions, retrying while the store is busy.
    fn delete(&self, writes: Vec<Write>) -> Result<()> {
        if writes.is_empty() {
            return Ok(());
        }
        loop {
            match self.commit(Commit::of(writes.clone())) {
                Err(error) if error.kind() == ErrorKind::Busy => {
                    self.inner.signals.pause(error.retry_after().unwrap_or_default());
                }
                outcome => return outcome.map(|_| ()),
            }
        }
    }
}
