//! Full disks, failing writes and background work that falls behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use crate::clock::ManualClock;
use crate::contract::{Commit, ErrorKind, Store as _, Write};
use crate::embedded::log::header::FileHeader;
use crate::embedded::log::writer::LogWriter;
use crate::embedded::{EmbeddedStore, Options, open};
use crate::locks::lock;
use crate::vfs;

use super::support::{Scratch, bytes, commit_put, contents, delete, get, pause, put, small};

#[test]
fn commits_are_refused_while_the_disk_is_nearly_full_and_taken_again_after() {
    let scratch = Scratch::new();
    let clock = Arc::new(ManualClock::at_micros(0));
    let free = Arc::new(AtomicU64::new(1000 << 20));
    let probe = free.clone();
    let store = open::open_with(
        &scratch.folder,
        Options::default(),
        clock.clone(),
        Box::new(move || Some(probe.load(Ordering::Relaxed))),
    )
    .unwrap();
    commit_put(&store, "a", "1");
    free.store(255 << 20, Ordering::Relaxed);
    // Noticed within a megabyte of writes.
    let large = || {
        let value = bytes(&"x".repeat(1 << 20));
        store.commit(Commit::of(vec![Write::Put { key: bytes("large"), value }]))
    };
    large().unwrap();
    let error = large().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ReadOnly);
    assert!(error.to_string().contains("256 MiB"), "{error}");
    // Reads and waiting go on.
    assert_eq!(get(&store, "a").as_deref(), Some("1"));
    store.commit(Commit::default()).unwrap();
    free.store(256 << 20, Ordering::Relaxed);
    clock.advance(Duration::from_millis(100));
    commit_put(&store, "a", "2");
    assert_eq!(store.stats().disk_free_bytes, Some(256 << 20));
}

#[test]
fn deletions_are_taken_below_the_threshold_of_puts_and_refused_below_the_reserve() {
    let scratch = Scratch::new();
    let clock = Arc::new(ManualClock::at_micros(0));
    let free = Arc::new(AtomicU64::new(1000 << 20));
    let probe = free.clone();
    let options = Options {
        disk_free_bytes_min: 100 << 20,
        disk_free_bytes_reserve: 10 << 20,
        ..Options::default()
    };
    let probe = Box::new(move || Some(probe.load(Ordering::Relaxed)));
    let store = open::open_with(&scratch.folder, options, clock.clone(), probe).unwrap();
    commit_put(&store, "a", "1");
    commit_put(&store, "b", "1");
    commit_put(&store, "c", "1");
    assert!(store.refusal().is_none());
    let set = |bytes: u64| {
        free.store(bytes, Ordering::Relaxed);
        store.inner.space.ask();
    };
    set((100 << 20) - 1);
    let refused = |commit| store.commit(commit).unwrap_err().to_string();
    assert!(refused(Commit::of(vec![put("d", "1")])).contains("fewer than 100 MiB"));
    assert_eq!(store.refusal().unwrap().kind(), ErrorKind::ReadOnly);
    let both = vec![delete("a"), put("d", "1")];
    assert!(refused(Commit::of(both.clone())).contains("fewer than 100 MiB"));
    store.commit(Commit::of(vec![delete("a")])).unwrap();
    // A deletion that also notes something, where whoever commits it says so.
    store.commit(Commit::of(vec![delete("b"), put("log", "b is gone")]).deleting()).unwrap();
    set((10 << 20) - 1);
    assert!(refused(Commit::of(vec![delete("c")])).contains("fewer than 10 MiB"));
    assert!(refused(Commit::of(both).deleting()).contains("fewer than 10 MiB"));
    // Room is looked for again by itself, for either.
    free.store(10 << 20, Ordering::Relaxed);
    clock.advance(Duration::from_millis(100));
    store.commit(Commit::of(vec![delete("c")])).unwrap();
    assert!(refused(Commit::of(vec![put("d", "1")])).contains("fewer than 100 MiB"));
    free.store(100 << 20, Ordering::Relaxed);
    clock.advance(Duration::from_millis(100));
    commit_put(&store, "d", "1");
    assert!(store.refusal().is_none());
    assert_eq!(contents(&store).len(), 2);
}

/// Makes every later write to the log fail with "no space left".
fn break_log(store: &EmbeddedStore, scratch: &Scratch) {
    let mut log = lock(&store.inner.log);
    let header: FileHeader = log.writer.header();
    let full = std::path::PathBuf::from("/dev/full");
    log.writer = LogWriter::reuse(full, header, 0).unwrap();
    assert!(scratch.folder.is_dir());
}

#[test]
fn a_failed_write_is_undetermined_and_ends_writing_until_a_reopen() {
    let scratch = Scratch::new();
    let store = scratch.open();
    commit_put(&store, "a", "1");
    break_log(&store, &scratch);
    let (sender, receiver) = mpsc::channel();
    let mut queued = 0;
    for key in ["b", "c", "d", "e"] {
        let sender = sender.clone();
        let done = Box::new(move |outcome: crate::Result<crate::Committed>| {
            sender.send(outcome.unwrap_err().kind()).unwrap();
        });
        match store.submit(Commit::of(vec![put(key, "1")]), done) {
            Ok(_) => queued += 1,
            Err(error) => assert_eq!(error.kind(), ErrorKind::ReadOnly),
        }
    }
    assert!(queued >= 1);
    // So that a completion that is forgotten is noticed.
    drop(sender);
    for _ in 0..queued {
        assert_eq!(receiver.recv().unwrap(), ErrorKind::Undetermined);
    }
    let error = store.commit(Commit::of(vec![put("f", "1")])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ReadOnly);
    assert!(error.to_string().contains("reopened"), "{error}");
    assert!(error.to_string().contains("/dev/full"), "the cause is named: {error}");
    assert_eq!(store.commit(Commit::default()).unwrap_err().kind(), ErrorKind::ReadOnly);
    assert_eq!(store.maintain().unwrap_err().kind(), ErrorKind::ReadOnly);
    assert!(store.refusal().unwrap().to_string().contains("/dev/full"));
    // Reads go on, and show nothing of what failed.
    assert_eq!(contents(&store).len(), 1);
    assert_eq!(store.latest().unwrap().get(b"b").unwrap(), None);
    assert_eq!(store.close().unwrap_err().kind(), ErrorKind::Io);
    drop(store);
    let store = scratch.open();
    assert_eq!(contents(&store).len(), 1);
    commit_put(&store, "b", "2");
}

#[test]
fn a_group_that_was_not_begun_is_known_not_to_be_there() {
    let scratch = Scratch::new();
    let store = scratch.open_with(Options { log_file_bytes: 1, ..small() }).unwrap();
    commit_put(&store, "a", "1");
    // The next log file cannot be created: something of that name is there.
    let next = scratch.folder.join("log/00000000000000000002.log");
    vfs::create_folder(&next).unwrap();
    let error = store.commit(Commit::of(vec![put("b", "1")])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ReadOnly);
    assert!(error.to_string().contains("was not written"), "{error}");
    drop(store);
    vfs::remove_tree(&next).unwrap();
    assert_eq!(contents(&scratch.open()).len(), 1);
}

#[test]
fn a_background_failure_ends_writing_with_its_cause() {
    let scratch = Scratch::new();
    let store = scratch.open();
    commit_put(&store, "a", "1");
    // The flush cannot write: its folder is gone.
    vfs::remove_tree(&scratch.folder.join("tree/tables")).unwrap();
    store.maintain().unwrap_err();
    let error = loop {
        match store.commit(Commit::of(vec![put("b", "1")])) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Undetermined => {}
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), ErrorKind::ReadOnly);
    assert!(error.to_string().contains("tree"), "{error}");
    assert_eq!(get(&store, "a").as_deref(), Some("1"));
    drop(store);
    // Nothing was lost: the log still has it.
    let store = scratch.open();
    assert_eq!(get(&store, "a").as_deref(), Some("1"));
    store.maintain().unwrap();
}

#[test]
fn writers_are_slowed_down_early_and_stopped_before_memory_runs_over() {
    let scratch = Scratch::new();
    let clock = Arc::new(ManualClock::at_micros(1));
    // What is written before anybody is refused seals no memory table, which would measure anew.
    let options = Options { memory_table_bytes: 8 << 20, ..small() };
    let store = scratch.open_at(options, clock.clone());
    let large = || {
        let value = bytes(&"x".repeat(1 << 20));
        Commit::of(vec![Write::Put { key: bytes("large"), value }])
    };
    // A little behind: some bytes a second, and who comes too early waits.
    store.inner.pressure.store(3, Ordering::Relaxed);
    store.commit(large()).unwrap();
    let (done, ended) = mpsc::channel();
    let tell = move |outcome: crate::contract::Result<_>| done.send(outcome.map(|_| ())).unwrap();
    store.submit(large(), Box::new(tell)).unwrap();
    assert!(ended.recv_timeout(Duration::from_millis(50)).is_err());
    clock.advance(Duration::from_millis(60));
    ended.recv_timeout(Duration::from_secs(60)).unwrap().unwrap();
    // No more of them wait than a memory table holds, or a few.
    let mut refused = None;
    for number in 0..20 {
        if let Err(error) = store.submit(large(), Box::new(|_| {})) {
            refused = Some((number, error));
            break;
        }
    }
    let (number, error) = refused.expect("never refused");
    assert!((7..=8).contains(&number), "{number}");
    assert_eq!(error.kind(), ErrorKind::Busy);
    let wait = error.retry_after().unwrap();
    assert!(wait >= Duration::from_millis(1) && wait < Duration::from_millis(60), "{wait:?}");
    while store.stats().commits_pending > 0 {
        clock.advance(Duration::from_millis(60));
        pause(Duration::from_millis(1));
    }
    store.maintain().unwrap();
    // Far behind: nothing.
    store.inner.pressure.store(8, Ordering::Relaxed);
    clock.advance(Duration::from_secs(10));
    let error = store.commit(large()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert!(error.retry_after().is_some());
    assert_eq!(store.stats().busy_refusals, 2);
    // A barrier is no write.
    store.commit(Commit::default()).unwrap();
    store.inner.measure_backlog();
    store.commit(large()).unwrap();
}

#[test]
fn a_full_queue_is_busy() {
    let scratch = Scratch::new();
    let store = scratch.open();
    // The commit thread cannot go on while the end of the log is taken.
    let log = lock(&store.inner.log);
    let value = bytes(&"x".repeat(16 << 20));
    let mut refused = None;
    for _ in 0..20 {
        let write = Write::Put { key: bytes("large"), value: value.clone() };
        if let Err(error) = store.submit(Commit::of(vec![write]), Box::new(|_| {})) {
            refused = Some(error);
            break;
        }
    }
    let pending = store.stats().commits_pending;
    drop(log);
    assert!(pending > 0, "who looks sees what waits");
    let refused = refused.expect("never refused");
    assert_eq!(refused.kind(), ErrorKind::Busy);
    assert!(refused.retry_after().is_some());
}

#[test]
fn space_of_keys_that_were_deleted_one_by_one_comes_back_by_itself() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let mut random = crate::random::SplitMix::new(1);
    let key = |number: u32| format!("{number:05}");
    for number in 0..400_u32 {
        let noise: Vec<u8> = (0..1024).flat_map(|_| random.next_u64().to_be_bytes()).collect();
        let write = Write::Put { key: bytes(&key(number)), value: noise.into() };
        store.commit(Commit::of(vec![write])).unwrap();
    }
    store.maintain().unwrap();
    let before = store.stats().tree_bytes_on_disk;
    assert!(before > 3_000_000, "{before}");
    let merges = store.stats().compactions;
    for number in 0..380 {
        store.commit(Commit::of(vec![delete(&key(number))])).unwrap();
    }
    // Nobody asks for it; twenty looks of half a second pass before the store takes it for quiet.
    let mut after = before;
    for _ in 0..600 {
        after = store.stats().tree_bytes_on_disk;
        if after < before / 10 {
            break;
        }
        pause(Duration::from_millis(100));
    }
    assert!(after < before / 10, "{after} of {before} bytes after a minute");
    let there = |number| store.snapshot().unwrap().get(key(number).as_bytes()).unwrap().is_some();
    assert_eq!((0..400).filter(|number| there(*number)).count(), 20);
    assert!(store.stats().compactions > merges, "a merge is counted");
}

/// Holds that what a flush wrote before it failed takes no room from those who try again.
#[test]
fn a_flush_that_fails_leaves_no_table_file_behind() {
    let scratch = Scratch::new();
    let store = scratch.open();
    commit_put(&store, "a", "1");
    // The list that names the new file cannot be written: something of that name is there.
    let list = scratch.folder.join("tree/v1");
    vfs::create_folder(&list).unwrap();
    store.maintain().unwrap_err();
    let tables = scratch.folder.join("tree/tables");
    assert_eq!(vfs::list(&tables).unwrap(), Vec::<std::path::PathBuf>::new());
    assert_eq!(get(&store, "a").as_deref(), Some("1"));
    drop(store);
    vfs::remove_tree(&list).unwrap();
    let store = scratch.open();
    store.maintain().unwrap();
    assert_eq!(vfs::list(&tables).unwrap().len(), 1);
    assert_eq!(get(&store, "a").as_deref(), Some("1"));
}

/// A group that fits a log file to the last byte is in it.
#[test]
fn a_log_file_is_as_long_as_it_may_be() {
    let length = |path: &std::path::Path| vfs::read(path).unwrap().len() as u64;
    let lengths = |log_file_bytes: u64| {
        let scratch = Scratch::new();
        let store = scratch.open_with(Options { log_file_bytes, ..small() }).unwrap();
        (0..3).for_each(|_| commit_put(&store, "a", "1"));
        let logs = scratch.logs();
        drop(store);
        logs.iter().map(|log| length(log)).collect::<Vec<u64>>()
    };
    let [all] = lengths(1 << 20)[..] else { panic!("three small groups are one file") };
    assert_eq!(lengths(all), [all]);
    let [first, second] = lengths(all - 1)[..] else { panic!("one byte too little") };
    assert!(first < all && second < first);
}
