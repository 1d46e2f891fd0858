//! Limits, each at its last good value and at the first bad one.

use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::sync::Arc;

use serde_json::{Value, json};
use shelfmark_dynamo::RequestHead;
use shelfmark_engine::budget::{Budget, Room, SHARE_FREE_BYTES};

use crate::runner::Server;

/// A server with the table `Things`: partition key `h` (text), sort key `r` (text).
pub(crate) fn server() -> Server {
    let server = Server::new();
    let create = json!({
        "TableName": "Things",
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": "h", "AttributeType": "S"},
            {"AttributeName": "r", "AttributeType": "S"}
        ],
        "KeySchema": [
            {"AttributeName": "h", "KeyType": "HASH"},
            {"AttributeName": "r", "KeyType": "RANGE"}
        ]
    });
    assert_eq!(server.call("CreateTable", &create.to_string()).status, 200);
    server
}

/// Sends a request; returns the status and the body.
pub(crate) fn send(server: &Server, operation: &str, body: &Value) -> (u16, Value) {
    let reply = server.call(operation, &body.to_string());
    (reply.status, serde_json::from_slice(&reply.body).unwrap_or(Value::Null))
}

pub(crate) fn check_fine(server: &Server, operation: &str, body: &Value) -> Value {
    let (status, answer) = send(server, operation, body);
    assert_eq!(status, 200, "{operation}: {answer}");
    answer
}

pub(crate) fn check_refused(server: &Server, operation: &str, body: &Value, text: &str) {
    let (status, answer) = send(server, operation, body);
    let message = answer.get("message").or(answer.get("Message")).and_then(Value::as_str);
    assert_eq!(status, 400, "{operation}: {answer}");
    assert!(message.unwrap_or_default().contains(text), "{operation}: {answer}");
}

fn put(h: &str, r: &str, attributes: &Value) -> Value {
    let mut item = json!({"h": {"S": h}, "r": {"S": r}});
    if let (Some(item), Some(more)) = (item.as_object_mut(), attributes.as_object()) {
        item.extend(more.clone());
    }
    json!({"TableName": "Things", "Item": item})
}

#[test]
fn a_batch_of_reads_answers_what_there_is_room_for() {
    let server = server();
    for n in 0..10 {
        check_fine(&server, "PutItem", &put("a", &n.to_string(), &json!({"t": text(100_000)})));
    }
    let budget = Arc::new(Budget::new(4 << 20));
    let client = budget.client(Ipv4Addr::LOCALHOST.into(), true);
    let ask = |keys: &Value| {
        let room = Room::beside(&client, 0);
        let head = RequestHead { room: Some(&room), ..RequestHead::operation("BatchGetItem") };
        let body = json!({"RequestItems": {"Things": {"Keys": keys}}}).to_string();
        let reply = server.face.call(&head, body.as_bytes());
        assert_eq!(reply.status, 200);
        assert!(
            budget.taken() > reply.body.len() - SHARE_FREE_BYTES,
            "it is held until it is sent"
        );
        serde_json::from_slice::<Value>(&reply.body).unwrap()
    };
    let mut keys = json!(
        (0..10).map(|n| json!({"h": {"S": "a"}, "r": {"S": n.to_string()}})).collect::<Vec<_>>()
    );
    let (mut found, mut rounds) = (0, 0);
    while keys.is_array() {
        let answer = ask(&keys);
        found += answer["Responses"]["Things"].as_array().unwrap().len();
        keys = answer["UnprocessedKeys"]["Things"]["Keys"].clone();
        rounds += 1;
    }
    assert_eq!((found, rounds), (10, 2), "2 MiB of a client hold five items of 100,000 bytes");
    assert_eq!(budget.taken(), 0);
    // Not even one: whoever retries gets it no more.
    let tiny = Arc::new(Budget::new(500_000)).client(Ipv4Addr::LOCALHOST.into(), true);
    let room = Room::beside(&tiny, 0);
    let head = RequestHead { room: Some(&room), ..RequestHead::operation("BatchGetItem") };
    let body = r#"{"RequestItems": {"Things": {"Keys": [{"h": {"S": "a"}, "r": {"S": "1"}}]}}}"#;
    let reply = server.face.call(&head, body.as_bytes());
    let told = String::from_utf8_lossy(&reply.body).into_owned();
    assert!(reply.status == 400 && told.contains("raise --memory-limit"), "{told}");
}

fn text(length: usize) -> Value {
    json!({"S": "x".repeat(length)})
}

#[test]
fn items_to_the_byte() {
    let server = server();
    // "h" and "r" with one letter each are 4 bytes, "t" is one more.
    let fits = 409_600 - 5;
    check_fine(&server, "PutItem", &put("a", "b", &json!({"t": text(fits)})));
    check_refused(
        &server,
        "PutItem",
        &put("a", "b", &json!({"t": text(fits + 1)})),
        "Item size has exceeded the maximum allowed size",
    );
    let update = |value: Value| {
        json!({
            "TableName": "Things",
            "Key": {"h": {"S": "a"}, "r": {"S": "b"}},
            "UpdateExpression": "SET t = :t",
            "ExpressionAttributeValues": {":t": value}
        })
    };
    // An update is charged 3 bytes, 19 for the change, and what it writes, but not for the key.
    let charged = 409_600 - 3 - 19 - 1;
    check_fine(&server, "UpdateItem", &update(text(charged)));
    check_refused(
        &server,
        "UpdateItem",
        &update(text(charged + 1)),
        "Item size to update has exceeded the maximum allowed size",
    );
    let transaction = |length: usize| json!({"TransactItems": [{"Update": update(text(length))}]});
    check_fine(&server, "TransactWriteItems", &transaction(fits));
    check_refused(&server, "TransactWriteItems", &transaction(fits + 1), "[ValidationError]");
}

#[test]
fn keys_to_the_byte() {
    let server = server();
    let (h, r) = ("x".repeat(2_048), "y".repeat(1_024));
    check_fine(&server, "PutItem", &put(&h, &r, &json!({})));
    check_refused(&server, "PutItem", &put(&format!("{h}x"), &r, &json!({})), "Size of hashkey");
    check_refused(
        &server,
        "PutItem",
        &put(&h, &format!("{r}y"), &json!({})),
        "Aggregated size of all range keys",
    );
    let get = |h: &str| json!({"TableName": "Things", "Key": {"h": {"S": h}, "r": {"S": r}}});
    let found = check_fine(&server, "GetItem", &get(&h));
    assert_eq!(found.pointer("/Item/h/S"), Some(&json!(h)));
    check_refused(&server, "GetItem", &get(&format!("{h}x")), "Size of hashkey");
    let select = |condition: &str, values: &[&str]| {
        let values: Vec<Value> = values.iter().map(|value| json!({"S": value})).collect();
        let statement = format!("SELECT * FROM Things WHERE {condition}");
        json!({"Statement": statement, "Parameters": values})
    };
    let asked = select("h = ? AND r = ?", &[&h, &r]);
    let found = check_fine(&server, "ExecuteStatement", &asked);
    assert_eq!(found.pointer("/Items/0/h/S"), Some(&json!(h)));
    let (longer, later) = (format!("{h}x"), format!("{r}y"));
    for (condition, values, text) in [
        ("h = ?", vec![longer.as_str()], "Size of hashkey"),
        ("h IN (?, ?)", vec!["a", &longer], "Size of hashkey"),
        ("h = ? AND r = ?", vec!["a", &later], "Aggregated size of all range keys"),
        ("h = ? AND r >= ?", vec!["a", &later], "Aggregated size of all range keys"),
    ] {
        check_refused(&server, "ExecuteStatement", &select(condition, &values), text);
    }
}

#[test]
fn nesting_and_names() {
    let server = server();
    let nested =
        |levels: usize| (1..levels).fold(json!({"S": "x"}), |inner, _| json!({"L": [inner]}));
    check_fine(&server, "PutItem", &put("a", "b", &json!({"n": nested(32)})));
    check_refused(&server, "PutItem", &put("a", "b", &json!({"n": nested(33)})), "Nesting Levels");
    let named = |length: usize| put("a", "b", &json!({"n".repeat(length): {"S": "x"}}));
    check_fine(&server, "PutItem", &named(65_535));
    check_refused(&server, "PutItem", &named(65_536), "Attribute name is too large");
    let inner =
        |length: usize| put("a", "b", &json!({"m": {"M": {"n".repeat(length): {"S": "x"}}}}));
    check_fine(&server, "PutItem", &inner(65_535));
    check_refused(&server, "PutItem", &inner(65_536), "Attribute name is too large");
}

#[test]
fn batches_and_transactions() {
    let server = server();
    let puts = |count: usize| -> Vec<Value> {
        (0..count)
            .map(|number| {
                let put = put("a", &number.to_string(), &json!({}));
                json!({"PutRequest": {"Item": put.get("Item")}})
            })
            .collect()
    };
    let batch = |count: usize| json!({"RequestItems": {"Things": puts(count)}});
    check_fine(&server, "BatchWriteItem", &batch(25));
    check_refused(&server, "BatchWriteItem", &batch(26), "less than or equal to 25");

    let keys = |count: usize| -> Vec<Value> {
        (0..count).map(|number| json!({"h": {"S": "a"}, "r": {"S": number.to_string()}})).collect()
    };
    let gets = |count: usize| json!({"RequestItems": {"Things": {"Keys": keys(count)}}});
    let answer = check_fine(&server, "BatchGetItem", &gets(100));
    let found = answer.pointer("/Responses/Things").and_then(Value::as_array).map(Vec::len);
    assert_eq!(found, Some(25));
    check_refused(&server, "BatchGetItem", &gets(101), "less than or equal to 100");

    let writes = |count: usize| {
        let writes: Vec<Value> = keys(count)
            .into_iter()
            .map(|key| json!({"Delete": {"TableName": "Things", "Key": key}}))
            .collect();
        json!({"TransactItems": writes})
    };
    check_fine(&server, "TransactWriteItems", &writes(100));
    check_refused(&server, "TransactWriteItems", &writes(101), "less than or equal to 100");
    let mut with_token = writes(1);
    for (token, fine) in [("t".repeat(36), true), ("t".repeat(37), false)] {
        with_token["ClientRequestToken"] = json!(token);
        assert_eq!(send(&server, "TransactWriteItems", &with_token).0 == 200, fine, "{token}");
    }
}

#[test]
fn a_transaction_takes_four_megabytes() {
    let server = server();
    let puts = |count: usize| {
        let puts: Vec<Value> = (0..count)
            .map(|number| json!({"Put": put("a", &number.to_string(), &json!({"t": text(400_000)}))}))
            .collect();
        json!({"TransactItems": puts})
    };
    check_fine(&server, "TransactWriteItems", &puts(10));
    check_refused(&server, "TransactWriteItems", &puts(11), "4 MB");
}

#[test]
fn a_page_ends_at_one_megabyte_before_the_filter() {
    let server = server();
    for number in 0..4 {
        let item = put("a", &number.to_string(), &json!({"t": text(400_000)}));
        check_fine(&server, "PutItem", &item);
    }
    let mut query = json!({
        "TableName": "Things",
        "KeyConditionExpression": "h = :h",
        "FilterExpression": "attribute_not_exists(t)",
        "ExpressionAttributeValues": {":h": {"S": "a"}},
        "ReturnConsumedCapacity": "TOTAL"
    });
    let first = check_fine(&server, "Query", &query);
    let number = |answer: &Value, name: &str| answer.get(name).and_then(Value::as_u64);
    // The page ends with the item that crosses the limit.
    assert_eq!((number(&first, "Count"), number(&first, "ScannedCount")), (Some(0), Some(3)));
    assert_eq!(first.pointer("/LastEvaluatedKey/r/S"), Some(&json!("2")));
    assert_eq!(first.pointer("/ConsumedCapacity/CapacityUnits"), Some(&json!(146.5)));
    query["ExclusiveStartKey"] = first["LastEvaluatedKey"].clone();
    let second = check_fine(&server, "Query", &query);
    assert_eq!(number(&second, "ScannedCount"), Some(1));
    assert_eq!(second.get("LastEvaluatedKey"), None);
}

#[test]
fn a_batch_of_gets_answers_sixteen_megabytes_and_gives_the_rest_back() {
    let server = server();
    for number in 0..45 {
        let item = put("a", &format!("{number:03}"), &json!({"t": text(400_000)}));
        check_fine(&server, "PutItem", &item);
    }
    let keys: Vec<Value> =
        (0..45).map(|n| json!({"h": {"S": "a"}, "r": {"S": format!("{n:03}")}})).collect();
    let request = json!({"RequestItems": {"Things": {
        "Keys": keys,
        "ProjectionExpression": "#r",
        "ExpressionAttributeNames": {"#r": "r"},
        "ConsistentRead": true
    }}});
    let answer = check_fine(&server, "BatchGetItem", &request);
    let found = answer.pointer("/Responses/Things").and_then(Value::as_array).map_or(0, Vec::len);
    let rest = answer.pointer("/UnprocessedKeys/Things").unwrap();
    let left = rest.get("Keys").and_then(Value::as_array).map_or(0, Vec::len);
    assert_eq!((found, left), (42, 3));
    assert_eq!(rest.pointer("/ExpressionAttributeNames/#r"), Some(&json!("r")));
    assert_eq!(rest.get("ConsistentRead"), Some(&json!(true)));
    // What is given back is a request.
    let again = json!({"RequestItems": answer.get("UnprocessedKeys")});
    let answer = check_fine(&server, "BatchGetItem", &again);
    assert_eq!(
        answer.pointer("/Responses/Things").and_then(Value::as_array).map(Vec::len),
        Some(3)
    );
    assert_eq!(answer.get("UnprocessedKeys"), Some(&json!({})));
}

#[test]
fn a_large_batch_is_written_whole() {
    let server = server();
    let puts: Vec<Value> = (0..25)
        .map(|number| {
            let put = put("a", &format!("{number:03}"), &json!({"t": text(400_000)}));
            json!({"PutRequest": {"Item": put.get("Item")}})
        })
        .collect();
    let request = json!({"RequestItems": {"Things": puts}, "ReturnConsumedCapacity": "TOTAL"});
    let answer = check_fine(&server, "BatchWriteItem", &request);
    assert_eq!(answer.get("UnprocessedItems"), Some(&json!({})));
    let units = answer.pointer("/ConsumedCapacity/0/CapacityUnits");
    assert_eq!(units, Some(&json!(25.0 * 391.0)));
    let get = json!({"TableName": "Things", "Key": {"h": {"S": "a"}, "r": {"S": "024"}}});
    assert!(check_fine(&server, "GetItem", &get).get("Item").is_some());
}

#[test]
fn expressions_count_their_bytes_before_names_are_replaced() {
    let server = server();
    let mut condition = "attribute_exists(h)".to_owned();
    while condition.len() < 4_096 {
        condition.push(' ');
    }
    let mut delete = json!({
        "TableName": "Things",
        "Key": {"h": {"S": "a"}, "r": {"S": "b"}},
        "ConditionExpression": condition
    });
    check_refused(&server, "DeleteItem", &delete, "The conditional request failed");
    condition.push(' ');
    delete["ConditionExpression"] = json!(condition);
    check_refused(&server, "DeleteItem", &delete, "Expression size has exceeded");
    // A name of 65,535 bytes behind three characters of the expression.
    delete["ConditionExpression"] = json!("attribute_not_exists(#n)");
    delete["ExpressionAttributeNames"] = json!({"#n": "n".repeat(65_535)});
    check_fine(&server, "DeleteItem", &delete);
    delete["ExpressionAttributeNames"] = json!({"#n": "n".repeat(65_536)});
    check_refused(&server, "DeleteItem", &delete, "Attribute name is too large");
    let mut names = serde_json::Map::new();
    let mut used = String::new();
    for number in 0..34 {
        names.insert(format!("#n{number}"), json!("n".repeat(65_000)));
        let _ = write!(used, "attribute_not_exists(#n{number}) AND ");
    }
    delete["ConditionExpression"] = json!(format!("{used}attribute_not_exists(a1)"));
    delete["ExpressionAttributeNames"] = Value::Object(names);
    check_refused(&server, "DeleteItem", &delete, "ExpressionAttributeNames exceeds max size");
}

/// Source: Developer Guide, "Detecting and correcting index key violations", read 2026-11.
#[test]
fn items_that_cannot_be_in_a_new_index_are_left_out_of_it() {
    let server = server();
    let items = [
        ("fits", text(2_048), json!({"S": "a"})),
        ("too long", text(2_049), json!({"S": "a"})),
        ("much too long", text(100_000), json!({"S": "a"})),
        ("of another type", json!({"N": "7"}), json!({"S": "a"})),
        ("empty", text(0), json!({"S": "a"})),
        ("its range fits", text(1), text(1_024)),
        ("its range is too long", text(1), text(1_025)),
        ("its range is empty", text(1), text(0)),
    ];
    for (h, x, y) in &items {
        check_fine(&server, "PutItem", &put(h, "1", &json!({"x": x, "y": y})));
    }
    let create = json!({
        "TableName": "Things",
        "AttributeDefinitions": [
            {"AttributeName": "x", "AttributeType": "S"},
            {"AttributeName": "y", "AttributeType": "S"}
        ],
        "GlobalSecondaryIndexUpdates": [{"Create": {
            "IndexName": "by_x",
            "KeySchema": [
                {"AttributeName": "x", "KeyType": "HASH"},
                {"AttributeName": "y", "KeyType": "RANGE"}
            ],
            "Projection": {"ProjectionType": "KEYS_ONLY"}
        }}]
    });
    check_fine(&server, "UpdateTable", &create);
    let scan = json!({"TableName": "Things", "IndexName": "by_x", "ProjectionExpression": "h"});
    let found = check_fine(&server, "Scan", &scan);
    let mut found: Vec<_> =
        found["Items"].as_array().unwrap().iter().map(|i| &i["h"]["S"]).collect();
    found.sort_by_key(|h| h.as_str());
    assert_eq!(found, ["fits", "its range fits"]);

    // From now on such items are not written any more, even if that attribute stays as it is.
    let update = |h: &str, expression: &str| {
        json!({
            "TableName": "Things",
            "Key": {"h": {"S": h}, "r": {"S": "1"}},
            "UpdateExpression": expression,
            "ExpressionAttributeValues": {":s": {"S": "s"}}
        })
    };
    let hash = "Size of hashkey has exceeded the maximum size limit of2048 bytes";
    let range = "Aggregated size of all range keys has exceeded the size limit of 1024 bytes";
    let refused = [
        ("too long", hash),
        ("of another type", "Type mismatch for Index Key x Expected: S Actual: N IndexName: by_x"),
        ("empty", "cannot contain an empty string value. IndexName: by_x, IndexKey: x"),
        ("its range is too long", range),
    ];
    for (h, text) in refused {
        check_refused(&server, "UpdateItem", &update(h, "SET z = :s"), text);
    }
    check_fine(&server, "UpdateItem", &update("its range is too long", "SET y = :s"));
    check_fine(&server, "UpdateItem", &update("fits", "SET z = :s"));
    let delete = json!({"TableName": "Things", "Key": {"h": {"S": "too long"}, "r": {"S": "1"}}});
    check_fine(&server, "DeleteItem", &delete);
    let found = check_fine(&server, "Scan", &scan);
    assert_eq!(found["Count"], 3, "{found}");
}
