//! The sizes that DescribeTable shows, against a count of what was written.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use shelfmark_dynamo::{Face, Reply, RequestHead};
use shelfmark_engine::weight::{Asker, Pool, Weight, Work};
use shelfmark_store::clock::ManualClock;

use crate::limits::check_fine;
use crate::runner::Server;

/// Bytes by which an item with a tag is larger: the attribute's name and `t`.
const TAG_BYTES: u64 = 2;

/// What DescribeTable is to show of the table and of its index.
#[derive(Debug, Default, PartialEq, Eq, Clone, Copy)]
struct Shown {
    items: u64,
    bytes: u64,
    index_items: u64,
    index_bytes: u64,
}

/// Items by their keys: the length of the text, and whether the sparse index has the item.
type Model = BTreeMap<String, (usize, bool)>;

fn shown_of(model: &Model) -> Shown {
    let mut shown = Shown::default();
    for (key, (text, is_tagged)) in model {
        let key_bytes = 1 + key.len() as u64;
        shown.items += 1;
        shown.bytes += key_bytes + 1 + *text as u64 + if *is_tagged { TAG_BYTES } else { 0 };
        if *is_tagged {
            shown.index_items += 1;
            shown.index_bytes += key_bytes + TAG_BYTES;
        }
    }
    shown
}

fn read(described: &Value) -> Shown {
    let number = |pointer: &str| described.pointer(pointer).and_then(Value::as_u64).unwrap();
    Shown {
        items: number("/Table/ItemCount"),
        bytes: number("/Table/TableSizeBytes"),
        index_items: number("/Table/GlobalSecondaryIndexes/0/ItemCount"),
        index_bytes: number("/Table/GlobalSecondaryIndexes/0/IndexSizeBytes"),
    }
}

fn create(server: &Server) {
    check_fine(
        server,
        "CreateTable",
        &json!({
            "TableName": "Rows", "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [
                {"AttributeName": "h", "AttributeType": "S"},
                {"AttributeName": "t", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "h", "KeyType": "HASH"}],
            "GlobalSecondaryIndexes": [{
                "IndexName": "by_t",
                "KeySchema": [{"AttributeName": "t", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "KEYS_ONLY"}
            }]
        }),
    );
}

/// Writes the items of these numbers; each tenth of them is in the index, deletions in between.
fn write(server: &Server, model: &mut Model, numbers: std::ops::Range<usize>, deletes: bool) {
    let numbers: Vec<usize> = numbers.collect();
    for batch in numbers.chunks(25) {
        let requests: Vec<Value> = batch
            .iter()
            .map(|number| {
                let key = format!("key-{number}");
                if deletes {
                    model.remove(&key);
                    return json!({"DeleteRequest": {"Key": {"h": {"S": key}}}});
                }
                let text = "x".repeat(number % 90);
                let mut item = json!({"h": {"S": key}, "x": {"S": text}});
                if number % 10 == 0 {
                    item["t"] = json!({"S": "t"});
                }
                model.insert(key, (text.len(), number % 10 == 0));
                json!({"PutRequest": {"Item": item}})
            })
            .collect();
        let body = json!({"RequestItems": {"Rows": requests}});
        check_fine(server, "BatchWriteItem", &body);
    }
}

fn describe(server: &Server) -> Shown {
    read(&check_fine(server, "DescribeTable", &json!({"TableName": "Rows"})))
}

#[test]
fn sizes_are_exact_beyond_a_page_after_deletions_and_restarts() {
    let mut server = Server::new();
    create(&server);
    let mut model = Model::new();
    assert_eq!(describe(&server), Shown::default());
    write(&server, &mut model, 0..50_000, false);
    assert_eq!(describe(&server), shown_of(&model));
    assert!(shown_of(&model).bytes > 2_000_000, "more than a page");
    // Twice the same items, other texts, and some that are not there.
    write(&server, &mut model, 100..1_200, false);
    write(&server, &mut model, 45_000..55_000, true);
    assert_eq!(describe(&server), shown_of(&model));
    server.reopen();
    assert_eq!(describe(&server), shown_of(&model));
    check_fine(
        &server,
        "UpdateTable",
        &json!({"TableName": "Rows", "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "by_t"}}]}),
    );
    let described = check_fine(&server, "DescribeTable", &json!({"TableName": "Rows"}));
    assert_eq!(described.pointer("/Table/GlobalSecondaryIndexes"), None);
}

#[test]
fn every_description_of_a_table_shows_its_sizes() {
    let server = Server::new();
    create(&server);
    let mut model = Model::new();
    write(&server, &mut model, 0..200, false);
    let figures = |described: &Value, member: &str, index: &str| {
        let number = |pointer: String| described.pointer(&pointer).and_then(Value::as_u64).unwrap();
        let index = format!("/{member}/GlobalSecondaryIndexes/{index}");
        (
            number(format!("/{member}/ItemCount")),
            number(format!("/{member}/TableSizeBytes")),
            number(format!("{index}/ItemCount")),
            number(format!("{index}/IndexSizeBytes")),
        )
    };
    let shown = shown_of(&model);
    let expected = (shown.items, shown.bytes, shown.index_items, shown.index_bytes);
    let update = json!({"TableName": "Rows", "DeletionProtectionEnabled": false});
    let updated = check_fine(&server, "UpdateTable", &update);
    assert_eq!(figures(&updated, "TableDescription", "0"), expected);

    // An index that was just built has its figures in the answer that says so.
    let added = json!({
        "TableName": "Rows",
        "AttributeDefinitions": [{"AttributeName": "x", "AttributeType": "S"}],
        "GlobalSecondaryIndexUpdates": [{"Create": {
            "IndexName": "by_x", "KeySchema": [{"AttributeName": "x", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"}}}]});
    let added = check_fine(&server, "UpdateTable", &added);
    let (items, bytes, with_text, text_bytes) = figures(&added, "TableDescription", "1");
    assert_eq!((items, bytes), (shown.items, shown.bytes));
    let texts = model.values().filter(|(length, _)| *length > 0).count() as u64;
    assert_eq!(with_text, texts, "items without a text are not in it");
    assert!(text_bytes > 0);

    let deleted = check_fine(&server, "DeleteTable", &json!({"TableName": "Rows"}));
    assert_eq!(deleted.pointer("/TableDescription/ItemCount"), Some(&json!(shown.items)));
    assert_eq!(deleted.pointer("/TableDescription/TableSizeBytes"), Some(&json!(shown.bytes)));
}

/// A pool that keeps its work until it is asked for, where each pause of heavy work takes two seconds.
struct Slow {
    kept: Mutex<Vec<Work>>,
    clock: Arc<ManualClock>,
}

impl Pool for Slow {
    fn run(&self, _: Asker, weight: Weight, work: Work) {
        assert_eq!(weight, Weight::Heavy);
        self.kept.lock().unwrap().push(work);
    }

    fn share(&self, _: Asker, work: Box<dyn FnOnce() + Send>) {
        work();
    }

    fn pause(&self) {
        self.clock.advance(Duration::from_secs(2));
    }
}

struct Bed {
    face: Arc<Face>,
    pool: Arc<Slow>,
}

impl Bed {
    fn ask(&self) -> Receiver<Reply> {
        let (sender, receiver) = channel();
        let answer = Box::new(move |reply| sender.send(reply).unwrap());
        let body = br#"{"TableName": "Rows"}"#.as_slice().into();
        self.face.dispatch(&RequestHead::operation("DescribeTable"), body, answer);
        receiver
    }

    /// Runs the oldest work that the pool was given.
    fn run_one(&self) {
        let work = self.pool.kept.lock().unwrap().remove(0);
        work(Ok(()));
    }

    fn waits(&self) -> usize {
        self.pool.kept.lock().unwrap().len()
    }
}

fn answered(receiver: &Receiver<Reply>) -> Option<Shown> {
    let reply = receiver.try_recv().ok()?;
    assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
    Some(read(&serde_json::from_slice(&reply.body).unwrap()))
}

#[test]
fn nobody_waits_for_a_long_count_and_the_next_answer_has_it() {
    let server = Server::new();
    create(&server);
    let mut model = Model::new();
    write(&server, &mut model, 0..60_000, false);
    let before = shown_of(&model);
    let clock = Arc::clone(&server.clock);
    let pool = Arc::new(Slow { kept: Mutex::default(), clock: Arc::clone(&clock) });
    let face = Arc::new(server.face.with_pool(Arc::clone(&pool) as Arc<dyn Pool>));
    let bed = Bed { face, pool };
    let first = bed.ask();
    assert_eq!(answered(&first), None, "it begins where it was read, and goes on at the pool");
    bed.run_one();
    let partly = answered(&first).expect("the answer does not wait for the whole count");
    assert!(partly.items > 0 && partly.items < before.items, "{partly:?}");
    // One count goes on, whoever asks meanwhile.
    assert_eq!(bed.waits(), 1);
    bed.run_one();
    assert_eq!(answered(&bed.ask()), Some(before), "counted without its client");
    assert_eq!(bed.waits(), 0, "nothing was written since");

    let delete = json!({"TableName": "Rows", "Key": {"h": {"S": "key-10"}}}).to_string();
    let reply = bed.face.call(&RequestHead::operation("DeleteItem"), delete.as_bytes());
    assert_eq!(reply.status, 200);
    model.remove("key-10");
    assert_eq!(answered(&bed.ask()), Some(before), "the last figure, at once");
    assert_eq!(bed.waits(), 0, "the table rests after a long count");
    clock.advance(Duration::from_secs(600));
    assert_eq!(answered(&bed.ask()), Some(before));
    assert_eq!(answered(&bed.ask()), Some(before));
    assert_eq!(bed.waits(), 1, "one count for both");
    bed.run_one();
    assert_eq!(answered(&bed.ask()), Some(shown_of(&model)));
    assert_eq!(bed.waits(), 0);

    // A count that the pool refuses is begun by the next who asks.
    let put = json!({"TableName": "Rows", "Item": {"h": {"S": "key-11"}}}).to_string();
    let reply = bed.face.call(&RequestHead::operation("PutItem"), put.as_bytes());
    assert_eq!(reply.status, 200);
    clock.advance(Duration::from_secs(600));
    assert_eq!(answered(&bed.ask()), Some(shown_of(&model)));
    let refused = bed.pool.kept.lock().unwrap().remove(0);
    refused(Err(shelfmark_engine::weight::Refused));
    assert_eq!(answered(&bed.ask()), Some(shown_of(&model)));
    assert_eq!(bed.waits(), 1);
}
