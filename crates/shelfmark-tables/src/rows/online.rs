//! Adds, resumes and removes indexes while their table is in use.
//!
//! What it is not: the filling itself ([`super::backfill`]), nor what an entry holds.
//!
//! Invariant: an index is read by nobody before every row has its entry.

use std::sync::Arc;

use shelfmark_model::{IndexSchema, IndexState, TableName};

use super::backfill::patiently;
use crate::catalogue::{CatalogueChange, Owner, Table};
use crate::error::{Error, ErrorKind, Result};
use crate::items::{build, give_due_times};
use crate::tables::Tables;

/// Adds an index and returns once it is complete.
///
/// # Errors
///
/// * [`crate::ErrorKind::AlreadyExists`]: an index of this name is there, or, for a unique one, two
///   items have one key; nothing is left of the index then.
/// * Those of the store. The index stays as one that is being built; call [`resume`].
pub fn add(tables: &Tables, name: &TableName, index: IndexSchema) -> Result<Arc<Table>> {
    let index_name = index.name.clone();
    let table = tables.catalogue.alter(name, |schema| {
        if schema.index(&index.name).is_some() {
            return Err(Error::new(
                ErrorKind::AlreadyExists,
                format!("table {name} has an index {} already", index.name),
            ));
        }
        schema.indexes.push(IndexSchema { state: IndexState::Building, ..index });
        Ok(())
    })?;
    complete(tables, &table, &index_name)
}

/// Resumes the backfills of a table that a stop interrupted.
///
/// # Errors
///
/// * [`crate::ErrorKind::NotFound`]: there is no such table.
/// * As [`add`].
pub fn resume(tables: &Tables, name: &TableName) -> Result<()> {
    let table = tables.catalogue.table(name)?;
    if table.cells.is_some() {
        return crate::cells::resume(tables, name);
    }
    for index in &table.indexes {
        if index.schema.state == IndexState::Building {
            complete(tables, &table, &index.schema.name)?;
        }
    }
    if table.schema.options.ttl_pass.is_some() {
        give_due_times(tables, &table)?;
    }
    Ok(())
}

/// Begins the indexes and views of a table anew and builds them. Returns the names of those that
/// cannot be built, for two rows have one key of a unique one; they are removed.
///
/// # Errors
///
/// * [`crate::ErrorKind::NotFound`]: there is no such table.
/// * Those of the store. Call again.
pub fn renew(tables: &Tables, name: &TableName) -> Result<Vec<String>> {
    tables.catalogue.apply(vec![CatalogueChange::RenewDerived(name.clone())], Owner::Engine)?;
    let table = tables.catalogue.table(name)?;
    if table.cells.is_some() {
        crate::cells::resume(tables, name)?;
        return Ok(Vec::new());
    }
    let mut removed = Vec::new();
    for index in &table.indexes {
        match complete(tables, &table, &index.schema.name) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                removed.push(index.schema.name.clone());
            }
            completed => drop(completed?),
        }
    }
    Ok(removed)
}

/// Resumes the backfills of all tables of items. Those of cells are the business of whoever declares
/// them: a face must look at them anew afterwards.
///
/// # Errors
///
/// * Those of the store. Call again.
pub fn resume_all(tables: &Tables) -> Result<()> {
    let mut outcome = Ok(());
    for name in tables.catalogue.unfinished()? {
        match resume(tables, &name) {
            Ok(()) => {}
            // Dropped since, or such that it cannot be built and was removed.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists) => {}
            Err(error) => outcome = Err(error),
        }
    }
    outcome
}

/// Builds an index and makes it public. Removes it where two items have one key of a unique one;
/// after any other error it stays as one that is being built, and is resumed.
fn complete(tables: &Tables, table: &Table, index: &str) -> Result<Arc<Table>> {
    let name = &table.schema.name;
    let built = build(tables, table, index).and_then(|()| {
        patiently(|| tables.catalogue.set_index_state(name, index, IndexState::Public))
    });
    match built {
        Ok(table) => Ok(table),
        // What was dropped meanwhile is no longer this one's to remove.
        Err(error) if error.kind() == ErrorKind::NotFound => Err(error),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            patiently(|| remove(tables, name, index))?;
            Err(error)
        }
        Err(error) => {
            tables.builds.are_due();
            Err(error)
        }
    }
}

/// Removes an index; its entries become garbage.
///
/// # Errors
///
/// * [`crate::ErrorKind::NotFound`]: there is no such table or index.
pub fn remove(tables: &Tables, name: &TableName, index: &str) -> Result<Arc<Table>> {
    tables.catalogue.alter(name, |schema| {
        let before = schema.indexes.len();
        schema.indexes.retain(|own| own.name != index);
        if schema.indexes.len() == before {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("table {name} has no index {index}"),
            ));
        }
        Ok(())
    })
}
