//! Keyspaces, tables and types as statements see them: one immutable picture per schema version.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::types::{CqlType, UserType};

/// A table's id, as `system_schema.tables.id` shows it.
pub type TableId = [u8; 16];

/// Everything there is, at one schema version.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    /// The version: a UUID that changes with every change of the schema and with nothing else.
    pub version: [u8; 16],
    /// The keyspaces by name, the system's too.
    pub keyspaces: BTreeMap<String, Arc<Keyspace>>,
}

/// A keyspace.
#[derive(Debug, Clone)]
pub struct Keyspace {
    /// Its name.
    pub name: Arc<str>,
    /// Whether the statement asked for a commit log; ours always writes one.
    pub durable_writes: bool,
    /// The replication map, `class` among it.
    pub replication: Vec<(String, String)>,
    /// Whether it is virtual: computed, with nothing stored.
    pub is_virtual: bool,
    /// Tables and views by name.
    pub tables: BTreeMap<String, Arc<Table>>,
    /// User types by name.
    pub types: BTreeMap<String, Arc<UserType>>,
}

/// What part of a row a column is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Of the partition key.
    PartitionKey,
    /// Of the clustering key.
    Clustering,
    /// One value per partition.
    Static,
    /// Everything else.
    Regular,
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub kind: CqlType,
    /// What part of the row it is.
    pub role: ColumnKind,
    /// Whether its clustering order is descending.
    pub descending: bool,
}

/// A table or view.
#[derive(Debug, Clone)]
pub struct Table {
    /// Its keyspace.
    pub keyspace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Its id.
    pub id: TableId,
    /// Its columns: partition key in order, clustering key in order, then the others by name.
    pub columns: Vec<Column>,
    /// What `WITH` said, by option.
    pub comment: String,
}
