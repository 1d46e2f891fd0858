//! Namespaces, attachments, and several changes as one.

use bytes::Bytes;
use shelfmark_engine::{CatalogueChange, CellQuery, ErrorKind, Get, Scan, Span, Write};
use shelfmark_model::{IndexState, Item, Key, TableName, Value};

use super::{A, B, bytes, insert, key, schema, set};
use crate::drivers::{on_every_driver, patiently};

fn create(name: &str, attachment: &'static str) -> CatalogueChange<'static> {
    let attachment = Bytes::from_static(attachment.as_bytes());
    CatalogueChange::CreateNamespace { name: name.to_owned(), attachment }
}

#[test]
fn a_batch_of_changes_happens_whole_or_not_at_all() {
    on_every_driver(|bed| {
        assert_eq!(bed.engine.catalogue_version().unwrap(), 0);
        bed.change_catalogue(|| {
            vec![create("ks", "replication"), CatalogueChange::CreateTable(schema("t"))]
        });
        let version = bed.engine.catalogue_version().unwrap();
        assert!(version > 0);
        assert_eq!(bed.engine.namespace("ks").unwrap().attachment, "replication");
        let refused = bed.try_change_catalogue(|| {
            vec![CatalogueChange::CreateTable(schema("other")), create("ks", "again")]
        });
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(bed.engine.table_names(Some("ks"), None, 10).unwrap().len(), 1);
        assert_eq!(bed.engine.catalogue_version().unwrap(), version, "nothing happened");

        let table = bed.engine.table(&TableName::new("ks", "t")).unwrap();
        bed.cells(vec![insert(&table, "p", key(1, "x"), 1, vec![set(A, "a"), set(B, "b")])]);
        assert_eq!(bed.engine.catalogue_version().unwrap(), version, "writes are no changes");
        bed.change_catalogue(|| {
            let drop_a = |schema: &mut shelfmark_model::TableSchema| {
                schema.columns.retain(|column| column.id != A);
                schema.cells.as_mut().unwrap().attachment = bytes("without a");
                Ok(())
            };
            vec![CatalogueChange::AlterTable(TableName::new("ks", "t"), Box::new(drop_a))]
        });
        let row = bed.row(&table, "p", key(1, "x")).unwrap();
        assert_eq!(row.cells.len(), 1, "cells of a dropped column are not seen");
        let table = bed.engine.table(&TableName::new("ks", "t")).unwrap();
        assert_eq!(table.schema.cells.as_ref().unwrap().attachment, "without a");

        let version = bed.engine.catalogue_version().unwrap();
        for at in [2, 3] {
            bed.cells(vec![insert(&table, "p", key(1, "x"), at, vec![set(B, "again")])]);
            bed.change_catalogue(|| {
                vec![CatalogueChange::TruncateTable(TableName::new("ks", "t"))]
            });
            assert!(bed.keys(&table, "p", Span::all(), false).is_empty(), "an old form goes on");
        }
        assert_eq!(bed.engine.catalogue_version().unwrap(), version, "nothing was declared");
        let table = bed.engine.table(&TableName::new("ks", "t")).unwrap();
        assert!(bed.keys(&table, "p", Span::all(), false).is_empty());
        let refused = bed.try_change_catalogue(|| {
            vec![CatalogueChange::DropNamespace { name: "ks".to_owned() }]
        });
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Invalid, "it has a table");
        bed.change_catalogue(|| {
            vec![
                CatalogueChange::DropTable(TableName::new("ks", "t")),
                CatalogueChange::DropNamespace { name: "ks".to_owned() },
            ]
        });
        assert!(bed.engine.namespaces().unwrap().is_empty());
        while bed.purge().unwrap() > 0 {}
    });
}

#[test]
fn what_was_declared_is_there_after_a_restart() {
    let mut bed = crate::drivers::embedded();
    bed.change_catalogue(|| vec![create("ks", "x"), CatalogueChange::CreateTable(schema("t"))]);
    let table = bed.engine.table(&TableName::new("ks", "t")).unwrap();
    bed.cells(vec![insert(&table, "p", key(1, "x"), 1, vec![set(A, "a")])]);
    let version = bed.engine.catalogue_version().unwrap();
    let (declared, name) = (table.schema.clone(), table.schema.name.clone());
    drop(table);
    bed.reopen();
    assert_eq!(bed.engine.catalogue_version().unwrap(), version);
    let table = bed.engine.table(&name).unwrap();
    assert_eq!(table.schema, declared);
    assert_eq!(bed.value(&table, "p", key(1, "x"), A).unwrap(), "a");
}

#[test]
fn each_kind_of_table_has_calls_of_its_own() {
    on_every_driver(|bed| {
        let items = bed.create_table(crate::drivers::plain("items")).unwrap();
        let cells = bed.create_table(schema("cells")).unwrap();
        let refused = bed.try_cells(vec![insert(&items, "p", key(1, "x"), 1, vec![])]);
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Invalid);
        let item = Item::new().with("pk", "p").with("c", Value::Int(1)).with("d", "x");
        let refused = bed.write(Write::put(&cells, item));
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Invalid);
        let get =
            Get::new(Key { partition: vec!["p".into()], sort: vec![Value::Int(1), "x".into()] });
        assert_eq!(bed.engine.get(&cells, &get).unwrap_err().kind(), ErrorKind::Invalid);
        let scanned = bed.engine.scan(&cells, &Scan::default());
        assert_eq!(scanned.unwrap_err().kind(), ErrorKind::Invalid);
        let mut logged = schema("logged");
        logged.options.change_log = true;
        assert_eq!(bed.create_table(logged).unwrap_err().kind(), ErrorKind::Invalid);
    });
}

#[test]
fn a_base_is_not_dropped_before_its_views() {
    on_every_driver(|bed| {
        bed.create_table(schema("t")).unwrap();
        bed.create_table(super::derived::view(IndexState::Public)).unwrap();
        let (base, view) = (TableName::new("ks", "t"), TableName::new("ks", "by_a"));
        assert_eq!(bed.drop_table(&base).unwrap_err().kind(), ErrorKind::Invalid);
        let table = bed.engine.table(&base).unwrap();
        bed.cells(vec![insert(&table, "p", key(1, "x"), 1, vec![set(A, "red")])]);
        bed.change_catalogue(|| vec![CatalogueChange::TruncateTable(TableName::new("ks", "t"))]);
        let by_a = bed.engine.table(&view).unwrap();
        let query = CellQuery { partition: bytes("red"), ..CellQuery::default() };
        let page = patiently(|| bed.engine.query_cells(&by_a, &query)).unwrap();
        assert!(page.rows.is_empty(), "a view is truncated with its base");
        bed.change_catalogue(|| {
            vec![
                CatalogueChange::DropTable(TableName::new("ks", "t")),
                CatalogueChange::DropTable(TableName::new("ks", "by_a")),
            ]
        });
        assert!(bed.engine.table_names(Some("ks"), None, 10).unwrap().is_empty());
    });
}
