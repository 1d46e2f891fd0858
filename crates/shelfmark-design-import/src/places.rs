//! Gives tables, indexes and row families their names in the model.
//!
//! A table and an index keep the name that they have there, so that requests for the model's schema
//! address them. Where the language has no such name, or an index of another table has it already,
//! the model has another one, and a remark tells both.
//!
//! What it is not: it knows no columns; `columns` tells how those are called.
//!
//! Invariant: each name is given once, and row families take what tables and indexes leave.

use std::collections::BTreeMap;

use crate::names::{Names, comment};

/// The names of one schema.
#[derive(Debug, Default)]
pub(crate) struct Places {
    names: Names,
    tables: BTreeMap<String, String>,
    indexes: BTreeMap<(String, String), String>,
}

impl Places {
    /// Names tables with their indexes, all tables before all indexes.
    pub(crate) fn of(tables: &[(String, Vec<String>)]) -> Self {
        let mut found = Self::default();
        for (table, _) in tables {
            if !found.tables.contains_key(table) {
                let name = found.names.fresh(table);
                found.tables.insert(table.clone(), name);
            }
        }
        for (table, indexes) in tables {
            for index in indexes {
                let place = (table.clone(), index.clone());
                if found.indexes.contains_key(&place) {
                    continue;
                }
                let name = if found.names.is_free(index) {
                    found.names.fresh(index)
                } else {
                    found.names.fresh(&format!("{} {index}", found.table(table)))
                };
                found.indexes.insert(place, name);
            }
        }
        found
    }

    pub(crate) fn table(&self, table: &str) -> String {
        self.tables.get(table).cloned().unwrap_or_default()
    }

    pub(crate) fn index(&self, table: &str, index: &str) -> String {
        self.indexes.get(&(table.to_owned(), index.to_owned())).cloned().unwrap_or_default()
    }

    /// Returns a name for a row family.
    pub(crate) fn row(&mut self, wanted: &str) -> String {
        self.names.fresh(wanted)
    }

    /// Returns remarks on the table and the indexes of it that are called otherwise there.
    pub(crate) fn renamed(&self, table: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut tell = |what: &str, there: &str, here: &str| {
            if there != here {
                found.push(format!(
                    "? The {what} {here} is called {:?} there: requests of `design calls` say {here}.",
                    comment(there)
                ));
            }
        };
        tell("table", table, &self.table(table));
        for ((of, index), name) in &self.indexes {
            if of == table {
                tell("index", index, name);
            }
        }
        found
    }
}
