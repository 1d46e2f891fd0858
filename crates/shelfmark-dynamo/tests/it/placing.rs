//! Requests on a face with a pool: which of them run where they are handed over, which go on at the
//! pool, and that the answers are the same.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use shelfmark_dynamo::{Face, Reply, RequestHead};
use shelfmark_engine::weight::{Asker, INLINE_ROWS_MAX, Pool, Refused, Weight, Work};

use crate::limits::server;

/// Keeps the work until it is asked for.
#[derive(Default)]
struct Kept(Mutex<Vec<(Weight, Work)>>);

impl Pool for Kept {
    fn run(&self, _: Asker, weight: Weight, work: Work) {
        self.0.lock().unwrap().push((weight, work));
    }

    fn share(&self, _: Asker, work: Box<dyn FnOnce() + Send>) {
        work();
    }
}

struct Bed {
    face: Arc<Face>,
    kept: Arc<Kept>,
}

impl Bed {
    /// Creates a face over `Things` with a partition of so many items, each of so many bytes.
    fn new(items: usize, bytes: usize) -> Self {
        let kept = Arc::new(Kept::default());
        let face = Arc::new(server().face.with_pool(Arc::clone(&kept) as Arc<dyn Pool>));
        let bed = Self { face, kept };
        for item in 0..items {
            let item = json!({"h": {"S": "a"}, "r": {"S": format!("{item:04}")},
                "t": {"S": "x".repeat(bytes)}});
            let put = json!({"TableName": "Things", "Item": item});
            let reply =
                bed.face.call(&RequestHead::operation("PutItem"), put.to_string().as_bytes());
            assert_eq!(reply.status, 200);
        }
        bed
    }

    fn place(&self, operation: &str, body: &Value) -> Receiver<Reply> {
        let (sender, receiver) = channel();
        let answer = Box::new(move |reply| sender.send(reply).unwrap());
        let head = RequestHead::operation(operation);
        self.face.dispatch(&head, body.to_string().into(), answer);
        receiver
    }

    /// Checks that a request is answered at once, or at the pool with this weight; returns the answer.
    #[track_caller]
    fn check(&self, operation: &str, body: &Value, expected: Option<Weight>) -> Value {
        let answer = self.place(operation, body);
        let kept = std::mem::take(&mut *self.kept.0.lock().unwrap());
        assert_eq!(kept.first().map(|(weight, _)| *weight), expected, "{operation}");
        assert!(kept.len() <= 1);
        if expected.is_some() {
            assert!(answer.try_recv().is_err(), "{operation} is answered already");
        }
        kept.into_iter().for_each(|(_, work)| work(Ok(())));
        let reply = answer.recv().unwrap();
        assert_eq!(reply.status, 200, "{operation}");
        serde_json::from_slice(&reply.body).unwrap()
    }
}

fn query(more: Value) -> Value {
    let mut query = json!({"TableName": "Things", "KeyConditionExpression": "h = :h",
        "ExpressionAttributeValues": {":h": {"S": "a"}}});
    query.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    query
}

#[test]
fn a_page_that_is_long_is_read_at_the_pool() {
    let bed = Bed::new(INLINE_ROWS_MAX + 1, 10);
    let whole = bed.check("Query", &query(json!({})), Some(Weight::Heavy));
    assert_eq!(whole["Count"], INLINE_ROWS_MAX + 1);
    assert!(whole.get("LastEvaluatedKey").is_none());
    let part = bed.check("Query", &query(json!({"Limit": INLINE_ROWS_MAX})), None);
    assert_eq!(part["Count"], INLINE_ROWS_MAX);
    assert_eq!(part["LastEvaluatedKey"]["r"]["S"], format!("{:04}", INLINE_ROWS_MAX - 1));
    // What a filter passes over counts.
    let none = json!({"FilterExpression": "attribute_not_exists(t)"});
    assert_eq!(bed.check("Query", &query(none), Some(Weight::Heavy))["Count"], 0);
    let rest = json!({"ExclusiveStartKey": {"h": {"S": "a"}, "r": {"S": "0001"}}});
    assert_eq!(bed.check("Query", &query(rest), None)["Count"], INLINE_ROWS_MAX - 1);
}

#[test]
fn reads_of_many_bytes_go_on_where_they_stand() {
    let bed = Bed::new(6, 100_000);
    let key = |item: usize| json!({"h": {"S": "a"}, "r": {"S": format!("{item:04}")}});
    let keys = |count: usize| (0..count).map(key).collect::<Vec<_>>();
    let batch = |count| json!({"RequestItems": {"Things": {"Keys": keys(count)}}});
    assert_eq!(
        bed.check("BatchGetItem", &batch(2), None)["Responses"]["Things"].as_array().unwrap().len(),
        2
    );
    let all = bed.check("BatchGetItem", &batch(6), Some(Weight::Heavy));
    let found = all["Responses"]["Things"].as_array().unwrap();
    let found: Vec<_> = found.iter().map(|item| item["r"]["S"].as_str().unwrap()).collect();
    assert_eq!(found, ["0000", "0001", "0002", "0003", "0004", "0005"]);
    let gets = |count| {
        let get = |key: &Value| json!({"Get": {"TableName": "Things", "Key": key}});
        json!({"TransactItems": keys(count).iter().map(get).collect::<Vec<_>>()})
    };
    let two = bed.check("TransactGetItems", &gets(2), None);
    assert_eq!(two["Responses"].as_array().unwrap().len(), 2);
    let all = bed.check("TransactGetItems", &gets(6), Some(Weight::Heavy));
    let found = all["Responses"].as_array().unwrap();
    let found: Vec<_> = found.iter().map(|own| own["Item"]["r"]["S"].as_str().unwrap()).collect();
    assert_eq!(found, ["0000", "0001", "0002", "0003", "0004", "0005"]);
    let query = bed.check("Query", &query(json!({})), Some(Weight::Heavy));
    assert_eq!(query["Count"], 6);
}

#[test]
fn scans_long_bodies_and_changes_of_tables_begin_at_the_pool() {
    let bed = Bed::new(1, 10);
    bed.check("Scan", &json!({"TableName": "Things"}), Some(Weight::Heavy));
    bed.check("DescribeTable", &json!({"TableName": "Things"}), None);
    let put = |bytes: usize| {
        json!({"TableName": "Things",
            "Item": {"h": {"S": "b"}, "r": {"S": "b"}, "t": {"S": "x".repeat(bytes)}}})
    };
    bed.check("PutItem", &put(60_000), None);
    bed.check("PutItem", &put(70_000), Some(Weight::Heavy));
    bed.check("DeleteTable", &json!({"TableName": "Things"}), Some(Weight::Waiting));
}

#[test]
fn what_the_pool_refuses_is_told_in_words_that_clients_retry_on() {
    let bed = Bed::new(INLINE_ROWS_MAX + 1, 10);
    for (operation, body) in [("Scan", json!({"TableName": "Things"})), ("Query", query(json!({})))]
    {
        let answer = bed.place(operation, &body);
        let (_, work) = bed.kept.0.lock().unwrap().pop().unwrap();
        work(Err(Refused));
        let reply = answer.recv().unwrap();
        assert_eq!(reply.status, 400);
        let text = String::from_utf8_lossy(&reply.body);
        assert!(text.contains("#ProvisionedThroughputExceededException"), "{text}");
    }
}
