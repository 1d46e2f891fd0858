//! Requests from nowhere, one after the other.
//!
//! Input: text, a line for each request: the operation, a space, the body. What the service gives
//! back in the end it must also take.

use serde_json::{Map, Value, json};
use shelfmark_dynamo::Face;

use super::{call, expect_fine, face, scan};

/// Most requests of one input.
const REQUESTS_MAX: usize = 24;

/// Most items that are put back.
const ITEMS_MAX: usize = 8;

/// Runs one input.
pub fn run(data: &[u8]) {
    let face = face();
    for line in data.split(|byte| *byte == b'\n').take(REQUESTS_MAX) {
        let space = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
        let (operation, body) = line.split_at(space);
        let operation = String::from_utf8_lossy(operation);
        call(&face, &operation, body.get(1..).unwrap_or_default());
    }
    for table in table_names(&face) {
        check_table(&face, &table);
    }
}

fn table_names(face: &Face) -> Vec<String> {
    let answer = expect_fine(face, "ListTables", &json!({}));
    let names = answer.get("TableNames").and_then(Value::as_array).expect("a list of names");
    names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

/// Reads a table, and puts back what is in it.
fn check_table(face: &Face, table: &str) {
    let description = expect_fine(face, "DescribeTable", &json!({"TableName": table}));
    let schema = description.get("Table").and_then(|table| table.get("KeySchema"));
    let schema = schema.and_then(Value::as_array).expect("a key schema");
    let names: Vec<&str> =
        schema.iter().filter_map(|column| column.get("AttributeName")?.as_str()).collect();
    let items = scan(face, table);
    for item in items.iter().take(ITEMS_MAX) {
        expect_fine(face, "PutItem", &json!({"TableName": table, "Item": item}));
        let key: Map<String, Value> =
            names.iter().map(|name| ((*name).to_owned(), item[*name].clone())).collect();
        let answer = expect_fine(face, "GetItem", &json!({"TableName": table, "Key": key}));
        assert_eq!(answer.get("Item"), Some(item));
    }
    assert_eq!(scan(face, table), items, "putting an item back changed something");
}
