//! Counters that several servers on one store add to: columns of rows, and exact counts of tables.
//!
//! They need a cluster; `cargo xtask tikv` starts one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use shelfmark_engine::{CellChange, CellOperation, Scan, Table, Write};
use shelfmark_model::Item;

use crate::cells::{COUNTER, key, mutation, schema, update};
use crate::drivers::{Bed, START_SECONDS, patiently, plain, tikv_servers};

/// Additions of each thread.
const TURNS: i64 = 30;
/// Threads on each server.
const THREADS: i64 = 3;

fn add(table: &Arc<Table>, c: i32, delta: i64) -> shelfmark_engine::Mutation {
    let operation = CellOperation::Add { column: COUNTER, delta };
    update(table, "p", key(c, "x"), 1, vec![operation])
}

fn count(bed: &Bed, table: &Table, c: i32) -> Option<i64> {
    let row = bed.row(table, "p", key(c, "x"))?;
    Some(i64::from_be_bytes(row.cell(COUNTER)?.value.as_ref().try_into().unwrap()))
}

/// Runs `body` with each server and its form of the table, in several threads each, and `beside` until
/// all are done.
fn at_once(
    beds: &[Bed; 2],
    tables: &[Arc<Table>; 2],
    body: impl Fn(&Bed, &Arc<Table>, i64) + Sync,
    beside: impl Fn() + Sync,
) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::SeqCst) {
                beside();
            }
        });
        std::thread::scope(|adding| {
            for (bed, table) in beds.iter().zip(tables) {
                for thread in 0..THREADS {
                    let body = &body;
                    adding.spawn(move || body(bed, table, thread));
                }
            }
        });
        is_over.store(true, Ordering::SeqCst);
    });
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn a_column_that_every_server_adds_to_loses_and_doubles_nothing() {
    let beds = tikv_servers();
    let made = beds[0].create_table(schema("t")).unwrap();
    let seen = beds[1].engine.table(&made.schema.name).unwrap();
    let tables = [made, seen];
    let last = std::sync::Mutex::new((0, 0));
    at_once(
        &beds,
        &tables,
        |bed, table, _| {
            for _ in 0..TURNS {
                // Two rows in one commit stay together.
                bed.cells(vec![add(table, 1, 1), add(table, 2, -1)]);
            }
        },
        || {
            let [one, other] = [1, 2].map(|c| count(&beds[1], &tables[1], c).unwrap_or(0));
            let mut last = last.lock().unwrap();
            assert!(one >= last.0 && other <= last.1, "{one}, {other} behind {last:?}");
            *last = (one, other);
        },
    );
    let all = TURNS * THREADS * 2;
    for (bed, table) in beds.iter().zip(&tables) {
        assert_eq!((count(bed, table, 1), count(bed, table, 2)), (Some(all), Some(-all)));
    }
    // A deletion meets every addition: behind it counters begin anew, on every server.
    let now = i64::try_from(START_SECONDS).unwrap() * 1_000_000 + 5_000_000;
    beds[1].cells(vec![mutation(&tables[1], "p", now, CellChange::DeleteRow(key(1, "x")))]);
    assert_eq!(count(&beds[0], &tables[0], 1), None);
    beds[0].cells(vec![add(&tables[0], 1, 3)]);
    beds[1].cells(vec![add(&tables[1], 1, 4), add(&tables[1], 1, 5)]);
    assert_eq!(count(&beds[0], &tables[0], 1), Some(12));
    assert_eq!(count(&beds[0], &tables[0], 2), Some(-all));
    beds[0].check_sound();
    for bed in beds {
        bed.engine.store().close().unwrap();
    }
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn a_deletion_beside_additions_leaves_what_came_behind_it() {
    let beds = tikv_servers();
    let made = beds[0].create_table(schema("t")).unwrap();
    let seen = beds[1].engine.table(&made.schema.name).unwrap();
    let tables = [made, seen];
    let micros = i64::try_from(START_SECONDS).unwrap() * 1_000_000;
    let deletions = std::sync::atomic::AtomicI64::new(0);
    at_once(
        &beds,
        &tables,
        |bed, table, _| (0..TURNS).for_each(|_| bed.cells(vec![add(table, 1, 1)])),
        || {
            // Later than what was added; but for the counters that begin behind it.
            let at = micros + 1_000 * deletions.fetch_add(1, Ordering::SeqCst);
            beds[0].cells(vec![mutation(&tables[0], "p", at, CellChange::DeleteRow(key(1, "x")))]);
            let left = count(&beds[1], &tables[1], 1).unwrap_or(0);
            assert!((0..=TURNS * THREADS * 2).contains(&left), "{left}");
        },
    );
    let at = micros + 1_000_000_000;
    beds[1].cells(vec![mutation(&tables[1], "p", at, CellChange::DeleteRow(key(1, "x")))]);
    beds[0].cells(vec![add(&tables[0], 1, 1)]);
    assert_eq!(count(&beds[1], &tables[1], 1), Some(1));
    beds[0].check_sound();
    for bed in beds {
        bed.engine.store().close().unwrap();
    }
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn exact_counts_are_exact_while_every_server_writes() {
    let beds = tikv_servers();
    let mut schema = plain("t");
    schema.options.exact_counts = true;
    let made = beds[0].create_table(schema).unwrap();
    let seen = beds[1].engine.table(&made.schema.name).unwrap();
    let tables = [made, seen];
    let named = |server: u64, thread: i64, turn: i64| {
        Item::new().with("pk", "p").with("sk", format!("{server}/{thread}/{turn:03}"))
    };
    let last = std::sync::atomic::AtomicU64::new(0);
    at_once(
        &beds,
        &tables,
        |bed, table, thread| {
            let server = u64::from(Arc::ptr_eq(table, &tables[1]));
            for turn in 0..TURNS {
                bed.put(table, named(server, thread, turn));
                // The same again counts nothing.
                bed.put(table, named(server, thread, turn));
            }
        },
        || {
            let now = patiently(|| beds[0].engine.count(&tables[0])).unwrap();
            assert!(now >= last.swap(now, Ordering::SeqCst));
        },
    );
    let all = u64::try_from(TURNS * THREADS * 2).unwrap();
    assert_eq!(patiently(|| beds[1].engine.count(&tables[1])).unwrap(), all);
    beds[1].check_sound();
    let items = patiently(|| beds[1].engine.scan(&tables[1], &Scan::default())).unwrap().items;
    for item in items {
        let key = tables[1].key_of(&item).unwrap();
        patiently(|| beds[0].engine.write(Write::delete(&tables[0], key.clone()))).unwrap();
    }
    assert_eq!(patiently(|| beds[1].engine.count(&tables[1])).unwrap(), 0);
    beds[0].check_sound();
    for bed in beds {
        bed.engine.store().close().unwrap();
    }
}
