//! Remembers that no partition of a table was ever split: then writes need not read its shard map.
//!
//! Looked up once per process and taken back, before the first split, while no write is between
//! planning and queueing: a write that did not read the map is queued before the first cut, and
//! counts in the shard that was there.
//!
//! What it is not: for writers who plan without the table's gate, such as bodies of transactions, or
//! beside other processes. They read the map, and have it validated.

use std::sync::atomic::{AtomicU8, Ordering};

use shelfmark_store::{Direction, KeyRange, ScanLimits, Snapshot};

use crate::error::Result;
use shelfmark_records::shards::{section, section_key};

/// Nobody has looked.
const UNKNOWN: u8 = 0;
/// No partition has a map.
const NONE: u8 = 1;
/// A partition may have one.
const SOME: u8 = 2;

/// A flag that tells whether partitions of a table may have been split.
#[derive(Debug, Default)]
pub(crate) struct Unsplit {
    state: AtomicU8,
}

impl Unsplit {
    /// Tells whether no partition has a map. The caller holds the gate of the table until what it
    /// plans is queued.
    pub(super) fn is_sure(&self, table: u64, snapshot: &dyn Snapshot) -> Result<bool> {
        if self.state.load(Ordering::Acquire) == UNKNOWN {
            let maps = KeyRange::prefix(section_key(table, section::MAP));
            let limits = ScanLimits { rows_max: 1, keys_only: true, ..ScanLimits::default() };
            let page = Snapshot::scan(snapshot, &maps, Direction::Ascending, limits)?;
            // A short page says nothing unless it is the last.
            let found = if page.rows.is_empty() && page.next.is_none() { NONE } else { SOME };
            // Not where a split has begun meanwhile.
            let _ =
                self.state.compare_exchange(UNKNOWN, found, Ordering::AcqRel, Ordering::Acquire);
        }
        Ok(self.state.load(Ordering::Acquire) == NONE)
    }

    /// Notes that a partition is about to be split. Called while the gate is held alone.
    pub(super) fn end(&self) {
        self.state.store(SOME, Ordering::Release);
    }

    /// Tells whether writes read maps.
    pub(super) fn has_ended(&self) -> bool {
        self.state.load(Ordering::Acquire) == SOME
    }
}
