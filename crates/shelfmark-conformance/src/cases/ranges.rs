//! Whole ranges: destroying them, and cutting them for parallel work.

use bytes::Bytes;
use shelfmark_store::{KeyRange, Store};

use crate::lane::Lane;
use crate::terse::{bytes, get, put, rows, write};

fn fill(store: &dyn Store, prefixes: &[&str], keys: usize) {
    for prefix in prefixes {
        for part in (0..keys).step_by(500) {
            let writes = (part..keys.min(part + 500))
                .map(|key| put(format!("{prefix}{key:05}"), "v".repeat(50)))
                .collect();
            write(store, writes);
        }
    }
}

fn count(store: &dyn Store, range: &KeyRange) -> usize {
    rows(&*store.snapshot().unwrap(), range).len()
}

pub(super) fn a_destroyed_range_is_gone_and_nothing_else(lane: &dyn Lane) {
    let store = lane.open();
    fill(&*store, &["a", "b", "c"], 1500);
    store.maintain().unwrap();
    fill(&*store, &["b"], 100);
    store.destroy_range(&KeyRange::new("b00100", "b01400")).unwrap();
    let store = lane.crash(store);
    assert_eq!(count(&*store, &KeyRange::prefix("a")), 1500);
    assert_eq!(count(&*store, &KeyRange::prefix("b")), 200);
    assert_eq!(count(&*store, &KeyRange::prefix("c")), 1500);
    assert_eq!(get(&*store, "b00100"), None);
    assert!(get(&*store, "b00099").is_some() && get(&*store, "b01400").is_some());
    store.destroy_range(&KeyRange::prefix("b")).unwrap();
    store.destroy_range(&KeyRange::prefix("b")).unwrap();
    store.destroy_range(&KeyRange::new("c", "c")).unwrap();
    store.destroy_range(&KeyRange::new("d", "a")).unwrap();
    assert_eq!(count(&*store, &KeyRange::all()), 3000);
    // A later id may share what is around the range, and use it at once.
    write(&*store, vec![put("b", "again")]);
    store.maintain().unwrap();
    assert_eq!(get(&*store, "b").unwrap(), "again");
    store.destroy_range(&KeyRange::all()).unwrap();
    assert_eq!(count(&*store, &KeyRange::all()), 0);
}

fn ranges() -> Vec<KeyRange> {
    vec![
        KeyRange::all(),
        KeyRange::prefix("b"),
        KeyRange::new("a00500", "b00500"),
        KeyRange::from("b01499"),
        KeyRange::new("b", "b"),
        KeyRange::new("z", "zz"),
    ]
}

pub(super) fn boundaries_lie_inside_and_ascend(lane: &dyn Lane) {
    let store = lane.open();
    assert!(store.boundaries(&KeyRange::all()).unwrap().len() < 2);
    fill(&*store, &["a", "b"], 1500);
    store.maintain().unwrap();
    for range in ranges() {
        let cuts = store.boundaries(&range).unwrap();
        assert!(cuts.iter().all(|cut| range.contains(cut) && *cut != range.start), "{range:?}");
        assert!(cuts.windows(2).all(|pair| pair[0] < pair[1]));
    }
}

pub(super) fn parts_between_boundaries_make_the_whole(lane: &dyn Lane) {
    let store = lane.open();
    fill(&*store, &["a", "b"], 1500);
    let snapshot = store.snapshot().unwrap();
    for range in ranges() {
        let mut edges: Vec<Option<Bytes>> =
            store.boundaries(&range).unwrap().into_iter().map(Some).collect();
        edges.push(range.end.clone());
        let mut parts = Vec::new();
        let mut start = range.start.clone();
        for end in edges {
            let part = KeyRange { start, end: end.clone() };
            parts.extend(rows(&*snapshot, &part));
            start = end.unwrap_or_else(|| bytes(""));
        }
        assert_eq!(parts, rows(&*snapshot, &range));
    }
}
