//! Zeros ahead of the log: the end of a file is not the end of its groups.

use crate::contract::ErrorKind;
use crate::embedded::{Options, verify};
use crate::vfs;

use super::support::{Scratch, commit_put, contents, files, get, restore, small};

const AHEAD: u64 = 64 * 1024;

fn ahead() -> Options {
    Options { log_ahead_bytes: AHEAD, ..small() }
}

/// Returns where the zeros begin that reach to the end of the file.
fn end_of_groups(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)
}

#[test]
fn zeros_behind_the_last_group_are_neither_damage_nor_a_torn_tail() {
    let scratch = Scratch::new();
    let store = scratch.open_with(ahead()).unwrap();
    commit_put(&store, "a", "1");
    commit_put(&store, "b", "2");
    let log = scratch.logs().remove(0);
    let length = vfs::read(&log).unwrap().len();
    commit_put(&store, "c", "3");
    drop(store);
    let bytes = vfs::read(&log).unwrap();
    // The third group lies where zeros were.
    assert_eq!(bytes.len(), length);
    assert!(end_of_groups(&bytes) + 10_000 < length, "{length}");
    let report = verify(&scratch.folder).unwrap();
    assert!(report.is_clean() && report.notes.is_empty(), "{report:?}");
    assert_eq!(report.groups, 3);
    let store = scratch.open_with(ahead()).unwrap();
    assert_eq!(contents(&store).len(), 3);
    // What was opened goes on in a file of its own, behind the zeros of this one.
    commit_put(&store, "d", "4");
    drop(store);
    assert_ne!(scratch.logs().last(), Some(&log));
    // A version that writes no zeros reads them.
    assert_eq!(contents(&scratch.open()).len(), 4);
}

#[test]
fn a_group_cut_short_before_zeros_is_a_torn_tail() {
    let scratch = Scratch::new();
    let store = scratch.open_with(ahead()).unwrap();
    commit_put(&store, "a", "1");
    let superblock = vfs::read(&scratch.superblock()).unwrap();
    let log = scratch.logs().remove(0);
    let start = end_of_groups(&vfs::read(&log).unwrap());
    commit_put(&store, "b", "2");
    drop(store);
    vfs::replace(&scratch.superblock(), &superblock).unwrap();
    let whole = files(&scratch.folder);
    let bytes = vfs::read(&log).unwrap();
    let end = end_of_groups(&bytes);
    for cut in start..end {
        // The beginning of the group reached the disk, or its end.
        for hole in [cut..end, start..cut] {
            restore(&scratch.folder, &whole);
            let mut torn = bytes.clone();
            torn[hole.clone()].fill(0);
            vfs::replace(&log, &torn).unwrap();
            let store = scratch.open_with(ahead()).unwrap();
            let b = get(&store, "b");
            assert_eq!(b.is_some(), torn == bytes, "{hole:?}");
            commit_put(&store, "c", "3");
            drop(store);
            let store = scratch.open_with(ahead()).unwrap();
            assert_eq!(get(&store, "c").as_deref(), Some("3"), "{hole:?}");
        }
    }
}

#[test]
fn zeros_in_place_of_what_was_synced_are_refused() {
    let scratch = Scratch::new();
    let store = scratch.open_with(ahead()).unwrap();
    commit_put(&store, "a", "1");
    let log = scratch.logs().remove(0);
    let first = end_of_groups(&vfs::read(&log).unwrap());
    commit_put(&store, "b", "2");
    let second = end_of_groups(&vfs::read(&log).unwrap());
    commit_put(&store, "c", "3");
    drop(store);
    let bytes = vfs::read(&log).unwrap();
    // The last group, the one before it, and both.
    for hole in [second..bytes.len(), first..second, first..bytes.len()] {
        let mut damaged = bytes.clone();
        damaged[hole.clone()].fill(0);
        vfs::replace(&log, &damaged).unwrap();
        let error = scratch.refused();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{hole:?}: {error}");
        assert_eq!(vfs::read(&log).unwrap(), damaged);
    }
}

#[test]
fn zeros_before_a_whole_group_are_refused_even_if_the_superblock_is_behind() {
    let scratch = Scratch::new();
    let store = scratch.open_with(ahead()).unwrap();
    commit_put(&store, "a", "1");
    let superblock = vfs::read(&scratch.superblock()).unwrap();
    let log = scratch.logs().remove(0);
    let first = end_of_groups(&vfs::read(&log).unwrap());
    commit_put(&store, "b", "2");
    let second = end_of_groups(&vfs::read(&log).unwrap());
    commit_put(&store, "c", "3");
    drop(store);
    vfs::replace(&scratch.superblock(), &superblock).unwrap();
    let mut bytes = vfs::read(&log).unwrap();
    bytes[first..second].fill(0);
    vfs::replace(&log, &bytes).unwrap();
    let error = scratch.refused();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains("group 3 stands whole"), "{error}");
}

#[test]
fn a_file_grows_by_its_own_length_until_the_limit() {
    let scratch = Scratch::new();
    let store = scratch.open_with(ahead()).unwrap();
    let log = scratch.logs().remove(0);
    let value = "v".repeat(1000);
    let mut lengths: Vec<u64> = Vec::new();
    for n in 0..300 {
        commit_put(&store, &format!("k{n}"), &value);
        let length = std::fs::metadata(&log).unwrap().len();
        if lengths.last() != Some(&length) {
            lengths.push(length);
        }
    }
    assert!(lengths[0] < 20_000 && lengths.len() < 12, "{lengths:?}");
    assert!(lengths.windows(2).all(|pair| pair[1] - pair[0] < AHEAD + 2000), "{lengths:?}");
}
