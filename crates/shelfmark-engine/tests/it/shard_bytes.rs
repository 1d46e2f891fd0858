//! Shards by bytes, below the typed layer: what a write costs, stops between any two commits, bytes
//! that change without a write of the item, and counters that are wrong.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use shelfmark_engine::{Engine, ErrorKind, Table, Write};
use shelfmark_model::{Item, Key, TableOptions, TableSchema, TtlSource, Value};
use shelfmark_store::Write as StoreWrite;
use shelfmark_store::clock::ManualClock;
use shelfmark_store::{Commit, Error as StoreError, ErrorKind as StoreErrorKind, Store};

use crate::drivers::{Bed, START_SECONDS, memory, on_every_driver, open, patiently, plain};
use crate::verify::{rows, verified};
use crate::watched::{Counts, Watched};

const SHARDS: u8 = 9;

fn schema(name: &str, change: impl FnOnce(&mut TableOptions)) -> TableSchema {
    let mut schema = plain(name);
    change(&mut schema.options);
    schema
}

fn by_bytes(name: &str, bytes_max: u64) -> TableSchema {
    schema(name, |options| options.shard_bytes_max = Some(bytes_max))
}

fn item(sk: usize, bytes: usize) -> Item {
    Item::new().with("pk", "p").with("sk", format!("{sk:03}")).with("text", "x".repeat(bytes))
}

fn watched() -> (Arc<Watched>, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::at_micros(START_SECONDS * 1_000_000));
    (Watched::new(&clock), clock)
}

/// What one write asks of the store.
fn cost(store: &Watched, engine: &Engine, write: Write) -> Counts {
    store.take();
    engine.write(write).unwrap();
    store.take()
}

#[test]
fn a_put_asks_no_more_for_shards_than_for_counts_before_there_is_one() {
    let (store, clock) = watched();
    let engine = open(Arc::clone(&store) as Arc<dyn Store>, &clock);
    let counted = engine.create_table(schema("counted", |own| own.exact_counts = true)).unwrap();
    let sharded = engine.create_table(by_bytes("sharded", 500)).unwrap();
    let put = |table: &Arc<Table>, sk, bytes| {
        let cost = cost(&store, &engine, Write::put(table, item(sk, bytes)));
        (cost.gets, cost.scans, cost.commits, cost.waits)
    };
    // The first write of a process looks once whether anything was split.
    put(&sharded, 0, 10);
    for (sk, bytes) in [(1, 10), (1, 10), (1, 60), (2, 10)] {
        assert_eq!(put(&counted, sk, bytes), put(&sharded, sk, bytes), "{sk}: {bytes}");
    }
    for sk in 3..9 {
        engine.write(Write::put(&sharded, item(sk, 100))).unwrap();
    }
    while engine.split_all_due().unwrap() == 0 {}
    // From then on a write has to know where it counts, but for one that changes no count.
    let (gets, ..) = put(&counted, 1, 60);
    assert_eq!((put(&sharded, 1, 60).0, put(&sharded, 1, 70).0), (gets, gets + 1));
    assert_eq!(engine.verify().unwrap().findings, []);
    // Another process finds that out.
    let again = open(Arc::clone(&store) as Arc<dyn Store>, &clock);
    let table = again.table(&sharded.schema.name).unwrap();
    again.write(Write::put(&table, item(1, 90))).unwrap();
    assert_eq!(again.verify().unwrap().findings, []);
}

#[test]
fn a_shard_of_one_huge_item_is_looked_at_once() {
    let (store, clock) = watched();
    let engine = open(Arc::clone(&store) as Arc<dyn Store>, &clock);
    let table = engine.create_table(by_bytes("t", 100)).unwrap();
    let put = |sk, bytes| {
        let written = engine.write(Write::put(&table, item(sk, bytes))).unwrap();
        store.take();
        let splits = engine.split_after(&table, &["p".into()], written.grown_shard).unwrap();
        (splits, store.take())
    };
    assert_eq!(put(1, 1_000).0, 0);
    for bytes in [2_000, 3_000] {
        assert_eq!(put(1, bytes), (0, Counts::default()), "it is known that it cannot be cut");
    }
    assert_eq!(put(2, 10).0, 1, "a second one is looked at");
    assert_eq!(engine.shards(&table, &["p".into()]).unwrap().len(), 2);
}

/// Fails the commit number `at` from now on that concerns shards, and says so.
fn fail_at(store: &Arc<Watched>, at: usize, met: &Arc<AtomicUsize>) {
    let (again, counted) = (Arc::clone(store), Arc::clone(met));
    store.before_commit_to(SHARDS, move || {
        let number = counted.fetch_add(1, Ordering::SeqCst);
        if number == at {
            return Err(StoreError::new(StoreErrorKind::Io, "the process ends here"));
        }
        fail_at(&again, at, &counted);
        Ok(())
    });
}

/// A life of a process: puts, replaces, deletes, and splits after each. An error ends it.
fn live(engine: &Engine) -> shelfmark_engine::Result<()> {
    let table = engine.table(&plain("t").name)?;
    for number in 0..24_usize {
        let sk = number * 7 % 24;
        engine.write(Write::put(&table, item(sk, 40 + number * 11)))?;
        if number % 5 == 4 {
            engine.write(Write::put(&table, item(sk, 400)))?;
            engine.write(Write::delete(&table, Key::pair("p", format!("{:03}", sk / 2))))?;
        }
        engine.split_all_due()?;
    }
    engine.split_all_due().map(drop)
}

fn check_sound(engine: &Engine, bytes_max: u64) -> usize {
    assert_eq!(engine.verify().unwrap().findings, []);
    let table = engine.table(&plain("t").name).unwrap();
    let shards = engine.shards(&table, &["p".into()]).unwrap();
    for shard in &shards {
        assert!(!shard.splitting && (shard.bytes.unwrap() <= bytes_max || shard.items == 1));
    }
    shards.len()
}

#[test]
fn a_stop_before_any_commit_loses_no_byte() {
    let mut stops = 0;
    for at in 0.. {
        let (store, clock) = watched();
        let engine = open(Arc::clone(&store) as Arc<dyn Store>, &clock);
        engine.create_table(by_bytes("t", 700)).unwrap();
        let met = Arc::default();
        fail_at(&store, at, &met);
        if live(&engine).is_ok() {
            assert!(check_sound(&engine, 700) > 3);
            break;
        }
        drop(engine);
        // The next process finds everything sound, goes on, and ends what was begun.
        let engine = open(Arc::clone(&store) as Arc<dyn Store>, &clock);
        assert_eq!(engine.verify().unwrap().findings, [], "after {at} commits");
        live(&engine).unwrap();
        engine.split_all_due().unwrap();
        assert!(check_sound(&engine, 700) > 3);
        stops += 1;
    }
    assert!(stops > 40, "{stops}");
}

#[test]
fn a_table_with_items_begins_to_count_bytes_and_a_stop_does_no_harm() {
    for at in 0..12 {
        let (store, clock) = watched();
        let engine = open(Arc::clone(&store) as Arc<dyn Store>, &clock);
        // Not even its items were counted.
        let table = engine.create_table(plain("t")).unwrap();
        for number in 0..30 {
            let item = item(number, 100).with("pk", format!("p{}", number % 3));
            engine.write(Write::put(&table, item)).unwrap();
        }
        let change = |options: &mut TableOptions| options.shard_bytes_max = Some(700);
        let table = engine.alter_options(&table.schema.name, change).unwrap();
        assert_eq!(engine.shards(&table, &["p0".into()]).unwrap()[0].bytes, None);
        // Written while some partitions were counted and others not.
        fail_at(&store, at, &Arc::default());
        let interrupted = engine.split_all_due();
        engine.write(Write::put(&table, item(0, 90).with("pk", "p0"))).unwrap_or_default();
        drop(engine);
        let engine = open(Arc::clone(&store) as Arc<dyn Store>, &clock);
        let table = engine.table(&table.schema.name).unwrap();
        // What had been counted and not split is split after the next write.
        for partition in ["p0", "p1", "p2"] {
            let again = item(9, 120).with("pk", partition);
            engine.write(Write::put(&table, again)).unwrap_or_default();
        }
        for _ in 0..3 {
            engine.split_all_due().unwrap_or_default();
        }
        assert_eq!(engine.verify().unwrap().findings, [], "stopped at {at}: {interrupted:?}");
        let table = engine.table(&table.schema.name).unwrap();
        assert_eq!(table.schema.options.shard_pass, None);
        for partition in ["p0", "p1", "p2"] {
            let shards = engine.shards(&table, &[partition.into()]).unwrap();
            assert!(shards.len() > 1 && shards.iter().all(|own| own.bytes.unwrap() <= 700));
        }
        assert!((30..=33).contains(&engine.count(&table).unwrap()));
        assert_eq!(rows_of_pass(&store), 0, "how far it came is forgotten");
    }
}

/// How many keys say how far a pass came.
fn rows_of_pass(store: &Arc<Watched>) -> usize {
    store.keys(SHARDS).iter().filter(|key| key[2] == 3).count()
}

#[test]
fn counting_is_turned_off_and_on_again() {
    on_every_driver(|bed| {
        let table = bed.create_table(by_bytes("t", 10_000)).unwrap();
        let set = |bytes_max| {
            let name = &table.schema.name;
            patiently(|| {
                bed.engine.alter_options(name, |options| options.shard_bytes_max = bytes_max)
            })
            .unwrap()
        };
        bed.put(&table, item(1, 100));
        let table = set(None);
        bed.put(&table, item(2, 100));
        bed.put(&table, item(1, 300));
        bed.write(Write::delete(&table, Key::pair("p", "002"))).unwrap();
        let table = set(Some(500));
        for number in 3..9 {
            bed.put(&table, item(number, 150));
        }
        for _ in 0..3 {
            patiently(|| bed.engine.split_all_due()).unwrap();
        }
        assert_eq!(verified(bed).findings, []);
        let table = bed.engine.table(&table.schema.name).unwrap();
        let shards = patiently(|| bed.engine.shards(&table, &["p".into()])).unwrap();
        assert!(shards.len() > 2, "{shards:?}");
    });
}

#[test]
fn due_times_that_are_given_later_count_too() {
    on_every_driver(|bed| {
        let table = bed.create_table(by_bytes("t", 400)).unwrap();
        for number in 0..12 {
            let until = Value::number(START_SECONDS as i64 + 1_000);
            bed.put(&table, item(number, 50).with("until", until));
        }
        for _ in 0..3 {
            patiently(|| bed.engine.split_all_due()).unwrap();
        }
        assert_eq!(verified(bed).findings, []);
        let ttl = || Some(TtlSource::Attribute("until".to_owned()));
        patiently(|| bed.engine.alter_options(&table.schema.name, |own| own.ttl = ttl())).unwrap();
        assert_eq!(verified(bed).findings, []);
    });
}

/// Changes a counter of a store behind the engine's back, and returns why it is found wrong.
fn findings(change: impl Fn(&Bed) -> StoreWrite) -> Vec<String> {
    let bed = memory();
    let table = bed.create_table(by_bytes("t", 500)).unwrap();
    for number in 0..12 {
        bed.put(&table, item(number, 100));
    }
    for _ in 0..3 {
        bed.engine.split_all_due().unwrap();
    }
    assert_eq!(verified(&bed).findings, []);
    bed.engine.store().commit(Commit::of(vec![change(&bed)])).unwrap();
    let found = verified(&bed).findings.iter().map(ToString::to_string).collect();
    bed.engine.renew_after_loss(None, &mut |_| {}).unwrap();
    assert_eq!(verified(&bed).findings, [], "made anew");
    found
}

#[test]
fn counters_of_bytes_that_are_wrong_are_found_and_made_anew() {
    let counter = |bed: &Bed| rows(bed, SHARDS).into_iter().rfind(|row| row.key[2] == 2).unwrap();
    let found = findings(|bed| StoreWrite::Add { key: counter(bed).key, delta: 7 });
    assert!(found.len() == 1 && found[0].contains("bytes, its count says"), "{found:?}");
    let found = findings(|bed| StoreWrite::Delete { key: counter(bed).key });
    assert!(found.len() == 1 && found[0].contains("bytes, its count says 0"), "{found:?}");
    let found = findings(|bed| {
        // A partition that is not there.
        let mut key = counter(bed).key.to_vec();
        let at = key.windows(2).position(|pair| pair == b"p\0").unwrap();
        key[at] = b'q';
        StoreWrite::Put { key: key.into(), value: StoreWrite::counter_value(9) }
    });
    assert!(found.len() == 1 && found[0].contains("no rows, its shard has 9 bytes"), "{found:?}");
}

#[test]
fn no_shard_has_less_than_a_byte() {
    let bed = memory();
    let refused = bed.create_table(by_bytes("none", 0)).map(drop).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
    assert!(refused.to_string().contains("`shard_bytes_max` is 0"), "{refused}");
    let table = bed.create_table(plain("t")).unwrap();
    let zero = |options: &mut TableOptions| options.shard_bytes_max = Some(0);
    let refused = bed.engine.alter_options(&table.schema.name, zero).map(drop).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
}
