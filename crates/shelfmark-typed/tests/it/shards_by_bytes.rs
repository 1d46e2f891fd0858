//! Partitions grow by bytes, and by themselves.
//!
//! Not a case of the product that entities come from: there a partition grows by its memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use shelfmark_engine::Write;
use shelfmark_model::{Item, KeyColumn, KeyType, SortColumn, TableName, TableOptions, TableSchema};
use shelfmark_typed::{
    Attributes, EntityShard, EntityTable, ErrorKind, OrderedTable, Partition,
    SHARD_BYTES_MAX_DEFAULT, TableSettings,
};

use crate::drivers::{Bed, memory, n, on_every_driver};

fn by_bytes(bed: &Bed, bytes_max: u64) -> EntityTable {
    let settings = TableSettings { shard_bytes_max: Some(bytes_max), ..TableSettings::default() };
    EntityTable::with(&bed.database, "sharded", &settings).unwrap()
}

fn of_bytes(bytes: usize) -> Attributes {
    // Not what a file would make small.
    let mut state = bytes as u64 + 1;
    let blob: Vec<u8> = (0..bytes)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .collect();
    Attributes::new().with("blob", blob)
}

/// Shards follow each other, count exactly what is in them, and are within the limit unless they hold
/// one entity alone.
fn check(bed: &Bed, partition: &Partition, bytes_max: u64) -> Vec<EntityShard> {
    let shards = partition.shards().unwrap();
    assert_eq!((&shards[0].lower, &shards.last().unwrap().upper), (&None, &None));
    for pair in shards.windows(2) {
        assert_eq!(pair[0].upper, pair[1].lower);
    }
    for shard in &shards {
        let bytes = shard.bytes.unwrap();
        assert!(bytes <= bytes_max || shard.count == 1, "{shard:?}");
        assert!(!shard.splitting, "{shard:?}");
    }
    let count: u64 = shards.iter().map(|shard| shard.count).sum();
    assert_eq!(count, partition.entities().count().unwrap());
    // Verifying counts the bytes of each shard anew.
    assert_eq!(bed.engine.verify().unwrap().findings, []);
    shards
}

#[test]
fn a_partition_of_large_entities_grows_without_being_asked() {
    // As measured on a build that split by items alone: 90 MB in 90 entities stayed one shard.
    let bed = memory();
    let table = EntityTable::named(&bed.database, "grows").unwrap();
    let partition = table.partition("p");
    for number in 0..90 {
        partition.put(&format!("k{number:02}"), of_bytes(1_000_000)).unwrap();
    }
    let shards = check(&bed, &partition, SHARD_BYTES_MAX_DEFAULT);
    assert!(shards.len() >= 3, "{shards:#?}");
    let splits = |work: &&shelfmark_engine::WorkStatus| work.work == shelfmark_engine::Work::Splits;
    let status = bed.engine.background();
    let done = status.works.iter().find(splits).map(|own| own.done);
    assert_eq!(done, Some(shards.len() as u64 - 1), "it is seen that they were done");
    let bytes: u64 = shards.iter().filter_map(|shard| shard.bytes).sum();
    assert!((90_000_000..91_000_000).contains(&bytes), "{bytes}");
    // Its neighbour: nothing is split that is small.
    let small = table.partition("small");
    for number in 0..90 {
        small.put(&format!("k{number:02}"), n(number)).unwrap();
    }
    assert_eq!(small.shards().unwrap().len(), 1);
}

#[test]
fn a_table_that_is_not_to_grow_does_not() {
    on_every_driver(|bed| {
        let settings = TableSettings { shard_bytes_max: None, ..TableSettings::default() };
        for _ in 0..2 {
            // Opened again by default it stays as it was made.
            for settings in [&settings, &TableSettings::default()] {
                let table = EntityTable::with(&bed.database, "stays", settings).unwrap();
                for number in 0..4 {
                    table.partition("p").put(&format!("k{number}"), of_bytes(3_000)).unwrap();
                }
                let shards = table.partition("p").shards().unwrap();
                assert_eq!((shards.len(), shards[0].bytes), (1, None));
            }
        }
    });
}

#[test]
fn a_cut_lies_at_half_of_the_bytes() {
    on_every_driver(|bed| {
        let table = by_bytes(bed, 10_000);
        let partition = table.partition("p");
        // Sixteen small ones, and then large ones: half of the items would cut between small ones.
        for number in 0..16 {
            partition.put(&format!("a{number:02}"), of_bytes(100)).unwrap();
        }
        for number in 0..4 {
            partition.put(&format!("b{number}"), of_bytes(2_000)).unwrap();
        }
        let shards = check(bed, &partition, 10_000);
        assert_eq!(shards.len(), 2, "{shards:#?}");
        assert_eq!(shards[1].lower.as_deref(), Some("b2"), "{shards:#?}");
    });
}

#[test]
fn one_huge_entity_is_no_shard_that_could_be_cut() {
    on_every_driver(|bed| {
        let table = by_bytes(bed, 4_000);
        let partition = table.partition("p");
        for bytes in [5_000, 70_000, 200_000, 30_000] {
            partition.put("huge", of_bytes(bytes)).unwrap();
            assert_eq!(check(bed, &partition, 4_000).len(), 1);
            assert_eq!(table.split_failures(), []);
        }
        // With its first neighbour it can be cut, on either side.
        partition.put("a", of_bytes(10)).unwrap();
        partition.put("z", of_bytes(10)).unwrap();
        let shards = check(bed, &partition, 4_000);
        assert_eq!(shards.iter().map(|shard| shard.count).collect::<Vec<_>>(), [1, 1, 1]);
        assert_eq!(partition.get("huge").unwrap().unwrap().attributes, of_bytes(30_000));
    });
}

#[test]
fn bytes_stay_exact_through_everything_that_writes() {
    on_every_driver(|bed| {
        let table = by_bytes(bed, 3_000);
        let partition = table.partition("p");
        for number in 0..40_usize {
            let key = format!("k{:02}", number * 7 % 40);
            partition.put(&key, of_bytes(100 + number * 10)).unwrap();
        }
        assert!(check(bed, &partition, 3_000).len() > 4);
        for number in (0..40).step_by(3) {
            partition.delete(&format!("k{number:02}")).unwrap();
            partition.delete(&format!("k{number:02}")).unwrap();
        }
        check(bed, &partition, 3_000);
        // Replaced by larger and smaller ones, and by ones of many chunks.
        for (number, bytes) in [(1, 10), (2, 2_500), (4, 150_000), (5, 1), (4, 5)] {
            partition.put(&format!("k{number:02}"), of_bytes(bytes)).unwrap();
            check(bed, &partition, 3_000);
        }
        let ttl = std::time::Duration::from_secs(1);
        for number in 40..60 {
            partition.put_with_ttl(&format!("k{number}"), of_bytes(500), ttl).unwrap();
        }
        bed.seconds(10);
        let mut position = shelfmark_engine::SweepPosition::default();
        while bed.engine.sweep(&mut position, 7).unwrap() > 0 {}
        bed.engine.store().commit(shelfmark_store::Commit::default()).unwrap();
        check(bed, &partition, 3_000);
        bed.database
            .transact(|tx| {
                let partition = tx.entities(&table)?.partition("p");
                for number in 60..80 {
                    partition.put(&format!("k{number}"), of_bytes(400))?;
                    partition.put(&format!("k{number}"), of_bytes(300))?;
                }
                partition.delete("k79")
            })
            .unwrap();
        check(bed, &partition, 3_000);
        partition.drop_all().unwrap();
        let shards = check(bed, &partition, 3_000);
        assert!(shards.iter().all(|shard| shard.bytes == Some(0)), "{shards:#?}");
    });
}

#[test]
fn an_entity_that_grows_in_place_splits_its_shard() {
    on_every_driver(|bed| {
        let partition = by_bytes(bed, 3_000).partition("p");
        for key in ["a", "b", "c"] {
            partition.put(key, of_bytes(10)).unwrap();
        }
        assert_eq!(check(bed, &partition, 3_000).len(), 1);
        partition.put("b", of_bytes(4_000)).unwrap();
        assert!(check(bed, &partition, 3_000).len() >= 2);
    });
}

#[test]
fn while_a_split_waits_everything_is_read_in_order_and_counted() {
    on_every_driver(|bed| {
        let table = by_bytes(bed, 2_000);
        let partition = table.partition("p");
        let is_ready = Arc::new(AtomicBool::new(false));
        let ready = Arc::clone(&is_ready);
        let _hook = table.on_split(move |_| match ready.load(Ordering::SeqCst) {
            true => Ok(()),
            false => Err("not now".into()),
        });
        let mut expected = Vec::new();
        for number in 0..16 {
            // On both sides of the cut, larger and smaller than before, and gone again.
            let key = format!("k{:02}", number * 5 % 16);
            partition.put(&key, of_bytes(200)).unwrap();
            partition.put(&key, of_bytes(150 + number)).unwrap();
            expected.push(key);
        }
        partition.delete("k03").unwrap();
        partition.delete("k12").unwrap();
        expected.retain(|key| key != "k03" && key != "k12");
        expected.sort();
        let keys =
            || -> Vec<String> { partition.entities().map(|entity| entity.unwrap().sk).collect() };
        let bytes = || -> u64 {
            partition.shards().unwrap().iter().map(|shard| shard.bytes.unwrap()).sum()
        };
        assert!(partition.shards().unwrap().iter().any(|shard| shard.splitting));
        assert_eq!(keys(), expected);
        assert_eq!(table.split_failures().len(), 1);
        assert_eq!(bed.engine.verify().unwrap().findings, []);
        let before = bytes();
        is_ready.store(true, Ordering::SeqCst);
        table.split_due().unwrap();
        assert_eq!((keys(), bytes()), (expected, before));
        assert_eq!(check(bed, &partition, 2_000).len(), 2);
    });
}

#[test]
fn writers_and_splits_by_bytes_side_by_side_lose_and_double_nothing() {
    on_every_driver(|bed| {
        let table = by_bytes(bed, 2_000);
        let partition = table.partition("p");
        std::thread::scope(|scope| {
            for writer in 0..4_u64 {
                let partition = partition.clone();
                scope.spawn(move || {
                    let mut random = shelfmark_store::random::SplitMix::new(writer);
                    for _ in 0..60 {
                        let key = format!("k{:03}", random.below(100));
                        if random.chance(300) {
                            partition.delete(&key).unwrap();
                        } else {
                            partition
                                .put(&key, of_bytes(usize::try_from(random.below(400)).unwrap()))
                                .unwrap();
                        }
                    }
                });
            }
        });
        assert!(check(bed, &partition, 2_000).len() > 4);
        assert_eq!(table.split_failures(), []);
    });
}

#[test]
fn a_shard_without_bytes_is_no_limit() {
    on_every_driver(|bed| {
        let settings = TableSettings { shard_bytes_max: Some(0), ..TableSettings::default() };
        let refused = EntityTable::with(&bed.database, "none", &settings).map(drop).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Invalid);
        assert!(refused.to_string().contains("shard_bytes_max"), "{refused}");
        let least = TableSettings { shard_bytes_max: Some(1), ..TableSettings::default() };
        EntityTable::with(&bed.database, "least", &least).unwrap();
    });
}

#[test]
fn an_ordered_table_grows_too() {
    on_every_driver(|bed| {
        let settings = TableSettings { shard_bytes_max: Some(2_000), ..TableSettings::default() };
        let table: OrderedTable<u32, String> =
            OrderedTable::with(&bed.database, "ordered", &settings).unwrap();
        for number in 0..40 {
            table.write(&number, &"x".repeat(200)).unwrap();
        }
        let raw = bed.engine.table(&TableName::new(bed.database.name(), "ordered")).unwrap();
        let shards = bed.engine.shards(&raw, &[shelfmark_model::Value::Int(0)]).unwrap();
        assert!(shards.len() > 3, "{shards:#?}");
        assert_eq!(table.to_stream().count().unwrap(), 40);
        assert_eq!(bed.engine.verify().unwrap().findings, []);
    });
}

/// As the typed layer of an earlier build made it: no bytes, and no word about them.
fn of_an_earlier_build(bed: &Bed) -> TableName {
    let name = TableName::new(bed.database.name(), "old");
    let mut schema = TableSchema::new(name.clone(), KeyColumn::new("pk", KeyType::Text));
    schema.sort = vec![SortColumn::new("sk", KeyType::Text, shelfmark_model::Direction::Ascending)];
    schema.placement = shelfmark_model::Placement::Ordered;
    schema.options = TableOptions {
        exact_counts: true,
        ttl: Some(shelfmark_model::TtlSource::PerItem),
        ..TableOptions::default()
    };
    schema.options.face.insert("typed".to_owned(), "entities".into());
    bed.engine.create_table(schema).unwrap();
    let table = bed.engine.table(&name).unwrap();
    for (partition, items) in [("p", 12), ("q", 2), ("r", 7)] {
        for number in 0..items {
            let item = Item::new()
                .with("pk", partition)
                .with("sk", format!("k{number:02}"))
                .with("text", "x".repeat(300));
            bed.engine.write(Write::put(&table, item)).unwrap();
        }
    }
    name
}

#[test]
fn a_table_of_an_earlier_build_is_counted_and_grows() {
    on_every_driver(|bed| {
        of_an_earlier_build(bed);
        let settings = TableSettings { shard_bytes_max: Some(1_500), ..TableSettings::default() };
        let table = EntityTable::with(&bed.database, "old", &settings).unwrap();
        let partition = table.partition("p");
        assert_eq!(partition.shards().unwrap()[0].bytes, None, "not counted yet");
        // Written between, before its turn and behind it.
        partition.put("k05", of_bytes(500)).unwrap();
        partition.delete("k01").unwrap();
        table.partition("s").put("k", of_bytes(100)).unwrap();
        for _ in 0..3 {
            table.split_due().unwrap();
        }
        for (pk, shards) in [("p", 3), ("q", 1), ("r", 2), ("s", 1)] {
            let found = check(bed, &table.partition(pk), 1_500);
            assert!(found.len() >= shards, "{pk}: {found:#?}");
        }
        assert_eq!(table.partition("p").count().unwrap(), 11);
        // Opened again nothing is counted twice.
        let table = EntityTable::named(&bed.database, "old").unwrap();
        table.split_due().unwrap();
        check(bed, &table.partition("p"), 1_500);
    });
}
