//! Spread counters while answers get lost and servers die; and how often additions meet.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use shelfmark_conformance::Lane as _;
use shelfmark_conformance::terse::{add, counter};
use shelfmark_store::clock::{Clock as _, SystemClock};
use shelfmark_store::sleep::{Sleeper as _, ThreadSleeper};
use shelfmark_store::{Commit, Error, ErrorKind};

use super::{commit, spread};
use crate::calls::{ask, count_of};
use crate::faults::case;

/// Additions do not meet once a counter is spread: a commit asks for its locks once.
#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn additions_of_two_servers_do_not_meet() {
    case("donotmeet", |lane| {
        let (one, other) = (lane.open(), lane.open());
        spread(&*one, &*other);
        let before = (count_of("KvPrewrite"), count_of("KvBatchRollback"));
        let clock = SystemClock::new();
        let began = clock.monotonic();
        std::thread::scope(|scope| {
            for store in [&one, &other] {
                for _ in 0..8 {
                    scope.spawn(move || {
                        (0..50).for_each(|_| commit(&**store, &[add("n", 1)]));
                    });
                }
            }
        });
        let prewrites = count_of("KvPrewrite") - before.0;
        let rolled_back = count_of("KvBatchRollback") - before.1;
        println!(
            "800 additions: {prewrites} prewrites, {rolled_back} refused, {:?}",
            clock.monotonic() - began
        );
        assert_eq!(counter(&*one, "n"), 880);
        // Processes part after the first conflicts.
        assert!(rolled_back < 80, "{rolled_back} transactions of 800 were refused");
    });
}

/// Answers that are lost, and servers that are gone between the two phases, neither lose an addition
/// that was acknowledged nor double one.
#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn additions_whose_ends_are_not_known_count_once() {
    case("addfaults", |lane| {
        let (one, other) = (lane.open(), lane.open());
        spread(&*one, &*other);
        let (done, perhaps) = (AtomicU64::new(0), AtomicU64::new(0));
        for (method, mode) in [
            ("KvCommit", "drop-after"),
            ("KvCommit", "drop-before"),
            ("KvPrewrite", "drop-after"),
            ("KvPrewrite", "busy"),
            ("KvScan", "drop-after"),
        ] {
            ask(&format!("/fault?method={method}&mode={mode}&n=7"));
            std::thread::scope(|scope| {
                for store in [&one, &other] {
                    for _ in 0..3 {
                        scope.spawn(|| {
                            for _ in 0..5 {
                                match store.commit(Commit::of(vec![add("n", 1)])) {
                                    Ok(_) => done.fetch_add(1, Ordering::Relaxed),
                                    Err(error) => told(&error, &perhaps),
                                };
                            }
                        });
                    }
                }
            });
            ask(&format!("/fault?method={method}&mode=none&n=0"));
        }
        let counted = u64::try_from(counter(&*other, "n")).unwrap() - 80;
        let (done, perhaps) = (done.into_inner(), perhaps.into_inner());
        assert!(
            counted >= done && counted <= done + perhaps,
            "{done} to {}: {counted}",
            done + perhaps
        );
    });
}

fn told(error: &Error, perhaps: &AtomicU64) -> u64 {
    match error.kind() {
        ErrorKind::Undetermined => perhaps.fetch_add(1, Ordering::Relaxed),
        ErrorKind::Busy | ErrorKind::Unavailable => 0,
        _ => panic!("{error}"),
    }
}

/// A server that dies between the phases leaves its slot locked; others add meanwhile, and the sum is
/// right once the lock is old.
#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn a_server_that_dies_between_the_phases_holds_up_nobody_for_long() {
    case("adddies", |lane| {
        let (one, other) = (lane.open(), lane.open());
        spread(&*one, &*other);
        ask("/fault?method=KvCommit&mode=drop-before&n=1000");
        let mut seen = BTreeSet::new();
        std::thread::scope(|scope| {
            let stuck = scope.spawn(|| one.commit(Commit::of(vec![add("n", 1)])));
            ThreadSleeper.sleep(Duration::from_millis(300));
            ask("/fault?method=KvCommit&mode=none&n=0");
            for _ in 0..5 {
                commit(&*other, &[add("n", 10)]);
                seen.insert(counter(&*other, "n"));
            }
            let first = i64::from(stuck.join().unwrap().is_ok());
            assert_eq!(counter(&*other, "n"), 80 + 50 + first);
        });
        assert_eq!(seen.len(), 5);
    });
}
