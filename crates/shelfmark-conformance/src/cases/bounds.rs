//! A snapshot may be held so long and over so much, and no longer.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use shelfmark_store::{Direction, ErrorKind, KeyRange, ScanLimits, Snapshot, Store, Write};

use crate::lane::{Lane, SNAPSHOT_AGE_MAX, SNAPSHOT_BYTES_MAX};
use crate::terse::{attempt, bytes, get, kind, on, put, write};

fn is_too_old(snapshot: &dyn Snapshot) {
    assert_eq!(kind(snapshot.get(b"a")), ErrorKind::TooOld);
    assert_eq!(kind(snapshot.get_many(&[bytes("a")])), ErrorKind::TooOld);
    let page = snapshot.scan(&KeyRange::all(), Direction::Descending, ScanLimits::default());
    assert_eq!(kind(page), ErrorKind::TooOld);
}

pub(super) fn a_snapshot_gets_too_old_by_time(lane: &dyn Lane) {
    let store = lane.open();
    write(&*store, vec![put("a", "1")]);
    let snapshot = store.snapshot().unwrap();
    assert_eq!(snapshot.time_left(), Some(SNAPSHOT_AGE_MAX));
    lane.clock().advance(SNAPSHOT_AGE_MAX - Duration::from_secs(1));
    assert_eq!(snapshot.time_left(), Some(Duration::from_secs(1)));
    assert_eq!(snapshot.get(b"a").unwrap().unwrap(), "1");
    let newer = store.snapshot().unwrap();
    lane.clock().advance(Duration::from_secs(2));
    is_too_old(&*snapshot);
    assert_eq!(snapshot.time_left(), Some(Duration::ZERO));
    // Each for itself, also two of one moment.
    assert_eq!(newer.get(b"a").unwrap().unwrap(), "1");
    assert_eq!(get(&*store, "a").unwrap(), "1");
}

/// Writes `total` bytes in commits of 64 KiB.
fn fill(store: &Arc<dyn Store>, total: u64) {
    let value = Bytes::from(vec![b'f'; 64 * 1024]);
    for round in 0..total / (64 * 1024) {
        let key = format!("fill{:02}", round % 20).into();
        write(&**store, vec![Write::Put { key, value: value.clone() }]);
    }
}

pub(super) fn a_snapshot_gets_too_old_by_bytes(lane: &dyn Lane) {
    let store = lane.open();
    write(&*store, vec![put("a", "1")]);
    if store.caps().snapshot_bytes_max == u64::MAX {
        return;
    }
    let snapshot = store.snapshot().unwrap();
    fill(&store, SNAPSHOT_BYTES_MAX / 2);
    assert_eq!(snapshot.get(b"a").unwrap().unwrap(), "1");
    let newer = store.snapshot().unwrap();
    fill(&store, SNAPSHOT_BYTES_MAX * 3 / 4);
    is_too_old(&*snapshot);
    assert_eq!(newer.get(b"a").unwrap().unwrap(), "1");
}

pub(super) fn a_commit_on_an_old_snapshot_is_refused(lane: &dyn Lane) {
    let store = lane.open();
    write(&*store, vec![put("a", "1")]);
    let refused = |base: &Arc<dyn Snapshot>| {
        assert_eq!(
            kind(attempt(&*store, on(base, &["a"], vec![put("b", "1")]))),
            ErrorKind::TooOld
        );
        assert_eq!(get(&*store, "b"), None);
    };
    let base = store.snapshot().unwrap();
    lane.clock().advance(SNAPSHOT_AGE_MAX + Duration::from_secs(1));
    refused(&base);
    if store.caps().snapshot_bytes_max < u64::MAX {
        let base = store.snapshot().unwrap();
        fill(&store, SNAPSHOT_BYTES_MAX * 5 / 4);
        refused(&base);
    }
    let base = store.snapshot().unwrap();
    attempt(&*store, on(&base, &["a"], vec![put("b", "1")])).unwrap();
}
