//! Writes the status columns of `docs/compat-dynamodb.md` from what the face answers.
//!
//! `UPDATE_COMPAT=1` rewrites them; otherwise a column that says something else fails the test.

use std::path::PathBuf;

use serde_json::{Value, json};
use shelfmark_store::vfs;

use crate::limits::{check_fine, send, server};
use crate::runner::Server;

/// Every operation of the service model of botocore 1.44.5, and the four of DynamoDB Streams.
const SERVICE: &str = "BatchExecuteStatement BatchGetItem BatchWriteItem CancelBulkOperation \
    CreateBackup CreateGlobalTable CreateTable DeleteBackup DeleteItem DeleteResourcePolicy \
    DeleteTable DescribeBackup DescribeBulkOperation DescribeContinuousBackups \
    DescribeContributorInsights DescribeEndpoints DescribeExport DescribeGlobalTable \
    DescribeGlobalTableSettings DescribeImport DescribeKinesisStreamingDestination DescribeLimits \
    DescribeStream DescribeTable DescribeTableReplicaAutoScaling DescribeTimeToLive \
    DisableKinesisStreamingDestination EnableKinesisStreamingDestination ExecuteStatement \
    ExecuteTransaction ExportTableToPointInTime GetItem GetRecords GetResourcePolicy \
    GetShardIterator ImportTable ListBackups ListBulkOperations ListContributorInsights ListExports \
    ListGlobalTables ListImports ListStreams ListTables ListTagsOfResource PutItem \
    PutResourcePolicy Query RestoreTableFromBackup RestoreTableToPointInTime Scan SearchVectors \
    StartBulkPutItems TagResource TransactGetItems TransactWriteItems UntagResource \
    UpdateContinuousBackups UpdateContributorInsights UpdateGlobalTable UpdateGlobalTableSettings \
    UpdateItem UpdateKinesisStreamingDestination UpdateTable UpdateTableReplicaAutoScaling \
    UpdateTimeToLive";

type Probe = fn(&Server) -> bool;

/// Each feature of the document, and a question whose answer is its status.
const FEATURES: &[(&str, Probe)] = &[
    ("condition expressions", |server| {
        let put = json!({"TableName": "Things", "Item": key("a"), "ConditionExpression": "attribute_not_exists(h)"});
        send(server, "PutItem", &put).0 == 200
            && fails(server, "PutItem", &put, "ConditionalCheckFailed")
    }),
    ("update expressions", |server| {
        let update = json!({
            "TableName": "Things", "Key": key("a"), "ReturnValues": "UPDATED_NEW",
            "UpdateExpression": "SET l = list_append(if_not_exists(l, :l), :l) ADD n :n",
            "ExpressionAttributeValues": {":l": {"L": [{"S": "x"}]}, ":n": {"N": "2"}}
        });
        let expected = json!({"l": {"L": [{"S": "x"}, {"S": "x"}]}, "n": {"N": "2"}});
        send(server, "UpdateItem", &update).1.get("Attributes") == Some(&expected)
    }),
    ("projection expressions", |server| {
        put(server, "a", json!({"m": {"M": {"x": {"S": "1"}, "y": {"S": "2"}}}}));
        let get = json!({"TableName": "Things", "Key": key("a"), "ProjectionExpression": "m.x"});
        send(server, "GetItem", &get).1.get("Item") == Some(&json!({"m": {"M": {"x": {"S": "1"}}}}))
    }),
    ("filter expressions", |server| {
        put(server, "a", json!({"n": {"N": "1"}}));
        put(server, "b", json!({"n": {"N": "2"}}));
        let scan = json!({"TableName": "Things", "FilterExpression": "n > :n", "ExpressionAttributeValues": {":n": {"N": "1"}}});
        let page = send(server, "Scan", &scan).1;
        (page.get("Count"), page.get("ScannedCount")) == (Some(&json!(1)), Some(&json!(2)))
    }),
    ("reserved words", |server| {
        let scan = json!({"TableName": "Things", "FilterExpression": "attribute_exists(zone)"});
        fails(server, "Scan", &scan, "Validation")
    }),
    ("legacy parameters", |server| {
        put(server, "a", json!({}));
        let equal = json!({"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]});
        let query = json!({"TableName": "Things", "KeyConditions": {"h": equal}});
        let update = json!({"TableName": "Things", "Key": key("a"), "AttributeUpdates": {"n": {"Value": {"N": "1"}}}, "Expected": {"n": {"Exists": false}}});
        send(server, "Query", &query).1.get("Count") == Some(&json!(1))
            && send(server, "UpdateItem", &update).0 == 200
    }),
    ("`ReturnValues`, all five", |server| {
        ["NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"].iter().all(|returns| {
            let update = json!({"TableName": "Things", "Key": key("a"), "UpdateExpression": "ADD n :n", "ExpressionAttributeValues": {":n": {"N": "1"}}, "ReturnValues": returns});
            let (status, answer) = send(server, "UpdateItem", &update);
            status == 200 && (answer.get("Attributes").is_some() || returns.ends_with('E') || returns.ends_with("OLD"))
        })
    }),
    ("`ReturnValuesOnConditionCheckFailure`", |server| {
        put(server, "a", json!({"n": {"N": "1"}}));
        let put = json!({"TableName": "Things", "Item": key("a"), "ConditionExpression": "attribute_not_exists(h)", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"});
        send(server, "PutItem", &put).1.pointer("/Item/n/N") == Some(&json!("1"))
    }),
    ("`ReturnConsumedCapacity` with indexes", |server| {
        let put = json!({"TableName": "Indexed", "Item": {"id": {"S": "a"}, "g": {"S": "x"}}, "ReturnConsumedCapacity": "INDEXES"});
        send(server, "PutItem", &put)
            .1
            .pointer("/ConsumedCapacity/GlobalSecondaryIndexes/by_g/CapacityUnits")
            == Some(&json!(1.0))
    }),
    ("`ReturnItemCollectionMetrics`", |server| {
        let put = json!({"TableName": "Local", "Item": {"h": {"S": "a"}, "r": {"S": "a"}}, "ReturnItemCollectionMetrics": "SIZE"});
        send(server, "PutItem", &put).1.get("ItemCollectionMetrics").is_some()
    }),
    ("global indexes", |server| {
        indexed(server, "a", Some("x"));
        count(server, &json!({"TableName": "Indexed", "IndexName": "by_g"})) == 1
    }),
    ("sparse indexes", |server| {
        indexed(server, "a", None);
        count(server, &json!({"TableName": "Indexed", "IndexName": "by_g"})) == 0
    }),
    ("local indexes", |server| {
        let put = json!({"TableName": "Local", "Item": {"h": {"S": "a"}, "r": {"S": "a"}, "l": {"N": "1"}, "more": {"S": "x"}}});
        let query = json!({"TableName": "Local", "IndexName": "by_l", "Select": "ALL_ATTRIBUTES", "ConsistentRead": true, "KeyConditionExpression": "h = :h", "ExpressionAttributeValues": {":h": {"S": "a"}}});
        send(server, "PutItem", &put).0 == 200
            && send(server, "Query", &query).1.pointer("/Items/0/more/S") == Some(&json!("x"))
    }),
    ("multi-attribute index keys", |server| {
        let hash = |name: &str| json!({"AttributeName": name, "KeyType": "HASH"});
        let text = |name: &str| json!({"AttributeName": name, "AttributeType": "S"});
        let create = json!({
            "TableName": "Wide", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [hash("id")],
            "AttributeDefinitions": [text("id"), text("a1"), text("b1")],
            "GlobalSecondaryIndexes": [{"IndexName": "by_both", "KeySchema": [hash("a1"), hash("b1")], "Projection": {"ProjectionType": "ALL"}}]
        });
        send(server, "CreateTable", &create).0 == 200
    }),
    ("index added to a table with items", |server| {
        put(server, "a", json!({"g": {"S": "x"}}));
        let update = json!({
            "TableName": "Things", "AttributeDefinitions": [{"AttributeName": "g", "AttributeType": "S"}],
            "GlobalSecondaryIndexUpdates": [{"Create": {"IndexName": "late", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}}]
        });
        send(server, "UpdateTable", &update).0 == 200
            && count(server, &json!({"TableName": "Things", "IndexName": "late"})) == 1
    }),
    ("parallel scan", |server| {
        (0..20).for_each(|number| indexed(server, &number.to_string(), None));
        let segment = |segment: u64| {
            count(server, &json!({"TableName": "Indexed", "Segment": segment, "TotalSegments": 4}))
        };
        (0..4).map(segment).sum::<u64>() == 20
    }),
    ("a starting key of another segment is refused", |server| {
        let scan = |segment: u64| json!({"TableName": "Indexed", "Segment": segment, "TotalSegments": 2, "ExclusiveStartKey": {"id": {"S": "a"}}});
        (0..2).filter(|segment| send(server, "Scan", &scan(*segment)).0 == 400).count() == 1
    }),
    ("paging from an item that is gone", |server| {
        ["a", "b", "c"].iter().for_each(|r| put(server, r, json!({})));
        check_fine(server, "DeleteItem", &json!({"TableName": "Things", "Key": key("b")}));
        count(server, &json!({"TableName": "Things", "ExclusiveStartKey": key("b")})) <= 2
    }),
    ("client request tokens", |server| {
        let transaction = |by: &str| json!({"ClientRequestToken": "once", "TransactItems": [{"Update": {"TableName": "Things", "Key": key("a"), "UpdateExpression": "ADD n :n", "ExpressionAttributeValues": {":n": {"N": by}}}}]});
        let twice = (0..2).all(|_| send(server, "TransactWriteItems", &transaction("1")).0 == 200);
        let get = json!({"TableName": "Things", "Key": key("a")});
        twice
            && send(server, "GetItem", &get).1.pointer("/Item/n/N") == Some(&json!("1"))
            && fails(server, "TransactWriteItems", &transaction("2"), "IdempotentParameterMismatch")
    }),
    ("cancellation reasons in order", |server| {
        let check = json!({"ConditionCheck": {"TableName": "Things", "Key": key("b"), "ConditionExpression": "attribute_exists(h)"}});
        let put = json!({"Put": {"TableName": "Things", "Item": key("a")}});
        let answer = send(server, "TransactWriteItems", &json!({"TransactItems": [put, check]})).1;
        answer.pointer("/CancellationReasons/0/Code") == Some(&json!("None"))
            && answer.pointer("/CancellationReasons/1/Code")
                == Some(&json!("ConditionalCheckFailed"))
    }),
    ("tables by ARN", |server| {
        let name = "arn:aws:dynamodb:eu-central-1:123456789012:table/Things";
        send(server, "DescribeTable", &json!({"TableName": name})).0 == 200
    }),
    ("deletion protection", |server| {
        let protect = json!({"TableName": "Things", "DeletionProtectionEnabled": true});
        send(server, "UpdateTable", &protect).0 == 200
            && fails(server, "DeleteTable", &json!({"TableName": "Things"}), "Validation")
    }),
    ("tags", |server| {
        let arn = "arn:aws:dynamodb:local:000000000000:table/Things";
        let tag = json!({"ResourceArn": arn, "Tags": [{"Key": "k", "Value": "v"}]});
        send(server, "TagResource", &tag).0 == 200
            && send(server, "ListTagsOfResource", &json!({"ResourceArn": arn}))
                .1
                .pointer("/Tags/0/Value")
                == Some(&json!("v"))
    }),
    ("time to live", |server| {
        let enable = json!({"TableName": "Things", "TimeToLiveSpecification": {"Enabled": true, "AttributeName": "until"}});
        let describe = json!({"TableName": "Things"});
        send(server, "UpdateTimeToLive", &enable).0 == 200
            && send(server, "DescribeTimeToLive", &describe)
                .1
                .pointer("/TimeToLiveDescription/TimeToLiveStatus")
                == Some(&json!("ENABLED"))
    }),
    ("empty strings that are no keys", |server| {
        put(server, "a", json!({"empty": {"S": ""}}));
        send(server, "GetItem", &json!({"TableName": "Things", "Key": key("a")}))
            .1
            .pointer("/Item/empty/S")
            == Some(&json!(""))
    }),
    ("exact item count of small tables", |server| {
        (0..20).for_each(|number| indexed(server, &number.to_string(), None));
        send(server, "DescribeTable", &json!({"TableName": "Indexed"}))
            .1
            .pointer("/Table/ItemCount")
            == Some(&json!(20))
    }),
    ("exact item count of large tables", |server| {
        (0..6).for_each(|number| {
            put(server, &number.to_string(), json!({"t": {"S": "x".repeat(390_000)}}))
        });
        send(server, "DescribeTable", &json!({"TableName": "Things"})).1.pointer("/Table/ItemCount")
            == Some(&json!(6))
    }),
    ("item count of indexes", |server| {
        indexed(server, "a", Some("x"));
        send(server, "DescribeTable", &json!({"TableName": "Indexed"}))
            .1
            .pointer("/Table/GlobalSecondaryIndexes/0/ItemCount")
            == Some(&json!(1))
    }),
    ("streams", |server| {
        creates(
            server,
            &json!({"StreamSpecification": {"StreamEnabled": true, "StreamViewType": "KEYS_ONLY"}}),
        )
    }),
    ("PartiQL", |server| {
        send(server, "ExecuteStatement", &json!({"Statement": "SELECT * FROM Things"})).0 == 200
    }),
    ("vector indexes", |server| {
        let index = json!({"IndexName": "near", "VectorAttribute": {"AttributeName": "v"}, "Dimensions": 2,
            "DistanceFunction": "COSINE", "Projection": {"ProjectionType": "ALL"}});
        creates(server, &json!({"VectorIndexes": [index]}))
    }),
    ("resource policies", |server| {
        creates(server, &json!({"ResourcePolicy": "{\"Version\": \"2012-10-17\"}"}))
    }),
];

fn key(r: &str) -> Value {
    json!({"h": {"S": "a"}, "r": {"S": r}})
}

fn put(server: &Server, r: &str, attributes: Value) {
    let mut item = key(r);
    if let (Some(item), Value::Object(more)) = (item.as_object_mut(), attributes) {
        item.extend(more);
    }
    check_fine(server, "PutItem", &json!({"TableName": "Things", "Item": item}));
}

fn indexed(server: &Server, id: &str, g: Option<&str>) {
    let item = match g {
        Some(g) => json!({"id": {"S": id}, "g": {"S": g}}),
        None => json!({"id": {"S": id}}),
    };
    check_fine(server, "PutItem", &json!({"TableName": "Indexed", "Item": item}));
}

fn count(server: &Server, scan: &Value) -> u64 {
    check_fine(server, "Scan", scan).get("Count").and_then(Value::as_u64).unwrap()
}

fn fails(server: &Server, operation: &str, body: &Value, exception: &str) -> bool {
    let (status, answer) = send(server, operation, body);
    let found = answer.get("__type").and_then(Value::as_str).unwrap_or_default();
    status == 400 && found.ends_with(&format!("#{exception}Exception"))
}

/// Whether a table can be created with these members.
fn creates(server: &Server, members: &Value) -> bool {
    let mut create = json!({
        "TableName": "Special", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]
    });
    if let (Some(create), Some(members)) = (create.as_object_mut(), members.as_object()) {
        create.extend(members.clone());
    }
    send(server, "CreateTable", &create).0 == 200
}

/// The tables `Things`, `Indexed` (global index `by_g`) and `Local` (local index `by_l`).
fn prepared() -> Server {
    let server = server();
    let attribute =
        |name: &str, letter: &str| json!({"AttributeName": name, "AttributeType": letter});
    let element = |name: &str, key_type: &str| json!({"AttributeName": name, "KeyType": key_type});
    let all = json!({"ProjectionType": "ALL"});
    check_fine(
        &server,
        "CreateTable",
        &json!({
            "TableName": "Indexed", "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [attribute("id", "S"), attribute("g", "S")],
            "KeySchema": [element("id", "HASH")],
            "GlobalSecondaryIndexes": [{"IndexName": "by_g", "KeySchema": [element("g", "HASH")], "Projection": all}]
        }),
    );
    check_fine(
        &server,
        "CreateTable",
        &json!({
            "TableName": "Local", "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [attribute("h", "S"), attribute("r", "S"), attribute("l", "N")],
            "KeySchema": [element("h", "HASH"), element("r", "RANGE")],
            "LocalSecondaryIndexes": [{"IndexName": "by_l", "KeySchema": [element("h", "HASH"), element("l", "RANGE")], "Projection": {"ProjectionType": "KEYS_ONLY"}}]
        }),
    );
    server
}

/// Returns the status of everything the document lists, in its order.
fn statuses() -> Vec<(String, bool)> {
    let server = Server::new();
    let operations = SERVICE.split_ascii_whitespace().map(|operation| {
        let body = server.call(operation, "{}").body;
        let unknown = String::from_utf8_lossy(&body).contains("UnknownOperationException");
        (format!("`{operation}`"), !unknown)
    });
    let features = FEATURES.iter().map(|(name, probe)| ((*name).to_owned(), probe(&prepared())));
    operations.chain(features).collect()
}

#[test]
fn every_operation_that_is_answered_is_one_of_the_service() {
    for operation in shelfmark_dynamo::OPERATIONS {
        assert!(SERVICE.split_ascii_whitespace().any(|known| known == operation), "{operation}");
    }
    assert_eq!(SERVICE.split_ascii_whitespace().count(), 62 + 4);
    assert!(shelfmark_dynamo::OPERATIONS.is_sorted());
}

#[test]
fn the_status_columns_say_what_the_face_does() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/compat-dynamodb.md");
    let text = String::from_utf8(vfs::read(&path).unwrap()).unwrap();
    let mut statuses = statuses().into_iter();
    let mut expected = String::with_capacity(text.len());
    let mut of_statuses = false; // the line stands in a table with a status column
    for line in text.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let is_head = line.starts_with("| ") && cells[2] == "status";
        of_statuses = line.starts_with('|') && (of_statuses || is_head);
        if !of_statuses || is_head || cells[1] == "---" {
            expected.push_str(line);
            expected.push('\n');
            continue;
        }
        let (name, works) = statuses.next().expect("a row that nothing is known of");
        assert_eq!(cells[1], name, "rows are in the order of this test");
        let status = if works { "yes" } else { "no" };
        let differs = if cells[3].is_empty() { String::new() } else { format!("{} ", cells[3]) };
        expected.push_str(&format!("| {name} | {status} | {differs}|\n"));
    }
    assert_eq!(statuses.next(), None, "something that the document does not list");
    if std::env::var_os("UPDATE_COMPAT").is_some() {
        vfs::replace(&path, expected.as_bytes()).unwrap();
    } else {
        assert_eq!(text, expected, "run with UPDATE_COMPAT=1 and read what changes");
    }
}
