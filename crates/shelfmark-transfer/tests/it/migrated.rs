//! Tables of one endpoint at another, with their definitions, and compared.

use serde_json::json;
use shelfmark_transfer::items::{ItemMigration, migrate_items};
use shelfmark_transfer::{ErrorKind, MigratedTable, PositionFile, Result};

use crate::side::{Side, flat_items, odd_items, with_control};

fn migrate(from: &Side, to: &Side, file: &PositionFile) -> Result<Vec<MigratedTable>> {
    let (from, to) = (from.connect(), to.connect());
    let what = ItemMigration { from: &from, to: &to, tables: Vec::new(), segments: 4 };
    with_control(|control| migrate_items(&what, file, control, &|_, _| {}))
}

#[test]
fn all_tables_arrive_and_a_call_that_failed_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let file = PositionFile::beside(&folder.path().join("store"), "migration");
    let (from, to) = (Side::new(), Side::new());
    for (table, items) in [("aaa", odd_items()), ("bbb", Vec::new()), ("ccc", flat_items())] {
        from.create(table);
        items.iter().for_each(|item| from.put(table, item));
    }
    let mut calls = 0;
    let tables = loop {
        calls += 1;
        to.fail_behind(Some(calls * 6));
        match migrate(&from, &to, &file) {
            Ok(tables) => break tables,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Unreachable, "{error}"),
        }
    };
    to.fail_behind(None);
    assert!(calls > 2);
    let rows: Vec<u64> = tables.iter().map(|own| own.sums.rows).collect();
    assert_eq!(rows, [20, 0, 40]);
    for table in ["aaa", "bbb", "ccc"] {
        assert_eq!(to.items(table), from.items(table));
        let request = json!({ "TableName": table });
        let shown = |side: &Side| side.call("DescribeTimeToLive", &request);
        assert_eq!(shown(&to), shown(&from));
    }
    assert!(!file.path().unwrap().exists());
}

#[test]
fn what_differs_is_told() {
    let (from, to) = (Side::new(), Side::new());
    let item = |number: usize| json!({ "pk": { "S": "a" }, "sk": { "N": number.to_string() } });
    for side in [&from, &to] {
        side.create("tab");
    }
    from.put("tab", &item(1));
    to.put("tab", &item(2));
    let error = migrate(&from, &to, &PositionFile::none()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Differs);
    assert!(error.to_string().contains("the source has 1 rows"), "{error}");
}

#[test]
fn another_table_of_the_name_is_refused() {
    let (from, to) = (Side::new(), Side::new());
    from.create("tab");
    to.call(
        "CreateTable",
        &json!({
            "TableName": "tab",
            "AttributeDefinitions": [{ "AttributeName": "pk", "AttributeType": "S" }],
            "KeySchema": [{ "AttributeName": "pk", "KeyType": "HASH" }],
            "BillingMode": "PAY_PER_REQUEST",
        }),
    );
    let error = migrate(&from, &to, &PositionFile::none()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}
