//! Checks what only the memory driver promises: it removes what nobody can read, soon and wholly.
//! The contract itself is tested in `tests/it/conformance`, for every driver alike.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;

use super::MemoryStore;
use crate::clock::ManualClock;
use crate::{Caps, Commit, Direction, ErrorKind, KeyRange, ScanLimits, Store as _, Write};

fn new() -> (MemoryStore, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::at_micros(0));
    (MemoryStore::new(clock.clone()), clock)
}

fn put(store: &MemoryStore, key: &str, value: &str) {
    let write = Write::Put { key: key.to_owned().into(), value: value.to_owned().into() };
    store.commit(Commit::of(vec![write])).unwrap();
}

fn delete(store: &MemoryStore, key: &str) {
    store.commit(Commit::of(vec![Write::Delete { key: key.to_owned().into() }])).unwrap();
}

fn held(store: &MemoryStore) -> u64 {
    store.stats().memory_table_bytes
}

#[test]
fn nothing_old_is_kept_without_a_snapshot() {
    let (store, _) = new();
    for round in 0..100 {
        put(&store, "a", &format!("{round:04}"));
        put(&store, "b", &format!("{round:04}"));
        delete(&store, "b");
    }
    assert_eq!(held(&store), 5);
    delete(&store, "a");
    assert_eq!(held(&store), 0);
}

#[test]
fn a_snapshot_keeps_one_version_of_a_key_however_often_it_is_written() {
    let (store, _) = new();
    put(&store, "a", "old!");
    let snapshot = store.snapshot().unwrap();
    for round in 0..1000 {
        put(&store, "a", &format!("{round:04}"));
    }
    assert_eq!(held(&store), 1 + 4 + 4);
    assert_eq!(snapshot.get(b"a").unwrap().unwrap(), "old!");
}

#[test]
fn each_of_many_snapshots_keeps_what_it_sees_and_no_more() {
    let (store, _) = new();
    let mut snapshots = Vec::new();
    for round in 0..20 {
        put(&store, "a", &format!("{round:04}"));
        put(&store, "a", "gone");
        put(&store, "a", &format!("{round:04}"));
        snapshots.push(store.snapshot().unwrap());
    }
    assert_eq!(held(&store), 1 + 20 * 4);
    for (round, snapshot) in snapshots.iter().enumerate() {
        assert_eq!(snapshot.get(b"a").unwrap().unwrap(), format!("{round:04}"));
    }
    snapshots.retain(|snapshot| snapshot.id().commit % 2 == 0);
    put(&store, "a", "last");
    assert_eq!(held(&store), 1 + (10 + 1) * 4);
}

#[test]
fn later_commits_forget_what_a_closed_snapshot_kept() {
    let (store, _) = new();
    for key in 0..500 {
        put(&store, &format!("{key:03}"), "old");
    }
    let snapshot = store.snapshot().unwrap();
    for key in 0..500 {
        match key % 2 {
            0 => put(&store, &format!("{key:03}"), "new"),
            _ => delete(&store, &format!("{key:03}")),
        }
    }
    assert_eq!(held(&store), 500 * 6 + 250 * 3);
    drop(snapshot);
    // Each commit works off more than it adds, so few are enough.
    for _ in 0..50 {
        put(&store, "other", "x");
    }
    assert_eq!(held(&store), 250 * 6 + 6);
}

#[test]
fn maintain_forgets_at_once() {
    let (store, _) = new();
    for key in 0..10_000 {
        put(&store, &format!("{key:05}"), "x");
    }
    let snapshot = store.snapshot().unwrap();
    for key in 0..10_000 {
        delete(&store, &format!("{key:05}"));
    }
    store.maintain().unwrap();
    assert_eq!(held(&store), 10_000 * 6);
    drop(snapshot);
    store.maintain().unwrap();
    assert_eq!(held(&store), 0);
}

#[test]
fn a_snapshot_past_its_bounds_keeps_nothing() {
    let (store, clock) = new();
    put(&store, "a", "old");
    let snapshot = store.snapshot().unwrap();
    assert_eq!(store.stats().oldest_snapshot, Some(1));
    clock.advance(Duration::from_secs(60));
    put(&store, "a", "new");
    assert_eq!(held(&store), 4);
    assert_eq!(snapshot.get(b"a").unwrap_err().kind(), ErrorKind::TooOld);
    assert_eq!(store.stats().oldest_snapshot, None);
}

#[test]
fn a_deletion_is_remembered_as_long_as_somebody_may_validate_against_it() {
    let (store, _) = new();
    put(&store, "a", "x");
    let base = store.snapshot().unwrap();
    delete(&store, "a");
    put(&store, "other", "x");
    store.maintain().unwrap();
    let commit = Commit {
        base: Some(base),
        validate: vec![Bytes::from_static(b"a")],
        writes: vec![Write::Put { key: "b".into(), value: "x".into() }],
        ..Commit::default()
    };
    assert_eq!(store.commit(commit).unwrap_err().kind(), ErrorKind::Conflict);
}

#[test]
fn a_stored_slice_does_not_keep_the_buffer_it_came_from() {
    let (store, _) = new();
    let request = Bytes::from(vec![7_u8; 1 << 20]);
    let writes = vec![
        Write::Put { key: request.slice(0..4), value: request.slice(4..8) },
        Write::PutStamped {
            prefix: request.slice(0..4),
            suffix: Bytes::new(),
            value: request.slice(4..8),
        },
        Write::Add { key: request.slice(0..5), delta: 1 },
    ];
    store.commit(Commit::of(writes)).unwrap();
    assert!(request.is_unique());
}

#[test]
fn a_page_does_not_look_at_deleted_keys_without_end() {
    let (store, _) = new();
    for key in 0..30_000 {
        put(&store, &format!("{key:05}"), "x");
    }
    let keeper = store.snapshot().unwrap();
    for key in 0..30_000 {
        delete(&store, &format!("{key:05}"));
    }
    let snapshot = store.snapshot().unwrap();
    for direction in [Direction::Ascending, Direction::Descending] {
        let mut rest = Some(KeyRange::all());
        let mut pages = 0;
        while let Some(range) = rest {
            let page = snapshot.scan(&range, direction, ScanLimits::default()).unwrap();
            assert!(page.rows.is_empty());
            rest = page.next;
            pages += 1;
        }
        assert!((2..20).contains(&pages), "{pages} pages");
    }
    drop(keeper);
}

#[test]
fn boundaries_cut_evenly_whatever_the_size() {
    for (keys, parts) in [(0, 1..2), (100, 1..2), (1000, 4..12), (60_000, 24..65)] {
        let (store, _) = new();
        for key in 0..keys {
            put(&store, &format!("{key:06}"), "x");
        }
        let cuts = store.boundaries(&KeyRange::all()).unwrap();
        assert!(parts.contains(&(cuts.len() + 1)), "{} parts of {keys} keys", cuts.len() + 1);
        let at: Vec<usize> =
            cuts.iter().map(|key| std::str::from_utf8(key).unwrap().parse().unwrap()).collect();
        let ends = at.iter().copied().chain([keys]);
        let sizes: Vec<usize> =
            [0].into_iter().chain(at.iter().copied()).zip(ends).map(|(a, b)| b - a).collect();
        let full = sizes.first().copied().unwrap_or_default();
        assert!(sizes.iter().rev().skip(1).all(|size| *size == full), "{sizes:?}");
    }
}

#[test]
fn a_counter_over_something_else_is_refused_whole() {
    let (store, _) = new();
    put(&store, "a", "no counter");
    let writes = vec![
        Write::Put { key: "b".into(), value: "x".into() },
        Write::Add { key: "a".into(), delta: 1 },
    ];
    assert_eq!(store.commit(Commit::of(writes)).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(store.snapshot().unwrap().get(b"b").unwrap(), None);
    assert_eq!(store.stats().commits, 1);
}

#[test]
fn a_completion_may_use_the_store() {
    let store = Arc::new(new().0);
    let ran = Arc::new(AtomicBool::new(false));
    let (inner, flag) = (store.clone(), ran.clone());
    let base = store.snapshot().unwrap();
    let write = Write::Put { key: "a".into(), value: "1".into() };
    let commit =
        Commit { base: Some(base), validate: Vec::new(), writes: vec![write], ..Commit::default() };
    store
        .submit(
            commit,
            Box::new(move |outcome| {
                assert_eq!(outcome.unwrap().number, 1);
                assert_eq!(inner.snapshot().unwrap().get(b"a").unwrap().unwrap(), "1");
                put(&inner, "b", "2");
                inner.close().unwrap();
                flag.store(true, Ordering::SeqCst);
            }),
        )
        .unwrap();
    assert!(ran.load(Ordering::SeqCst));
}

#[test]
fn limits_can_be_chosen() {
    let caps = Caps { value_size_bytes_max: 3, ..MemoryStore::default_caps() };
    let store = MemoryStore::with_caps(Arc::new(ManualClock::at_micros(0)), caps);
    put(&store, "a", "123");
    let write = Write::Put { key: "a".into(), value: "1234".into() };
    let error = store.commit(Commit::of(vec![write])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert_eq!(store.caps().value_size_bytes_max, 3);
}
