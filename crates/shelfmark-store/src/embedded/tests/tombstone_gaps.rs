//! Stretches of deletions that scans step over: never a row is missed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;

use super::support::{Scratch, small};
use crate::clock::Clock;
use crate::contract::{
    Commit, Direction, KeyRange, ScanLimits, Snapshot, Store as _, StoreStats, Write,
};
use crate::embedded::EmbeddedStore;
use crate::random::SplitMix;

/// A clock to which every scan is slow, so that every scan leaves a gap.
#[derive(Default)]
struct SlowClock(AtomicU64);

impl Clock for SlowClock {
    fn now_micros(&self) -> u64 {
        1_700_000_000_000_000
    }

    fn monotonic(&self) -> Duration {
        Duration::from_micros(self.0.fetch_add(201, Ordering::Relaxed))
    }
}

fn key(n: u64) -> Bytes {
    Bytes::from(format!("k{n:03}"))
}

/// Returns what a range holds, read in one direction with small pages.
fn read(snapshot: &dyn Snapshot, range: &KeyRange, direction: Direction) -> Vec<Bytes> {
    let limits = ScanLimits { rows_max: 2, keys_only: true, ..ScanLimits::default() };
    let mut found = Vec::new();
    let mut rest = Some(range.clone());
    while let Some(range) = rest {
        let page = snapshot.scan(&range, direction, limits).unwrap();
        found.extend(page.rows.into_iter().map(|row| row.key));
        rest = page.next;
    }
    if direction == Direction::Descending {
        found.reverse();
    }
    found
}

fn expected(model: &BTreeMap<Bytes, ()>, range: &KeyRange) -> Vec<Bytes> {
    model.keys().filter(|key| range.contains(key)).cloned().collect()
}

fn commit(store: &EmbeddedStore, writes: Vec<Write>) {
    store.commit(Commit::of(writes)).unwrap();
}

#[test]
fn random_scans_between_writes_and_deletions_miss_nothing() {
    for seed in 0..12 {
        let scratch = Scratch::new();
        let store = scratch.open_at(small(), Arc::<SlowClock>::default());
        let mut random = SplitMix::new(seed);
        let mut model = BTreeMap::new();
        let mut held: Vec<(Arc<dyn Snapshot>, BTreeMap<Bytes, ()>)> = Vec::new();
        for step in 0..400 {
            let at = random.below(60);
            let mut writes = Vec::new();
            // Mostly runs of deletions, so that there are gaps.
            match random.below(4) {
                0 => writes.push((key(at), true)),
                1 => writes.extend((at..at + 10).map(|n| (key(n), false))),
                2 => writes.extend((at..at + 3).map(|n| (key(n), n % 2 == 0))),
                _ => {}
            }
            for (key, is_put) in &writes {
                match is_put {
                    true => drop(model.insert(key.clone(), ())),
                    false => drop(model.remove(key)),
                }
            }
            let value = || Bytes::from_static(b"v");
            let writes: Vec<Write> = writes
                .into_iter()
                .map(|(key, is_put)| match is_put {
                    true => Write::Put { key, value: value() },
                    false => Write::Delete { key },
                })
                .collect();
            commit(&store, writes);
            if random.chance(30) {
                held.push((store.snapshot().unwrap(), model.clone()));
            }
            if random.chance(20) {
                store.maintain().unwrap();
            }
            for _ in 0..3 {
                let (a, b) = (random.below(64), random.below(64));
                let range = match random.below(5) {
                    0 => KeyRange::from(key(a)),
                    1 => KeyRange::all(),
                    _ => KeyRange::new(key(a.min(b)), key(a.max(b))),
                };
                let direction = [Direction::Ascending, Direction::Descending][random.index(2)];
                let now = store.snapshot().unwrap();
                assert_eq!(
                    read(&*now, &range, direction),
                    expected(&model, &range),
                    "{seed} {step}"
                );
                let latest = store.latest().unwrap();
                assert_eq!(read(&*latest, &range, direction), expected(&model, &range));
                for (snapshot, model) in &held {
                    let then = read(&**snapshot, &range, direction);
                    assert_eq!(then, expected(model, &range), "{seed} {step}: an older moment");
                }
            }
            if held.len() > 3 {
                held.remove(0);
            }
        }
        store.close().unwrap();
    }
}

/// Producers append, consumers take the head: each entry is taken once, whatever is stepped over.
#[test]
fn a_queue_beside_gaps_gives_every_entry_once() {
    let scratch = Scratch::new();
    let store = scratch.open_at(small(), Arc::<SlowClock>::default());
    let (entries, producers) = (300_u64, 3_u64);
    let taken = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for producer in 0..producers {
            let store = &store;
            scope.spawn(move || {
                for n in 0..entries {
                    let key = Bytes::from(format!("q{n:05}/{producer}"));
                    commit(store, vec![Write::Put { key, value: Bytes::from_static(b"v") }]);
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                let range = KeyRange::prefix(Bytes::from_static(b"q"));
                let one = ScanLimits { rows_max: 1, ..ScanLimits::default() };
                loop {
                    if taken.lock().unwrap().len() as u64 >= entries * producers {
                        return;
                    }
                    let base = store.latest().unwrap();
                    let page = base.scan(&range, Direction::Ascending, one).unwrap();
                    let Some(row) = page.rows.into_iter().next() else { continue };
                    let take = Commit {
                        base: Some(base),
                        validate: vec![row.key.clone()],
                        writes: vec![Write::Delete { key: row.key.clone() }],
                        ..Commit::default()
                    };
                    if store.commit(take).is_ok() {
                        taken.lock().unwrap().push(row.key);
                    }
                }
            });
        }
    });
    let mut taken = taken.into_inner().unwrap();
    assert_eq!(taken.len() as u64, entries * producers);
    taken.sort();
    taken.dedup();
    assert_eq!(taken.len() as u64, entries * producers, "an entry was taken twice");
    let StoreStats { commits, .. } = store.stats();
    assert!(commits >= 2 * entries * producers);
    store.close().unwrap();
}
