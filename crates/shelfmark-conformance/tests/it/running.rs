//! Running cases: those that hang, those that panic beside others, and names.

use std::collections::BTreeSet;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use shelfmark_conformance::{CONTRACT, HISTORIES, Lane, Outcome, contract};
use shelfmark_store::Store;
use shelfmark_store::clock::ManualClock;

use crate::wrong::{Wrong, WrongLane};

/// A lane whose driver opens a store when it is told to, or fails.
struct Gate(WrongLane, Mutex<Receiver<bool>>);

impl Lane for Gate {
    fn open(&self) -> Arc<dyn Store> {
        assert!(self.1.lock().unwrap().recv().unwrap(), "no store today");
        self.0.open()
    }

    fn clock(&self) -> &ManualClock {
        self.0.clock()
    }

    fn keeps(&self) -> bool {
        false
    }
}

#[test]
fn a_case_that_hangs_is_waited_for_as_long_as_one_likes() {
    let case = contract("a_prefix_is_a_range");
    let start = || {
        let (open, gate) = mpsc::channel();
        let lane = Gate(WrongLane::new(Wrong::Nothing), Mutex::new(gate));
        (open, case.start(Arc::new(lane), 0).unwrap())
    };
    let (open, running) = start();
    assert_eq!(running.wait(Duration::from_millis(20)), None);
    open.send(true).unwrap();
    assert_eq!(running.wait(Duration::from_secs(60)), Some(Outcome::Held));
    let (refuse, running) = start();
    refuse.send(false).unwrap();
    let Some(Outcome::Failed(message)) = running.wait(Duration::from_secs(60)) else { panic!() };
    assert!(message.contains("no store today"), "{message}");
}

#[test]
fn names_are_told_apart() {
    let names: BTreeSet<&str> = CONTRACT.iter().chain(HISTORIES).map(|case| case.name).collect();
    assert_eq!(names.len(), CONTRACT.len() + HISTORIES.len());
}
