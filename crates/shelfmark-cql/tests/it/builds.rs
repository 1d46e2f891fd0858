//! Indexes and views that cannot be built for a while: the tables are there, and they are built later.

use std::sync::Arc;

use shelfmark_engine::{CatalogueChange, Engine};
use shelfmark_model::TableName;
use shelfmark_store::Store;
use shelfmark_store::fault_injection::{FaultInjectingStore, FaultOptions};

use crate::statements::World;

fn run(world: &mut World, text: &str) -> String {
    world.run(text).unwrap_or_else(|error| panic!("{text}: {}", error.message))
}

#[test]
fn a_build_that_cannot_go_on_keeps_nobody_from_starting() {
    let mut world = World::new();
    for text in [
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy'}",
        "CREATE TABLE k.t (p int PRIMARY KEY, v int)",
        "CREATE INDEX by_v ON k.t (v)",
        "CREATE MATERIALIZED VIEW k.m AS SELECT * FROM k.t WHERE p IS NOT NULL AND v IS NOT NULL \
         PRIMARY KEY (v, p)",
        "INSERT INTO k.t (p, v) VALUES (1, 2)",
    ] {
        run(&mut world, text);
    }
    let renew = CatalogueChange::RenewDerived(TableName::new("k", "t"));
    world.engine().change_catalogue(vec![renew]).unwrap();
    // A store that refuses whatever is written, as one on a full disk does.
    let whole = world.engine().clone();
    let options = FaultOptions {
        commit_size_bytes_max: 1,
        conflict: 0,
        busy: 0,
        undetermined: 0,
        late: 0,
        behind: 0,
        empty_page: 0,
        ..FaultOptions::new(1)
    };
    let store = FaultInjectingStore::new(Arc::clone(whole.store()), options);
    let environment = world.engine().environment().clone();
    let engine = Engine::open(Arc::new(store) as Arc<dyn Store>, environment).unwrap();
    world.move_to(engine);
    assert_eq!(run(&mut world, "SELECT v FROM k.t WHERE p = 1"), "v\n2");
    let by_index = "SELECT p FROM k.t WHERE v = 2";
    assert!(world.run(by_index).is_err(), "the index is not built");
    assert!(world.go_on_building().is_err());
    // Once there is room.
    world.move_to(whole);
    assert_eq!(run(&mut world, by_index), "p\n1");
    assert_eq!(run(&mut world, "SELECT p FROM k.m WHERE v = 2"), "p\n1");
    assert_eq!(world.go_on_building().unwrap(), 0, "nothing waits");
}
