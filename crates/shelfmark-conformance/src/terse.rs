//! Writes tersely and reads in pages, for cases and for tests beside them.
//!
//! What it is not: for a program that goes on. Where the store refuses, these panic.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use bytes::Bytes;
use shelfmark_store::sleep::{Sleeper as _, ThreadSleeper};
use shelfmark_store::{
    Commit, CommitNumber, Committed, Direction, Error, ErrorKind, KeyRange, Result, Row,
    ScanLimits, Snapshot, Store, Write,
};

pub use crate::caught::together;

/// Returns the bytes of a text.
pub fn bytes(text: impl AsRef<[u8]>) -> Bytes {
    Bytes::copy_from_slice(text.as_ref())
}

/// Returns the write that puts a value.
pub fn put(key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Write {
    Write::Put { key: bytes(key), value: bytes(value) }
}

/// Returns the write that deletes a key.
pub fn delete(key: impl AsRef<[u8]>) -> Write {
    Write::Delete { key: bytes(key) }
}

/// Returns the write that puts a value where there is none.
pub fn put_if_absent(key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Write {
    Write::PutIfAbsent { key: bytes(key), value: bytes(value) }
}

/// Returns the write that puts a value at `prefix ‖ stamp ‖ suffix`.
pub fn put_stamped(prefix: &str, suffix: &str, value: impl AsRef<[u8]>) -> Write {
    Write::PutStamped { prefix: bytes(prefix), suffix: bytes(suffix), value: bytes(value) }
}

/// Returns the write that adds to a counter.
pub fn add(key: impl AsRef<[u8]>, delta: i64) -> Write {
    Write::Add { key: bytes(key), delta }
}

/// Runs `call` again as long as the store is busy: with tables as small as here, it may be.
fn unless_busy<T>(call: impl Fn() -> Result<T>) -> Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Busy => {
                ThreadSleeper.sleep(error.retry_after().unwrap_or_default());
            }
            ended => return ended,
        }
    }
}

/// Commits and waits, also for a store that is busy.
///
/// # Errors
///
/// * Those of [`Store::commit`], but for [`ErrorKind::Busy`].
pub fn attempt(store: &dyn Store, commit: Commit) -> Result<Committed> {
    unless_busy(|| store.commit(commit.clone()))
}

/// Commits blind writes that nothing can be wrong with.
#[track_caller]
pub fn write(store: &dyn Store, writes: Vec<Write>) -> CommitNumber {
    attempt(store, Commit::of(writes)).unwrap().number
}

/// Returns a commit that rests on `keys` being unwritten since `base`.
pub fn on(base: &Arc<dyn Snapshot>, keys: &[&str], writes: Vec<Write>) -> Commit {
    let validate = keys.iter().map(bytes).collect();
    Commit { base: Some(Arc::clone(base)), validate, writes, ..Commit::default() }
}

/// Returns true if `number` may be that of the commit that follows the one of `last`: the next one
/// where numbers have a total order, else any later one.
pub fn follows(store: &dyn Store, number: CommitNumber, last: CommitNumber) -> bool {
    if store.caps().stamps_total_order { number == last + 1 } else { number > last }
}

/// Returns true if a snapshot that shows `shown` may have been taken when `newest` was the newest
/// commit.
pub fn shows(store: &dyn Store, shown: CommitNumber, newest: CommitNumber) -> bool {
    if store.caps().stamps_total_order { shown == newest } else { shown >= newest }
}

/// Submits without waiting; the receiver gets the end.
///
/// # Errors
///
/// * Those of [`Store::submit`], but for [`ErrorKind::Busy`].
pub fn submit(
    store: &dyn Store,
    commit: Commit,
) -> Result<(CommitNumber, mpsc::Receiver<Result<Committed>>)> {
    unless_busy(|| {
        let (sender, receiver) = mpsc::channel();
        let done = Box::new(move |outcome| {
            // A case that does not care has dropped the receiver.
            let _ = sender.send(outcome);
        });
        store.submit(commit.clone(), done).map(|queued| (queued.number, receiver))
    })
}

/// Returns the kind of an error that must be there.
#[track_caller]
pub fn kind<T>(result: Result<T>) -> ErrorKind {
    match result {
        Ok(_) => panic!("this should have been refused"),
        Err(error) => error.kind(),
    }
}

/// Returns the keys of an error, sorted.
pub fn keys_of(error: &Error) -> Vec<Bytes> {
    let mut keys = error.keys().to_vec();
    keys.sort();
    keys
}

/// Returns the value of a key now.
#[track_caller]
pub fn get(store: &dyn Store, key: impl AsRef<[u8]>) -> Option<Bytes> {
    store.snapshot().unwrap().get(key.as_ref()).unwrap()
}

/// Returns the value of a counter now; 0 if it is absent.
#[track_caller]
pub fn counter(store: &dyn Store, key: impl AsRef<[u8]>) -> i64 {
    get(store, key).map_or(0, |value| Write::counter(&value).unwrap())
}

/// Reads all of `range`, page by page, and checks that each page keeps the contract.
#[track_caller]
pub fn read(
    snapshot: &dyn Snapshot,
    range: &KeyRange,
    direction: Direction,
    limits: ScanLimits,
) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut rest = Some(range.clone());
    let mut empty_pages = 0;
    while let Some(asked) = rest {
        let page = snapshot.scan(&asked, direction, limits).unwrap();
        assert!(page.rows.len() <= limits.rows_max.max(1), "too many rows on a page");
        let size = |row: &Row| row.key.len() + row.value.len();
        let but_last = page.rows.split_last().map_or(0, |(_, rows)| rows.iter().map(size).sum());
        assert!(but_last < limits.bytes_max.max(1), "too many bytes on a page");
        for row in page.rows {
            assert!(asked.contains(&row.key), "a row outside of the range");
            assert_eq!(row.value.is_empty(), limits.keys_only);
            if let Some(last) = rows.last() {
                assert_eq!(last.key < row.key, direction == Direction::Ascending);
                assert_ne!(last.key, row.key);
            }
            rows.push(row);
            empty_pages = 0;
        }
        empty_pages += 1;
        assert!(empty_pages < 1000, "the scan does not end");
        if let (Some(next), Some(last)) = (&page.next, rows.last()) {
            assert!(!next.contains(&last.key), "what is left holds what was read");
        }
        rest = page.next;
    }
    rows
}

/// Reads the whole store, or a range of it, upwards.
#[track_caller]
pub fn rows(snapshot: &dyn Snapshot, range: &KeyRange) -> Vec<(Bytes, Bytes)> {
    read(snapshot, range, Direction::Ascending, ScanLimits::default())
        .into_iter()
        .map(|row| (row.key, row.value))
        .collect()
}

/// Says that something is done when it goes away, also in a panic: or who waits for it, waits for
/// ever.
pub struct Raised<'a>(
    /// The flag that is raised.
    pub &'a AtomicBool,
);

impl Drop for Raised<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
