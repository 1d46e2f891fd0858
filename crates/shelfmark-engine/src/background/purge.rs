//! Making the keys of dropped tables and indexes go away.

use crate::engine::Engine;
use crate::error::Result;
use crate::layout::{Tree, tree_range};

impl Engine {
    /// Gives the space of dropped tables and indexes back, once no snapshot can still read them.
    /// Returns how many ids are left to purge.
    ///
    /// Safe to call at any time and to interrupt; a crash loses nothing but the progress.
    ///
    /// # Errors
    ///
    /// * Those of the store; call again later.
    pub fn purge(&self) -> Result<usize> {
        let mut left = 0;
        for dropped in self.inner.catalogue.dropped()? {
            let oldest = self.inner.store.stats().oldest_snapshot;
            if oldest.is_some_and(|oldest| oldest < dropped.since) {
                left += 1;
                continue;
            }
            for tree in
                [Tree::Rows, Tree::Index, Tree::Marks, Tree::Changes, Tree::Counts, Tree::Shards]
            {
                self.inner.store.destroy_range(&tree_range(tree, dropped.id))?;
            }
            self.inner.catalogue.purged(dropped.id)?;
        }
        Ok(left)
    }
}
