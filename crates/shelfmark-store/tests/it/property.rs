//! Random operations against a plain map, with snapshots of both held side by side.
//!
//! The model says for each commit whether it must succeed, must fail, or may do either (a key that
//! was absent, was written, and is absent again). On the meanest store commits also fail for no
//! reason, and ends are lost; then a marker key that each commit puts tells whether it happened.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_conformance::Lane as _;
use shelfmark_conformance::terse::{bytes, read, submit};
use shelfmark_store::random::SplitMix;
use shelfmark_store::{
    Commit, CommitNumber, Direction, ErrorKind, KeyRange, Row, ScanLimits, Snapshot, Store, Write,
};

use crate::lanes::OwnLane;
use crate::seeds;

const STEPS: usize = 150;
const MARKER: &str = "~marker";

#[test]
fn memory_does_what_a_map_does() {
    seeds::each(40, 4000, |seed| run(OwnLane::memory(), seed));
}

#[test]
fn the_meanest_store_does_what_a_map_does() {
    seeds::each(40, 4000, |seed| run(OwnLane::faulty(seed), seed));
}

#[test]
fn the_embedded_store_does_what_a_map_does() {
    seeds::each(6, 400, |seed| run(OwnLane::embedded(), seed));
}

#[test]
fn the_meanest_store_over_embedded_does_what_a_map_does() {
    seeds::each(4, 400, |seed| run(OwnLane::faulty_embedded(seed), seed));
}

/// What the store should hold.
#[derive(Clone, Default)]
struct Model {
    rows: BTreeMap<Bytes, Bytes>,
    /// The step at which each key was written last.
    written: BTreeMap<Bytes, usize>,
}

impl Model {
    fn apply(&mut self, step: usize, number: CommitNumber, writes: &[Write]) {
        for write in writes {
            let (key, value) = match write.clone() {
                Write::Put { key, value } | Write::PutIfAbsent { key, value } => (key, Some(value)),
                Write::Delete { key } => (key, None),
                Write::PutStamped { prefix, suffix, value } => {
                    let key = [&prefix[..], &number.to_be_bytes()[..], &suffix[..]].concat();
                    (key.into(), Some(value))
                }
                Write::Add { key, delta } => {
                    let before = self.rows.get(&key).map_or(0, |old| Write::counter(old).unwrap());
                    (key, Some(Write::counter_value(before + delta)))
                }
            };
            match value {
                Some(value) => self.rows.insert(key.clone(), value),
                None => self.rows.remove(&key),
            };
            self.written.insert(key, step);
        }
    }

    fn range(&self, range: &KeyRange) -> Vec<(Bytes, Bytes)> {
        let rows = self.rows.iter().filter(|(key, _)| range.contains(key));
        rows.map(|(key, value)| (key.clone(), value.clone())).collect()
    }
}

struct Held {
    snapshot: Arc<dyn Snapshot>,
    model: Model,
    step: usize,
}

struct World {
    lane: OwnLane,
    store: Arc<dyn Store>,
    random: SplitMix,
    model: Model,
    held: Vec<Held>,
    step: usize,
}

fn run(lane: OwnLane, seed: u64) {
    let store = lane.open();
    let random = SplitMix::new(seed);
    let mut world =
        World { lane, store, random, model: Model::default(), held: Vec::new(), step: 0 };
    for step in 1..=STEPS {
        world.step = step;
        match world.random.below(100) {
            0..50 => world.commit(),
            50..60 => world.hold(false),
            60..65 => world.hold(true),
            65..73 => world.let_go(),
            73..85 => world.scan(),
            85..95 => world.get(),
            95..98 => _ = world.store.maintain().unwrap(),
            _ => world.again(),
        }
    }
    world.held.clear();
    world.hold(false);
    world.scan_all();
}

impl World {
    /// Keys that are few, and close together.
    fn key(&mut self) -> Bytes {
        let length = 1 + self.random.index(3);
        let letters = [0x00, b'a', b'b', 0xFF];
        let mut key: Vec<u8> = Vec::with_capacity(length);
        for _ in 0..length {
            key.push(letters[self.random.index(letters.len())]);
        }
        key.into()
    }

    fn value(&mut self) -> Bytes {
        let long = self.random.chance(50);
        let length = 1 + self.random.index(if long { 20_000 } else { 20 });
        vec![b'a' + u8::try_from(self.random.below(26)).unwrap(); length].into()
    }

    fn range(&mut self) -> KeyRange {
        match self.random.below(4) {
            0 => KeyRange::all(),
            1 => KeyRange::prefix(self.key()),
            2 => KeyRange::from(self.key()),
            _ => KeyRange::new(self.key(), self.key()),
        }
    }

    fn write(&mut self) -> Write {
        let counter = bytes(["n1", "n2"][self.random.index(2)]);
        let delta = i64::try_from(self.random.below(200)).unwrap() - 100;
        match self.random.below(16) {
            0..6 => Write::Put { key: self.key(), value: self.value() },
            6..9 => Write::Delete { key: self.key() },
            9..11 => Write::PutIfAbsent { key: self.key(), value: self.value() },
            11 => {
                Write::PutStamped { prefix: "log".into(), suffix: self.key(), value: self.value() }
            }
            12..14 => Write::Add { key: counter, delta },
            14 => Write::Put { key: counter, value: Write::counter_value(delta) },
            _ => Write::Delete { key: counter },
        }
    }

    fn commit(&mut self) {
        let count = self.random.index(6);
        let mut writes: Vec<Write> = (0..count).map(|_| self.write()).collect();
        if count > 0 {
            let value = bytes(self.step.to_string());
            writes.push(Write::Put { key: MARKER.into(), value });
        }
        let mut commit = Commit::of(writes.clone());
        let mut may_conflict = false;
        let mut must_conflict = false;
        if !self.held.is_empty() && self.random.chance(500) {
            let at = self.random.index(self.held.len());
            let keys: BTreeSet<Bytes> = (0..1 + self.random.index(2)).map(|_| self.key()).collect();
            let held = &self.held[at];
            for key in &keys {
                let written = self.model.written.get(key).is_some_and(|at| *at > held.step);
                let is_seen =
                    held.model.rows.contains_key(key) || self.model.rows.contains_key(key);
                may_conflict |= written;
                must_conflict |= written && is_seen;
            }
            commit.base = Some(Arc::clone(&held.snapshot));
            commit.validate = keys.into_iter().collect();
        }
        let must_exist = writes.iter().any(|write| match write {
            Write::PutIfAbsent { key, .. } => self.model.rows.contains_key(key),
            _ => false,
        });
        self.end(commit, &writes, may_conflict, must_conflict, must_exist);
    }

    /// Commits, and compares how it ended with how it should.
    fn end(
        &mut self,
        commit: Commit,
        writes: &[Write],
        may_conflict: bool,
        must_conflict: bool,
        must_exist: bool,
    ) {
        let is_faulty = self.lane.is_behind();
        let validates = !commit.validate.is_empty();
        let (number, ended) = match submit(&*self.store, commit) {
            Ok((number, end)) => (number, end.recv().unwrap().map(|_| ())),
            Err(error) => (0, Err(error)),
        };
        match ended.map_err(|error| error.kind()) {
            Ok(()) => {
                assert!(!must_conflict && !must_exist, "step {}: went through", self.step);
                self.model.apply(self.step, number, writes);
            }
            Err(ErrorKind::Conflict) => {
                assert!(may_conflict || is_faulty && validates, "step {}: conflict", self.step);
            }
            Err(ErrorKind::Exists) => assert!(must_exist, "step {}: exists", self.step),
            Err(ErrorKind::Undetermined) if is_faulty => {
                assert!(!must_conflict);
                let marker = self.store.snapshot().unwrap().get(MARKER.as_bytes()).unwrap();
                if marker == Some(bytes(self.step.to_string())) {
                    self.model.apply(self.step, number, writes);
                }
            }
            Err(other) => panic!("step {}: {other:?}", self.step),
        }
    }

    fn hold(&mut self, of_latest: bool) {
        // Everything was waited for, so there is nothing queued that one shows and one does not.
        let snapshot = if of_latest { self.store.latest() } else { self.store.snapshot() };
        let (model, step) = (self.model.clone(), self.step);
        self.held.push(Held { snapshot: snapshot.unwrap(), model, step });
    }

    fn let_go(&mut self) {
        if !self.held.is_empty() {
            let at = self.random.index(self.held.len());
            self.held.swap_remove(at);
        }
    }

    fn scan(&mut self) {
        let range = self.range();
        let limits = ScanLimits {
            rows_max: 1 + self.random.index(20),
            bytes_max: 1 + self.random.index(200),
            keys_only: self.random.chance(200),
        };
        if let Some(held) = self.held.last() {
            compare(held, &range, limits);
        }
    }

    fn scan_all(&self) {
        for held in &self.held {
            compare(held, &KeyRange::all(), ScanLimits::default());
        }
    }

    fn get(&mut self) {
        let keys = [self.key(), self.key(), bytes("n1"), self.key()];
        if self.held.is_empty() {
            return;
        }
        let at = self.random.index(self.held.len());
        let held = &self.held[at];
        let expected: Vec<Option<Bytes>> =
            keys.iter().map(|key| held.model.rows.get(key).cloned()).collect();
        assert_eq!(held.snapshot.get_many(&keys).unwrap(), expected, "step {}", self.step);
        assert_eq!(held.snapshot.get(&keys[0]).unwrap(), expected[0], "step {}", self.step);
    }

    fn again(&mut self) {
        if !self.lane.keeps() {
            return;
        }
        self.held.clear();
        let store = std::mem::replace(&mut self.store, OwnLane::memory().open());
        let is_clean = self.random.chance(500);
        self.store = if is_clean { self.lane.reopen(store) } else { self.lane.crash(store) };
        self.hold(false);
        self.scan_all();
    }
}

fn compare(held: &Held, range: &KeyRange, limits: ScanLimits) {
    let mut expected: Vec<Row> = held
        .model
        .range(range)
        .into_iter()
        .map(|(key, value)| Row { key, value: if limits.keys_only { Bytes::new() } else { value } })
        .collect();
    assert_eq!(read(&*held.snapshot, range, Direction::Ascending, limits), expected, "{range:?}");
    expected.reverse();
    assert_eq!(read(&*held.snapshot, range, Direction::Descending, limits), expected, "{range:?}");
}
