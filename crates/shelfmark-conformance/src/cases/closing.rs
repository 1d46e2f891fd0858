//! The end of a store, and its next beginning.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use shelfmark_store::{Commit, ErrorKind, KeyRange, Store};

use crate::lane::Lane;
use crate::terse::{add, attempt, counter, delete, get, kind, put, rows, shows, submit, write};

pub(super) fn a_closed_store_says_so(lane: &dyn Lane) {
    let store = lane.open();
    write(&*store, vec![put("a", "1")]);
    let held = store.snapshot().unwrap();
    store.close().unwrap();
    store.close().unwrap();
    assert_eq!(kind(store.snapshot()), ErrorKind::Closed);
    assert_eq!(kind(store.latest()), ErrorKind::Closed);
    assert_eq!(kind(attempt(&*store, Commit::of(vec![put("a", "2")]))), ErrorKind::Closed);
    assert_eq!(kind(attempt(&*store, Commit::default())), ErrorKind::Closed);
    assert_eq!(kind(store.boundaries(&KeyRange::all())), ErrorKind::Closed);
    assert_eq!(kind(store.destroy_range(&KeyRange::all())), ErrorKind::Closed);
    assert_eq!(kind(store.maintain()), ErrorKind::Closed);
    let called = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&called);
    let done = Box::new(move |_| flag.store(true, Ordering::SeqCst));
    assert_eq!(kind(store.submit(Commit::of(vec![put("a", "2")]), done)), ErrorKind::Closed);
    assert!(!called.load(Ordering::SeqCst), "a refused commit has no end");
    // A snapshot from before may say that the store is closed; it may not be wrong.
    match held.get(b"a") {
        Ok(value) => assert_eq!(value.unwrap(), "1"),
        Err(error) => assert_eq!(error.kind(), ErrorKind::Closed),
    }
    let _ = store.stats();
    drop(held);
}

pub(super) fn closing_ends_what_was_queued(lane: &dyn Lane) {
    let store = lane.open();
    let ends: Vec<_> = (0..30)
        .map(|key| submit(&*store, Commit::of(vec![put(format!("{key}"), "x")])).unwrap())
        .collect();
    store.close().unwrap();
    for (number, end) in ends {
        assert_eq!(end.try_recv().unwrap().unwrap().number, number);
    }
    drop(store);
    if lane.keeps() {
        let store = lane.open();
        assert_eq!(rows(&*store.snapshot().unwrap(), &KeyRange::all()).len(), 30);
    }
}

/// Writes in several rounds, with `again` between them, and checks that nothing is missing.
fn rounds(lane: &dyn Lane, again: impl Fn(Arc<dyn Store>) -> Arc<dyn Store>) {
    let mut store = lane.open();
    for round in 0..6 {
        for key in 0..40 {
            let writes = vec![
                put(format!("{round}/{key}"), "f".repeat(1000)),
                put("last", format!("{round}/{key}")),
                add("n", 1),
            ];
            write(&*store, writes);
        }
        write(&*store, vec![delete(format!("{round}/7"))]);
        if round % 2 == 0 {
            store.maintain().unwrap();
        }
        let before = store.snapshot().unwrap().id().commit;
        store = again(store);
        assert!(shows(&*store, store.snapshot().unwrap().id().commit, before));
        assert_eq!(get(&*store, "last").unwrap(), format!("{round}/39"));
        assert_eq!(counter(&*store, "n"), (round + 1) * 40);
        let found = rows(&*store.snapshot().unwrap(), &KeyRange::new("0", "9")).len();
        assert_eq!(i64::try_from(found).unwrap(), (round + 1) * 39);
    }
}

pub(super) fn what_was_acknowledged_is_there_after_a_reopen(lane: &dyn Lane) {
    rounds(lane, |store| lane.reopen(store));
}

pub(super) fn what_was_acknowledged_is_there_after_a_crash(lane: &dyn Lane) {
    rounds(lane, |store| lane.crash(store));
}
