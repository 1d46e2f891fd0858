//! Creating a store, being interrupted at it, and folders that are refused.

use crate::contract::{ErrorKind, Store as _};
use crate::embedded::options::Options;
use crate::embedded::{salvage, verify};
use crate::vfs;

use super::support::{Scratch, commit_put, contents, files, get, restore, small};

#[test]
fn every_stage_of_an_interrupted_creation_opens() {
    let scratch = Scratch::new();
    drop(scratch.open());
    let whole = files(&scratch.folder);
    let log = "log/00000000000000000001.log";
    let header = whole.iter().find(|(path, _)| path.ends_with(log)).unwrap().1.clone();
    assert_eq!(header.len(), 64);
    let path = |name: &str| std::path::PathBuf::from(name);
    let tree: Vec<_> = whole.iter().filter(|(path, _)| path.starts_with("tree")).collect();
    let mut stages = vec![vec![], vec![(path("lock"), vec![])]];
    for cut in [0, 1, 63, 64] {
        stages.push(vec![(path(log), header[..cut].to_vec())]);
    }
    stages.push(vec![(path(log), header.clone()), (path("tree/v0"), vec![1, 2, 3])]);
    let mut with_tree = vec![(path(log), header)];
    with_tree.extend(tree.into_iter().map(|(path, bytes)| (path.clone(), bytes.clone())));
    stages.push(with_tree.clone());
    with_tree.push((path("mark.new"), vec![0; 100]));
    stages.push(with_tree);
    for (number, stage) in stages.into_iter().enumerate() {
        restore(&scratch.folder, &stage.into_iter().collect());
        // It is no store yet, and nothing is damaged or to be salvaged.
        if number > 1 {
            let report = verify(&scratch.folder).unwrap();
            assert!(report.is_clean(), "stage {number}: {report:?}");
            assert!(report.notes[0].contains("creation was interrupted"), "{report:?}");
            assert_eq!(salvage(&scratch.folder).unwrap().set_aside, None);
        }
        let store = scratch.open();
        commit_put(&store, "a", &number.to_string());
        drop(store);
        assert_eq!(get(&scratch.open(), "a"), Some(number.to_string()));
    }
}

#[test]
fn a_lost_superblock_beside_groups_or_tables_is_corruption() {
    for flush in [false, true] {
        let scratch = Scratch::new();
        let store = scratch.open();
        commit_put(&store, "a", "1");
        if flush {
            store.close().unwrap();
        }
        drop(store);
        vfs::remove(&scratch.superblock()).unwrap();
        let before = files(&scratch.folder);
        let error = scratch.refused();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.to_string().contains("superblock (the file `mark`) is missing"), "{error}");
        assert_eq!(files(&scratch.folder), before);
    }
}

#[test]
fn a_folder_of_somebody_else_is_left_alone() {
    let scratch = Scratch::new();
    vfs::create_folder(&scratch.folder).unwrap();
    vfs::replace(&scratch.folder.join("letter.txt"), b"dear").unwrap();
    let error = scratch.refused();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("letter.txt"), "{error}");
    assert_eq!(files(&scratch.folder).len(), 1);
}

#[test]
fn a_file_in_place_of_the_folder_or_above_it_is_refused() {
    let scratch = Scratch::new();
    vfs::replace(&scratch.folder, b"a file").unwrap();
    assert_eq!(scratch.refused().kind(), ErrorKind::Invalid);
    let below = super::support::small();
    let clock = std::sync::Arc::new(crate::clock::SystemClock::new());
    let error =
        crate::embedded::EmbeddedStore::open(&scratch.folder.join("below"), below, clock).err();
    let error = error.unwrap();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains("check that its parent"), "{error}");
}

#[test]
fn missing_parents_are_created() {
    let scratch = Scratch::new();
    let deep = scratch.folder.join("a/b/c");
    let clock = std::sync::Arc::new(crate::clock::SystemClock::new());
    let store = crate::embedded::EmbeddedStore::open(&deep, small(), clock).unwrap();
    commit_put(&store, "a", "1");
}

#[test]
fn a_store_is_open_once() {
    let scratch = Scratch::new();
    let first = scratch.open();
    let error = scratch.refused();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("is open already"), "{error}");
    commit_put(&first, "a", "1");
    // Closed or dropped, it can be opened again, even while the old one still exists.
    first.close().unwrap();
    let second = scratch.open();
    assert_eq!(contents(&second).len(), 1);
    drop(second);
    drop(scratch.open());
}

/// With a checksum as ours is made, and as nobody here can check.
#[test]
fn a_newer_format_is_named() {
    for mends in [true, false] {
        let scratch = Scratch::new();
        drop(scratch.open());
        let mut superblock = vfs::read(&scratch.superblock()).unwrap();
        for slot in [0, 4096] {
            superblock[slot + 8..slot + 12].copy_from_slice(&9_u32.to_be_bytes());
            let checksum = xxhash_rust::xxh3::xxh3_64(&superblock[slot..slot + 88]);
            if mends {
                superblock[slot + 88..slot + 96].copy_from_slice(&checksum.to_be_bytes());
            }
        }
        vfs::replace(&scratch.superblock(), &superblock).unwrap();
        let before = files(&scratch.folder);
        for error in [scratch.refused(), crate::embedded::salvage(&scratch.folder).unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert!(error.to_string().contains("format 9"), "{error}");
            assert!(error.to_string().contains("newer version"), "{error}");
        }
        assert_eq!(files(&scratch.folder), before);
    }
}

#[test]
fn options_have_defaults_that_a_server_can_live_with() {
    let options = Options::default();
    assert_eq!(options.durability, crate::Durability::Sync);
    assert_eq!(options.snapshot_age_max.as_secs(), 60);
    assert_eq!(options.disk_free_bytes_min, 256 * 1024 * 1024);
}
