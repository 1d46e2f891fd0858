//! What verifying finds in tables of cells: nothing in what the engine wrote, and each kind of damage.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_engine::{
    CatalogueChange, CellChange, CellOperation, CellScan, Span, SweepPosition, Table, Verification,
};
use shelfmark_model::{IndexState, TableName};
use shelfmark_store::{Commit, Row, Write as StoreWrite};

use super::derived::{indexed, view};
use super::{A, B, MAP, STATIC, bytes, from, insert, int, key, mutation, schema, set, update};
use crate::drivers::{Bed, keys, memory, on_every_driver, patiently};

const CATALOGUE: u8 = 1;
const ROWS: u8 = 2;
const INDEX: u8 = 3;
const MARKS: u8 = 4;
const DUE: u8 = 6;
const COUNTS: u8 = 8;

fn verified(bed: &Bed) -> Verification {
    bed.settle();
    patiently(|| bed.engine.verify()).unwrap()
}

fn element(path: &str, value: String) -> CellOperation {
    CellOperation::SetElement { column: MAP, path: bytes(path), value: value.into() }
}

/// A table with indexes and a view, and every kind of record; and one with a deletion whose rows are
/// still there.
pub(crate) fn fill(bed: &Bed) -> Arc<Table> {
    let table = bed.create_table(indexed()).unwrap();
    bed.create_table(view(IndexState::Public)).unwrap();
    for c in 0..6 {
        let operations = vec![set(A, "red"), set(B, "b"), element("k", format!("{c}"))];
        let mut row = insert(&table, "p", key(c, "x"), 10, operations);
        row.ttl_seconds = (c == 5).then_some(50);
        bed.cells(vec![row]);
    }
    bed.cells(vec![
        mutation(&table, "p", 10, CellChange::Statics(vec![set(STATIC, "s")])),
        update(
            &table,
            "q",
            key(1, "x"),
            10,
            vec![set(A, "blue"), CellOperation::Delete { column: B }],
        ),
        mutation(&table, "p", 20, CellChange::DeleteRow(key(0, "x"))),
        mutation(&table, "p", 20, CellChange::DeleteSpan(from(9))),
        mutation(&table, "p", 20, CellChange::DeleteSpan(Span::equal(vec![int(7)]))),
    ]);
    let purged = bed.create_table(schema("purged")).unwrap();
    for start in (0..600).step_by(200) {
        let rows = (start..start + 200).map(|c| insert(&purged, "p", key(c, "x"), 10, vec![]));
        bed.cells(rows.collect());
    }
    bed.cells(vec![mutation(&purged, "p", 20, CellChange::DeletePartition)]);
    for n in 0..30 {
        let large = element(&format!("element {:02}", 2 * n), "x".repeat(10_000));
        bed.cells(vec![update(&purged, "q", key(2, "x"), 10, vec![large])]);
    }
    table
}

#[test]
fn what_the_engine_wrote_is_found_well_at_any_time() {
    on_every_driver(|bed| {
        let table = fill(bed);
        let found = verified(bed);
        assert_eq!(found.findings, []);
        // Five rows of `p`, one of `q`, the six of the view; 88 that are to be purged, a large one.
        assert_eq!((found.tables, found.rows), (3, 5 + 1 + 6 + 88 + 1));
        // By column, by static, by key, by value, by entry, by clustering column.
        assert_eq!(found.entries, 6 + 1 + 5 + 5 + 5 + 6);
        bed.seconds(60);
        assert_eq!(verified(bed).findings, [], "what has expired is no damage");
        // The grace period is part of no record: what is due stays where it is in the queue.
        bed.alter_options(&table.schema.name, |options| options.gc_grace_seconds = 10).unwrap();
        assert_eq!(verified(bed).findings, []);
        let mut position = SweepPosition::default();
        for _ in 0..3 {
            bed.seconds(600);
            while bed.sweep(&mut position, 100).unwrap() > 0 {}
            assert_eq!(verified(bed).findings, []);
        }
        while patiently(|| bed.engine.purge_deleted_cells()).unwrap() > 0 {}
        assert_eq!(verified(bed).findings, []);
        bed.drop_table(&TableName::new("ks", "by_a")).unwrap();
        bed.drop_table(&table.schema.name).unwrap();
        assert_eq!(verified(bed).findings, []);
        assert_eq!(bed.purge().unwrap(), 0);
        assert_eq!(verified(bed).findings, []);
    });
}

#[test]
fn a_view_over_a_deletion_that_is_being_purged_shows_nothing_of_it() {
    on_every_driver(|bed| {
        let base = bed.create_table(schema("t")).unwrap();
        for start in (0..600).step_by(100) {
            let rows = (start..start + 100)
                .map(|c| insert(&base, "p", key(c, "x"), 10, vec![set(A, "red")]));
            bed.cells(rows.collect());
        }
        bed.cells(vec![insert(&base, "p", key(1_000, "x"), 30, vec![set(A, "red")])]);
        bed.cells(vec![mutation(&base, "p", 20, CellChange::DeletePartition)]);
        bed.change_catalogue(|| vec![CatalogueChange::CreateTable(view(IndexState::Building))]);
        let name = TableName::new("ks", "by_a");
        patiently(|| bed.engine.resume_indexes(&name)).unwrap();
        let by_a = bed.engine.table(&name).unwrap();
        let page = patiently(|| bed.engine.scan_cells(&by_a, &CellScan::default())).unwrap();
        assert_eq!(page.rows.len(), 1);
        assert_eq!(verified(bed).findings, []);
    });
}

#[test]
fn a_view_holds_the_key_of_its_base() {
    let bed = memory();
    bed.create_table(schema("t")).unwrap();
    let mut lacking = view(IndexState::Public);
    lacking.sort.pop();
    lacking.cells.as_mut().unwrap().view_of.as_mut().unwrap().sort.pop();
    let refused = bed.create_table(lacking).unwrap_err();
    assert!(refused.to_string().contains("every column of its base's key"), "{refused}");
}

/// The keys and values of a tree, of one table or index.
fn rows(bed: &Bed, tree: u8, id: u64) -> Vec<Row> {
    let view = bed.engine.store().snapshot().unwrap();
    let mut prefix = vec![tree];
    shelfmark_keycode::put_ordered_varint(&mut prefix, id);
    keys(bed, &prefix)
        .into_iter()
        .map(|key| Row { value: view.get(&key).unwrap().unwrap(), key })
        .collect()
}

/// Changes a store behind the engine's back, and looks why it is found wrong.
fn check(expected: &[&str], damage: impl Fn(&Bed, &Table) -> Vec<StoreWrite>) {
    let bed = memory();
    let table = fill(&bed);
    let writes = damage(&bed, &table);
    assert!(!writes.is_empty());
    bed.engine.store().commit(Commit::of(writes)).unwrap();
    let found: Vec<String> = verified(&bed).findings.iter().map(ToString::to_string).collect();
    for expected in expected {
        assert!(found.iter().any(|found| found.contains(expected)), "{expected}: {found:#?}");
    }
    assert!(found.len() <= expected.len() + 9, "{expected:?}: {found:#?}");
}

fn put(key: &Bytes, value: impl Into<Bytes>) -> StoreWrite {
    StoreWrite::Put { key: key.clone(), value: value.into() }
}

fn delete(key: &Bytes) -> StoreWrite {
    StoreWrite::Delete { key: key.clone() }
}

fn cut(value: &Bytes) -> Bytes {
    value.slice(..value.len() - 1)
}

/// A key with some bytes of it replaced.
fn with(key: &Bytes, old: &[u8], new: &[u8]) -> Bytes {
    let at = key.windows(old.len()).position(|part| part == old).unwrap();
    [&key[..at], new, &key[at + old.len()..]].concat().into()
}

/// The record of a row that holds `red`.
fn red_row(bed: &Bed, table: &Table) -> Row {
    let mut rows = rows(bed, ROWS, table.id).into_iter();
    rows.find(|row| row.value.windows(3).any(|part| part == b"red")).unwrap()
}

fn purged(bed: &Bed) -> Arc<Table> {
    bed.engine.table(&TableName::new("ks", "purged")).unwrap()
}

fn view_table(bed: &Bed) -> Arc<Table> {
    bed.engine.table(&TableName::new("ks", "by_a")).unwrap()
}

#[test]
fn damaged_rows_are_found() {
    let first = |bed: &Bed, table: &Table| rows(bed, ROWS, table.id).remove(0);
    check(&["cut short"], |bed, t| vec![put(&first(bed, t).key, cut(&first(bed, t).value))]);
    check(&["unknown version"], |bed, t| vec![put(&first(bed, t).key, "?")]);
    check(&["another key than its own"], |bed, t| {
        let mut moved = first(bed, t).key.to_vec();
        moved[3] ^= 1;
        vec![put(&moved.into(), first(bed, t).value)]
    });
    check(&["cannot be read"], |bed, t| {
        let row = first(bed, t);
        let longer: Bytes = [&row.key[..row.key.len() - 1], &[9, 0]].concat().into();
        vec![put(&longer, row.value)]
    });
    check(&["a row of nothing"], |bed, t| {
        // The statics of `p`: 00 after its partition key, and a chunk.
        let statics = rows(bed, ROWS, t.id).into_iter().find(|row| row.key.ends_with(&[0, 0]));
        vec![put(&statics.unwrap().key, vec![2, 0])]
    });
    let chunks = |bed: &Bed, _: &Table| {
        let all = rows(bed, ROWS, purged(bed).id).into_iter();
        all.filter(|row| row.value[0] == 3).collect::<Vec<_>>()
    };
    check(&["lacks chunks"], |bed, t| vec![delete(&chunks(bed, t)[1].key)]);
    check(&["chunk without its row"], |bed, t| {
        let head = chunks(bed, t)[0].key.clone();
        let head = Bytes::from([&head[..head.len() - 1], &[0]].concat());
        vec![delete(&head)]
    });
    check(&["out of order"], |bed, t| {
        // Two chunks changed places.
        let chunks = chunks(bed, t);
        vec![
            put(&chunks[0].key, chunks[1].value.clone()),
            put(&chunks[1].key, chunks[0].value.clone()),
        ]
    });
    // Four elements of two digits each in a chunk: 00 to 06, 08 to 14.
    check(&["out of order"], |bed, t| {
        let first = chunks(bed, t).remove(0);
        vec![put(&first.key, with(&first.value, b"element 02", b"element 05"))]
    });
    // Behind the chunk before, and before what the head says that this one begins with.
    check(&["out of order"], |bed, t| {
        let second = chunks(bed, t).remove(1);
        vec![put(&second.key, with(&second.value, b"element 08", b"element 07"))]
    });
    // In order, and behind what the head says that the next chunk begins with.
    check(&["out of order"], |bed, t| {
        let chunks = chunks(bed, t);
        vec![
            put(&chunks[0].key, with(&chunks[0].value, b"element 06", b"element 09")),
            put(&chunks[1].key, with(&chunks[1].value, b"element 08", b"element 0:")),
        ]
    });
}

#[test]
fn entries_that_lack_or_lead_nowhere_are_found() {
    for (at, _) in indexed().cells.unwrap().indexes.iter().enumerate() {
        let of = |bed: &Bed, t: &Table| rows(bed, INDEX, t.id + 1 + at as u64).remove(0);
        check(&["it has no entry in an index"], |bed, t| vec![delete(&of(bed, t).key)]);
        check(&["says something else"], |bed, t| {
            vec![put(&of(bed, t).key, vec![1, 2, 0, 0, 0, 0, 1, 2, 3, 4])]
        });
        check(&["unknown version"], |bed, t| vec![put(&of(bed, t).key, "?")]);
    }
    let by_a = |bed: &Bed, t: &Table| rows(bed, INDEX, t.id + 1).remove(1);
    check(&["leads to a row that has another one"], |bed, t| {
        let entry = by_a(bed, t);
        vec![put(&with(&entry.key, b"red", b"rad"), entry.value)]
    });
    check(&["leads to no row"], |bed, t| {
        let entry = by_a(bed, t);
        vec![put(&with(&entry.key, &[0x87, 0xff], &[0x88, 0xff]), entry.value)]
    });
    check(&["cannot be read"], |bed, t| {
        let entry = by_a(bed, t);
        let longer: Bytes = [&entry.key[..entry.key.len() - 1], &[9, 0]].concat().into();
        vec![put(&longer, entry.value)]
    });
    // The row says something else, and nothing that follows from it.
    let all = [
        "it has no entry in an index",
        "leads to a row that has another one",
        "view ks.by_a: it has no row there",
        "follows from a row that makes another one",
    ];
    check(&all, |bed, t| {
        let row = red_row(bed, t);
        vec![put(&row.key, with(&row.value, b"red", b"rad"))]
    });
    // The row went, and nothing that follows from it.
    check(&["leads to no row", "follows from a row that is not there"], |bed, t| {
        vec![delete(&red_row(bed, t).key)]
    });
}

#[test]
fn views_that_differ_from_their_bases_are_found() {
    let first = |bed: &Bed| rows(bed, ROWS, view_table(bed).id).remove(0);
    check(&["view ks.by_a: it has no row there"], |bed, _| vec![delete(&first(bed).key)]);
    check(&["view ks.by_a: its row there says something else"], |bed, _| {
        let mut value = first(bed).value.to_vec();
        *value.last_mut().unwrap() ^= 1;
        vec![put(&first(bed).key, value)]
    });
    check(&["its base ks.t is not there"], |bed, t| vec![delete(&record(bed, t).key)]);
    check(&["its view ks.by_a is not there"], |bed, _| {
        vec![delete(&record(bed, &view_table(bed)).key)]
    });
}

fn record(bed: &Bed, table: &Table) -> Row {
    let view = bed.engine.store().snapshot().unwrap();
    let name = table.schema.name.name.as_bytes();
    let key = keys(bed, &[CATALOGUE, 2])
        .into_iter()
        .find(|key| key.windows(name.len() + 1).any(|part| part[1..] == *name))
        .unwrap();
    Row { value: view.get(&key).unwrap().unwrap(), key }
}

#[test]
fn damaged_marks_are_found() {
    let of = |bed: &Bed, t: &Table, kind: u8| {
        let mut all = rows(bed, MARKS, t.id).into_iter();
        all.find(|row| row.key[2] == kind).unwrap()
    };
    for kind in 0..4 {
        check(&["tombstones of"], |bed, t| {
            let tombstone = if kind == 2 { of(bed, &purged(bed), kind) } else { of(bed, t, kind) };
            vec![put(&tombstone.key, cut(&tombstone.value))]
        });
    }
    check(&["a tombstone cannot be read"], |_, t| {
        vec![put(&Bytes::from(vec![MARKS, u8::try_from(t.id).unwrap(), 9, 7]), "?")]
    });
    check(&["a stored clustering key cannot be read"], |bed, t| {
        let tombstone = of(bed, t, 1);
        vec![put(&tombstone.key.slice(..tombstone.key.len() - 1), tombstone.value)]
    });
    check(&["two tombstones concern the same rows"], |bed, t| {
        let tombstone = of(bed, t, 0);
        let mut longer = tombstone.key.to_vec();
        longer.push(0);
        vec![put(&longer.into(), tombstone.value)]
    });
    check(&["later than the bound"], |bed, t| {
        vec![put(&of(bed, t, 3).key, i64::MIN.to_be_bytes().to_vec())]
    });
    check(&["later than the bound"], |bed, t| vec![delete(&of(bed, t, 3).key)]);
}

#[test]
fn what_is_not_in_the_queue_is_found() {
    let due = |bed: &Bed, t: &Table, kind: u8| {
        let id = u8::try_from(t.id).unwrap();
        let view = bed.engine.store().snapshot().unwrap();
        let mut all = keys(bed, &[DUE]).into_iter();
        let key = all.find(|key| key[9..11] == [id, kind]).unwrap();
        Row { value: view.get(&key).unwrap().unwrap(), key }
    };
    for kind in [0, 1] {
        check(&["1 rows or tombstones are to be forgotten and not in the queue"], |bed, t| {
            vec![delete(&due(bed, t, kind).key)]
        });
    }
    check(&["a stored key of a table of cells"], |bed, t| {
        let due = due(bed, t, 0);
        vec![put(&[due.key.as_ref(), b"?"].concat().into(), due.value)]
    });
    check(&["neither a row nor a tombstone"], |bed, t| {
        let due = due(bed, t, 0);
        let mut key = due.key.to_vec();
        key[10] = 9;
        vec![put(&key.into(), due.value)]
    });
    check(&["no counts, changes or shards"], |_, t| {
        let key = Bytes::from(vec![COUNTS, u8::try_from(t.id).unwrap(), 0]);
        vec![put(&key, StoreWrite::counter_value(1))]
    });
}
