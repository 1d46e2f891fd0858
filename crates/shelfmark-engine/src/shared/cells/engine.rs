//! The calls of the engine that give tables of items as tables of cells.

use std::sync::Arc;

use shelfmark_model::{TableName, TableSchema, Value};

use super::super::grant::Share;
use super::super::typed::{Form, Typed, is_shown};
use super::{AttributesText, CellsOfItems, Declared, SharedColumns};
use crate::catalogue::{Owner, Table};
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::inner::Inner;

impl CellsOfItems {
    /// Returns the table again if the table of items has another form by now.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: it was dropped.
    pub(crate) fn current(&self, inner: &Inner) -> Result<Option<Arc<Table>>> {
        let current = inner.catalogue.current(&self.base)?;
        let table = |base| Self::table(&base, self.share, Arc::clone(&self.columns)).map(Arc::new);
        current.map(table).transpose()
    }
}

impl Engine {
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
    /// * [`ErrorKind::NotFound`]: there is no such table, or nothing of it is granted.
    /// * [`ErrorKind::Invalid`]: a part of a typed table's key is no key of a table of cells.
    pub fn shared_cells(
        &self,
        name: &TableName,
        columns: impl FnOnce(&TableSchema) -> SharedColumns,
    ) -> Result<Arc<Table>> {
        let table = self.inner.catalogue.table(name)?;
        self.check_granted(&table)?;
        table.check_awake()?;
        let shown = match is_shown(&table.schema) {
            true => Some(Typed::of(&table, Form::Cells)?.schema(name.clone())),
            false => None,
        };
        let columns = Declared::of(columns(shown.as_ref().unwrap_or(&table.schema)));
        CellsOfItems::table(&table, self.share, Arc::new(columns)).map(Arc::new)
    }

    /// Returns the names of the tables of items and of typed tables that are granted, in order.
    ///
    /// Cost: reads the record of every table that was not used yet.
    ///
    /// # Errors
    ///
    /// * Those of the store. A table whose record cannot be read is left out.
    pub fn shared_names(&self) -> Result<Vec<TableName>> {
        let names = self.inner.catalogue.names(None, None, usize::MAX)?;
        let is_granted = |name: &TableName| {
            self.inner.catalogue.table(name).is_ok_and(|table| self.check_granted(&table).is_ok())
        };
        Ok(names.into_iter().filter(is_granted).collect())
    }

    /// Checks that a table holds items, and grants something.
    fn check_granted(&self, table: &Table) -> Result<()> {
        let schema = &table.schema;
        let grant = Share::of_table(schema).unwrap_or(self.share);
        let is_items = Owner::of_table(schema) == Owner::DynamoDb && table.cells.is_none();
        if (is_items || is_shown(schema)) && schema.partition.len() == 1 && grant != Share::None {
            return Ok(());
        }
        let text = format!("there is no table {} for rows of cells", schema.name);
        Err(Error::new(ErrorKind::NotFound, text))
    }

    /// Changes what a face keeps with a table of another face that is granted to it: the columns that
    /// it declares, and nothing else.
    ///
    /// Durability: it is there after a crash once this returns.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: there is no such table, or nothing of it is granted.
    pub fn declare_shared(
        &self,
        name: &TableName,
        key: &str,
        declared: Option<Value>,
    ) -> Result<()> {
        let table = self.inner.catalogue.table(name)?;
        self.check_granted(&table)?;
        let change = |schema: &mut TableSchema| {
            match declared {
                Some(value) => drop(schema.options.face.insert(key.to_owned(), value)),
                None => drop(schema.options.face.remove(key)),
            }
            Ok(())
        };
        self.inner.catalogue.alter(name, change).map(drop)
    }
}
