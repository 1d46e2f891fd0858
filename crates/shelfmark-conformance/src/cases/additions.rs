//! Additions to numbers within values, where the driver makes them.

use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use shelfmark_store::{AddWithin, Commit, Error, ErrorKind, KeyRange, Store};

use crate::lane::Lane;
use crate::terse::{Raised, attempt, delete, get, keys_of, kind, on, put, rows, together, write};

/// Returns a value of a text, a number, a text and another number.
fn value(first: i64, second: i64) -> Bytes {
    [b"<", &first.to_be_bytes()[..], b"|", &second.to_be_bytes(), b">"].concat().into()
}

fn added(key: &str, seen: &Bytes, first: i64, second: i64) -> Commit {
    let deltas = vec![(1, first), (10, second)];
    let addition =
        AddWithin { key: Bytes::copy_from_slice(key.as_bytes()), seen: seen.clone(), deltas };
    Commit { additions: vec![addition], ..Commit::default() }
}

/// Opens a store with a value at `a`, if the driver adds within values. Others must say so.
fn with_value(lane: &dyn Lane) -> Option<std::sync::Arc<dyn Store>> {
    let store = lane.open();
    write(&*store, vec![put("a", value(1, -1))]);
    if store.caps().adds_within {
        return Some(store);
    }
    assert_eq!(kind(attempt(&*store, added("a", &value(1, -1), 1, 1))), ErrorKind::Invalid);
    assert_eq!(get(&*store, "a").unwrap(), value(1, -1));
    None
}

pub(super) fn additions_that_saw_the_same_value_are_both_made(lane: &dyn Lane) {
    let Some(store) = with_value(lane) else { return };
    let base = store.snapshot().unwrap();
    let seen = base.get(b"a").unwrap().unwrap();
    for (first, second) in [(5, 0), (0, 7), (i64::MAX, i64::MIN)] {
        let commit = Commit { base: Some(base.clone()), ..added("a", &seen, first, second) };
        attempt(&*store, commit).unwrap();
    }
    let sum = value(i64::MAX.wrapping_add(6), i64::MIN + 6);
    assert_eq!(get(&*store, "a").unwrap(), sum);
    assert_eq!(base.get(b"a").unwrap().unwrap(), seen);
    let mut twice = added("a", &sum, 1, 0);
    twice.additions.extend(added("a", &sum, 1, 2).additions);
    twice.writes.push(put("b", "x"));
    attempt(&*store, twice).unwrap();
    assert_eq!(get(&*store, "a").unwrap(), value(i64::MIN + 7, i64::MIN + 8));
    assert_eq!(get(&*store, "b").unwrap(), "x");
}

pub(super) fn an_addition_to_another_value_than_was_seen_is_a_conflict(lane: &dyn Lane) {
    let Some(store) = with_value(lane) else { return };
    let seen = get(&*store, "a").unwrap();
    let refused = |commit: Commit| -> Error { attempt(&*store, commit).unwrap_err() };
    for now in [&b"short"[..], &[&value(1, -1)[..], b"longer"].concat(), &[b'>'; 19]] {
        write(&*store, vec![put("a", now)]);
        let error = refused(added("a", &seen, 1, 1));
        assert_eq!((error.kind(), keys_of(&error)), (ErrorKind::Conflict, vec!["a".into()]));
        assert_eq!(get(&*store, "a").unwrap(), now);
    }
    write(&*store, vec![delete("a")]);
    let mut commit = added("a", &seen, 1, 1);
    commit.writes.push(put("b", "x"));
    assert_eq!(refused(commit).kind(), ErrorKind::Conflict);
    assert_eq!((get(&*store, "a"), get(&*store, "b")), (None, None));
    // What was put again is as it was seen.
    write(&*store, vec![put("a", value(40, 50))]);
    attempt(&*store, added("a", &seen, 1, 1)).unwrap();
    assert_eq!(get(&*store, "a").unwrap(), value(41, 51));
}

pub(super) fn who_rests_on_a_value_meets_additions_to_it(lane: &dyn Lane) {
    let Some(store) = with_value(lane) else { return };
    let seen = get(&*store, "a").unwrap();
    let base = store.snapshot().unwrap();
    base.get(b"a").unwrap();
    attempt(&*store, added("a", &seen, 1, 0)).unwrap();
    assert_eq!(kind(attempt(&*store, on(&base, &["a"], vec![put("b", "x")]))), ErrorKind::Conflict);
    let base = store.snapshot().unwrap();
    let mut resting = on(&base, &["b"], Vec::new());
    resting.additions = added("a", &seen, 1, 0).additions;
    write(&*store, vec![put("b", "y")]);
    assert_eq!(kind(attempt(&*store, resting)), ErrorKind::Conflict);
    assert_eq!(get(&*store, "a").unwrap(), value(2, -1));
}

pub(super) fn additions_side_by_side_lose_nothing(lane: &dyn Lane) {
    const TURNS: i64 = 30;
    let Some(store) = with_value(lane) else { return };
    let is_over = AtomicBool::new(false);
    let adding = |first: i64, second: i64| {
        let store = &store;
        move || {
            for _ in 0..TURNS {
                let seen = get(&**store, "a").unwrap();
                attempt(&**store, added("a", &seen, first, second)).unwrap();
            }
        }
    };
    let reader = || {
        let mut last = 0;
        while !is_over.load(Ordering::SeqCst) {
            let now = rows(&*store.snapshot().unwrap(), &KeyRange::prefix("a"));
            let first = i64::from_be_bytes(now[0].1[1..9].try_into().unwrap());
            assert!(first >= last, "{first} behind {last}");
            last = first;
        }
    };
    let adders = || {
        let _over = Raised(&is_over);
        together(vec![
            Box::new(adding(1, 0)),
            Box::new(adding(2, 1)),
            Box::new(adding(0, -3)),
            Box::new(adding(1, 1)),
        ]);
    };
    together(vec![Box::new(reader), Box::new(adders)]);
    assert_eq!(get(&*store, "a").unwrap(), value(1 + 4 * TURNS, -1 - TURNS));
}
