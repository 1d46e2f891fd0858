//! Adding and removing indexes while the table is in use.
//!
//! An index is added in three steps: writes keep it (*building*), the rows that were there before
//! are entered range by range, reads may use it (*public*). A row that is written while its range
//! is being entered makes that range's commit conflict, and the range is entered again.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_model::{IndexKind, IndexSchema, IndexState, TableName};
use shelfmark_store::{Commit, Direction, ErrorKind as StoreErrorKind, KeyRange, Write};

use crate::catalogue::{Index, Table};
use crate::codec::Head;
use crate::engine::Inner;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::after_row;
use crate::read::{RawRow, RowScan, chunk_key};
use crate::write::entry_value;

/// Rows entered per commit.
const ROWS_PER_COMMIT: usize = 256;

/// Adds an index and returns once it is complete.
pub(crate) fn add(inner: &Inner, name: &TableName, index: IndexSchema) -> Result<Arc<Table>> {
    let index_name = index.name.clone();
    let table = inner.catalogue.alter(name, |schema| {
        if schema.index(&index.name).is_some() {
            return Err(Error::new(
                ErrorKind::AlreadyExists,
                format!("table {name} has an index {} already", index.name),
            ));
        }
        schema.indexes.push(IndexSchema { state: IndexState::Building, ..index });
        Ok(())
    })?;
    if let Err(error) = build(inner, &table, &index_name) {
        remove(inner, name, &index_name)?;
        return Err(error);
    }
    inner.catalogue.set_index_state(name, &index_name, IndexState::Public)
}

/// Goes on building indexes that a stop interrupted.
pub(crate) fn resume(inner: &Inner, name: &TableName) -> Result<()> {
    let table = inner.catalogue.table(name)?;
    for index in &table.indexes {
        if index.schema.state == IndexState::Building {
            build(inner, &table, &index.schema.name)?;
            inner.catalogue.set_index_state(name, &index.schema.name, IndexState::Public)?;
        }
    }
    Ok(())
}

/// Removes an index; its entries become garbage.
pub(crate) fn remove(inner: &Inner, name: &TableName, index: &str) -> Result<Arc<Table>> {
    inner.catalogue.alter(name, |schema| {
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

fn build(inner: &Inner, table: &Table, index: &str) -> Result<()> {
    let index = table
        .index(index)
        .ok_or_else(|| Error::new(ErrorKind::Internal, "the index being built is not there"))?;
    let mut rest = Some(KeyRange::prefix(table.key.prefix.clone()));
    while let Some(range) = rest.take() {
        rest = enter_range(inner, table, index, &range)?;
    }
    Ok(())
}

/// Enters the first rows of a range; returns what is left of it, all of it after a conflict.
fn enter_range(
    inner: &Inner,
    table: &Table,
    index: &Index,
    range: &KeyRange,
) -> Result<Option<KeyRange>> {
    let snapshot = inner.store.snapshot()?;
    let mut rows = Vec::new();
    {
        let view = &*snapshot;
        let mut scan = RowScan::new(&view, range.clone(), Direction::Ascending, ROWS_PER_COMMIT);
        while rows.len() < ROWS_PER_COMMIT {
            let Some(row) = scan.next_row()? else { break };
            rows.push(row);
        }
    }
    let Some(last) = rows.last().map(|row| row.key.clone()) else { return Ok(None) };
    let mut validate = Vec::with_capacity(rows.len());
    let mut entries = BTreeMap::new();
    for row in &rows {
        validate.push(Bytes::from(chunk_key(&row.key, 0)));
        let Some((key, value)) = entry(table, index, row)? else { continue };
        if index.schema.kind == IndexKind::Unique {
            // A writer may have entered the same item already; any other item is one too many.
            let found = snapshot.get(&key)?;
            if found.is_some_and(|found| found != value) || entries.contains_key(&key) {
                return Err(duplicate(index));
            }
            validate.push(key.clone());
        }
        entries.insert(key, value);
    }
    let writes = entries.into_iter().map(|(key, value)| Write::Put { key, value }).collect();
    match inner.store.commit(Commit { base: Some(snapshot), validate, writes }) {
        Ok(_) => Ok(Some(after_row(range, &last, false))),
        Err(error) => match error.kind() {
            StoreErrorKind::Conflict | StoreErrorKind::TooOld | StoreErrorKind::Busy => {
                Ok(Some(range.clone()))
            }
            _ => Err(error.into()),
        },
    }
}

fn duplicate(index: &Index) -> Error {
    let name = &index.schema.name;
    Error::new(
        ErrorKind::AlreadyExists,
        format!("two items have one key in the unique index {name}"),
    )
}

/// Returns the entry of a row, if it has one.
fn entry(table: &Table, index: &Index, row: &RawRow) -> Result<Option<(Bytes, Bytes)>> {
    let expires_at = Head::parse(&row.head)?.expires_at;
    let Some(item) = table.decode_row(row, 0)? else { return Ok(None) };
    let key = table.key_of(&item)?;
    let Some(entry_key) = index.key.entry_key(&table.key, &key, &item)? else { return Ok(None) };
    let shown = expires_at.filter(|_| table.hides(expires_at, u64::MAX));
    let value = entry_value(table, index, &item, shown);
    Ok(Some((chunk_key(&entry_key, 0).into(), value)))
}
