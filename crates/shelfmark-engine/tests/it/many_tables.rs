//! Ten thousand tables: what one of them costs does not grow with the others. Counted in reads and
//! commits, never in time.

use std::sync::Arc;

use shelfmark_engine::{Engine, Get, Write};
use shelfmark_keycode::KeyType;
use shelfmark_model::{
    IndexKind, IndexSchema, IndexState, Item, Key, KeyColumn, Projected, TableName, TableSchema,
};
use shelfmark_store::Store;
use shelfmark_store::clock::ManualClock;

use crate::drivers::{open, plain};
use crate::watched::{Counts, Watched};

const TABLES: usize = 10_000;

fn schema(number: usize) -> TableSchema {
    plain(&format!("t{number:05}")).with_index(IndexSchema {
        name: "by_tag".to_owned(),
        kind: IndexKind::Secondary,
        partition: vec![KeyColumn::new("tag", KeyType::Text)],
        sort: Vec::new(),
        projected: Projected::All,
        state: IndexState::Public,
    })
}

fn name(number: usize) -> TableName {
    schema(number).name
}

/// Creates, uses and drops one table, and returns what each of it cost.
fn life(store: &Watched, engine: &Engine, number: usize) -> Vec<Counts> {
    let mut costs = Vec::new();
    store.take();
    let table = engine.create_table(schema(number)).unwrap();
    costs.push(store.take());
    let item = Item::new().with("pk", "p").with("sk", "s").with("tag", "rust");
    engine.write(Write::put(&table, item)).unwrap();
    costs.push(store.take());
    engine.get(&table, &Get::new(Key::pair("p", "s"))).unwrap();
    costs.push(store.take());
    engine.alter_options(&name(number), |options| options.change_log = true).unwrap();
    costs.push(store.take());
    engine.drop_table(&name(number)).unwrap();
    costs.push(store.take());
    engine.purge().unwrap();
    costs.push(store.take());
    costs
}

#[test]
fn the_last_of_ten_thousand_tables_costs_what_the_first_did() {
    let clock = Arc::new(ManualClock::at_micros(0));
    let store = Watched::new(&clock);
    let engine = open(Arc::clone(&store) as Arc<dyn Store>, &clock);
    // The first of a namespace gives the name its owner.
    engine.create_table(schema(TABLES + 1)).unwrap();
    let first = life(&store, &engine, 0);
    let create = Counts { gets: 3, commits: 1, writes: 6, ..Counts::default() };
    let why = "its name, its namespace, the counter of ids; its record and the counter of ids, each \
               with its copy, what parts them, and the catalogue's version";
    assert_eq!(first[0], create, "{why}");
    // The name, one garbage record for the table and its index each, their copies and what parts
    // them, the catalogue's version.
    assert_eq!((first[4].gets, first[4].commits, first[4].writes), (1, 1, 8));
    for number in 1..TABLES {
        engine.create_table(schema(number)).unwrap();
    }
    assert_eq!(life(&store, &engine, TABLES), first);

    // An engine that starts reads the format and its copy, looks for the mark of an unfinished copy, and
    // reads nothing of the tables.
    store.take();
    let engine = open(Arc::clone(&store) as Arc<dyn Store>, &clock);
    assert_eq!(store.take(), Counts { gets: 3, ..Counts::default() });
    // A table is read when it is used, once.
    let table = engine.table(&name(5_000)).unwrap();
    assert_eq!(store.take(), Counts { gets: 1, ..Counts::default() });
    engine.table(&name(5_000)).unwrap();
    assert_eq!(store.take(), Counts::default());
    assert_eq!(table.schema, schema(5_000));
    // A list of some names reads as many keys.
    let names = engine.table_names(Some("test"), Some(&name(5_000)), 10).unwrap();
    assert_eq!(names, (5_001..5_011).map(name).collect::<Vec<_>>());
    assert_eq!(store.take(), Counts { scans: 1, rows: 10, ..Counts::default() });
    let all = engine.table_names(None, None, usize::MAX).unwrap();
    assert_eq!(all.len(), TABLES);
}
