//! Rows that are ingested are all there or not at all, and stay.

use std::sync::mpsc;

use bytes::Bytes;

use crate::contract::{Commit, Direction, Error, ErrorKind, KeyRange, Result, Store as _};
use crate::embedded::{EmbeddedStore, Options};
use crate::vfs;

use super::support::{Scratch, bytes, commit_put, contents, delete, get, rows, small};

fn row(number: usize) -> (Bytes, Bytes) {
    (bytes(&format!("t/{number:06}")), bytes(&format!("value {number}")))
}

fn ingest(store: &EmbeddedStore, numbers: std::ops::Range<usize>) -> Result<()> {
    store.ingest(&mut numbers.map(|number| Ok(row(number))))
}

#[track_caller]
fn check_rows(store: &EmbeddedStore, numbers: std::ops::Range<usize>) {
    let snapshot = store.snapshot().unwrap();
    let found = rows(&*snapshot, KeyRange::prefix(bytes("t/")), Direction::Ascending, 700);
    let expected: Vec<_> = numbers.map(row).collect();
    let found: Vec<_> = found.into_iter().map(|row| (row.key, row.value)).collect();
    assert_eq!(found, expected);
}

fn table_files(scratch: &Scratch) -> usize {
    vfs::list(&scratch.folder.join("tree/tables")).unwrap().len()
}

#[test]
fn ingested_rows_are_shown_with_the_next_commit_and_survive_a_crash() {
    let scratch = Scratch::new();
    let store = scratch.open();
    commit_put(&store, "a", "1");
    let before = store.snapshot().unwrap();
    let logged = store.stats().log_bytes_written;
    ingest(&store, 0..5000).unwrap();
    assert_eq!(store.stats().log_bytes_written, logged, "nothing of them is in the log");
    commit_put(&store, "z", "2");
    check_rows(&store, 0..5000);
    assert_eq!(get(&store, "t/004999").as_deref(), Some("value 4999"));
    assert_eq!(before.get(b"t/000001").unwrap(), None, "a snapshot shows its own moment");
    drop(before);
    // As after a crash: nothing is flushed on the way out.
    drop(store);
    let store = scratch.open();
    check_rows(&store, 0..5000);
    assert_eq!(get(&store, "a").as_deref(), Some("1"));
    assert_eq!(get(&store, "z").as_deref(), Some("2"));
    store.maintain().unwrap();
    store.close().unwrap();
    check_rows(&scratch.open(), 0..5000);
}

#[test]
fn ingested_rows_are_written_over_and_deleted_like_others() {
    let scratch = Scratch::new();
    let store = scratch.open();
    ingest(&store, 0..100).unwrap();
    commit_put(&store, "t/000007", "new");
    store.commit(Commit::of(vec![delete("t/000008")])).unwrap();
    assert_eq!(get(&store, "t/000007").as_deref(), Some("new"));
    assert_eq!(get(&store, "t/000008"), None);
    store.maintain().unwrap();
    assert_eq!(get(&store, "t/000007").as_deref(), Some("new"));
    assert_eq!(get(&store, "t/000008"), None);
    assert_eq!(contents(&store).len(), 99);
}

#[test]
fn ingested_rows_lie_above_what_was_deleted_before() {
    let scratch = Scratch::new();
    let store = scratch.open();
    for number in 0..10 {
        commit_put(&store, &format!("t/{number:06}"), "old");
    }
    store.maintain().unwrap();
    store.commit(Commit::of((0..10).map(|at| delete(&format!("t/{at:06}"))).collect())).unwrap();
    // A scan over nothing but tombstones, which the store may remember.
    check_rows(&store, 0..0);
    ingest(&store, 0..10).unwrap();
    commit_put(&store, "z", "1");
    check_rows(&store, 0..10);
    store.maintain().unwrap();
    check_rows(&store, 0..10);
}

#[test]
fn what_fails_leaves_nothing_behind() {
    let scratch = Scratch::new();
    let store = scratch.open();
    commit_put(&store, "a", "1");
    store.maintain().unwrap();
    let files = table_files(&scratch);
    let fails = |rows: Vec<Result<(Bytes, Bytes)>>| {
        let error = store.ingest(&mut rows.into_iter()).unwrap_err();
        assert_eq!(table_files(&scratch), files, "{error}");
        error
    };
    let broken = Error::new(ErrorKind::TooOld, "the source is too old");
    let told = fails((0..5000).map(|at| Ok(row(at))).chain([Err(broken)]).collect());
    assert_eq!(
        (told.kind(), told.to_string().as_str()),
        (ErrorKind::TooOld, "the source is too old")
    );
    let order = fails(vec![Ok(row(2)), Ok(row(1))]);
    assert_eq!(order.kind(), ErrorKind::Invalid);
    assert!(order.to_string().contains("not ascending"), "{order}");
    assert_eq!(fails(vec![Ok(row(2)), Ok(row(2))]).kind(), ErrorKind::Invalid);
    let empty = Bytes::new();
    assert_eq!(fails(vec![Ok((empty.clone(), bytes("v")))]).kind(), ErrorKind::Invalid);
    assert_eq!(fails(vec![Ok((bytes("k"), empty))]).kind(), ErrorKind::Invalid);
    let long = Bytes::from(vec![1; store.caps().key_size_bytes_max + 1]);
    assert_eq!(fails(vec![Ok((long, bytes("v")))]).kind(), ErrorKind::LimitExceeded);
    commit_put(&store, "z", "1");
    check_rows(&store, 0..0);
    // Nothing at all is no fault.
    store.ingest(&mut std::iter::empty()).unwrap();
    ingest(&store, 0..10).unwrap();
    commit_put(&store, "z", "2");
    check_rows(&store, 0..10);
}

#[test]
fn writers_and_merges_go_on_beside_it() {
    let scratch = Scratch::new();
    let store = scratch.open_with(Options { memory_table_bytes: 1 << 16, ..small() }).unwrap();
    for round in 0..20 {
        let mut numbers = (round * 300..(round + 1) * 300).map(|number| {
            if number % 50 == 0 {
                commit_put(&store, &format!("w/{number}"), &"x".repeat(2000));
            }
            if number % 150 == 149 {
                store.maintain().unwrap();
            }
            Ok(row(number))
        });
        loop {
            match store.ingest(&mut numbers) {
                Ok(()) => break,
                Err(error) => assert_eq!(error.kind(), ErrorKind::Busy, "{error}"),
            }
        }
    }
    commit_put(&store, "z", "1");
    check_rows(&store, 0..6000);
    assert_eq!(contents(&store).len(), 6000 + 6000 / 50 + 1);
    drop(store);
    check_rows(&scratch.open(), 0..6000);
}

#[test]
fn a_store_that_closes_takes_no_file_in() {
    let scratch = Scratch::new();
    let store = scratch.open();
    commit_put(&store, "a", "1");
    let (begun, has_begun) = mpsc::channel();
    let (closing, is_closing) = mpsc::channel();
    std::thread::scope(|scope| {
        let store = &store;
        let ingestion = scope.spawn(move || {
            store.ingest(&mut (0..100).map(|number| {
                if number == 50 {
                    begun.send(()).unwrap();
                    is_closing.recv().unwrap();
                }
                Ok(row(number))
            }))
        });
        has_begun.recv().unwrap();
        let close = scope.spawn(|| store.close());
        // The threads of the store have been told to stop, then.
        while store.commit(Commit::default()).is_ok() {
            std::thread::yield_now();
        }
        super::support::pause(std::time::Duration::from_millis(20));
        assert!(!close.is_finished(), "it waits for the files that are being written");
        closing.send(()).unwrap();
        assert_eq!(ingestion.join().unwrap().unwrap_err().kind(), ErrorKind::Closed);
        close.join().unwrap().unwrap();
    });
    assert_eq!(ingest(&store, 0..1).unwrap_err().kind(), ErrorKind::Closed);
    drop(store);
    let store = scratch.open();
    check_rows(&store, 0..0);
    assert_eq!(get(&store, "a").as_deref(), Some("1"));
}

#[test]
fn runs_of_writers_and_of_ingestions_in_turns_end_in_a_merge_before_anybody_waits() {
    let scratch = Scratch::new();
    let store = scratch.open();
    for number in 0..24 {
        // Each spans what is ingested, so that every file is a run of its own.
        commit_put(&store, "a", "1");
        commit_put(&store, "z", "1");
        store.maintain().unwrap();
        // It would be refused while merges are behind, and for ever if none was due.
        ingest(&store, number * 10..number * 10 + 10).unwrap();
        store.maintain().unwrap();
    }
    commit_put(&store, "z", "2");
    check_rows(&store, 0..240);
}
