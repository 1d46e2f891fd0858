//! `kill -9` in the middle of everything: what was acknowledged is there, whole commits only, and
//! nothing has to be repaired.
//!
//! The child is this test binary itself, running [`child`] with a folder in its environment.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_store::clock::SystemClock;
use shelfmark_store::embedded::{EmbeddedStore, Options, verify};
use shelfmark_store::{Commit, Durability, Store as _, Write};

const FOLDER: &str = "SHELFMARK_KILL_FOLDER";
const INTERVAL: &str = "SHELFMARK_KILL_INTERVAL";

fn open(folder: &Path, durability: Durability) -> EmbeddedStore {
    let options = Options {
        durability,
        // So that flushes, merges and new log files are under way at any time.
        memory_table_bytes: 128 * 1024,
        log_file_bytes: 64 * 1024,
        block_cache_bytes: 1 << 20,
        disk_free_bytes_min: 0,
        ..Options::default()
    };
    EmbeddedStore::open(folder, options, Arc::new(SystemClock::new())).unwrap()
}

fn keys(number: u64) -> [Bytes; 2] {
    ["left", "right"].map(|side| Bytes::from(format!("{side}/{number:08}")))
}

/// Writes pairs until killed, or up to `limit`, and prints each number once it is acknowledged.
fn write_pairs(folder: &Path, durability: Durability, limit: u64) -> u64 {
    let store = open(folder, durability);
    let first = store.stats().published + 1;
    let value = Bytes::from(vec![b'x'; 300]);
    for number in first..first.saturating_add(limit) {
        let writes = keys(number).map(|key| Write::Put { key, value: value.clone() }).to_vec();
        let acknowledge = Box::new(move |outcome: shelfmark_store::Result<_>| {
            outcome.unwrap();
            // Nobody reads any more when the parent has ended.
            let _ = writeln!(std::io::stdout(), "acknowledged {number}");
        });
        let commit = Commit::of(writes);
        if number % 16 == 0 {
            while store.commit(Commit::default()).is_err() {}
        }
        if store.submit(commit.clone(), acknowledge).is_err() {
            // Busy: what is not queued has no number, and the next one takes its place.
            while store.commit(commit.clone()).is_err() {}
        }
    }
    store.stats().commits
}

#[test]
fn child() {
    let limit = u64::MAX / 2;
    match std::env::var_os(FOLDER).map(PathBuf::from) {
        Some(folder) if std::env::var_os(INTERVAL).is_some() => {
            let interval = std::time::Duration::from_millis(20);
            write_pairs(&folder, Durability::Interval(interval), limit);
        }
        Some(folder) => {
            write_pairs(&folder, Durability::Sync, limit);
        }
        None => {
            // Without a parent: a few pairs, to see that the child does what it is there for.
            let scratch = tempfile::tempdir().unwrap();
            write_pairs(&scratch.path().join("store"), Durability::Sync, 20);
            check(&scratch.path().join("store"), 20);
        }
    }
}

/// Starts the child and kills it after `acknowledgements`. Returns the last number that it
/// acknowledged.
fn run_and_kill(folder: &Path, acknowledgements: usize, interval: bool) -> u64 {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["kill::child", "--exact", "--nocapture", "--test-threads=1"]);
    command.env(FOLDER, folder).stdout(Stdio::piped()).stderr(Stdio::null());
    if interval {
        command.env(INTERVAL, "1");
    }
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut last = 0;
    let mut seen = 0;
    for line in lines {
        let Ok(line) = line else { break };
        // The harness prints too, on the same line as the first of ours.
        let Some((_, number)) = line.split_once("acknowledged ") else { continue };
        if let Ok(number) = number.parse::<u64>() {
            last = last.max(number);
            seen += 1;
        }
        if seen == acknowledgements {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(seen >= acknowledgements, "the child ended by itself after {seen}");
    last
}

/// Expects whole pairs without a gap, at least up to `acknowledged`. Returns how many.
fn check(folder: &Path, acknowledged: u64) -> u64 {
    let report = verify(folder).unwrap();
    assert!(report.is_clean(), "{report:?}");
    let store = open(folder, Durability::Sync);
    let published = store.stats().published;
    assert!(published >= acknowledged, "{acknowledged} was acknowledged, {published} is there");
    let snapshot = store.snapshot().unwrap();
    for number in 1..=published + 20 {
        let [left, right] = keys(number).map(|key| snapshot.get(&key).unwrap().is_some());
        assert_eq!(left, right, "half of commit {number}");
        assert_eq!(left, number <= published, "commit {number} of {published}");
    }
    published
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    for interval in [false, true] {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("store");
        for acknowledgements in [1, 300, 1500] {
            let acknowledged = run_and_kill(&folder, acknowledgements, interval);
            let published = check(&folder, acknowledged);
            // It goes on, and the child of the next round begins behind it.
            let store = open(&folder, Durability::Sync);
            assert_eq!(store.stats().published, published);
        }
    }
}
