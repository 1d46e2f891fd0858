//! Writing a table of cells beside other servers: what one server remembers of tombstones says nothing
//! of those that the others leave.
//!
//! A deleted row is found by the row itself, which both commits write. A deleted range covers rows that
//! are not there, so a table in which ranges are deleted gets a flag, for ever and before the first;
//! from then on every write of a partition validates a guard, which deletions of ranges write.
//!
//! What it is not: for stores with one server, where the locks of partitions do this without a read.
//!
//! Invariant: of a write and a deletion of a range that covers it, one sees the other or is refused.

use std::cell::RefCell;

use bytes::Bytes;
use shelfmark_records::cells::Timestamp;
use shelfmark_records::keys::{Tree, tree_key};
use shelfmark_store::txn::Transaction as Buffer;
use xxhash_rust::xxh3::xxh3_64;

use super::tombstones;
use crate::catalogue::Table;
use crate::commit::Writer;
use crate::error::Result;
use crate::rows::View;
use crate::tables::Tables;

/// Guards of one table. Partitions share them by hash; two writers meet at one as rarely as this.
const GUARDS: u64 = 1024;

/// The knowledge of other servers' deletions that the writes of one commit need.
pub(super) struct BesideOthers {
    table: u64,
    has_ranges: bool,
    /// No tombstone that the commit's view has is later.
    highest_tombstone: Timestamp,
}

impl BesideOthers {
    /// Reads what a commit must know; `None` where nobody else writes.
    pub(super) fn of(tables: &Tables, writer: &Writer, table: &Table) -> Result<Option<Self>> {
        if tables.is_alone {
            return Ok(None);
        }
        // Not validated: a later deletion meets this commit at the row or at the guard.
        let base = std::sync::Arc::clone(writer.buffer.borrow().base());
        let bound = tombstones::persisted_bound(&&*base, table.id)?;
        Ok(Some(Self { table: table.id, has_ranges: table.has_ranges(), highest_tombstone: bound }))
    }

    pub(super) fn may_have_tombstones(&self, timestamp: Timestamp) -> bool {
        timestamp <= self.highest_tombstone
    }

    /// Returns how many levels of tombstones of ranges a late write must look at.
    pub(super) fn levels(&self) -> usize {
        if self.has_ranges { usize::MAX } else { 0 }
    }

    /// Validates the guard of a partition; puts it, too, for a deletion of a range.
    pub(super) fn guard(&self, buffer: &RefCell<Buffer>, partition: &[u8], is_range: bool) {
        if !self.has_ranges {
            return;
        }
        let slot = u16::try_from(xxh3_64(partition) % GUARDS).unwrap_or(0);
        let mut key = tree_key(Tree::Guards, self.table);
        key.extend(slot.to_be_bytes());
        let mut buffer = buffer.borrow_mut();
        buffer.validate(&key);
        if is_range {
            buffer.put(key, Bytes::from_static(&[1]));
        }
    }
}

impl Tables {
    /// Has the memory of a table of cells say what was persisted, before the table is read or written.
    pub(super) fn load_state(&self, table: &Table, view: &impl View) -> Result<()> {
        if self.is_alone {
            return table.shared.cells.load(table.id, view);
        }
        table.shared.cells.know_ranges(table.has_ranges());
        Ok(())
    }
}
