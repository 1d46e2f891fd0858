use shelfmark_engine::{Engine, Environment, SeededRandom};
use shelfmark_store::clock::{Clock, ManualClock};
use shelfmark_store::memory::MemoryStore;

use super::*;
use crate::auth::Authority;
use crate::auth::Authorizer;
use crate::schema::{is_virtual, virtual_keyspaces};
use crate::session::FaceOptions;
use crate::session::PreparedStatements;

fn all() -> (Vec<Arc<dyn VirtualTable>>, Schema) {
    let node = Arc::new(Node::new(FaceOptions::default(), None));
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::at_micros(1));
    let environment =
        Environment { clock: Arc::clone(&clock), random: Arc::new(SeededRandom::new(1)) };
    let engine = Engine::open(Arc::new(MemoryStore::new(clock)), environment).unwrap();
    let authority = Arc::new(Authority::new(&engine, Authorizer::AllowAll, None));
    let tables = tables(&Arc::new(Sources {
        node,
        traces: Arc::default(),
        authority,
        engine,
        clients: Arc::default(),
        statements: Arc::new(PreparedStatements::within(1024)),
    }));
    let keyspaces = virtual_keyspaces(&tables)
        .into_iter()
        .map(|keyspace| (keyspace.name.to_string(), keyspace))
        .collect();
    let mut schema = Schema::default();
    (schema.version, schema.keyspaces) = ([7; 16], keyspaces);
    (tables, schema)
}

fn rows(name: &str) -> Vec<VirtualRow> {
    let (tables, schema) = all();
    let found = tables.iter().find(|table| {
        let table = table.definition();
        format!("{}.{}", table.keyspace, table.name) == name
    });
    found.unwrap().rows(&schema, None)
}

#[test]
fn every_table_is_listed_with_its_columns() {
    let (tables, _) = all();
    let (listed, computed) =
        (rows("system_schema.tables").len(), rows("system_virtual_schema.tables").len());
    let known = tables.iter().filter(|table| is_virtual(&table.definition().keyspace)).count();
    assert_eq!((listed + computed, computed), (tables.len(), known));
    let columns: usize = tables.iter().map(|table| table.definition().columns.len()).sum();
    assert_eq!(
        rows("system_schema.columns").len() + rows("system_virtual_schema.columns").len(),
        columns
    );
    assert_eq!(rows("system_schema.keyspaces").len(), 5);
}

#[test]
fn nothing_looks_like_another_server() {
    let (tables, _) = all();
    assert!(tables.iter().all(|table| !table.definition().name.contains("scylla")));
}

#[test]
fn the_id_of_a_table_is_that_of_the_original() {
    // From a running Cassandra: SELECT id FROM system_schema.tables.
    let (tables, _) = all();
    let local = tables.iter().find(|table| &*table.definition().name == "local").unwrap();
    let hex: String = local.definition().id.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, "7ad54392bcdd35a684174e047860b377");
}

#[test]
fn rows_lie_in_clustering_order() {
    for name in ["system_schema.columns", "system_schema.tables"] {
        let keys: Vec<_> = rows(name).iter().map(|row| row[..2].to_vec()).collect();
        assert!(keys.is_sorted(), "{name}");
    }
}
