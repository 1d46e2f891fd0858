//! Case 7: prefixes of tuple keys, one and two-sided, in every mix of directions.

use std::cmp::Reverse;
use std::ops::Bound;

use shelfmark_typed::{OrderedTable, Result};

use crate::drivers::on_every_driver;

fn keys(entries: Vec<((u32, String), u8)>) -> String {
    let keys: Vec<String> = entries.into_iter().map(|((n, s), _)| format!("{n}{s}")).collect();
    keys.join(" ")
}

#[test]
fn a_range_of_prefixes_takes_whole_groups() {
    on_every_driver(|bed| {
        let table: OrderedTable<(u32, String), u8> =
            OrderedTable::named(&bed.database, "t").unwrap();
        for (n, s) in [(1, "e"), (2, "a"), (2, "d"), (3, "c"), (4, "b")] {
            table.write(&(n, s.into()), &0).unwrap();
        }
        let range = |bounds: (Bound<u32>, Bound<u32>)| {
            keys(table.range_prefix(bounds).unwrap().to_vec().unwrap())
        };
        assert_eq!(range((Bound::Included(2), Bound::Included(4))), "2a 2d 3c 4b");
        assert_eq!(range((Bound::Included(2), Bound::Included(2))), "2a 2d");
        assert_eq!(range((Bound::Excluded(2), Bound::Excluded(4))), "3c");
        assert_eq!(range((Bound::Included(2), Bound::Excluded(2))), "");
        assert_eq!(keys(table.prefix((2,)).unwrap().to_vec().unwrap()), "2a 2d");
        assert_eq!(keys(table.from_prefix(3).unwrap().to_vec().unwrap()), "3c 4b");
        assert_eq!(keys(table.from((2, "b".into())).unwrap().to_vec().unwrap()), "2d 3c 4b");
    });
}

type Mixed = (u8, Reverse<u8>, u8);

/// Every range over every length of bound, against the sorted list.
#[test]
fn mixed_directions_range_like_the_sorted_list() {
    on_every_driver(|bed| {
        let table: OrderedTable<Mixed, u8> = OrderedTable::named(&bed.database, "t").unwrap();
        let mut sorted: Vec<Mixed> = Vec::new();
        for a in 0..3 {
            for b in 0..3 {
                for c in 0..3 {
                    if (a + b + c) % 4 != 1 {
                        sorted.push((a, Reverse(b), c));
                    }
                }
            }
        }
        sorted.sort_unstable();
        table.write_many(sorted.iter().map(|key| (key, &key.0))).unwrap();
        let all = table.to_stream().keys().collect::<Result<Vec<_>>>().unwrap();
        assert_eq!(all, sorted);
        let points: Vec<Mixed> = (0..27_u8).map(|n| (n / 9, Reverse(n / 3 % 3), n % 3)).collect();
        for lower in &points {
            for upper in &points {
                check(&table, &sorted, (Bound::Included(*lower), Bound::Excluded(*upper)));
                check(&table, &sorted, (Bound::Excluded(*lower), Bound::Included(*upper)));
            }
            check(&table, &sorted, (Bound::Excluded(*lower), Bound::Unbounded));
            check(&table, &sorted, (Bound::Unbounded, Bound::Included(*lower)));
        }
    });
}

fn check(table: &OrderedTable<Mixed, u8>, sorted: &[Mixed], bounds: (Bound<Mixed>, Bound<Mixed>)) {
    use std::ops::RangeBounds as _;
    let expected: Vec<Mixed> = sorted.iter().filter(|key| bounds.contains(*key)).copied().collect();
    let range = table.range(bounds);
    let inverted = matches!(
        bounds,
        (Bound::Included(a) | Bound::Excluded(a), Bound::Included(b) | Bound::Excluded(b)) if a > b
    );
    assert_eq!(range.is_err(), inverted, "{bounds:?}");
    let Ok(range) = range else { return };
    let found = range.keys().collect::<Result<Vec<_>>>().unwrap();
    assert_eq!(found, expected, "{bounds:?}");
    // The same range page by page, backwards.
    let mut backwards = Vec::new();
    let mut cursor = None;
    loop {
        let mut range = table.range(bounds).unwrap().descending();
        if let Some(cursor) = cursor.take() {
            range = range.after(cursor);
        }
        let page = range.page(2).unwrap();
        backwards.extend(page.entries.into_iter().map(|(key, _)| key));
        cursor = page.cursor;
        if cursor.is_none() {
            break;
        }
    }
    backwards.reverse();
    assert_eq!(backwards, expected, "{bounds:?}");
}

#[test]
fn prefixes_of_two_of_three_parts_in_mixed_directions() {
    on_every_driver(|bed| {
        let table: OrderedTable<Mixed, u8> = OrderedTable::named(&bed.database, "t").unwrap();
        let mut sorted = Vec::new();
        for n in 0..27_u8 {
            sorted.push((n / 9, Reverse(n / 3 % 3), n % 3));
        }
        sorted.sort_unstable();
        table.write_many(sorted.iter().map(|key| (key, &key.0))).unwrap();
        let pairs: Vec<(u8, Reverse<u8>)> = sorted.iter().map(|key| (key.0, key.1)).collect();
        for (from, lower) in pairs.iter().enumerate() {
            for upper in pairs.iter().skip(from) {
                let found = table
                    .range_prefix(*lower..=*upper)
                    .unwrap()
                    .keys()
                    .collect::<Result<Vec<_>>>()
                    .unwrap();
                let expected: Vec<Mixed> = sorted
                    .iter()
                    .filter(|key| (key.0, key.1) >= *lower && (key.0, key.1) <= *upper)
                    .copied()
                    .collect();
                assert_eq!(found, expected, "{lower:?} to {upper:?}");
            }
        }
    });
}
