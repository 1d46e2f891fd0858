//! Tables whose rows are computed when they are asked for.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use super::own_keyspaces::is_virtual;
use super::{Damage, Keyspace, Schema, Table};

/// A row: one serialised value, or null, for each of [`Table::columns`].
pub type VirtualRow = Vec<Option<Bytes>>;

/// A table whose rows are computed when they are asked for.
pub trait VirtualTable: Send + Sync {
    /// Returns what the table looks like.
    fn definition(&self) -> &Arc<Table>;

    /// Returns the rows: those of one partition next to each other and in clustering order. The
    /// executor restricts, orders by token, pages and limits.
    ///
    /// `partition`, if given, are the serialised partition key columns; then rows of other
    /// partitions may be left out.
    fn rows(&self, schema: &Schema, partition: Option<&[Bytes]>) -> Vec<VirtualRow>;
}

/// Tells whether the rows of a table take reads of the store for each table that there is, so that
/// they are computed where that holds up nobody.
pub(crate) fn is_costly(table: &Table) -> bool {
    matches!(
        (&*table.keyspace, &*table.name),
        ("system", "size_estimates" | "table_estimates") | ("system_views", "disk_usage")
    )
}

/// Returns the keyspaces of these tables, for the schema.
pub(crate) fn keyspaces(tables: &[Arc<dyn VirtualTable>]) -> Vec<Arc<Keyspace>> {
    let mut found: BTreeMap<Arc<str>, Keyspace> = BTreeMap::new();
    for table in tables {
        let table = table.definition();
        let keyspace = found
            .entry(Arc::clone(&table.keyspace))
            .or_insert_with(|| keyspace(Arc::clone(&table.keyspace)));
        keyspace.tables.insert(table.name.to_string(), Arc::clone(table));
    }
    found.into_values().map(Arc::new).collect()
}

fn keyspace(name: Arc<str>) -> Keyspace {
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let simple = |factor| {
        vec![
            pair("class", "org.apache.cassandra.locator.SimpleStrategy"),
            pair("replication_factor", factor),
        ]
    };
    let is_virtual = is_virtual(&name);
    Keyspace {
        damage: Damage::default(),
        durable_writes: true,
        replication: match &*name {
            "system_auth" => simple("1"),
            "system_traces" => simple("2"),
            "system_distributed" => simple("3"),
            _ if is_virtual => Vec::new(),
            _ => vec![pair("class", "org.apache.cassandra.locator.LocalStrategy")],
        },
        is_virtual,
        tables: BTreeMap::new(),
        types: BTreeMap::new(),
        functions: Vec::new(),
        aggregates: Vec::new(),
        name,
    }
}
