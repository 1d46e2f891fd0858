//! Round trips through close, drop and flush.

use crate::contract::{Commit, Direction, ErrorKind, KeyRange, Store as _};

use super::support::{Scratch, bytes, commit_put, contents, delete, get, put, rows, small};

#[test]
fn a_put_is_read_back_and_survives_close_and_drop() {
    let scratch = Scratch::new();
    for round in 0..4 {
        let store = scratch.open();
        assert_eq!(contents(&store).len(), round);
        for earlier in 0..round {
            assert_eq!(get(&store, &format!("k{earlier}")), Some(format!("v{earlier}")));
        }
        commit_put(&store, &format!("k{round}"), &format!("v{round}"));
        if round % 2 == 0 {
            store.close().unwrap();
        }
    }
}

#[test]
fn an_acknowledged_commit_is_synced_and_the_superblock_knows() {
    let scratch = Scratch::new();
    let store = scratch.open();
    for number in 1..=5 {
        commit_put(&store, "a", "1");
        assert_eq!(store.stats().syncs, number);
        let superblock =
            crate::embedded::superblock::read(&scratch.superblock()).unwrap().superblock;
        assert_eq!((superblock.synced_group, superblock.synced_commit), (number, number));
        assert!(!superblock.clean);
    }
}

#[test]
fn a_clean_stop_leaves_one_log_file_without_groups() {
    let scratch = Scratch::new();
    let store = scratch.open();
    commit_put(&store, "a", "1");
    store.close().unwrap();
    let logs = scratch.logs();
    assert_eq!(logs.len(), 1);
    assert_eq!(logs[0].metadata().unwrap().len(), 64);
    // The next open neither replays nor creates a file.
    drop(scratch.open());
    assert_eq!(scratch.logs(), logs);
}

#[test]
fn commit_numbers_go_on_over_a_reopen() {
    let scratch = Scratch::new();
    for round in 0..3_u64 {
        let store = scratch.open();
        for step in 1..=2 {
            let number = store.commit(Commit::of(vec![put("a", "1")])).unwrap().number;
            assert_eq!(number, round * 2 + step);
        }
        if round == 1 {
            store.close().unwrap();
        }
    }
}

#[test]
fn everything_answers_closed_after_close() {
    let scratch = Scratch::new();
    let store = scratch.open();
    commit_put(&store, "a", "1");
    let held = store.snapshot().unwrap();
    store.close().unwrap();
    store.close().unwrap();
    let kinds = [
        store.snapshot().err().unwrap().kind(),
        store.latest().err().unwrap().kind(),
        store.commit(Commit::of(vec![put("a", "2")])).unwrap_err().kind(),
        store.boundaries(&KeyRange::all()).unwrap_err().kind(),
        store.destroy_range(&KeyRange::all()).unwrap_err().kind(),
        store.maintain().unwrap_err().kind(),
        held.get(b"a").unwrap_err().kind(),
    ];
    assert_eq!(kinds, [ErrorKind::Closed; 7]);
}

#[test]
fn the_folder_stays_locked_until_the_last_read_in_flight_ends() {
    let scratch = Scratch::new();
    let store = std::sync::Arc::new(scratch.open());
    commit_put(&store, "a", "1");
    // What a read holds while it runs.
    let in_flight = store.inner.snapshots.view();
    let closing = store.clone();
    let (sender, receiver) = std::sync::mpsc::channel();
    let close = move || sender.send(closing.close()).unwrap();
    let thread = crate::threads::spawn("closer", close).unwrap();
    while !store.inner.snapshots.is_closed() {
        std::thread::yield_now();
    }
    assert_eq!(scratch.refused().kind(), ErrorKind::Unavailable);
    assert_eq!(in_flight.get(b"a", u64::MAX).unwrap().as_deref(), Some(&b"1"[..]));
    assert!(receiver.try_recv().is_err(), "closed before the read ended");
    drop(in_flight);
    receiver.recv().unwrap().unwrap();
    thread.join().unwrap();
    // The old store still exists, and holds nothing.
    assert_eq!(get(&scratch.open(), "a").as_deref(), Some("1"));
    assert_eq!(store.stats().memory_table_bytes, 0);
}

#[test]
fn maintain_flushes_and_removes_the_log_behind() {
    let scratch = Scratch::new();
    let options = crate::embedded::Options { log_file_bytes: 4096, ..small() };
    let store = scratch.open_with(options.clone()).unwrap();
    for index in 0..100 {
        commit_put(&store, &format!("k{index:03}"), &"x".repeat(100));
    }
    assert!(scratch.logs().len() > 2);
    assert_eq!(store.stats().flushes, 0);
    let done = store.maintain().unwrap();
    assert!(done.flushed_bytes > 10_000);
    assert_eq!(store.stats().flushes, 1);
    assert!(done.log_files_removed > 1);
    assert_eq!(scratch.logs().len(), 1);
    assert!(store.stats().tree_bytes_on_disk > 10_000);
    drop(store);
    assert_eq!(contents(&scratch.open_with(options).unwrap()).len(), 100);
}

#[test]
fn a_log_file_goes_only_when_all_its_groups_are_flushed() {
    let scratch = Scratch::new();
    // Every group has a file of its own.
    let options = crate::embedded::Options { log_file_bytes: 1, ..small() };
    let store = scratch.open_with(options).unwrap();
    for key in ["a", "b", "c", "d"] {
        commit_put(&store, key, "1");
    }
    for flushed in 0..=4_usize {
        let removed = store.inner.remove_log_files(u64::try_from(flushed).unwrap()).unwrap();
        assert_eq!(removed, usize::from(flushed > 0 && flushed < 4), "{flushed}");
        let first = scratch.logs().remove(0);
        assert!(first.ends_with(format!("{:020}.log", (flushed + 1).min(4))), "{flushed}");
    }
}

#[test]
fn ranges_are_read_both_ways_over_memory_and_files() {
    let scratch = Scratch::new();
    let store = scratch.open();
    for index in (0..50).step_by(2) {
        commit_put(&store, &format!("k{index:02}"), "old");
    }
    store.maintain().unwrap();
    store
        .commit(Commit::of((1..50).step_by(2).map(|n| put(&format!("k{n:02}"), "new")).collect()))
        .unwrap();
    store.commit(Commit::of(vec![delete("k10"), put("k12", "over")])).unwrap();
    let snapshot = store.snapshot().unwrap();
    let range = KeyRange::new(bytes("k08"), bytes("k15"));
    let up = rows(&*snapshot, range.clone(), Direction::Ascending, 3);
    let keys: Vec<&[u8]> = up.iter().map(|row| row.key.as_ref()).collect();
    assert_eq!(keys, [&b"k08"[..], b"k09", b"k11", b"k12", b"k13", b"k14"]);
    assert_eq!(up[3].value, "over");
    let mut down = rows(&*snapshot, range, Direction::Descending, 2);
    down.reverse();
    assert_eq!(up, down);
}
