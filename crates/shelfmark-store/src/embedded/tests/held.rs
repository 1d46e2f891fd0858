//! Merges hold a bounded part of what they read, however well it compresses.

use bytes::Bytes;

use crate::contract::{Direction, KeyRange, ScanLimits, Store as _, Write};
use crate::embedded::Options;
use crate::embedded::layout::tree_folder;
use crate::embedded::tree::{blocks, listing};

use super::support::{Scratch, commit_patiently, small};

const VALUE_BYTES: usize = 256 * 1024;
const ROWS: usize = 320;
/// Bytes that a merge may hold with small memory tables.
const HELD_BYTES: usize = 16 * 1024 * 1024;

#[test]
fn files_of_large_values_are_bounded_by_what_they_hold_decompressed() {
    let scratch = Scratch::new();
    let options = Options { memory_table_bytes: 1024 * 1024, ..small() };
    let store = scratch.open_with(options).unwrap();
    for row in 0..ROWS {
        let value = Bytes::from(vec![7; VALUE_BYTES]);
        commit_patiently(&store, vec![Write::Put { key: key(row), value }]);
    }
    store.maintain().unwrap();
    store.inner.merge(|tree| tree.merge_all().map(|()| true)).unwrap();
    let listed = listing::read(&tree_folder(&scratch.folder)).unwrap();
    let mut rows = 0;
    for table in &listed {
        let versions = blocks::rescue(&table.path).unwrap().versions;
        let held: usize =
            versions.iter().filter_map(|own| own.value.as_ref()).map(Bytes::len).sum();
        assert!(held <= 2 * HELD_BYTES, "a file of {held} bytes of values");
        rows += versions.len();
    }
    assert_eq!(rows, ROWS);
    assert!(listed.len() <= 4 * ROWS * VALUE_BYTES / HELD_BYTES, "{} files", listed.len());
    let limits = ScanLimits { rows_max: 2 * ROWS, bytes_max: usize::MAX, ..ScanLimits::default() };
    let page = store.snapshot().unwrap().scan(&KeyRange::all(), Direction::Ascending, limits);
    assert_eq!(page.unwrap().rows.len(), ROWS);
    store.close().unwrap();
}

fn key(row: usize) -> Bytes {
    Bytes::from(format!("a key of usual length {row:010}"))
}
