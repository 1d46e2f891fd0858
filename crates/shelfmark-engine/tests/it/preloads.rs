//! What a store that others write to is asked to read together, before it is looked at one by one.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_engine::{Engine, Get, Share, Write};
use shelfmark_keycode::KeyType;
use shelfmark_model::{Item, Key, KeyColumn, TableName, TableSchema};
use shelfmark_store::Store;
use shelfmark_store::clock::ManualClock;

use crate::drivers::{open, plain};
use crate::watched::Watched;

const ROWS: u8 = 2;

fn opened() -> (Arc<Watched>, Engine) {
    let clock = Arc::new(ManualClock::at_micros(0));
    let store = Watched::of_many(&clock);
    let engine = open(Arc::clone(&store) as Arc<dyn Store>, &clock);
    (store, engine)
}

#[test]
fn items_that_are_read_together_are_preloaded_by_the_keys_of_their_rows() {
    let (store, engine) = opened();
    let table = engine.create_table(plain("t")).unwrap();
    let keys = ["a", "b", "c"].map(|pk| Key::pair(pk, "x"));
    for pk in ["a", "b", "c"] {
        engine.write(Write::put(&table, Item::new().with("pk", pk).with("sk", "x"))).unwrap();
    }
    let gets: Vec<_> = keys.iter().map(|key| (Arc::clone(&table), Get::new(key.clone()))).collect();
    store.take_preloaded();
    assert!(engine.get_many(&gets).unwrap().iter().all(|got| got.item.is_some()));
    let mut preloaded = store.take_preloaded();
    preloaded.sort();
    assert_eq!(preloaded, store.keys(ROWS));
}

#[test]
fn rows_that_are_written_together_are_preloaded_by_their_keys() {
    let (store, engine) = opened();
    let table = engine.create_table(plain("t")).unwrap();
    let puts = ["a", "b", "c"].map(|pk| {
        let mut write = Write::put(&table, Item::new().with("pk", pk).with("sk", "x"));
        write.returns.old = true;
        write
    });
    store.take_preloaded();
    engine.write_all(puts.into()).unwrap();
    let mut preloaded = store.take_preloaded();
    preloaded.sort();
    assert_eq!(preloaded, store.keys(ROWS));
}

#[test]
fn rows_of_another_kind_of_table_are_not_guessed_at() {
    let (store, engine) = opened();
    let name = TableName::new("ks", "cells");
    let mut schema = TableSchema::of_cells(name.clone(), vec![KeyColumn::new("pk", KeyType::Text)]);
    schema.columns = Vec::new();
    engine.create_table(schema).unwrap();
    let table = engine.sharing(Share::All).shared_items(&name).unwrap();
    engine.write(Write::put(&table, Item::new().with("pk", "a"))).unwrap();
    store.take_preloaded();
    let got = engine.get_many(&[(table, Get::new(Key::partition("a")))]).unwrap();
    assert!(got[0].item.is_some());
    assert_eq!(store.take_preloaded(), Vec::<Bytes>::new());
}
