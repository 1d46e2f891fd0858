//! A set of tables for each region and account: what one scope has, others do not see, change or delete.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use shelfmark_dynamo::auth::Credentials;
use shelfmark_dynamo::{Buckets, Face, FaceOptions, RequestHead, Scopes};
use shelfmark_engine::{Engine, Environment, SeededRandom};
use shelfmark_store::clock::{Clock, ManualClock};
use shelfmark_store::memory::MemoryStore;

use crate::buckets::MemoryBuckets;

/// Scopes as a signature's credential names them.
const FIRST: &str = "test/20261124/eu-west-1/dynamodb/aws4_request";
const REGION: &str = "test/20261124/us-east-1/dynamodb/aws4_request";
const KEY: &str = "123456789012/20261124/eu-west-1/dynamodb/aws4_request";

/// 2026-11-24T09:00:00Z in microseconds.
const START_MICROS: u64 = 1_795_510_800_000_000;

struct Bed {
    store: Arc<MemoryStore>,
    clock: Arc<ManualClock>,
    buckets: Arc<MemoryBuckets>,
    face: Face,
}

impl Bed {
    fn new(scopes: Scopes) -> Self {
        let clock = Arc::new(ManualClock::at_micros(START_MICROS));
        let store = MemoryStore::new(Arc::clone(&clock) as Arc<dyn Clock>);
        Self::over(Arc::new(store), clock, scopes, Arc::default())
    }

    fn over(
        store: Arc<MemoryStore>,
        clock: Arc<ManualClock>,
        scopes: Scopes,
        buckets: Arc<MemoryBuckets>,
    ) -> Self {
        Self::with_options(store, clock, FaceOptions { scopes, ..FaceOptions::default() }, buckets)
    }

    fn with_options(
        store: Arc<MemoryStore>,
        clock: Arc<ManualClock>,
        options: FaceOptions,
        buckets: Arc<MemoryBuckets>,
    ) -> Self {
        let environment = Environment {
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            random: Arc::new(SeededRandom::new(1)),
        };
        let engine = Engine::open(Arc::clone(&store) as _, environment.clone()).unwrap();
        let face = Face::new(engine, environment, options);
        let face = face.with_buckets(Arc::clone(&buckets) as Arc<dyn Buckets>);
        Self { store, clock, buckets, face }
    }

    fn reopened(self, scopes: Scopes) -> Self {
        Self::over(self.store, self.clock, scopes, self.buckets)
    }

    /// Starts again as a server that asks for credentials.
    fn asking(self) -> Self {
        let credentials = Some(Credentials::new().with("test", "s").with("other", "t"));
        let scopes = Scopes::Separate;
        let options = FaceOptions { scopes, credentials, ..FaceOptions::default() };
        Self::with_options(self.store, self.clock, options, self.buckets)
    }

    fn send(&self, credential: &str, operation: &str, body: &Value) -> (u16, Value) {
        let credential = Some(credential).filter(|own| !own.is_empty());
        let head = RequestHead { credential, ..RequestHead::operation(operation) };
        let reply = self.face.call(&head, body.to_string().as_bytes());
        (reply.status, serde_json::from_slice(&reply.body).unwrap())
    }

    #[track_caller]
    fn fine(&self, credential: &str, operation: &str, body: &Value) -> Value {
        let (status, answer) = self.send(credential, operation, body);
        assert_eq!(status, 200, "{operation}: {answer}");
        answer
    }

    /// Checks that a request is refused with this exception.
    #[track_caller]
    fn refused(&self, credential: &str, operation: &str, body: &Value, exception: &str) {
        let (status, answer) = self.send(credential, operation, body);
        let kind = answer.get("__type").and_then(Value::as_str).unwrap_or_default();
        assert!(status != 200 && kind.ends_with(exception), "{operation}: {status} {answer}");
    }

    fn create(&self, credential: &str, table: &str) -> Value {
        let body = json!({
            "TableName": table, "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "h", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "h", "KeyType": "HASH"}],
            "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_IMAGE"}
        });
        self.fine(credential, "CreateTable", &body)
    }

    fn tables(&self, credential: &str) -> Value {
        self.fine(credential, "ListTables", &json!({}))["TableNames"].clone()
    }

    fn put(&self, credential: &str, value: &str) {
        let item = json!({"h": {"S": "k"}, "v": {"S": value}});
        self.fine(credential, "PutItem", &json!({"TableName": "Music", "Item": item}));
    }

    fn get(&self, credential: &str) -> Value {
        let get = json!({"TableName": "Music", "Key": {"h": {"S": "k"}}});
        self.fine(credential, "GetItem", &get)["Item"]["v"]["S"].clone()
    }
}

#[test]
fn each_region_and_each_account_has_its_own_tables() {
    let bed = Bed::new(Scopes::Separate);
    let created = bed.create(FIRST, "Music");
    let arn = &created["TableDescription"]["TableArn"];
    assert_eq!(arn, "arn:aws:dynamodb:eu-west-1:000000000000:table/Music");
    let get = json!({"TableName": "Music", "Key": {"h": {"S": "k"}}});
    for other in [REGION, KEY] {
        assert_eq!(bed.tables(other), json!([]));
        bed.refused(other, "GetItem", &get, "ResourceNotFoundException");
    }
    let arn = &bed.create(REGION, "Music")["TableDescription"]["TableArn"];
    assert_eq!(arn, "arn:aws:dynamodb:us-east-1:000000000000:table/Music");
    let created = bed.create(KEY, "Music");
    let arn = &created["TableDescription"]["LatestStreamArn"];
    let begin = "arn:aws:dynamodb:eu-west-1:123456789012:table/Music/stream/";
    assert!(arn.as_str().unwrap().starts_with(begin), "{arn}");
    for (scope, value) in [(FIRST, "first"), (REGION, "region"), (KEY, "key")] {
        bed.put(scope, value);
    }
    bed.create(KEY, "Other");
    let bed = bed.reopened(Scopes::Separate);
    assert_eq!(
        (bed.get(FIRST), bed.get(REGION), bed.get(KEY)),
        ("first".into(), "region".into(), "key".into())
    );
    assert_eq!(bed.tables(KEY), json!(["Music", "Other"]));
    // Whoever signs nothing has the first's.
    assert_eq!((bed.get(""), bed.tables("")), ("first".into(), json!(["Music"])));
    // Another date is the same scope.
    assert_eq!(bed.get("test/20301231/us-east-1/dynamodb/aws4_request"), "region");
    bed.fine(REGION, "DeleteTable", &json!({"TableName": "Music"}));
    assert_eq!((bed.get(FIRST), bed.get(KEY)), ("first".into(), "key".into()));
    assert_eq!(bed.tables(REGION), json!([]));
}

#[test]
fn arns_of_other_scopes_name_nothing() {
    let bed = Bed::new(Scopes::Separate);
    let described = bed.create(FIRST, "Music");
    bed.create(REGION, "Music");
    let text = |name: &str| described["TableDescription"][name].as_str().unwrap().to_owned();
    let (arn, stream) = (text("TableArn"), text("LatestStreamArn"));
    let (missing, invalid) = ("ResourceNotFoundException", "ValidationException");
    let denied = "AccessDeniedException";
    let asked = [
        ("DescribeTable", json!({"TableName": arn}), missing, missing),
        ("ListTagsOfResource", json!({"ResourceArn": arn}), invalid, denied),
        ("DescribeStream", json!({"StreamArn": stream}), missing, missing),
        ("GetResourcePolicy", json!({"ResourceArn": stream}), invalid, invalid),
    ];
    for (operation, body, of_region, of_account) in &asked {
        let (_, answer) = bed.send(FIRST, operation, body);
        let kind = answer["__type"].as_str().unwrap_or_default();
        assert!(
            kind.is_empty() || kind.ends_with("PolicyNotFoundException"),
            "{operation} {answer}"
        );
        bed.refused(REGION, operation, body, of_region);
        bed.refused(KEY, operation, body, of_account);
    }
}

#[test]
fn streams_tags_and_request_tokens_are_of_a_scope() {
    let bed = Bed::new(Scopes::Separate);
    for (scope, value) in [(FIRST, "first"), (REGION, "region")] {
        bed.create(scope, "Music");
        bed.put(scope, value);
    }
    for (scope, value) in [(FIRST, "first"), (REGION, "region")] {
        let streams = bed.fine(scope, "ListStreams", &json!({}));
        assert_eq!(streams["Streams"].as_array().map(Vec::len), Some(1));
        let arn = &streams["Streams"][0]["StreamArn"];
        let stream = bed.fine(scope, "DescribeStream", &json!({"StreamArn": arn}));
        let shard = &stream["StreamDescription"]["Shards"][0]["ShardId"];
        let asked =
            json!({"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"});
        let iterator = &bed.fine(scope, "GetShardIterator", &asked)["ShardIterator"];
        let read = bed.fine(scope, "GetRecords", &json!({"ShardIterator": iterator}));
        assert_eq!(read["Records"].as_array().map(Vec::len), Some(1));
        assert_eq!(read["Records"][0]["dynamodb"]["NewImage"]["v"]["S"], value);
        let region = if scope == FIRST { "eu-west-1" } else { "us-east-1" };
        assert_eq!(read["Records"][0]["awsRegion"], region);
        let other = if scope == FIRST { REGION } else { FIRST };
        bed.refused(
            other,
            "GetRecords",
            &json!({"ShardIterator": iterator}),
            "ResourceNotFoundException",
        );
    }
    // One token, two scopes, two requests.
    for (scope, value) in [(FIRST, "1"), (REGION, "2")] {
        let put =
            json!({"Put": {"TableName": "Music", "Item": {"h": {"S": "k"}, "v": {"S": value}}}});
        let body = json!({"TransactItems": [put], "ClientRequestToken": "same"});
        bed.fine(scope, "TransactWriteItems", &body);
        let statement =
            json!({"Statement": "UPDATE Music SET w=? WHERE h='k'", "Parameters": [{"S": value}]});
        let body = json!({"TransactStatements": [statement], "ClientRequestToken": "same"});
        bed.fine(scope, "ExecuteTransaction", &body);
    }
    assert_eq!((bed.get(FIRST), bed.get(REGION)), ("1".into(), "2".into()));
}

#[test]
fn backups_exports_and_imports_are_of_a_scope() {
    let bed = Bed::new(Scopes::Separate);
    bed.create(REGION, "Claim");
    for (scope, value) in [(FIRST, "first"), (KEY, "key")] {
        bed.create(scope, "Music");
        bed.put(scope, value);
    }
    bed.clock.advance(Duration::from_secs(1));
    let arn = bed.fine(KEY, "CreateBackup", &json!({"TableName": "Music", "BackupName": "night"}))
        ["BackupDetails"]["BackupArn"]
        .clone();
    assert!(arn.as_str().unwrap().contains(":eu-west-1:123456789012:"), "{arn}");
    let count = |scope: &str| {
        bed.fine(scope, "ListBackups", &json!({}))["BackupSummaries"].as_array().unwrap().len()
    };
    assert_eq!((count(FIRST), count(KEY), count(REGION)), (0, 1, 0));
    let restore = json!({"BackupArn": arn, "TargetTableName": "Again"});
    bed.refused(FIRST, "DescribeBackup", &json!({"BackupArn": arn}), "AccessDeniedException");
    bed.refused(FIRST, "RestoreTableFromBackup", &restore, "AccessDeniedException");
    let start = json!({"ExclusiveStartBackupArn": arn});
    bed.refused(REGION, "ListBackups", &start, "ValidationException");
    bed.fine(KEY, "RestoreTableFromBackup", &restore);
    assert_eq!(bed.tables(KEY), json!(["Again", "Music"]));
    assert_eq!(bed.tables(FIRST), json!(["Music"]));

    let on = json!({"TableName": "Music",
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": true}});
    bed.fine(KEY, "UpdateContinuousBackups", &on);
    bed.clock.advance(Duration::from_secs(1));
    let table = "arn:aws:dynamodb:eu-west-1:123456789012:table/Music";
    let export = json!({"TableArn": table, "S3Bucket": "bucket", "ClientToken": "one"});
    let exported = bed.fine(KEY, "ExportTableToPointInTime", &export);
    let arn = &exported["ExportDescription"]["ExportArn"];
    assert_eq!(exported["ExportDescription"]["TableArn"], table);
    bed.fine(KEY, "DescribeExport", &json!({"ExportArn": arn}));
    bed.refused(FIRST, "DescribeExport", &json!({"ExportArn": arn}), "AccessDeniedException");
    let summaries = bed.fine(FIRST, "ListExports", &json!({}));
    assert_eq!(summaries["ExportSummaries"], json!([]));
    let manifests: Vec<_> = bed
        .buckets
        .objects()
        .into_iter()
        .filter(|(key, _)| key.ends_with("manifest-summary.json"))
        .collect();
    let (_, summary) = manifests.first().expect("a small export ends with its request");
    assert!(String::from_utf8_lossy(summary).contains(table));

    let objects = bed.buckets.objects();
    let data = objects.keys().find(|key| key.ends_with(".json.gz")).expect("an object of items");
    let import = json!({
        "S3BucketSource": {"S3Bucket": "bucket", "S3KeyPrefix": data},
        "InputFormat": "DYNAMODB_JSON", "InputCompressionType": "GZIP", "ClientToken": "two",
        "TableCreationParameters": {
            "TableName": "Taken", "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "h", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "h", "KeyType": "HASH"}]
        }
    });
    let imported = bed.fine(KEY, "ImportTable", &import);
    let table = &imported["ImportTableDescription"]["TableArn"];
    assert_eq!(table, "arn:aws:dynamodb:eu-west-1:123456789012:table/Taken");
    assert_eq!(bed.tables(KEY), json!(["Again", "Music", "Taken"]));
    assert_eq!(bed.fine(FIRST, "ListImports", &json!({}))["ImportSummaryList"], json!([]));
    assert_eq!(
        bed.fine(KEY, "ListImports", &json!({}))["ImportSummaryList"].as_array().map(Vec::len),
        Some(1)
    );
}

#[test]
fn a_shared_server_and_a_store_of_before_have_one_set() {
    let bed = Bed::new(Scopes::Shared);
    let created = bed.create(FIRST, "Music");
    bed.put(FIRST, "first");
    assert_eq!(
        (bed.get(REGION), bed.get(KEY), bed.get("")),
        ("first".into(), "first".into(), "first".into())
    );
    // ARNs say what the request was signed for, and any is understood.
    let described = bed.fine(
        KEY,
        "DescribeTable",
        &json!({"TableName": created["TableDescription"]["TableArn"]}),
    );
    assert_eq!(
        described["Table"]["TableArn"],
        "arn:aws:dynamodb:eu-west-1:123456789012:table/Music"
    );
    // Its tables were claimed by nobody, so they stay everybody's.
    let bed = bed.reopened(Scopes::Separate);
    assert_eq!((bed.get(REGION), bed.get(KEY)), ("first".into(), "first".into()));
    bed.create(KEY, "Other");
    assert_eq!(bed.tables(REGION), json!(["Music", "Other"]));
    // And what unsigned requests created is everybody's, too.
    let bed = Bed::new(Scopes::Separate);
    bed.create("", "Music");
    bed.put(REGION, "region");
    assert_eq!(bed.get(KEY), "region");
}

#[test]
fn a_separate_store_shown_as_shared_is_the_first_set() {
    let bed = Bed::new(Scopes::Separate);
    bed.create(FIRST, "Music");
    bed.create(REGION, "Other");
    let bed = bed.reopened(Scopes::Shared);
    assert_eq!(bed.tables(REGION), json!(["Music"]));
    let bed = bed.reopened(Scopes::Separate);
    assert_eq!((bed.tables(FIRST), bed.tables(REGION)), (json!(["Music"]), json!(["Other"])));
}

#[test]
fn tables_stay_in_sight_when_credentials_are_asked_for() {
    const OTHER: &str = "other/20261124/eu-west-1/dynamodb/aws4_request";
    let bed = Bed::new(Scopes::Separate);
    bed.create(FIRST, "Music");
    bed.put(FIRST, "open");
    bed.create(REGION, "Far");
    let bed = bed.asking();
    // Every key is one of the account that had them.
    for credential in [FIRST, OTHER] {
        assert_eq!(bed.tables(credential), json!(["Music"]));
        assert_eq!(bed.get(credential), json!("open"));
    }
    assert_eq!(bed.tables(REGION), json!(["Far"]));
    bed.create(OTHER, "More");
    assert_eq!(bed.tables(FIRST), json!(["More", "Music"]));
    let bed = bed.reopened(Scopes::Separate);
    assert_eq!(bed.tables(FIRST), json!(["More", "Music"]));
    assert_eq!(bed.tables(OTHER), json!([]));
}

/// Where an earlier build made tables for the account of the credentials beside others, they stay its.
#[test]
fn tables_of_the_credentials_own_account_stay_in_sight() {
    const OWN: &str = "000000000000/20261124/eu-west-1/dynamodb/aws4_request";
    let bed = Bed::new(Scopes::Separate);
    bed.create(FIRST, "Music");
    bed.create(OWN, "Own");
    let bed = bed.asking();
    assert_eq!(bed.tables(FIRST), json!(["Own"]));
}
