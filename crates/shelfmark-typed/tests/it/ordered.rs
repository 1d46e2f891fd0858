//! Ordered tables: reads, ranges, conditional writes, types of keys.

use std::cmp::Reverse;
use std::net::IpAddr;
use std::ops::Bound;
use std::time::Duration;

use num_bigint::BigInt;
use shelfmark_keycode::Decimal;
use shelfmark_typed::{
    Blob, Date, ErrorKind, OrderedKey, OrderedTable, Result, TimeOfDay, Timestamp, TimestampMillis,
    TotalF32, TotalF64, Ulid, Uuid,
};

use crate::drivers::{Bed, on_every_driver};

fn table(bed: &Bed) -> OrderedTable<u32, i64> {
    OrderedTable::named(&bed.database, "t").unwrap()
}

#[test]
fn point_operations() {
    on_every_driver(|bed| {
        let table = table(bed);
        assert_eq!(table.try_read(&1).unwrap(), None);
        assert_eq!(table.read(&1).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(table.replace(&1, &10).unwrap(), None);
        assert_eq!(table.replace(&1, &11).unwrap(), Some(10));
        assert!(table.contains(&1).unwrap() && !table.contains(&2).unwrap());
        assert_eq!(table.get_many(&[2, 1, 1]).unwrap(), [None, Some(11), Some(11)]);
        assert_eq!(table.remove(1).unwrap(), Some(11));
        table.delete(&1).unwrap();
        assert_eq!(table.remove(1).unwrap(), None);
    });
}

#[test]
fn the_ends() {
    on_every_driver(|bed| {
        let table = table(bed);
        assert_eq!((table.min().unwrap(), table.max_key().unwrap()), (None, None));
        for key in [5, 1, u32::MAX, 300] {
            table.write(&key, &i64::from(key)).unwrap();
        }
        assert_eq!(table.min().unwrap(), Some((1, 1)));
        assert_eq!(table.max().unwrap(), Some((u32::MAX, i64::from(u32::MAX))));
        assert_eq!((table.min_key().unwrap(), table.max_key().unwrap()), (Some(1), Some(u32::MAX)));
    });
}

#[test]
fn ranges_forwards_and_backwards_in_pages_against_a_list() {
    on_every_driver(|bed| {
        let table = table(bed);
        let keys: Vec<u32> = (0..1200).map(|n| n * 2).collect();
        let entries: Vec<(u32, i64)> = keys.iter().map(|key| (*key, i64::from(*key))).collect();
        table.write_many(entries.iter().map(|(key, value)| (key, value))).unwrap();
        let bounds = [
            (Bound::Unbounded, Bound::Unbounded),
            (Bound::Included(10), Bound::Excluded(20)),
            (Bound::Excluded(10), Bound::Included(20)),
            (Bound::Excluded(9), Bound::Excluded(1999)),
            (Bound::Included(2398), Bound::Unbounded),
            (Bound::Included(2399), Bound::Unbounded),
            (Bound::Unbounded, Bound::Excluded(0)),
        ];
        for bounds in bounds {
            use std::ops::RangeBounds as _;
            let expected: Vec<u32> =
                keys.iter().copied().filter(|key| bounds.contains(key)).collect();
            let range = || table.range(bounds).unwrap();
            assert_eq!(range().keys().collect::<Result<Vec<_>>>().unwrap(), expected);
            assert_eq!(range().count().unwrap(), expected.len() as u64);
            let mut backwards = range().descending().keys().collect::<Result<Vec<_>>>().unwrap();
            backwards.reverse();
            assert_eq!(backwards, expected);
            let limited = range().limit(700).values().collect::<Result<Vec<_>>>().unwrap();
            let some: Vec<i64> = expected.iter().take(700).map(|key| i64::from(*key)).collect();
            assert_eq!(limited, some);
            assert_eq!(range().limit(700).count().unwrap(), some.len() as u64);
            let chunks = range().chunks(37).collect::<Result<Vec<_>>>().unwrap();
            assert!(chunks.iter().rev().skip(1).all(|chunk| chunk.len() == 37));
            assert_eq!(chunks.iter().map(Vec::len).sum::<usize>(), expected.len());
        }
    });
}

#[test]
fn pages_have_cursors_until_nothing_is_left() {
    on_every_driver(|bed| {
        let table = table(bed);
        for key in 0..6 {
            table.write(&key, &0).unwrap();
        }
        let first = table.to_stream().page(3).unwrap();
        assert_eq!(first.entries.len(), 3);
        table.delete(&2).unwrap();
        let rest = table.to_stream().after(first.cursor.unwrap()).page(3).unwrap();
        assert_eq!(rest.entries.iter().map(|(key, _)| *key).collect::<Vec<_>>(), [3, 4, 5]);
        assert_eq!(rest.cursor, None, "nothing is left, although the page is full");
        assert_eq!(table.to_stream().page(0).unwrap().entries, []);
    });
}

#[test]
fn conditional_writes() {
    on_every_driver(|bed| {
        let table = table(bed);
        assert!(table.write_if_absent(&1, &1).unwrap());
        assert!(!table.write_if_absent(&1, &2).unwrap());
        assert!(!table.write_if_equals(&1, &7, &8).unwrap());
        assert!(table.write_if_equals(&1, &1, &2).unwrap());
        assert!(!table.compare_and_set(&2, Some(&1), Some(&1)).unwrap());
        assert!(table.compare_and_set(&2, None, Some(&1)).unwrap());
        assert!(table.compare_and_set(&2, Some(&1), None).unwrap());
        assert_eq!(table.to_stream().to_vec().unwrap(), [(1, 2)]);
        let old = table.update(&1, |old| Ok(old.map(|n| n + 1))).unwrap();
        assert_eq!((old, table.read(&1).unwrap()), (Some(2), 3));
        table.update(&1, |_| Ok(None)).unwrap();
        assert!(table.is_empty().unwrap());
        let error = table.update(&1, |_| Err(shelfmark_typed::Error::invalid("no"))).unwrap_err();
        assert_eq!(error.to_string(), "no");
    });
}

#[test]
fn one_of_many_writers_wins_an_absent_key_and_no_update_is_lost() {
    on_every_driver(|bed| {
        let table = table(bed);
        let winners: u32 = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..8_i64)
                .map(|writer| {
                    let table = table.clone();
                    scope.spawn(move || {
                        for _ in 0..10 {
                            table.update(&2, |old| Ok(Some(old.unwrap_or(&0) + 1))).unwrap();
                        }
                        u32::from(table.write_if_absent(&1, &writer).unwrap())
                    })
                })
                .collect();
            writers.into_iter().map(|writer| writer.join().unwrap()).sum()
        });
        assert_eq!(winners, 1);
        assert_eq!(table.read(&2).unwrap(), 80);
    });
}

#[test]
fn entries_that_several_delete_at_once_are_counted_once() {
    on_every_driver(|bed| {
        let table = table(bed);
        let entries: Vec<(u32, i64)> = (0..600).map(|key| (key, 0)).collect();
        table.write_many(entries.iter().map(|(key, value)| (key, value))).unwrap();
        let start = std::sync::Barrier::new(3);
        let deleted: u64 = std::thread::scope(|scope| {
            let deleters: Vec<_> = (0..3)
                .map(|_| {
                    let (table, start) = (&table, &start);
                    scope.spawn(move || {
                        start.wait();
                        table.to_stream().delete().unwrap()
                    })
                })
                .collect();
            deleters.into_iter().map(|deleter| deleter.join().unwrap()).sum()
        });
        assert_eq!(deleted, 600);
    });
}

#[test]
fn entries_expire() {
    on_every_driver(|bed| {
        let table = table(bed);
        table.write_with_ttl(&1, &1, Duration::from_secs(3)).unwrap();
        assert_eq!(table.read(&1).unwrap(), 1);
        bed.seconds(3);
        assert_eq!(table.try_read(&1).unwrap(), None);
        assert!(table.write_if_absent(&1, &2).unwrap());
        bed.seconds(1_000);
        assert_eq!(table.read(&1).unwrap(), 2, "a plain write does not expire");
    });
}

/// Values of one type in order: the table gives them in that order.
fn in_order<K: OrderedKey + PartialEq + std::fmt::Debug>(bed: &Bed, name: &str, keys: Vec<K>) {
    let table: OrderedTable<K, u64> = OrderedTable::named(&bed.database, name).unwrap();
    for (place, key) in keys.iter().enumerate().rev() {
        table.write(key, &(place as u64)).unwrap();
    }
    let found = table.to_stream().to_vec().unwrap();
    let expected: Vec<(K, u64)> = keys.into_iter().zip(0..).collect();
    assert_eq!(found, expected, "{name}");
}

#[test]
fn every_type_of_key_keeps_its_order() {
    on_every_driver(|bed| {
        let text = |text: &str| text.to_owned();
        in_order(bed, "text", vec![text(""), text("a"), text("a\0"), text("aa"), text("é")]);
        in_order(bed, "blob", vec![Blob(vec![]), Blob(vec![0]), Blob(vec![0, 0]), Blob(vec![255])]);
        in_order(bed, "bool", vec![false, true]);
        in_order(bed, "i8", vec![i8::MIN, -1, 0, i8::MAX]);
        in_order(bed, "i64", vec![i64::MIN, -1, 0, i64::MAX]);
        in_order(bed, "i128", vec![i128::MIN, -1, 0, i128::MAX]);
        in_order(bed, "u64", vec![0, 1, u64::MAX / 2 + 1, u64::MAX]);
        in_order(bed, "u128", vec![0, 1, u128::MAX]);
        let big = |n: i32, shift: u32| BigInt::from(n) << shift;
        in_order(bed, "big", vec![big(-1, 300), big(-1, 0), big(0, 0), big(7, 0), big(1, 300)]);
        let decimal = |n: i32, scale: i32| Decimal::new(n.into(), scale).unwrap();
        in_order(
            bed,
            "decimal",
            vec![decimal(-15, 1), decimal(0, 0), decimal(1, 3), decimal(2, -9)],
        );
        let (nan, zero) = (TotalF64(f64::NAN), TotalF64(0.0));
        in_order(
            bed,
            "f64",
            vec![TotalF64(-f64::INFINITY), TotalF64(-0.0), zero, TotalF64(1.5), nan],
        );
        in_order(bed, "f32", vec![TotalF32(-1.5), TotalF32(-0.0), TotalF32(0.0), TotalF32(2.0)]);
        in_order::<Timestamp>(bed, "nanos", [i64::MIN, -1, 5, i64::MAX].map(Timestamp).to_vec());
        in_order::<TimestampMillis>(bed, "millis", [i64::MIN, -1, 5].map(Timestamp).to_vec());
        in_order(bed, "date", vec![Date(i32::MIN), Date(-1), Date(5)]);
        in_order(bed, "time", vec![TimeOfDay(0), TimeOfDay(86_399_999_999_999)]);
        in_order(bed, "uuid", vec![Uuid([0; 16]), Uuid([127; 16]), Uuid([255; 16])]);
        in_order(bed, "ulid", vec![Ulid::from_bytes([1; 16]), Ulid::from_bytes([200; 16])]);
        in_order(bed, "option", vec![None, Some(text("")), Some(text("a"))]);
        in_order(bed, "reverse", vec![Reverse(5_u8), Reverse(1), Reverse(0)]);
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        in_order(bed, "ip", vec![ip("1.2.3.4"), ip("2001:db8::1"), ip("200.0.0.1")]);
        let both = |a: &str, b: u16, c: bool| (text(a), Reverse(b), Some(c));
        in_order(bed, "tuple", vec![both("a", 9, false), both("a", 1, true), both("b", 3, false)]);
    });
}

#[test]
fn a_value_of_another_type_is_a_mismatch() {
    on_every_driver(|bed| {
        let text: OrderedTable<u32, String> = OrderedTable::named(&bed.database, "t").unwrap();
        text.write(&1, &"x".to_owned()).unwrap();
        assert_eq!(table(bed).read(&1).unwrap_err().kind(), ErrorKind::Mismatch);
        assert_eq!(table(bed).to_stream().to_vec().unwrap_err().kind(), ErrorKind::Mismatch);
        assert_eq!(table(bed).max_key().unwrap(), Some(1), "keys need no values");
    });
}

#[test]
fn a_key_or_value_that_is_too_large_is_refused() {
    on_every_driver(|bed| {
        let table: OrderedTable<String, Blob> = OrderedTable::named(&bed.database, "t").unwrap();
        let error = table.write(&"x".repeat(70_000), &Blob(vec![])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        let error = table.write(&"x".into(), &Blob(vec![1; 17 * 1024 * 1024])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        table.write(&"x".into(), &Blob(vec![1; 1024 * 1024])).unwrap();
        assert_eq!(table.read(&"x".into()).unwrap().0.len(), 1024 * 1024);
    });
}

#[test]
fn changes_are_typed_and_in_commit_order() {
    on_every_driver(|bed| {
        let settings = shelfmark_typed::TableSettings { change_log: true, ..Default::default() };
        let table: OrderedTable<u32, i64> =
            OrderedTable::with(&bed.database, "logged", &settings).unwrap();
        table.write(&1, &10).unwrap();
        table.write(&1, &11).unwrap();
        table.write_with_ttl(&2, &20, Duration::from_secs(5)).unwrap();
        table.delete(&1).unwrap();
        let all = table.changes(None, 100).unwrap();
        let seen: Vec<_> = all.iter().map(|c| (c.key, c.old, c.new, c.expired)).collect();
        let expected = [
            (1, None, Some(10), false),
            (1, Some(10), Some(11), false),
            (2, None, Some(20), false),
            (1, Some(11), None, false),
        ];
        assert_eq!(seen, expected);
        bed.seconds(5);
        bed.engine.sweep(&mut shelfmark_engine::SweepPosition::default(), 10).unwrap();
        bed.engine.store().commit(shelfmark_store::Commit::default()).unwrap();
        let rest = table.changes(Some(all[3].position), 100).unwrap();
        assert_eq!(rest.len(), 1);
        assert_eq!((rest[0].key, rest[0].old, rest[0].expired), (2, Some(20), true));
        let plain: OrderedTable<u32, i64> = OrderedTable::named(&bed.database, "plain").unwrap();
        assert_eq!(plain.changes(None, 1).unwrap_err().kind(), ErrorKind::Invalid);
    });
}

#[test]
fn fields_without_serde_are_kept_as_text() {
    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    struct Message {
        #[serde(with = "shelfmark_typed::as_text")]
        id: Ulid,
        body: String,
    }
    on_every_driver(|bed| {
        let table: OrderedTable<u8, Message> = OrderedTable::named(&bed.database, "m").unwrap();
        let message = Message { id: Ulid::from_bytes([9; 16]), body: "hello".to_owned() };
        table.write(&1, &message).unwrap();
        assert_eq!(table.read(&1).unwrap(), message);
    });
}
