//! Keys that make transactions exclude each other where the store validates no ranges.
//!
//! A transaction that reads a range, or anything that it does not write, puts and validates a guard
//! key for each partition that it touched. Such transactions then conflict when they share a
//! partition, which leaves no cycle of dependencies (`docs/adr/0011-serializable-ranges.md`). What
//! it is not: a lock. Plain writes and conditional writes of single rows neither read nor put guards.
//!
//! Invariant: two transactions that need guards and touch one partition put one key in common.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use bytes::Bytes;
use shelfmark_keycode::token;
use shelfmark_model::Value;
use shelfmark_records::keys::{Tree, tree_key};
use shelfmark_store::txn::Transaction as Buffer;

use crate::catalogue::Table;
use crate::error::Result;

/// Guard keys of one table. Partitions share them by hash, so that they never grow in number and a
/// read of the whole table can touch all of them.
const SLOTS: u8 = 64;

/// The partitions that a transaction touched.
#[derive(Default)]
pub(crate) struct Guards {
    slots: RefCell<BTreeSet<(u64, u8)>>,
    has_ranges: Cell<bool>,
}

impl Guards {
    /// Notes that the transaction reads or writes in one partition of a table.
    pub(crate) fn touch(&self, table: &Table, partition: &[Value]) -> Result<()> {
        self.touch_partition(table.id, &table.key.partition_key(partition)?);
        Ok(())
    }

    /// Notes a partition as [`Guards::touch`] does, by the prefix of its keys.
    pub(crate) fn touch_partition(&self, table: u64, key: &[u8]) {
        let slot = u8::try_from(token(key).rem_euclid(i64::from(SLOTS))).unwrap_or(0);
        self.slots.borrow_mut().insert((table, slot));
    }

    /// Notes that the transaction reads ranges.
    pub(crate) fn note_range(&self) {
        self.has_ranges.set(true);
    }

    /// Notes that the transaction reads a range that may hold rows of any partition: of the whole
    /// table or of an index.
    pub(crate) fn touch_all(&self, table: &Table) {
        self.has_ranges.set(true);
        self.slots.borrow_mut().extend((0..SLOTS).map(|slot| (table.id, slot)));
    }

    /// Puts and validates the guards, if the transaction needs them.
    pub(crate) fn enter(self, buffer: &mut Buffer) {
        if !self.has_ranges.get() && !buffer.reads_more_than_it_writes() {
            return;
        }
        for (table, slot) in self.slots.into_inner() {
            let mut key = tree_key(Tree::Guards, table);
            key.push(slot);
            buffer.validate(&key);
            buffer.put(key, Bytes::from_static(&[1]));
        }
    }
}
