//! Tells which tables have rows that are not deleted, from the entries that a salvage would keep.
//!
//! The rows of a dropped table are deleted one by one, and until the files are merged both lie there: the
//! row and its deletion. Such a table is not lost.
//!
//! What it is not: a reader of rows. It compares versions of keys.
//!
//! Invariant: where it cannot be told, a table has rows, so that nothing is given up unasked.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use shelfmark_keycode::take_ordered_varint;
use shelfmark_records::keys::Tree;

/// Keys that are remembered at most, of all tables together: some 100 MB.
const KEYS_MAX: usize = 1_000_000;

/// The newest version of each key, and whether it is a value.
type Newest = HashMap<Box<[u8]>, (u64, bool)>;

/// The newest version of each row of some tables, and whether it is there.
#[derive(Debug, Default)]
pub struct LiveRows {
    rows: BTreeMap<u64, Newest>,
    left: usize,
}

impl LiveRows {
    /// Begins to look for rows of the tables of these numbers.
    #[must_use]
    pub fn of(ids: &BTreeSet<u64>) -> Self {
        Self { rows: ids.iter().map(|id| (*id, HashMap::new())).collect(), left: KEYS_MAX }
    }

    /// Notes a version of a key, and whether it is a value or a deletion.
    pub fn see(&mut self, key: &[u8], is_value: bool, version: u64) {
        let Some((tree, mut rest)) = key.split_first() else { return };
        if *tree != Tree::Rows as u8 {
            return;
        }
        let Some(rows) = take_ordered_varint(&mut rest).ok().and_then(|id| self.rows.get_mut(&id))
        else {
            return;
        };
        if let Some(newest) = rows.get_mut(key) {
            if newest.0 <= version {
                *newest = (version, is_value);
            }
        } else if self.left > 0 {
            self.left -= 1;
            rows.insert(key.into(), (version, is_value));
        }
    }

    /// Returns true if a table has a row that is not deleted, and where there were too many keys to
    /// tell.
    #[must_use]
    pub fn has(&self, id: u64) -> bool {
        let rows = self.rows.get(&id).into_iter().flatten();
        self.left == 0 || rows.into_iter().any(|(_, (_, is_value))| *is_value)
    }
}
