//! A migration that ended in the middle.

use std::panic::{AssertUnwindSafe, catch_unwind};

use shelfmark_engine::Write;

use crate::places::{content, engine, filled, found, item, memory, moved, table};

const ROWS: i64 = 5000;

#[test]
fn a_second_call_goes_on_and_finds_what_changed_in_between() {
    let (from, to) = (memory(), memory());
    let source = filled(&from, ROWS, 0);
    let mut pages = 0;
    let stopped = catch_unwind(AssertUnwindSafe(|| {
        moved(&from, &to, |_| {
            pages += 1;
            assert!(pages < 3, "stopped");
        })
    }));
    assert!(stopped.is_err());
    let refused = engine(&to).err().expect("half a store was opened").to_string();
    assert_eq!(
        refused,
        "the store is the unfinished copy of here; `shelfmark migrate` goes on when it is called again, \
         a restore is made again in an empty place"
    );
    // Among the first, which were copied before; deleted, changed, and new ones.
    let table = table(&source);
    let changed: Vec<_> = [0, 1].map(|number| item(number, 0).with("late", true)).into();
    for item in &changed {
        source.write(Write::put(&table, item.clone())).unwrap();
    }
    source.write(Write::put(&table, item(ROWS, 0))).unwrap();
    let report = moved(&from, &to, |_| {}).unwrap();
    assert!(report.copied > 0 && report.copied < report.keys, "{report:?}");
    assert!(report.mended >= 1, "{report:?}");
    assert_eq!(content(&to), content(&from));
    let rows = usize::try_from(ROWS).unwrap();
    assert_eq!(found(&engine(&to).unwrap(), ROWS + 1), rows + 1 - changed.len());
}

#[test]
fn a_call_that_ended_while_comparing_copies_nothing_again() {
    let (from, to) = (memory(), memory());
    drop(filled(&from, ROWS, 0));
    let stopped = catch_unwind(AssertUnwindSafe(|| {
        moved(&from, &to, |progress| {
            assert!(progress.phase != shelfmark_migrate::Phase::Comparing, "stopped");
        })
    }));
    assert!(stopped.is_err());
    assert!(engine(&to).is_err());
    let report = moved(&from, &to, |_| {}).unwrap();
    assert_eq!((report.copied, report.mended), (0, 0));
    assert_eq!(content(&to), content(&from));
}
