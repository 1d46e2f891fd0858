//! Derived tables: kept in the same commit, sparse, unique, built while in use.

use std::sync::Arc;

use num_bigint::BigInt;
use shelfmark_engine::{
    CatalogueChange, Engine, ErrorKind, Get, Query, Refusal, Scan, SweepPosition, Table, Write,
};
use shelfmark_keycode::{Decimal, Direction, KeyType};
use shelfmark_model::{
    Comparison, Condition, IndexKind, IndexSchema, IndexState, Item, Key, KeyColumn, Operand, Path,
    Projected, SortColumn, SortCondition, TableName, TableSchema, TtlSource, Value,
};
use shelfmark_store::clock::ManualClock;
use shelfmark_store::memory::MemoryStore;
use shelfmark_store::{Caps, Store};

use crate::drivers::{Bed, START_SECONDS, on_every_driver, open, patiently, plain};
use crate::watched::Watched;

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
    bed.write(Write::put(table, item)).unwrap();
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
        let table = bed.create_table(schema).unwrap();
        put(bed, &table, item("a", "rust", 1));
        put(bed, &table, item("b", "rust", 20));
        put(bed, &table, item("c", "rust", 3));
        put(bed, &table, Item::new().with("pk", "p").with("sk", "sparse").with("tag", "rust"));
        assert_eq!(by_tag(bed, &table, "rust"), ["b", "c", "a"]);
        put(bed, &table, item("b", "go", 20));
        bed.write(Write::delete(&table, Key::pair("p", "c"))).unwrap();
        assert_eq!(by_tag(bed, &table, "rust"), ["a"]);
        assert_eq!(by_tag(bed, &table, "go"), ["b"]);
    });
}

#[test]
fn projections_hold_what_they_say() {
    on_every_driver(|bed| {
        let keys = index("by_tag", IndexKind::Secondary, Projected::KeysOnly);
        let table = bed.create_table(plain("t").with_index(keys)).unwrap();
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
        let table = bed.create_table(plain("t").with_index(unique)).unwrap();
        put(bed, &table, item("a", "rust", 1));
        put(bed, &table, item("a", "rust", 1));
        let error = bed.write(Write::put(&table, item("b", "rust", 1))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert_eq!(error.failures()[0].refusal, Refusal::NotUnique("one".to_owned()));
        // Freed and taken in one transaction.
        let swap =
            vec![Write::put(&table, item("a", "go", 1)), Write::put(&table, item("b", "rust", 1))];
        bed.write_all(swap).unwrap();
    });
}

#[test]
fn an_index_is_built_while_writers_go_on() {
    on_every_driver(|bed| {
        let table = bed.create_table(plain("t")).unwrap();
        for n in 0..300 {
            put(bed, &table, item(&format!("{n:04}"), "rust", n));
        }
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for n in 0..100 {
                    put(bed, &table, item(&format!("{n:04}"), "go", n));
                }
            });
            let by_tag = index("by_tag", IndexKind::Secondary, Projected::KeysOnly);
            bed.add_index(&table.schema.name, by_tag).unwrap();
            writer.join().unwrap();
        });
        let table = bed.engine.table(&table.schema.name).unwrap();
        assert_eq!(by_tag(bed, &table, "go").len(), 100);
        assert_eq!(by_tag(bed, &table, "rust").len(), 200);
        bed.drop_index(&table.schema.name, "by_tag").unwrap();
        let gone = Query::partition(vec!["go".into()]).index("by_tag");
        let table = bed.engine.table(&table.schema.name).unwrap();
        assert_eq!(bed.engine.query(&table, &gone).unwrap_err().kind(), ErrorKind::NotFound);
    });
}

#[test]
fn a_unique_index_over_duplicates_is_refused_and_leaves_nothing() {
    on_every_driver(|bed| {
        let table = bed.create_table(plain("t")).unwrap();
        put(bed, &table, item("a", "rust", 1));
        put(bed, &table, item("b", "rust", 1));
        let unique = index("one", IndexKind::Unique, Projected::KeysOnly);
        let error = bed.add_index(&table.schema.name, unique).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert!(bed.engine.table(&table.schema.name).unwrap().indexes().is_empty());
    });
}

/// A table whose items expire one by one, with a unique index over `tag` and `score`.
fn expiring(bed: &Bed) -> Arc<Table> {
    let mut schema = plain("t").with_index(index("one", IndexKind::Unique, Projected::KeysOnly));
    schema.options.ttl = Some(TtlSource::PerItem);
    bed.create_table(schema).unwrap()
}

fn put_until(bed: &Bed, table: &Arc<Table>, item: Item, expires_at: Option<u64>) {
    let mut write = Write::put(table, item);
    write.expires_at = expires_at;
    bed.write(write).unwrap();
}

fn holder(bed: &Bed, table: &Table) -> Vec<String> {
    let query = Query::partition(vec!["rust".into()]).index("one");
    let items = bed.engine.query(table, &query).unwrap().items;
    items.iter().filter_map(|item| item.get("sk")?.as_text().map(str::to_owned)).collect()
}

#[test]
fn a_unique_key_that_expired_and_was_taken_stays_with_its_new_holder() {
    // What the old holder does afterwards, and whether it may.
    type After = fn(&Bed, &Arc<Table>) -> bool;
    let sweep: After = |bed, _| bed.sweep(&mut SweepPosition::default(), 10).unwrap() == 1;
    let delete: After = |bed, table| bed.write(Write::delete(table, Key::pair("p", "a"))).is_ok();
    let moves: After = |bed, table| bed.write(Write::put(table, item("a", "go", 1))).is_ok();
    let takes_back: After = |bed, table| bed.write(Write::put(table, item("a", "rust", 1))).is_ok();
    for (after, may) in [(sweep, true), (delete, true), (moves, true), (takes_back, false)] {
        on_every_driver(|bed| {
            let table = expiring(bed);
            put_until(bed, &table, item("a", "rust", 1), Some(START_SECONDS + 5));
            bed.seconds(5);
            put_until(bed, &table, item("b", "rust", 1), None);
            bed.settle();
            assert_eq!(after(bed, &table), may);
            bed.settle();
            assert_eq!(holder(bed, &table), ["b"]);
            let error = bed.write(Write::put(&table, item("c", "rust", 1))).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        });
    }
}

#[test]
fn an_expired_item_is_no_duplicate_when_a_unique_index_is_built() {
    on_every_driver(|bed| {
        let mut schema = plain("t");
        schema.options.ttl = Some(TtlSource::PerItem);
        let table = bed.create_table(schema).unwrap();
        put_until(bed, &table, item("a", "rust", 1), Some(START_SECONDS + 5));
        put_until(bed, &table, item("b", "rust", 1), None);
        put_until(bed, &table, item("c", "rust", 1), Some(START_SECONDS + 5));
        bed.seconds(5);
        let unique = index("one", IndexKind::Unique, Projected::KeysOnly);
        let table = bed.add_index(&table.schema.name, unique).unwrap();
        assert_eq!(holder(bed, &table), ["b"]);
        assert_eq!(bed.sweep(&mut SweepPosition::default(), 10).unwrap(), 2);
        bed.settle();
        assert_eq!(holder(bed, &table), ["b"]);
    });
}

#[test]
fn a_unique_index_leads_to_its_items() {
    on_every_driver(|bed| {
        let unique = index("one", IndexKind::Unique, Projected::KeysOnly);
        let table = bed.create_table(plain("t").with_index(unique)).unwrap();
        put(bed, &table, item("a", "rust", 1));
        let mut query = Query::partition(vec!["rust".into()]).index("one");
        query.fetch_base = true;
        let page = bed.engine.query(&table, &query).unwrap();
        assert_eq!(page.items, [item("a", "rust", 1)]);
    });
}

#[test]
fn items_that_the_filter_drops_are_read_and_not_returned() {
    on_every_driver(|bed| {
        let keys = index("by_tag", IndexKind::Secondary, Projected::KeysOnly);
        let table = bed.create_table(plain("t").with_index(keys)).unwrap();
        put(bed, &table, item("a", "rust", 1));
        put(bed, &table, item("b", "rust", 2));
        let mut query = Query::partition(vec!["rust".into()]).index("by_tag");
        query.fetch_base = true;
        let equals = |name: &str, value: &str| {
            let value = Operand::Value(value.into());
            Condition::Compare(Comparison::Equal, Operand::Path(Path::attribute(name)), value)
        };
        query.filter = Some(equals("sk", "b"));
        let page = bed.engine.query(&table, &query).unwrap();
        assert_eq!(page.items, [item("b", "rust", 2)]);
        for step in &page.report.steps {
            assert_eq!((step.rows_read, step.rows_returned), (2, 1), "{step:?}");
        }
        // The item is looked at, not the entry, which does not hold this attribute.
        query.filter = Some(equals("body", "b"));
        assert_eq!(bed.engine.query(&table, &query).unwrap().count, 2);
    });
}

#[test]
fn an_index_over_large_items_is_built_in_commits_that_the_store_takes() {
    let clock = Arc::new(ManualClock::at_micros(0));
    let caps = Caps { commit_size_bytes_max: 256 * 1024, ..MemoryStore::default_caps() };
    let engine = open(Arc::new(MemoryStore::with_caps(clock.clone(), caps)), &clock);
    let table = engine.create_table(plain("t")).unwrap();
    for n in 0..60 {
        let large = item(&n.to_string(), "rust", n).with("large", "x".repeat(20_000));
        engine.write(Write::put(&table, large)).unwrap();
    }
    let all = index("by_tag", IndexKind::Secondary, Projected::All);
    let table = engine.add_index(&table.schema.name, all).unwrap();
    let query = Query::partition(vec!["rust".into()]).index("by_tag");
    assert_eq!(engine.query(&table, &query).unwrap().count, 60);
}

/// An engine over a watched store with a table of ten items tagged `rust`.
fn watched() -> (Arc<Watched>, Engine, Arc<Table>) {
    let clock = Arc::new(ManualClock::at_micros(0));
    let store = Watched::new(&clock);
    let engine = open(Arc::clone(&store) as Arc<dyn Store>, &clock);
    let table = engine.create_table(plain("t")).unwrap();
    for n in 0..10 {
        engine.write(Write::put(&table, item(&n.to_string(), "rust", n))).unwrap();
    }
    (store, engine, table)
}

#[test]
fn what_is_dropped_while_an_index_is_built_leaves_no_entry() {
    type Drop = fn(&Engine, &TableName);
    let drop_table: Drop = |engine, name| engine.drop_table(name).unwrap();
    let drop_index: Drop = |engine, name| drop(engine.drop_index(name, "by_tag").unwrap());
    for dropping in [drop_table, drop_index] {
        let (store, engine, table) = watched();
        let name = table.schema.name.clone();
        // When the rows have been read and their entries are about to be written.
        let (other, dropped) = (engine.clone(), name.clone());
        store.after_scan_of(2, move || {
            dropping(&other, &dropped);
            other.purge().unwrap();
        });
        let by_tag = index("by_tag", IndexKind::Secondary, Projected::KeysOnly);
        let error = engine.add_index(&name, by_tag).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_eq!(engine.purge().unwrap(), 0);
        assert_eq!(store.keys(3).len(), 0, "an entry of a dropped index");
    }
}

#[test]
fn an_index_that_is_dropped_and_purged_between_two_pieces_gets_no_entry() {
    let (store, engine, table) = watched();
    for n in 10..300 {
        engine.write(Write::put(&table, item(&format!("x{n:03}"), "rust", n))).unwrap();
    }
    let (other, name) = (engine.clone(), table.schema.name.clone());
    let (next, dropped) = (Arc::clone(&store), name.clone());
    store.after_scan_of(2, move || {
        drop(other.drop_index(&dropped, "by_tag").unwrap());
        // The view of a second piece is from after the drop, so the purge does not wait for it.
        next.after_scan_of(2, move || assert_eq!(other.purge().unwrap(), 0));
    });
    let by_tag = index("by_tag", IndexKind::Secondary, Projected::KeysOnly);
    let error = engine.add_index(&name, by_tag).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(engine.purge().unwrap(), 0);
    assert_eq!(store.keys(3).len(), 0, "an entry of a dropped index");
}

#[test]
fn who_keeps_a_unique_key_does_not_look_whom_it_belongs_to() {
    let (store, engine, table) = watched();
    let unique = index("one", IndexKind::Unique, Projected::All);
    let table = engine.add_index(&table.schema.name, unique).unwrap();
    let gets = |item: Item| {
        store.take();
        engine.write(Write::put(&table, item)).unwrap();
        store.take().gets
    };
    assert_eq!(gets(item("1", "rust", 1).with("body", "other")), 1, "its row");
    assert_eq!(gets(item("1", "rust", 100)), 2, "its row, and who has the key that it takes");
}

#[test]
fn of_an_entry_that_stays_where_it_is_the_chunks_that_change_are_written() {
    let (store, engine, table) = watched();
    let all = index("by_tag", IndexKind::Secondary, Projected::All);
    let table = engine.add_index(&table.schema.name, all).unwrap();
    let large = |body: &str| {
        let text = |n: u8| "x".repeat(50_000 + usize::from(n));
        item("1", "rust", 1).with("body", body).with("x1", text(1)).with("x2", text(2))
    };
    engine.write(Write::put(&table, large("a"))).unwrap();
    store.take();
    engine.write(Write::put(&table, large("b"))).unwrap();
    assert_eq!(store.take().writes, 4, "the head and a chunk, of the row and of its entry");
    let query = Query::partition(vec!["rust".into()]).index("by_tag");
    assert!(engine.query(&table, &query).unwrap().items.contains(&large("b")));
    assert_eq!(engine.verify().unwrap().findings, []);
}

#[test]
fn a_row_that_is_written_while_it_is_entered_is_entered_as_it_is() {
    let (store, engine, table) = watched();
    let (other, old) = (engine.clone(), Arc::clone(&table));
    store.after_scan_of(2, move || {
        other.write(Write::put(&old, item("3", "go", 3))).unwrap();
        other.write(Write::delete(&old, Key::pair("p", "4"))).unwrap();
        other.write(Write::put(&old, item("new", "go", 4))).unwrap();
    });
    let by_tag = index("by_tag", IndexKind::Secondary, Projected::KeysOnly);
    let table = engine.add_index(&table.schema.name, by_tag).unwrap();
    let count = |tag: &str| {
        let query = Query::partition(vec![tag.into()]).index("by_tag");
        engine.query(&table, &query).unwrap().count
    };
    assert_eq!((count("rust"), count("go")), (8, 2));
}

#[test]
fn a_writer_that_takes_a_unique_key_while_it_is_entered_is_noticed() {
    let (store, engine, table) = watched();
    let (other, old) = (engine.clone(), Arc::clone(&table));
    // The rows of the piece stay as they are; only the entry of one of them comes meanwhile.
    store.after_scan_of(2, move || {
        other.write(Write::put(&old, item("00", "rust", 5))).unwrap();
    });
    let unique = index("one", IndexKind::Unique, Projected::KeysOnly);
    let error = engine.add_index(&table.schema.name, unique).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
}

#[test]
fn a_row_that_is_not_entered_yet_has_no_entry_to_take_away() {
    // Two pieces: the row of the first takes a key that a row of the second has, which then moves on.
    let (store, engine, table) = watched();
    for n in 10..300 {
        engine.write(Write::put(&table, item(&format!("x{n:03}"), "rust", n))).unwrap();
    }
    let (other, old, next) = (engine.clone(), Arc::clone(&table), Arc::clone(&store));
    store.after_scan_of(2, move || {
        next.after_scan_of(2, move || {
            other.write(Write::put(&old, item("00", "rust", 299))).unwrap();
            other.write(Write::put(&old, item("x299", "go", 299))).unwrap();
        });
    });
    let unique = index("one", IndexKind::Unique, Projected::KeysOnly);
    let table = engine.add_index(&table.schema.name, unique).unwrap();
    assert!(store.was_met());
    let taken = SortCondition::Equal(vec![Value::number(299)]);
    let query = Query::partition(vec!["rust".into()]).index("one").sort(taken);
    let found = engine.query(&table, &query).unwrap().items;
    assert_eq!(found.first().and_then(|item| item.get("sk")), Some(&"00".into()));
    assert_eq!(engine.verify().unwrap().findings, []);
}

#[test]
fn duplicates_far_apart_are_found_when_a_unique_index_is_built() {
    let (_, engine, table) = watched();
    for n in 10..300 {
        engine.write(Write::put(&table, item(&format!("x{n:03}"), "rust", n))).unwrap();
    }
    engine.write(Write::put(&table, item("y", "rust", 1))).unwrap();
    let unique = index("one", IndexKind::Unique, Projected::KeysOnly);
    let error = engine.add_index(&table.schema.name, unique).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
}

#[test]
fn an_index_that_is_being_built_is_not_read() {
    let (store, engine, table) = watched();
    let (other, old) = (engine.clone(), Arc::clone(&table));
    store.after_scan_of(2, move || {
        let old = other.table(&old.schema.name).unwrap();
        let query = Query::partition(vec!["rust".into()]).index("by_tag");
        assert_eq!(other.query(&old, &query).unwrap_err().kind(), ErrorKind::Invalid);
    });
    let by_tag = index("by_tag", IndexKind::Secondary, Projected::KeysOnly);
    engine.add_index(&table.schema.name, by_tag).unwrap();
    assert!(store.was_met());
}

#[test]
fn a_piece_that_the_store_would_not_take_is_entered_again() {
    use shelfmark_store::{Error, ErrorKind as Kind};
    for kind in [Kind::Busy, Kind::Conflict, Kind::TooOld, Kind::Undetermined] {
        let (store, engine, table) = watched();
        store.before_commit_to(3, move || Err(Error::new(kind, "not now")));
        let by_tag = index("by_tag", IndexKind::Secondary, Projected::KeysOnly);
        let table = engine.add_index(&table.schema.name, by_tag).unwrap();
        assert!(store.was_met());
        let query = Query::partition(vec!["rust".into()]).index("by_tag");
        assert_eq!(engine.query(&table, &query).unwrap().count, 10, "{kind:?}");
    }
}

/// Declares an index as being built, as a stop between two pieces leaves it.
fn interrupted(bed: &Bed, table: &Table, index: &IndexSchema) {
    let building = IndexSchema { state: IndexState::Building, ..index.clone() };
    bed.change_catalogue(|| {
        let building = building.clone();
        let add = move |schema: &mut TableSchema| {
            schema.indexes.push(building.clone());
            Ok(())
        };
        vec![CatalogueChange::AlterTable(table.schema.name.clone(), Box::new(add))]
    });
}

#[test]
fn a_build_goes_on_after_a_stop_and_takes_over_what_expired_meanwhile() {
    on_every_driver(|bed| {
        let mut schema = plain("t");
        schema.options.ttl = Some(TtlSource::PerItem);
        let table = bed.create_table(schema).unwrap();
        put_until(bed, &table, item("b", "rust", 1), None);
        put_until(bed, &table, item("c", "rust", 2), Some(START_SECONDS + 20));
        interrupted(bed, &table, &index("one", IndexKind::Unique, Projected::KeysOnly));
        interrupted(bed, &table, &index("by_tag", IndexKind::Secondary, Projected::KeysOnly));
        // Item b is not entered yet, so its key looks free.
        put_until(bed, &table, item("a", "rust", 1), Some(START_SECONDS + 5));
        bed.seconds(5);
        patiently(|| bed.engine.resume_indexes(&table.schema.name)).unwrap();
        let table = bed.engine.table(&table.schema.name).unwrap();
        bed.settle();
        assert_eq!(holder(bed, &table), ["c", "b"]);
        assert_eq!(
            by_tag(bed, &table, "rust"),
            ["c", "b"],
            "what has expired has an entry that has"
        );
        bed.seconds(15);
        assert_eq!(holder(bed, &table), ["b"]);
        assert_eq!(by_tag(bed, &table, "rust"), ["b"], "an entry knows when its item expires");
        assert_eq!(patiently(|| bed.engine.verify()).unwrap().findings, []);
    });
}

#[test]
fn a_writer_cannot_take_a_unique_key_from_a_row_that_is_not_entered_yet() {
    // Item 5 has a key that the index does not know yet; another item takes it, which the index
    // must not let pass as if both could have it.
    for then in [item("5", "rust", 5).with("body", "other"), item("5", "go", 5)] {
        let (store, engine, table) = watched();
        let (other, old) = (engine.clone(), Arc::clone(&table));
        let is_moved = then.get("tag") == Some(&"go".into());
        store.after_scan_of(2, move || {
            other.write(Write::put(&old, item("00", "rust", 5))).unwrap();
            // May be refused, but must not take the entry of the other item.
            let _ = other.write(Write::put(&old, then));
        });
        let unique = index("one", IndexKind::Unique, Projected::KeysOnly);
        let added = engine.add_index(&table.schema.name, unique);
        let taken = SortCondition::Equal(vec![Value::number(5)]);
        let query = Query::partition(vec!["rust".into()]).index("one").sort(taken);
        match added {
            Ok(table) => {
                assert!(is_moved, "two items had one key");
                let page = engine.query(&table, &query).unwrap();
                assert_eq!(page.items[0].get("sk"), Some(&"00".into()));
            }
            Err(error) => assert_eq!((error.kind(), is_moved), (ErrorKind::AlreadyExists, false)),
        }
    }
}

#[test]
fn readers_with_a_form_from_before_see_the_table_as_it_is() {
    on_every_driver(|bed| {
        let by_tag_index = index("by_tag", IndexKind::Secondary, Projected::All);
        let old = bed.create_table(plain("t").with_index(by_tag_index.clone())).unwrap();
        put(bed, &old, item("a", "rust", 1));
        bed.drop_index(&old.schema.name, "by_tag").unwrap();
        put(bed, &old, item("b", "rust", 2));
        // The entries of the dropped index say nothing about the table any more.
        let query = Query::partition(vec!["rust".into()]).index("by_tag");
        let error = bed.engine.query(&old, &query).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        bed.add_index(&old.schema.name, by_tag_index).unwrap();
        assert_eq!(by_tag(bed, &old, "rust"), ["b", "a"]);
        let view = bed.engine.snapshot().unwrap();
        bed.drop_table(&old.schema.name).unwrap();
        let key = Key::pair("p", "a");
        let error = bed.engine.get(&old, &Get::new(key.clone())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        let again = bed.create_table(plain("t")).unwrap();
        let error = bed.engine.get(&old, &Get::new(key.clone())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "another table of the same name");
        let error = bed.transact(|tx| tx.get(&old, &Get::new(key.clone()))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        let gets = [(Arc::clone(&old), Get::new(key.clone()))];
        assert_eq!(bed.engine.get_many(&gets).unwrap_err().kind(), ErrorKind::NotFound);
        let late = Write::put(&old, item("c", "rust", 1));
        assert_eq!(bed.transact(|tx| tx.write(&late)).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(bed.engine.get(&again, &Get::new(key.clone())).unwrap().item, None);
        // A moment that was kept is what it was.
        assert!(view.get(&old, &Get::new(key)).unwrap().item.is_some());
    });
}

#[test]
fn keys_that_differ_in_spelling_alone_have_entries_of_their_own() {
    // In a hashed table the partitions of 1.0 and 1.00 differ, also inside of a tuple.
    on_every_driver(|bed| {
        let pair = KeyType::Tuple(vec![KeyType::Text, KeyType::Decimal]);
        let mut schema =
            TableSchema::new(TableName::new("test", "t"), KeyColumn::new("pk", pair.clone()));
        schema.indexes.push(IndexSchema {
            sort: vec![SortColumn::new("pk", pair, Direction::Ascending)],
            ..index("by_tag", IndexKind::Secondary, Projected::All)
        });
        let table = bed.create_table(schema).unwrap();
        for (unscaled, scale) in [(10, 1), (100, 2)] {
            let number = Decimal::new(BigInt::from(unscaled), scale).unwrap();
            let pk = Value::Tuple(vec![Some("a".into()), Some(Value::Number(number))]);
            put(bed, &table, Item::new().with("pk", pk).with("tag", "rust"));
        }
        let scanned = bed.engine.scan(&table, &Scan::default()).unwrap();
        let query = Query::partition(vec!["rust".into()]).index("by_tag");
        assert_eq!((scanned.count, bed.engine.query(&table, &query).unwrap().count), (2, 2));
    });
}
