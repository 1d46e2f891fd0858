//! The metadata of one column of a result, or of one bind marker.

use std::sync::Arc;

use crate::types::CqlType;

/// A column of a result, or a marker.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSpec {
    /// The keyspace of its table.
    pub keyspace: Arc<str>,
    /// The table.
    pub table: Arc<str>,
    /// The name, as in `SELECT`; of a marker the column's, or such as `[limit]` and `[ttl]`.
    pub name: Arc<str>,
    /// The type.
    pub kind: CqlType,
}
