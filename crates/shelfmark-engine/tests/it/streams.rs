//! Change streams: what they hold, how shards follow each other, when they go away.

use std::collections::BTreeMap;

use shelfmark_engine::{
    Engine, ErrorKind, ItemChange, StreamKeeper, StreamRange, StreamShardState, Write,
};
use shelfmark_model::{ChangeImages, Item, Key, TableName, Value};
use shelfmark_store::clock::Clock as _;

use crate::drivers::{Bed, keys, on_every_driver, plain};

const HOUR: u64 = 3_600;

fn name() -> TableName {
    TableName::new("test", "t")
}

fn item(pk: &str, n: i64) -> Item {
    Item::new().with("pk", pk).with("sk", "x").with("n", Value::number(n))
}

fn shards(engine: &Engine, label: &str) -> Vec<StreamShardState> {
    engine.stream_shards(&name(), label, 0, 100).unwrap()
}

/// Reads a shard from its oldest change on, in pages of `limit`; tells whether it came to an end.
fn read(engine: &Engine, shard: &StreamShardState, limit: usize) -> (Vec<ItemChange>, bool) {
    let mut changes = Vec::new();
    let mut range = StreamRange::Oldest;
    loop {
        let page = engine.read_stream(shard, range, limit, usize::MAX).unwrap();
        assert!(page.changes.len() <= limit);
        let is_empty = page.changes.is_empty();
        changes.extend(page.changes);
        match page.next {
            None => return (changes, true),
            // The page of a mark alone is empty, too.
            Some(next) if is_empty && next == range => return (changes, false),
            Some(next) => range = next,
        }
    }
}

fn images(changes: &[ItemChange]) -> Vec<(Option<Item>, Option<Item>)> {
    changes.iter().map(|change| (change.old.clone(), change.new.clone())).collect()
}

fn put(bed: &Bed, item: Item) {
    let table = bed.engine.table(&name()).unwrap();
    bed.write(Write::put(&table, item)).unwrap();
}

#[test]
fn a_stream_holds_what_changed_while_it_was_on() {
    on_every_driver(|bed| {
        bed.create_table(plain("t")).unwrap();
        put(bed, item("before", 1));
        bed.patient(|engine| engine.start_stream(&name(), "first", ChangeImages::Both));
        put(bed, item("a", 1));
        put(bed, item("a", 1));
        put(bed, item("a", 2));
        let table = bed.engine.table(&name()).unwrap();
        bed.write(Write::delete(&table, Key::pair("a", "x"))).unwrap();
        bed.write(Write::delete(&table, Key::pair("absent", "x"))).unwrap();
        bed.patient(|engine| engine.stop_stream(&name()));
        put(bed, item("after", 1));
        let [shard] = &shards(&bed.engine, "first")[..] else { panic!("one shard") };
        for limit in [1, 2, 3, 100] {
            let (changes, is_over) = read(&bed.engine, shard, limit);
            assert!(is_over, "limit {limit}");
            let (one, two) = (Some(item("a", 1)), Some(item("a", 2)));
            let expected = [(None, one.clone()), (one, two.clone()), (two, None)];
            assert_eq!(images(&changes), expected);
            let last = shard.last.unwrap();
            assert!(changes.iter().all(|own| own.position > shard.first && own.position < last));
        }
        let error = bed.engine.stop_stream(&name()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let error = bed.engine.start_stream(&name(), "first", ChangeImages::Keys).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists, "labels are never used again");
    });
}

#[test]
fn images_are_kept_as_the_stream_says() {
    on_every_driver(|bed| {
        bed.create_table(plain("t")).unwrap();
        let key = || Some(Item::new().with("pk", "a").with("sk", "x"));
        let (one, two) = (Some(item("a", 1)), Some(item("a", 2)));
        for (images_kept, expected) in [
            (ChangeImages::Keys, (key(), key())),
            (ChangeImages::New, (key(), two.clone())),
            (ChangeImages::Old, (one.clone(), key())),
            (ChangeImages::Both, (one.clone(), two.clone())),
        ] {
            put(bed, item("a", 1));
            let label = images_kept.word();
            bed.patient(|engine| engine.start_stream(&name(), label, images_kept));
            put(bed, item("a", 2));
            bed.patient(|engine| engine.stop_stream(&name()));
            let [shard] = &shards(&bed.engine, label)[..] else { panic!("one shard") };
            assert_eq!(images(&read(&bed.engine, shard, 10).0), [expected], "{label}");
        }
        let streams = bed.engine.streams("test", Some("t"), None, 10).unwrap();
        let labels: Vec<&str> = streams.iter().map(|own| own.label.as_str()).collect();
        assert_eq!(labels, ["both", "keys", "new", "old"]);
        let rest = bed.engine.streams("test", None, Some(("t", "keys")), 1).unwrap();
        assert_eq!(rest[0].label, "new");
        assert!(bed.engine.streams("tes", None, None, 10).unwrap().is_empty());
    });
}

#[test]
fn shards_follow_each_other_and_keep_the_order_of_each_item() {
    on_every_driver(|bed| {
        bed.patient(|engine| engine.create_table_with_stream(plain("t"), "s", ChangeImages::Both));
        let mut written: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        let mut write = |round: i64| {
            for n in 0..12 {
                let pk = format!("p{n}");
                put(bed, item(&pk, round));
                written.entry(pk).or_default().push(round);
            }
        };
        write(1);
        assert!(bed.patient(|engine| engine.follow_shard(&name(), 1, true)));
        write(2);
        assert!(bed.patient(|engine| engine.follow_shard(&name(), 2, false)));
        assert!(bed.patient(|engine| engine.follow_shard(&name(), 3, true)));
        assert!(!bed.patient(|engine| engine.follow_shard(&name(), 3, true)), "it is closed");
        write(3);
        let all = shards(&bed.engine, "s");
        let family: Vec<_> = all
            .iter()
            .map(|own| (own.shard.number, own.shard.parent, own.last.is_some()))
            .collect();
        let expected = [
            (1, None, true),
            (2, Some(1), true),
            (3, Some(1), true),
            (4, Some(2), false),
            (5, Some(3), false),
            (6, Some(3), false),
        ];
        assert_eq!(family, expected);
        let mut read_back: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        for shard in &all {
            if let Some(parent) = shard.shard.parent {
                let parent = all.iter().find(|own| own.shard.number == parent).unwrap();
                assert!(parent.last.unwrap() < shard.first, "parents end before children begin");
            }
            let (changes, is_over) = read(&bed.engine, shard, 5);
            assert_eq!(is_over, shard.last.is_some());
            for change in changes {
                let new = change.new.unwrap();
                let n = (1..=3).find(|n| new.get("n") == Some(&Value::number(*n))).unwrap();
                let pk = new.get("pk").unwrap().as_text().unwrap().to_owned();
                read_back.entry(pk).or_default().push(n);
            }
        }
        assert_eq!(read_back, written, "each change once, in order for each item");
    });
}

#[test]
fn what_is_too_old_goes_away_with_its_space() {
    on_every_driver(|bed| {
        let before = keys(bed, &[]).len();
        bed.patient(|engine| engine.create_table_with_stream(plain("t"), "s", ChangeImages::Both));
        put(bed, item("a", 1));
        let mut keeper = StreamKeeper::default();
        let mut keep = || bed.patient(|engine| engine.keep_streams(&mut keeper));
        assert_eq!(keep(), 0, "young shards stay");
        let first = shards(&bed.engine, "s").remove(0);
        bed.seconds(4 * HOUR);
        assert_eq!(keep(), 1, "an old one is followed");
        bed.seconds(4 * HOUR);
        assert_eq!(keep(), 0, "one without changes stays, however old");
        put(bed, item("b", 1));
        bed.drop_table(&name()).unwrap();
        assert_eq!(shards(&bed.engine, "s").len(), 2);
        assert!(shards(&bed.engine, "s").iter().all(|own| own.last.is_some()));
        assert!(!bed.engine.stream(&name(), "s").unwrap().is_open);
        // The first shard's change is 24 hours old, the shard itself is not.
        bed.seconds(16 * HOUR + 1);
        assert_eq!(keep(), 0);
        let at = StreamRange::At(first.first);
        let error = bed.engine.read_stream(&first, at, 10, usize::MAX).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooOld);
        let oldest = bed.engine.read_stream(&first, StreamRange::Oldest, 10, usize::MAX).unwrap();
        assert!(oldest.changes.is_empty());
        bed.seconds(4 * HOUR);
        assert_eq!(keep(), 1);
        let left = shards(&bed.engine, "s");
        assert_eq!(left.iter().map(|own| own.shard.number).collect::<Vec<_>>(), [2]);
        assert_eq!(read(&bed.engine, &left[0], 10).0.len(), 1);
        bed.seconds(4 * HOUR + 1);
        assert_eq!(keep(), 1);
        let error = bed.engine.stream(&name(), "s").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_eq!(bed.purge().unwrap(), 0);
        // The counter of ids and the names of two namespaces stay.
        assert!(keys(bed, &[]).len() <= before + 8, "{:?}", keys(bed, &[]));
    });
}

#[test]
fn a_range_begins_at_a_moment() {
    on_every_driver(|bed| {
        let before = bed.clock.now_micros();
        bed.patient(|engine| engine.create_table_with_stream(plain("t"), "s", ChangeImages::Both));
        for n in 1..=4 {
            bed.seconds(HOUR);
            put(bed, item("a", n));
        }
        let shard = shards(&bed.engine, "s").remove(0);
        let (changes, _) = read(&bed.engine, &shard, 10);
        let since = |at_micros| {
            let range = bed.engine.stream_since(&shard, at_micros).unwrap();
            bed.engine.read_stream(&shard, range, 10, usize::MAX).unwrap().changes
        };
        for (place, change) in changes.iter().enumerate() {
            assert_eq!(since(change.at_micros), changes[place..]);
            assert_eq!(since(change.at_micros + 1), changes[place + 1..]);
        }
        assert_eq!(since(before), changes);
        // Three of them are a day old, and a moment before them stands for what is still read.
        bed.seconds(23 * HOUR + 1);
        assert_eq!(since(changes[0].at_micros), changes[3..]);
    });
}

#[test]
fn a_busy_shard_is_split() {
    on_every_driver(|bed| {
        bed.patient(|engine| engine.create_table_with_stream(plain("t"), "s", ChangeImages::Keys));
        let mut keeper = StreamKeeper::default();
        bed.engine.keep_streams(&mut keeper).unwrap();
        let table = bed.engine.table(&name()).unwrap();
        for n in 0..11_000 / 50 {
            let writes = (0..50).map(|own| Write::put(&table, item(&format!("{own}"), n)));
            bed.write_all(writes.collect()).unwrap();
        }
        bed.seconds(10);
        assert_eq!(bed.patient(|engine| engine.keep_streams(&mut keeper)), 1);
        assert_eq!(shards(&bed.engine, "s").len(), 3);
        bed.seconds(10);
        assert_eq!(bed.patient(|engine| engine.keep_streams(&mut keeper)), 0, "now it is quiet");
    });
}
