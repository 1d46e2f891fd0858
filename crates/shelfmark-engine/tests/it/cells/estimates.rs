//! How many partitions a table of cells has, about.

use std::ops::Bound;

use shelfmark_engine::CellEstimate;

use super::{A, insert, key, mutation, schema, set};
use crate::drivers::{Bed, on_every_driver};

/// Four parts that cover all tokens.
const PARTS: [(Bound<i64>, Bound<i64>); 4] = [
    (Bound::Unbounded, Bound::Included(i64::MIN / 2)),
    (Bound::Excluded(i64::MIN / 2), Bound::Included(0)),
    (Bound::Excluded(0), Bound::Included(i64::MAX / 2)),
    (Bound::Excluded(i64::MAX / 2), Bound::Unbounded),
];

fn estimated(bed: &Bed, table: &shelfmark_engine::Table) -> Vec<CellEstimate> {
    bed.engine.estimate_cells(table, &PARTS).unwrap()
}

fn sum(all: &[CellEstimate]) -> u64 {
    all.iter().map(|part| part.partitions).sum()
}

#[test]
fn few_partitions_are_counted() {
    on_every_driver(|bed| {
        let table = bed.create_table(schema("t")).unwrap();
        let beside = bed.create_table(schema("u")).unwrap();
        assert_eq!(estimated(bed, &table), [CellEstimate::default(); 4]);
        for pk in ["a", "b", "c"] {
            bed.cells((0..3).map(|c| insert(&table, pk, key(c, "x"), 10, vec![])).collect());
        }
        bed.cells(vec![insert(&beside, "d", key(1, "x"), 10, vec![])]);
        // The meanest driver cuts pages short, so there it is an estimate.
        let found = estimated(bed, &table);
        assert!(bed.meanest.is_some() || sum(&found) == 3, "{found:?}");
        assert!(bed.meanest.is_some() || sum(&estimated(bed, &beside)) == 1);
        assert!(found.iter().all(|part| (part.partitions > 0) == (part.partition_size_bytes > 0)));
    });
}

#[test]
fn many_partitions_are_estimated_from_few_rows() {
    on_every_driver(|bed| {
        if bed.meanest.is_some() {
            return;
        }
        let table = bed.create_table(schema("t")).unwrap();
        let value = "v".repeat(100);
        for from in (0..4_000).step_by(500) {
            let row = |n| insert(&table, &format!("p{n}"), key(1, "x"), 10, vec![set(A, &value)]);
            bed.cells((from..from + 500).map(row).collect());
        }
        let found = estimated(bed, &table);
        // 256 rows of 4,000 are looked at: a sixteenth is the error to expect.
        assert!((2_800..=5_200).contains(&sum(&found)), "{found:?}");
        for part in &found {
            assert!((700..=1_300).contains(&part.partitions), "{found:?}");
            assert!((100..=300).contains(&part.partition_size_bytes), "{found:?}");
        }
    });
}

#[test]
fn a_wide_partition_is_one() {
    on_every_driver(|bed| {
        let table = bed.create_table(schema("t")).unwrap();
        bed.cells((0..500).map(|c| insert(&table, "wide", key(c, "x"), 10, vec![])).collect());
        let found = estimated(bed, &table);
        assert!(bed.meanest.is_some() || sum(&found) == 1, "{found:?}");
    });
}

#[test]
fn a_table_that_was_dropped_has_no_estimate() {
    on_every_driver(|bed| {
        let table = bed.create_table(schema("t")).unwrap();
        bed.cells(vec![mutation(&table, "p", 10, shelfmark_engine::CellChange::DeletePartition)]);
        assert_eq!(sum(&estimated(bed, &table)), 0);
        let name = table.schema.name.clone();
        crate::drivers::patiently(|| bed.engine.drop_table(&name)).unwrap();
        assert!(bed.engine.estimate_cells(&table, &PARTS).is_err());
    });
}
