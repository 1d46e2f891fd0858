//! Checks how long snapshots are held, and what they hold.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::ManualClock;
use crate::contract::{
    Direction, ErrorKind, KeyRange, ScanLimits, Snapshot as _, Store as _, Write,
};
use crate::embedded::Options;

use super::support::{Scratch, bytes, commit_patiently, commit_put, put, small, text, validated};

#[test]
fn a_snapshot_past_its_age_is_too_old_to_the_microsecond() {
    let scratch = Scratch::new();
    let clock = Arc::new(ManualClock::at_micros(1_000_000));
    let store = scratch.open_at(small(), clock.clone());
    commit_put(&store, "a", "1");
    // The moment is old, the snapshot of it is new.
    clock.advance(Duration::from_secs(3600));
    let held = store.snapshot().unwrap();
    let latest = store.latest().unwrap();
    clock.advance(Duration::from_secs(60));
    assert_eq!(held.time_left(), Some(Duration::ZERO));
    assert_eq!(text(&*held, "a").as_deref(), Some("1"));
    clock.advance(Duration::from_micros(1));
    for snapshot in [held, latest] {
        assert_eq!(snapshot.get(b"a").unwrap_err().kind(), ErrorKind::TooOld);
        assert_eq!(snapshot.get_many(&[bytes("a")]).unwrap_err().kind(), ErrorKind::TooOld);
        let scan = snapshot.scan(&KeyRange::all(), Direction::Ascending, ScanLimits::default());
        assert_eq!(scan.unwrap_err().kind(), ErrorKind::TooOld);
        let error = store.commit(validated(&snapshot, &["a"], vec![put("a", "2")])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooOld);
    }
    assert_eq!(text(&*store.snapshot().unwrap(), "a").as_deref(), Some("1"));
}

#[test]
fn snapshots_of_one_moment_age_apart() {
    let scratch = Scratch::new();
    let clock = Arc::new(ManualClock::at_micros(0));
    let store = scratch.open_at(small(), clock.clone());
    commit_put(&store, "a", "1");
    let old = store.snapshot().unwrap();
    clock.advance(Duration::from_secs(30));
    let young = store.snapshot().unwrap();
    assert_eq!(old.id(), young.id());
    clock.advance(Duration::from_secs(40));
    assert_eq!(old.get(b"a").unwrap_err().kind(), ErrorKind::TooOld);
    assert_eq!(text(&*young, "a").as_deref(), Some("1"));
    assert_eq!(young.time_left(), Some(Duration::from_secs(20)));
}

#[test]
fn a_snapshot_past_its_bytes_is_too_old_and_lets_go() {
    let scratch = Scratch::new();
    let options = Options { snapshot_bytes_max: 100_000, memory_table_bytes: 20_000, ..small() };
    let store = scratch.open_with(options).unwrap();
    commit_put(&store, "a", "old");
    let held = store.snapshot().unwrap();
    let mut refused_after = None;
    for round in 0..40 {
        let value = bytes(&"x".repeat(5000));
        let write = Write::Put { key: bytes(&format!("k{round}")), value };
        commit_patiently(&store, vec![write, put("a", "new")]);
        match held.get(b"a") {
            Ok(value) => assert_eq!(value, Some(bytes("old"))),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::TooOld);
                refused_after = refused_after.or(Some(round));
            }
        }
    }
    let refused_after = refused_after.expect("never refused");
    assert!((15..=21).contains(&refused_after), "{refused_after}");
    assert_eq!(held.time_left(), Some(Duration::ZERO));
    store.maintain().unwrap();
    // What it held is gone: only the current tables are in memory.
    assert!(store.inner.tree.retired_count() == 0);
}

#[test]
fn stats_tell_what_is_held() {
    let scratch = Scratch::new();
    let store = scratch.open();
    assert_eq!(store.stats().snapshots_open, 0);
    assert_eq!(store.stats().oldest_snapshot, None);
    commit_put(&store, "a", "1");
    let first = store.snapshot().unwrap();
    commit_put(&store, "a", "2");
    let second = store.snapshot().unwrap();
    let again = store.snapshot().unwrap();
    commit_put(&store, "a", "3");
    let stats = store.stats();
    assert_eq!((stats.snapshots_open, stats.oldest_snapshot), (3, Some(1)));
    drop(first);
    let stats = store.stats();
    assert_eq!((stats.snapshots_open, stats.oldest_snapshot), (2, Some(2)));
    drop((second, again));
    assert_eq!(store.stats().oldest_snapshot, None);
    let current = store.snapshot().unwrap();
    assert_eq!(store.stats().oldest_snapshot, Some(3));
    drop(current);
}

#[test]
fn a_snapshot_for_a_copy_outlives_the_bounds_of_others_and_shows_its_moment() {
    let scratch = Scratch::new();
    let clock = Arc::new(ManualClock::at_micros(0));
    let options = Options { snapshot_bytes_max: 100_000, memory_table_bytes: 20_000, ..small() };
    let store = scratch.open_at(options, clock.clone());
    for round in 0..20 {
        commit_put(&store, &format!("k{round:02}"), "old");
    }
    let (copied, usual) = (store.snapshot_for_copy().unwrap(), store.snapshot().unwrap());
    let moment = copied.id();
    for round in 0..60 {
        let value = bytes(&"x".repeat(5000));
        let write = Write::Put { key: bytes(&format!("new{round}")), value };
        commit_patiently(&store, vec![write, put(&format!("k{:02}", round % 20), "new")]);
        clock.advance(Duration::from_secs(60));
    }
    store.maintain().unwrap();
    assert_eq!(usual.get(b"k00").unwrap_err().kind(), ErrorKind::TooOld);
    // Commits go on, and those that rest on what others read are none of its business.
    let fresh = store.snapshot().unwrap();
    store.commit(validated(&fresh, &["k00"], vec![put("k00", "newer")])).unwrap();
    let page = copied.scan(&KeyRange::all(), Direction::Ascending, ScanLimits::default()).unwrap();
    assert_eq!(page.rows.len(), 20);
    assert!(page.rows.iter().all(|row| row.value == "old"));
    assert_eq!(store.stats().oldest_snapshot, Some(moment.commit));
    clock.advance(Duration::from_secs(24 * 60 * 60));
    assert_eq!(copied.get(b"k00").unwrap_err().kind(), ErrorKind::TooOld);
    drop((copied, usual, fresh));
    store.maintain().unwrap();
    assert_eq!(store.stats().oldest_snapshot, None);
    assert!(store.inner.tree.retired_count() == 0);
    store.close().unwrap();
    assert_eq!(store.snapshot_for_copy().err().map(|error| error.kind()), Some(ErrorKind::Closed));
}

#[test]
fn a_snapshot_for_a_copy_does_not_hold_what_is_written_afterwards() {
    let scratch = Scratch::new();
    let store = scratch.open();
    commit_put(&store, "a", "1");
    let (copied, usual) = (store.inner.snapshots.pin_for_copy(), store.inner.snapshots.pin());
    let held = |pin: &crate::embedded::snapshot_tracker::Pin| pin.view().unwrap().memory_bytes();
    let before = held(&copied);
    for round in 0..50 {
        commit_put(&store, &format!("b{round}"), "2");
    }
    assert_eq!(held(&copied), before, "whoever reads a page would step over it");
    assert!(held(&usual) > before);
    assert_eq!(copied.get(b"a").unwrap().as_deref(), Some(&b"1"[..]));
    assert_eq!(copied.get(b"b7").unwrap(), None);
}
