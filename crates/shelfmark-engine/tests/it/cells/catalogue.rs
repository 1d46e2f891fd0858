//! Namespaces, attachments, and several changes as one.

use bytes::Bytes;
use shelfmark_engine::{CatalogueChange, ErrorKind, Span};
use shelfmark_model::TableName;

use super::{A, B, bytes, insert, key, schema, set};
use crate::drivers::on_every_driver;

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

        bed.change_catalogue(|| vec![CatalogueChange::TruncateTable(TableName::new("ks", "t"))]);
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
