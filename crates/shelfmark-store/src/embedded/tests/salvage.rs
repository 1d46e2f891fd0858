//! Verifying finds every flipped byte; salvaging keeps everything that is whole.

use std::path::{Path, PathBuf};

use crate::contract::{Commit, Durability, ErrorKind, Store as _};
use crate::embedded::{Options, end_salvage, salvage, verify};
use crate::vfs;

use super::support::{
    Scratch, commit_put, contents, delete, files, get, interval, put, restore, small,
};

fn flip(path: &Path, place: usize) {
    let mut bytes = vfs::read(path).unwrap();
    bytes[place] ^= 0x40;
    vfs::replace(path, &bytes).unwrap();
}

fn tables(scratch: &Scratch) -> Vec<PathBuf> {
    vfs::list(&scratch.folder.join("tree/tables")).unwrap()
}

/// A closed store with one table file of many blocks and nothing in the log.
fn one_table(scratch: &Scratch) -> PathBuf {
    let store = scratch.open();
    let writes = (0..400).map(|n| put(&format!("k{n:03}"), &format!("{n}").repeat(30))).collect();
    store.commit(Commit::of(writes)).unwrap();
    store.close().unwrap();
    tables(scratch).remove(0)
}

#[test]
fn a_whole_store_is_clean_and_left_alone() {
    let scratch = Scratch::new();
    let store = scratch.open();
    commit_put(&store, "a", "1");
    store.maintain().unwrap();
    commit_put(&store, "b", "1");
    commit_put(&store, "c", "1");
    assert_eq!(store.verify_tables().unwrap(), []);
    assert_eq!(verify(&scratch.folder).unwrap_err().kind(), ErrorKind::Unavailable);
    drop(store);
    let before = files(&scratch.folder);
    let report = verify(&scratch.folder).unwrap();
    assert!(report.is_clean() && report.notes.is_empty(), "{report:?}");
    assert_eq!((report.groups, report.last_group, report.last_commit), (3, 3, 3));
    assert_eq!((report.table_files, report.log_files), (1, 1));
    assert_eq!(report.durability, Some(Durability::Sync));
    assert!(!report.clean_stop && report.table_bytes > 100);
    let done = salvage(&scratch.folder).unwrap();
    assert_eq!((done.set_aside, done.commits_lost), (None, Some(0)));
    assert_eq!(files(&scratch.folder), before);
    scratch.open().close().unwrap();
    assert!(verify(&scratch.folder).unwrap().clean_stop);
    let nothing = verify(&scratch.beside("nothing")).unwrap_err();
    assert_eq!(nothing.kind(), ErrorKind::Invalid);
}

#[test]
fn a_torn_tail_is_a_note_and_no_damage() {
    let scratch = Scratch::new();
    let store = scratch.open();
    commit_put(&store, "a", "1");
    let superblock = vfs::read(&scratch.superblock()).unwrap();
    commit_put(&store, "b", "1");
    drop(store);
    vfs::replace(&scratch.superblock(), &superblock).unwrap();
    let log = scratch.logs().remove(0);
    let bytes = vfs::read(&log).unwrap();
    vfs::replace(&log, &bytes[..bytes.len() - 1]).unwrap();
    let report = verify(&scratch.folder).unwrap();
    assert!(report.is_clean(), "{report:?}");
    assert_eq!(report.notes.len(), 1);
    assert!(report.notes[0].contains("it is cut"), "{:?}", report.notes);
}

#[test]
fn any_flipped_byte_of_a_table_file_is_found_and_named() {
    let scratch = Scratch::new();
    let store = scratch.open();
    store.commit(Commit::of((0..9).map(|n| put(&format!("k{n}"), "value")).collect())).unwrap();
    store.close().unwrap();
    let table = tables(&scratch).remove(0);
    let whole = vfs::read(&table).unwrap();
    for place in 0..whole.len() {
        flip(&table, place);
        let report = verify(&scratch.folder).unwrap();
        assert_eq!(report.damages.len(), 1, "byte {place}");
        assert_eq!(report.damages[0].file, table);
        if let Some(offset) = report.damages[0].offset {
            assert!(usize::try_from(offset).unwrap() <= place, "byte {place}: {report:?}");
        }
        vfs::replace(&table, &whole).unwrap();
    }
    assert!(verify(&scratch.folder).unwrap().is_clean());
}

#[test]
fn a_damaged_block_is_named_by_its_offset_and_refused_when_read() {
    let scratch = Scratch::new();
    let table = one_table(&scratch);
    flip(&table, 9000);
    let report = verify(&scratch.folder).unwrap();
    let offset = report.damages[0].offset.unwrap();
    assert!((4000..=9000).contains(&offset), "{offset}");
    assert!(report.damages[0].to_string().contains(&format!("at byte {offset}")));
    let store = scratch.open();
    // The same while it is open.
    assert_eq!(store.verify_tables().unwrap(), report.damages);
    let snapshot = store.snapshot().unwrap();
    let errors: Vec<_> =
        (0..400).filter_map(|n| snapshot.get(format!("k{n:03}").as_bytes()).err()).collect();
    assert!(!errors.is_empty() && errors.len() < 200, "{}", errors.len());
    assert!(errors.iter().all(|error| error.kind() == ErrorKind::Corrupt));
}

#[test]
fn damage_of_the_list_of_tables_is_refused_at_open() {
    let scratch = Scratch::new();
    one_table(&scratch);
    let tree = scratch.folder.join("tree");
    let list = vfs::list(&tree)
        .unwrap()
        .into_iter()
        .find(|path| path.file_name().unwrap().to_string_lossy().starts_with('v'))
        .unwrap();
    let whole = files(&scratch.folder);
    for path in [list.clone(), tree.join("current")] {
        let length = vfs::read(&path).unwrap().len();
        for place in 0..length {
            flip(&path, place);
            let before = files(&scratch.folder);
            let error = scratch.refused();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "byte {place}: {error}");
            assert!(!verify(&scratch.folder).unwrap().is_clean());
            assert_eq!(files(&scratch.folder), before);
            let name = path.strip_prefix(&scratch.folder).unwrap();
            vfs::replace(&path, &whole[name]).unwrap();
        }
    }
    for path in [list, tree.join("current"), tables(&scratch).remove(0)] {
        vfs::remove(&path).unwrap();
        let error = scratch.refused();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(!verify(&scratch.folder).unwrap().is_clean());
        restore(&scratch.folder, &whole);
    }
}

/// Groups `a` to `f`, two commits each, in small log files.
fn twelve_commits(scratch: &Scratch) {
    let store = scratch.open_with(Options { log_file_bytes: 400, ..small() }).unwrap();
    for key in ["a", "b", "c", "d", "e", "f"] {
        // Both are queued while the commit thread cannot go on, so they share a group.
        let log = crate::locks::lock(&store.inner.log);
        store.submit(Commit::of(vec![put(key, "value")]), Box::new(|_| {})).unwrap();
        store.submit(Commit::of(vec![put(&key.repeat(2), "x")]), Box::new(|_| {})).unwrap();
        drop(log);
        store.commit(Commit::default()).unwrap();
    }
}

#[test]
fn a_damaged_group_is_lost_and_counted_and_the_rest_is_kept() {
    let scratch = Scratch::new();
    twelve_commits(&scratch);
    let found =
        |path: &PathBuf| vfs::read(path).unwrap().windows(6).position(|window| window == b"cvalue");
    let (log, place) = scratch
        .logs()
        .into_iter()
        .find_map(|path| found(&path).map(|place| (path, place)))
        .unwrap();
    flip(&log, place);
    let damaged = vfs::read(&log).unwrap();
    assert_eq!(scratch.refused().kind(), ErrorKind::Corrupt);
    let report = verify(&scratch.folder).unwrap();
    assert_eq!(report.damages.len(), 1, "{report:?}");
    assert_eq!(report.damages[0].file, log);
    assert!(report.damages[0].offset.is_some());
    let done = salvage(&scratch.folder).unwrap();
    assert_eq!(done.commits_lost, Some(12 - kept_commits(&scratch)));
    assert_eq!(done.groups_lost.len(), 1);
    assert!(done.table_parts_lost.is_empty());
    let aside = done.set_aside.unwrap();
    assert_eq!(vfs::read(&aside.join("log").join(log.file_name().unwrap())).unwrap(), damaged);
    assert!(verify(&scratch.folder).unwrap().is_clean());
    let store = scratch.open();
    assert_eq!(get(&store, "c"), None);
    for key in ["a", "b", "d", "e", "f"] {
        assert_eq!(get(&store, key).as_deref(), Some("value"));
    }
    // Numbers are not used again.
    let number = store.commit(Commit::of(vec![put("c", "again")])).unwrap().number;
    assert_eq!(number, 13);
    drop(store);
    assert_eq!(get(&scratch.open(), "c").as_deref(), Some("again"));
}

/// Every commit wrote one key.
fn kept_commits(scratch: &Scratch) -> u64 {
    u64::try_from(contents(&scratch.open()).len()).unwrap()
}

#[test]
fn a_missing_log_file_a_cut_one_and_a_lost_superblock_are_salvaged() {
    for case in 0..4 {
        let scratch = Scratch::new();
        twelve_commits(&scratch);
        let logs = scratch.logs();
        match case {
            0 => vfs::remove(&logs[1]).unwrap(),
            1 => {
                let bytes = vfs::read(&logs[0]).unwrap();
                vfs::replace(&logs[0], &bytes[..bytes.len() - 3]).unwrap();
            }
            2 => vfs::remove(&scratch.superblock()).unwrap(),
            _ => vfs::replace(&scratch.superblock(), &[7; 8192]).unwrap(),
        }
        assert_eq!(scratch.refused().kind(), ErrorKind::Corrupt, "case {case}");
        let done = salvage(&scratch.folder).unwrap();
        assert!(!done.damages.is_empty(), "case {case}");
        if case < 2 {
            assert!(!done.groups_lost.is_empty(), "case {case}");
            assert_eq!(done.commits_lost, Some(12 - kept_commits(&scratch)), "case {case}");
        } else {
            assert_eq!(done.commits_lost, None);
            assert_eq!(kept_commits(&scratch), 12, "case {case}");
        }
        assert!(verify(&scratch.folder).unwrap().is_clean(), "case {case}");
        commit_put(&scratch.open(), "z", "1");
    }
}

#[test]
fn all_log_files_may_be_lost_without_losing_the_tree() {
    let scratch = Scratch::new();
    let store = scratch.open();
    commit_put(&store, "flushed", "1");
    store.maintain().unwrap();
    commit_put(&store, "lost", "1");
    drop(store);
    vfs::remove_tree(&scratch.folder.join("log")).unwrap();
    assert_eq!(scratch.refused().kind(), ErrorKind::Corrupt);
    let done = salvage(&scratch.folder).unwrap();
    assert_eq!((done.groups_lost, done.commits_lost), (vec![2..=2], Some(1)));
    let store = scratch.open();
    assert_eq!(get(&store, "flushed").as_deref(), Some("1"));
    assert_eq!(get(&store, "lost"), None);
    // The number of what was lost is not used again.
    assert_eq!(store.commit(Commit::of(vec![put("a", "1")])).unwrap().number, 3);
}

#[test]
fn only_the_rows_of_a_damaged_block_are_lost() {
    let scratch = Scratch::new();
    let table = one_table(&scratch);
    // Newer versions and deletions in a second file, and a third only in the log.
    let store = scratch.open();
    store.commit(Commit::of(vec![put("k000", "newer"), delete("k001")])).unwrap();
    store.maintain().unwrap();
    commit_put(&store, "k002", "newest");
    drop(store);
    let before = contents(&scratch.open());
    let table = if table.exists() { table } else { tables(&scratch).remove(0) };
    flip(&table, 12_000);
    let done = salvage(&scratch.folder).unwrap();
    assert_eq!(done.table_parts_lost.len(), 1, "{done:?}");
    let part = &done.table_parts_lost[0];
    assert_eq!((&part.file, done.lost_anywhere), (&table, false));
    assert!(part.offset.unwrap() <= 12_000 && part.bytes.unwrap() > 100, "{part:?}");
    assert_eq!(done.commits_lost, Some(0));
    assert!(verify(&scratch.folder).unwrap().is_clean());
    let store = scratch.open();
    let after = contents(&store);
    let lost = before.len() - after.len();
    assert!((10..100).contains(&lost), "{lost} rows lost");
    let (least, greatest) = (part.after.clone().unwrap(), part.before.clone().unwrap());
    let between =
        before.keys().filter(|key| *least < *key.as_bytes() && *key.as_bytes() < *greatest);
    let between: Vec<&String> = between.collect();
    assert_eq!(between.len(), lost, "the keys that are told lie around what was lost: {part:?}");
    assert!(between.iter().all(|key| !after.contains_key(*key)));
    assert!(after.iter().all(|(key, value)| before[key] == *value));
    assert_eq!(get(&store, "k000").as_deref(), Some("newer"));
    assert_eq!(get(&store, "k001"), None);
    assert_eq!(get(&store, "k002").as_deref(), Some("newest"));
    store.maintain().unwrap();
    assert_eq!(contents(&store), after);
}

/// Damages each byte of a table file: what is lost lies between the reported keys, and nothing is
/// reported lost where nothing is.
#[test]
fn every_lost_key_lies_between_the_keys_that_are_told() {
    let scratch = Scratch::new();
    let table = one_table(&scratch);
    let before = contents(&scratch.open());
    let whole = files(&scratch.folder);
    let length = vfs::read(&table).unwrap().len();
    let (mut losing, mut harmless) = (0, 0);
    // The first and the last bytes of all, and some of each block between.
    for place in [3, length - 3].into_iter().chain((50..length).step_by(1_500)) {
        restore(&scratch.folder, &whole);
        flip(&table, place);
        let done = salvage(&scratch.folder).unwrap();
        let after = contents(&scratch.open());
        let lost: Vec<_> = before.keys().filter(|key| !after.contains_key(*key)).collect();
        assert!(done.table_parts_lost.len() <= 1, "byte {place}: {done:?}");
        assert_eq!(done.has_losses(), !lost.is_empty(), "byte {place}: {done:?}");
        let Some(part) = done.table_parts_lost.first() else {
            harmless += 1;
            continue;
        };
        losing += 1;
        let (least, greatest) = (part.after.clone().unwrap(), part.before.clone().unwrap());
        let is_told = |key: &String| *least <= *key.as_bytes() && *key.as_bytes() <= *greatest;
        assert!(lost.iter().all(|key| is_told(key)), "byte {place}: {part:?}");
        let is_inside = |key: &&String| *least < *key.as_bytes() && *key.as_bytes() < *greatest;
        let kept = after.keys().filter(is_inside).count();
        assert_eq!(kept, 0, "byte {place}: {part:?}");
    }
    assert!(losing > 5 && harmless > 0, "{losing} {harmless}");
}

/// Checks that losses are reported until the layers above have handled them.
#[test]
fn losses_are_told_until_they_were_seen_to() {
    let scratch = Scratch::new();
    let table = one_table(&scratch);
    flip(&table, 9_000);
    let done = salvage(&scratch.folder).unwrap();
    assert!(done.has_losses());
    let aside = done.set_aside.clone().unwrap();
    for _ in 0..2 {
        let report = verify(&scratch.folder).unwrap();
        assert_eq!((report.is_clean(), &report.unfinished), (true, &vec![aside.clone()]));
        let again = salvage(&scratch.folder).unwrap();
        assert_eq!(again.set_aside.as_ref(), Some(&aside));
        assert_eq!(again.table_parts_lost, done.table_parts_lost);
        assert_eq!((again.commits_lost, again.lost_anywhere), (Some(0), false));
    }
    // Two at once, one of which cannot be read any more.
    flip(&tables(&scratch).remove(0), 100);
    let both = salvage(&scratch.folder).unwrap();
    assert_eq!((both.table_parts_lost.len(), both.lost_anywhere), (2, false));
    flip(&aside.join("lost"), 20);
    let unreadable = salvage(&scratch.folder).unwrap();
    assert_eq!((unreadable.table_parts_lost.len(), unreadable.lost_anywhere), (1, true));
    end_salvage(&scratch.folder).unwrap();
    assert_eq!(verify(&scratch.folder).unwrap().unfinished, Vec::<PathBuf>::new());
    assert_eq!(salvage(&scratch.folder).unwrap().set_aside, None);
    end_salvage(&scratch.folder).unwrap();
}

#[test]
fn a_tree_without_its_list_is_salvaged_from_its_files() {
    let scratch = Scratch::new();
    one_table(&scratch);
    let before = contents(&scratch.open());
    vfs::remove(&scratch.folder.join("tree/current")).unwrap();
    let done = salvage(&scratch.folder).unwrap();
    assert!(done.notes.iter().any(|note| note.contains("may be back")), "{:?}", done.notes);
    assert_eq!(contents(&scratch.open()), before);
}

#[test]
fn an_interrupted_salvage_is_finished_by_the_next() {
    let scratch = Scratch::new();
    let table = one_table(&scratch);
    flip(&table, 100);
    // As it is when everything new is ready and nothing was moved …
    crate::embedded::salvage::prepare(&scratch.folder).unwrap();
    let ready = files(&scratch.folder);
    // … and at each later step.
    for step in 0..4 {
        restore(&scratch.folder, &ready);
        let aside = scratch.folder.join("salvage-1");
        if step > 0 {
            vfs::move_to(&scratch.folder.join("log"), &aside.join("log")).unwrap();
        }
        if step > 1 {
            vfs::move_to(&aside.join("new/log"), &scratch.folder.join("log")).unwrap();
        }
        if step > 2 {
            vfs::move_to(&scratch.folder.join("tree"), &aside.join("tree")).unwrap();
        }
        let done = salvage(&scratch.folder).unwrap();
        assert_eq!(done.set_aside.as_ref(), Some(&aside), "step {step}");
        assert_eq!(done.table_parts_lost.len(), 1, "step {step}");
        assert!(verify(&scratch.folder).unwrap().is_clean(), "step {step}");
        assert!(contents(&scratch.open()).len() > 300, "step {step}");
        assert!(aside.join("mark").exists() && !aside.join("new").exists(), "step {step}");
    }
}

#[test]
fn unpromised_damage_needs_no_salvage() {
    let scratch = Scratch::new();
    let store = scratch.open_with(interval()).unwrap();
    commit_put(&store, "a", "value");
    commit_put(&store, "b", "value");
    let left = files(&scratch.folder);
    drop(store);
    restore(&scratch.folder, &left);
    let log = scratch.logs().remove(0);
    flip(&log, 70);
    let report = verify(&scratch.folder).unwrap();
    assert!(report.is_clean() && !report.notes.is_empty(), "{report:?}");
    assert_eq!(contents(&scratch.open()).len(), 0);
}
