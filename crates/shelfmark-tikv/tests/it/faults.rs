//! What a cluster does to its clients: lost answers, busy stores, other leaders, splits.
//!
//! The bed's fault switch, which `SHELFMARK_TIKV_FAULTS` names, makes it do so on request. One case at
//! a time: the switch is the store's.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use shelfmark_conformance::Lane as _;
use shelfmark_conformance::terse::{attempt, get, kind, on, put, put_if_absent, read, write};
use shelfmark_store::sleep::{Sleeper as _, ThreadSleeper};
use shelfmark_store::{Commit, Direction, ErrorKind, KeyRange, ScanLimits};

use crate::calls::{ask, count_of};
use crate::lanes::Space;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Has the next `count` calls of `method` meet a fault while `case` runs.
fn with_fault<T>(method: &str, mode: &str, count: u32, case: impl FnOnce() -> T) -> T {
    ask(&format!("/fault?method={method}&mode={mode}&n={count}&ms=300"));
    let outcome = case();
    ask(&format!("/fault?method={method}&mode=none&n=0"));
    outcome
}

/// Runs a case in a space of its own while no other uses the switch.
pub(crate) fn case(name: &str, body: impl FnOnce(&Space)) {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    body(&Space::new(name));
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn a_commit_whose_answers_are_all_lost_is_known_to_have_happened() {
    case("lostanswers", |lane| {
        let store = lane.open();
        write(&*store, vec![put("a", "0")]);
        let base = store.snapshot().unwrap();
        let commit = on(&base, &["a"], vec![put("a", "1"), put("b", "1"), put_if_absent("c", "1")]);
        let outcome = with_fault("KvCommit", "drop-after", 1_000, || store.commit(commit));
        outcome.unwrap();
        for key in ["a", "b", "c"] {
            assert_eq!(get(&*store, key).unwrap(), "1", "{key}");
        }
    });
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn a_commit_that_never_arrives_is_known_not_to_have_happened() {
    case("neverarrives", |lane| {
        let store = lane.open();
        write(&*store, vec![put("a", "0")]);
        let commit = Commit::of(vec![put("a", "1"), put("b", "1")]);
        let outcome = with_fault("KvPrewrite", "drop-before", 100_000, || store.commit(commit));
        assert_eq!(kind(outcome), ErrorKind::Unavailable);
        assert_eq!(get(&*store, "a").unwrap(), "0");
        assert_eq!(get(&*store, "b"), None);
        write(&*store, vec![put("a", "2")]);
    });
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn passing_troubles_are_not_told() {
    case("passing", |lane| {
        let store = lane.open();
        for (round, (method, mode)) in [
            ("KvPrewrite", "busy"),
            ("KvPrewrite", "not-leader"),
            ("KvPrewrite", "drop-after"),
            ("KvCommit", "busy"),
            ("KvCommit", "drop-before"),
            ("KvCommit", "delay"),
        ]
        .into_iter()
        .enumerate()
        {
            let value = round.to_string();
            let commit = Commit::of(vec![put("a", &value), put("b", &value)]);
            with_fault(method, mode, 3, || store.commit(commit)).unwrap();
            assert_eq!(get(&*store, "b").unwrap(), value.as_bytes());
        }
        for (method, mode) in [("KvGet", "busy"), ("KvGet", "not-leader"), ("KvGet", "drop-before")]
        {
            with_fault(method, mode, 3, || assert!(get(&*store, "a").is_some()));
        }
        for (method, mode) in [("KvScan", "busy"), ("KvScan", "drop-after"), ("KvScan", "delay")] {
            let all = with_fault(method, mode, 3, || {
                let snapshot = store.snapshot().unwrap();
                read(&*snapshot, &KeyRange::all(), Direction::Descending, ScanLimits::default())
            });
            assert_eq!(all.len(), 2);
        }
    });
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn a_refused_commit_leaves_no_lock_that_others_wait_for() {
    case("nolock", |lane| {
        let store = lane.open();
        let base = store.snapshot().unwrap();
        write(&*store, vec![put("m", "1")]);
        let many = (0..50).map(|key| put(format!("{key:02}"), "x")).collect();
        assert_eq!(kind(attempt(&*store, on(&base, &["m"], many))), ErrorKind::Conflict);
        for key in 0..50 {
            write(&*store, vec![put(format!("{key:02}"), "y")]);
        }
    });
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn regions_that_split_under_a_scan_lose_and_repeat_nothing() {
    case("splits", |lane| {
        let store = lane.open();
        let keys: Vec<String> = (0..300).map(|key| format!("{key:04}")).collect();
        for part in keys.chunks(50) {
            write(&*store, part.iter().map(|key| put(key, "x".repeat(100))).collect());
        }
        let prefix = lane.outer_prefix();
        for (round, direction) in
            [Direction::Ascending, Direction::Descending].into_iter().cycle().take(8).enumerate()
        {
            let snapshot = store.snapshot().unwrap();
            let limits = ScanLimits { rows_max: 7, ..ScanLimits::default() };
            let mut rest = Some(KeyRange::all());
            let mut found = Vec::new();
            while let Some(range) = rest {
                let page = snapshot.scan(&range, direction, limits).unwrap();
                found.extend(
                    page.rows.iter().map(|row| String::from_utf8_lossy(&row.key).into_owned()),
                );
                rest = page.next;
                if found.len() % 21 == 0 {
                    let cut = keys[(found.len() * 7 + round * 31) % keys.len()].as_bytes();
                    let hex: String =
                        prefix.iter().chain(cut).map(|byte| format!("{byte:02x}")).collect();
                    ask(&format!("/split?key={hex}"));
                }
            }
            if direction == Direction::Descending {
                found.reverse();
            }
            assert_eq!(found, keys);
        }
        assert!(store.boundaries(&KeyRange::all()).unwrap().len() > 10);
    });
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn locks_that_nobody_ends_are_taken_by_others_when_they_are_old() {
    case("oldlocks", |lane| {
        let (first, second) = (lane.open(), lane.open());
        write(&*first, vec![put("p", "0"), put("v", "0")]);
        let base = first.snapshot().unwrap();
        let before = count_of("KvPrewrite");
        // For longer than a lock lives; then for nobody any more.
        ask("/fault?method=KvCommit&mode=drop-before&n=100");
        std::thread::scope(|scope| {
            // It changes one key and has read the other: its lock there changes nothing.
            let commit = on(&base, &["v"], vec![put("p", "1")]);
            let stuck = scope.spawn(|| first.commit(commit));
            ThreadSleeper.sleep(Duration::from_millis(200));
            let mut tries = 0;
            while let Err(error) = second.commit(Commit::of(vec![put("v", "2")])) {
                let kind = error.kind();
                assert!(matches!(kind, ErrorKind::Busy | ErrorKind::Conflict), "{error}");
                tries += 1;
                assert!(tries < 20, "the locks stay");
            }
            let expected = if stuck.join().unwrap().is_ok() { "1" } else { "0" };
            assert_eq!(get(&*second, "p").unwrap(), expected);
            assert_eq!(get(&*first, "v").unwrap(), "2");
        });
        let asked = count_of("KvPrewrite") - before;
        assert!(asked < 300, "who waits for a lock asks {asked} times");
        ask("/fault?method=KvCommit&mode=none&n=0");
    });
}
