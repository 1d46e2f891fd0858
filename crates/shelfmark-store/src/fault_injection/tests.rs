//! Checks that the faults come, as often as asked for, within the contract, and again for the same
//! seed.

use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use super::{FaultInjectingStore, FaultOptions, Injected};
use crate::clock::ManualClock;
use crate::memory::MemoryStore;
use crate::{Commit, Direction, ErrorKind, KeyRange, ScanLimits, Store as _, Write};

fn new(options: FaultOptions) -> FaultInjectingStore {
    let inner = MemoryStore::new(Arc::new(ManualClock::at_micros(0)));
    FaultInjectingStore::new(Arc::new(inner), options)
}

/// Returns options without faults, for a test to switch some on.
fn kind(seed: u64) -> FaultOptions {
    FaultOptions {
        empty_page: 0,
        conflict: 0,
        busy: 0,
        undetermined: 0,
        late: 0,
        behind: 0,
        ..FaultOptions::new(seed)
    }
}

fn put(key: &str, value: &str) -> Write {
    Write::Put { key: key.to_owned().into(), value: value.to_owned().into() }
}

fn validated(store: &FaultInjectingStore, write: Write) -> Commit {
    let base = Some(store.snapshot().unwrap());
    Commit {
        base,
        validate: vec!["x".into(), "y".into()],
        writes: vec![write],
        ..Commit::default()
    }
}

/// Returns what happened to a workload: the outcome of each commit, and the lengths of all pages.
fn run(seed: u64) -> (Vec<String>, Vec<usize>, Injected) {
    let options = FaultOptions { undetermined: 100, too_old: 30, ..FaultOptions::new(seed) };
    let store = new(options);
    let mut ends = Vec::new();
    let mut pages = Vec::new();
    for round in 0..200 {
        let commit = validated(&store, put(&format!("k{:02}", round % 40), "v"));
        ends.push(match store.commit(commit) {
            Ok(committed) => committed.number.to_string(),
            Err(error) => format!("{:?} {:?}", error.kind(), error.keys()),
        });
        let latest = store.latest().unwrap();
        let mut rest = Some(KeyRange::all());
        while let Some(range) = rest {
            let page = latest.scan(&range, Direction::Ascending, ScanLimits::default());
            let Ok(page) = page else { break };
            pages.push(page.rows.len());
            rest = page.next;
        }
    }
    (ends, pages, store.injected())
}

#[test]
fn the_same_seed_does_the_same() {
    assert_eq!(run(1), run(1));
    assert_ne!(run(1).0, run(2).0);
    assert_ne!(run(1).1, run(2).1);
}

#[test]
fn a_fault_more_or_less_does_not_shift_the_others() {
    let ends = |quiet: usize, looks: usize| -> Vec<String> {
        let store = new(FaultOptions { undetermined: 200, ..FaultOptions::new(12) });
        let end = |round: usize| {
            store.set_faults(round >= quiet);
            for _ in 0..looks {
                let snapshot = store.latest().unwrap();
                snapshot
                    .scan(&KeyRange::all(), Direction::Ascending, ScanLimits::default())
                    .unwrap();
            }
            let ended = store.commit(validated(&store, put("a", &round.to_string())));
            let there =
                store.snapshot().unwrap().get(b"a").unwrap() == Some(round.to_string().into());
            format!("{:?} {there}", ended.err().map(|error| error.kind()))
        };
        (0..200).map(end).skip(100).collect()
    };
    let expected = ends(0, 0);
    assert_eq!(ends(100, 0), expected);
    assert_eq!(ends(0, 3), expected);
}

#[test]
fn every_fault_comes() {
    let (_, _, injected) = run(3);
    let Injected {
        conflicts,
        busy,
        undetermined_applied,
        undetermined_lost,
        too_old,
        late,
        empty_pages,
        behind,
    } = injected;
    let counts = [
        conflicts,
        busy,
        undetermined_applied,
        undetermined_lost,
        too_old,
        late,
        empty_pages,
        behind,
    ];
    assert!(counts.iter().all(|count| *count > 0), "{injected:?}");
}

#[test]
fn an_undetermined_commit_is_there_wholly_or_not_at_all() {
    let store = new(FaultOptions { undetermined: 1000, late: 300, ..kind(4) });
    let mut there = 0;
    for round in 0..100 {
        let (one, other) = (format!("a{round}"), format!("b{round}"));
        let commit = Commit::of(vec![put(&one, "v"), put(&other, "v")]);
        assert_eq!(store.commit(commit).unwrap_err().kind(), ErrorKind::Undetermined);
        let snapshot = store.snapshot().unwrap();
        let found = snapshot.get(one.as_bytes()).unwrap();
        assert_eq!(found, snapshot.get(other.as_bytes()).unwrap());
        there += u64::from(found.is_some());
    }
    assert_eq!(there, store.injected().undetermined_applied);
    assert!((20..80).contains(&there), "{there} of 100");
}

#[test]
fn a_lost_commit_is_validated_all_the_same() {
    let store = new(FaultOptions { undetermined: 1000, ..kind(5) });
    store.set_faults(false);
    let stale = validated(&store, put("a", "v"));
    store.commit(Commit::of(vec![put("x", "new")])).unwrap();
    store.set_faults(true);
    assert_eq!(store.commit(stale).unwrap_err().kind(), ErrorKind::Conflict);
}

#[test]
fn only_validating_commits_conflict() {
    let store = new(FaultOptions { conflict: 1000, ..kind(6) });
    store.commit(Commit::of(vec![put("a", "v")])).unwrap();
    let error = store.commit(validated(&store, put("a", "v"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(error.keys().len(), 1);
    assert!(error.keys() == ["x"] || error.keys() == ["y"]);
}

#[test]
fn busy_says_how_long_to_wait() {
    let store = new(FaultOptions { busy: 1000, ..kind(7) });
    let error = store.commit(Commit::of(vec![put("a", "v")])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert_eq!(error.retry_after(), Some(FaultOptions::new(7).busy_wait));
    assert_eq!(store.stats().busy_refusals, 1);
    assert_eq!(store.snapshot().unwrap().get(b"a").unwrap(), None);
}

#[test]
fn a_late_commit_is_queued_before_it_is_published() {
    let late_wait = std::time::Duration::from_millis(30);
    let store = new(FaultOptions { late: 1000, late_wait, ..kind(8) });
    let (sender, receiver) = mpsc::channel();
    let here = std::thread::current().id();
    let done = Box::new(move |outcome: crate::Result<_>| {
        outcome.unwrap();
        assert_ne!(std::thread::current().id(), here);
        sender.send(()).unwrap();
    });
    store.submit(Commit::of(vec![put("a", "v")]), done).unwrap();
    assert_eq!(store.snapshot().unwrap().get(b"a").unwrap(), None);
    assert_eq!(store.latest().unwrap().get(b"a").unwrap().unwrap(), "v");
    assert_eq!(store.stats().commits_pending, 1);
    receiver.recv().unwrap();
    assert_eq!(store.snapshot().unwrap().get(b"a").unwrap().unwrap(), "v");
    assert_eq!(store.stats().commits_pending, 0);
}

#[test]
fn what_is_published_never_goes_back() {
    let store = Arc::new(new(FaultOptions { late: 500, ..kind(9) }));
    let mut threads = Vec::new();
    for _ in 0..2 {
        let store = store.clone();
        threads.push(
            crate::threads::spawn("writer", move || {
                for _ in 0..200 {
                    let add = Write::Add { key: "n".into(), delta: 1 };
                    let number = store.commit(Commit::of(vec![add])).unwrap().number;
                    assert!(store.snapshot().unwrap().id().commit >= number);
                }
            })
            .unwrap(),
        );
    }
    let mut last = 0;
    while last < 400 && !threads.iter().all(JoinHandle::is_finished) {
        let snapshot = store.snapshot().unwrap();
        let now = snapshot.get(b"n").unwrap().map_or(0, |count| Write::counter(&count).unwrap());
        assert!(now >= last, "{now} after {last}");
        last = now;
    }
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn closing_tells_every_end() {
    let store = new(FaultOptions { late: 1000, ..kind(10) });
    let (sender, receiver) = mpsc::channel();
    for round in 0..20 {
        let sender = sender.clone();
        let done = Box::new(move |outcome: crate::Result<_>| sender.send(outcome).unwrap());
        store.submit(Commit::of(vec![put(&format!("{round}"), "v")]), done).unwrap();
    }
    store.close().unwrap();
    drop(sender);
    assert_eq!(receiver.iter().filter(Result::is_ok).count(), 20);
    assert_eq!(store.snapshot().err().unwrap().kind(), ErrorKind::Closed);
}

#[test]
fn boundaries_lie_inside_and_need_no_row() {
    let store = new(kind(11));
    for key in 0..200 {
        store.commit(Commit::of(vec![put(&format!("{key:03}"), "v")])).unwrap();
    }
    let cuts = store.boundaries(&KeyRange::new("050", "150")).unwrap();
    assert!(cuts.len() > 3);
    assert!(cuts.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(cuts.iter().all(|cut| *cut > "050" && *cut < "150"));
    assert!(cuts.iter().any(|cut| cut.len() == 4));
}
