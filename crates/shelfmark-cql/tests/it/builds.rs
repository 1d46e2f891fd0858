//! Indexes and views that cannot be built for a while: the tables are there, and they are built later.

use std::sync::Arc;
use std::time::Duration;

use shelfmark_cql::{Face, FaceOptions, Inline, RequestOptions};
use shelfmark_engine::{CatalogueChange, Engine, Owner, Upkeep};
use shelfmark_model::TableName;
use shelfmark_store::Store;
use shelfmark_store::fault_injection::{FaultInjectingStore, FaultOptions};
use shelfmark_store::sleep::{Sleeper as _, ThreadSleeper};

use crate::statements::World;

fn run(world: &mut World, text: &str) -> String {
    world.run(text).unwrap_or_else(|error| panic!("{text}: {}", error.message))
}

/// A world with an index and a view that are declared and not built, as a stop in the middle leaves them.
fn unbuilt() -> World {
    let mut world = World::new();
    // As a face's own, so that one finds them.
    let own = world.engine().of_owner(Owner::Cql);
    world.move_to(own);
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
    let renew = |name| CatalogueChange::RenewDerived(TableName::new("k", name));
    world.engine().change_catalogue(vec![renew("t"), renew("m")]).unwrap();
    world
}

fn open(engine: &Engine, builds_in_background: bool) -> Face {
    let options = FaceOptions { builds_in_background, ..FaceOptions::default() };
    let environment = engine.environment().clone();
    Face::open(engine.clone(), environment, options, None, Arc::new(Inline)).unwrap()
}

/// A server is there before its indexes are, however large the tables.
#[test]
fn a_face_does_not_wait_for_its_builds() {
    let engine = unbuilt().engine().clone();
    let by_index = "SELECT p FROM k.t WHERE v = 2";
    let face = open(&engine, true);
    face.ask("SELECT v FROM k.t WHERE p = 1", RequestOptions::default()).unwrap();
    let error = face.ask(by_index, RequestOptions::default()).unwrap_err();
    assert!(error.message.contains("ALLOW FILTERING"), "{}", error.message);
    // A part of a view's rows would be a wrong answer.
    let of_view = "SELECT p FROM k.m WHERE v = 2";
    let error = face.ask(of_view, RequestOptions::default()).unwrap_err();
    assert!(error.message.contains("is being built"), "{}", error.message);
    let _upkeep = Upkeep::start(&engine, Duration::from_millis(5)).unwrap();
    let is_built =
        || [by_index, of_view].iter().all(|text| face.ask(text, RequestOptions::default()).is_ok());
    assert!((0..12_000).any(|_| {
        ThreadSleeper.sleep(Duration::from_millis(5));
        is_built()
    }));
    // Where nobody does background work, they are built first.
    let face = open(unbuilt().engine(), false);
    assert!(face.ask(by_index, RequestOptions::default()).is_ok());
}

#[test]
fn a_build_that_cannot_go_on_keeps_nobody_from_starting() {
    let mut world = unbuilt();
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
