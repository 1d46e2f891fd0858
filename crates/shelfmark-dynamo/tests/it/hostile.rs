//! Hostile requests: each is refused, and the same face answers the next one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use shelfmark_dynamo::RequestHead;
use shelfmark_engine::weight::{INLINE_SIZE_BYTES_MAX, Weight};

use crate::limits::{check_fine, check_refused, send, server};
use crate::runner::Server;

/// Sends bytes that need not be JSON; whatever comes back is an error of the client's, and the
/// server still answers.
fn check_survives(server: &Server, operation: &str, body: &[u8]) {
    let reply = server.face.call(&RequestHead::operation(operation), body);
    let shown = String::from_utf8_lossy(&reply.body);
    assert!((400..500).contains(&reply.status), "{operation}: {} {shown}", reply.status);
    check_fine(server, "ListTables", &json!({}));
}

#[test]
fn expressions_of_nothing_but_parentheses() {
    let server = server();
    let parentheses = "(".repeat(4_096);
    for (operation, member) in [
        ("PutItem", "ConditionExpression"),
        ("UpdateItem", "UpdateExpression"),
        ("DeleteItem", "ConditionExpression"),
        ("GetItem", "ProjectionExpression"),
        ("Query", "KeyConditionExpression"),
        ("Query", "FilterExpression"),
        ("Scan", "FilterExpression"),
    ] {
        let body = json!({
            "TableName": "Things",
            "Key": {"h": {"S": "a"}, "r": {"S": "b"}},
            "Item": {"h": {"S": "a"}, "r": {"S": "b"}},
            member: parentheses
        });
        check_survives(&server, operation, body.to_string().as_bytes());
    }
}

#[test]
fn bodies_that_are_no_json() {
    let server = server();
    for body in [
        &b""[..],
        b"null",
        b"[]",
        b"{\"TableName\":\"Things\"",
        b"{\"TableName\":\"\xff\"}",
        b"{\"TableName\":\"\\ud800\"}",
        b"{\"TableName\":\"Things\"} trailing",
        b"\xef\xbb\xbf{}",
    ] {
        for operation in shelfmark_dynamo::OPERATIONS {
            check_survives(&server, operation, body);
        }
    }
    for open in ["[", "{\"a\":", "{\"M\":{\"a\":"] {
        let deep = format!("{{\"Item\":{}", open.repeat(100_000));
        for operation in shelfmark_dynamo::OPERATIONS {
            check_survives(&server, operation, deep.as_bytes());
        }
    }
}

#[test]
fn numbers_that_are_none_and_numbers_that_are_long() {
    let server = server();
    for number in [
        "1E+999999999",
        "-1E-999999999",
        "NaN",
        "Infinity",
        "-Infinity",
        "0x10",
        "",
        " ",
        "1 ",
        "1e",
        "1_000",
        "١",
        "--1",
        &"9".repeat(100_000),
        &format!("0.{}1", "0".repeat(100_000)),
    ] {
        let item = json!({"h": {"S": "a"}, "r": {"S": "b"}, "n": {"N": number}});
        let body = json!({"TableName": "Things", "Item": item}).to_string();
        check_survives(&server, "PutItem", body.as_bytes());
        let values = json!({"TableName": "Things", "FilterExpression": "a1 = :n", "ExpressionAttributeValues": {":n": {"N": number}}});
        check_survives(&server, "Scan", values.to_string().as_bytes());
    }
}

#[test]
fn sets_compared_with_everything() {
    let server = server();
    let item = json!({
        "h": {"S": "a"}, "r": {"S": "b"}, "ss": {"SS": ["x", "y"]}, "ns": {"NS": ["1", "2"]},
        "bs": {"BS": ["AA=="]}, "l": {"L": []}, "m": {"M": {}}, "z": {"NULL": true}
    });
    check_fine(&server, "PutItem", &json!({"TableName": "Things", "Item": item}));
    let values = [
        json!({"SS": ["y", "x"]}),
        json!({"NS": ["2.0", "1"]}),
        json!({"BS": ["AA=="]}),
        json!({"S": "x"}),
        json!({"L": [{"SS": ["x"]}]}),
        json!({"M": {"a": {"NS": ["1"]}}}),
        json!({"NULL": true}),
    ];
    for attribute in ["ss", "ns", "bs", "l", "m", "z", "absent"] {
        for value in &values {
            for filter in ["#a = :v", "#a <> :v", "#a IN (:v)", "contains(#a, :v)", "size(#a) = :v"]
            {
                let scan = json!({
                    "TableName": "Things",
                    "FilterExpression": filter,
                    "ExpressionAttributeNames": {"#a": attribute},
                    "ExpressionAttributeValues": {":v": value}
                });
                check_fine(&server, "Scan", &scan);
            }
        }
    }
    let equal = json!({
        "TableName": "Things", "FilterExpression": "ns = :v", "Select": "COUNT",
        "ExpressionAttributeValues": {":v": {"NS": ["2.0", "1"]}}
    });
    assert_eq!(check_fine(&server, "Scan", &equal).get("Count"), Some(&json!(1)));
}

#[test]
fn keys_with_odd_characters_are_keys() {
    let server = server();
    for key in ["\u{0}", "a\u{0}b", "a\u{0}", "😀", "\u{10FFFF}", "~", "\u{7f}", "a\"b\\c"] {
        let item = json!({"h": {"S": key}, "r": {"S": key}});
        check_fine(&server, "PutItem", &json!({"TableName": "Things", "Item": item}));
        let answer = check_fine(&server, "GetItem", &json!({"TableName": "Things", "Key": item}));
        assert_eq!(answer.get("Item"), Some(&item));
        let query = json!({
            "TableName": "Things", "KeyConditionExpression": "h = :k AND begins_with(r, :k)",
            "ExpressionAttributeValues": {":k": {"S": key}}
        });
        assert_eq!(check_fine(&server, "Query", &query).get("Count"), Some(&json!(1)), "{key:?}");
    }
}

#[test]
fn starting_keys_from_elsewhere() {
    let server = server();
    for start in [
        json!({}),
        json!({"h": {"S": "a"}}),
        json!({"h": {"S": "a"}, "r": {"N": "1"}}),
        json!({"h": {"S": ""}, "r": {"S": ""}, "x": {"S": ""}}),
        json!({"h": {"L": []}, "r": {"M": {}}}),
        json!({"id": {"S": "a"}, "sort": {"S": "b"}}),
        json!({"h": {"S": "b"}, "r": {"S": "b"}}),
    ] {
        let query = json!({
            "TableName": "Things", "KeyConditionExpression": "h = :h",
            "ExpressionAttributeValues": {":h": {"S": "a"}}, "ExclusiveStartKey": start
        });
        check_refused(&server, "Query", &query, "starting key");
    }
    // A key that does not exist is a position all the same.
    let scan =
        json!({"TableName": "Things", "ExclusiveStartKey": {"h": {"S": "no"}, "r": {"S": "no"}}});
    assert_eq!(check_fine(&server, "Scan", &scan).get("Count"), Some(&json!(0)));
}

#[test]
fn requests_that_probe_for_limits() {
    let server = server();
    let long = "x".repeat(2_000_000);
    for (operation, body) in [
        ("DescribeTable", json!({"TableName": long})),
        ("ListTables", json!({"ExclusiveStartTableName": long})),
        ("Query", json!({"TableName": "Things", "IndexName": long})),
        ("PutItem", json!({"TableName": "Things", "Item": {"h": {"S": long}, "r": {"S": "b"}}})),
        ("TagResource", json!({"ResourceArn": long, "Tags": [{"Key": long, "Value": long}]})),
        ("Scan", json!({"TableName": "Things", "FilterExpression": long})),
        (
            "Scan",
            json!({"TableName": "Things", "FilterExpression": "a1 = :v", "ExpressionAttributeValues": {":v": {"S": "x".repeat(3_000_000)}}}),
        ),
        ("TransactWriteItems", json!({"TransactItems": [], "ClientRequestToken": long})),
    ] {
        check_survives(&server, operation, body.to_string().as_bytes());
    }
    let many: Vec<Value> = (0..100_000).map(|_| json!({"PutRequest": {}})).collect();
    let body = json!({"RequestItems": {"Things": many}}).to_string();
    check_survives(&server, "BatchWriteItem", body.as_bytes());
    let too_large = vec![b' '; 16 * 1024 * 1024 + 1];
    let reply = server.face.call(&RequestHead::operation("ListTables"), &too_large);
    assert_eq!(reply.status, 413);
    let names: serde_json::Map<String, Value> =
        (0..50_000).map(|number| (format!("#n{number}"), json!("x"))).collect();
    let body = json!({"TableName": "Things", "ProjectionExpression": "a1", "ExpressionAttributeNames": names});
    check_survives(&server, "Scan", body.to_string().as_bytes());
}

#[test]
fn requests_without_an_operation() {
    let server = Server::new();
    for target in [
        None,
        Some(""),
        Some("GetItem"),
        Some("DynamoDB_20120810."),
        Some("DynamoDB_20120810.getItem"),
        Some("DynamoDB_20111205.GetItem"),
        Some("DynamoDBStreams_20120810.ListTables"),
        Some("DynamoDB_20120810.ListStreams"),
    ] {
        let head = RequestHead { target, ..RequestHead::default() };
        let reply = server.face.call(&head, b"{}");
        assert_eq!(reply.status, 400);
        let expected = r#"{"__type":"com.amazon.coral.service#UnknownOperationException","message":"An unknown operation was requested."}"#;
        assert_eq!(&reply.body[..], expected.as_bytes(), "{target:?}");
    }
    let head = RequestHead::target("DynamoDBStreams_20120810.ListStreams");
    assert_eq!(server.face.call(&head, b"{}").status, 200);
    let head = RequestHead::target("DynamoDB_20120810.ListTables");
    assert_eq!(server.face.call(&head, b"{}").status, 200);
    let weight = |operation| server.face.weigh(&RequestHead::operation(operation), 100);
    let weights = ["GetItem", "Query", "Scan", "UpdateTable"].map(weight);
    assert_eq!(weights, [Weight::Light, Weight::Page, Weight::Heavy, Weight::Waiting]);
    assert_eq!(server.face.weigh(&head, INLINE_SIZE_BYTES_MAX + 1), Weight::Heavy);
}

/// Many transactions over the same items in both orders: none hangs, none is lost, and the sum of
/// all accounts stays what it was.
#[test]
fn transactions_in_both_orders() {
    const CLIENTS: u64 = 4;
    const TRANSFERS: u64 = 25;
    const ACCOUNTS: u64 = 6;
    let server = server();
    for account in 0..ACCOUNTS {
        let item = json!({"h": {"S": account.to_string()}, "r": {"S": "-"}, "euro": {"N": "1000"}});
        check_fine(&server, "PutItem", &json!({"TableName": "Things", "Item": item}));
    }
    let server = Arc::new(server);
    let done = Arc::new(AtomicU64::new(0));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let (server, done) = (Arc::clone(&server), Arc::clone(&done));
            shelfmark_store::threads::spawn(&format!("client-{client}"), move || {
                for transfer in 0..TRANSFERS {
                    let from = (client + transfer) % ACCOUNTS;
                    let to = (client * 5 + transfer * 7 + 1) % ACCOUNTS;
                    if from != to && transfer_one(&server, from, to) {
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                }
            })
            .unwrap()
        })
        .collect();
    for client in clients {
        client.join().unwrap();
    }
    assert!(done.load(Ordering::Relaxed) > 0);
    let scan = check_fine(&server, "Scan", &json!({"TableName": "Things"}));
    let items = scan.get("Items").and_then(Value::as_array).unwrap();
    let euro = |item: &Value| -> i64 {
        item.pointer("/euro/N").and_then(Value::as_str).unwrap().parse().unwrap()
    };
    assert_eq!(items.iter().map(euro).sum::<i64>(), 6_000);
}

fn transfer_one(server: &Server, from: u64, to: u64) -> bool {
    let change = |account: u64, sign: &str| {
        json!({"Update": {
            "TableName": "Things",
            "Key": {"h": {"S": account.to_string()}, "r": {"S": "-"}},
            "UpdateExpression": format!("SET euro = euro {sign} :one"),
            "ExpressionAttributeValues": {":one": {"N": "1"}}
        }})
    };
    let (status, answer) = send(
        server,
        "TransactWriteItems",
        &json!({"TransactItems": [change(from, "-"), change(to, "+")]}),
    );
    let cancelled = answer.get("__type").and_then(Value::as_str).unwrap_or_default();
    assert!(status == 200 || cancelled.ends_with("TransactionCanceledException"), "{answer}");
    status == 200
}
