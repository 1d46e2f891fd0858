//! The tables that describe the server itself: `system`, `system_schema`, `system_virtual_schema`,
//! `system_auth`, `system_traces`, `system_distributed`, `system_views`.
//!
//! What it is not: a way of its own to select. These tables are selected from by the same path as
//! any other; they only say what they are and what rows they have.
//!
//! Invariant: each of them is listed in `system_schema` itself (or in `system_virtual_schema`), and
//! none in keyspace `system` has "scylla" in its name: some software takes that as proof of another
//! server.
//!
//! Source: Apache Cassandra 5.0, `SystemKeyspace`, `SchemaKeyspace`, `AuthKeyspace`, `TraceKeyspace`
//! and `VirtualSchemaKeyspace`, read 2026-11.

mod activity;
mod built;
mod definition;
mod estimates;
mod local;
mod others;
mod roles;
mod schema_rows;
mod traces;
mod value;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

pub(crate) use local::Node;

use definition::Definition;
use shelfmark_engine::Engine;

use crate::auth::Authority;
use crate::schema::{Keyspace, Schema, Table};
use crate::session::{Clients, Statements, Traces};

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

/// What computes the rows of a table.
type Source = Box<dyn Fn(&Schema, Option<&[Bytes]>) -> Vec<Cells> + Send + Sync>;

/// The cells of a row by their columns' names; those that are missing are null.
type Cells = Vec<(&'static str, Bytes)>;

/// A definition and the rows to it.
struct Computed {
    definition: Arc<Table>,
    source: Source,
}

impl VirtualTable for Computed {
    fn definition(&self) -> &Arc<Table> {
        &self.definition
    }

    fn rows(&self, schema: &Schema, partition: Option<&[Bytes]>) -> Vec<VirtualRow> {
        let rows = (self.source)(schema, partition);
        rows.into_iter().map(|cells| self.in_order(cells)).collect()
    }
}

impl Computed {
    fn in_order(&self, cells: Cells) -> VirtualRow {
        let mut row: VirtualRow = vec![None; self.definition.columns.len()];
        for (name, value) in cells {
            let place = self.definition.find(name).and_then(|(place, _)| row.get_mut(place));
            debug_assert!(place.is_some(), "column {name} is not defined");
            if let Some(place) = place {
                *place = Some(value);
            }
        }
        row
    }
}

/// What the rows are computed from.
pub(crate) struct Sources {
    pub(crate) node: Arc<Node>,
    pub(crate) traces: Arc<Traces>,
    pub(crate) authority: Arc<Authority>,
    pub(crate) engine: Engine,
    pub(crate) clients: Arc<Clients>,
    pub(crate) statements: Arc<Statements>,
}

/// Returns the tables of a server.
pub(crate) fn tables(sources: &Arc<Sources>) -> Vec<Arc<dyn VirtualTable>> {
    definition::ALL
        .iter()
        .map(Definition::table)
        .chain(others::all())
        .map(|mut definition| {
            let options = &mut definition.options;
            (options.gc_grace_seconds, options.memtable_flush_period_in_ms) =
                periods(&definition.keyspace);
            let source = source(&definition, sources);
            let table = Computed { definition: Arc::new(definition), source };
            Arc::new(table) as Arc<dyn VirtualTable>
        })
        .collect()
}

/// Tells whether the rows of a table take reads of the store for each table that there is, so that
/// they are computed where that holds up nobody.
pub(crate) fn is_costly(table: &Table) -> bool {
    matches!(
        (&*table.keyspace, &*table.name),
        ("system", "size_estimates" | "table_estimates") | ("system_views", "disk_usage")
    )
}

/// What the tables of a keyspace say of how long deletions are remembered, in seconds, and how often
/// memory is written out, in milliseconds.
fn periods(keyspace: &str) -> (i32, i32) {
    match keyspace {
        "system" => (0, 3_600_000),
        "system_schema" => (604_800, 3_600_000),
        "system_auth" => (7_776_000, 0),
        "system_traces" => (0, 0),
        _ => (864_000, 0),
    }
}

/// Returns what computes a table's rows; tables without a source are empty.
fn source(definition: &Table, sources: &Arc<Sources>) -> Source {
    let own = Arc::clone(sources);
    match (&*definition.keyspace, &*definition.name) {
        ("system", name) => of_system(name, own),
        ("system_views", name) => of_views(name, own),
        ("system_auth", name) => {
            let name = name.to_owned();
            Box::new(move |_, _| roles::rows(&name, &own.authority))
        }
        ("system_distributed", "view_build_status") => {
            Box::new(move |schema, _| built::view_build_status(&own.node, schema))
        }
        ("system_traces", "sessions") => {
            Box::new(move |_, partition| traces::sessions(&own, partition))
        }
        ("system_traces", "events") => {
            Box::new(move |_, partition| traces::events(&own, partition))
        }
        ("system_schema", name) => {
            let name = name.to_owned();
            Box::new(move |schema, partition| schema_rows::stored(&name, schema, partition))
        }
        ("system_virtual_schema", name) => {
            let name = name.to_owned();
            Box::new(move |schema, partition| schema_rows::computed(&name, schema, partition))
        }
        _ => Box::new(|_, _| Vec::new()),
    }
}

fn of_system(name: &str, own: Arc<Sources>) -> Source {
    match name {
        "local" => Box::new(move |schema, _| local::local(&own.node, schema)),
        "IndexInfo" => Box::new(|schema, _| built::index_info(schema)),
        "built_views" => Box::new(|schema, _| built::built_views(schema)),
        "view_builds_in_progress" => Box::new(|schema, _| built::view_builds_in_progress(schema)),
        "prepared_statements" => {
            Box::new(move |_, _| activity::prepared_statements(&own.statements))
        }
        "size_estimates" => Box::new(move |schema, partition| {
            estimates::size_estimates(&own.node, &own.engine, schema, partition)
        }),
        "table_estimates" => Box::new(move |schema, partition| {
            estimates::table_estimates(&own.node, &own.engine, schema, partition)
        }),
        _ => Box::new(|_, _| Vec::new()),
    }
}

fn of_views(name: &str, own: Arc<Sources>) -> Source {
    match name {
        "caches" => Box::new(|_, _| others::caches()),
        "clients" => Box::new(move |_, _| activity::clients(&own.clients)),
        "cql_metrics" => Box::new(move |_, _| activity::cql_metrics(&own.clients, &own.statements)),
        "disk_usage" => {
            Box::new(move |schema, _| estimates::disk_usage(&own.node, &own.engine, schema))
        }
        "sai_column_indexes" => Box::new(|schema, _| built::sai_column_indexes(schema)),
        "settings" => {
            let durability = own.engine.store().caps().durability;
            Box::new(move |_, _| others::settings(&own.node, &own.authority, durability))
        }
        "system_properties" => Box::new(|_, _| others::system_properties()),
        "thread_pools" => Box::new(move |_, _| activity::thread_pools(&own.clients, &own.engine)),
        _ => Box::new(|_, _| Vec::new()),
    }
}

/// Whether the tables of a keyspace are computed in the original, too.
pub(crate) fn is_virtual(keyspace: &str) -> bool {
    matches!(keyspace, "system_virtual_schema" | "system_views")
}

/// Whether a keyspace is the server's own.
pub(crate) fn is_system(name: &str) -> bool {
    matches!(
        name,
        "system"
            | "system_schema"
            | "system_auth"
            | "system_traces"
            | "system_virtual_schema"
            | "system_views"
            | "system_distributed"
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
        damage: crate::schema::Damage::default(),
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
        name,
    }
}
