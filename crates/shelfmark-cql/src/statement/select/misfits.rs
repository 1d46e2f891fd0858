//! Counts values of another face's rows that do not fit their columns, for the warning of an answer.
//!
//! Such a value is null in its column. Without a word a client would take it for absent.
//!
//! Invariant: a column that the statement does not look at is not counted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use shelfmark_engine::CellEntry;

use crate::schema::Table;

/// Most columns that a warning names.
const NAMED_MAX: usize = 10;

/// The counts of one execution.
#[derive(Debug, Default)]
pub(super) struct Misfits(Mutex<BTreeMap<u32, u64>>);

impl Misfits {
    /// Counts the values of a row that do not fit one of the columns `looked_at`.
    pub(super) fn note(&self, entry: &CellEntry, looked_at: &BTreeSet<u32>) {
        if entry.row.misfits.is_empty() {
            return;
        }
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for column in entry.row.misfits.iter().filter(|own| looked_at.contains(own)) {
            *counts.entry(*column).or_default() += 1;
        }
    }

    /// Returns the warning about what was counted, if anything was.
    pub(super) fn warning(&self, table: &Table) -> Option<String> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.is_empty() {
            return None;
        }
        let name = |id: &u32| {
            let found = table.other_columns().iter().find(|own| own.id == *id);
            found.map_or_else(String::new, |own| own.name.to_string())
        };
        let mut shown: Vec<String> = counts
            .iter()
            .take(NAMED_MAX)
            .map(|(id, count)| format!("{} in {count} {}", name(id), rows(*count)))
            .collect();
        if counts.len() > NAMED_MAX {
            shown.push("others".to_owned());
        }
        Some(format!(
            "Columns of {} are null where their attribute has a value of another type: {}; the other \
             attributes show it",
            table.full_name(),
            shown.join(", ")
        ))
    }
}

const fn rows(count: u64) -> &'static str {
    if count == 1 { "row" } else { "rows" }
}
