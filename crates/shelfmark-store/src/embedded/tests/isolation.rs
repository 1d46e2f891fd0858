//! Readers beside writers, flushes and compactions: one moment each, never half a commit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::contract::{Commit, Direction, KeyRange, Snapshot, Store as _, Write};
use crate::embedded::Options;
use crate::threads;

use super::support::{Scratch, bytes, commit_patiently, rows, small};

const PAIRS: u64 = 200;

fn pair(number: u64, round: u64) -> Vec<Write> {
    // Values of a few hundred bytes, so that memory tables fill.
    let value = bytes(&format!("{round:08}").repeat(60));
    ["left", "right"]
        .map(|side| Write::Put { key: bytes(&format!("{side}/{number:04}")), value: value.clone() })
        .to_vec()
}

fn check_pairs(snapshot: &dyn Snapshot, start: u64) {
    for number in (0..PAIRS).map(|step| (start + step) % PAIRS) {
        let left = snapshot.get(format!("left/{number:04}").as_bytes()).unwrap();
        let right = snapshot.get(format!("right/{number:04}").as_bytes()).unwrap();
        assert_eq!(left, right, "half of a commit");
        // Not repeatable otherwise.
        assert_eq!(snapshot.get(format!("left/{number:04}").as_bytes()).unwrap(), left);
    }
    let left = rows(snapshot, KeyRange::prefix(bytes("left/")), Direction::Ascending, 64);
    let mut right = rows(snapshot, KeyRange::prefix(bytes("right/")), Direction::Descending, 64);
    right.reverse();
    let values = |rows: Vec<crate::contract::Row>| -> Vec<_> {
        rows.into_iter().map(|row| row.value).collect()
    };
    assert_eq!(values(left), values(right), "half of a commit in a range");
}

#[test]
fn nobody_sees_half_a_commit_beside_flushes_and_compactions() {
    let scratch = Scratch::new();
    let options = Options {
        memory_table_bytes: 256 * 1024,
        log_file_bytes: 1 << 20,
        log_ahead_bytes: 1 << 16,
        ..small()
    };
    let store = Arc::new(scratch.open_with(options).unwrap());
    let stop = Arc::new(AtomicBool::new(false));
    let checked = Arc::new(AtomicU64::new(0));
    let mut readers = Vec::new();
    for reader in 0..2_u64 {
        let (store, stop, checked) = (store.clone(), stop.clone(), checked.clone());
        let body = move || {
            let mut start = reader;
            while !stop.load(Ordering::Relaxed) {
                check_pairs(&*store.snapshot().unwrap(), start);
                check_pairs(&*store.latest().unwrap(), start);
                start += 7;
                checked.fetch_add(1, Ordering::Relaxed);
            }
        };
        readers.push(threads::spawn("reader", body).unwrap());
    }
    // As many rounds as the readers need to look a few times, however late they are scheduled.
    let looked = || checked.load(Ordering::Relaxed) > 5;
    let mut rounds = 0;
    while rounds < 12 || !(looked() || readers.iter().any(|reader| reader.is_finished())) {
        let round = rounds;
        rounds += 1;
        for number in 0..PAIRS {
            let writes = pair(number, round);
            if number % 8 == 7 {
                commit_patiently(&store, writes);
            } else {
                // Queued and not waited for, so that groups hold many commits.
                let _ = store.submit(Commit::of(writes), Box::new(|_| {}));
            }
        }
    }
    let flushed = store.stats().tree_bytes_on_disk;
    stop.store(true, Ordering::Relaxed);
    for reader in readers {
        reader.join().unwrap();
    }
    assert!(flushed > 0, "nothing was flushed, so nothing was tested");
}

#[test]
fn a_held_snapshot_keeps_its_moment_through_flush_and_compaction() {
    let scratch = Scratch::new();
    let store = scratch.open_with(Options { memory_table_bytes: 64 * 1024, ..small() }).unwrap();
    for number in 0..PAIRS {
        commit_patiently(&store, pair(number, 1));
    }
    store.maintain().unwrap();
    let held = store.snapshot().unwrap();
    for round in 2..5 {
        for number in 0..PAIRS {
            let _ = store.submit(Commit::of(pair(number, round)), Box::new(|_| {}));
        }
        for number in 0..PAIRS / 2 {
            let key = bytes(&format!("left/{number:04}"));
            commit_patiently(&store, vec![Write::Delete { key }]);
        }
        store.maintain().unwrap();
        let all = rows(&*held, KeyRange::all(), Direction::Ascending, 100);
        assert_eq!(all.len(), usize::try_from(PAIRS * 2).unwrap());
        assert!(all.iter().all(|row| row.value.starts_with(b"00000001")));
    }
}
