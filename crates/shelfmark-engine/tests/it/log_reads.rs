//! Reads of a change log: where a page ends, and how little is read for it.

use std::sync::Arc;

use shelfmark_engine::{ChangePosition, Engine, ItemChange, Table, Write};
use shelfmark_model::Item;
use shelfmark_store::clock::ManualClock;
use shelfmark_store::{Direction, Store};
use shelfmark_tables::items::{LogPage, LogStart, log_end, log_keys, read_log};

use crate::drivers::{open, plain};
use crate::watched::Watched;

/// Changes of a log; the third is of an item of several chunks.
const CHANGES: usize = 6;

struct Bed {
    store: Arc<Watched>,
    engine: Engine,
    table: Arc<Table>,
    changes: Vec<ItemChange>,
}

fn bed() -> Bed {
    let clock = Arc::new(ManualClock::at_micros(7));
    let store = Watched::new(&clock);
    let engine = open(Arc::clone(&store) as Arc<dyn Store>, &clock);
    let mut schema = plain("t");
    schema.options.change_log = true;
    let table = engine.create_table(schema).unwrap();
    for number in 0..CHANGES {
        let text = "x".repeat(if number == 2 { 200_000 } else { 10 });
        let item = Item::new().with("pk", "p").with("sk", number.to_string()).with("text", text);
        engine.write(Write::put(&table, item)).unwrap();
    }
    let changes = engine.changes(&table, None, 100).unwrap();
    assert_eq!(changes.len(), CHANGES);
    Bed { store, engine, table, changes }
}

impl Bed {
    fn read(&self, from: LogStart, limit: usize, bytes_max: usize) -> LogPage {
        let snapshot = self.store.snapshot().unwrap();
        read_log(&*snapshot, self.table.id, from, limit, bytes_max).unwrap()
    }

    fn position(&self, change: usize) -> ChangePosition {
        self.changes[change].position
    }
}

#[test]
fn a_page_reads_no_more_than_its_changes() {
    let bed = bed();
    bed.store.take();
    let changes = bed.engine.changes(&bed.table, None, 2).unwrap();
    let asked = bed.store.take();
    assert_eq!(changes, bed.changes[..2]);
    assert_eq!((asked.scans, asked.rows), (1, 2));
    let page = bed.read(LogStart::Front, 2, usize::MAX);
    assert_eq!((page.changes.len(), page.is_end), (2, false));
    // A change of several rows is read to its end, however few changes are wanted.
    let page = bed.read(LogStart::At(bed.position(2)), 1, usize::MAX);
    assert_eq!(page.changes, bed.changes[2..3]);
    let page = bed.read(LogStart::Front, 100, usize::MAX);
    assert_eq!((page.changes, page.is_end), (bed.changes.clone(), true));
}

#[test]
fn a_page_ends_with_the_change_that_reaches_its_bytes() {
    let bed = bed();
    let (mut from, mut seen) = (LogStart::Front, Vec::new());
    loop {
        let page = bed.read(from, 100, 1);
        assert!(page.changes.len() <= 1);
        let Some(change) = page.changes.into_iter().next() else { break };
        assert!(!page.is_end || seen.len() + 1 == CHANGES, "there are more");
        from = LogStart::After(change.position);
        seen.push(change);
    }
    assert_eq!(seen, bed.changes, "the one of several rows is whole");
    // The two small ones do not reach it, the large one does.
    assert_eq!(bed.read(LogStart::Front, 100, 10_000).changes, bed.changes[..3]);
    assert_eq!(bed.read(LogStart::After(bed.position(2)), 100, 10_000).changes, bed.changes[3..]);
}

#[test]
fn the_keys_of_changes_are_told_without_their_values() {
    let bed = bed();
    let snapshot = bed.store.snapshot().unwrap();
    bed.store.take();
    let id = bed.table.id;
    let keys = log_keys(&*snapshot, id, None, bed.position(1)).unwrap();
    assert_eq!(keys.len(), 2);
    let large = log_keys(&*snapshot, id, Some(bed.position(1)), bed.position(2)).unwrap();
    assert!(large.len() > 2, "one for each part");
    let asked = bed.store.take();
    assert_eq!((asked.rows, asked.value_bytes), (2 + large.len() as u64, 0));
}

#[test]
fn an_end_of_a_log_is_one_row() {
    let bed = bed();
    let snapshot = bed.store.snapshot().unwrap();
    let end = |direction| {
        bed.store.take();
        let end = log_end(&*snapshot, bed.table.id, LogStart::Front, direction).unwrap();
        assert_eq!(bed.store.take().rows, 1);
        end
    };
    assert_eq!(end(Direction::Ascending), Some((bed.position(0), 7)));
    assert_eq!(end(Direction::Descending), Some((bed.position(CHANGES - 1), 0)));
}

#[test]
fn a_page_of_nothing_reads_nothing() {
    let bed = bed();
    bed.store.take();
    let page = bed.read(LogStart::Front, 0, usize::MAX);
    assert_eq!((page.changes.len(), page.is_end), (0, false));
    assert_eq!(bed.store.take().scans, 0);
}
