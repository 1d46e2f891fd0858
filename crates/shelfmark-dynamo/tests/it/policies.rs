//! What keys may do: every operation with exactly the access that it needs, with one less, and on
//! another table.

use serde_json::{Value, json};
use shelfmark_dynamo::auth::{Access, Policy};
use shelfmark_dynamo::{OPERATIONS, Reply, RequestHead};

use crate::limits::server;
use crate::runner::Server;

fn call(server: &Server, policy: &Policy, operation: &str, body: &Value) -> (Reply, Value) {
    let head = RequestHead { policy: Some(policy), ..RequestHead::operation(operation) };
    let reply = server.face.call(&head, body.to_string().as_bytes());
    let answer = serde_json::from_slice(&reply.body).unwrap_or(Value::Null);
    (reply, answer)
}

/// An operation, what it needs, the action that a refusal names, and a request.
type Asked = (&'static str, Option<Access>, &'static str, Value);

fn key() -> Value {
    json!({"h": {"S": "a"}, "r": {"S": "b"}})
}

/// A request about the table `Things`.
fn one(more: &Value) -> Value {
    let mut body = json!({"TableName": "Things"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// Transactions of one action each.
fn transactions() -> Vec<Asked> {
    use Access::{Read, Write};
    let values = json!({":a": {"S": "b"}});
    let update = json!({"Key": key(), "UpdateExpression": "SET z = :a", "ExpressionAttributeValues": values});
    let check = json!({"Key": key(), "ConditionExpression": "attribute_not_exists(h)"});
    let asked = |operation, verb: &str, access, action, body: &Value| {
        let item = json!({ verb: one(body) });
        (operation, Some(access), action, json!({"TransactItems": [item]}))
    };
    let write = "TransactWriteItems";
    vec![
        asked("TransactGetItems", "Get", Read, "GetItem", &json!({"Key": key()})),
        asked(write, "Put", Write, "PutItem", &json!({"Item": key()})),
        asked(write, "Update", Write, "UpdateItem", &update),
        asked(write, "Delete", Write, "DeleteItem", &json!({"Key": key()})),
        asked(write, "ConditionCheck", Read, "ConditionCheckItem", &check),
    ]
}

/// Requests about items.
fn of_items() -> Vec<Asked> {
    use Access::{Read, Write};
    let query = json!({"KeyConditionExpression": "h = :a", "ExpressionAttributeValues": {":a": {"S": "b"}}});
    let search = json!({"IndexName": "near", "TopK": 1, "SearchVector": [{"N": "1"}]});
    let gets = json!({"RequestItems": {"Things": {"Keys": [key()]}}});
    let writes = json!({"RequestItems": {"Things": [{"DeleteRequest": {"Key": key()}}]}});
    let by_key = one(&json!({"Key": key()}));
    vec![
        ("BatchGetItem", Some(Read), "BatchGetItem", gets),
        ("BatchWriteItem", Some(Write), "BatchWriteItem", writes),
        ("DeleteItem", Some(Write), "DeleteItem", by_key.clone()),
        ("GetItem", Some(Read), "GetItem", by_key.clone()),
        ("PutItem", Some(Write), "PutItem", one(&json!({"Item": key()}))),
        ("Query", Some(Read), "Query", one(&query)),
        ("Scan", Some(Read), "Scan", one(&json!({}))),
        ("SearchVectors", Some(Read), "SearchVectors", one(&search)),
        ("UpdateItem", Some(Write), "UpdateItem", by_key),
    ]
}

/// Statements; those of a batch are told one by one.
fn statements() -> Vec<Asked> {
    use Access::{Read, Write};
    let key = "WHERE h = 'a' AND r = 'b'";
    let statements = [
        (Write, "PartiQLInsert", "INSERT INTO Things VALUE {'h': 'a', 'r': 'b'}".to_owned()),
        (Write, "PartiQLDelete", format!("DELETE FROM \"Things\" {key} AND z = 1")),
        (Read, "PartiQLSelect", format!("SELECT * FROM Things {key}")),
    ];
    let alone = |(access, action, text): &(Access, &'static str, String)| {
        ("ExecuteStatement", Some(*access), *action, json!({ "Statement": text }))
    };
    let together = |(access, action, text): &(Access, &'static str, String)| {
        let body = json!({"TransactStatements": [{ "Statement": text }]});
        ("ExecuteTransaction", Some(*access), *action, body)
    };
    statements.iter().flat_map(|own| [alone(own), together(own)]).collect()
}

/// Requests about tables, the one that drops it last.
fn of_tables() -> Vec<Asked> {
    use Access::{Manage, Read};
    let arn = "arn:aws:dynamodb:eu-west-1:123456789012:table/Things";
    let (table, tagged) = (one(&json!({})), json!({"ResourceArn": arn}));
    let tag = json!({"ResourceArn": arn, "Tags": [{"Key": "a", "Value": "b"}]});
    let untag = json!({"ResourceArn": arn, "TagKeys": ["a"]});
    let create = one(&json!({
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "h", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "h", "KeyType": "HASH"}]
    }));
    let update = one(&json!({"DeletionProtectionEnabled": false}));
    let live = one(&json!({"TimeToLiveSpecification": {"AttributeName": "t", "Enabled": true}}));
    let backups = "DescribeContinuousBackups";
    vec![
        ("CreateTable", Some(Manage), "CreateTable", create),
        (backups, Some(Read), backups, table.clone()),
        ("DescribeEndpoints", None, "", json!({})),
        ("DescribeLimits", None, "", json!({})),
        ("DescribeTable", Some(Read), "DescribeTable", table.clone()),
        ("DescribeTimeToLive", Some(Read), "DescribeTimeToLive", table.clone()),
        ("ListTagsOfResource", Some(Read), "ListTagsOfResource", tagged),
        ("TagResource", Some(Manage), "TagResource", tag),
        ("UntagResource", Some(Manage), "UntagResource", untag),
        ("UpdateTable", Some(Manage), "UpdateTable", update),
        ("UpdateTimeToLive", Some(Manage), "UpdateTimeToLive", live),
        ("DeleteTable", Some(Manage), "DeleteTable", table),
    ]
}

/// Requests of infrastructure tools, and those of them that are refused whoever asks.
fn of_tools() -> (Vec<Asked>, [&'static str; 7]) {
    use Access::{Manage, Read};
    let arn = "arn:aws:dynamodb:eu-west-1:123456789012:table/Things";
    let (table, resource) = (one(&json!({})), json!({"ResourceArn": arn}));
    let kinesis = one(&json!({"StreamArn": "arn:aws:kinesis:eu-west-1:123456789012:stream/all"}));
    let on = one(&json!({"ContributorInsightsAction": "ENABLE"}));
    let policy = json!({"ResourceArn": arn, "Policy": "{\"Version\": \"2012-10-17\"}"});
    let of_table =
        |operation, access, body: &Value| (operation, Some(access), operation, body.clone());
    let global = json!({"GlobalTableName": "Things", "ReplicationGroup": [], "ReplicaUpdates": []});
    let requests = vec![
        of_table("DeleteResourcePolicy", Manage, &resource),
        of_table("PutResourcePolicy", Manage, &policy),
        of_table("GetResourcePolicy", Read, &resource),
        of_table("DescribeContributorInsights", Read, &table),
        of_table("UpdateContributorInsights", Manage, &on),
        of_table("DescribeKinesisStreamingDestination", Read, &table),
        of_table("EnableKinesisStreamingDestination", Manage, &kinesis),
        of_table("DisableKinesisStreamingDestination", Manage, &kinesis),
        of_table("UpdateKinesisStreamingDestination", Manage, &kinesis),
        of_table("DescribeTableReplicaAutoScaling", Read, &table),
        ("ListGlobalTables", None, "", json!({})),
    ];
    let more = [
        "CreateGlobalTable",
        "DescribeGlobalTable",
        "DescribeGlobalTableSettings",
        "UpdateGlobalTable",
        "UpdateGlobalTableSettings",
    ];
    let more = more.map(|operation| (operation, None, "", global.clone()));
    let refused = [
        "DescribeTableReplicaAutoScaling",
        "DisableKinesisStreamingDestination",
        "GetResourcePolicy",
        "UpdateKinesisStreamingDestination",
        "CreateGlobalTable",
        "DescribeGlobalTable",
        "UpdateGlobalTable",
    ];
    (requests.into_iter().chain(more).collect(), refused)
}

/// Requests about backups, and those of them that are refused whoever asks: there is no such backup.
fn of_backups() -> (Vec<Asked>, [&'static str; 6]) {
    use Access::{Manage, Read};
    let of = |operation, access, body: Value| (operation, Some(access), operation, body);
    let on = json!({"PointInTimeRecoveryEnabled": true});
    let continuous = one(&json!({"PointInTimeRecoverySpecification": on}));
    let arn = "arn:aws:dynamodb:local:000000000000:table/Things";
    let export = json!({"TableArn": arn, "S3Bucket": "bucket"});
    let import = json!({
        "ClientToken": "token",
        "S3BucketSource": {"S3Bucket": "bucket"},
        "InputFormat": "CSV",
        "TableCreationParameters": one(&json!({
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "h", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "h", "KeyType": "HASH"}]
        }))
    });
    let requests = vec![
        of("CreateBackup", Manage, one(&json!({"BackupName": "nightly"}))),
        of("UpdateContinuousBackups", Manage, continuous),
        of("DescribeExport", Read, json!({"ExportArn": BACKUP.replace("backup", "export")})),
        of("DescribeImport", Read, json!({"ImportArn": BACKUP.replace("backup", "import")})),
        of("ExportTableToPointInTime", Read, export),
        of("ImportTable", Manage, import),
        of("DescribeBackup", Read, json!({"BackupArn": BACKUP})),
        of("DeleteBackup", Manage, json!({"BackupArn": BACKUP})),
    ];
    let gone = [
        "DescribeBackup",
        "DescribeExport",
        "DescribeImport",
        "DeleteBackup",
        "ExportTableToPointInTime",
        "ImportTable",
    ];
    (requests, gone)
}

/// A backup of the table `Things` that is not there.
const BACKUP: &str =
    "arn:aws:dynamodb:local:000000000000:table/Things/backup/01793610000000-00000000";

#[test]
fn a_restore_reads_its_source_and_manages_its_target() {
    let server = server();
    let latest = json!({"SourceTableName": "Things", "TargetTableName": "Copies", "UseLatestRestorableTime": true});
    let of_backup = json!({"BackupArn": BACKUP, "TargetTableName": "Copies"});
    let ann = || Policy::of_user("ann");
    for (operation, body) in
        [("RestoreTableToPointInTime", latest), ("RestoreTableFromBackup", of_backup)]
    {
        let source_alone = ann().on_tables(["Things"]).unwrap();
        let target_alone = ann().on_tables(["Copies"]).unwrap();
        let reading = ann().allowing([Access::Read]);
        for (policy, table) in
            [(source_alone, "Copies"), (target_alone, "Things"), (reading, "Copies")]
        {
            let (_, answer) = call(&server, &policy, operation, &body);
            let text = answer.to_string();
            assert!(text.contains(&format!(":table/{table} because")), "{operation}: {text}");
        }
        let both = ann().on_tables(["Things", "Copies"]).unwrap();
        let (_, answer) = call(&server, &both, operation, &body);
        assert!(!answer.to_string().contains("AccessDenied"), "{operation}: {answer}");
    }
}

/// The stream of the table `Things`.
const STREAM: &str = "/stream/2026-11-02T09:00:00.000";

fn server_with_stream() -> Server {
    let server = server();
    let on = json!({"StreamEnabled": true, "StreamViewType": "KEYS_ONLY"});
    let update = one(&json!({"StreamSpecification": on}));
    assert_eq!(server.call("UpdateTable", &update.to_string()).status, 200);
    let index = json!({"IndexName": "near", "VectorAttribute": {"AttributeName": "v"}, "Dimensions": 1,
        "DistanceFunction": "COSINE", "Projection": {"ProjectionType": "ALL"}});
    let update = one(&json!({"VectorIndexUpdates": [{"Create": index}]}));
    assert_eq!(server.call("UpdateTable", &update.to_string()).status, 200);
    server
}

/// Requests about the stream.
fn of_streams() -> Vec<Asked> {
    use Access::Read;
    let arn = format!("arn:aws:dynamodb:local:000000000000:table/Things{STREAM}");
    let stream = json!({"StreamArn": arn});
    let shard = "shardId-00000001793610000000-00000001";
    let iterator = json!({"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"});
    let reply = server_with_stream().call("GetShardIterator", &iterator.to_string());
    let records: Value = serde_json::from_slice(&reply.body).unwrap();
    vec![
        ("DescribeStream", Some(Read), "DescribeStream", stream),
        ("GetShardIterator", Some(Read), "GetShardIterator", iterator),
        ("GetRecords", Some(Read), "GetRecords", records),
    ]
}

#[test]
fn every_operation_with_what_it_needs_and_with_one_less() {
    let ann = || Policy::of_user("ann");
    let streams = of_streams();
    let is_of_streams = |operation| streams.iter().any(|own| own.0 == operation);
    let (tools, refused) = of_tools();
    let (backups, gone) = of_backups();
    let items = [of_items(), transactions(), statements()].concat();
    let requests = [items, of_tables(), streams.clone(), tools, backups].concat();
    // These are told in parts, by the tests below.
    let lists = [
        "BatchExecuteStatement",
        "ListBackups",
        "ListContributorInsights",
        "ListExports",
        "ListImports",
        "ListStreams",
        "ListTables",
    ];
    let others = |own: &&str| !lists.contains(own) && !own.starts_with("Restore");
    for operation in OPERATIONS.into_iter().filter(others) {
        assert!(requests.iter().any(|own| own.0 == operation), "{operation}");
    }
    for (operation, access, action, body) in requests {
        let server = server_with_stream();
        let Some(access) = access else {
            let (reply, answer) = call(&server, &ann().allowing([]), operation, &body);
            let is_refused = refused.iter().any(|own| operation.starts_with(own));
            assert!(reply.status == 200 || is_refused, "{operation}: {answer}");
            assert!(!answer.to_string().contains("AccessDenied"), "{operation}: {answer}");
            continue;
        };
        let others = Access::ALL.into_iter().filter(|own| *own != access);
        let refusing = [
            ann().on_tables(["Things"]).unwrap().allowing(others),
            ann().on_tables(["Thing", "Things2", "things"]).unwrap(),
        ];
        for policy in refusing {
            let (reply, answer) = call(&server, &policy, operation, &body);
            assert_eq!(reply.status, 400, "{operation}: {answer}");
            let kind = answer["__type"].as_str().unwrap();
            assert!(kind.ends_with("#AccessDeniedException"), "{operation}: {kind}");
            let place = match operation {
                "SearchVectors" => "/index/near",
                _ if is_of_streams(operation) => STREAM,
                _ => "",
            };
            let text = answer.get("message").or(answer.get("Message")).unwrap();
            assert_eq!(
                text.as_str().unwrap(),
                format!(
                    "User: arn:aws:iam::000000000000:user/ann is not authorized to perform: \
                     dynamodb:{action} on resource: arn:aws:dynamodb:local:000000000000:table/Things{place} \
                     because no identity-based policy allows the dynamodb:{action} action"
                )
            );
        }
        let enough = ann().on_tables(["T*s"]).unwrap().allowing([access]);
        let (reply, answer) = call(&server, &enough, operation, &body);
        let is_there = operation == "CreateTable" && reply.status == 400;
        let is_refused = refused.contains(&operation) || gone.contains(&operation);
        assert!(reply.status == 200 || is_there || is_refused, "{operation}: {answer}");
        let kind = answer["__type"].as_str().unwrap_or_default();
        assert!(!kind.contains("AccessDenied"), "{operation}: {kind}");
    }
}

#[test]
fn of_several_tables_one_that_is_refused_refuses_all() {
    let server = server();
    let policy = Policy::of_user("ann").on_tables(["Things"]).unwrap();
    let item = json!({"h": {"S": "x"}, "r": {"S": "y"}});
    let batch = json!({"RequestItems": {
        "Things": [{"PutRequest": {"Item": item}}], "Other": [{"PutRequest": {"Item": item}}]}});
    let transaction = json!({"TransactItems": [
        {"Put": {"TableName": "Things", "Item": item}}, {"Delete": {"TableName": "Other", "Key": item}}]});
    for (operation, body) in [("BatchWriteItem", batch), ("TransactWriteItems", transaction)] {
        // Whether the other table is there is not told.
        let (_, answer) = call(&server, &policy, operation, &body);
        assert!(answer.to_string().contains(":table/Other because"), "{answer}");
        let (_, scan) = call(&server, &policy, "Scan", &json!({"TableName": "Things"}));
        assert_eq!(scan["Count"], 0, "{operation}");
    }
}

#[test]
fn of_a_batch_the_statements_that_are_refused_say_so() {
    let server = server();
    let policy = Policy::of_user("ann").on_tables(["Things"]).unwrap().allowing([Access::Write]);
    let batch = json!({"Statements": [
        {"Statement": "INSERT INTO Things VALUE {'h': 'a', 'r': 'b'}"},
        {"Statement": "INSERT INTO Other VALUE {'h': 'a', 'r': 'b'}"},
        {"Statement": "SELECT * FROM Things.by_x WHERE h = 'a'"},
        {"Statement": "UPDATE Other SET z = 1 WHERE h = 'a' AND r = 'b'"}]});
    let (reply, answer) = call(&server, &policy, "BatchExecuteStatement", &batch);
    assert_eq!(reply.status, 200, "{answer}");
    let responses = answer["Responses"].as_array().unwrap();
    assert_eq!(responses[0], json!({"TableName": "Things"}));
    let refused = [
        (1, "dynamodb:PartiQLInsert on resource: ", ":table/Other because"),
        (2, "dynamodb:PartiQLSelect on resource: ", ":table/Things/index/by_x because"),
        (3, "dynamodb:PartiQLUpdate on resource: ", ":table/Other because"),
    ];
    for (at, action, resource) in refused {
        assert_eq!(responses[at]["Error"]["Code"], "AccessDenied", "{answer}");
        let text = responses[at]["Error"]["Message"].as_str().unwrap();
        assert!(text.contains(action) && text.contains(resource), "{text}");
    }
}

#[test]
fn a_statement_names_its_tables_wherever_it_stands() {
    let server = server();
    let policy = Policy::of_user("ann").on_tables(["Things"]).unwrap();
    let other = "SELECT * FROM \"arn:aws:dynamodb:x:1:table/Other\" WHERE h = 'a'";
    let twice = format!(
        r#"{{"Statement": "{}", "Statement": "SELECT * FROM Things"}}"#,
        other.replace('"', "\\\"")
    );
    let head = RequestHead { policy: Some(&policy), ..RequestHead::operation("ExecuteStatement") };
    let reply = server.face.call(&head, twice.as_bytes());
    assert!(String::from_utf8_lossy(&reply.body).contains(":table/Other because"), "{reply:?}");
    let exists = json!({"TransactStatements": [
        {"Statement": "DELETE FROM Things WHERE h = 'a' AND r = 'b'"},
        {"Statement": "EXISTS(SELECT * FROM Other WHERE h = 'a' AND r = 'b' AND z = 1)"}]});
    let (_, answer) = call(&server, &policy, "ExecuteTransaction", &exists);
    assert!(answer.to_string().contains("PartiQLSelect on resource"), "{answer}");
}

#[test]
fn only_tables_that_may_be_used_are_listed() {
    let server = server();
    for name in ["aaa", "logs-1", "logs-2", "logs-3", "mmm", "zzz"] {
        let create = json!({
            "TableName": name,
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "h", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "h", "KeyType": "HASH"}]
        });
        assert_eq!(server.call("CreateTable", &create.to_string()).status, 200);
    }
    let logs = Policy::of_user("ann").on_tables(["logs-*", "zzz"]).unwrap();
    for limit in [None, Some(1), Some(2), Some(3), Some(4), Some(100)] {
        let (mut names, mut start) = (Vec::new(), Value::Null);
        for _ in 0..10 {
            let body = json!({"Limit": limit, "ExclusiveStartTableName": start});
            let (_, answer) = call(&server, &logs, "ListTables", &body);
            let page = answer["TableNames"].as_array().unwrap().clone();
            assert!(page.len() <= limit.unwrap_or(100), "{answer}");
            names.extend(page);
            start = answer.get("LastEvaluatedTableName").cloned().unwrap_or(Value::Null);
            if start.is_null() {
                break;
            }
        }
        assert_eq!(json!(names), json!(["logs-1", "logs-2", "logs-3", "zzz"]), "{limit:?}");
    }
    let writer = Policy::of_user("ann").allowing([Access::Write]);
    let (reply, answer) = call(&server, &writer, "ListTables", &json!({}));
    assert_eq!(reply.status, 400);
    assert!(answer.to_string().contains(":table/* because"), "{answer}");
}
