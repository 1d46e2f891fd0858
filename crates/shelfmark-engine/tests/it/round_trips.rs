//! What the calls of the engine ask a cluster, counted by the test bed.
//!
//! A call with one store request takes one round trip; timestamps (`Tso`) are the placement driver's.

use shelfmark_engine::{CellOperation, Get, Query, Write};
use shelfmark_model::{
    Condition, IndexKind, IndexSchema, IndexState, Item, Key, Path, Projected, Value,
};

use crate::calls::asked;
use crate::cells::{A, COUNTER, bytes, insert, key, schema, set, update};
use crate::drivers::{Bed, plain, tikv_servers};

fn item(number: i64) -> Item {
    Item::new().with("pk", "p").with("sk", format!("{number:04}")).with("n", Value::number(number))
}

fn bed() -> Bed {
    let [bed, other] = tikv_servers();
    other.engine.store().close().unwrap();
    bed
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn items() {
    let bed = bed();
    let engine = &bed.engine;
    let table = bed.create_table(plain("t")).unwrap();
    let puts: Vec<Write> = (0..200).map(|number| Write::put(&table, item(number))).collect();
    bed.write_all(puts.clone()).unwrap();
    let key = |number: i64| Key::pair("p", format!("{number:04}"));
    let get = |number| Get::new(key(number));
    let one = asked(|| assert!(engine.get(&table, &get(7)).unwrap().item.is_some()));
    assert_eq!(one, "1 KvGet");
    let gets: Vec<_> = (0..100).map(|number| (table.clone(), get(number))).collect();
    let many = asked(|| assert_eq!(engine.get_many(&gets).unwrap().len(), 100));
    assert_eq!(many, "1 KvBatchGet, 1 Tso");
    let page = asked(|| {
        let query = Query { limit: Some(100), ..Query::partition(vec!["p".into()]) };
        assert_eq!(engine.query(&table, &query).unwrap().items.len(), 100);
    });
    assert_eq!(page, "1 KvScan, 1 Tso");
    let blind = asked(|| drop(engine.write(puts[0].clone()).unwrap()));
    assert_eq!(blind, "1 KvCommit, 1 KvPrewrite, 2 Tso");
    let there = Condition::Exists(Path::attribute("pk"));
    let on_condition = |number| Write::put(&table, item(number)).when(there.clone());
    let condition = asked(|| drop(engine.write(on_condition(3)).unwrap()));
    assert_eq!(condition, "1 KvCommit, 1 KvGet, 1 KvPrewrite, 2 Tso");
    let together = asked(|| {
        drop(engine.write_all((0..10).map(on_condition).collect()).unwrap());
    });
    // The first commits; the second tells the other keys of it, behind the answer.
    let together = together.replace("2 KvCommit", "1 KvCommit");
    assert_eq!(together, "1 KvBatchGet, 1 KvCommit, 1 KvPrewrite, 2 Tso");
    let absent = Condition::NotExists(Path::attribute("pk"));
    let refused = asked(|| {
        engine.write(Write::put(&table, item(3)).when(absent.clone())).unwrap_err();
    });
    assert_eq!(refused, "1 KvGet, 1 Tso");
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn items_with_an_index() {
    let bed = bed();
    let mut indexed = plain("t");
    indexed.indexes = vec![IndexSchema {
        name: "by_n".to_owned(),
        kind: IndexKind::Secondary,
        partition: vec![shelfmark_model::KeyColumn::new("n", shelfmark_keycode::KeyType::Decimal)],
        sort: Vec::new(),
        projected: Projected::All,
        state: IndexState::Public,
    }];
    let table = bed.create_table(indexed).unwrap();
    bed.write_all((0..20).map(|number| Write::put(&table, item(number))).collect()).unwrap();
    let mut number = 100;
    let put = asked(|| {
        number += 1;
        bed.engine.write(Write::put(&table, item(3).with("n", Value::number(number)))).unwrap();
    });
    let put = put.replace("2 KvCommit", "1 KvCommit");
    assert_eq!(put, "1 KvCommit, 1 KvGet, 1 KvPrewrite, 2 Tso");
    let query =
        Query { index: Some("by_n".to_owned()), ..Query::partition(vec![Value::number(5)]) };
    let read = asked(|| assert_eq!(bed.engine.query(&table, &query).unwrap().items.len(), 1));
    assert_eq!(read, "1 KvScan, 1 Tso");
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn cells() {
    let bed = bed();
    bed.change_catalogue(|| vec![shelfmark_engine::CatalogueChange::CreateTable(schema("t"))]);
    let table = bed.engine.table(&schema("t").name).unwrap();
    let row = |number: i32, at: i64| {
        let name = number.to_string();
        insert(&table, "p", key(number, &name), at, vec![set(A, "value")])
    };
    bed.cells((0..100).map(|number| row(number, 1)).collect());
    let get = shelfmark_engine::CellGet {
        partition: bytes("p"),
        clustering: key(7, "7"),
        ..Default::default()
    };
    let one = asked(|| assert!(bed.engine.get_cells(&table, &get).unwrap().row.is_some()));
    assert_eq!(one, "1 KvGet");
    let query = shelfmark_engine::CellQuery { partition: bytes("p"), ..Default::default() };
    let page =
        asked(|| assert_eq!(bed.engine.query_cells(&table, &query).unwrap().rows.len(), 100));
    assert_eq!(page, "1 KvScan, 1 Tso");
    let mut at = 10;
    let write = asked(|| {
        at += 1;
        bed.cells(vec![row(7, at)]);
    });
    assert_eq!(write, "1 KvBatchGet, 1 KvCommit, 1 KvPrewrite, 2 Tso");
    let add = || {
        let one = CellOperation::Add { column: COUNTER, delta: 1 };
        bed.cells(vec![update(&table, "p", key(1, "counter"), 1, vec![one])]);
    };
    add();
    assert_eq!(asked(add), "1 KvBatchGet, 1 KvCommit, 1 KvPrewrite, 2 Tso");
}
