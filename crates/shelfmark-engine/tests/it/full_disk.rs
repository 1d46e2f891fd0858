//! A disk that is nearly full: what frees space goes on, whatever follows from it; nothing else does.

use std::path::Path;
use std::sync::Arc;

use shelfmark_engine::{CellChange, Engine, ErrorKind, Result, Table, Write};
use shelfmark_model::{Condition, Item, Key, Path as Attribute};
use shelfmark_store::clock::ManualClock;
use shelfmark_store::embedded::{EmbeddedStore, Options};

use crate::cells::{insert, key, mutation, schema as of_cells};
use crate::drivers::{START_SECONDS, open, plain};

fn engine_at(folder: &Path, disk_free_bytes_min: u64) -> Engine {
    let clock = Arc::new(ManualClock::at_micros(START_SECONDS * 1_000_000));
    let options = Options { disk_free_bytes_min, disk_free_bytes_reserve: 0, ..Options::default() };
    let store = EmbeddedStore::open(folder, options, clock.clone()).unwrap();
    open(Arc::new(store), &clock)
}

fn item(pk: &str) -> Item {
    Item::new().with("pk", pk).with("sk", "x")
}

/// A store whose disk has become full, with a table of items that is logged and counted, so that a
/// deletion writes more than it deletes, and one of cells, whose deletions leave tombstones.
fn full(folder: &Path) -> (Engine, Arc<Table>, Arc<Table>) {
    let roomy = engine_at(folder, 0);
    let mut schema = plain("items");
    schema.options.change_log = true;
    schema.options.exact_counts = true;
    let items = roomy.create_table(schema).unwrap();
    for pk in ["a", "b", "c"] {
        roomy.write(Write::put(&items, item(pk))).unwrap();
    }
    let cells = roomy.create_table(of_cells("cells")).unwrap();
    roomy.write_cells(vec![insert(&cells, "p", key(1, "x"), 10, vec![])]).unwrap();
    roomy.store().close().unwrap();
    drop(roomy);
    let engine = engine_at(folder, u64::MAX);
    let [items, cells] = [items, cells].map(|old| engine.table(&old.schema.name).unwrap());
    (engine, items, cells)
}

#[test]
fn deletions_go_on_and_whatever_else_a_commit_has_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, items, cells) = full(folder.path());
    let delete = |pk: &str| Write::delete(&items, Key::pair(pk, "x"));
    let put = |pk: &str| Write::put(&items, item(pk));
    let refused = |outcome: Result<()>| {
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::ReadOnly);
    };
    refused(engine.write(put("d")).map(drop));
    refused(engine.write_all(vec![delete("a"), put("d")]).map(drop));
    refused(engine.transact(|tx| {
        tx.write(&delete("a"))?;
        tx.write(&put("d")).map(drop)
    }));
    let row = insert(&cells, "p", key(2, "x"), 20, vec![]);
    refused(engine.write_cells(vec![row]));
    assert_eq!(engine.count(&items).unwrap(), 3);

    let there = Condition::Exists(Attribute::attribute("pk"));
    engine.write(delete("a").when(there)).unwrap();
    engine.write_all(vec![delete("b"), delete("absent")]).unwrap();
    engine.transact(|tx| tx.write(&delete("c")).map(drop)).unwrap();
    assert_eq!(engine.count(&items).unwrap(), 0);
    assert_eq!(engine.changes(&items, None, 10).unwrap().len(), 6);
    engine.write_cells(vec![mutation(&cells, "p", 30, CellChange::DeletePartition)]).unwrap();
    engine.store().close().unwrap();
}
