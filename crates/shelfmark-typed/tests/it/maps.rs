//! The verbs of maps, by keys that are not owned.

use shelfmark_typed::{Blob, ErrorKind, OrderedTable, Timestamp, TimestampMillis};

use crate::drivers::on_every_driver;

#[test]
fn verbs_do_what_a_map_does() {
    on_every_driver(|bed| {
        let table: OrderedTable<(String, u64), u32> =
            OrderedTable::named(&bed.database, "t").unwrap();
        assert_eq!(table.insert(("ann", 1), &10).unwrap(), None);
        assert_eq!(table.insert(("ann", 1), &11).unwrap(), Some(10));
        let owned = ("bob".to_owned(), 2);
        assert_eq!(table.insert(&owned, &20).unwrap(), None);
        assert_eq!(
            (table.get(("bob", 2)).unwrap(), table.get(("bob", 3)).unwrap()),
            (Some(20), None)
        );
        assert!(table.contains_key(&owned).unwrap());
        assert!(!table.contains_key(("ann", 2)).unwrap());
        assert_eq!(table.iter().to_vec().unwrap(), [(("ann".into(), 1), 11), (owned.clone(), 20)]);
        assert_eq!(table.first().unwrap().map(|entry| entry.1), Some(11));
        assert_eq!(table.last().unwrap().map(|entry| entry.1), Some(20));
        assert_eq!(table.remove(("ann", 2)).unwrap(), None);
        assert_eq!(table.remove(("ann", 1)).unwrap(), Some(11));
        assert_eq!(table.pop_last().unwrap(), Some((owned, 20)));
        assert_eq!((table.pop_first().unwrap(), table.pop_last().unwrap()), (None, None));
        let bytes: OrderedTable<Blob, u8> = OrderedTable::named(&bed.database, "b").unwrap();
        bytes.insert(&[0_u8, 255][..], &1).unwrap();
        assert_eq!(bytes.get(Blob(vec![0, 255])).unwrap(), Some(1));
    });
}

#[test]
fn ranges_take_borrowed_parts() {
    on_every_driver(|bed| {
        let table: OrderedTable<(String, u64, u8), u8> =
            OrderedTable::named(&bed.database, "t").unwrap();
        for (name, n) in [("ann", 1), ("ann", 2), ("bob", 1)] {
            table.insert((name, n, 0), &0).unwrap();
        }
        let count = |range: shelfmark_typed::Result<shelfmark_typed::Range<_, _>>| {
            range.and_then(shelfmark_typed::Range::count).unwrap()
        };
        assert_eq!(count(table.prefix(("ann", 2))), 1);
        assert_eq!(count(table.range_prefix(("ann", 2)..=("bob", 1))), 2);
        assert_eq!(count(table.prefix(("ann",))), 2);
    });
}

#[test]
fn several_consumers_pop_each_entry_once() {
    on_every_driver(|bed| {
        let queue: OrderedTable<u32, u32> = OrderedTable::named(&bed.database, "q").unwrap();
        for n in 0..40 {
            queue.insert(n, &n).unwrap();
        }
        let popped = std::sync::Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while let Some((key, _)) = queue.pop_first().unwrap() {
                        popped.lock().unwrap().push(key);
                    }
                });
            }
        });
        let mut popped = popped.into_inner().unwrap();
        popped.sort_unstable();
        assert_eq!(popped, (0..40).collect::<Vec<_>>());
    });
}

#[test]
fn a_timestamp_is_read_with_its_own_precision() {
    on_every_driver(|bed| {
        let nanos: OrderedTable<(String, Timestamp), u8> =
            OrderedTable::named(&bed.database, "t").unwrap();
        // Within one millisecond, as two posts of one author may be.
        nanos.insert(("ann", Timestamp(1_700_000_000_000_000_001)), &1).unwrap();
        nanos.insert(("ann", Timestamp(1_700_000_000_000_000_002)), &2).unwrap();
        assert_eq!(nanos.count().unwrap(), 2);
        let other = OrderedTable::<(String, TimestampMillis), u8>::named(&bed.database, "t");
        assert_eq!(other.err().map(|error| error.kind()), Some(ErrorKind::Mismatch));
    });
}
