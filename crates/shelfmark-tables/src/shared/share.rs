//! Decides what a face may do to tables of another face.
//!
//! Invariant: without a grant nothing of another face's table is read or written.

use std::sync::Arc;

use shelfmark_model::TableName;

use super::check::ColumnChecks;
use super::grant::Share;
use super::mapping::ItemsOfCells;
use super::typed::{ItemsOfTyped, is_shown};
use crate::catalogue::{Owner, Table};
use crate::error::{Error, ErrorKind, Result};
use crate::tables::Tables;

impl Tables {
    /// Returns a table of cells as a table of items, or a typed table as one that is read alone.
    /// `share` is what tables grant that say nothing of themselves; `checks` are asked before items
    /// are written.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: there is no such table, or nothing of it is granted.
    /// * [`ErrorKind::Invalid`]: its key does not fit an item's; the message says which column.
    pub fn shared_items(
        &self,
        name: &TableName,
        share: Share,
        checks: Option<Arc<dyn ColumnChecks>>,
    ) -> Result<Arc<Table>> {
        let absent =
            || Error::new(ErrorKind::NotFound, format!("there is no table {name} for items"));
        let table = self.catalogue.table(name)?;
        // A server's own keyspaces hold roles and their passwords; nobody grants those.
        let is_own = Owner::of_reserved_name(&name.namespace).is_some();
        let owner = Owner::of_table(&table.schema);
        let is_typed = is_shown(&table.schema);
        let is_cells = owner == Owner::Cql && table.cells.is_some();
        let is_shown = !is_own && (is_typed || is_cells);
        let grant = self.grant_of(&table, share)?;
        if !is_shown || grant == Share::None {
            return Err(absent());
        }
        if is_typed {
            return ItemsOfTyped::table(&table).map(Arc::new);
        }
        ItemsOfCells::table(&table, grant, checks).map(Arc::new)
    }

    /// Returns what a table grants; a view that says nothing of itself grants what its base does.
    fn grant_of(&self, table: &Table, share: Share) -> Result<Share> {
        if let Some(own) = Share::of_table(&table.schema) {
            return Ok(own);
        }
        let view = table.schema.cells.as_ref().and_then(|cells| cells.view_of.as_ref());
        let of_base = match view {
            Some(view) => Share::of_table(&self.catalogue.table(&view.base)?.schema),
            None => None,
        };
        Ok(of_base.unwrap_or(share))
    }
}
