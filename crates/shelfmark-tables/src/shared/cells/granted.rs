//! Gives tables of items as tables of cells, as far as they are granted.

use std::sync::Arc;

use shelfmark_model::{TableName, TableSchema, Value};

use super::super::check::ItemChecks;
use super::super::grant::Share;
use super::super::typed::{Form, Typed, is_shown};
use super::{CellsOfItems, Declared, SharedColumns};
use crate::catalogue::{Owner, Table};
use crate::error::{Error, ErrorKind, Result};
use crate::tables::Tables;

impl CellsOfItems {
    /// Returns the table again if the table of items has another form by now.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: it was dropped.
    pub(crate) fn current(&self, tables: &Tables) -> Result<Option<Arc<Table>>> {
        let current = tables.catalogue.current(&self.base)?;
        let table = |base| {
            let columns = Arc::clone(&self.columns);
            Self::table(&base, self.share, columns, self.checks.clone()).map(Arc::new)
        };
        current.map(table).transpose()
    }
}

impl Tables {
    /// Returns a table of items, or a typed table for reading, as a table of cells. `share` is what
    /// tables grant that say nothing of themselves; `columns` says which attributes are columns.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: there is no such table, or nothing of it is granted.
    /// * [`ErrorKind::Invalid`]: a part of a typed table's key is no key of a table of cells.
    pub fn shared_cells(
        &self,
        name: &TableName,
        share: Share,
        checks: Option<Arc<dyn ItemChecks>>,
        columns: impl FnOnce(&TableSchema) -> SharedColumns,
    ) -> Result<Arc<Table>> {
        let table = self.catalogue.table(name)?;
        check_granted(&table, share)?;
        table.check_awake()?;
        let shown = match is_shown(&table.schema) {
            true => Some(Typed::of(&table, Form::Cells)?.schema(name.clone())),
            false => None,
        };
        let columns = Declared::of(columns(shown.as_ref().unwrap_or(&table.schema)));
        CellsOfItems::table(&table, share, Arc::new(columns), checks).map(Arc::new)
    }

    /// Returns the names of the tables of items and of typed tables that are granted, in order. A
    /// table whose record cannot be read is left out.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn shared_names(&self, share: Share) -> Result<Vec<TableName>> {
        let names = self.catalogue.names(None, None, usize::MAX)?;
        let is_granted = |name: &TableName| {
            self.catalogue.table(name).is_ok_and(|table| check_granted(&table, share).is_ok())
        };
        Ok(names.into_iter().filter(is_granted).collect())
    }

    /// Changes what a face keeps with a table of another face that is granted to it: the columns that
    /// it declares, and nothing else.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: there is no such table, or nothing of it is granted.
    pub fn declare_shared(
        &self,
        name: &TableName,
        share: Share,
        key: &str,
        declared: Option<Value>,
    ) -> Result<()> {
        let table = self.catalogue.table(name)?;
        check_granted(&table, share)?;
        let change = |schema: &mut TableSchema| {
            match declared {
                Some(value) => drop(schema.options.face.insert(key.to_owned(), value)),
                None => drop(schema.options.face.remove(key)),
            }
            Ok(())
        };
        self.catalogue.alter(name, change).map(drop)
    }
}

/// Checks that a table holds items, and grants something.
fn check_granted(table: &Table, share: Share) -> Result<()> {
    let schema = &table.schema;
    let grant = Share::of_table(schema).unwrap_or(share);
    let is_items = Owner::of_table(schema) == Owner::DynamoDb && table.cells.is_none();
    if (is_items || is_shown(schema)) && schema.partition.len() == 1 && grant != Share::None {
        return Ok(());
    }
    let text = format!("there is no table {} for rows of cells", schema.name);
    Err(Error::new(ErrorKind::NotFound, text))
}
