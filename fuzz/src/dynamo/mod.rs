//! The DynamoDB face: hostile requests, and expressions whose answers must agree with each other.
//!
//! What it is not: a check against the service. That is what the face's own scripts and the real
//! clients are for; here nothing may panic, nothing may be the server's fault, and what two requests
//! ask alike must be answered alike.

pub mod calls;
pub mod expressions;
pub mod statements;

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use serde_json::{Map, Value, json};
use shelfmark_dynamo::{Face, FaceOptions, RequestHead};
use shelfmark_engine::Engine;
use shelfmark_store::{Commit, Write};

use crate::bed;

/// The table that requests are made to: keys `h` and `r`, indexes `local_n` and `global_s`.
const TABLE: &str = "Things";

/// The rows of a store that has the tables and a few items of every type.
static BASE: LazyLock<Vec<(Bytes, Bytes)>> = LazyLock::new(base);

fn base() -> Vec<(Bytes, Bytes)> {
    let clock = bed::clock();
    let store = bed::store(&clock);
    let environment = bed::environment(&clock);
    let engine = Engine::open(Arc::clone(&store), environment.clone()).expect("it is new");
    let face = Face::new(engine, environment, FaceOptions::default());
    for table in tables() {
        expect_fine(&face, "CreateTable", &table);
    }
    for item in items() {
        expect_fine(&face, "PutItem", &json!({"TableName": TABLE, "Item": item}));
    }
    bed::dump(&*store)
}

/// Opens a face over tables with items in them.
fn face() -> Face {
    let clock = bed::clock();
    let store = bed::store(&clock);
    let rows = BASE.iter().cloned();
    let writes = rows.map(|(key, value)| Write::Put { key, value }).collect();
    store.commit(Commit::of(writes)).expect("it was in a store before");
    let environment = bed::environment(&clock);
    let engine = Engine::open(store, environment.clone()).expect("the rows are whole");
    Face::new(engine, environment, FaceOptions::default())
}

fn tables() -> [Value; 2] {
    let key = |name: &str, kind: &str| json!({"AttributeName": name, "KeyType": kind});
    let attribute = |name: &str, of: &str| json!({"AttributeName": name, "AttributeType": of});
    [
        json!({
            "TableName": TABLE, "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions":
                [attribute("h", "S"), attribute("r", "S"), attribute("n", "N"), attribute("s", "S")],
            "KeySchema": [key("h", "HASH"), key("r", "RANGE")],
            "LocalSecondaryIndexes": [{
                "IndexName": "local_n", "KeySchema": [key("h", "HASH"), key("n", "RANGE")],
                "Projection": {"ProjectionType": "ALL"}
            }],
            "GlobalSecondaryIndexes": [{
                "IndexName": "global_s", "KeySchema": [key("s", "HASH")],
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["a"]}
            }]
        }),
        json!({
            "TableName": "Numbers", "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [attribute("h", "N"), attribute("r", "B")],
            "KeySchema": [key("h", "HASH"), key("r", "RANGE")]
        }),
    ]
}

/// Items between which every type is, and every attribute that requests name.
fn items() -> [Value; 5] {
    [
        json!({"h": {"S": "a"}, "r": {"S": "1"}, "n": {"N": "1"}, "s": {"S": "x"}, "a": {"S": "b"}}),
        json!({"h": {"S": "a"}, "r": {"S": "2"}, "n": {"N": "-0.50"}, "a": {"SS": ["b", "c"]},
            "l": {"L": [{"N": "1"}, {"S": "b"}, {"L": []}]}}),
        json!({"h": {"S": "a"}, "r": {"S": "10"}, "n": {"N": "1E+20"}, "s": {"S": "x"},
            "m": {"M": {"a": {"N": "1"}, "l": {"L": [{"BOOL": true}]}, "é": {"NULL": true}}}}),
        json!({"h": {"S": "a"}, "r": {"S": "é"}, "a": {"NS": ["1", "2.0"]}, "l": {"BS": ["AA=="]},
            "m": {"M": {}}, "z": {"NULL": true}}),
        json!({"h": {"S": "b"}, "r": {"S": "1"}, "n": {"N": "1.0"}, "s": {"S": "y"},
            "a": {"B": "YmM="}, "z": {"BOOL": false}}),
    ]
}

/// Makes a request of bytes and checks what holds for every answer.
fn call(face: &Face, operation: &str, body: &[u8]) -> (u16, Map<String, Value>) {
    let reply = face.call(&RequestHead::operation(operation), body);
    let shown = String::from_utf8_lossy(&reply.body);
    let status = reply.status;
    assert!(status == 200 || (400..500).contains(&status), "{operation}: {status} {shown}");
    if status == 200 && reply.body.is_empty() {
        assert!(operation.ends_with("agResource"), "{operation} answers nothing");
        return (status, Map::new());
    }
    let answer = serde_json::from_slice(&reply.body);
    let Ok(Value::Object(answer)) = answer else { panic!("{operation}: no object: {shown}") };
    assert_eq!(answer.contains_key("__type"), status != 200, "{operation}: {status} {shown}");
    (status, answer)
}

/// Makes a request; `None` if it is refused.
fn asked(face: &Face, operation: &str, body: &Value) -> Option<Map<String, Value>> {
    let (status, answer) = call(face, operation, body.to_string().as_bytes());
    (status == 200).then_some(answer)
}

/// Makes a request that nothing is wrong with.
fn expect_fine(face: &Face, operation: &str, body: &Value) -> Map<String, Value> {
    let (status, answer) = call(face, operation, body.to_string().as_bytes());
    assert_eq!(status, 200, "{operation} {body}: {answer:?}");
    answer
}

/// Returns every item of a table.
fn scan(face: &Face, table: &str) -> Vec<Value> {
    items_of(expect_fine(face, "Scan", &json!({"TableName": table})))
}

/// Takes the items out of an answer.
fn items_of(mut answer: Map<String, Value>) -> Vec<Value> {
    match answer.remove("Items") {
        Some(Value::Array(items)) => items,
        other => panic!("no items but {other:?}"),
    }
}
