//! `docs/format.md`, "Rows of cells": the small store of cells drawn there is what is written.

use shelfmark_engine::{CatalogueChange, CellChange, CellOperation, Span};
use shelfmark_keycode::KeyType;
use shelfmark_model::{
    CellIndex, CellIndexTarget, Column, ColumnType, Direction, IndexState, KeyColumn, SortColumn,
    TableName, TableSchema, TextFold, ViewPart, ViewSchema,
};

use super::{bytes, insert, int, mutation, set, update};
use crate::drivers::memory;
use crate::format::{drawn, dump};

fn name(name: &str) -> TableName {
    TableName::new("ks", name)
}

fn followers() -> TableSchema {
    let mut schema =
        TableSchema::of_cells(name("followers"), vec![KeyColumn::new("who", KeyType::Text)]);
    schema.sort = vec![SortColumn::clustering("at", KeyType::I32, Direction::Descending)];
    let column = |name: &str, id: u32, is_static: bool, column_type: ColumnType| Column {
        name: name.to_owned(),
        id,
        column_type,
        is_static,
    };
    let value = || ColumnType::Value(KeyType::Text);
    schema.columns = vec![
        column("note", 1, false, value()),
        column("title", 2, true, value()),
        column("tags", 3, false, ColumnType::Set(KeyType::Text)),
    ];
    schema.options.gc_grace_seconds = 60;
    let cells = schema.cells.as_mut().unwrap();
    cells.attachment = bytes("opaque");
    cells.indexes = vec![CellIndex {
        name: "by_tag".to_owned(),
        target: CellIndexTarget::Keys(3),
        terms: vec![KeyType::Text],
        fold: TextFold::default(),
        state: IndexState::Public,
    }];
    schema
}

fn by_note() -> TableSchema {
    let mut schema =
        TableSchema::of_cells(name("by_note"), vec![KeyColumn::new("note", KeyType::Text)]);
    schema.sort = vec![
        SortColumn::clustering("who", KeyType::Text, Direction::Ascending),
        SortColumn::clustering("at", KeyType::I32, Direction::Ascending),
    ];
    schema.cells.as_mut().unwrap().view_of = Some(ViewSchema {
        base: name("followers"),
        partition: vec![ViewPart::Column(1)],
        sort: vec![ViewPart::PartitionColumn(0), ViewPart::SortColumn(0)],
        columns: Some(vec![]),
        tests: Vec::new(),
        state: IndexState::Public,
    });
    schema
}

#[test]
fn a_small_store_of_cells_is_written_as_drawn() {
    let bed = memory();
    bed.change_catalogue(|| {
        let attachment = bytes("replication");
        vec![
            CatalogueChange::CreateNamespace { name: "ks".to_owned(), attachment },
            CatalogueChange::CreateTable(followers()),
            CatalogueChange::CreateTable(by_note()),
        ]
    });
    let table = bed.engine.table(&name("followers")).unwrap();
    let tag = CellOperation::SetElement { column: 3, path: bytes("x"), value: bytes("") };
    let dead = CellOperation::Delete { column: 1 };
    let mut short = update(&table, "ann", vec![int(3)], 5, vec![set(1, "soon")]);
    short.ttl_seconds = Some(10);
    let overwrite = CellOperation::Overwrite { column: 3, elements: vec![(bytes("y"), bytes(""))] };
    bed.cells(vec![
        mutation(&table, "ann", 5, CellChange::Statics(vec![set(2, "t")])),
        insert(&table, "ann", vec![int(2)], 5, vec![set(1, "hi"), tag]),
        short,
        update(&table, "ann", vec![None], 6, vec![dead, overwrite]),
        mutation(&table, "bob", 7, CellChange::DeleteRow(vec![int(1)])),
        mutation(&table, "bob", 8, CellChange::DeleteSpan(Span::equal(vec![int(2)]))),
        mutation(&table, "eve", 9, CellChange::DeletePartition),
    ]);
    let (written, drawn) = (dump(&bed), drawn("| in a small store of cells |"));
    if std::env::var_os("SHELFMARK_PRINT_FORMAT").is_some() {
        for (key, value) in &written {
            eprintln!("| | `{key}` | `{value}` |");
        }
    }
    for (written, drawn) in written.iter().zip(&drawn) {
        assert_eq!(written, drawn);
    }
    assert_eq!(written.len(), drawn.len(), "written: {written:#?}");
}
