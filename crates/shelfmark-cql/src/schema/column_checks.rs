//! Checks of values that other faces write into columns of CQL, or that stand for columns of CQL.
//!
//! The engine's types take more than CQL's: any text is an `ascii` there, any bytes are a duration or
//! a vector, any UUID is a `timeuuid`. Drivers refuse the whole answer over one such value.
//!
//! What it is not: the check of what CQL's own clients send, which is done where it is bound.
//!
//! Invariant: what passes is a value that every driver of the column's type can read.

use std::collections::HashMap;
use std::sync::Arc;

use shelfmark_cql_types::{CqlType, Native, validate};
use shelfmark_engine::{ColumnCheck, ColumnChecks};
use shelfmark_model::TableSchema;

use super::indexed_values::{check_indexed_size, element_size_bytes};
use super::record::{recorded_columns, recorded_indexes};
use super::{Column, ColumnKind, IndexTarget};

/// Knows the types of the columns of CQL's tables, for faces that write into them.
#[derive(Debug, Clone, Copy, Default)]
pub struct ColumnTypes;

impl ColumnChecks for ColumnTypes {
    fn of_table(&self, schema: &TableSchema) -> Option<Arc<dyn ColumnCheck>> {
        let attachment = &schema.cells.as_ref()?.attachment;
        let types = recorded_columns(attachment)?.into_iter().collect();
        let is_key = |column: &String| {
            schema.partition.iter().any(|own| own.name == *column)
                || schema.sort.iter().any(|own| own.name == *column)
        };
        // Values of keys have limits of their own.
        let indexes = recorded_indexes(attachment).into_iter();
        let indexes = indexes.filter(|(_, column, _)| !is_key(column)).collect();
        Some(Arc::new(Checks { table: schema.name.to_string(), types, indexes }))
    }
}

/// The types of columns, by name, and the indexes of them.
#[derive(Debug)]
struct Checks {
    table: String,
    types: HashMap<String, CqlType>,
    /// Name, column and target.
    indexes: Vec<(String, String, IndexTarget)>,
}

impl ColumnCheck for Checks {
    fn check(&self, column: &str, path: &[u8], value: &[u8]) -> Result<(), String> {
        let Some(ty) = self.types.get(column) else { return Ok(()) };
        check_type(ty, path, value)?;
        let is_element =
            matches!(ty, CqlType::Set { frozen: false, .. } | CqlType::Map { frozen: false, .. });
        for (index, _, target) in self.indexes.iter().filter(|(_, own, _)| own == column) {
            let size = match is_element {
                true => element_size_bytes(ty, *target, path.len(), value.len()),
                false => value.len(),
            };
            check_indexed_size(size, index, &self.table, column)?;
        }
        Ok(())
    }
}

/// Checks a cell's value against its column's type.
fn check_type(ty: &CqlType, path: &[u8], value: &[u8]) -> Result<(), String> {
    let checked = match ty {
        CqlType::List { element, frozen: false } => validate(element, value),
        CqlType::Set { element, frozen: false } => validate(element, path),
        CqlType::Map { key, value: inner, frozen: false } => {
            validate(key, path).and_then(|()| validate(inner, value))
        }
        CqlType::User { definition, frozen: false } => {
            let at = path.try_into().map(u16::from_be_bytes).ok();
            let field = at.and_then(|at| definition.fields.get(usize::from(at)));
            let Some((_, ty)) = field else {
                return Err("its keys are the places of the type's fields".to_owned());
            };
            validate(ty, value)
        }
        ty => validate(ty, value),
    };
    checked.map_err(|error| error.to_string())
}

/// Returns the check of columns that stand for attributes; `None` if the engine's types say it all.
pub(super) fn checks_of_columns(columns: &[Column]) -> Option<Arc<dyn ColumnCheck>> {
    let is_narrow = |own: &&Column| own.role == ColumnKind::Regular && own.kind.any(&is_narrower);
    let narrow = columns.iter().filter(is_narrow);
    let types: HashMap<String, CqlType> =
        narrow.map(|own| (own.name.to_string(), own.kind.clone())).collect();
    if types.is_empty() {
        return None;
    }
    Some(Arc::new(Checks { table: String::new(), types, indexes: Vec::new() }))
}

/// Returns true if a type takes less than the engine's type for it.
const fn is_narrower(ty: &CqlType) -> bool {
    matches!(
        ty,
        CqlType::Native(Native::Ascii | Native::Duration | Native::Timeuuid | Native::Empty)
            | CqlType::Vector { .. }
            | CqlType::Custom(_)
    )
}
