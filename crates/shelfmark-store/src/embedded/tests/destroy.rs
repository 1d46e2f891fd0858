//! Dead ranges go away with their space.

use std::sync::atomic::Ordering;

use crate::contract::{Commit, Direction, KeyRange, Store as _, Write};
use crate::embedded::{EmbeddedStore, Options};

use super::support::{
    Scratch, bytes, commit_patiently, commit_put, contents, get, put, rows, small,
};

fn fill(store: &EmbeddedStore, table: &str, rows: usize) {
    // Not compressible, so that files have about the size of what is in them.
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut value = || -> bytes::Bytes {
        (0..125)
            .flat_map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state.to_be_bytes()
            })
            .collect()
    };
    for start in (0..rows).step_by(500) {
        let writes = (start..rows.min(start + 500))
            .map(|row| Write::Put { key: bytes(&format!("{table}/{row:06}")), value: value() })
            .collect();
        commit_patiently(store, writes);
    }
}

#[test]
fn a_destroyed_range_is_gone_with_its_space_and_nothing_else() {
    let scratch = Scratch::new();
    let store = scratch.open_with(Options { memory_table_bytes: 1 << 20, ..small() }).unwrap();
    for table in ["a", "b", "c"] {
        fill(&store, table, 3000);
    }
    store.maintain().unwrap();
    let before = store.stats().tree_bytes_on_disk;
    assert!(before > 8_000_000, "{before}");
    fill(&store, "b", 100);
    let dead = KeyRange::prefix(bytes("b/"));
    store.destroy_range(&dead).unwrap();
    let snapshot = store.snapshot().unwrap();
    assert_eq!(rows(&*snapshot, dead.clone(), Direction::Ascending, 100), []);
    assert_eq!(rows(&*snapshot, KeyRange::all(), Direction::Descending, 1000).len(), 6000);
    drop(snapshot);
    store.maintain().unwrap();
    let after = store.stats().tree_bytes_on_disk;
    assert!(after < before * 7 / 10, "{after} of {before} bytes are left");
    let on_disk: u64 = crate::vfs::list(&scratch.folder.join("tree/tables"))
        .unwrap()
        .iter()
        .map(|path| path.metadata().unwrap().len())
        .sum();
    assert!(on_disk < before * 7 / 10, "{on_disk} of {before} bytes are in the folder");
    // Again, empty, and over a reopen.
    store.destroy_range(&dead).unwrap();
    store.destroy_range(&KeyRange::new(bytes("c"), bytes("b"))).unwrap();
    drop(store);
    let store = scratch.open();
    assert_eq!(contents_len(&store), 6000);
    store.destroy_range(&KeyRange::all()).unwrap();
    store.maintain().unwrap();
    assert_eq!(contents_len(&store), 0);
    assert_eq!(store.stats().tree_bytes_on_disk, 0);
    commit_put(&store, "b/new", "1");
    assert_eq!(get(&store, "b/new").as_deref(), Some("1"));
}

fn contents_len(store: &EmbeddedStore) -> usize {
    let snapshot = store.snapshot().unwrap();
    rows(&*snapshot, KeyRange::all(), Direction::Ascending, 1000).len()
}

#[test]
fn whole_files_of_a_destroyed_range_go_at_once() {
    let scratch = Scratch::new();
    let store = scratch.open();
    for table in ["a", "b", "c"] {
        fill(&store, table, 1000);
        store.maintain().unwrap();
    }
    let before = store.stats();
    store.destroy_range(&KeyRange::prefix(bytes("b/"))).unwrap();
    let after = store.stats();
    assert!(after.tree_bytes_on_disk < before.tree_bytes_on_disk * 7 / 10);
    // Nothing of it had to be deleted row by row.
    assert_eq!(after.commits, before.commits);
}

#[test]
fn rows_of_a_destroyed_range_in_shared_files_are_merged_away() {
    let scratch = Scratch::new();
    let store = scratch.open();
    for table in ["a", "b", "c"] {
        fill(&store, table, 1000);
    }
    store.maintain().unwrap();
    let before = store.stats().tree_bytes_on_disk;
    store.destroy_range(&KeyRange::prefix(bytes("b/"))).unwrap();
    assert!(store.stats().tree_bytes_on_disk > before * 9 / 10, "there was a file to drop");
    store.maintain().unwrap();
    assert!(store.stats().tree_bytes_on_disk < before * 7 / 10);
    assert_eq!(store.inner.snapshots.view().files().tombstones, 0);
}

/// A destroyed range is deleted row by row in files that it shares: those deletions do not stay in memory,
/// where they would free no space until something else is written.
#[test]
fn deletions_of_a_destroyed_range_do_not_stay_in_memory() {
    let scratch = Scratch::new();
    let store = scratch.open();
    // Fewer than one commit deletes.
    for table in ["a", "b", "c"] {
        fill(&store, table, 900);
    }
    store.maintain().unwrap();
    store.destroy_range(&KeyRange::prefix(bytes("b/"))).unwrap();
    assert_eq!(store.inner.tombstones_in_memory.load(Ordering::Relaxed), 0);
    assert_eq!(contents_len(&store), 1800);
}

#[test]
fn many_deletions_are_merged_away_when_nothing_else_is_to_do() {
    let scratch = Scratch::new();
    let store = scratch.open();
    fill(&store, "a", 1000);
    store.maintain().unwrap();
    let before = store.stats().tree_bytes_on_disk;
    let deletes = (0..1000).map(|row| Write::Delete { key: bytes(&format!("a/{row:06}")) });
    store.commit(Commit::of(deletes.collect())).unwrap();
    store.maintain().unwrap();
    assert!(store.stats().tree_bytes_on_disk > before);
    store.inner.reclaim(false).unwrap();
    assert_eq!(store.stats().tree_bytes_on_disk, 0);
    // Few are not worth it.
    fill(&store, "b", 1000);
    store.maintain().unwrap();
    store.commit(Commit::of(vec![Write::Delete { key: bytes("b/000001") }])).unwrap();
    store.maintain().unwrap();
    let before = store.stats().tree_bytes_on_disk;
    store.inner.reclaim(false).unwrap();
    assert_eq!(store.stats().tree_bytes_on_disk, before);
}

#[test]
fn a_reader_keeps_what_is_destroyed_beside_it() {
    let scratch = Scratch::new();
    let store = scratch.open();
    fill(&store, "a", 500);
    store.maintain().unwrap();
    let held = store.snapshot().unwrap();
    store.destroy_range(&KeyRange::all()).unwrap();
    store.maintain().unwrap();
    assert_eq!(rows(&*held, KeyRange::all(), Direction::Ascending, 100).len(), 500);
}

#[test]
fn a_destroyed_range_stays_destroyed_after_a_crash() {
    let scratch = Scratch::new();
    let store = scratch.open();
    store.commit(Commit::of(vec![put("a", "1"), put("b", "1"), put("c", "1")])).unwrap();
    store.destroy_range(&KeyRange::new(bytes("b"), bytes("c"))).unwrap();
    drop(store);
    let store = scratch.open();
    assert_eq!(contents(&store).into_keys().collect::<String>(), "ac");
}

#[test]
fn boundaries_cut_a_range_at_files() {
    let scratch = Scratch::new();
    let store = scratch.open_with(Options { memory_table_bytes: 1 << 20, ..small() }).unwrap();
    assert_eq!(store.boundaries(&KeyRange::all()).unwrap(), Vec::<bytes::Bytes>::new());
    for table in ["a", "b", "c", "d"] {
        fill(&store, table, 200);
        store.maintain().unwrap();
    }
    let all = store.boundaries(&KeyRange::all()).unwrap();
    assert!(all.is_sorted() && !all.is_empty(), "{all:?}");
    let files = store.places(&KeyRange::all(), usize::MAX).unwrap();
    let starts: std::collections::BTreeSet<_> = files.iter().map(|own| &own.range.start).collect();
    assert!(all.iter().all(|start| starts.contains(start)), "{files:?}");
    assert_eq!(store.places(&KeyRange::all(), 2).unwrap(), files[..2]);
    for file in &files {
        let first = KeyRange::new(file.range.start.clone(), [&file.range.start[..], &[0]].concat());
        assert!(store.places(&first, usize::MAX).unwrap().contains(file), "{file:?}");
    }
    assert_eq!(store.places(&KeyRange::from(bytes("zz")), usize::MAX).unwrap(), []);
    let range = KeyRange::new(all[0].clone(), bytes("d"));
    let inside = store.boundaries(&range).unwrap();
    assert!(inside.iter().all(|key| range.contains(key) && *key != range.start));
}
