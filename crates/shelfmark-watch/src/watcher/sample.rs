//! Samples data: a page of a table at a time, table after table, around and around.
//!
//! Invariant: a look reads one page of at most [`PAGE_ITEMS`] rows, and nothing of them is kept.

use serde_json::{Map, Value as Json};
use shelfmark_admin::{Admin, Scan};

use crate::compare::Comparison;
use crate::items::Partitions;

/// Rows of one look. Source: ours; with the time between two looks 500 rows a second.
const PAGE_ITEMS: usize = 100;
/// Names of tables that are read at once when a table is looked for.
const NAMES: usize = 1_000;
/// Looks between two searches for tables that were not found. Source: ours; five seconds.
const LOOKS_BETWEEN: u32 = 25;

/// The place where the samples are.
#[derive(Debug, Default)]
pub(super) struct Sample {
    /// The tables with their full names, once they are looked for.
    tables: Vec<(String, Option<String>)>,
    at: usize,
    cursor: Option<String>,
    partitions: Partitions,
    looks: u32,
}

impl Sample {
    /// Looks at one page of data.
    pub(super) fn look(&mut self, admin: &Admin, comparison: &mut Comparison) {
        let is_missing = self.tables.iter().any(|(_, full)| full.is_none());
        if self.tables.is_empty() || (is_missing && self.looks >= LOOKS_BETWEEN) {
            self.looks = 0;
            self.find(admin, comparison);
        }
        self.looks += 1;
        let Some((table, full)) = self.tables.get(self.at).cloned() else {
            self.at = 0;
            return;
        };
        let Some(full) = full else {
            comparison.checks(&table).unreadable = Some("there is no such table".to_owned());
            return self.next();
        };
        let cursor = self.cursor.take();
        let scan = Scan { table: full, limit: Some(PAGE_ITEMS), cursor, ..Scan::default() };
        let page = match admin.run(scan) {
            Ok(page) => page,
            Err(error) => {
                comparison.checks(&table).unreadable = Some(error.to_string());
                // It may have been dropped: it is looked for again.
                if let Some((_, full)) = self.tables.get_mut(self.at) {
                    *full = None;
                }
                return self.next();
            }
        };
        comparison.checks(&table).unreadable = None;
        for item in &page.items {
            if let Ok(item) = serde_json::from_str::<Map<String, Json>>(item.get()) {
                self.item(comparison, &table, &item);
            }
        }
        self.cursor = page.cursor;
        if self.cursor.is_none() {
            comparison.checks(&table).rounds += 1;
            self.next();
        }
    }

    fn item(&mut self, comparison: &mut Comparison, table: &str, item: &Map<String, Json>) {
        comparison.checks(table).sampled += 1;
        comparison.check(table, item);
        let watched = std::sync::Arc::clone(comparison.watched());
        if let Some(broken) = watched.items.count(&mut self.partitions, table, item) {
            comparison.note(broken);
        }
    }

    fn next(&mut self) {
        self.partitions = Partitions::default();
        self.cursor = None;
        self.at += 1;
        if self.at >= self.tables.len() {
            self.at = 0;
        }
    }

    /// Finds the tables of the model by their names: of several of one name the first.
    fn find(&mut self, admin: &Admin, comparison: &Comparison) {
        let watched = comparison.watched();
        self.tables = watched.tables.names().map(|name| (name.to_owned(), None)).collect();
        let of_items = watched.target() == "dynamodb";
        let mut after = None;
        // What cannot be listed now is listed at the next search.
        while let Ok(names) = admin.engine().table_names(None, after.as_ref(), NAMES) {
            let Some(last) = names.last().cloned() else { return };
            for name in &names {
                let own =
                    self.tables.iter_mut().find(|(own, full)| *own == name.name && full.is_none());
                if let Some((_, full)) = own
                    && name.namespace.starts_with(shelfmark_admin::DEFAULT_NAMESPACE) == of_items
                {
                    *full = Some(name.to_string());
                }
            }
            after = Some(last);
        }
    }
}
