//! Memory of a whole process that writes a gigabyte: while readers come and go, and under a snapshot
//! that is held until it is refused.
//!
//! The process is this test binary itself, running [`child`], so that nothing else is counted. The
//! short mode does a sixteenth of everything; `SHELFMARK_LONG=1` the gigabyte, with the default
//! options.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use shelfmark_store::clock::SystemClock;
use shelfmark_store::embedded::{EmbeddedStore, Options};
use shelfmark_store::random::SplitMix;
use shelfmark_store::sleep::{Sleeper as _, ThreadSleeper};
use shelfmark_store::{
    Commit, Direction, Durability, ErrorKind, KeyRange, ScanLimits, Store as _, Write, vfs,
};

const FOLDER: &str = "SHELFMARK_MEMORY_FOLDER";
const MIB: u64 = 1024 * 1024;
/// Bytes of a value.
const VALUE_BYTES: usize = 1000;
/// Values of a commit.
const AT_ONCE: u64 = 16;

fn is_long() -> bool {
    std::env::var("SHELFMARK_LONG").is_ok_and(|value| value == "1")
}

/// What everything is divided by.
fn share() -> u64 {
    if is_long() { 1 } else { 16 }
}

fn open(folder: &Path) -> EmbeddedStore {
    let all = Options::default();
    let options = Options {
        // What is measured is memory; the syncs would only take time.
        durability: Durability::Interval(Duration::from_millis(50)),
        memory_table_bytes: all.memory_table_bytes / share(),
        log_file_bytes: all.log_file_bytes / share(),
        block_cache_bytes: all.block_cache_bytes / share(),
        snapshot_bytes_max: all.snapshot_bytes_max / share(),
        snapshot_age_max: Duration::from_secs(3600),
        ..all
    };
    EmbeddedStore::open(folder, options, Arc::new(SystemClock::new())).unwrap()
}

fn key(number: u64) -> Bytes {
    Bytes::from(format!("row/{number:010}"))
}

/// Values that do not compress.
fn value(random: &mut SplitMix) -> Bytes {
    (0..VALUE_BYTES / 8).flat_map(|_| random.next_u64().to_be_bytes()).collect()
}

fn rows() -> u64 {
    1024 * MIB / share() / VALUE_BYTES as u64
}

/// Writes everything; `after` hears how many rows there are.
fn write_all(store: &EmbeddedStore, mut after: impl FnMut(u64)) {
    let mut random = SplitMix::new(1);
    for first in (0..rows()).step_by(usize::try_from(AT_ONCE).unwrap()) {
        let writes = (first..first + AT_ONCE)
            .map(|number| Write::Put { key: key(number), value: value(&mut random) })
            .collect::<Vec<_>>();
        loop {
            match store.commit(Commit::of(writes.clone())) {
                Ok(_) => break,
                Err(error) if error.kind() == ErrorKind::Busy => {
                    ThreadSleeper.sleep(Duration::from_millis(1));
                }
                Err(error) => panic!("{error}"),
            }
        }
        after(first + AT_ONCE);
    }
}

/// Readers that take snapshots, read some rows and go, until told to stop.
fn read_on(store: &EmbeddedStore, seed: u64, stop: &AtomicBool) {
    let mut random = SplitMix::new(seed);
    while !stop.load(Ordering::Relaxed) {
        let snapshot = store.snapshot().unwrap();
        for _ in 0..20 {
            let from = KeyRange::new(key(random.below(rows())), Bytes::from_static(b"s"));
            let limits = ScanLimits { rows_max: 50, ..ScanLimits::default() };
            let page = snapshot.scan(&from, Direction::Ascending, limits).unwrap();
            assert!(page.rows.iter().all(|row| row.value.len() == VALUE_BYTES));
        }
        ThreadSleeper.sleep(Duration::from_millis(random.below(20)));
    }
}

fn with_readers(folder: &Path) {
    let store = open(folder);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for seed in 0..3 {
            let (store, stop) = (&store, &stop);
            scope.spawn(move || read_on(store, seed, stop));
        }
        write_all(&store, |_| ());
        stop.store(true, Ordering::Relaxed);
    });
    store.close().unwrap();
}

fn under_a_snapshot(folder: &Path) {
    let store = open(folder);
    store.commit(Commit::of(vec![Write::Put { key: key(0), value: "old".into() }])).unwrap();
    let snapshot = store.snapshot().unwrap();
    let mut refused_at = None;
    write_all(&store, |written| match snapshot.get(&key(0)) {
        Ok(found) => {
            assert_eq!(found.as_deref(), Some(&b"old"[..]));
            assert_eq!(refused_at, None, "it came back");
        }
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::TooOld);
            refused_at.get_or_insert(written * VALUE_BYTES as u64);
        }
    });
    let bound = Options::default().snapshot_bytes_max / share();
    let refused_at = refused_at.expect("the snapshot was never refused");
    assert!(refused_at > bound / 2 && refused_at < bound * 2, "{refused_at} of {bound}");
    // It is still held; another one reads what is there now.
    assert_eq!(store.snapshot().unwrap().get(&key(0)).unwrap().unwrap().len(), VALUE_BYTES);
    drop(snapshot);
    store.close().unwrap();
}

/// Refuses to begin where it could not end for lack of room: that would look like a fault.
fn check_room(folder: &Path) {
    // The rows, their log, and twice that while files are merged.
    let needed = 3 * 1024 * MIB / share() + Options::default().disk_free_bytes_min;
    let free = vfs::free_bytes(folder).unwrap().unwrap_or(u64::MAX);
    assert!(
        free >= needed,
        "{} MiB are free below {}, and this test needs {}; set TMPDIR to a folder with more room",
        free / MIB,
        folder.display(),
        needed / MIB
    );
}

type Work = (&'static str, fn(&Path));

const WORKS: [Work; 2] = [("readers", with_readers), ("snapshot", under_a_snapshot)];

/// The process that is measured.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let name = folder.file_name().unwrap().to_string_lossy().into_owned();
    let (_, work) = WORKS.iter().find(|(own, _)| *own == name).unwrap();
    work(&folder);
    println!("peak {}", peak_bytes());
}

/// The most memory that this process ever had, in bytes.
fn peak_bytes() -> u64 {
    let status = vfs::read(Path::new("/proc/self/status")).unwrap();
    let status = String::from_utf8(status).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").trim().parse().unwrap();
    kilobytes * 1024
}

#[test]
fn a_gigabyte_is_written_in_400_megabytes_of_memory() {
    for (name, _) in WORKS {
        let scratch = tempfile::tempdir().unwrap();
        check_room(scratch.path());
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["memory::child", "--exact", "--nocapture", "--test-threads=1"])
            .env(FOLDER, scratch.path().join(name))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
        let peak = said.lines().find_map(|line| line.split_once("peak ")).unwrap().1;
        let peak: u64 = peak.trim().parse().unwrap();
        println!("{name}: {} MiB at most, {} MiB written", peak / MIB, 1024 / share());
        // Code and threads take some, however little is written.
        let most = 400_000_000 / share() + if is_long() { 0 } else { 30 * MIB };
        assert!(peak < most, "{name}: {peak} bytes, {most} are allowed");
    }
}
