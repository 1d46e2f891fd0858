//! Finds tables by the names that people write, and their keys by values as people type them.
//!
//! A table of cells (CQL's) is found as one of items, where its key allows it; a program's typed table as
//! it is.

use std::sync::Arc;

use shelfmark_engine::{Engine, ErrorKind as EngineErrorKind, Table};
use shelfmark_model::{Key, KeyColumn, RowKind, SortColumn, TableName, Value};

use crate::error::{Error, ErrorKind, Result};
use crate::tables::is_internal;
use crate::values::key_value;

/// The namespace of a table that is named without one: the DynamoDB face's.
pub const DEFAULT_NAMESPACE: &str = "dynamodb";

/// Names of tables that an error lists.
const NAMES_TOLD_MAX: usize = 20;

/// Names that are looked at for it: the store's own ones are not told.
const NAMES_LOOKED_MAX: usize = 1_000;

/// Returns a table as it is stored, or an error that names the existing ones.
pub(crate) fn stored_table(engine: &Engine, name: &str) -> Result<Arc<Table>> {
    let wanted = match name.split_once('.') {
        Some((namespace, name)) => TableName::new(namespace, name),
        None => TableName::new(DEFAULT_NAMESPACE, name),
    };
    // A DynamoDB table's name may have dots in it.
    let dotted = TableName::new(DEFAULT_NAMESPACE, name);
    let found = engine.table(&wanted).or_else(|_| engine.table(&dotted));
    found.map_err(|error| absent(engine, &error))
}

/// Returns a table of items, or one of cells as such, or an error that names the existing ones.
pub(crate) fn table(engine: &Engine, name: &str) -> Result<Arc<Table>> {
    let table = stored_table(engine, name)?;
    if table.schema.rows != RowKind::Cells {
        return Ok(table);
    }
    let own = &table.schema.name;
    engine.shared_items(own).map_err(|error| {
        Error::invalid(format!(
            "{own} is a table of CQL that cannot be shown as items ({error}); look at it with: \
             shelfmark cql -e 'SELECT * FROM {own} LIMIT 10'"
        ))
    })
}

fn absent(engine: &Engine, error: &shelfmark_engine::Error) -> Error {
    if error.kind() != EngineErrorKind::NotFound {
        return error.clone().into();
    }
    let names = engine.table_names(None, None, NAMES_LOOKED_MAX).unwrap_or_default();
    let told = names.iter().filter(|name| !is_internal(name)).take(NAMES_TOLD_MAX);
    let names: Vec<String> = told.map(ToString::to_string).collect();
    let hint = match names.is_empty() {
        true => "the store has no tables yet".to_owned(),
        false => format!("there are: {}", names.join(", ")),
    };
    Error::new(ErrorKind::NotFound, format!("{error}; {hint}"))
}

/// Returns the key columns of a table, or of one of its indexes.
pub(crate) fn key_columns<'t>(
    table: &'t Table,
    index: Option<&str>,
) -> Result<(&'t [KeyColumn], &'t [SortColumn])> {
    let Some(name) = index else { return Ok((&table.schema.partition, &table.schema.sort)) };
    match table.schema.index(name) {
        Some(index) => Ok((&index.partition, &index.sort)),
        None => {
            let why = format!("table {} has no index {name}", table.schema.name);
            Err(Error::new(ErrorKind::NotFound, why))
        }
    }
}

/// Parses the whole key of an item.
pub(crate) fn key(table: &Table, texts: &[String]) -> Result<Key> {
    let (partition, sort) = (&table.schema.partition, &table.schema.sort);
    if texts.len() != partition.len() + sort.len() {
        let names: Vec<&str> = table.schema.key_names().collect();
        let own = &table.schema.name;
        return Err(Error::invalid(format!("the key of {own} is: {}", names.join(", "))));
    }
    let types = partition
        .iter()
        .map(|column| &column.key_type)
        .chain(sort.iter().map(|column| &column.key_type));
    let mut values = types
        .zip(texts)
        .map(|(key_type, text)| key_value(key_type, text))
        .collect::<Result<Vec<_>>>()?;
    let sort = values.split_off(partition.len());
    Ok(Key { partition: values, sort })
}

/// Parses a partition key.
pub(crate) fn partition(columns: &[KeyColumn], texts: &[String]) -> Result<Vec<Value>> {
    if texts.len() != columns.len() {
        let names: Vec<&str> = columns.iter().map(|own| own.name.as_str()).collect();
        return Err(Error::invalid(format!("the partition key is: {}", names.join(", "))));
    }
    columns.iter().zip(texts).map(|(column, text)| key_value(&column.key_type, text)).collect()
}
