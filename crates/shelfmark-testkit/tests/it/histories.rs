//! Read-modify-write on few keys, by turns and in a race: the histories must be clean.

use std::sync::atomic::{AtomicBool, Ordering};

use shelfmark_conformance::history::{History, Outcome, Version, check};
use shelfmark_conformance::terse::Raised;
use shelfmark_conformance::workload::{Workload, interleave, race};
use shelfmark_store::Store;
use shelfmark_testkit::seeds;

use crate::stores;

/// What came of all histories of a test, to make sure that something was tried at all.
#[derive(Debug, Default)]
struct Sum {
    committed: usize,
    aborted: usize,
    unknown: usize,
}

impl Sum {
    fn judge(&mut self, history: &History) {
        for record in &history.records {
            match record.outcome {
                Outcome::Committed(_) => self.committed += 1,
                Outcome::Aborted => self.aborted += 1,
                Outcome::Unknown => self.unknown += 1,
            }
        }
        let anomalies = check(history);
        assert!(anomalies.is_empty(), "{anomalies:#?}\n{history:#?}");
    }

    /// Checks that some went through and some met, among `tried`.
    fn is_fair(&self, tried: usize) {
        assert_eq!(self.committed + self.aborted + self.unknown, tried);
        // One seed alone may be a quiet one.
        if tried >= 1000 {
            assert!(self.committed > tried / 5, "{self:?}");
            assert!(self.aborted > tried / 20, "{self:?}");
        }
    }
}

fn tried(workload: Workload) -> usize {
    workload.clients * workload.transactions
}

#[test]
fn by_turns_on_memory() {
    let (mut sum, mut all) = (Sum::default(), 0);
    seeds::each(150, 5000, |seed| {
        let workload = Workload::new(seed);
        sum.judge(&interleave(&stores::memory(), workload).unwrap());
        all += tried(workload);
    });
    sum.is_fair(all);
}

#[test]
fn by_turns_on_the_meanest() {
    let (mut sum, mut all) = (Sum::default(), 0);
    seeds::each(150, 5000, |seed| {
        let workload = Workload::new(seed);
        let store = stores::meanest(seed, 0);
        let history = interleave(&store, workload).unwrap();
        sum.judge(&history);
        all += tried(workload);
        // The same seed does the same.
        if seed % 16 == 0 {
            let again = interleave(&stores::meanest(seed, 0), workload).unwrap();
            assert_eq!(again, history);
        }
    });
    sum.is_fair(all);
    assert!(sum.unknown > all / 50 || all < 1000, "{sum:?}");
}

/// Runs a workload on a store in a folder, judges it, and looks whether a reopen changes anything.
fn embedded(sum: &mut Sum, workload: Workload, run: impl Fn(&dyn Store, Workload) -> History) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("store");
    let workload = Workload { filler_bytes: 10_000, ..workload };
    let store = stores::embedded(&folder);
    let history = run(&store, workload);
    store.close().unwrap();
    drop(store);
    let store = stores::embedded(&folder);
    for (key, list) in &history.finals {
        let value = store.snapshot().unwrap().get(key).unwrap();
        let found = Version::read_list(value.as_ref()).unwrap();
        assert_eq!(&found, list, "after a reopen");
    }
    sum.judge(&history);
}

#[test]
fn by_turns_on_embedded() {
    let (mut sum, mut all) = (Sum::default(), 0);
    seeds::each(10, 1000, |seed| {
        let workload = Workload { transactions: 30, ..Workload::new(seed) };
        embedded(&mut sum, workload, |store, workload| interleave(store, workload).unwrap());
        all += tried(workload);
    });
    sum.is_fair(all);
}

#[test]
fn in_a_race_on_memory() {
    seeds::each(30, 2000, |seed| {
        let workload = Workload { transactions: 40, ..Workload::new(seed) };
        Sum::default().judge(&race(&stores::memory(), workload).unwrap());
    });
}

#[test]
fn in_a_race_on_the_meanest() {
    seeds::each(20, 1000, |seed| {
        let workload = Workload { transactions: 40, ..Workload::new(seed) };
        let store = stores::meanest(seed, 150);
        Sum::default().judge(&race(&store, workload).unwrap());
        store.close().unwrap();
    });
}

#[test]
fn in_a_race_on_embedded() {
    let (mut sum, mut all) = (Sum::default(), 0);
    seeds::each(5, 500, |seed| {
        let workload = Workload { clients: 6, transactions: 40, ..Workload::new(seed) };
        embedded(&mut sum, workload, |store, workload| {
            let is_done = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !is_done.load(Ordering::SeqCst) {
                        store.maintain().unwrap();
                        std::thread::yield_now();
                    }
                });
                let _done = Raised(&is_done);
                race(store, workload).unwrap()
            })
        });
        all += tried(workload);
    });
    sum.is_fair(all);
}
