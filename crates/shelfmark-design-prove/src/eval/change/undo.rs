//! Undoes the changes of a request whose condition fails.
//!
//! Invariant: what is undone is exactly what was changed since the request began.

use super::super::rows::Row;
use super::super::shelf::{Holder, Key};
use shelfmark_design_language::model::schema::{FamilyId, TableId};
use shelfmark_design_language::model::{ColumnPath, Value};

/// Rows behind a holder, with what was there before the current request.
pub(super) struct Undoing<'a> {
    shelf: &'a mut dyn Holder,
    transaction: Option<usize>,
    before: Vec<(TableId, Key, Option<Row>)>,
}

impl<'a> Undoing<'a> {
    pub(super) fn new(shelf: &'a mut dyn Holder) -> Self {
        Self { shelf, transaction: None, before: Vec::new() }
    }

    /// Begins a step: outside of its transaction nothing is undone any more.
    pub(super) fn enter(&mut self, transaction: Option<usize>) {
        if transaction.is_none() || transaction != self.transaction {
            self.before.clear();
        }
        self.transaction = transaction;
    }

    /// Returns true if the current step is one of a transaction.
    pub(super) fn is_together(&self) -> bool {
        self.transaction.is_some()
    }

    /// Returns true if the current request has changed the row of a key.
    pub(super) fn has_changed(&self, table: TableId, key: &Key) -> bool {
        self.before.iter().any(|(of, own, _)| *of == table && own == key)
    }

    /// Undoes what the transaction has changed; the requests before it stay.
    pub(super) fn undo(&mut self) -> Result<(), String> {
        for (table, key, row) in std::mem::take(&mut self.before).into_iter().rev() {
            match row {
                Some(row) => self.shelf.put(table, key, row)?,
                None => self.shelf.remove(table, &key)?,
            }
        }
        Ok(())
    }

    fn note(&mut self, table: TableId, key: &Key) -> Result<(), String> {
        if self.is_together() {
            let row = self.shelf.get(table, key)?;
            self.before.push((table, key.clone(), row));
        }
        Ok(())
    }
}

impl Holder for Undoing<'_> {
    fn matching(
        &self,
        family: FamilyId,
        wanted: &[(ColumnPath, Value)],
    ) -> Result<Vec<(Key, Row)>, String> {
        self.shelf.matching(family, wanted)
    }

    fn get(&self, table: TableId, key: &Key) -> Result<Option<Row>, String> {
        self.shelf.get(table, key)
    }

    fn put(&mut self, table: TableId, key: Key, row: Row) -> Result<(), String> {
        self.note(table, &key)?;
        self.shelf.put(table, key, row)
    }

    fn remove(&mut self, table: TableId, key: &Key) -> Result<(), String> {
        self.note(table, key)?;
        self.shelf.remove(table, key)
    }
}
