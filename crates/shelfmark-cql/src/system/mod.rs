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
mod peers;
mod roles;
mod schema_rows;
mod sources;
mod traces;
mod value;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use bytes::Bytes;

pub(crate) use local::Node;
pub(crate) use peers::{addresses, publish};
pub(crate) use sources::Sources;

use definition::Definition;
use value::Cells;

use crate::schema::{Schema, Table, VirtualRow, VirtualTable};

/// The function that computes the rows of a table.
type Source = Box<dyn Fn(&Schema, Option<&[Bytes]>) -> Vec<Cells> + Send + Sync>;

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
            compact_as_there(&mut definition);
            let source = source(&definition, sources);
            let table = Computed { definition: Arc::new(definition), source };
            Arc::new(table) as Arc<dyn VirtualTable>
        })
        .collect()
}

/// Returns what the tables of a keyspace say of how long deletions are remembered, in seconds, and
/// how often memory is written out, in milliseconds.
fn periods(keyspace: &str) -> (i32, i32) {
    match keyspace {
        "system" => (0, 3_600_000),
        "system_schema" => (604_800, 3_600_000),
        "system_auth" => (7_776_000, 0),
        "system_traces" => (0, 0),
        _ => (864_000, 0),
    }
}

/// Gives a table the options of compaction that it has in Cassandra, where they are not the default.
fn compact_as_there(table: &mut Table) {
    let class = |name: &str| format!("org.apache.cassandra.db.compaction.{name}");
    let (compaction, lifetime) =
        (&mut table.options.compaction, &mut table.options.default_time_to_live);
    let mut set = |name: &str, value: String| {
        compaction.retain(|(own, _)| own != name);
        compaction.push((name.to_owned(), value));
        compaction.sort();
    };
    match (&*table.keyspace, &*table.name) {
        ("system", "batches") => set("min_threshold", "2".to_owned()),
        ("system", "paxos") => set("class", class("LeveledCompactionStrategy")),
        ("system", "compaction_history") => *lifetime = 604_800,
        ("system_distributed", "repair_history" | "parent_repair_history") => {
            set("class", class("TimeWindowCompactionStrategy"));
            set("compaction_window_size", "1".to_owned());
            set("compaction_window_unit", "DAYS".to_owned());
            *lifetime = 2_592_000;
        }
        _ => {}
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
        "peers" => Box::new(move |schema, _| peers::rows(&own.node, &own.engine, schema, false)),
        "peers_v2" => Box::new(move |schema, _| peers::rows(&own.node, &own.engine, schema, true)),
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
