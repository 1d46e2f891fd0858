//! Key lines over a store in memory whose reads are counted.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_model::{
    Direction as Sort, Key, KeyColumn, KeyType, SortColumn, TableName, TableSchema, Value,
};
use shelfmark_records::keys::{KeySpec, chunk_key};
use shelfmark_store::clock::{Clock, SystemClock};
use shelfmark_store::memory::MemoryStore;
use shelfmark_store::{Commit, Store as _, Write};
use shelfmark_testkit::counting::CountingStore;

use super::{Effort, StoredKeys, measure};

/// A store with so many rows in each of so many partitions, and their keys.
fn filled(partitions: i64, rows: i64) -> (CountingStore, StoredKeys) {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let store = CountingStore::new(Arc::new(MemoryStore::new(clock)));
    let name = TableName::new("dynamodb", "t");
    let mut schema = TableSchema::new(name, KeyColumn::new("pk", KeyType::Text));
    schema.sort = vec![SortColumn::new("sk", KeyType::I64, Sort::Ascending)];
    let spec = KeySpec::of_table(7, &schema);
    for partition in 0..partitions {
        let write = |row: i64| {
            let partition = vec![Value::from(format!("user-{partition:05}").as_str())];
            let key = Key { partition, sort: vec![Value::Int(row)] };
            let key = Bytes::from(chunk_key(&spec.row_key(&key).unwrap(), 0));
            Write::Put { key, value: Bytes::from_static(&[7; 100]) }
        };
        store.commit(Commit::of((0..rows).map(write).collect())).unwrap();
    }
    (store, StoredKeys::Items(spec))
}

#[test]
fn a_small_table_is_read_and_a_partition_in_stretches_is_one() {
    for (partitions, rows) in [(0, 0), (1, 1), (1, 40), (5, 3)] {
        let (store, keys) = filled(partitions, rows);
        let line = measure(&store, &keys, &keys.whole(), Effort::PICTURE).unwrap();
        let seen = (line.partitions(), line.rows(), line.is_exact());
        let there = (partitions.unsigned_abs(), (partitions * rows).unsigned_abs(), true);
        assert_eq!(seen, there, "{line:?}");
    }
    let (store, keys) = filled(1, 5_000);
    let line = measure(&store, &keys, &keys.whole(), Effort::PICTURE).unwrap();
    assert_eq!(line.partitions(), 1);
    assert!(!line.is_exact() && (2_500..10_000).contains(&line.rows()), "{}", line.rows());
}

#[test]
fn a_large_table_costs_what_a_smaller_one_does() {
    let mut costs = Vec::new();
    for partitions in [500, 4_000] {
        let (store, keys) = filled(partitions, 4);
        let line = measure(&store, &keys, &keys.whole(), Effort::PICTURE).unwrap();
        let (count, rows) = (partitions.unsigned_abs(), line.rows());
        assert!((2 * count..8 * count).contains(&rows), "{rows} of {}", 4 * count);
        costs.push(store.reads().rows());
    }
    assert!(costs.iter().all(|cost| *cost < 2_500), "rows read: {costs:?}");
}
