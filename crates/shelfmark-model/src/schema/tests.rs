use super::*;
use crate::error::ErrorKind;
use crate::limits::KEY_COLUMNS_MAX;

fn schema() -> TableSchema {
    TableSchema::new(TableName::new("shop", "orders"), KeyColumn::new("customer", KeyType::Text))
        .with_sort("at", KeyType::Text)
}

fn check_refused(schema: &TableSchema, kind: ErrorKind, part: &str) {
    let error = schema.check().unwrap_err();
    assert_eq!(error.kind(), kind);
    assert!(error.to_string().contains(part), "{error}");
}

#[test]
fn a_plain_schema_is_fine() {
    schema().check().unwrap();
    assert_eq!(schema().key_names().collect::<Vec<_>>(), ["customer", "at"]);
}

#[test]
fn keys_must_be_there_and_differ() {
    let mut none = schema();
    none.partition.clear();
    check_refused(&none, ErrorKind::Invalid, "no partition key");
    check_refused(&schema().with_sort("customer", KeyType::Text), ErrorKind::Invalid, "customer");
    let mut wide = schema();
    for n in 0..KEY_COLUMNS_MAX {
        wide = wide.with_sort(format!("c{n}"), KeyType::Text);
    }
    check_refused(&wide, ErrorKind::LimitExceeded, "key columns");
}

#[test]
fn index_names_must_differ() {
    let index = IndexSchema {
        name: "by_at".to_owned(),
        kind: IndexKind::Secondary,
        partition: vec![KeyColumn::new("at", KeyType::Text)],
        sort: Vec::new(),
        projected: Projected::All,
        state: IndexState::Public,
    };
    check_refused(
        &schema().with_index(index.clone()).with_index(index),
        ErrorKind::Invalid,
        "by_at",
    );
}
