//! Deletions that are too large for one commit: what readers and writers of the table and of its
//! views see of them, what they cost, and that they are done in the end.

use std::collections::BTreeSet;
use std::sync::Arc;

use shelfmark_engine::{
    CatalogueChange, CellChange, CellGet, CellQuery, CellScan, CellSink, Engine, Mutation,
    ShownRow, Span, SpanBound, Table, Write,
};
use shelfmark_model::{IndexState, Item, TableName};
use shelfmark_store::Store;
use shelfmark_store::clock::ManualClock;

use super::derived::view;
use super::{A, B, as_text, bytes, insert, int, key, mutation, schema, set, text, update};
use crate::drivers::{Bed, START_SECONDS, keys, on_every_driver, open, patiently, plain};
use crate::watched::Watched;

/// Rows: more than go in one commit, with views and without, and over 4 MiB together.
const MANY: i32 = 560;

const ROWS: u8 = 2;

fn row(table: &Arc<Table>, pk: &str, c: i32, at: i64) -> Mutation {
    let operations = vec![set(A, &format!("a{}", c % 10)), set(B, &"b".repeat(9_000))];
    insert(table, pk, key(c, "x"), at, operations)
}

/// A base with many rows in `p` and one in `q`, and a view of it.
fn fill(bed: &Bed) -> (Arc<Table>, Arc<Table>) {
    let name = bed.create_table(schema("t")).unwrap().schema.name.clone();
    let view = bed.create_table(view(IndexState::Public)).unwrap();
    let table = bed.engine.table(&name).unwrap();
    for start in (0..MANY).step_by(20) {
        bed.cells((start..start + 20).map(|c| row(&table, "p", c, 10)).collect());
    }
    bed.cells(vec![row(&table, "q", 1, 10)]);
    (table, view)
}

/// Counts the rows that it is shown.
#[derive(Default)]
struct Shown(usize);

impl CellSink for Shown {
    fn begin(&mut self) {
        self.0 = 0;
    }

    fn row(&mut self, _: &ShownRow<'_>) {
        self.0 += 1;
    }
}

/// The rows of the view as `pk/c`, which all ways to read it must agree about.
fn seen(bed: &Bed, engine: &Engine, view: &Table) -> BTreeSet<String> {
    let name = |clustering: &[shelfmark_engine::ClusteringValue]| {
        let c = clustering[1].as_ref().unwrap();
        let c = i32::from_be_bytes(c.as_ref().try_into().unwrap());
        format!("{}/{c}", as_text(clustering[2].as_ref().unwrap()))
    };
    let page = patiently(|| engine.scan_cells(view, &CellScan::default())).unwrap();
    assert!(page.cursor.is_none());
    let scanned: BTreeSet<String> =
        page.rows.iter().map(|own| name(own.clustering.as_deref().unwrap())).collect();
    let mut queried = BTreeSet::new();
    for number in 0..11 {
        let partition = bytes(&format!("a{number}"));
        let query = CellQuery { partition: partition.clone(), ..CellQuery::default() };
        let page = patiently(|| engine.query_cells(view, &query)).unwrap();
        let backwards = CellQuery { reversed: true, ..query.clone() };
        assert_eq!(
            patiently(|| engine.query_cells(view, &backwards)).unwrap().rows.len(),
            page.rows.len()
        );
        let mut shown = Shown::default();
        patiently(|| engine.show_cells(view, &query, &mut shown)).unwrap();
        assert_eq!(shown.0, page.rows.len());
        for own in page.rows {
            let clustering = own.clustering.unwrap();
            assert!(queried.insert(name(&clustering)));
            let get = CellGet { partition: partition.clone(), clustering, ..CellGet::default() };
            let got = patiently(|| engine.get_cells(view, &get)).unwrap();
            assert_eq!(got.row, Some(own.row));
        }
    }
    assert_eq!(scanned, queried);
    assert!(!bed.engine.store().caps().is_exclusive || !keys(bed, &[ROWS]).is_empty());
    scanned
}

fn set_of(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Goes on until nothing is left to be purged.
fn purge(bed: &Bed) {
    while patiently(|| bed.engine.purge_deleted_cells()).unwrap() > 0 {}
}

#[test]
fn a_large_partition_with_a_view_is_deleted() {
    on_every_driver(|bed| {
        let (table, view) = fill(bed);
        let of_p = |name: &String| name.starts_with("p/");
        assert_eq!(seen(bed, &bed.engine, &view).iter().filter(|own| of_p(own)).count(), 560);
        bed.cells(vec![mutation(&table, "p", 20, CellChange::DeletePartition)]);
        let is_gone = |engine: &Engine| {
            let table = engine.table(&table.schema.name).unwrap();
            let view = engine.table(&view.schema.name).unwrap();
            let query = CellQuery { partition: bytes("p"), ..CellQuery::default() };
            assert_eq!(patiently(|| engine.query_cells(&table, &query)).unwrap().rows.len(), 0);
            assert_eq!(seen(bed, engine, &view), set_of(&["q/1"]));
        };
        is_gone(&bed.engine);
        // A stop before the first piece: another engine knows nothing but what is stored.
        bed.settle();
        is_gone(&open(Arc::clone(bed.engine.store()), &bed.clock));
        bed.check_sound();
        purge(bed);
        is_gone(&bed.engine);
        bed.settle();
        assert_eq!(keys(bed, &[ROWS]).len(), 2, "the row of `q`, and that of the view");
        bed.check_sound();
    });
}

#[test]
fn an_old_snapshot_does_not_show_what_was_deleted_before_it() {
    on_every_driver(|bed| {
        let (table, _) = fill(bed);
        bed.cells(vec![mutation(&table, "p", 20, CellChange::DeletePartition)]);
        let query = CellQuery { partition: bytes("p"), ..CellQuery::default() };
        let mut seen = Vec::new();
        // What the purge writes meanwhile may have the transaction run again.
        let _ = bed.engine.transact(|tx| {
            for _ in 0..3 {
                purge(bed);
            }
            seen.push(tx.query_cells(&table, &query)?.rows.len());
            Ok(())
        });
        assert!(seen.iter().all(|rows| *rows == 0), "{seen:?}");
        for _ in 0..3 {
            purge(bed);
        }
        let page = patiently(|| bed.engine.query_cells(&table, &query)).unwrap();
        assert_eq!(page.rows.len(), 0);
    });
}

#[test]
fn what_is_written_over_a_large_deletion_is_in_the_view() {
    on_every_driver(|bed| {
        let (table, view) = fill(bed);
        // Not all of these rows are older than the deletion.
        bed.cells(vec![
            // Its key in the view is later, its row is not.
            update(&table, "p", key(551, "x"), 30, vec![set(A, "a1")]),
            // Its row is later, its key in the view is not: it is in no view any more.
            insert(&table, "p", key(552, "x"), 30, vec![set(B, "later")]),
            // Neither is, but for a cell that the view does not show.
            row(&table, "p", 553, 30),
        ]);
        bed.cells(vec![mutation(&table, "p", 20, CellChange::DeletePartition)]);
        assert_eq!(seen(bed, &bed.engine, &view), set_of(&["p/551", "p/553", "q/1"]));
        // Too late, in time, and moved within the view.
        bed.cells(vec![
            row(&table, "p", 500, 15),
            row(&table, "p", 540, 40),
            update(&table, "p", key(553, "x"), 50, vec![set(A, "a10")]),
        ]);
        let left = set_of(&["p/540", "p/551", "p/553", "q/1"]);
        assert_eq!(seen(bed, &bed.engine, &view), left);
        bed.check_sound();
        purge(bed);
        assert_eq!(seen(bed, &bed.engine, &view), left);
        assert_eq!(bed.value(&table, "p", key(552, "x"), B).as_deref(), Some("later"));
        bed.check_sound();
    });
}

#[test]
fn a_large_range_with_a_view_is_deleted_and_deletions_overlap() {
    on_every_driver(|bed| {
        let (table, view) = fill(bed);
        let bound = |c: i32| Some(SpanBound { values: vec![int(c)], included: true });
        let range = |from, to, at| {
            let span = Span { lower: bound(from), upper: bound(to), ..Span::default() };
            mutation(&table, "p", at, CellChange::DeleteSpan(span))
        };
        // The second lies within the first, and ends before it.
        bed.cells(vec![range(10, 548, 20)]);
        bed.cells(vec![range(12, 540, 30)]);
        let around = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 549, 550, 551, 552, 553, 554, 555];
        let around = around.into_iter().chain(556..MANY).map(|c| format!("p/{c}"));
        let left: BTreeSet<String> = around.chain(["q/1".to_owned()]).collect();
        assert_eq!(seen(bed, &bed.engine, &view), left);
        purge(bed);
        assert_eq!(seen(bed, &bed.engine, &view), left);
        bed.check_sound();
    });
}

#[test]
fn a_view_that_is_made_while_its_base_is_purged_holds_what_is_left() {
    on_every_driver(|bed| {
        let (table, _) = fill(bed);
        bed.change_catalogue(|| vec![CatalogueChange::DropTable(TableName::new("ks", "by_a"))]);
        let table = bed.engine.table(&table.schema.name).unwrap();
        bed.cells(vec![mutation(&table, "p", 20, CellChange::DeletePartition)]);
        bed.change_catalogue(|| vec![CatalogueChange::CreateTable(view(IndexState::Building))]);
        // While it is being built another partition is deleted.
        for start in (0..MANY).step_by(20) {
            bed.cells((start..start + 20).map(|c| row(&table, "r", c, 10)).collect());
        }
        bed.cells(vec![mutation(&table, "r", 20, CellChange::DeletePartition)]);
        patiently(|| bed.engine.resume_indexes(&TableName::new("ks", "by_a"))).unwrap();
        let by_a = bed.engine.table(&TableName::new("ks", "by_a")).unwrap();
        assert_eq!(seen(bed, &bed.engine, &by_a), set_of(&["q/1"]));
        purge(bed);
        assert_eq!(seen(bed, &bed.engine, &by_a), set_of(&["q/1"]));
        bed.check_sound();
    });
}

#[test]
fn a_read_looks_at_the_deletions_of_its_own_partition_alone() {
    const PARTITIONS: usize = 24;
    let clock = Arc::new(ManualClock::at_micros(START_SECONDS * 1_000_000));
    let store = Watched::new(&clock);
    let engine = open(Arc::clone(&store) as Arc<dyn Store>, &clock);
    let table = engine.create_table(schema("t")).unwrap();
    for partition in 0..PARTITIONS {
        let pk = format!("p{partition}");
        let small = |c| insert(&table, &pk, key(c, "x"), 10, vec![set(A, "a")]);
        engine.write_cells((0..520).map(small).collect::<Vec<_>>()).unwrap();
        engine.write_cells(vec![mutation(&table, &pk, 20, CellChange::DeletePartition)]).unwrap();
    }
    engine.write_cells(vec![insert(&table, "other", key(1, "x"), 30, vec![set(A, "a")])]).unwrap();
    let get = |pk: &str, c| {
        let get = CellGet { partition: bytes(pk), clustering: key(c, "x"), ..CellGet::default() };
        store.take();
        let row = engine.get_cells(&table, &get).unwrap().row;
        (row.is_some(), store.take())
    };
    // Of a partition that has none: the one behind it, which says so.
    for (pk, c, is_there) in [("other", 1, true), ("p3", 515, false), ("none", 1, false)] {
        let (found, cost) = get(pk, c);
        assert_eq!(found, is_there, "{pk}");
        assert!(cost.scans <= 1 && cost.rows <= 8, "{pk}: {cost:?}");
    }
    // A write looks at as many.
    store.take();
    engine.write_cells(vec![update(&table, "other", key(2, "x"), 15, vec![set(A, "b")])]).unwrap();
    let cost = store.take();
    assert!(cost.rows <= 16, "{cost:?}");
    // A read of many partitions meets each once.
    let page = engine.scan_cells(&table, &CellScan::default()).unwrap();
    let names: Vec<String> = page.rows.iter().map(|own| as_text(&own.partition)).collect();
    assert_eq!(names, ["other", "other"]);
}

#[test]
fn other_tables_and_items_are_not_concerned() {
    on_every_driver(|bed| {
        let (table, view) = fill(bed);
        bed.cells(vec![mutation(&table, "p", 20, CellChange::DeletePartition)]);
        let items = bed.create_table(plain("items")).unwrap();
        bed.write(Write::put(&items, Item::new().with("pk", "p").with("sk", "s"))).unwrap();
        let second = bed.create_table(schema("second")).unwrap();
        bed.cells(vec![row(&second, "p", 1, 5)]);
        assert_eq!(bed.keys(&second, "p", Span::all(), false), ["1/x"]);
        assert_eq!(bed.value(&second, "p", key(1, "x"), A).as_deref(), Some("a1"));
        assert_eq!(text("x"), key(1, "x")[1]);
        assert_eq!(seen(bed, &bed.engine, &view), set_of(&["q/1"]));
    });
}
