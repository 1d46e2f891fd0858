//! Ranges over keys in every mix of directions, against the sorted list: bounds of every length on
//! both sides, read both ways, as entries, keys, values, pages and counts, and gone on with behind
//! every key.

use std::cmp::Reverse;
use std::ops::Bound;

use shelfmark_typed::{Direction, KeyPrefix, OrderedKey, OrderedTable, Range, Result, Value};

use crate::drivers::{Bed, on_every_driver};

/// Leading parts of a key of any length, which the typed prefixes cannot have on two sides.
#[derive(Clone, Debug)]
struct Leading(Vec<Value>);

impl<K: OrderedKey> KeyPrefix<K> for Leading {
    fn to_prefix(&self) -> Vec<Value> {
        self.0.clone()
    }
}

/// A key of parts below [`PARTS`], as the plain numbers that were put in.
trait Plain: OrderedKey + Ord + Clone + std::fmt::Debug {
    fn of(numbers: [u8; 3]) -> Self;

    /// Leading parts, and the place of the key among all that begin otherwise: below, with or above.
    fn against(&self, leading: &[Value]) -> std::cmp::Ordering {
        let own = self.to_values();
        let first = Self::columns().into_iter().zip(own.iter().zip(leading)).find_map(
            |(column, (own, bound))| {
                let order = own.total_cmp(bound);
                let ascending = column.direction == Direction::Ascending;
                order.is_ne().then_some(if ascending { order } else { order.reverse() })
            },
        );
        first.unwrap_or(std::cmp::Ordering::Equal)
    }
}

macro_rules! plain {
    ($($key:ty: $a:expr, $b:expr, $c:expr;)*) => {
        $(impl Plain for $key {
            fn of([a, b, c]: [u8; 3]) -> Self {
                ($a(a), $b(b), $c(c))
            }
        })*
    };
}

fn up(n: u8) -> u8 {
    n
}

plain! {
    (u8, u8, u8): up, up, up;
    (Reverse<u8>, Reverse<u8>, Reverse<u8>): Reverse, Reverse, Reverse;
    (Reverse<u8>, u8, Reverse<u8>): Reverse, up, Reverse;
    (u8, u8, Reverse<u8>): up, up, Reverse;
    (Reverse<u8>, Reverse<u8>, u8): Reverse, Reverse, up;
}

/// Values of the first, second and third part.
const PARTS: [u8; 3] = [3, 2, 2];

/// All keys, and those that the table holds.
fn keys<K: Plain>() -> (Vec<K>, Vec<K>) {
    let mut all = Vec::new();
    let mut held = Vec::new();
    for a in 0..PARTS[0] {
        for b in 0..PARTS[1] {
            for c in 0..PARTS[2] {
                all.push(K::of([a, b, c]));
                if (a + 2 * b + c) % 5 != 1 {
                    held.push(K::of([a, b, c]));
                }
            }
        }
    }
    held.sort();
    (all, held)
}

fn filled<K: Plain>(bed: &Bed, name: &str, held: &[K]) -> OrderedTable<K, u32> {
    let table = OrderedTable::named(&bed.database, name).unwrap();
    let entries: Vec<(&K, u32)> = held.iter().zip(0..).collect();
    table.write_many(entries.iter().map(|(key, value)| (*key, value))).unwrap();
    table
}

type Bounds = (Bound<Leading>, Bound<Leading>);

/// Every pair of bounds of the lengths 1 to 3, in each mix of included and excluded.
fn bounds<K: Plain>(all: &[K]) -> Vec<Bounds> {
    let mut edges: Vec<Vec<Value>> = Vec::new();
    for key in all {
        for length in 1..=3 {
            let leading = key.to_values()[..length].to_vec();
            if !edges.contains(&leading) {
                edges.push(leading);
            }
        }
    }
    let mut sides = vec![Bound::Unbounded];
    for edge in edges {
        sides.push(Bound::Included(Leading(edge.clone())));
        sides.push(Bound::Excluded(Leading(edge)));
    }
    sides.iter().flat_map(|low| sides.iter().map(move |high| (low.clone(), high.clone()))).collect()
}

fn inside<K: Plain>(key: &K, (low, high): &Bounds) -> bool {
    let above = match low {
        Bound::Included(low) => key.against(&low.0).is_ge(),
        Bound::Excluded(low) => key.against(&low.0).is_gt(),
        Bound::Unbounded => true,
    };
    let below = match high {
        Bound::Included(high) => key.against(&high.0).is_le(),
        Bound::Excluded(high) => key.against(&high.0).is_lt(),
        Bound::Unbounded => true,
    };
    above && below
}

/// Whether the first bound comes after the second as far as both go.
fn inverted<K: Plain>(all: &[K], bounds: &Bounds) -> bool {
    let (
        Bound::Included(low) | Bound::Excluded(low),
        Bound::Included(high) | Bound::Excluded(high),
    ) = bounds
    else {
        return false;
    };
    // The bounds are leading parts of keys: any key of the second tells.
    let with = all.iter().find(|key| key.against(&high.0).is_eq()).unwrap();
    let shared = low.0.len().min(high.0.len());
    with.against(&low.0[..shared]).is_lt()
}

fn collected<T>(stream: impl Iterator<Item = Result<T>>) -> Vec<T> {
    stream.collect::<Result<_>>().unwrap()
}

fn every_range<K: Plain>(bed: &Bed, name: &str) {
    let (all, held) = keys::<K>();
    let table = filled(bed, name, &held);
    assert_eq!(collected(table.to_stream().keys()), held);
    for bounds in bounds(&all) {
        let Ok(range) = table.range_prefix(bounds.clone()) else {
            assert!(inverted(&all, &bounds), "{bounds:?} was refused");
            continue;
        };
        assert!(!inverted(&all, &bounds), "{bounds:?} was taken");
        let expected: Vec<K> = held.iter().filter(|key| inside(*key, &bounds)).cloned().collect();
        assert_eq!(collected(range.keys()), expected, "{bounds:?}");
        let again = || table.range_prefix(bounds.clone()).unwrap();
        let mut backwards = collected(again().descending().keys());
        backwards.reverse();
        assert_eq!(backwards, expected, "{bounds:?} backwards");
        assert_eq!(again().count().unwrap(), expected.len() as u64, "{bounds:?} counted");
    }
}

#[test]
fn every_range_is_the_stretch_of_the_sorted_list() {
    on_every_driver(|bed| {
        every_range::<(u8, u8, u8)>(bed, "up");
        every_range::<(Reverse<u8>, Reverse<u8>, Reverse<u8>)>(bed, "down");
        every_range::<(Reverse<u8>, u8, Reverse<u8>)>(bed, "down_up_down");
        every_range::<(u8, u8, Reverse<u8>)>(bed, "up_up_down");
        every_range::<(Reverse<u8>, Reverse<u8>, u8)>(bed, "down_down_up");
    });
}

/// Reads a range from behind each of its keys on: every way of reading answers the rest.
fn goes_on<K: Plain>(range: impl Fn() -> Range<K, u32>, expected: &[(K, u32)]) {
    for taken in 1..expected.len() {
        let rest = &expected[taken..];
        let page = range().page(taken).unwrap();
        assert_eq!(page.entries, &expected[..taken]);
        let cursor = page.cursor.unwrap();
        let after = || range().after(cursor.clone());
        assert_eq!(collected(after().iter()), rest, "entries behind {taken}");
        let keys: Vec<K> = rest.iter().map(|(key, _)| key.clone()).collect();
        assert_eq!(collected(after().keys()), keys, "keys behind {taken}");
        let values: Vec<u32> = rest.iter().map(|(_, value)| *value).collect();
        assert_eq!(collected(after().values()), values, "values behind {taken}");
        assert_eq!(collected(after().chunks(2)).concat(), rest, "chunks behind {taken}");
        assert_eq!(after().count().unwrap(), rest.len() as u64, "counted behind {taken}");
        let limited = collected(after().limit(3).iter());
        assert_eq!(limited, &rest[..rest.len().min(3)], "three behind {taken}");
        assert_eq!(after().limit(3).count().unwrap(), limited.len() as u64);
        assert_eq!(collected(after().snapshot().unwrap().iter()), rest, "a moment behind {taken}");
    }
}

fn every_position<K: Plain>(bed: &Bed, name: &str) {
    let (all, held) = keys::<K>();
    let table = filled(bed, name, &held);
    // From inside the first group to inside the last: all kinds of conditions, one behind the other.
    let mut sorted = all;
    sorted.sort();
    let (first, last) = (sorted[1].clone(), sorted[sorted.len() - 2].clone());
    let range = || table.range(first.clone()..=last.clone()).unwrap();
    let mut expected: Vec<(K, u32)> =
        held.into_iter().zip(0..).filter(|(key, _)| *key >= first && *key <= last).collect();
    assert_eq!(collected(range().iter()), expected);
    goes_on(range, &expected);
    expected.reverse();
    goes_on(|| range().descending(), &expected);
    // A position behind the end, and deletes from a position on.
    let middle = expected.len() / 2;
    let cursor = range().descending().page(middle).unwrap().cursor.unwrap();
    let deleted = range().descending().after(cursor).delete().unwrap();
    assert_eq!(deleted, (expected.len() - middle) as u64);
    expected.truncate(middle);
    expected.reverse();
    assert_eq!(collected(range().iter()), expected);
}

#[test]
fn every_position_of_a_range_is_gone_on_from() {
    on_every_driver(|bed| {
        every_position::<(u8, u8, u8)>(bed, "up");
        every_position::<(Reverse<u8>, Reverse<u8>, Reverse<u8>)>(bed, "down");
        every_position::<(Reverse<u8>, u8, Reverse<u8>)>(bed, "down_up_down");
        every_position::<(u8, u8, Reverse<u8>)>(bed, "up_up_down");
        every_position::<(Reverse<u8>, Reverse<u8>, u8)>(bed, "down_down_up");
    });
}

/// Streams whose pages end inside a condition go on in it, not in the next.
#[test]
fn long_ranges_of_mixed_directions_are_read_over_many_pages() {
    on_every_driver(|bed| {
        type Key = (u8, Reverse<u16>);
        let table: OrderedTable<Key, u32> = OrderedTable::named(&bed.database, "long").unwrap();
        let mut held: Vec<Key> =
            (0..3_u8).flat_map(|a| (0..700_u16).map(move |b| (a, Reverse(b)))).collect();
        held.sort_unstable();
        let value = |key: &Key| u32::from(key.0) * 1_000 + u32::from(key.1.0);
        let entries: Vec<(Key, u32)> = held.iter().map(|key| (*key, value(key))).collect();
        table.write_many(entries.iter().map(|(key, value)| (key, value))).unwrap();
        let bounds = (0, Reverse(650))..(2, Reverse(50));
        let expected: Vec<(Key, u32)> =
            entries.into_iter().filter(|(key, _)| bounds.contains(key)).collect();
        let range = || table.range(bounds.clone()).unwrap();
        assert_eq!(collected(range().iter()), expected);
        assert_eq!(range().count().unwrap(), expected.len() as u64);
        for taken in [1, 31, 32, 600, 650, 651, 652, 1_351, expected.len() - 1] {
            let page = range().page(taken).unwrap();
            let rest = collected(range().after(page.cursor.unwrap()).iter());
            assert_eq!(rest, &expected[taken..], "behind {taken}");
            let page = range().descending().page(taken).unwrap();
            let mut rest = collected(range().descending().after(page.cursor.unwrap()).iter());
            rest.reverse();
            assert_eq!(rest, &expected[..expected.len() - taken], "before {taken}");
        }
    });
}
