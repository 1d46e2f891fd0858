//! Checks that what was read still holds, and that what must be absent is.

use std::sync::atomic::{AtomicU64, Ordering};

use shelfmark_store::random::SplitMix;
use shelfmark_store::{Commit, ErrorKind};

use crate::lane::Lane;
use crate::terse::{
    attempt, bytes, delete, get, keys_of, kind, on, put, put_if_absent, submit, together, write,
};

pub(super) fn a_written_key_is_a_conflict(lane: &dyn Lane) {
    let store = lane.open();
    write(&*store, vec![put("a", "1")]);
    let base = store.snapshot().unwrap();
    // The same value: a write is a write.
    write(&*store, vec![put("a", "1")]);
    let commit = on(&base, &["a"], vec![put("b", "1")]);
    assert_eq!(kind(attempt(&*store, commit)), ErrorKind::Conflict);
    assert_eq!(get(&*store, "b"), None);
    let base = store.snapshot().unwrap();
    attempt(&*store, on(&base, &["a"], vec![put("a", "2")])).unwrap();
    assert_eq!(get(&*store, "a").unwrap(), "2");
}

pub(super) fn a_created_key_is_a_conflict(lane: &dyn Lane) {
    let store = lane.open();
    let base = store.snapshot().unwrap();
    write(&*store, vec![put("a", "1")]);
    let commit = on(&base, &["a"], vec![put("b", "1")]);
    assert_eq!(kind(attempt(&*store, commit)), ErrorKind::Conflict);
}

pub(super) fn a_deleted_key_is_a_conflict(lane: &dyn Lane) {
    let store = lane.open();
    write(&*store, vec![put("a", "1"), put("b", "1")]);
    // One for each commit: for a second one on the same base a driver may compare values.
    let bases = ["a", "b"].map(|key| (key, store.snapshot().unwrap()));
    write(&*store, vec![delete("a"), delete("b")]);
    write(&*store, vec![put("b", "1")]);
    for (key, base) in bases {
        let commit = on(&base, &[key], vec![put("c", "1")]);
        assert_eq!(kind(attempt(&*store, commit)), ErrorKind::Conflict);
    }
}

pub(super) fn an_unwritten_key_is_none(lane: &dyn Lane) {
    let store = lane.open();
    write(&*store, vec![put("a", "1"), put("gone", "1")]);
    write(&*store, vec![delete("gone")]);
    let base = store.snapshot().unwrap();
    // Neighbours of every kind, and many of them.
    for round in 0..50 {
        let writes = vec![put(format!("a{round}"), "1"), put("\0", "1"), put("b", "1")];
        write(&*store, writes);
    }
    let commit = on(&base, &["a", "gone", "never"], vec![put("c", "1")]);
    attempt(&*store, commit).unwrap();
    // Its own writes are no conflict for the next one on a new base.
    let base = store.snapshot().unwrap();
    attempt(&*store, on(&base, &["c"], vec![put("c", "2")])).unwrap();
}

pub(super) fn a_conflict_names_the_keys(lane: &dyn Lane) {
    let store = lane.open();
    let base = store.snapshot().unwrap();
    write(&*store, vec![put("b", "1"), put("d", "1")]);
    let commit = on(&base, &["a", "b", "c", "d"], vec![put("e", "1")]);
    let error = attempt(&*store, commit).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    let named = keys_of(&error);
    // Where no single place decides, the first conflict may be the only one that is found.
    let is_whole = store.caps().stamps_total_order;
    let expected = [bytes("b"), bytes("d")];
    assert!(named.iter().all(|key| expected.contains(key)), "{named:?}");
    assert!(!named.is_empty() && (!is_whole || named == expected), "{named:?}");
}

pub(super) fn validation_survives_flushes(lane: &dyn Lane) {
    let store = lane.open();
    let keys = ["written", "deleted", "created", "kept"];
    write(&*store, vec![put("written", "1"), put("deleted", "1"), put("kept", "1")]);
    store.maintain().unwrap();
    let base = store.snapshot().unwrap();
    write(&*store, vec![put("written", "2"), delete("deleted"), put("created", "1")]);
    for round in 0..300 {
        write(&*store, vec![put(format!("other{round}"), "f".repeat(2000))]);
    }
    store.maintain().unwrap();
    for key in keys {
        let ended = attempt(&*store, on(&base, &[key], vec![put("x", "1")]));
        let expected = if key == "kept" { None } else { Some(ErrorKind::Conflict) };
        assert_eq!(ended.err().map(|error| error.kind()), expected, "{key}");
    }
}

pub(super) fn validation_sees_what_is_queued(lane: &dyn Lane) {
    let store = lane.open();
    for round in 0..30 {
        let base = store.snapshot().unwrap();
        let (_, end) = submit(&*store, Commit::of(vec![put("a", format!("{round}"))])).unwrap();
        let refused = submit(&*store, on(&base, &["a"], vec![put("a", "lost")]));
        assert_eq!(refused.err().map(|error| error.kind()), Some(ErrorKind::Conflict));
        let absent = format!("key{round}");
        let one = submit(&*store, Commit::of(vec![put_if_absent(&absent, "1")]));
        let other = submit(&*store, Commit::of(vec![put_if_absent(&absent, "2")]));
        assert!(one.is_ok());
        assert_eq!(other.err().map(|error| error.kind()), Some(ErrorKind::Exists));
        end.recv().unwrap().unwrap();
    }
    assert_eq!(get(&*store, "a").unwrap(), "29");
}

pub(super) fn a_commit_may_build_on_what_is_queued(lane: &dyn Lane) {
    let store = lane.open();
    let mut ends = Vec::new();
    let mut conflicts = 0;
    while ends.len() < 60 {
        let base = store.latest().unwrap();
        let next = base.get(b"n").unwrap().map_or(0, |value| value.len()) + 1;
        match submit(&*store, on(&base, &["n"], vec![put("n", "x".repeat(next))])) {
            Ok((_, end)) => ends.push(end),
            Err(error) => {
                // Only where `latest` may be behind; then validation has protected us.
                assert!(lane.is_behind() && error.kind() == ErrorKind::Conflict);
                conflicts += 1;
                assert!(conflicts < 1000);
            }
        }
    }
    for end in ends {
        end.recv().unwrap().unwrap();
    }
    assert_eq!(get(&*store, "n").unwrap().len(), 60);
}

pub(super) fn keys_are_validated_without_writing(lane: &dyn Lane) {
    let store = lane.open();
    let base = store.snapshot().unwrap();
    attempt(&*store, on(&base, &["a"], Vec::new())).unwrap();
    write(&*store, vec![put("a", "1")]);
    assert_eq!(kind(attempt(&*store, on(&base, &["a"], Vec::new()))), ErrorKind::Conflict);
}

pub(super) fn keys_to_validate_need_a_base(lane: &dyn Lane) {
    let store = lane.open();
    let validate = vec![bytes("a")];
    let commit = Commit { base: None, validate, writes: vec![put("a", "1")], ..Commit::default() };
    assert_eq!(kind(attempt(&*store, commit)), ErrorKind::Invalid);
    assert_eq!(get(&*store, "a"), None);
}

pub(super) fn put_if_absent_needs_an_absent_key(lane: &dyn Lane) {
    let store = lane.open();
    let once = |value: &str| attempt(&*store, Commit::of(vec![put_if_absent("a", value)]));
    once("1").unwrap();
    let error = once("2").unwrap_err();
    assert_eq!((error.kind(), keys_of(&error)), (ErrorKind::Exists, vec![bytes("a")]));
    store.maintain().unwrap();
    assert_eq!(kind(once("3")), ErrorKind::Exists);
    write(&*store, vec![delete("a")]);
    once("4").unwrap();
    write(&*store, vec![delete("a")]);
    store.maintain().unwrap();
    once("5").unwrap();
    assert_eq!(get(&*store, "a").unwrap(), "5");
}

pub(super) fn put_if_absent_asks_the_store_and_not_the_commit(lane: &dyn Lane) {
    let store = lane.open();
    write(&*store, vec![put("there", "1")]);
    let deleted_first = Commit::of(vec![delete("there"), put_if_absent("there", "2")]);
    assert_eq!(kind(attempt(&*store, deleted_first)), ErrorKind::Exists);
    write(&*store, vec![put("new", "1"), put_if_absent("new", "2")]);
    assert_eq!(get(&*store, "new").unwrap(), "2");
}

pub(super) fn one_of_many_puts_if_absent(lane: &dyn Lane) {
    let store = lane.open();
    let keys = 25;
    let won = AtomicU64::new(0);
    let racer = |name: String| {
        let (store, won) = (&*store, &won);
        move || {
            for key in 0..keys {
                match attempt(store, Commit::of(vec![put_if_absent(format!("{key}"), &name)])) {
                    Ok(_) => {
                        won.fetch_add(1, Ordering::SeqCst);
                        assert_eq!(get(store, format!("{key}")).unwrap(), name);
                    }
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Exists),
                }
            }
        }
    };
    together((0..6).map(|name| Box::new(racer(format!("{name}"))) as Box<_>).collect());
    assert_eq!(won.into_inner(), keys);
}

pub(super) fn no_update_is_lost(lane: &dyn Lane) {
    let store = lane.open();
    let (threads, rounds) = (4, 30);
    let updater = |seed: u64| {
        let store = &*store;
        move || {
            let mut random = SplitMix::new(seed);
            let mut done = 0;
            while done < rounds {
                // Some build on what is published, some on what is queued.
                let base = match random.chance(500) {
                    true => store.snapshot().unwrap(),
                    false => store.latest().unwrap(),
                };
                let next = base.get(b"n").unwrap().map_or(0, |value| value.len()) + 1;
                let writes = vec![put("n", "x".repeat(next)), put("beside", format!("{next}"))];
                match attempt(store, on(&base, &["n"], writes)) {
                    Ok(_) => done += 1,
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict),
                }
            }
        }
    };
    together((0..threads).map(|seed| Box::new(updater(seed)) as Box<_>).collect());
    let total = threads * rounds;
    assert_eq!(get(&*store, "n").unwrap().len() as u64, total);
    assert_eq!(get(&*store, "beside").unwrap(), format!("{total}"));
}
