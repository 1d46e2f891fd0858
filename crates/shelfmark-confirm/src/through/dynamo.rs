//! An in-process DynamoDB face with the tables of one schema: requests in, items out.
//!
//! Invariant: what is sent is the filled body, and an answer that is no success is an error.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use shelfmark_dynamo::{Face, FaceOptions, RequestHead};
use shelfmark_engine::{Engine, Environment, SeededRandom};
use shelfmark_store::clock::SystemClock;
use shelfmark_store::memory::MemoryStore;

/// The name in the answer to a request whose condition does not hold.
const CONDITION_FAILED: &str = "ConditionalCheckFailed";

/// Most pages that one read is followed over.
///
/// Ours: states are small; more is a page that leads to itself.
const PAGES_MAX: usize = 1_000;

/// A face over an engine in memory.
pub(super) struct Server {
    face: Face,
    tables: Vec<String>,
}

impl Server {
    /// Creates the tables and puts the items.
    pub(super) fn new(create: &[Json], items: &[(String, Json)]) -> Result<Self, String> {
        let clock = Arc::new(SystemClock::new());
        let store = Arc::new(MemoryStore::new(Arc::<SystemClock>::clone(&clock)));
        let environment = Environment { clock, random: Arc::new(SeededRandom::new(1)) };
        let engine = Engine::open(store, environment.clone()).map_err(|error| error.to_string())?;
        let face = Face::new(engine, environment, FaceOptions::default());
        let name = |body: &Json| body.get("TableName").and_then(Json::as_str).map(str::to_owned);
        let server = Self { face, tables: create.iter().filter_map(name).collect() };
        for body in create {
            server.send("CreateTable", body)?;
        }
        for (table, item) in items {
            server.send("PutItem", &json!({ "TableName": table, "Item": item }))?;
        }
        Ok(server)
    }

    /// Sends a request.
    pub(super) fn send(&self, operation: &str, body: &Json) -> Result<Json, String> {
        let reply = self.face.call(&RequestHead::operation(operation), body.to_string().as_bytes());
        let text = String::from_utf8_lossy(&reply.body);
        if reply.status != 200 {
            return Err(format!("{operation} {body}: {text}"));
        }
        serde_json::from_slice(&reply.body).map_err(|error| format!("{operation}: {error}"))
    }

    /// Sends a change; false if its condition does not hold, and nothing was changed.
    pub(super) fn change(&self, operation: &str, body: &Json) -> Result<bool, String> {
        match self.send(operation, body) {
            Ok(_) => Ok(true),
            Err(why) if why.contains(CONDITION_FAILED) => Ok(false),
            Err(why) => Err(why),
        }
    }

    /// Sends a read and follows its pages, as far as its own limit allows.
    pub(super) fn read(&self, operation: &str, body: &Json) -> Result<Vec<Json>, String> {
        let mut body = body.clone();
        let limit = body.get("Limit").and_then(Json::as_u64);
        let mut found: Vec<Json> = Vec::new();
        for _ in 0..PAGES_MAX {
            let answer = self.send(operation, &body)?;
            found.extend(answer.get("Item").cloned());
            found.extend(
                answer.get("Items").and_then(Json::as_array).into_iter().flatten().cloned(),
            );
            let (Some(next), None) = (answer.get("LastEvaluatedKey"), limit) else {
                return Ok(found);
            };
            if let Some(fields) = body.as_object_mut() {
                fields.insert("ExclusiveStartKey".to_owned(), next.clone());
            }
        }
        Err(format!("{operation}: its pages do not end"))
    }

    /// Returns every item of every table, sorted by its text.
    pub(super) fn dump(&self) -> Result<Vec<(String, Json)>, String> {
        let mut all = Vec::new();
        for table in &self.tables {
            let items = self.read("Scan", &json!({ "TableName": table }))?;
            all.extend(items.into_iter().map(|item| (table.clone(), item)));
        }
        Ok(in_order(all))
    }
}

/// Sorts items by their text, so that two lists can be compared.
pub(super) fn in_order(mut items: Vec<(String, Json)>) -> Vec<(String, Json)> {
    let sorted = |item: &Json| {
        let mut fields: Vec<String> = item
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| format!("{name}{value}"))
            .collect();
        fields.sort();
        fields
    };
    items.sort_by_cached_key(|(table, item)| (table.clone(), sorted(item)));
    items
}
