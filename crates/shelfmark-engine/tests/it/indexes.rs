//! Derived tables: kept in the same commit, sparse, unique, built while in use.

use std::sync::Arc;

use shelfmark_engine::{ErrorKind, Query, Refusal, Table, Write};
use shelfmark_keycode::{Direction, KeyType};
use shelfmark_model::{
    IndexKind, IndexSchema, IndexState, Item, Key, KeyColumn, Projected, SortColumn, Value,
};

use crate::drivers::{Bed, on_every_driver, plain};

fn index(name: &str, kind: IndexKind, projected: Projected) -> IndexSchema {
    IndexSchema {
        name: name.to_owned(),
        kind,
        partition: vec![KeyColumn::new("tag", KeyType::Text)],
        sort: vec![SortColumn::new("score", KeyType::Decimal, Direction::Descending)],
        projected,
        state: IndexState::Public,
    }
}

fn item(sk: &str, tag: &str, score: i64) -> Item {
    Item::new()
        .with("pk", "p")
        .with("sk", sk)
        .with("tag", tag)
        .with("score", Value::number(score))
        .with("body", "b")
}

fn put(bed: &Bed, table: &Arc<Table>, item: Item) {
    bed.engine.write(Write::put(table, item)).unwrap();
}

fn by_tag(bed: &Bed, table: &Table, tag: &str) -> Vec<String> {
    let query = Query::partition(vec![tag.into()]).index("by_tag");
    let page = bed.engine.query(table, &query).unwrap();
    assert_eq!(page.report.rows_read(), page.report.rows_returned());
    page.items.iter().filter_map(|item| item.get("sk")?.as_text().map(str::to_owned)).collect()
}

#[test]
fn entries_follow_their_items_in_index_order() {
    on_every_driver(|bed| {
        let schema = plain("t").with_index(index("by_tag", IndexKind::Secondary, Projected::All));
        let table = bed.engine.create_table(schema).unwrap();
        put(bed, &table, item("a", "rust", 1));
        put(bed, &table, item("b", "rust", 20));
        put(bed, &table, item("c", "rust", 3));
        put(bed, &table, Item::new().with("pk", "p").with("sk", "sparse").with("tag", "rust"));
        assert_eq!(by_tag(bed, &table, "rust"), ["b", "c", "a"]);
        put(bed, &table, item("b", "go", 20));
        bed.engine.write(Write::delete(&table, Key::pair("p", "c"))).unwrap();
        assert_eq!(by_tag(bed, &table, "rust"), ["a"]);
        assert_eq!(by_tag(bed, &table, "go"), ["b"]);
    });
}

#[test]
fn projections_hold_what_they_say() {
    on_every_driver(|bed| {
        let keys = index("by_tag", IndexKind::Secondary, Projected::KeysOnly);
        let table = bed.engine.create_table(plain("t").with_index(keys)).unwrap();
        put(bed, &table, item("a", "rust", 1));
        let query = Query::partition(vec!["rust".into()]).index("by_tag");
        let page = bed.engine.query(&table, &query).unwrap();
        let mut expected = item("a", "rust", 1);
        expected.remove("body");
        assert_eq!(page.items, [expected]);
        let mut fetching = query;
        fetching.fetch_base = true;
        let page = bed.engine.query(&table, &fetching).unwrap();
        assert_eq!(page.items, [item("a", "rust", 1)]);
        assert_eq!(page.report.steps.len(), 2, "an entry and its base row are two steps");
        assert_eq!((page.report.rows_read(), page.report.rows_returned()), (2, 2));
    });
}

#[test]
fn a_unique_key_belongs_to_one_item() {
    on_every_driver(|bed| {
        let unique = index("one", IndexKind::Unique, Projected::KeysOnly);
        let table = bed.engine.create_table(plain("t").with_index(unique)).unwrap();
        put(bed, &table, item("a", "rust", 1));
        put(bed, &table, item("a", "rust", 1));
        let error = bed.engine.write(Write::put(&table, item("b", "rust", 1))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert_eq!(error.failures()[0].refusal, Refusal::NotUnique("one".to_owned()));
        // Freed and taken in one transaction.
        let swap =
            vec![Write::put(&table, item("a", "go", 1)), Write::put(&table, item("b", "rust", 1))];
        bed.engine.write_all(swap).unwrap();
    });
}

#[test]
fn an_index_is_built_while_writers_go_on() {
    on_every_driver(|bed| {
        let table = bed.engine.create_table(plain("t")).unwrap();
        for n in 0..600 {
            put(bed, &table, item(&format!("{n:04}"), "rust", n));
        }
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for n in 0..200 {
                    put(bed, &table, item(&format!("{n:04}"), "go", n));
                }
            });
            let by_tag = index("by_tag", IndexKind::Secondary, Projected::KeysOnly);
            bed.engine.add_index(&table.schema.name, by_tag).unwrap();
            writer.join().unwrap();
        });
        let table = bed.engine.table(&table.schema.name).unwrap();
        assert_eq!(by_tag(bed, &table, "go").len(), 200);
        assert_eq!(by_tag(bed, &table, "rust").len(), 400);
        bed.engine.drop_index(&table.schema.name, "by_tag").unwrap();
        let gone = Query::partition(vec!["go".into()]).index("by_tag");
        let table = bed.engine.table(&table.schema.name).unwrap();
        assert_eq!(bed.engine.query(&table, &gone).unwrap_err().kind(), ErrorKind::NotFound);
    });
}

#[test]
fn a_unique_index_over_duplicates_is_refused_and_leaves_nothing() {
    on_every_driver(|bed| {
        let table = bed.engine.create_table(plain("t")).unwrap();
        put(bed, &table, item("a", "rust", 1));
        put(bed, &table, item("b", "rust", 1));
        let unique = index("one", IndexKind::Unique, Projected::KeysOnly);
        let error = bed.engine.add_index(&table.schema.name, unique).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert!(bed.engine.table(&table.schema.name).unwrap().indexes().is_empty());
    });
}
