//! Checks that what no crash can leave is refused, named, and not touched.

use crate::contract::{Error, ErrorKind, Store as _};
use crate::embedded::log::header::FileHeader;
use crate::embedded::{Options, superblock};
use crate::vfs;

use super::support::{Scratch, commit_put, contents, files, restore, small};

/// Expects the store to be refused as corrupt, with `words` in the message and nothing changed.
fn check_refused(scratch: &Scratch, words: &[&str], what: &str) -> Error {
    let before = files(&scratch.folder);
    let error = scratch.refused();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{what}: {error}");
    for word in words {
        assert!(error.to_string().contains(word), "{what}: {word} not in: {error}");
    }
    assert_eq!(files(&scratch.folder), before, "{what}: something was changed");
    error
}

/// Commits one by one; returns where each group of the only log file ends.
fn three_groups(scratch: &Scratch) -> Vec<usize> {
    let store = scratch.open();
    let ends = ["a", "b", "c"]
        .map(|key| {
            commit_put(&store, key, "value");
            vfs::read(&scratch.logs()[0]).unwrap().len()
        })
        .to_vec();
    drop(store);
    ends
}

#[test]
fn any_flipped_byte_of_a_group_in_the_middle_is_refused() {
    let scratch = Scratch::new();
    let ends = three_groups(&scratch);
    let log = scratch.logs().remove(0);
    let whole = vfs::read(&log).unwrap();
    let name = log.file_name().unwrap().to_str().unwrap();
    for (start, end) in [(64, ends[0]), (ends[0], ends[1])] {
        for place in start..end {
            let mut bytes = whole.clone();
            bytes[place] ^= 1;
            vfs::replace(&log, &bytes).unwrap();
            let at = format!("at byte {start}");
            check_refused(&scratch, &[name, &at], &format!("byte {place}"));
        }
    }
    vfs::replace(&log, &whole).unwrap();
    assert_eq!(contents(&scratch.open()).len(), 3);
}

#[test]
fn damage_before_something_whole_is_refused_even_if_the_superblock_is_behind() {
    let scratch = Scratch::new();
    drop(scratch.open());
    let superblock = vfs::read(&scratch.superblock()).unwrap();
    let ends = three_groups(&scratch);
    // As after a power cut: the superblock knows of no group.
    vfs::replace(&scratch.superblock(), &superblock).unwrap();
    let whole = files(&scratch.folder);
    let log = scratch.logs().remove(0);
    for place in 64..ends[1] {
        let mut bytes = vfs::read(&log).unwrap();
        bytes[place] ^= 1;
        vfs::replace(&log, &bytes).unwrap();
        check_refused(&scratch, &["stands whole at byte"], &format!("byte {place}"));
        restore(&scratch.folder, &whole);
    }
    // The last group has nothing behind it, unless a later file was begun.
    let mut bytes = vfs::read(&log).unwrap();
    bytes[ends[1] + 60] ^= 1;
    vfs::replace(&log, &bytes).unwrap();
    let damaged = files(&scratch.folder);
    assert_eq!(contents(&scratch.open()).len(), 2);
    restore(&scratch.folder, &damaged);
    let header = FileHeader {
        store_id: superblock::read(&scratch.superblock()).unwrap().superblock.store_id,
        file: 2,
        first_group: 4,
        first_commit: 4,
    };
    let next = scratch.folder.join("log/00000000000000000002.log");
    vfs::replace(&next, &header.encode()).unwrap();
    check_refused(&scratch, &["follows it"], "a later file was begun");
}

#[test]
fn damage_of_the_last_group_is_refused_when_the_superblock_counts_it() {
    let scratch = Scratch::new();
    let ends = three_groups(&scratch);
    let log = scratch.logs().remove(0);
    let whole = vfs::read(&log).unwrap();
    for place in ends[1]..ends[2] {
        let mut bytes = whole.clone();
        bytes[place] ^= 1;
        vfs::replace(&log, &bytes).unwrap();
        check_refused(&scratch, &["groups up to 3 were synced"], &format!("flip {place}"));
        vfs::replace(&log, &whole[..place]).unwrap();
        check_refused(&scratch, &["group"], &format!("cut {place}"));
    }
}

#[test]
fn any_flipped_byte_of_a_header_is_refused() {
    let scratch = Scratch::new();
    three_groups(&scratch);
    let log = scratch.logs().remove(0);
    let whole = vfs::read(&log).unwrap();
    for place in 0..64 {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x10;
        vfs::replace(&log, &bytes).unwrap();
        check_refused(&scratch, &["at byte 0"], &format!("byte {place}"));
    }
}

/// A store of many log files.
fn many_files(scratch: &Scratch) -> Options {
    let options = Options { log_file_bytes: 1024, ..small() };
    let store = scratch.open_with(options.clone()).unwrap();
    for index in 0..60 {
        commit_put(&store, &format!("k{index:02}"), &"x".repeat(40));
    }
    drop(store);
    assert!(scratch.logs().len() > 5);
    options
}

#[test]
fn a_missing_log_file_is_refused_whichever_it_is() {
    let scratch = Scratch::new();
    many_files(&scratch);
    let whole = files(&scratch.folder);
    let last = scratch.logs().pop();
    for path in scratch.logs() {
        vfs::remove(&path).unwrap();
        let word = if Some(&path) == last.as_ref() { "group 60 was synced" } else { "missing" };
        check_refused(&scratch, &[word], &path.display().to_string());
        restore(&scratch.folder, &whole);
    }
    for path in scratch.logs() {
        vfs::remove(&path).unwrap();
    }
    check_refused(&scratch, &["there is no log file"], "all of them");
}

#[test]
fn log_files_in_wrong_places_are_refused() {
    let scratch = Scratch::new();
    many_files(&scratch);
    let logs = scratch.logs();
    let whole = files(&scratch.folder);
    let (second, third) = (vfs::read(&logs[1]).unwrap(), vfs::read(&logs[2]).unwrap());
    vfs::replace(&logs[1], &third).unwrap();
    vfs::replace(&logs[2], &second).unwrap();
    check_refused(&scratch, &["differ"], "swapped");
    restore(&scratch.folder, &whole);
    // A group taken out of the middle: the rest is whole, but numbers are missing.
    let first_end = 64 + group_length(&second, 64);
    let second_end = first_end + group_length(&second, first_end);
    let mut without = second[..first_end].to_vec();
    without.extend_from_slice(&second[second_end..]);
    vfs::replace(&logs[1], &without).unwrap();
    check_refused(&scratch, &[&format!("at byte {first_end}"), "should"], "group left out");
    // A file cut between groups.
    vfs::replace(&logs[1], &second[..first_end]).unwrap();
    check_refused(&scratch, &["ends with group"], "cut between groups");
}

fn group_length(file: &[u8], offset: usize) -> usize {
    let length = u32::from_be_bytes(file[offset + 4..offset + 8].try_into().unwrap());
    56 + usize::try_from(length).unwrap()
}

#[test]
fn a_log_file_of_another_store_is_refused() {
    let scratch = Scratch::new();
    three_groups(&scratch);
    let other = Scratch::new();
    three_groups(&other);
    let bytes = vfs::read(&other.logs()[0]).unwrap();
    vfs::replace(&scratch.logs()[0], &bytes).unwrap();
    check_refused(&scratch, &["another store"], "foreign file");
}

#[test]
fn between_two_syncs_only_one_slot_of_the_superblock_is_rewritten() {
    let scratch = Scratch::new();
    drop(scratch.open());
    let path = scratch.superblock();
    let slots = || {
        let bytes = vfs::read(&path).unwrap();
        (bytes[..4096].to_vec(), bytes[4096..].to_vec())
    };
    for _ in 0..3 {
        // Opening makes sure that what was read is durable, and leaves that slot alone.
        let read = superblock::read(&path).unwrap();
        check_first_write(&path, &read);
        let mut superblock = superblock::SuperblockFile::open(&path, &read).unwrap();
        let mut rewritten = Vec::new();
        for step in 0..6_u64 {
            let before = slots();
            superblock.superblock.synced_group += 1 + step;
            superblock.write().unwrap();
            let after = slots();
            assert!(before != after && superblock.is_dirty());
            rewritten.push((before.0 != after.0, before.1 != after.1));
            if step % 3 == 2 {
                superblock.sync().unwrap();
                assert!(!superblock.is_dirty());
            }
            assert_eq!(superblock::read(&path).unwrap().superblock, superblock.superblock);
        }
        let one = (true, false);
        let other = (false, true);
        let expected = [[one; 3], [other; 3]].concat();
        let swapped = [[other; 3], [one; 3]].concat();
        assert!(rewritten == expected || rewritten == swapped, "{rewritten:?}");
    }
}

/// Checks that `read` survives whatever becomes of the first slot that is written after it was
/// read.
fn check_first_write(path: &std::path::Path, read: &superblock::SuperblockRead) {
    let before = vfs::read(path).unwrap();
    let mut superblock = superblock::SuperblockFile::open(path, read).unwrap();
    superblock.superblock.synced_group += 100;
    superblock.write().unwrap();
    let after = vfs::read(path).unwrap();
    let torn = if before[..4096] == after[..4096] { 4096 } else { 0 };
    let mut half = after;
    half[torn + 20..torn + 96].fill(0);
    vfs::replace(path, &half).unwrap();
    assert_eq!(superblock::read(path).unwrap().superblock, read.superblock);
    vfs::replace(path, &before).unwrap();
}

#[test]
fn one_damaged_slot_of_the_superblock_is_survived_and_two_are_not() {
    let scratch = Scratch::new();
    three_groups(&scratch);
    let whole = vfs::read(&scratch.superblock()).unwrap();
    let folder = files(&scratch.folder);
    for slot in [0, 4096] {
        for place in [0, 8, 20, 50, 87, 88, 95] {
            restore(&scratch.folder, &folder);
            let mut bytes = whole.clone();
            bytes[slot + place] ^= 1;
            vfs::replace(&scratch.superblock(), &bytes).unwrap();
            assert_eq!(contents(&scratch.open()).len(), 3);
        }
    }
    restore(&scratch.folder, &folder);
    for (one, two) in [(0, 4096 + 95), (90, 4100)] {
        let mut bytes = whole.clone();
        bytes[one] ^= 1;
        bytes[two] ^= 1;
        vfs::replace(&scratch.superblock(), &bytes).unwrap();
        check_refused(&scratch, &["neither slot"], "both slots");
    }
    vfs::replace(&scratch.superblock(), &[]).unwrap();
    check_refused(&scratch, &["neither slot"], "empty superblock");
}

/// A closed store with one table file of these values.
fn one_table(scratch: &Scratch, value: &str) -> std::path::PathBuf {
    let store = scratch.open();
    for n in 0..200 {
        commit_put(&store, &format!("k{n:03}"), value);
    }
    store.close().unwrap();
    vfs::list(&scratch.folder.join("tree/tables")).unwrap().remove(0)
}

#[test]
fn a_table_file_of_another_store_under_the_same_name_is_refused() {
    let (scratch, other) = (Scratch::new(), Scratch::new());
    let (own, foreign) = (one_table(&scratch, "ours"), one_table(&other, "them"));
    assert_eq!(own.file_name(), foreign.file_name());
    let whole = vfs::read(&own).unwrap();
    let identities = scratch.folder.join("tree/identities");
    let kept = vfs::read(&identities).unwrap();
    let name = own.to_str().unwrap();
    for is_known in [true, false] {
        vfs::replace(&own, &vfs::read(&foreign).unwrap()).unwrap();
        // A store of before remembers no identities, and neither does one whose file was torn.
        let bytes = if is_known { &kept[..] } else { &kept[..kept.len() - 1] };
        vfs::replace(&identities, bytes).unwrap();
        check_refused(&scratch, &[name, "another one under its name", "--salvage"], "foreign");
    }
    // Nor does that of another store say that its file belongs here.
    let foreign = vfs::read(&other.folder.join("tree/identities")).unwrap();
    vfs::replace(&identities, &foreign).unwrap();
    check_refused(&scratch, &["another one under its name"], "foreign identities");
    vfs::replace(&own, &whole).unwrap();
    assert_eq!(contents(&scratch.open()).len(), 200);
    // It was read whole once, and is remembered again.
    assert_eq!(vfs::read(&identities).unwrap(), kept);
}

/// A flipped bit in a block is not a foreign file: what is whole is served.
#[test]
fn a_damaged_block_does_not_keep_a_store_from_opening() {
    let scratch = Scratch::new();
    let own = one_table(&scratch, "ours");
    vfs::remove(&scratch.folder.join("tree/identities")).unwrap();
    let mut bytes = vfs::read(&own).unwrap();
    bytes[50] ^= 1;
    vfs::replace(&own, &bytes).unwrap();
    scratch.open().close().unwrap();
}
