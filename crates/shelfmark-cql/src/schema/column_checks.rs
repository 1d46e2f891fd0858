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

use super::record::recorded_columns;
use super::{Column, ColumnKind};

/// Knows the types of the columns of CQL's tables, for faces that write into them.
#[derive(Debug, Clone, Copy, Default)]
pub struct ColumnTypes;

impl ColumnChecks for ColumnTypes {
    fn of_table(&self, schema: &TableSchema) -> Option<Arc<dyn ColumnCheck>> {
        let columns = recorded_columns(&schema.cells.as_ref()?.attachment)?;
        Some(Arc::new(Checks(columns.into_iter().collect())))
    }
}

/// The types of columns, by name.
#[derive(Debug)]
struct Checks(HashMap<String, CqlType>);

impl ColumnCheck for Checks {
    fn check(&self, column: &str, path: &[u8], value: &[u8]) -> Result<(), String> {
        let Some(ty) = self.0.get(column) else { return Ok(()) };
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
    Some(Arc::new(Checks(types)))
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
