//! Many deletions of ranges: a partition that was cut to pieces is deleted like any other.

use std::sync::Arc;

use shelfmark_engine::{CellChange, Mutation, Span, SpanBound, SweepPosition, Table};

use super::{A, GRACE_SECONDS, int, key, mutation, schema, set, update};
use crate::drivers::{Bed, on_every_driver, open};

/// More than one deletion replaces, whatever the driver.
const MANY: i32 = 2_100;

fn one(table: &Arc<Table>, c: i32, at: i64) -> Mutation {
    let bound = |included: bool, c: i32| Some(SpanBound { values: vec![int(c)], included });
    let span = Span { equal: Vec::new(), lower: bound(true, c), upper: bound(false, c + 1) };
    mutation(table, "p", at, CellChange::DeleteSpan(span))
}

/// Deletes `MANY` ranges side by side, each at another time.
fn cut(bed: &Bed, table: &Arc<Table>) {
    for from in (0..MANY).step_by(100) {
        let some = from..(from + 100).min(MANY);
        bed.cells(some.map(|c| one(table, c, 100 + i64::from(c % 7))).collect());
    }
}

fn write(table: &Arc<Table>, c: i32, at: i64) -> Mutation {
    update(table, "p", key(c, "x"), at, vec![set(A, "v")])
}

#[test]
fn a_partition_of_many_deleted_ranges_is_deleted() {
    on_every_driver(|bed| {
        let table = bed.create_table(schema("t")).unwrap();
        cut(bed, &table);
        bed.cells(vec![mutation(&table, "p", 200, CellChange::DeletePartition)]);
        // Late writes stay dead by the later of both, also where nothing was deleted before.
        bed.cells(vec![write(&table, 3, 103), write(&table, 4, 200), write(&table, MANY + 5, 150)]);
        assert!(bed.keys(&table, "p", Span::all(), false).is_empty());
        bed.cells(vec![write(&table, 4, 201), write(&table, MANY + 5, 201)]);
        let left = format!("{}/x", MANY + 5);
        assert_eq!(bed.keys(&table, "p", Span::all(), false), ["4/x", left.as_str()]);
        // A later deletion of a small range within, and an earlier one of everything.
        bed.cells(vec![one(&table, 4, 300)]);
        bed.cells(vec![mutation(&table, "p", 50, CellChange::DeletePartition)]);
        bed.cells(vec![write(&table, 4, 250), write(&table, 5, 250)]);
        assert_eq!(bed.keys(&table, "p", Span::all(), false), ["5/x", left.as_str()]);
        // Again and again, as a queue is emptied.
        for at in 400..420 {
            bed.cells(vec![mutation(&table, "p", at, CellChange::DeletePartition)]);
        }
        bed.cells(vec![write(&table, 5, 419)]);
        assert!(bed.keys(&table, "p", Span::all(), false).is_empty());
        bed.check_sound();
    });
}

#[test]
fn levels_of_marks_are_found_again_and_forgotten_in_time() {
    on_every_driver(|bed| {
        let table = bed.create_table(schema("t")).unwrap();
        cut(bed, &table);
        bed.cells(vec![mutation(&table, "p", 200, CellChange::DeletePartition)]);
        bed.settle();
        // Another engine over the same store knows nothing but what is stored.
        let engine = open(Arc::clone(bed.engine.store()), &bed.clock);
        let again = engine.table(&table.schema.name).unwrap();
        let late = vec![write(&again, MANY + 9, 150)];
        crate::drivers::patiently(|| engine.write_cells(late.clone())).unwrap();
        assert!(bed.keys(&table, "p", Span::all(), false).is_empty());
        bed.seconds(u64::from(GRACE_SECONDS) + 10);
        let mut position = SweepPosition::default();
        while bed.sweep(&mut position, 1_000).unwrap() > 0 {}
        bed.cells(vec![write(&table, 1, 5)]);
        assert_eq!(
            bed.keys(&table, "p", Span::all(), false),
            ["1/x"],
            "forgotten with its tombstones"
        );
        bed.check_sound();
    });
}
