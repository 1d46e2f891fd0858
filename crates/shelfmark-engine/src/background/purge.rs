//! Removes the keys of dropped tables and indexes.

use shelfmark_records::keys::{Tree, tree_range};
use shelfmark_store::{Direction, KeyRange, ScanLimits, Snapshot};
use shelfmark_tables::Result;

use crate::engine::Engine;

impl Engine {
    /// Gives the space of dropped tables and indexes back, once no snapshot can still read them.
    /// Returns how many ids are left to purge.
    ///
    /// Safe to call at any time and to interrupt; a crash loses nothing but the progress. An id that
    /// cannot be purged does not keep the others.
    ///
    /// # Errors
    ///
    /// * Those of the store; call again later.
    pub fn purge(&self) -> Result<usize> {
        Ok(self.purge_counted()?.1)
    }

    /// Purges as [`Engine::purge`] does, and returns how many ids were purged and how many are
    /// left.
    pub(super) fn purge_counted(&self) -> Result<(usize, usize)> {
        let (mut done, mut left) = (0, 0);
        let mut outcome = Ok(());
        for dropped in self.inner.catalogue.dropped()? {
            let oldest = self.inner.store.stats().oldest_snapshot;
            let is_read = oldest.is_some_and(|oldest| oldest < dropped.since);
            if is_read || self.inner.others_may_read(dropped.id)? {
                left += 1;
                continue;
            }
            match self.purge_id(dropped.id) {
                Ok(()) => done += 1,
                Err(error) => outcome = Err(error),
            }
        }
        outcome.map(|()| (done, left))
    }

    fn purge_id(&self, id: u64) -> Result<()> {
        // Due times are swept by themselves.
        for tree in Tree::OF_IDS {
            let range = tree_range(tree, id);
            if self.has_keys(&range)? {
                self.inner.store.destroy_range(&range)?;
            }
        }
        self.inner.catalogue.purged(id)
    }

    /// Returns true if a key lies in the range. Destroying nothing costs more than a look.
    fn has_keys(&self, range: &KeyRange) -> Result<bool> {
        let limits = ScanLimits { rows_max: 1, keys_only: true, ..Default::default() };
        let snapshot = self.inner.store.snapshot()?;
        let page = Snapshot::scan(&*snapshot, range, Direction::Ascending, limits)?;
        Ok(!page.rows.is_empty() || page.next.is_some())
    }
}
