//! Acknowledging before the sync: what is promised, and what recovery makes of it.

use std::time::Duration;

use crate::contract::{Commit, Durability, ErrorKind, Store as _};
use crate::embedded::{Options, superblock};
use crate::vfs;

use super::support::{
    Scratch, commit_put, contents, files, get, interval, pause, put, restore, small,
};

/// Commits `a` to `f` one by one under interval durability, in small log files, and returns the
/// folder as a power cut would leave it if everything was written and only `synced` was synced.
fn six_groups(scratch: &Scratch, synced: usize) {
    let options = Options { log_file_bytes: 200, ..interval() };
    let store = scratch.open_with(options).unwrap();
    let mut superblocks = vec![vfs::read(&scratch.superblock()).unwrap()];
    for key in ["a", "b", "c", "d", "e", "f"] {
        commit_put(&store, key, "value");
        superblocks.push(vfs::read(&scratch.superblock()).unwrap());
    }
    let mut left = files(&scratch.folder);
    drop(store);
    left.insert("mark".into(), superblocks.swap_remove(synced));
    restore(&scratch.folder, &left);
}

/// Flips a byte in the group that holds `key`.
fn damage_group(scratch: &Scratch, key: &str) {
    let mut needle = key.as_bytes().to_vec();
    needle.extend_from_slice(b"value");
    for path in scratch.logs() {
        let mut bytes = vfs::read(&path).unwrap();
        if let Some(at) = bytes.windows(needle.len()).position(|window| window == needle) {
            bytes[at + 2] ^= 1;
            vfs::replace(&path, &bytes).unwrap();
            return;
        }
    }
    panic!("no group holds {key}");
}

fn keys(store: &crate::embedded::EmbeddedStore) -> String {
    contents(store).into_keys().collect()
}

#[test]
fn commits_are_acknowledged_before_the_sync() {
    let scratch = Scratch::new();
    let store = scratch.open_with(interval()).unwrap();
    for _ in 0..20 {
        commit_put(&store, "a", "1");
    }
    assert_eq!(store.stats().syncs, 0);
    assert_eq!(get(&store, "a").as_deref(), Some("1"));
    // A kill takes none: everything was handed to the operating system.
    let left = files(&scratch.folder);
    drop(store);
    restore(&scratch.folder, &left);
    assert_eq!(contents(&scratch.open()).len(), 1);
}

#[test]
fn the_first_damaged_group_above_the_superblock_ends_the_log() {
    for (damaged, expected) in [("a", ""), ("c", "ab"), ("f", "abcde")] {
        let scratch = Scratch::new();
        six_groups(&scratch, 0);
        assert!(scratch.logs().len() > 2);
        damage_group(&scratch, damaged);
        // Opened for `Sync`: what counts is what was promised when it was written.
        let store = scratch.open();
        assert_eq!(keys(&store), expected);
        commit_put(&store, "x", "value");
        drop(store);
        let store = scratch.open();
        assert_eq!(keys(&store), format!("{expected}x"));
    }
}

#[test]
fn a_missing_or_empty_file_above_the_superblock_ends_the_log() {
    for empty in [false, true] {
        let scratch = Scratch::new();
        six_groups(&scratch, 0);
        let second = scratch.logs().remove(1);
        if empty {
            vfs::replace(&second, &[]).unwrap();
        } else {
            vfs::remove(&second).unwrap();
        }
        let store = scratch.open_with(interval()).unwrap();
        let kept = keys(&store);
        assert!(!kept.is_empty() && "abcdef".starts_with(&kept), "{kept}");
        commit_put(&store, "x", "value");
        drop(store);
        assert_eq!(keys(&scratch.open()), format!("{kept}x"));
    }
}

#[test]
fn below_the_superblock_the_rules_are_those_of_sync() {
    let scratch = Scratch::new();
    // Small log files: each is synced before the next is created, so the superblock is near the end.
    six_groups(&scratch, 6);
    let synced = superblock::read(&scratch.superblock()).unwrap().superblock.synced_group;
    assert!(synced >= 3, "{synced}");
    let whole = files(&scratch.folder);
    damage_group(&scratch, "b");
    let before = files(&scratch.folder);
    assert_eq!(scratch.refused().kind(), ErrorKind::Corrupt);
    assert_eq!(files(&scratch.folder), before);
    restore(&scratch.folder, &whole);
    vfs::remove(&scratch.logs()[1]).unwrap();
    assert_eq!(scratch.refused().kind(), ErrorKind::Corrupt);
}

#[test]
fn going_over_to_sync_is_written_down_before_the_first_commit() {
    let scratch = Scratch::new();
    six_groups(&scratch, 0);
    drop(scratch.open());
    let read = superblock::read(&scratch.superblock()).unwrap();
    assert_eq!(read.superblock.durability, Durability::Sync);
    assert_eq!(read.superblock.synced_group, 6);
}

#[test]
fn the_log_is_synced_within_the_interval_when_idle() {
    let scratch = Scratch::new();
    let durability = Durability::Interval(Duration::from_millis(5));
    let store = scratch.open_with(Options { durability, ..small() }).unwrap();
    commit_put(&store, "a", "1");
    let mut synced = 0;
    for _ in 0..10_000 {
        synced = superblock::read(&scratch.superblock()).unwrap().superblock.synced_group;
        if synced > 0 {
            break;
        }
        pause(Duration::from_millis(2));
    }
    assert_eq!(synced, 1);
}

#[test]
fn a_flush_never_gets_ahead_of_the_log() {
    let scratch = Scratch::new();
    let store = scratch.open_with(interval()).unwrap();
    store.commit(Commit::of(vec![put("a", "1")])).unwrap();
    assert_eq!(store.stats().syncs, 0);
    store.maintain().unwrap();
    assert_eq!(store.stats().syncs, 1);
    let superblock = superblock::read(&scratch.superblock()).unwrap().superblock;
    assert_eq!((superblock.synced_group, superblock.flushed_group), (1, 1));
}

/// A store that is never idle syncs its superblock all the same: recovery of what a power cut leaves must
/// not search all groups since the last pause.
#[test]
fn the_superblock_is_synced_while_commits_go_on() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let is_dirty = || store.inner.superblock.lock().unwrap().is_dirty();
    let was_synced = (0..1_000).any(|_| {
        commit_put(&store, "a", "1");
        // Far less than a store waits before it is idle.
        pause(Duration::from_millis(4));
        !is_dirty()
    });
    assert!(was_synced, "in four seconds of commits");
}
