//! Clients of the DynamoDB face.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use serde_json::{Value, json};
use shelfmark_store::random::SplitMix;

use super::REQUESTS;
use super::world::{Log, PARTITIONS, Place, ROWS, Rows, TABLE, World, below, two};
use crate::http::request;

struct Client {
    stream: TcpStream,
}

impl Client {
    fn connect(address: SocketAddr) -> Self {
        Self { stream: TcpStream::connect(address).unwrap() }
    }

    /// Returns the status and the body of an answer.
    fn ask(&mut self, operation: &str, body: &Value) -> (u16, Value) {
        self.stream.write_all(request(operation, &body.to_string()).as_bytes()).unwrap();
        let (mut bytes, mut some) = (Vec::new(), [0; 4096]);
        loop {
            let text = String::from_utf8_lossy(&bytes);
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let length = head.lines().find_map(|line| {
                    let (name, value) = line.split_once(':')?;
                    name.eq_ignore_ascii_case("content-length").then_some(value.trim())
                });
                if body.len() == length.unwrap().parse::<usize>().unwrap() {
                    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
                    return (status, serde_json::from_str(body).unwrap());
                }
            }
            let count = self.stream.read(&mut some).unwrap();
            assert!(count > 0, "closed after {:?}", String::from_utf8_lossy(&bytes));
            bytes.extend(some.iter().take(count));
        }
    }

    fn done(&mut self, operation: &str, body: &Value) -> Value {
        let (status, answer) = self.ask(operation, body);
        assert_eq!(status, 200, "{operation} {body}: {answer}");
        answer
    }
}

fn key((partition, row): Place) -> Value {
    json!({"p": {"N": partition.to_string()}, "c": {"N": row.to_string()}})
}

fn text_of(item: Option<&Value>) -> String {
    item.and_then(|item| item["v"]["S"].as_str()).unwrap_or_default().to_owned()
}

/// An append to a row that held `old`.
fn update(place: Place, old: &str, new: &str) -> Value {
    let mut update = json!({
        "TableName": TABLE, "Key": key(place),
        "UpdateExpression": "SET v = :new",
        "ExpressionAttributeValues": {":new": {"S": new}},
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    });
    if old.is_empty() {
        update["ConditionExpression"] = "attribute_not_exists(v)".into();
    } else {
        update["ConditionExpression"] = "v = :old".into();
        update["ExpressionAttributeValues"][":old"] = json!({"S": old});
    }
    update
}

/// Returns what a client sees of the table.
pub(super) fn rows(world: &World) -> Rows {
    let answer = Client::connect(world.dynamodb).done("Scan", &json!({"TableName": TABLE}));
    let number = |item: &Value, name: &str| item[name]["N"].as_str().unwrap().parse().unwrap();
    let items = answer["Items"].as_array().unwrap();
    items.iter().map(|item| ((number(item, "p"), number(item, "c")), text_of(Some(item)))).collect()
}

fn get(client: &mut Client, places: &[Place]) -> Vec<(Place, String)> {
    let parts: Vec<Value> = places
        .iter()
        .map(|place| json!({"Get": {"TableName": TABLE, "Key": key(*place)}}))
        .collect();
    let answer = client.done("TransactGetItems", &json!({"TransactItems": parts}));
    let items = answer["Responses"].as_array().unwrap();
    places.iter().zip(items).map(|(place, own)| (*place, text_of(own.get("Item")))).collect()
}

/// Does one client's requests.
pub(super) fn work(world: &World, log: &Log, seed: u64) {
    let (mut random, mut client) = (SplitMix::new(seed), Client::connect(world.dynamodb));
    for _ in 0..REQUESTS {
        let places = two(&mut random);
        match below(&mut random, 4) {
            0 => {
                let begun = log.begin("TransactGetItems");
                let saw = get(&mut client, &places);
                log.done(begun, &saw, &[]);
            }
            1 => query(&mut client, log, below(&mut random, PARTITIONS)),
            2 => append(&mut client, log, places[0]),
            _ => append_to_both(&mut client, log, &places),
        }
    }
}

/// Reads a partition.
fn query(client: &mut Client, log: &Log, partition: u8) {
    let begun = log.begin("Query");
    let answer = client.done(
        "Query",
        &json!({
            "TableName": TABLE, "ConsistentRead": true, "KeyConditionExpression": "p = :p",
            "ExpressionAttributeValues": {":p": {"N": partition.to_string()}},
        }),
    );
    let items = answer["Items"].as_array().unwrap();
    let saw: Vec<(Place, String)> = (0..ROWS)
        .map(|row| {
            let own = items
                .iter()
                .find(|item| item["c"]["N"].as_str().is_some_and(|own| own.parse() == Ok(row)));
            ((partition, row), text_of(own))
        })
        .collect();
    log.done(begun, &saw, &[]);
}

/// Appends to a row by a conditional update.
fn append(client: &mut Client, log: &Log, place: Place) {
    let [(_, old)] = get(client, &[place]).try_into().unwrap();
    let begun = log.begin("UpdateItem");
    let new = begun.append(&old);
    let (status, answer) = client.ask("UpdateItem", &update(place, &old, &new));
    if status == 200 {
        log.done(begun, &[(place, old)], &[place]);
        return;
    }
    let error = answer["__type"].as_str().unwrap();
    assert!(error.ends_with("ConditionalCheckFailedException"), "{answer}");
    log.told(begun, &[(place, text_of(answer.get("Item")))]);
}

/// Appends to two rows by a transaction of two conditional updates.
fn append_to_both(client: &mut Client, log: &Log, places: &[Place; 2]) {
    let olds = get(client, places);
    let begun = log.begin("TransactWriteItems");
    let parts: Vec<Value> = olds
        .iter()
        .map(|(place, old)| json!({"Update": update(*place, old, &begun.append(old))}))
        .collect();
    let (status, answer) = client.ask("TransactWriteItems", &json!({"TransactItems": parts}));
    if status == 200 {
        log.done(begun, &olds, places);
        return;
    }
    let error = answer["__type"].as_str().unwrap();
    assert!(error.ends_with("TransactionCanceledException"), "{answer}");
    log.refused(begun, places);
}
