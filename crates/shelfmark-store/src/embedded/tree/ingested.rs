//! Counts the table files that ingestions added and no merge has taken yet.
//!
//! Such a file lies in a range that held nothing, so no read looks into it on its way to other rows. The
//! library counts all fresh files alike, and would merge what writers flushed the more often the more
//! was ingested beside them.
//!
//! What it is not: durable. After a restart they count like any other.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use lsm_tree::{Table, TableId};

use super::super::admission::RUNS_FREE;
use super::FRESH_FILES_MAX;

/// Most files that are left out of account. A merge of everything ingested beside it stays bounded, and is
/// due before there are so many runs that writers are slowed down: else nothing would ever end that.
const FILES_MAX: u8 = RUNS_FREE as u8 - FRESH_FILES_MAX;

/// The files that were ingested.
#[derive(Default)]
pub(super) struct Ingested(Mutex<BTreeSet<TableId>>);

impl Ingested {
    /// Notes files that are about to become part of the tree.
    pub(super) fn add(&self, tables: &[Table]) {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.extend(tables.iter().map(Table::id));
    }

    /// Returns how many of the fresh files `is_fresh` were ingested, as far as they are left out of
    /// account, and forgets those that are no longer fresh.
    pub(super) fn among(&self, is_fresh: impl Fn(TableId) -> bool) -> u8 {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.retain(|file| is_fresh(*file));
        u8::try_from(files.len()).unwrap_or(FILES_MAX).min(FILES_MAX)
    }
}
