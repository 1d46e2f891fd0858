//! Checks that what a crash leaves is replayed, and what was never acknowledged may be cut.

use crate::contract::Store as _;
use crate::embedded::Options;
use crate::vfs;

use super::support::{Scratch, commit_put, contents, files, get, restore, small};

/// A store of three commits whose superblock says that the first two are synced, as after a power cut
/// during the third. Returns where the last group begins.
fn before_the_last_was_synced(scratch: &Scratch) -> usize {
    let store = scratch.open();
    commit_put(&store, "a", "1");
    commit_put(&store, "b", "2");
    let superblock = vfs::read(&scratch.superblock()).unwrap();
    let end = vfs::read(&scratch.logs()[0]).unwrap().len();
    commit_put(&store, "c", "3");
    drop(store);
    vfs::replace(&scratch.superblock(), &superblock).unwrap();
    end
}

#[test]
fn a_tail_torn_at_any_byte_is_cut() {
    let scratch = Scratch::new();
    let start = before_the_last_was_synced(&scratch);
    let whole = files(&scratch.folder);
    let log = scratch.logs().remove(0);
    let bytes = vfs::read(&log).unwrap();
    for cut in start..bytes.len() {
        restore(&scratch.folder, &whole);
        vfs::replace(&log, &bytes[..cut]).unwrap();
        check_cut(&scratch, &format!("cut at {cut}"));
        // The length may have reached the disk and the data not.
        restore(&scratch.folder, &whole);
        let mut holed = bytes.clone();
        holed[cut..].fill(0);
        vfs::replace(&log, &holed).unwrap();
        check_cut(&scratch, &format!("zeroed from {cut}"));
        // A flipped byte anywhere in the group.
        restore(&scratch.folder, &whole);
        let mut flipped = bytes.clone();
        flipped[cut] ^= 0x20;
        vfs::replace(&log, &flipped).unwrap();
        check_cut(&scratch, &format!("flipped at {cut}"));
    }
}

fn check_cut(scratch: &Scratch, what: &str) {
    let store = scratch.open();
    assert_eq!(get(&store, "b").as_deref(), Some("2"), "{what}");
    assert_eq!(get(&store, "c"), None, "{what}");
    commit_put(&store, "d", "4");
    drop(store);
    let store = scratch.open();
    assert_eq!(contents(&store).len(), 3, "{what}");
    assert_eq!(get(&store, "d").as_deref(), Some("4"), "{what}");
}

#[test]
fn a_whole_group_above_the_superblock_is_kept() {
    let scratch = Scratch::new();
    before_the_last_was_synced(&scratch);
    assert_eq!(contents(&scratch.open()).len(), 3);
}

#[test]
fn an_unfinished_next_log_file_is_no_damage() {
    let scratch = Scratch::new();
    let store = scratch.open();
    commit_put(&store, "a", "1");
    drop(store);
    let whole = files(&scratch.folder);
    let header = vfs::read(&scratch.logs()[0]).unwrap()[..64].to_vec();
    let next = scratch.folder.join("log/00000000000000000002.log");
    for cut in [0, 5, 63] {
        restore(&scratch.folder, &whole);
        vfs::replace(&next, &header[..cut]).unwrap();
        let store = scratch.open();
        assert_eq!(get(&store, "a").as_deref(), Some("1"));
        commit_put(&store, "b", "2");
        drop(store);
        assert_eq!(contents(&scratch.open()).len(), 2);
    }
}

#[test]
fn replay_spans_many_log_files_and_memory_tables() {
    let scratch = Scratch::new();
    let options = Options { log_file_bytes: 2048, ..small() };
    let store = scratch.open_with(options.clone()).unwrap();
    for index in 0..200 {
        commit_put(&store, &format!("k{:03}", index % 150), &format!("{index}"));
    }
    drop(store);
    assert!(scratch.logs().len() > 5);
    // A memory table that is far too small for what is replayed.
    let options = Options { memory_table_bytes: 1024, ..options };
    let store = scratch.open_with(options).unwrap();
    let all = contents(&store);
    assert_eq!(all.len(), 150);
    for index in 0..150 {
        let newest = if index < 50 { index + 150 } else { index };
        assert_eq!(all[&format!("k{index:03}")], newest.to_string());
    }
    store.maintain().unwrap();
    assert_eq!(contents(&store), all);
    assert_eq!(scratch.logs().len(), 1);
}

#[test]
fn groups_are_replayed_above_the_flushed_one_only() {
    let scratch = Scratch::new();
    let store = scratch.open();
    commit_put(&store, "a", "old");
    store.maintain().unwrap();
    commit_put(&store, "a", "new");
    commit_put(&store, "b", "1");
    drop(store);
    let store = scratch.open();
    assert_eq!(get(&store, "a").as_deref(), Some("new"));
    assert_eq!(get(&store, "b").as_deref(), Some("1"));
}

#[test]
fn a_flush_whose_superblock_was_lost_is_replayed_over_itself() {
    let scratch = Scratch::new();
    let store = scratch.open();
    commit_put(&store, "a", "1");
    commit_put(&store, "a", "2");
    // A power cut after the flush, before the superblock of it: the log is still there.
    let superblock = vfs::read(&scratch.superblock()).unwrap();
    let log = scratch.logs().remove(0);
    let bytes = vfs::read(&log).unwrap();
    store.maintain().unwrap();
    drop(store);
    vfs::replace(&scratch.superblock(), &superblock).unwrap();
    vfs::replace(&log, &bytes).unwrap();
    let store = scratch.open();
    assert_eq!(get(&store, "a").as_deref(), Some("2"));
    store.maintain().unwrap();
    assert_eq!(get(&store, "a").as_deref(), Some("2"));
}
