//! Tables of other faces: what is granted of them, and in which form they are given.

use std::sync::Arc;

use shelfmark_model::{TableName, TableSchema, Value};
use shelfmark_tables::Result;
use shelfmark_tables::catalogue::Table;
use shelfmark_tables::shared::{AttributesText, ColumnChecks, ItemChecks, Share, SharedColumns};

use crate::engine::Engine;

impl Engine {
    /// Returns the same engine, to which other faces' tables grant no more than `grant`, unless a
    /// table says otherwise of itself.
    #[must_use]
    pub fn sharing(&self, grant: Share) -> Self {
        Self { share: grant, ..self.clone() }
    }

    /// Returns the same engine, which asks `checks` before it writes items into tables of cells.
    #[must_use]
    pub fn checking_columns(&self, checks: Arc<dyn ColumnChecks>) -> Self {
        Self { column_checks: Some(checks), ..self.clone() }
    }

    /// Returns the same engine, which asks `checks` before it writes cells into tables of items.
    #[must_use]
    pub fn checking_items(&self, checks: Arc<dyn ItemChecks>) -> Self {
        Self { item_checks: Some(checks), ..self.clone() }
    }

    /// Returns a table of cells as a table of items: one partition key, at most one sort key. Reads
    /// and writes of items take it; writes need the grant [`Share::All`]. A typed table is given for
    /// reading alone, whatever is granted.
    ///
    /// Cost: as [`Engine::table`], and the forms of its columns are worked out.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::NotFound`]: there is no such table, or nothing of it is granted.
    /// * [`crate::ErrorKind::Invalid`]: its key does not fit an item's; the message says which column.
    pub fn shared_items(&self, name: &TableName) -> Result<Arc<Table>> {
        self.inner.shared_items(name, self.share, self.column_checks.clone())
    }

    /// Returns the same engine, which has a form of attributes as text.
    #[must_use]
    pub fn writing_attributes(&self, text: Arc<dyn AttributesText>) -> Self {
        Self { attributes_text: Some(text), ..self.clone() }
    }

    /// Returns the form of attributes as text, if there is one.
    #[must_use]
    pub fn attributes_text(&self) -> Option<Arc<dyn AttributesText>> {
        self.attributes_text.clone()
    }

    /// Returns a table of items as a table of cells. Reads and writes of cells take it; writes need
    /// the grant [`Share::All`]. A typed table is given for reading alone. `columns` says which
    /// attributes are columns, given the schema as it is shown.
    ///
    /// Cost: as [`Engine::table`], and the columns are copied.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::NotFound`]: there is no such table, or nothing of it is granted.
    /// * [`crate::ErrorKind::Invalid`]: a part of a typed table's key is no key of a table of cells.
    pub fn shared_cells(
        &self,
        name: &TableName,
        columns: impl FnOnce(&TableSchema) -> SharedColumns,
    ) -> Result<Arc<Table>> {
        self.inner.shared_cells(name, self.share, self.item_checks.clone(), columns)
    }

    /// Returns the names of the tables of items and of typed tables that are granted, in order.
    ///
    /// Cost: reads the record of every table that was not used yet.
    ///
    /// # Errors
    ///
    /// * Those of the store. A table whose record cannot be read is left out.
    pub fn shared_names(&self) -> Result<Vec<TableName>> {
        self.inner.shared_names(self.share)
    }

    /// Changes what a face keeps with a table of another face that is granted to it: the columns that
    /// it declares, and nothing else.
    ///
    /// Durability: it is there after a crash once this returns.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::NotFound`]: there is no such table, or nothing of it is granted.
    pub fn declare_shared(
        &self,
        name: &TableName,
        key: &str,
        declared: Option<Value>,
    ) -> Result<()> {
        self.inner.declare_shared(name, self.share, key, declared)
    }
}
