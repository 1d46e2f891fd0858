//! Making a dead range and its space go away.

use crate::contract::{Commit, Direction, KeyRange, Result, ScanLimits, Snapshot as _, Write};

use super::EmbeddedStore;

/// Keys that one commit deletes at most.
const DELETES_PER_COMMIT: usize = 1000;

impl EmbeddedStore {
    /// See [`crate::Store::destroy_range`].
    pub(super) fn destroy(&self, range: &KeyRange) -> Result<()> {
        let mut rest = Some(range.clone());
        while let Some(range) = rest {
            let limits = ScanLimits {
                rows_max: DELETES_PER_COMMIT,
                keys_only: true,
                ..ScanLimits::default()
            };
            let page = self.inner.moments.pin().scan(&range, Direction::Ascending, limits)?;
            let writes: Vec<Write> =
                page.rows.into_iter().map(|row| Write::Delete { key: row.key }).collect();
            if !writes.is_empty() {
                crate::Store::commit(self, Commit::of(writes))?;
            }
            rest = page.next;
        }
        Ok(())
    }
}
