//! Counters that several servers add to at once: sums, refusals, folds, kills, older forms.

mod faults;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use bytes::Bytes;
use shelfmark_conformance::Lane as _;
use shelfmark_conformance::terse::{
    Raised, add, attempt, counter, delete, get, kind, on, put, read, rows, write,
};
use shelfmark_store::clock::ManualClock;
use shelfmark_store::sleep::{Sleeper as _, ThreadSleeper};
use shelfmark_store::{Commit, Direction, ErrorKind, KeyRange, ScanLimits, Snapshot, Store, Write};

use crate::lanes::Space;

/// Additions of each thread.
const TURNS: u64 = 40;
/// Additions of each thread before all wait for each other.
const BURST: u64 = 5;
/// Longer than a counter is quiet before it is folded.
const QUIET: Duration = Duration::from_secs(61);

fn counted(snapshot: &dyn Snapshot, key: &str) -> i64 {
    snapshot.get(key.as_bytes()).unwrap().map_or(0, |value| Write::counter(&value).unwrap())
}

/// Adds until it is done, as an engine that is told of trouble.
fn commit(store: &dyn Store, writes: &[Write]) {
    loop {
        match store.commit(Commit::of(writes.to_vec())) {
            Ok(_) => return,
            Err(error) if error.kind() == ErrorKind::Busy => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// Has commits meet at the counter `n` until it is spread.
fn spread(one: &dyn Store, other: &dyn Store) {
    std::thread::scope(|scope| {
        for store in [one, other] {
            for _ in 0..4 {
                scope.spawn(move || (0..10).for_each(|_| commit(store, &[add("n", 1)])));
            }
        }
    });
    assert_eq!(counter(one, "n"), 80);
}

/// Returns how many rows the driver keeps beside those of the contract.
fn slots(lane: &Space) -> usize {
    lane.raw_rows(2).len()
}

/// Several servers add to one counter, and put a row with each addition. At every snapshot the counter
/// says how many rows there are, and it never falls, whatever is folded meanwhile.
#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn servers_that_add_at_once_lose_and_double_nothing() {
    let lane = &Space::new("serversthataddatonceloseanddoublenothing");
    let stores = [lane.open(), lane.open(), lane.open()];
    // For one whose minutes are short, a counter is quiet between two additions.
    let clock = Arc::new(ManualClock::at_micros(0));
    let folds = lane.open_by(clock.clone());
    let is_over = AtomicBool::new(false);
    let pause = Barrier::new(12);
    std::thread::scope(|scope| {
        let (over, pause) = (Raised(&is_over), &pause);
        let mut adding = Vec::new();
        for (number, store) in stores.iter().enumerate() {
            for thread in 0..4 {
                adding.push(scope.spawn(move || {
                    for turn in 0..TURNS {
                        if turn % BURST == 0 {
                            // So that there is something quiet to be folded when all go on at once.
                            pause.wait();
                            ThreadSleeper.sleep(Duration::from_millis(30));
                        }
                        let row = put(format!("row/{number}/{thread}/{turn:03}"), "x");
                        commit(&**store, &[row, add("n", 1), add("m", -1)]);
                    }
                }));
            }
        }
        let reader = scope.spawn(|| {
            let mut last = 0;
            while !is_over.load(Ordering::Relaxed) {
                let snapshot = stores[1].snapshot().unwrap();
                let now = counted(&*snapshot, "n");
                assert!(now >= last, "{now} behind {last}");
                last = now;
                let rows = rows(&*snapshot, &KeyRange::prefix("row/"));
                let rows = i64::try_from(rows.len()).unwrap();
                assert_eq!(now, rows, "the counter and the rows");
                assert_eq!(counted(&*snapshot, "m"), -rows);
                // As a scan and several gets show it.
                let keys = [Bytes::from("m"), Bytes::from("n")];
                let together = snapshot.get_many(&keys).unwrap();
                let range = KeyRange::new("m", "o");
                let limits = ScanLimits::default();
                for direction in [Direction::Ascending, Direction::Descending] {
                    let mut shown: Vec<_> = read(&*snapshot, &range, direction, limits)
                        .into_iter()
                        .map(|row| Some(row.value))
                        .collect();
                    if direction == Direction::Descending {
                        shown.reverse();
                    }
                    if rows > 0 {
                        assert_eq!(shown, together);
                    }
                }
            }
        });
        let folding = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                clock.advance(QUIET);
                folds.maintain().unwrap();
            }
        });
        adding.into_iter().for_each(|thread| thread.join().unwrap());
        drop(over);
        reader.join().unwrap();
        folding.join().unwrap();
    });
    let all = i64::try_from(TURNS).unwrap() * 12;
    assert_eq!(counter(&*stores[0], "n"), all);
    assert_eq!(counter(&*stores[2], "m"), -all);
}

/// A counter that nobody adds to becomes one key, which a server of any version reads.
#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn a_quiet_counter_becomes_one_key_again() {
    let lane = &Space::new("aquietcounterbecomesonekeyagain");
    let (one, other) = (lane.open(), lane.open());
    spread(&*one, &*other);
    assert!(slots(lane) > 1, "it was never spread");
    let before = one.snapshot().unwrap();
    assert_eq!(counted(&*before, "n"), 80);
    one.maintain().unwrap();
    lane.clock().advance(QUIET);
    write(&*other, vec![add("n", 1)]);
    one.maintain().unwrap();
    assert!(slots(lane) > 1, "it was added to");
    lane.clock().advance(QUIET);
    one.maintain().unwrap();
    assert_eq!(slots(lane), 0);
    let key = [&lane.outer_prefix()[..], b"n"].concat();
    assert_eq!(lane.raw_rows(1), [(key, Write::counter_value(81).to_vec())]);
    for store in [&one, &other] {
        assert_eq!(counter(&**store, "n"), 81);
    }
    for store in [&one, &other] {
        write(&**store, vec![add("n", 1)]);
    }
    assert_eq!(counter(&*one, "n"), 83);
}

/// What the older form of the driver wrote is a counter, and so is what a put leaves.
#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn counters_of_the_older_form_are_counted_on() {
    let lane = &Space::new("countersoftheolderformarecountedon");
    let (one, other) = (lane.open(), lane.open());
    write(&*one, vec![put("n", Write::counter_value(7))]);
    lane.put_raw(b"old", &Write::counter_value(5));
    assert_eq!(counter(&*one, "old"), 5);
    std::thread::scope(|scope| {
        for store in [&one, &other] {
            for _ in 0..3 {
                scope.spawn(move || {
                    (0..10).for_each(|_| commit(&**store, &[add("n", 1), add("old", 2)]));
                });
            }
        }
    });
    assert_eq!((counter(&*one, "n"), counter(&*other, "old")), (67, 125));
}

/// A commit that read a spread counter and rests on it, or writes over it, meets every addition since.
#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn who_read_a_spread_counter_meets_additions_to_it() {
    let lane = &Space::new("whoreadaspreadcountermeetsadditionstoit");
    let (one, other) = (lane.open(), lane.open());
    spread(&*one, &*other);
    let over = |base: &Arc<dyn Snapshot>, writes| {
        base.get(b"n").unwrap();
        on(base, &["n"], writes)
    };
    for writes in [
        vec![put("copy", "x")],
        vec![put("n", Write::counter_value(1))],
        vec![delete("n")],
        vec![add("n", 5)],
    ] {
        let before = counter(&*one, "n");
        let base = one.snapshot().unwrap();
        let refused = over(&base, writes.clone());
        write(&*other, vec![add("n", 1)]);
        assert_eq!(kind(attempt(&*one, refused)), ErrorKind::Conflict, "{writes:?}");
        assert_eq!(counter(&*one, "n"), before + 1);
        // A second one on the same base finds it by the value.
        assert_eq!(kind(attempt(&*one, over(&base, writes.clone()))), ErrorKind::Conflict);
        let base = one.snapshot().unwrap();
        let scanned = KeyRange::new("n", "o");
        read(&*base, &scanned, Direction::Ascending, ScanLimits::default());
        one.commit(on(&base, &["n"], writes.clone())).unwrap();
        if counter(&*one, "n") < 80 {
            write(&*one, vec![add("n", 1)]);
            assert!(counter(&*other, "n") <= 2, "additions from before came back");
            write(&*one, vec![delete("n")]);
            assert_eq!(get(&*other, "n"), None);
            spread(&*one, &*other);
        }
    }
}

/// A blind write of a counter replaces all that was added; what it leaves behind is removed.
#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn a_blind_write_replaces_what_was_added() {
    let lane = &Space::new("ablindwritereplaceswhatwasadded");
    let (one, other) = (lane.open(), lane.open());
    spread(&*one, &*other);
    write(&*other, vec![put("n", Write::counter_value(3)), add("n", 4)]);
    assert_eq!(counter(&*one, "n"), 7);
    write(&*one, vec![add("n", 1)]);
    assert_eq!(counter(&*other, "n"), 8);
    one.maintain().unwrap();
    assert_eq!(slots(lane), 0, "slots of nobody");
    write(&*one, vec![delete("n")]);
    assert_eq!(get(&*other, "n"), None);
    write(&*one, vec![delete("n"), add("n", 2)]);
    assert_eq!(counter(&*other, "n"), 2);
    let refused = one.commit(Commit::of(vec![put("text", "no counter"), add("text", 1)]));
    assert_eq!(kind(refused), ErrorKind::Corrupt);
}

/// Destroyed keys are gone with what was added to them.
#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn destroyed_counters_begin_at_nothing() {
    let lane = &Space::new("destroyedcountersbeginatnothing");
    let (one, other) = (lane.open(), lane.open());
    spread(&*one, &*other);
    one.destroy_range(&KeyRange::new("a", "z")).unwrap();
    assert_eq!(get(&*other, "n"), None);
    write(&*other, vec![add("n", 1)]);
    assert_eq!(counter(&*one, "n"), 1);
    one.maintain().unwrap();
    assert_eq!(slots(lane), 0);
}

/// Values that look like the driver's own come back as they were put.
#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn values_that_look_like_ours_are_values() {
    let lane = &Space::new("valuesthatlooklikeoursarevalues");
    let (one, other) = (lane.open(), lane.open());
    spread(&*one, &*other);
    let outer = lane.raw_rows(1);
    let (_, marked) = outer.first().unwrap();
    assert_ne!(marked.len(), 8, "it is not spread");
    write(&*one, vec![put("look", &marked[..])]);
    assert_eq!(get(&*other, "look").unwrap(), &marked[..]);
    let view = other.snapshot_at_first_read().unwrap();
    assert_eq!(view.get(b"look").unwrap().unwrap(), &marked[..]);
    let view = other.snapshot_at_first_read().unwrap();
    assert_eq!(counted(&*view, "n"), 80);
    assert_eq!(counted(&*view, "n"), counted(&*one.snapshot().unwrap(), "n"));
}
