//! Writers of single rows, of whole partitions and on conditions, side by side.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use shelfmark_engine::{
    CatalogueChange, CellChange, CellGet, CellIndexQuery, CellLimits, CellOperation, CellQuery,
    CellScan, ConditionalRead, Decision, Span, Table,
};
use shelfmark_keycode::KeyType;
use shelfmark_model::{CellIndex, CellIndexTarget, IndexState, TableName, TableSchema, TextFold};
use shelfmark_store::Store;
use shelfmark_store::clock::ManualClock;
use shelfmark_store::random::SplitMix;

use super::derived::view;
use super::{
    A, B, COUNTER, as_text, bytes, insert, key, mutation, name_of, schema, set, text, update,
};
use crate::drivers::{Bed, on_every_driver, open, patiently};
use crate::watched::Watched;

fn base_rows(bed: &Bed, table: &Table) -> BTreeSet<(String, String)> {
    let page = patiently(|| bed.engine.scan_cells(table, &CellScan::default())).unwrap();
    let rows = page.rows.iter().map(|entry| {
        let a = entry.row.cell(A).map(|cell| as_text(&cell.value)).unwrap_or_default();
        (format!("{}:{}", as_text(&entry.partition), name_of(entry.clustering.as_deref())), a)
    });
    rows.collect()
}

fn indexed_rows(bed: &Bed, table: &Table) -> BTreeSet<(String, String)> {
    let query = CellIndexQuery {
        index: "by_a".to_owned(),
        terms: Span::all(),
        partition: None,
        tokens: (std::ops::Bound::Unbounded, std::ops::Bound::Unbounded),
        limits: CellLimits::default(),
    };
    let page = patiently(|| bed.engine.query_cell_index(table, &query)).unwrap();
    let rows = page.rows.iter().map(|entry| {
        let a = as_text(&entry.row.cell(A).unwrap().value);
        (format!("{}:{}", as_text(&entry.partition), name_of(entry.clustering.as_deref())), a)
    });
    rows.collect()
}

fn view_rows(bed: &Bed, view: &Table) -> BTreeSet<(String, String)> {
    let page = patiently(|| bed.engine.scan_cells(view, &CellScan::default())).unwrap();
    let rows = page.rows.iter().map(|entry| {
        let [d, c, pk] = entry.clustering.as_deref().unwrap() else { panic!("three columns") };
        let name = name_of(Some(&[c.clone(), d.clone()]));
        (format!("{}:{name}", as_text(pk.as_ref().unwrap())), as_text(&entry.partition))
    });
    rows.collect()
}

#[test]
fn additions_of_two_servers_do_not_meet_unless_something_else_is_written() {
    const ROWS: u8 = 0x02;
    let add = |table: &Arc<Table>, delta| {
        update(table, "p", key(1, "x"), 1, vec![CellOperation::Add { column: COUNTER, delta }])
    };
    // One that adds and does nothing else is queued once, whatever the other server adds meanwhile.
    for (besides, commits) in [(false, 2), (true, 3)] {
        let clock = Arc::new(ManualClock::at_micros(0));
        let store = Watched::of_many(&clock);
        let [one, other] = [(); 2].map(|()| open(Arc::clone(&store) as Arc<dyn Store>, &clock));
        let table = one.create_table(schema("t")).unwrap();
        one.write_cells(vec![add(&table, 1)]).unwrap();
        let seen = other.table(&table.schema.name).unwrap();
        store.take();
        store.after_get_of(ROWS, move || other.write_cells(vec![add(&seen, 10)]).unwrap());
        let mut mutations = vec![add(&table, 100)];
        if besides {
            mutations.push(update(&table, "p", key(2, "x"), 1, vec![set(A, "v")]));
        }
        one.write_cells(mutations).unwrap();
        assert_eq!((store.was_met(), store.take().commits), (true, commits));
        let get = CellGet { partition: bytes("p"), clustering: key(1, "x"), ..CellGet::default() };
        let row = one.get_cells(&table, &get).unwrap().row.unwrap();
        assert_eq!(row.cell(COUNTER).unwrap().value.as_ref(), 111_i64.to_be_bytes());
    }
}

#[test]
fn a_late_write_that_has_looked_is_still_deleted() {
    const MARKS: u8 = 0x04;
    let clock = Arc::new(ManualClock::at_micros(0));
    let store = Watched::new(&clock);
    let engine = open(Arc::clone(&store) as Arc<dyn Store>, &clock);
    let table = engine.create_table(schema("t")).unwrap();
    for pk in ["a", "b", "c", "d", "e", "f", "g", "h"] {
        let change = CellChange::DeletePartition;
        engine.write_cells(vec![mutation(&table, pk, 1_500, change)]).unwrap();
    }
    let (told, ended) = std::sync::mpsc::channel();
    let delete = {
        let (engine, table) = (engine.clone(), Arc::clone(&table));
        move || {
            let change = CellChange::DeletePartition;
            engine.write_cells(vec![mutation(&table, "p", 1_500, change)]).unwrap();
            told.send(()).unwrap();
        }
    };
    // The write has looked for tombstones and found none. A deletion that were not kept out until the
    // write is queued would end now, and find no row.
    store.after_scan_of(MARKS, move || {
        shelfmark_store::threads::spawn("deleter", delete).unwrap();
        std::thread::park_timeout(Duration::from_millis(300));
    });
    let late = insert(&table, "p", key(1, "x"), 1_000, vec![set(A, "late")]);
    engine.write_cells(vec![late]).unwrap();
    ended.recv().unwrap();
    let query = CellQuery { partition: bytes("p"), ..CellQuery::default() };
    assert!(engine.query_cells(&table, &query).unwrap().rows.is_empty());
}

#[test]
fn what_is_written_while_an_index_or_view_is_built_is_its_writers() {
    const ROWS: u8 = 0x02;
    let clock = Arc::new(ManualClock::at_micros(0));
    let store = Watched::new(&clock);
    let engine = open(Arc::clone(&store) as Arc<dyn Store>, &clock);
    let table = engine.create_table(schema("t")).unwrap();
    let write = |table: &Arc<Table>, at: i64, value: &str| {
        let row = insert(table, "p", key(1, "x"), at, vec![set(A, value)]);
        engine.write_cells(vec![row]).unwrap();
    };
    write(&table, 10, "old");
    let by_a = CellIndex {
        name: "by_a".to_owned(),
        target: CellIndexTarget::Column(A),
        terms: vec![KeyType::Text],
        fold: TextFold::default(),
        state: IndexState::Building,
    };
    let add = |schema: &mut TableSchema| {
        schema.cells.as_mut().unwrap().indexes.push(by_a.clone());
        Ok(())
    };
    engine
        .change_catalogue(vec![
            CatalogueChange::AlterTable(table.schema.name.clone(), Box::new(add)),
            CatalogueChange::CreateTable(view(IndexState::Building)),
        ])
        .unwrap();
    for (name, at, value) in [("t", 20, "newer"), ("by_a", 30, "newest")] {
        // After the row was read for building, it is written.
        let (writer, written) = (engine.clone(), Arc::clone(&table));
        store.after_scan_of(ROWS, move || {
            let row = insert(&written, "p", key(1, "x"), at, vec![set(A, value)]);
            writer.write_cells(vec![row]).unwrap();
        });
        engine.resume_indexes(&TableName::new("ks", name)).unwrap();
    }
    let hits = |term: &str| {
        let query = CellIndexQuery {
            index: "by_a".to_owned(),
            terms: Span::equal(vec![text(term)]),
            partition: None,
            tokens: (std::ops::Bound::Unbounded, std::ops::Bound::Unbounded),
            limits: CellLimits::default(),
        };
        engine.query_cell_index(&table, &query).unwrap().rows.len()
    };
    assert_eq!(["old", "newer", "newest"].map(hits), [0, 0, 1]);
    let by_a = engine.table(&TableName::new("ks", "by_a")).unwrap();
    let page = engine.scan_cells(&by_a, &CellScan::default()).unwrap();
    assert_eq!(page.rows.iter().map(|row| as_text(&row.partition)).collect::<Vec<_>>(), ["newest"]);
}

#[test]
fn no_late_write_survives_and_indexes_and_views_agree() {
    on_every_driver(|bed| {
        let mut declared = schema("t");
        declared.cells.as_mut().unwrap().indexes = vec![CellIndex {
            name: "by_a".to_owned(),
            target: CellIndexTarget::Column(A),
            terms: vec![KeyType::Text],
            fold: TextFold::default(),
            state: IndexState::Public,
        }];
        let table = bed.create_table(declared).unwrap();
        let by_a = bed.create_table(view(IndexState::Public)).unwrap();
        let table = bed.engine.table(&table.schema.name).unwrap();
        // Timestamps fall in three bands: rows below and above one deletion, which comes when it
        // comes. Whatever the order, what was written below it is gone.
        std::thread::scope(|scope| {
            for thread in 0..3u64 {
                let table = &table;
                scope.spawn(move || {
                    let mut random = SplitMix::new(thread);
                    for n in 0..40 {
                        let c = i32::try_from(random.below(6)).unwrap();
                        let above = random.chance(500);
                        let at = if above { 2_000 + n } else { 1_000 + n };
                        let value = format!("{}{thread}", if above { "above" } else { "below" });
                        let row = insert(table, "p", key(c, "x"), at, vec![set(A, &value)]);
                        bed.cells(vec![row]);
                    }
                });
            }
            scope.spawn(|| {
                for _ in 0..5 {
                    bed.cells(vec![mutation(&table, "p", 1_500, CellChange::DeletePartition)]);
                    bed.cells(vec![mutation(
                        &table,
                        "p",
                        1_500,
                        CellChange::DeleteRow(key(2, "x")),
                    )]);
                }
            });
        });
        let rows = base_rows(bed, &table);
        assert!(rows.iter().all(|(_, a)| a.starts_with("above")), "{rows:?}");
        assert_eq!(indexed_rows(bed, &table), rows);
        assert_eq!(view_rows(bed, &by_a), rows);
        bed.check_sound();
        assert_eq!(by_a.schema.name, TableName::new("ks", "by_a"));
    });
}

#[test]
fn a_batch_is_seen_whole_and_a_condition_excludes_plain_writers() {
    on_every_driver(|bed| {
        let table = bed.create_table(schema("t")).unwrap();
        let pair = |value: &str, at: i64| {
            vec![
                update(&table, "p", key(1, "x"), at, vec![set(A, value), set(B, value)]),
                update(&table, "q", key(1, "x"), at, vec![set(A, value)]),
            ]
        };
        bed.cells(pair("0", 1));
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..2i64)
                .map(|thread| {
                    let (pair, bed) = (&pair, &bed);
                    scope.spawn(move || {
                        for n in 1..40 {
                            bed.cells(pair(&format!("{n}"), 10 * n + thread));
                        }
                    })
                })
                .collect();
            let conditional = scope.spawn(|| {
                for n in 1..20 {
                    let read = ConditionalRead {
                        table: table.clone(),
                        partition: bytes("p"),
                        rows: vec![key(1, "x")],
                        statics: true,
                        now: None,
                    };
                    let decide = || {
                        bed.engine.write_cells_if(read.clone(), |view| {
                            let row = view.rows[0].as_ref().unwrap();
                            let value = |column| as_text(&row.cell(column).unwrap().value);
                            assert_eq!(value(A), value(B), "no plain write is half there");
                            let newest = row.cells.iter().map(|cell| cell.timestamp).max();
                            let at = newest.unwrap() + 1;
                            let both = vec![set(A, &format!("c{n}")), set(B, &format!("c{n}"))];
                            let mutations = vec![update(&table, "p", key(1, "x"), at, both)];
                            Ok(Decision { mutations, answer: () })
                        })
                    };
                    patiently(decide).unwrap();
                }
            });
            scope.spawn(|| {
                let query = CellQuery { partition: bytes("p"), ..CellQuery::default() };
                while !done.load(Ordering::Acquire) {
                    let page = patiently(|| bed.engine.query_cells(&table, &query)).unwrap();
                    let row = &page.rows[0].row;
                    assert_eq!(row.cell(A).unwrap().value, row.cell(B).unwrap().value);
                }
            });
            let ended: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
            let decided = conditional.join();
            done.store(true, Ordering::Release);
            ended.into_iter().chain([decided]).for_each(|outcome| outcome.unwrap());
        });
    });
}
