//! Order, ranges, and pages.

use shelfmark_store::{Direction, KeyRange, Row, ScanLimits, Snapshot};

use crate::lane::Lane;
use crate::terse::{bytes, put, read, write};

const BOTH: [Direction; 2] = [Direction::Ascending, Direction::Descending];

/// Returns keys that lie close together in every way that bytes can.
fn nasty_keys() -> Vec<Vec<u8>> {
    let mut keys: Vec<Vec<u8>> = vec![
        b"a".to_vec(),
        b"a\0".to_vec(),
        b"a\0\0".to_vec(),
        b"a\0\xff".to_vec(),
        b"a\x01".to_vec(),
        b"aa".to_vec(),
        b"ab".to_vec(),
        b"a\xff".to_vec(),
        b"a\xff\xff".to_vec(),
        b"b".to_vec(),
        b"B".to_vec(),
        b"\0".to_vec(),
        b"\0\0".to_vec(),
        b"\x7f".to_vec(),
        b"\x80".to_vec(),
        b"\xff".to_vec(),
        b"\xff\0".to_vec(),
        b"\xff\xff".to_vec(),
        vec![b'l'; 1000],
        vec![b'l'; 1001],
    ];
    keys.sort();
    keys
}

fn in_order(rows: &[Row], direction: Direction) -> Vec<Vec<u8>> {
    let mut keys: Vec<Vec<u8>> = rows.iter().map(|row| row.key.to_vec()).collect();
    if direction == Direction::Descending {
        keys.reverse();
    }
    keys
}

pub(super) fn rows_come_in_the_order_of_their_bytes(lane: &dyn Lane) {
    let store = lane.open();
    let keys = nasty_keys();
    // Neither up nor down, and in several commits.
    for start in [0, 2, 1] {
        let every_third = keys.iter().skip(start).step_by(3);
        write(&*store, every_third.map(|key| put(key, "v")).collect());
    }
    for store in [lane.reopen(store)] {
        let snapshot = store.snapshot().unwrap();
        for direction in BOTH {
            let rows = read(&*snapshot, &KeyRange::all(), direction, ScanLimits::default());
            assert_eq!(in_order(&rows, direction), keys);
        }
    }
}

pub(super) fn a_range_has_its_start_and_not_its_end(lane: &dyn Lane) {
    let store = lane.open();
    let keys = nasty_keys();
    write(&*store, keys.iter().map(|key| put(key, "v")).collect());
    let snapshot = store.snapshot().unwrap();
    let mut edges = keys.clone();
    edges.extend([Vec::new(), b"a\0\0\0".to_vec(), b"c".to_vec(), b"\xff\xff\xff".to_vec()]);
    let ends = edges.iter().cloned().map(Some).chain([None]);
    for end in ends {
        for start in &edges {
            let range = KeyRange { start: bytes(start), end: end.as_ref().map(bytes) };
            let expected: Vec<Vec<u8>> =
                keys.iter().filter(|key| range.contains(key)).cloned().collect();
            for direction in BOTH {
                let rows = read(&*snapshot, &range, direction, ScanLimits::default());
                assert_eq!(in_order(&rows, direction), expected, "{range:?}");
            }
        }
    }
}

/// Reads one page, past empty ones.
fn page(snapshot: &dyn Snapshot, direction: Direction, limits: ScanLimits) -> Vec<Row> {
    let mut range = KeyRange::all();
    loop {
        let page = snapshot.scan(&range, direction, limits).unwrap();
        match page.next {
            Some(next) if page.rows.is_empty() => range = next,
            _ => return page.rows,
        }
    }
}

pub(super) fn a_page_ends_where_its_limits_say(lane: &dyn Lane) {
    let store = lane.open();
    // 4 bytes of key and 6 of value.
    let writes = (0..100).map(|key| put(format!("k{key:03}"), format!("v{key:05}"))).collect();
    write(&*store, writes);
    let snapshot = store.snapshot().unwrap();
    let whole: Vec<Row> =
        read(&*snapshot, &KeyRange::all(), Direction::Ascending, ScanLimits::default());
    for direction in BOTH {
        for (rows_max, bytes_max, most) in
            [(1, 1000, 1), (7, 1000, 7), (100, 10, 1), (100, 11, 2), (100, 35, 4), (100, 1, 1)]
        {
            let limits = ScanLimits { rows_max, bytes_max, keys_only: false };
            let first = page(&*snapshot, direction, limits);
            assert!((1..=most).contains(&first.len()), "{limits:?}: {} rows", first.len());
            let mut rows = read(&*snapshot, &KeyRange::all(), direction, limits);
            if direction == Direction::Descending {
                rows.reverse();
            }
            assert_eq!(rows, whole);
        }
    }
}

pub(super) fn keys_only_leaves_the_values_out(lane: &dyn Lane) {
    let store = lane.open();
    let writes = (0..50).map(|key| put(format!("k{key:03}"), vec![b'v'; 1000])).collect();
    write(&*store, writes);
    let snapshot = store.snapshot().unwrap();
    for direction in BOTH {
        // Values do not count when nobody asked for them.
        let limits = ScanLimits { rows_max: 50, bytes_max: 4 * 50, keys_only: true };
        let rows = read(&*snapshot, &KeyRange::all(), direction, limits);
        assert_eq!(rows.len(), 50);
        assert!(rows.iter().all(|row| row.value.is_empty() && row.key.len() == 4));
    }
}

pub(super) fn a_prefix_is_a_range(lane: &dyn Lane) {
    let store = lane.open();
    let keys = nasty_keys();
    write(&*store, keys.iter().map(|key| put(key, "v")).collect());
    let snapshot = store.snapshot().unwrap();
    let prefixes: [&[u8]; 9] =
        [b"", b"a", b"a\0", b"a\xff", b"a\xff\xff", b"\xff", b"\xff\xff", b"l", b"none"];
    for prefix in prefixes {
        let expected: Vec<Vec<u8>> =
            keys.iter().filter(|key| key.starts_with(prefix)).cloned().collect();
        for direction in BOTH {
            let range = KeyRange::prefix(bytes(prefix));
            let rows = read(&*snapshot, &range, direction, ScanLimits::default());
            assert_eq!(in_order(&rows, direction), expected, "{prefix:?}");
        }
    }
}

pub(super) fn a_scan_goes_on_after_any_row(lane: &dyn Lane) {
    let store = lane.open();
    let keys = nasty_keys();
    write(&*store, keys.iter().map(|key| put(key, "v")).collect());
    let snapshot = store.snapshot().unwrap();
    for direction in BOTH {
        let mut expected = keys.clone();
        if direction == Direction::Descending {
            expected.reverse();
        }
        for (at, key) in expected.iter().enumerate() {
            let rest = KeyRange::all().after(key, direction);
            let rows = read(&*snapshot, &rest, direction, ScanLimits::default());
            let left: Vec<Vec<u8>> = rows.iter().map(|row| row.key.to_vec()).collect();
            assert_eq!(left, expected[at + 1..]);
        }
    }
}

pub(super) fn many_keys_are_answered_in_their_order(lane: &dyn Lane) {
    let store = lane.open();
    write(&*store, vec![put("a", "1"), put("b", "2"), put("c", "3")]);
    let snapshot = store.snapshot().unwrap();
    let keys = ["c", "x", "a", "c", "b"].map(bytes);
    let expected = [Some("3"), None, Some("1"), Some("3"), Some("2")].map(|value| value.map(bytes));
    assert_eq!(snapshot.get_many(&keys).unwrap(), expected);
    assert_eq!(snapshot.get_many(&[]).unwrap(), Vec::<Option<_>>::new());
}
