//! Materialized views.

use crate::ast::{PrimaryKey, Property, QualifiedName, Relation, SelectClause, TableOptions};

/// `CREATE MATERIALIZED VIEW … AS SELECT … PRIMARY KEY (…)`
#[derive(Clone, Debug, PartialEq)]
pub struct CreateView {
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The view.
    pub name: QualifiedName,
    /// The columns of the base table that it holds.
    pub selection: SelectClause,
    /// The base table.
    pub base: QualifiedName,
    /// The `WHERE`; empty when there is none.
    pub relations: Vec<Relation>,
    /// The view's key.
    pub primary_key: PrimaryKey,
    /// `WITH …`
    pub options: TableOptions,
}

/// `ALTER MATERIALIZED VIEW … WITH …`
#[derive(Clone, Debug, PartialEq)]
pub struct AlterView {
    /// `IF EXISTS`
    pub if_exists: bool,
    /// The view.
    pub name: QualifiedName,
    /// The properties; at least one, none twice.
    pub properties: Vec<Property>,
}
