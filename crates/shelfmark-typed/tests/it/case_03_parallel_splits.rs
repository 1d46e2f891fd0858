//! Case 3: parallel inserts around a split threshold of 3, and a batch larger than the threshold.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use shelfmark_typed::{EntityShard, EntityTable, ErrorKind, Partition, TableSettings};

use crate::drivers::{Bed, n, on_every_driver};

pub(crate) fn sharded(bed: &Bed, items_max: u64) -> EntityTable {
    let settings = TableSettings { shard_items_max: Some(items_max), ..Default::default() };
    EntityTable::with(&bed.database, "sharded", &settings).unwrap()
}

/// Shards are contiguous, cover everything, are within the limit, and count exactly.
pub(crate) fn check_shards(partition: &Partition, items_max: u64) -> Vec<EntityShard> {
    let shards = partition.shards().unwrap();
    let keys: Vec<String> = partition.entities().map(|entity| entity.unwrap().sk).collect();
    assert_eq!(shards[0].lower, None);
    assert_eq!(shards.last().unwrap().upper, None);
    for pair in shards.windows(2) {
        assert_eq!(pair[0].upper, pair[1].lower);
        assert_ne!(pair[0].id, pair[1].id);
    }
    for shard in &shards {
        let inside = |key: &&String| {
            shard.lower.as_ref().is_none_or(|lower| *key >= lower)
                && shard.upper.as_ref().is_none_or(|upper| *key < upper)
        };
        assert_eq!(shard.count, keys.iter().filter(inside).count() as u64, "{shard:?}");
        assert!(shard.count <= items_max && !shard.splitting, "{shard:?}");
    }
    let sum: u64 = shards.iter().map(|shard| shard.count).sum();
    assert_eq!((sum, partition.count().unwrap()), (keys.len() as u64, keys.len() as u64));
    shards
}

#[test]
fn parallel_inserts_lose_and_double_nothing() {
    on_every_driver(|bed| {
        let table = sharded(bed, 3);
        let partition = table.partition("p");
        std::thread::scope(|scope| {
            for writer in 0..20 {
                let partition = partition.clone();
                scope.spawn(move || partition.put(&format!("k{writer:02}"), n(writer)).unwrap());
            }
        });
        let keys: Vec<String> = partition.entities().map(|entity| entity.unwrap().sk).collect();
        let expected: Vec<String> = (0..20).map(|writer| format!("k{writer:02}")).collect();
        assert_eq!(keys, expected, "all there, each once, in one order over all shards");
        for (key, writer) in expected.iter().zip(0..) {
            assert_eq!(partition.get(key).unwrap().unwrap().attributes, n(writer));
        }
        assert!(check_shards(&partition, 3).len() >= 7);
        assert_eq!(table.split_failures(), []);
    });
}

#[test]
fn a_batch_larger_than_the_threshold_is_split_all_the_same() {
    on_every_driver(|bed| {
        let table = sharded(bed, 3);
        let partition = table.partition("p");
        partition.batch_put((0..10).map(|i| (format!("k{i}"), n(i)))).unwrap();
        check_shards(&partition, 3);
        assert_eq!(partition.entities().descending().count().unwrap(), 10);
        // Another partition of the table is one shard.
        table.partition("q").put("a", n(1)).unwrap();
        assert_eq!(table.partition("q").shards().unwrap().len(), 1);
        assert_eq!(table.partition("none").shards().unwrap()[0].count, 0);
    });
}

#[test]
fn counts_stay_exact_through_deletes_replaces_and_transactions() {
    on_every_driver(|bed| {
        let table = sharded(bed, 4);
        let partition = table.partition("p");
        for i in 0..40 {
            partition.put(&format!("k{:02}", i * 7 % 40), n(i)).unwrap();
        }
        check_shards(&partition, 4);
        for i in (0..40).step_by(3) {
            partition.delete(&format!("k{i:02}")).unwrap();
            partition.delete(&format!("k{i:02}")).unwrap();
            partition.put(&format!("k{:02}", (i + 1) % 40), n(0)).unwrap();
        }
        check_shards(&partition, 4);
        bed.database
            .transact(|tx| {
                let partition = tx.entities(&table)?.partition("p");
                for i in 40..60 {
                    partition.put(&format!("k{i}"), n(i))?;
                }
                partition.delete("k59")
            })
            .unwrap();
        check_shards(&partition, 4);
        partition.drop_all().unwrap();
        let shards = check_shards(&partition, 4);
        assert!(shards.len() > 1, "an emptied partition keeps its shards, and takes items again");
        partition.put("new", n(1)).unwrap();
        check_shards(&partition, 4);
    });
}

#[test]
fn large_entities_are_counted_once() {
    on_every_driver(|bed| {
        let partition = sharded(bed, 2).partition("p");
        for i in 0..6 {
            let large = shelfmark_typed::Attributes::new()
                .with("a", vec![1_u8; 90_000])
                .with("b", vec![2_u8; 90_000]);
            partition.put(&format!("k{i}"), large).unwrap();
        }
        check_shards(&partition, 2);
    });
}

#[test]
fn writers_and_splits_side_by_side_keep_every_counter_exact() {
    on_every_driver(|bed| {
        let table = sharded(bed, 8);
        let partition = table.partition("p");
        std::thread::scope(|scope| {
            for writer in 0..4_u64 {
                let partition = partition.clone();
                scope.spawn(move || {
                    let mut random = shelfmark_store::random::SplitMix::new(writer);
                    for _ in 0..100 {
                        let key = format!("k{:03}", random.below(300));
                        if random.chance(300) {
                            partition.delete(&key).unwrap();
                        } else {
                            partition.put(&key, n(1)).unwrap();
                        }
                    }
                });
            }
        });
        assert!(check_shards(&partition, 8).len() > 4);
    });
}

#[test]
fn an_ordered_table_may_have_shards_too() {
    on_every_driver(|bed| {
        let settings = TableSettings { shard_items_max: Some(5), ..Default::default() };
        let table: shelfmark_typed::OrderedTable<(u8, u8), u8> =
            shelfmark_typed::OrderedTable::with(&bed.database, "t", &settings).unwrap();
        for a in 0..10 {
            for b in 0..3 {
                table.write(&(a, b), &0).unwrap();
            }
        }
        let engine_table =
            bed.engine.table(&shelfmark_model::TableName::new("default", "t")).unwrap();
        let shards = bed.engine.shards(&engine_table, &[shelfmark_model::Value::Int(0)]).unwrap();
        assert!(shards.len() >= 6);
        assert_eq!(shards.iter().map(|shard| shard.items).sum::<u64>(), 30);
        assert_eq!(table.to_stream().count().unwrap(), 30);
    });
}

#[test]
fn writes_of_other_faces_are_split_by_the_upkeep() {
    on_every_driver(|bed| {
        let table = sharded(bed, 3);
        let engine_table =
            bed.engine.table(&shelfmark_model::TableName::new("default", "sharded")).unwrap();
        for i in 0..20 {
            let item = shelfmark_model::Item::new().with("pk", "p").with("sk", format!("k{i:02}"));
            bed.engine.write(shelfmark_engine::Write::put(&engine_table, item)).unwrap();
        }
        let partition = table.partition("p");
        assert_eq!(partition.shards().unwrap().len(), 1);
        // What was planned before one call is committed by the next.
        assert_eq!(bed.engine.split_all_due().unwrap(), 0);
        assert!(bed.engine.split_all_due().unwrap() > 0);
        check_shards(&partition, 3);
    });
}

#[test]
fn swept_entities_leave_their_shards() {
    on_every_driver(|bed| {
        let partition = sharded(bed, 4).partition("p");
        for i in 0..30_u64 {
            let (key, ttl) = (format!("k{i:02}"), std::time::Duration::from_secs(1 + i % 3));
            if i % 5 == 0 {
                partition.put(&key, n(0)).unwrap();
            } else {
                partition.put_with_ttl(&key, n(0), ttl).unwrap();
            }
        }
        bed.seconds(10);
        let mut position = shelfmark_engine::SweepPosition::default();
        let mut left = 100;
        while bed.engine.sweep(&mut position, 7).unwrap() > 0 || left > 95 {
            left -= 1;
            // Some are put again while others go.
            partition.put(&format!("k{left}"), n(1)).unwrap();
        }
        bed.engine.store().commit(shelfmark_store::Commit::default()).unwrap();
        check_shards(&partition, 4);
        assert_eq!(partition.entities().count().unwrap(), 6 + (100 - left));
    });
}

#[test]
fn a_hook_hears_of_each_split_once_however_many_writers_there_are() {
    on_every_driver(|bed| {
        let table = sharded(bed, 3);
        let told: Arc<Mutex<BTreeMap<u64, u32>>> = Arc::default();
        let hears = Arc::clone(&told);
        let _hook = table.on_split(move |split| {
            // Long enough for other writers to want the same split.
            std::thread::yield_now();
            *hears.lock().unwrap().entry(split.halves.0).or_default() += 1;
            Ok(())
        });
        let partition = table.partition("p");
        std::thread::scope(|scope| {
            for writer in 0..10 {
                let partition = partition.clone();
                scope.spawn(move || {
                    for number in 0..6 {
                        partition.put(&format!("k{writer:02}{number}"), n(number)).unwrap();
                    }
                });
            }
        });
        let shards = check_shards(&partition, 3);
        let told = told.lock().unwrap();
        assert_eq!(told.len(), shards.len() - 1, "{told:?}");
        assert!(told.values().all(|times| *times == 1), "{told:?}");
    });
}

#[test]
fn a_shard_without_items_is_no_limit() {
    on_every_driver(|bed| {
        let settings = TableSettings { shard_items_max: Some(0), ..Default::default() };
        let refused = EntityTable::with(&bed.database, "none", &settings).map(drop).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Invalid);
        let mut schema = shelfmark_model::TableSchema::new(
            shelfmark_model::TableName::new(bed.database.name(), "none"),
            shelfmark_model::KeyColumn::new("pk", shelfmark_model::KeyType::Text),
        );
        schema.options.shard_items_max = Some(0);
        let refused = bed.engine.create_table(schema.clone()).map(drop).unwrap_err();
        assert_eq!(refused.kind(), shelfmark_engine::ErrorKind::Invalid);
        schema.options.shard_items_max = Some(1);
        let name = &bed.engine.create_table(schema).unwrap().schema.name.clone();
        let zero = |options: &mut shelfmark_model::TableOptions| options.shard_items_max = Some(0);
        let refused = bed.engine.alter_options(name, zero).map(drop).unwrap_err();
        assert_eq!(refused.kind(), shelfmark_engine::ErrorKind::Invalid);
    });
}
