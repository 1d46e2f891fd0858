//! An endpoint in this process: a face over a store in memory, which can be made to fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use serde_json::{Value as Json, json};
use shelfmark_dynamo::{DynamoDbEndpoint, Face, FaceOptions};
use shelfmark_engine::{Engine, Environment, SeededRandom};
use shelfmark_store::clock::{Clock, ManualClock, SystemClock};
use shelfmark_store::memory::MemoryStore;
use shelfmark_transfer::{Control, Rate};

/// An endpoint.
#[derive(Clone)]
pub(crate) struct Side {
    face: Arc<Face>,
    /// Requests that are still answered; below zero all are.
    left: Arc<AtomicI64>,
}

impl DynamoDbEndpoint for Side {
    fn send(&self, operation: &str, body: &[u8]) -> Result<(u16, Vec<u8>), String> {
        let left = self.left.fetch_sub(1, Ordering::Relaxed);
        if left == 0 || (left < 0 && left > -1_000_000) {
            self.left.store(0, Ordering::Relaxed);
            return Err("nobody is there".to_owned());
        }
        self.face.send(operation, body)
    }
}

impl Side {
    pub(crate) fn new() -> Self {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let environment =
            Environment { clock: Arc::clone(&clock), random: Arc::new(SeededRandom::new(1)) };
        let engine = Engine::open(Arc::new(MemoryStore::new(clock)), environment.clone()).unwrap();
        let face = Arc::new(Face::new(engine, environment, FaceOptions::default()));
        Self { face, left: Arc::new(AtomicI64::new(i64::MIN / 2)) }
    }

    /// Fails every request behind so many; `None` answers all again.
    pub(crate) fn fail_behind(&self, requests: Option<i64>) {
        self.left.store(requests.unwrap_or(i64::MIN / 2), Ordering::Relaxed);
    }

    pub(crate) fn connect(
        &self,
    ) -> impl Fn() -> Result<Box<dyn DynamoDbEndpoint>, String> + Sync + '_ {
        || Ok(Box::new(self.clone()))
    }

    pub(crate) fn call(&self, operation: &str, body: &Json) -> Json {
        let (status, answer) = self.face.send(operation, body.to_string().as_bytes()).unwrap();
        assert_eq!(status, 200, "{operation}: {}", String::from_utf8_lossy(&answer));
        serde_json::from_slice(&answer).unwrap()
    }

    /// Creates a table with a key of two parts, an index, an expiry and a tag.
    pub(crate) fn create(&self, table: &str) {
        let key = |name: &str, role: &str| json!({ "AttributeName": name, "KeyType": role });
        let typed =
            |name: &str, kind: &str| json!({ "AttributeName": name, "AttributeType": kind });
        self.call(
            "CreateTable",
            &json!({
                "TableName": table,
                "AttributeDefinitions": [typed("pk", "S"), typed("sk", "N"), typed("g", "B")],
                "KeySchema": [key("pk", "HASH"), key("sk", "RANGE")],
                "BillingMode": "PAY_PER_REQUEST",
                "GlobalSecondaryIndexes": [{
                    "IndexName": "by_g",
                    "KeySchema": [key("g", "HASH")],
                    "Projection": { "ProjectionType": "KEYS_ONLY" },
                }],
                "StreamSpecification": { "StreamEnabled": true, "StreamViewType": "NEW_IMAGE" },
                "Tags": [{ "Key": "team", "Value": "a" }],
            }),
        );
        self.call(
            "UpdateTimeToLive",
            &json!({
                "TableName": table,
                "TimeToLiveSpecification": { "AttributeName": "ends", "Enabled": true },
            }),
        );
    }

    pub(crate) fn put(&self, table: &str, item: &Json) {
        self.call("PutItem", &json!({ "TableName": table, "Item": item }));
    }

    /// Returns all items by their key.
    pub(crate) fn items(&self, table: &str) -> Vec<String> {
        let (mut all, mut request) = (Vec::new(), json!({ "TableName": table }));
        loop {
            let page = self.call("Scan", &request);
            all.extend(page["Items"].as_array().unwrap().iter().map(ToString::to_string));
            match page.get("LastEvaluatedKey") {
                Some(key) => request["ExclusiveStartKey"] = key.clone(),
                None => break,
            }
        }
        all.sort();
        all
    }
}

/// Runs something with a control whose waits take no time.
pub(crate) fn with_control<T>(run: impl FnOnce(&Control<'_>) -> T) -> T {
    let clock = ManualClock::at_micros(1_800_000_000_000_000);
    let stop = AtomicBool::new(false);
    let control = Control {
        clock: &clock,
        sleeper: &clock,
        stop: &stop,
        progress: &|_| {},
        rate: Rate::new(None),
    };
    run(&control)
}

/// Returns items with every kind of value, and what is at the edges.
pub(crate) fn odd_items() -> Vec<Json> {
    let key = |number: usize| json!({ "S": format!("k{number}\n\"é,;\\") });
    let values = [
        json!({ "S": "" }),
        json!({ "S": "line\nbreak, \"quoted\" \\ ' \u{1F600}" }),
        json!({ "N": "12345678901234567890123456789012345678" }),
        json!({ "N": "-0.00000000000000000000000000000000000001" }),
        json!({ "N": "1e125" }),
        json!({ "B": "AAECAw==" }),
        json!({ "B": "" }),
        json!({ "BOOL": false }),
        json!({ "NULL": true }),
        json!({ "SS": ["b", "a", ""] }),
        json!({ "NS": ["1", "-1", "0.5"] }),
        json!({ "BS": ["AA==", "AQ=="] }),
        json!({ "L": [] }),
        json!({ "L": [{ "N": "1" }, { "S": "1" }, { "L": [{ "NULL": true }] }] }),
        json!({ "M": {} }),
        json!({ "M": { "$set": { "L": [{ "S": "a" }] } } }),
        json!({ "M": { "$binary": { "S": "AA==" } } }),
        json!({ "M": { "$map": { "M": { "x": { "N": "1" } } } } }),
        json!({ "M": { "deep": { "M": { "$set": { "N": "1" }, "b": { "B": "AA==" } } } } }),
    ];
    let item = |(number, value): (usize, Json)| json!({ "pk": key(number), "sk": { "N": number.to_string() }, "v": value, "g": { "B": "AA==" } });
    let mut items: Vec<Json> = values.into_iter().enumerate().map(item).collect();
    items.push(json!({ "pk": { "S": "bare" }, "sk": { "N": "-1.5" } }));
    items
}

/// Returns items that delimited text can carry.
pub(crate) fn flat_items() -> Vec<Json> {
    (0..40)
        .map(|number| {
            let text = ["", "a,b", "\"q\"", "two\nlines", " padded "][number % 5];
            let blob = ["", "AAEC"][number % 2];
            let mut item = json!({
                "pk": { "S": format!("p{}", number % 7) },
                "sk": { "N": format!("{number}.25") },
                "text": { "S": text },
                "n": { "N": (number * 1_000).to_string() },
                "blob": { "B": blob },
                "is": { "BOOL": number % 2 == 0 },
                "a:N": { "S": "a name like a type" },
            });
            if number % 3 == 0 {
                item.as_object_mut().unwrap().remove("text");
            }
            item
        })
        .collect()
}
