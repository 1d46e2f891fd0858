//! The tables of one schema on a server of DynamoDB: requests in, items out.
//!
//! Invariant: what is sent is the filled body, and an answer that is no success is an error.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use shelfmark_design::trial::{Ask, KeyValue};
use shelfmark_design_language::codec;
use shelfmark_design_language::model::types::Type;
use shelfmark_dynamo::DynamoDbEndpoint;

use super::fill::{Open, Places};
use super::server::{Server, in_order};

/// The name in the answer to a request whose condition does not hold.
const CONDITION_FAILED: &str = "ConditionalCheckFailed";

/// Most pages that one read is followed over.
///
/// Ours: states are small; more is a page that leads to itself.
const PAGES_MAX: usize = 1_000;

/// Most times that a table is asked whether it is there.
///
/// Ours: the service makes a table within a minute, and each question is a round trip.
const ASKED_MAX: usize = 10_000;

/// Times that a read of the service is repeated until its indexes show the last writes.
///
/// Ours: they follow within tens of milliseconds, a round trip is some.
const PATIENCE: usize = 50;

/// The tables of a schema behind an endpoint.
pub(super) struct DynamoDb<'e> {
    endpoint: &'e dyn DynamoDbEndpoint,
    /// The attributes of each table's key.
    keys: BTreeMap<String, Vec<String>>,
    patience: usize,
}

impl<'e> DynamoDb<'e> {
    /// Creates the tables; `remote` if indexes may lag behind.
    pub(super) fn new(
        endpoint: &'e dyn DynamoDbEndpoint,
        create: &[Json],
        remote: bool,
    ) -> Result<Self, String> {
        let keys = create.iter().filter_map(|body| {
            let name = body.get("TableName")?.as_str()?.to_owned();
            let key = body.get("KeySchema")?.as_array()?.iter();
            let names = key.filter_map(|one| one.get("AttributeName")?.as_str());
            Some((name, names.map(str::to_owned).collect()))
        });
        let mut server =
            Self { endpoint, keys: BTreeMap::new(), patience: if remote { PATIENCE } else { 1 } };
        for (body, (name, key)) in create.iter().zip(keys) {
            if let Err(why) = server.made(body, &name, remote) {
                // What was made goes again; the first fault is the one to tell.
                let _ = server.drop_tables();
                return Err(why);
            }
            server.keys.insert(name, key);
        }
        Ok(server)
    }

    fn made(&self, body: &Json, name: &str, remote: bool) -> Result<(), String> {
        self.send("CreateTable", body)?;
        if !remote {
            return Ok(());
        }
        for _ in 0..ASKED_MAX {
            let said = self.send("DescribeTable", &json!({ "TableName": name }))?;
            let table = said.get("Table").unwrap_or(&Json::Null);
            let status = table.get("TableStatus").and_then(Json::as_str);
            let indexes = table.get("GlobalSecondaryIndexes").and_then(Json::as_array);
            let ready = |one: &Json| {
                one.get("IndexStatus").and_then(Json::as_str).is_none_or(|own| own == "ACTIVE")
            };
            if status == Some("ACTIVE") && indexes.into_iter().flatten().all(ready) {
                return Ok(());
            }
        }
        Err(format!("{name} does not become active"))
    }

    /// Sends a request.
    fn send(&self, operation: &str, body: &Json) -> Result<Json, String> {
        let (status, reply) = self.endpoint.send(operation, body.to_string().as_bytes())?;
        if status != 200 {
            return Err(format!("{operation} {body}: {}", String::from_utf8_lossy(&reply)));
        }
        serde_json::from_slice(&reply).map_err(|error| format!("{operation}: {error}"))
    }

    fn key_of(&self, table: &str, item: &Json) -> Json {
        let names = self.keys.get(table).into_iter().flatten();
        let fields = names.filter_map(|name| Some((name.clone(), item.get(name)?.clone())));
        Json::Object(fields.collect())
    }
}

impl Server for DynamoDb<'_> {
    fn fill(&self, places: &Places<'_>, request: &Json) -> Result<Json, Open> {
        places.fill(request)
    }

    fn asks_for(&self, request: &Json, ask: &Ask) -> bool {
        asks_for(request, ask)
    }

    fn read(&self, operation: &str, request: &Json) -> Result<Vec<Json>, String> {
        let mut body = request.clone();
        let limit = body.get("Limit").and_then(Json::as_u64);
        let mut found: Vec<Json> = Vec::new();
        for _ in 0..PAGES_MAX {
            let answer = self.send(operation, &body)?;
            found.extend(answer.get("Item").cloned());
            found.extend(
                answer.get("Items").and_then(Json::as_array).into_iter().flatten().cloned(),
            );
            // An answer ends at its limit, or earlier where it has as many bytes as one may have.
            let left = limit.map(|limit| limit.saturating_sub(found.len() as u64));
            let Some(next) = answer.get("LastEvaluatedKey").filter(|_| left != Some(0)) else {
                return Ok(found);
            };
            if let Some(fields) = body.as_object_mut() {
                fields.insert("ExclusiveStartKey".to_owned(), next.clone());
                fields.extend(left.map(|left| ("Limit".to_owned(), Json::from(left))));
            }
        }
        Err(format!("{operation}: its pages do not end"))
    }

    fn page(
        &self,
        operation: &str,
        request: &Json,
        cursor: Option<&Json>,
    ) -> Result<(Vec<Json>, Option<Json>), String> {
        let mut body = request.clone();
        if let (Some(cursor), Some(fields)) = (cursor, body.as_object_mut()) {
            fields.insert("ExclusiveStartKey".to_owned(), cursor.clone());
        }
        let answer = self.send(operation, &body)?;
        let items = answer.get("Items").and_then(Json::as_array).cloned().unwrap_or_default();
        Ok((items, answer.get("LastEvaluatedKey").cloned()))
    }

    fn change(&self, operation: &str, request: &Json) -> Result<bool, String> {
        match self.send(operation, request) {
            Ok(_) => Ok(true),
            Err(why) if why.contains(CONDITION_FAILED) => Ok(false),
            Err(why) => Err(why),
        }
    }

    fn hold(&self, items: &[(String, Json)]) -> Result<(), String> {
        let old = self.dump()?;
        let key = |(table, item): &(String, Json)| (table.clone(), self.key_of(table, item));
        let wanted: Vec<(String, Json)> = items.iter().map(key).collect();
        for one in &old {
            let (table, key) = key(one);
            if !wanted.contains(&(table.clone(), key.clone())) {
                self.send("DeleteItem", &json!({ "TableName": table, "Key": key }))?;
            }
        }
        for one in items.iter().filter(|one| !old.contains(one)) {
            self.send("PutItem", &json!({ "TableName": one.0, "Item": one.1 }))?;
        }
        Ok(())
    }

    fn dump(&self) -> Result<Vec<(String, Json)>, String> {
        let mut all = Vec::new();
        for table in self.keys.keys() {
            let body = json!({ "TableName": table, "ConsistentRead": true });
            let items = self.read("Scan", &body)?;
            all.extend(items.into_iter().map(|item| (table.clone(), item)));
        }
        Ok(in_order(all))
    }

    fn patience(&self) -> usize {
        self.patience
    }

    fn drop_tables(&self) -> Result<(), String> {
        for table in self.keys.keys() {
            self.send("DeleteTable", &json!({ "TableName": table }))?;
        }
        Ok(())
    }
}

/// Returns true if a filled request names the keys that the plan asks for.
fn asks_for(body: &Json, ask: &Ask) -> bool {
    let value = |name: &str| inner(body.get("ExpressionAttributeValues")?.get(name)?);
    let told: Vec<String> = match body.get("Key").and_then(Json::as_object) {
        Some(key) => key.values().filter_map(inner).collect(),
        None => (0..ask.bound.len()).filter_map(|at| value(&format!(":k{at}"))).collect(),
    };
    let prefix = match (&ask.prefix, value(":s")) {
        (Some(prefix), Some(begins)) => begins == *prefix,
        _ => true,
    };
    prefix
        && told.len() == ask.bound.len()
        && told.iter().zip(&ask.bound).all(|(told, wanted)| match wanted {
            KeyValue::Text(text) => told == text,
            KeyValue::Native(value) => [Type::Uuid, Type::Ulid, Type::Int(None), Type::Date]
                .iter()
                .any(|ty| value.text(ty) == *told),
        })
}

/// Returns a value as keys of plans show it: binary ones as hexadecimal digits.
fn inner(attribute: &Json) -> Option<String> {
    let (kind, value) = attribute.as_object()?.iter().next()?;
    let text = value.as_str()?;
    if kind == "B" { codec::hex_of_base64(text) } else { Some(text.to_owned()) }
}
