//! A migration that is not disturbed.

use std::sync::Arc;

use shelfmark_engine::Write;
use shelfmark_migrate::Phase;
use shelfmark_store::Store;
use shelfmark_store::embedded::{EmbeddedStore, Options};

use crate::places::{clock, content, engine, filled, found, item, memory, moved, shared, table};

const ROWS: i64 = 3000;

#[test]
fn every_row_arrives_and_both_sides_are_counted() {
    let (from, to) = (memory(), memory());
    drop(filled(&from, ROWS, 0));
    let mut phases = Vec::new();
    let report = moved(&from, &to, |progress| phases.push(progress.phase)).unwrap();
    // All but the two records of the format, which are not copied.
    let whole = content(&from);
    assert_eq!(report.keys, whole.len() as u64 - 2);
    assert_eq!((report.copied, report.mended), (report.keys, 0));
    assert!(phases.contains(&Phase::Copying) && phases.contains(&Phase::Comparing));
    assert_eq!(content(&to), whole);
    assert_eq!(found(&engine(&to).unwrap(), ROWS), usize::try_from(ROWS).unwrap());
}

#[test]
fn a_folder_goes_on_with_numbers_above_those_of_its_source() {
    let (from, folder) = (memory(), tempfile::tempdir().unwrap());
    let source = filled(&from, 20, 0);
    let commits_after = from.snapshot().unwrap().id().commit + 1_000_000;
    let options = Options { commits_after, ..Options::default() };
    let open = || -> Arc<dyn Store> {
        Arc::new(EmbeddedStore::open(folder.path(), options.clone(), clock()).unwrap())
    };
    let to = open();
    moved(&from, &to, |_| {}).unwrap();
    drop(source);
    let target = engine(&to).unwrap();
    let table_there = table(&target);
    target.write(Write::put(&table_there, item(20, 0))).unwrap();
    let newest = to.snapshot().unwrap().id().commit;
    assert!(newest > commits_after, "{newest} is not above {commits_after}");
    // Without a close, and after one.
    drop((target, table_there));
    to.close().unwrap();
    drop(to);
    let again = open();
    assert!(again.snapshot().unwrap().id().commit >= newest);
    assert_eq!(found(&engine(&again).unwrap(), 21), 21);
    again.close().unwrap();
}

#[test]
fn there_and_back_is_the_same() {
    let (from, between, back) = (memory(), shared(usize::MAX), memory());
    drop(filled(&from, 200, 0));
    moved(&from, &between, |_| {}).unwrap();
    moved(&between, &back, |_| {}).unwrap();
    assert_eq!(content(&back), content(&from));
}
