//! Comparing a store with the plan that it was written by.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use shelfmark_store::clock::SystemClock;
use shelfmark_store::embedded::{EmbeddedStore, Options, verify};
use shelfmark_store::sleep::{Sleeper as _, ThreadSleeper};
use shelfmark_store::{
    Commit, Direction, Error, ErrorKind, KeyRange, ScanLimits, Snapshot, Store, Write,
};

use super::plan::{COUNT_KEY, INGESTED, Plan};
use super::promise::Promise;

/// The key that every check writes, to see that the store takes writes.
const OWN_KEY: &[u8] = b"judge";

/// Commits that may be lost behind rows that were ingested before them: rows are on disk at once.
const INGESTED_AHEAD: u64 = 10_000;

/// Number of commits of each thread that were found.
pub type Found = BTreeMap<u64, u64>;

/// Options under which flushes, merges and new log files happen within a few commits.
#[must_use]
pub fn tight() -> Options {
    Options {
        memory_table_bytes: 8 * 1024,
        log_file_bytes: 4 * 1024,
        // A few groups' worth, so that files are lengthened as often as written over.
        log_ahead_bytes: 600,
        block_cache_bytes: 256 * 1024,
        background_threads: 1,
        disk_free_bytes_min: 0,
        ..Options::default()
    }
}

/// Opens the store in `folder`; a panic is an error, too.
///
/// # Errors
///
/// * A text: what the store answered.
pub fn open(folder: &Path, options: Options) -> Result<EmbeddedStore, String> {
    let clock = Arc::new(SystemClock::new());
    let open = || patiently(|| EmbeddedStore::open(folder, options.clone(), clock.clone()));
    match catch_unwind(AssertUnwindSafe(open)) {
        Ok(opened) => opened.map_err(|error| format!("does not open: {error}")),
        Err(_) => Err("opening it panicked".to_owned()),
    }
}

/// Opens the store in `folder`, which must be refused. Returns why it is; nothing if it opens.
pub fn open_error(folder: &Path, options: Options) -> Option<Error> {
    let clock = Arc::new(SystemClock::new());
    patiently(|| EmbeddedStore::open(folder, options.clone(), clock.clone())).err()
}

/// Tries again for a while when the store is said to be open: a process that another thread of the
/// test starts holds a copy of the lock until it runs its own program. And when it is busy, as it may
/// be with what it replayed.
///
/// # Errors
///
/// * The store's.
pub fn patiently<T>(
    mut attempt: impl FnMut() -> shelfmark_store::Result<T>,
) -> shelfmark_store::Result<T> {
    let mut tries = 0;
    loop {
        match attempt() {
            Err(error)
                if matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Busy)
                    && tries < 1000 =>
            {
                ThreadSleeper.sleep(Duration::from_millis(5));
                tries += 1;
            }
            outcome => return outcome,
        }
    }
}

/// Judges what an interruption left in `folder`: it verifies clean, opens, holds at least what was
/// promised and nothing by halves, takes a write, and has all of it after the next open.
///
/// # Errors
///
/// * A text: what is wrong.
pub fn judge(folder: &Path, plan: &Plan, promise: &Promise) -> Result<Found, String> {
    check_clean(folder, "before it is opened")?;
    let store = open(folder, tight())?;
    let found = compare(&store, plan, promise)?;
    let own = Write::Put { key: OWN_KEY.into(), value: Bytes::from_static(b"was here") };
    patiently(|| store.commit(Commit::of(vec![own.clone()])))
        .map_err(|error| format!("takes no write: {error}"))?;
    // Without a clean stop, so that the write must come from the log.
    drop(store);
    check_clean(folder, "after a write")?;
    let store = open(folder, tight()).map_err(|why| format!("after a write: {why}"))?;
    let again = compare(&store, plan, promise).map_err(|why| format!("after a write: {why}"))?;
    let own = store.snapshot().and_then(|snapshot| snapshot.get(OWN_KEY));
    if again != found || !matches!(own, Ok(Some(_))) {
        return Err(format!("the next open shows {again:?} and {own:?} instead of {found:?}"));
    }
    store.close().map_err(|error| format!("does not close: {error}"))?;
    check_clean(folder, "after a clean stop")?;
    Ok(found)
}

fn check_clean(folder: &Path, when: &str) -> Result<(), String> {
    match patiently(|| verify(folder)) {
        Ok(report) if report.is_clean() => Ok(()),
        Ok(report) => Err(format!("verify finds damage {when}: {:?}", report.damages)),
        // There is no store yet.
        Err(error) if error.kind() == ErrorKind::Invalid => Ok(()),
        Err(error) => Err(format!("verify fails {when}: {error}")),
    }
}

/// Compares a store's contents with the plan and with what was promised.
///
/// # Errors
///
/// * A text: what is missing, or there by halves.
pub fn compare(store: &dyn Store, plan: &Plan, promise: &Promise) -> Result<Found, String> {
    let text = |error| format!("cannot be read: {error}");
    let published = store.stats().published;
    if published < promise.number {
        return Err(format!("ends with commit {published}; {} is promised", promise.number));
    }
    let snapshot = store.snapshot().map_err(text)?;
    let mut found = Found::new();
    for thread in 0..plan.threads {
        let least = promise.last.get(&thread).copied().unwrap_or(0);
        let last = match snapshot.get(&Plan::last_key(thread)).map_err(text)? {
            Some(value) => std::str::from_utf8(&value)
                .ok()
                .and_then(|value| value.parse().ok())
                .ok_or_else(|| format!("thread {thread} has no number at its last key"))?,
            None => 0,
        };
        if last < least {
            return Err(format!("thread {thread} has {last} commits; {least} are promised"));
        }
        let there = contents(&*snapshot, Plan::prefix(thread))?;
        let expected = plan.state(thread, last);
        if there != expected {
            return Err(difference(thread, last, &there, &expected));
        }
        found.insert(thread, last);
    }
    check_ingested(&*snapshot, plan, found.get(&0).copied().unwrap_or(0))?;
    let count = match snapshot.get(COUNT_KEY).map_err(text)? {
        Some(value) => Write::counter(&value).map_err(text)?,
        None => 0,
    };
    let all: u64 = found.values().sum();
    if u64::try_from(count) != Ok(all) {
        return Err(format!("{all} commits are there, and {count} were counted: {found:?}"));
    }
    Ok(found)
}

/// Checks that what was ingested is there by the whole, and all of what stands before the first
/// thread's last commit.
fn check_ingested(snapshot: &dyn Snapshot, plan: &Plan, last: u64) -> Result<(), String> {
    let mut there = contents(snapshot, Bytes::from_static(INGESTED))?;
    let mut index = 0;
    while index <= last || !there.is_empty() {
        index += 1;
        let rows = plan.ingested(0, index);
        let mut found = 0;
        for (key, value) in &rows {
            match there.remove(key) {
                Some(own) if own == *value => found += 1,
                Some(_) => return Err(format!("the ingested row {key:?} is another one")),
                None => {}
            }
        }
        if found != rows.len() && (index <= last || found != 0) {
            let of = rows.len();
            return Err(format!("{found} of {of} rows ingested before commit {index}, of {last}"));
        }
        if index > last + INGESTED_AHEAD {
            return Err(format!("rows that nobody ingested: {:?}", there.keys()));
        }
    }
    Ok(())
}

fn contents(snapshot: &dyn Snapshot, prefix: Bytes) -> Result<BTreeMap<Bytes, Bytes>, String> {
    let mut all = BTreeMap::new();
    let mut rest = Some(KeyRange::prefix(prefix));
    while let Some(range) = rest {
        let page = snapshot
            .scan(&range, Direction::Ascending, ScanLimits::default())
            .map_err(|error| format!("cannot be scanned: {error}"))?;
        all.extend(page.rows.into_iter().map(|row| (row.key, row.value)));
        rest = page.next;
    }
    Ok(all)
}

fn difference(
    thread: u64,
    last: u64,
    there: &BTreeMap<Bytes, Bytes>,
    expected: &BTreeMap<Bytes, Bytes>,
) -> String {
    let keys: Vec<&Bytes> = there
        .keys()
        .chain(expected.keys().filter(|key| !there.contains_key(*key)))
        .filter(|key| there.get(*key) != expected.get(*key))
        .collect();
    format!("thread {thread} has {last} commits, and these keys do not fit them: {keys:?}")
}
