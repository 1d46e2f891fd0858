//! `MASKED WITH` of columns: masks made, changed and dropped.
//!
//! What it is not: the masking of what is read; that is the plan of a `SELECT`.

use std::sync::Arc;

use shelfmark_cql_protocol::{Result, invalid};
use shelfmark_cql_syntax::ast::{self, Name};
use shelfmark_cql_types::CqlType;
use shelfmark_cql_types::term::{BindMarkers, ColumnMask, Scope};

use crate::schema::{Schema, Table};

/// Prepares the mask of a column, which comes with the name of its table.
pub(super) fn prepare(
    mask: &ast::ColumnMask,
    column: (&str, &str),
    kind: &CqlType,
    keyspace: &str,
    schema: &Schema,
) -> Result<Arc<ColumnMask>> {
    let mut markers = BindMarkers::default();
    let mut scope = Scope { schema, keyspace, table: None, markers: &mut markers };
    ColumnMask::prepare(mask, column, kind, &mut scope).map(Arc::new)
}

/// Gives a column a mask, or takes it away.
pub(super) fn alter(
    table: &mut Table,
    column: &Name,
    mask: Option<&ast::ColumnMask>,
    if_exists: bool,
    schema: &Schema,
) -> Result<()> {
    let name = column.as_str();
    let (keyspace, table_name) = (Arc::clone(&table.keyspace), Arc::clone(&table.name));
    let Some(found) = table.columns.iter_mut().find(|own| &*own.name == name) else {
        if if_exists {
            return Ok(());
        }
        return invalid(format!(
            "Column with name '{name}' doesn't exist on table '{}'",
            table.name
        ));
    };
    found.mask = match mask {
        Some(mask) => Some(prepare(mask, (&table_name, name), &found.kind, &keyspace, schema)?),
        None => None,
    };
    Ok(())
}
