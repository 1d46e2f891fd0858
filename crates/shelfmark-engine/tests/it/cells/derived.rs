//! Indexes of cells and views follow from the rows in the same commit.

use std::ops::Bound;
use std::sync::Arc;

use shelfmark_engine::{
    CatalogueChange, CellChange, CellIndexQuery, CellLimits, CellOperation, ErrorKind, Span, Table,
};
use shelfmark_keycode::KeyType;
use shelfmark_model::{
    CellIndex, CellIndexTarget, Direction, IndexState, KeyColumn, SortColumn, TableName,
    TableSchema, TextFold, ViewPart, ViewSchema,
};

use super::{
    A, B, MAP, STATIC, as_text, bytes, from, insert, int, key, mutation, name_of, schema, set,
    text, update,
};
use crate::drivers::{Bed, on_every_driver, patiently};

fn index(name: &str, target: CellIndexTarget, terms: &[KeyType]) -> CellIndex {
    CellIndex {
        name: name.to_owned(),
        target,
        terms: terms.to_vec(),
        fold: TextFold::default(),
        state: IndexState::Public,
    }
}

pub(super) fn indexed() -> TableSchema {
    let mut schema = schema("t");
    schema.cells.as_mut().unwrap().indexes = vec![
        index("by_a", CellIndexTarget::Column(A), &[KeyType::Text]),
        index("by_static", CellIndexTarget::Column(STATIC), &[KeyType::Text]),
        index("by_key", CellIndexTarget::Keys(MAP), &[KeyType::Text]),
        index("by_value", CellIndexTarget::Values(MAP), &[KeyType::Text]),
        index("by_entry", CellIndexTarget::Entries(MAP), &[KeyType::Text, KeyType::Text]),
        index("by_c", CellIndexTarget::SortColumn(0), &[KeyType::I32]),
    ];
    schema
}

pub(super) fn hits(bed: &Bed, table: &Table, index: &str, terms: Span) -> Vec<String> {
    let query = CellIndexQuery {
        index: index.to_owned(),
        terms,
        partition: None,
        tokens: (Bound::Unbounded, Bound::Unbounded),
        limits: CellLimits::default(),
    };
    let page = patiently(|| bed.engine.query_cell_index(table, &query)).unwrap();
    let mut names: Vec<String> = page
        .rows
        .iter()
        .map(|entry| {
            format!("{}:{}", as_text(&entry.partition), name_of(entry.clustering.as_deref()))
        })
        .collect();
    names.sort();
    names
}

fn term(value: &str) -> Span {
    Span::equal(vec![text(value)])
}

fn entry(path: &str, value: &str) -> CellOperation {
    CellOperation::SetElement { column: MAP, path: bytes(path), value: bytes(value) }
}

#[test]
fn indexes_follow_cells_keys_and_collections() {
    on_every_driver(|bed| {
        let t = bed.create_table(indexed()).unwrap();
        let statics = vec![set(STATIC, "s")];
        bed.cells(vec![
            update(&t, "p", key(1, "x"), 10, vec![set(A, "red"), entry("k", "1")]),
            update(
                &t,
                "p",
                key(2, "x"),
                10,
                vec![set(A, "blue"), entry("k", "2"), entry("l", "1")],
            ),
            update(&t, "q", key(2, "y"), 10, vec![set(A, "red")]),
            mutation(&t, "q", 10, CellChange::Statics(statics)),
        ]);
        assert_eq!(hits(bed, &t, "by_a", term("red")), ["p:1/x", "q:2/y"]);
        assert_eq!(hits(bed, &t, "by_static", term("s")), ["q:-"]);
        assert_eq!(hits(bed, &t, "by_key", term("k")), ["p:1/x", "p:2/x"]);
        assert_eq!(hits(bed, &t, "by_value", term("1")), ["p:1/x", "p:2/x"]);
        let pair = Span::equal(vec![text("k"), text("2")]);
        assert_eq!(hits(bed, &t, "by_entry", pair), ["p:2/x"]);
        assert_eq!(hits(bed, &t, "by_c", Span::equal(vec![int(2)])), ["p:2/x", "q:2/y"]);
        assert_eq!(hits(bed, &t, "by_c", from(2)), ["p:2/x", "q:2/y"], "ranges of terms");
        let in_p = CellIndexQuery {
            index: "by_a".to_owned(),
            terms: term("red"),
            partition: Some(bytes("p")),
            tokens: (Bound::Unbounded, Bound::Unbounded),
            limits: CellLimits::default(),
        };
        let page = patiently(|| bed.engine.query_cell_index(&t, &in_p)).unwrap();
        assert_eq!((page.rows.len(), page.report.steps[0].rows_read), (1, 1));

        bed.cells(vec![update(&t, "p", key(1, "x"), 20, vec![set(A, "blue")])]);
        assert_eq!(hits(bed, &t, "by_a", term("red")), ["q:2/y"]);
        bed.cells(vec![mutation(&t, "p", 30, CellChange::DeletePartition)]);
        assert!(hits(bed, &t, "by_a", term("blue")).is_empty());
        assert!(hits(bed, &t, "by_key", term("k")).is_empty());
        assert_eq!(hits(bed, &t, "by_c", from(0)), ["q:2/y"]);
        let mut short = update(&t, "q", key(2, "y"), 40, vec![set(A, "short")]);
        short.ttl_seconds = Some(10);
        bed.cells(vec![short]);
        assert_eq!(hits(bed, &t, "by_a", term("short")), ["q:2/y"]);
        bed.seconds(10);
        assert!(hits(bed, &t, "by_a", term("short")).is_empty(), "entries expire");
    });
}

pub(super) fn view(state: IndexState) -> TableSchema {
    let name = TableName::new("ks", "by_a");
    let mut schema = TableSchema::of_cells(name, vec![KeyColumn::new("a", KeyType::Text)]);
    schema.sort = vec![
        SortColumn::clustering("d", KeyType::Text, Direction::Ascending),
        SortColumn::clustering("c", KeyType::I32, Direction::Ascending),
        SortColumn::clustering("pk", KeyType::Text, Direction::Ascending),
    ];
    schema.cells.as_mut().unwrap().view_of = Some(ViewSchema {
        base: TableName::new("ks", "t"),
        partition: vec![ViewPart::Column(A)],
        sort: vec![ViewPart::SortColumn(1), ViewPart::SortColumn(0), ViewPart::PartitionColumn(0)],
        columns: Some(vec![B]),
        tests: Vec::new(),
        state,
    });
    schema
}

fn view_rows(bed: &Bed, view: &Arc<Table>, a: &str) -> Vec<String> {
    let query = shelfmark_engine::CellQuery { partition: bytes(a), ..Default::default() };
    let page = patiently(|| bed.engine.query_cells(view, &query)).unwrap();
    let rows = page.rows.iter().map(|entry| {
        let clustering = entry.clustering.as_ref().unwrap();
        let pk = as_text(clustering[2].as_ref().unwrap());
        let c = i32::from_be_bytes(clustering[1].as_ref().unwrap().as_ref().try_into().unwrap());
        let b = entry.row.cell(B).map_or_else(|| "null".to_owned(), |cell| as_text(&cell.value));
        format!("{}/{c}/{pk}={b}", as_text(clustering[0].as_ref().unwrap()))
    });
    rows.collect()
}

#[test]
fn a_view_follows_its_base() {
    on_every_driver(|bed| {
        let base = bed.create_table(schema("t")).unwrap();
        bed.cells(vec![
            insert(&base, "p", key(1, "x"), 10, vec![set(A, "red"), set(B, "one")]),
            insert(&base, "p", key(2, "x"), 10, vec![set(B, "no a")]),
            insert(&base, "q", key(3, "w"), 10, vec![set(A, "red")]),
        ]);
        bed.change_catalogue(|| vec![CatalogueChange::CreateTable(view(IndexState::Building))]);
        let name = TableName::new("ks", "by_a");
        let by_a = bed.engine.table(&name).unwrap();
        bed.cells(vec![insert(&base, "q", key(4, "w"), 10, vec![set(A, "red")])]);
        let query = shelfmark_engine::CellQuery { partition: bytes("red"), ..Default::default() };
        let refused = bed.engine.query_cells(&by_a, &query).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Invalid, "it is being built");
        patiently(|| bed.engine.resume_indexes(&name)).unwrap();
        let red = ["w/3/q=null", "w/4/q=null", "x/1/p=one"];
        assert_eq!(view_rows(bed, &by_a, "red"), red);
        bed.cells(vec![update(&base, "p", key(1, "x"), 20, vec![set(A, "blue"), set(B, "two")])]);
        assert_eq!(view_rows(bed, &by_a, "red"), red[..2]);
        assert_eq!(view_rows(bed, &by_a, "blue"), ["x/1/p=two"]);
        let mut short = update(&base, "p", key(2, "x"), 20, vec![set(A, "blue")]);
        short.ttl_seconds = Some(10);
        bed.cells(vec![short]);
        assert_eq!(view_rows(bed, &by_a, "blue"), ["x/1/p=two", "x/2/p=no a"]);
        bed.seconds(10);
        assert_eq!(view_rows(bed, &by_a, "blue"), ["x/1/p=two"], "the key's cell has expired");
        bed.cells(vec![mutation(&base, "q", 30, CellChange::DeletePartition)]);
        assert!(view_rows(bed, &by_a, "red").is_empty());
        let refused = bed.try_cells(vec![insert(&by_a, "red", vec![], 1, vec![])]).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Invalid, "a view is written by its base");
        bed.change_catalogue(|| vec![CatalogueChange::DropTable(TableName::new("ks", "by_a"))]);
        bed.cells(vec![update(&base, "p", key(1, "x"), 40, vec![set(A, "green")])]);
    });
}

#[test]
fn a_page_ends_after_many_entries_of_other_partitions_and_counts_them() {
    const FOREIGN: i32 = 1_100;
    on_every_driver(|bed| {
        let t = bed.create_table(indexed()).unwrap();
        let row = |partition, c| update(&t, partition, key(c, "x"), 10, vec![set(A, "v")]);
        for begin in (0..FOREIGN).step_by(100) {
            bed.cells((begin..begin + 100).map(|c| row("q", c)).collect());
        }
        bed.cells(vec![row("p", FOREIGN)]);
        let page = |start| {
            let query = CellIndexQuery {
                index: "by_c".to_owned(),
                terms: from(0),
                partition: Some(bytes("p")),
                tokens: (Bound::Unbounded, Bound::Unbounded),
                limits: CellLimits { start, ..CellLimits::default() },
            };
            patiently(|| bed.engine.query_cell_index(&t, &query)).unwrap()
        };
        let first = page(None);
        assert_eq!((first.rows.len(), first.report.steps[0].keys_peeked), (0, 1_024));
        assert!(first.report.steps[0].bytes_read > 1_024 * 8, "what is stepped over is read, too");
        let second = page(first.cursor);
        assert_eq!((second.rows.len(), second.report.steps[0].keys_peeked), (1, 1_100 - 1_024));
        assert!(second.cursor.is_none());
    });
}

#[test]
fn an_index_on_a_table_with_rows_is_built() {
    on_every_driver(|bed| {
        let t = bed.create_table(schema("t")).unwrap();
        for start in (0..600).step_by(200) {
            let rows = (start..start + 200).map(|c| {
                update(
                    &t,
                    "p",
                    key(c, "x"),
                    10,
                    vec![set(A, if c % 2 == 0 { "even" } else { "odd" })],
                )
            });
            bed.cells(rows.collect());
        }
        let name = TableName::new("ks", "t");
        bed.change_catalogue(|| {
            let add = |schema: &mut TableSchema| {
                let by_a = index("by_a", CellIndexTarget::Column(A), &[KeyType::Text]);
                let by_a = CellIndex { state: IndexState::Building, ..by_a };
                schema.cells.as_mut().unwrap().indexes.push(by_a);
                Ok(())
            };
            vec![CatalogueChange::AlterTable(TableName::new("ks", "t"), Box::new(add))]
        });
        patiently(|| bed.engine.resume_indexes(&name)).unwrap();
        assert_eq!(hits(bed, &t, "by_a", term("odd")).len(), 300);
    });
}
