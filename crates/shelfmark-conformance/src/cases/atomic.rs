//! Commits happen wholly or not at all, and end in order.

use std::sync::atomic::{AtomicBool, Ordering};

use shelfmark_store::{Commit, Direction, ErrorKind, KeyRange, ScanLimits};

use crate::lane::Lane;
use crate::terse::{
    Raised, attempt, delete, follows, get, kind, on, put, put_if_absent, read, shows, submit,
    together, write,
};

pub(super) fn a_commit_is_there_wholly_once_it_is_acknowledged(lane: &dyn Lane) {
    let store = lane.open();
    write(&*store, vec![put("a", "1"), put("b", "2")]);
    let number = write(&*store, vec![put("a", "3"), delete("b"), put("c", "4")]);
    let snapshot = store.snapshot().unwrap();
    assert_eq!(snapshot.get(b"a").unwrap().unwrap(), "3");
    assert_eq!(snapshot.get(b"b").unwrap(), None);
    assert_eq!(snapshot.get(b"c").unwrap().unwrap(), "4");
    assert!(shows(&*store, snapshot.id().commit, number));
}

pub(super) fn the_last_write_of_a_key_in_a_commit_counts(lane: &dyn Lane) {
    let store = lane.open();
    write(&*store, vec![put("gone", "0"), put("kept", "0")]);
    let writes = vec![
        put("a", "1"),
        put("a", "2"),
        put("b", "1"),
        delete("b"),
        delete("gone"),
        delete("kept"),
        put("kept", "2"),
        put_if_absent("c", "1"),
        put("c", "2"),
        put_if_absent("d", "1"),
        delete("d"),
    ];
    write(&*store, writes);
    let store = lane.reopen(store);
    assert_eq!(get(&*store, "a").unwrap(), "2");
    assert_eq!(get(&*store, "b"), None);
    assert_eq!(get(&*store, "gone"), None);
    assert_eq!(get(&*store, "kept").unwrap(), "2");
    assert_eq!(get(&*store, "c").unwrap(), "2");
    assert_eq!(get(&*store, "d"), None);
}

pub(super) fn a_refused_commit_leaves_nothing(lane: &dyn Lane) {
    let store = lane.open();
    let base = store.snapshot().unwrap();
    let number = write(&*store, vec![put("there", "1")]);
    let too_long = vec![b'k'; store.caps().key_size_bytes_max + 1];
    let refused = [
        (ErrorKind::Conflict, on(&base, &["there"], vec![put("x", "1"), put("y", "1")])),
        (ErrorKind::Exists, Commit::of(vec![put("x", "1"), put_if_absent("there", "2")])),
        (ErrorKind::LimitExceeded, Commit::of(vec![put("x", "1"), put(too_long, "2")])),
        (ErrorKind::Invalid, Commit::of(vec![put("x", "1"), put("y", "")])),
    ];
    for (expected, commit) in refused {
        assert_eq!(kind(attempt(&*store, commit)), expected);
        assert_eq!(get(&*store, "x"), None);
        assert_eq!(store.latest().unwrap().get(b"x").unwrap(), None);
    }
    assert_eq!(get(&*store, "there").unwrap(), "1");
    drop(base);
    let store = lane.reopen(store);
    assert_eq!(get(&*store, "x"), None);
    // A refused commit takes no number.
    assert!(follows(&*store, write(&*store, vec![put("x", "1")]), number));
}

pub(super) fn no_reader_sees_half_a_commit(lane: &dyn Lane) {
    let store = lane.open();
    // Far apart, and long enough that memory tables fill up.
    let filler = "f".repeat(2000);
    let values = |round: usize| format!("{round:08}{filler}");
    let all = |round| ["a", "m", "z"].map(|key| put(key, values(round))).to_vec();
    write(&*store, all(0));
    let is_done = AtomicBool::new(false);
    let writer = || {
        let _raised = Raised(&is_done);
        for round in 1..300 {
            write(&*store, all(round));
        }
    };
    let reader = || {
        let mut turn = 0;
        while !is_done.load(Ordering::SeqCst) {
            turn += 1;
            let snapshot = match turn % 2 {
                0 => store.snapshot().unwrap(),
                _ => store.latest().unwrap(),
            };
            let one = snapshot.get(b"a").unwrap().unwrap();
            assert_eq!(snapshot.get(b"z").unwrap().unwrap(), one);
            let direction =
                if turn % 3 == 0 { Direction::Ascending } else { Direction::Descending };
            let rows = read(&*snapshot, &KeyRange::all(), direction, ScanLimits::default());
            assert_eq!(rows.len(), 3);
            assert!(rows.iter().all(|row| row.value == one));
            // And again: one moment stays one moment.
            assert_eq!(snapshot.get(b"a").unwrap().unwrap(), one);
        }
    };
    let maintainer = || {
        while !is_done.load(Ordering::SeqCst) {
            store.maintain().unwrap();
        }
    };
    together(vec![Box::new(writer), Box::new(reader), Box::new(reader), Box::new(maintainer)]);
    assert_eq!(get(&*store, "m").unwrap(), values(299));
}

pub(super) fn an_empty_commit_ends_after_everything_before_it(lane: &dyn Lane) {
    let store = lane.open();
    for round in 0..5 {
        let mut last = 0;
        for key in 0..20 {
            let commit = Commit::of(vec![put(format!("{round}/{key}"), "x")]);
            last = submit(&*store, commit).unwrap().0;
        }
        let committed = attempt(&*store, Commit::default()).unwrap();
        assert!(committed.number >= last);
        let snapshot = store.snapshot().unwrap();
        assert!(snapshot.id().commit >= last);
        for key in 0..20 {
            assert!(snapshot.get(format!("{round}/{key}").as_bytes()).unwrap().is_some());
        }
    }
}

pub(super) fn commits_that_were_submitted_end_in_the_order_of_their_numbers(lane: &dyn Lane) {
    let store = lane.open();
    let submitted: Vec<_> = (0..50)
        .map(|round| {
            let commit = Commit::of(vec![put("key", format!("{round}"))]);
            submit(&*store, commit).unwrap()
        })
        .collect();
    for pair in submitted.windows(2) {
        assert!(follows(&*store, pair[1].0, pair[0].0));
    }
    for (number, end) in submitted {
        let committed = end.recv().unwrap().unwrap();
        assert_eq!(committed.number, number);
        assert!(store.snapshot().unwrap().id().commit >= number);
    }
    assert_eq!(get(&*store, "key").unwrap(), "49");
}
