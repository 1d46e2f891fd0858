//! The facade: opening, closing, and what goes on in the background.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use shelfmark::{
    Attributes, Durability, EntityTable, ErrorKind, Options, OrderedTable, Shelfmark, TableSettings,
};

#[test]
fn what_was_written_is_there_after_opening_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    for round in 0..3_u64 {
        let shelfmark = Shelfmark::open(&path).unwrap();
        let table: OrderedTable<u64, String> =
            OrderedTable::named(&shelfmark.database("d").unwrap(), "t").unwrap();
        assert_eq!(table.count().unwrap(), round);
        table.write(&round, &"x".to_owned()).unwrap();
        if round == 1 {
            // Dropping closes as well.
            drop(shelfmark);
        } else {
            shelfmark.close().unwrap();
        }
        assert_eq!(table.write(&9, &"late".to_owned()).unwrap_err().kind(), ErrorKind::Closed);
    }
}

#[test]
fn a_second_opener_of_a_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let _first = Shelfmark::open(folder.path()).unwrap();
    let second = Shelfmark::open(folder.path()).map(|_| ()).unwrap_err();
    assert_eq!(second.kind(), ErrorKind::Unavailable, "{second}");
}

#[test]
fn expired_entries_are_swept_by_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        durability: Durability::Interval(Duration::from_millis(50)),
        upkeep_period: Duration::from_millis(20),
    };
    let shelfmark = Shelfmark::open_with(folder.path(), &options).unwrap();
    let database = shelfmark.database("d").unwrap();
    let settings = TableSettings { change_log: true, ..TableSettings::default() };
    let table: OrderedTable<u8, u8> = OrderedTable::with(&database, "t", &settings).unwrap();
    table.write_with_ttl(&1, &1, Duration::from_secs(1)).unwrap();
    // The sweep says so in the change log; a bound keeps a failure from hanging.
    let swept = (0..10_000).any(|_| {
        wait(Duration::from_millis(5));
        table.changes(None, 10).unwrap().last().is_some_and(|change| change.expired)
    });
    assert!(swept);
    assert_eq!(table.count().unwrap(), 0);
    shelfmark.close().unwrap();
}

#[test]
fn a_split_that_its_hook_refused_is_tried_again_in_the_background() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { upkeep_period: Duration::from_millis(20), ..Options::default() };
    let shelfmark = Shelfmark::open_with(folder.path(), &options).unwrap();
    let settings = TableSettings { shard_items_max: Some(2), ..TableSettings::default() };
    let table = EntityTable::with(&shelfmark.database("d").unwrap(), "t", &settings).unwrap();
    let ready = Arc::new(AtomicBool::new(false));
    let (told, heard) = mpsc::channel();
    let is_ready = Arc::clone(&ready);
    let _hook = table.on_split(move |split| {
        if is_ready.load(Ordering::SeqCst) {
            told.send(split.at.clone())?;
            return Ok(());
        }
        Err("not ready".into())
    });
    let partition = table.partition("p");
    for sk in ["a", "b", "c"] {
        partition.put(sk, Attributes::new()).unwrap();
    }
    assert_eq!(table.split_failures()[0].error, "not ready");
    ready.store(true, Ordering::SeqCst);
    assert_eq!(heard.recv_timeout(Duration::from_secs(60)).unwrap(), "b");
    let done = (0..10_000).any(|_| {
        wait(Duration::from_millis(5));
        table.split_failures().is_empty()
    });
    assert!(done);
    assert_eq!(partition.shards().unwrap().len(), 2);
    shelfmark.close().unwrap();
}

#[test]
fn ulids_ascend_and_databases_are_created_where_they_may_be() {
    let shelfmark = Shelfmark::memory().unwrap();
    let ulids: Vec<_> = (0..1000).map(|_| shelfmark.ulid().unwrap()).collect();
    assert!(ulids.windows(2).all(|pair| pair[0] < pair[1]));
    shelfmark.environment("other").unwrap().create_database("theirs").unwrap();
    let error = shelfmark.database("theirs").map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Restricted);
    assert_eq!(shelfmark.registry().environments().unwrap(), ["default", "other"]);
    shelfmark.close().unwrap();
}

/// Waits without putting the thread to sleep behind the clock's back.
fn wait(time: Duration) {
    let (_keep, never) = mpsc::channel::<()>();
    let _ = never.recv_timeout(time);
}

/// The space of a dropped table comes back by itself, without writes to other tables: a gigabyte
/// in the long mode, within two minutes.
#[test]
fn a_dropped_table_gives_its_space_back() {
    let is_long = std::env::var("SHELFMARK_LONG").is_ok_and(|value| value == "1");
    let megabytes: u32 = if is_long { 1024 } else { 24 };
    let folder = tempfile::tempdir().unwrap();
    // The rows, their log, and what is being merged; and what the store keeps free.
    let needed = u64::from(3 * megabytes + 256) << 20;
    let free = shelfmark_store::vfs::free_bytes(folder.path()).unwrap().unwrap_or(u64::MAX);
    assert!(
        free >= needed,
        "{} MiB are free below {}, and this test needs {}; set TMPDIR to a folder with more room",
        free >> 20,
        folder.path().display(),
        needed >> 20
    );
    let options = Options {
        durability: Durability::Interval(Duration::from_millis(50)),
        ..Options::default()
    };
    let shelfmark = Shelfmark::open_with(folder.path().join("data"), &options).unwrap();
    let database = shelfmark.database("d").unwrap();
    let kept: OrderedTable<u8, u8> = OrderedTable::named(&database, "kept").unwrap();
    kept.write(&1, &1).unwrap();
    let table: OrderedTable<u32, shelfmark::Blob> =
        OrderedTable::named(&database, "large").unwrap();
    // Values that do not compress, 32 of them a megabyte.
    let mut state = 7_u64;
    let mut value = || {
        let bytes = (0..4096).flat_map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_be_bytes()
        });
        shelfmark::Blob(bytes.collect())
    };
    for megabyte in 0..megabytes {
        let entries: Vec<_> = (0..32).map(|n| (megabyte * 32 + n, value())).collect();
        while let Err(error) = table.write_many(entries.iter().map(|(key, value)| (key, value))) {
            assert_eq!(error.kind(), ErrorKind::Busy, "{error}");
            wait(Duration::from_millis(5));
        }
    }
    let store = shelfmark.engine().store();
    store.maintain().unwrap();
    let bytes = || store.stats().tree_bytes_on_disk;
    let full = bytes();
    assert!(full > u64::from(megabytes) * 1_000_000, "{full} bytes only");
    let (began, mut left) =
        (std::time::Duration::from_nanos(shelfmark.now().0.unsigned_abs()), full);
    database.drop_table("large").unwrap();
    let took = || std::time::Duration::from_nanos(shelfmark.now().0.unsigned_abs()) - began;
    while left > full / 20 {
        assert!(took() < Duration::from_secs(120), "{left} of {full} bytes are left");
        wait(Duration::from_millis(50));
        left = bytes();
    }
    println!("{full} bytes came back in {:?}, but for {left}", took());
    assert_eq!(kept.read(&1).unwrap(), 1);
    shelfmark.close().unwrap();
}
