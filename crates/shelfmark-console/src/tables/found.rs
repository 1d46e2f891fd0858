//! A table that a page is about: as the engine knows it, and as CQL does if it is CQL's.

use std::sync::Arc;

use shelfmark_cql as cql;
use shelfmark_engine::{Owner, Table};
use shelfmark_model::{KeyType, RowKind, TableName};

use crate::Console;
use crate::fault::{Fault, Result};
use crate::fields::encode;
use crate::key_line::LineKeys;

/// A table that exists.
pub(crate) struct Found {
    /// The engine's table.
    pub(crate) table: Arc<Table>,
    /// The table as CQL knows it, if it is one of cells.
    pub(crate) cql: Option<Arc<cql::Table>>,
    /// The face whose it is.
    pub(crate) owner: Owner,
}

impl Found {
    /// Finds a table by its name.
    pub(crate) fn of(console: &Console, (namespace, name): (&str, &str)) -> Result<Self> {
        let table = console.engine.table(&TableName::new(namespace, name))?;
        let owner = Owner::of_table(&table.schema);
        let is_cells = table.schema.rows == RowKind::Cells;
        let schema = is_cells.then(|| console.cql.executor().schema());
        let cql = schema.and_then(|schema| schema.table(namespace, name).cloned());
        if is_cells && cql.is_none() {
            return Err(Fault::failed(format!(
                "the definition of {namespace}.{name} cannot be read as CQL; the log says why"
            )));
        }
        Ok(Self { table, cql, owner })
    }

    /// Returns the keys of its rows.
    pub(crate) fn keys(&self) -> LineKeys {
        LineKeys::of_table(&self.table, self.cql.clone())
    }

    /// Returns the address of its page.
    pub(crate) fn address(&self) -> String {
        address(&self.table.schema.name)
    }
}

/// Returns the address of a table's page.
pub(crate) fn address(name: &TableName) -> String {
    format!("/tables/{}/{}", encode(&name.namespace), encode(&name.name))
}

/// Returns the word for a key column's type. That a column of CQL may also be null or empty is no part
/// of it.
pub(crate) fn key_type_text(key_type: &KeyType) -> String {
    let key_type = match key_type {
        KeyType::Kinded(inner) => inner,
        other => other,
    };
    format!("{key_type:?}").to_lowercase()
}
