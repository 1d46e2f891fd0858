//! No reader sees half a commit, while memory tables are flushed and compacted beside it.
//!
//! Each commit puts the same value at keys far apart; readers compare them in every way there is to
//! read, and read them again.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;
use shelfmark_conformance::terse::Raised;
use shelfmark_store::random::SplitMix;
use shelfmark_store::{Commit, Direction, ErrorKind, KeyRange, ScanLimits, Snapshot, Store, Write};
use shelfmark_testkit::seeds;

use crate::stores;

const KEYS: [&str; 4] = ["a", "f", "m", "z"];

fn keys() -> Vec<Bytes> {
    KEYS.map(|key| Bytes::from_static(key.as_bytes())).to_vec()
}

/// Puts one value everywhere, retrying what may be retried.
fn write(store: &dyn Store, value: &Bytes) {
    loop {
        let puts = keys().into_iter().map(|key| Write::Put { key, value: value.clone() });
        match store.commit(Commit::of(puts.collect())) {
            Ok(_) => return,
            Err(error) => assert!(
                [ErrorKind::Busy, ErrorKind::Undetermined].contains(&error.kind()),
                "{error}"
            ),
        }
    }
}

/// Reads the keys one by one, together, or as a range.
fn look(snapshot: &dyn Snapshot, how: u64) -> shelfmark_store::Result<Vec<Option<Bytes>>> {
    if how == 0 {
        return keys().iter().map(|key| snapshot.get(key)).collect();
    }
    if how == 1 {
        return snapshot.get_many(&keys());
    }
    let direction = if how == 2 { Direction::Ascending } else { Direction::Descending };
    let mut rows = Vec::new();
    let mut rest = Some(KeyRange::all());
    while let Some(range) = rest {
        let page =
            snapshot.scan(&range, direction, ScanLimits { rows_max: 2, ..Default::default() })?;
        rows.extend(page.rows.into_iter().map(|row| Some(row.value)));
        rest = page.next;
    }
    Ok(rows)
}

fn run(store: &dyn Store, seed: u64, commits: u64, filler: usize) {
    let is_done = AtomicBool::new(false);
    let looks = AtomicU64::new(0);
    let value = |round: u64| Bytes::from(format!("{round:010}{}", "f".repeat(filler)));
    write(store, &value(0));
    let reader = |seed: u64| {
        let (is_done, looks) = (&is_done, &looks);
        move || {
            let mut random = SplitMix::new(seed);
            let mut newest = Bytes::new();
            while !is_done.load(Ordering::SeqCst) {
                let is_latest = random.chance(300);
                let snapshot = if is_latest { store.latest() } else { store.snapshot() }.unwrap();
                let (one, other) = (random.below(4), random.below(4));
                let (Ok(seen), Ok(again)) = (look(&*snapshot, one), look(&*snapshot, other)) else {
                    // The meanest store lets snapshots grow old at once.
                    continue;
                };
                assert_eq!(seen.len(), KEYS.len());
                assert!(seen.windows(2).all(|pair| pair[0] == pair[1]), "half a commit");
                assert_eq!(seen, again, "the moment moved");
                let value = seen[0].clone().unwrap();
                if !is_latest {
                    assert!(value >= newest, "what is published went back");
                    newest = value;
                }
                looks.fetch_add(1, Ordering::SeqCst);
            }
        }
    };
    std::thread::scope(|scope| {
        let readers = [reader(seed), reader(seed + 1)].map(|reader| scope.spawn(reader));
        let maintainer = scope.spawn(|| {
            while !is_done.load(Ordering::SeqCst) {
                store.maintain().unwrap();
                std::thread::yield_now();
            }
        });
        let done = Raised(&is_done);
        for round in 1..=commits {
            write(store, &value(round));
        }
        // The readers may have had no turn yet.
        let all = || readers.iter().all(|reader| !reader.is_finished());
        while looks.load(Ordering::SeqCst) < 20 && all() && !maintainer.is_finished() {
            std::thread::yield_now();
        }
        drop(done);
    });
    assert!(looks.into_inner() >= 20);
}

#[test]
fn on_memory() {
    seeds::each(3, 100, |seed| run(&stores::memory(), seed, 3000, 0));
}

#[test]
fn on_the_meanest() {
    seeds::each(3, 100, |seed| {
        let store = stores::meanest(seed, 150);
        run(&store, seed, 800, 0);
        store.close().unwrap();
    });
}

#[test]
fn on_embedded() {
    seeds::each(2, 50, |seed| {
        let folder = tempfile::tempdir().unwrap();
        let store = stores::embedded(&folder.path().join("store"));
        run(&store, seed, 600, 5000);
        assert!(store.stats().tree_bytes_on_disk > 0, "nothing was flushed");
        store.close().unwrap();
    });
}
