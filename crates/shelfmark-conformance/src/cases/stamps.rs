//! Numbers, stamps and counters.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use shelfmark_store::random::SplitMix;
use shelfmark_store::{Commit, ErrorKind, KeyRange, Write};

use crate::lane::Lane;
use crate::terse::{
    Raised, add, attempt, counter, delete, follows, get, kind, put, put_if_absent, put_stamped,
    rows, shows, submit, together, write,
};

pub(super) fn numbers_are_consecutive(lane: &dyn Lane) {
    let mut store = lane.open();
    let mut last = write(&*store, vec![put("a", "1")]);
    for _ in 0..3 {
        for _ in 0..10 {
            let number = write(&*store, vec![put("a", "1")]);
            assert!(follows(&*store, number, last));
            last = number;
        }
        store = lane.reopen(store);
        assert!(shows(&*store, store.snapshot().unwrap().id().commit, last));
    }
}

/// Returns the stamp in a key `log ‖ stamp ‖ suffix`.
fn stamp(key: &[u8]) -> u64 {
    u64::from_be_bytes(key["log".len()..][..8].try_into().unwrap())
}

pub(super) fn a_stamp_is_the_number_of_its_commit(lane: &dyn Lane) {
    let store = lane.open();
    let committed = Mutex::new(BTreeSet::new());
    let writer = |name: &'static str| {
        let (store, committed) = (&store, &committed);
        move || {
            for round in 0..40 {
                let value = format!("{name}{round}");
                let writes = vec![
                    put_stamped("log", "/a", &value),
                    put("other", &value),
                    put_stamped("log", "/b", &value),
                ];
                let number = write(&**store, writes);
                committed.lock().unwrap().insert((number, value));
            }
        }
    };
    let names = ["x", "y", "z"];
    together(names.map(|name| Box::new(writer(name)) as Box<dyn FnOnce() + Send>).into());
    let committed = committed.into_inner().unwrap();
    assert_eq!(committed.len(), names.len() * 40);
    let store = lane.reopen(store);
    let entries = rows(&*store.snapshot().unwrap(), &KeyRange::prefix("log"));
    let expected = committed.iter().flat_map(|(number, value)| {
        ["/a", "/b"].map(|suffix| {
            let mut key = b"log".to_vec();
            key.extend(number.to_be_bytes());
            key.extend(suffix.as_bytes());
            (key.into(), value.clone().into())
        })
    });
    assert_eq!(entries, Vec::from_iter(expected));
}

pub(super) fn no_stamp_is_passed_by_a_reader(lane: &dyn Lane) {
    let store = lane.open();
    let is_done = AtomicBool::new(false);
    let writer = || {
        for round in 0..150 {
            write(&*store, vec![put_stamped("log", "", format!("{round}"))]);
        }
    };
    let reader = || {
        let mut seen = BTreeSet::new();
        let mut upto: u64 = 0;
        loop {
            let is_last = is_done.load(Ordering::SeqCst);
            let snapshot = store.snapshot().unwrap();
            let through = snapshot.stamped_through().unwrap();
            let mut start = b"log".to_vec();
            start.extend((upto + 1).to_be_bytes());
            let range = KeyRange { start: start.into(), end: KeyRange::prefix("log").end };
            for (key, _) in rows(&*snapshot, &range) {
                let stamp = stamp(&key);
                assert!(stamp <= snapshot.id().commit, "a stamp above the snapshot's own number");
                if stamp > through {
                    continue;
                }
                assert!(seen.insert(stamp));
            }
            // Nothing may ever appear at or below what a snapshot that was read has whole.
            upto = through;
            if is_last {
                break;
            }
        }
        assert_eq!(seen.len(), 300);
    };
    let writers = || {
        let _raised = Raised(&is_done);
        together(vec![Box::new(writer), Box::new(writer)]);
    };
    together(vec![Box::new(writers), Box::new(reader)]);
}

pub(super) fn counters_count(lane: &dyn Lane) {
    let store = lane.open();
    write(&*store, vec![add("n", 5)]);
    assert_eq!(counter(&*store, "n"), 5);
    write(&*store, vec![add("n", -8), add("m", 1), add("n", 1)]);
    assert_eq!((counter(&*store, "n"), counter(&*store, "m")), (-2, 1));
    // In one commit, one write after the other.
    let set = |count| put("n", Write::counter_value(count));
    write(&*store, vec![set(10), add("n", 2), add("n", 3)]);
    assert_eq!(counter(&*store, "n"), 15);
    write(&*store, vec![add("n", 2), set(3)]);
    assert_eq!(counter(&*store, "n"), 3);
    write(&*store, vec![delete("n"), add("n", 4)]);
    assert_eq!(counter(&*store, "n"), 4);
    write(&*store, vec![add("n", 4), delete("n")]);
    assert_eq!(get(&*store, "n"), None);
    store.maintain().unwrap();
    write(&*store, vec![add("n", 7), add("zero", 3)]);
    write(&*store, vec![add("zero", -3)]);
    let store = lane.reopen(store);
    assert_eq!(counter(&*store, "n"), 7);
    // A counter at zero is there; absence is not its business.
    assert_eq!(get(&*store, "zero").unwrap(), Write::counter_value(0));
}

pub(super) fn counters_sum_what_many_add(lane: &dyn Lane) {
    let store = lane.open();
    let sums = [const { AtomicI64::new(0) }; 3];
    let adder = |seed: u64| {
        let (store, sums) = (&store, &sums);
        move || {
            let mut random = SplitMix::new(seed);
            for round in 0..60 {
                let which = random.index(3);
                let delta = i64::try_from(random.below(2000)).unwrap() - 1000;
                sums[which].fetch_add(delta, Ordering::SeqCst);
                let beside = put(format!("{seed}/{round}"), "x");
                write(&**store, vec![add(format!("n{which}"), delta), beside]);
            }
        }
    };
    together((0..4).map(|seed| Box::new(adder(seed)) as Box<_>).collect());
    let store = lane.crash(store);
    for (which, sum) in sums.iter().enumerate() {
        assert_eq!(counter(&*store, format!("n{which}")), sum.load(Ordering::SeqCst));
    }
}

pub(super) fn a_counter_over_something_else_is_corrupt(lane: &dyn Lane) {
    let store = lane.open();
    write(&*store, vec![put("a", "no counter")]);
    let commit = Commit::of(vec![put("b", "1"), add("a", 1)]);
    assert_eq!(kind(attempt(&*store, commit)), ErrorKind::Corrupt);
    assert_eq!(get(&*store, "a").unwrap(), "no counter");
    assert_eq!(get(&*store, "b"), None);
    write(&*store, vec![put("b", "1")]);
}

pub(super) fn additions_act_in_their_place_in_a_commit(lane: &dyn Lane) {
    let store = lane.open();
    let set = |count| put("n", Write::counter_value(count));
    // Behind a put they count on from it, whatever the store holds.
    write(&*store, vec![put("n", "no counter")]);
    write(&*store, vec![set(10), add("n", 5)]);
    assert_eq!(counter(&*store, "n"), 15);
    write(&*store, vec![put("n", "no counter")]);
    write(&*store, vec![delete("n"), add("n", 2), add("n", 3)]);
    assert_eq!(counter(&*store, "n"), 5);
    write(&*store, vec![put_if_absent("m", Write::counter_value(1)), add("m", 1)]);
    assert_eq!(counter(&*store, "m"), 2);
    // What the commit itself put and is no counter refuses it whole.
    for refused in [
        vec![put("b", "1"), put("n", "no counter"), add("n", 1)],
        vec![put("b", "1"), put_if_absent("new", "no counter"), add("new", 1)],
    ] {
        assert_eq!(kind(attempt(&*store, Commit::of(refused))), ErrorKind::Corrupt);
        assert_eq!((get(&*store, "b"), get(&*store, "new")), (None, None));
        assert_eq!(counter(&*store, "n"), 5);
    }
    // One of several commits in a group sees what the ones before it left.
    let commits =
        [vec![set(1)], vec![add("n", 1)], vec![delete("n"), add("n", 7)], vec![add("n", 1)]];
    let ends: Vec<_> = commits.map(|writes| submit(&*store, Commit::of(writes)).unwrap().1).into();
    for end in ends {
        end.recv().unwrap().unwrap();
    }
    let store = lane.reopen(store);
    assert_eq!(counter(&*store, "n"), 8);
}

pub(super) fn counters_wrap_around(lane: &dyn Lane) {
    let store = lane.open();
    write(&*store, vec![add("a", i64::MAX), add("a", 2)]);
    assert_eq!(counter(&*store, "a"), i64::MIN + 1);
    write(&*store, vec![add("b", i64::MAX)]);
    write(&*store, vec![add("b", i64::MAX), add("b", -i64::MAX), add("b", 1), add("b", -1)]);
    assert_eq!(counter(&*store, "b"), i64::MAX);
    write(&*store, vec![put("c", Write::counter_value(i64::MIN)), add("c", -1)]);
    assert_eq!(counter(&*store, "c"), i64::MAX);
    // Whoever is first, and however they are grouped: the sum is the same.
    let deltas = [i64::MAX, i64::MAX, i64::MIN, -5];
    let ends: Vec<_> =
        deltas.map(|delta| submit(&*store, Commit::of(vec![add("d", delta)])).unwrap().1).into();
    for end in ends {
        end.recv().unwrap().unwrap();
    }
    let store = lane.reopen(store);
    assert_eq!(
        counter(&*store, "d"),
        deltas.iter().fold(0, |sum: i64, one| sum.wrapping_add(*one))
    );
}
