//! Clients of all faces on the same rows: what they saw must be explained by one order of their calls.
//!
//! Two tables, one of DynamoDB's and one of CQL's, hold lists of versions; clients of DynamoDB, of CQL
//! and of the engine read and write both. The checker is that of `shelfmark-conformance`. What is read in one call and
//! written in a later one is a transaction only as far as the write's condition says what was read, so
//! a read is a transaction of its own. Plain writes of CQL to CQL's own table are left out: of those
//! the later timestamp counts, by CQL's rules.
//!
//! *Interleaved*, a seed decides in one thread whose call comes next; in a *race* threads do.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use serde_json::{Value as Json, json};
use shelfmark_conformance::history::{History, Outcome, Record, Version, check};
use shelfmark_cql::{Outcome as Answer, RequestOptions};
use shelfmark_engine::{Engine, Environment, Get, SeededRandom, Share, Table, Write};
use shelfmark_model::{Item, Key, TableName, Value};
use shelfmark_store::clock::{Clock, ManualClock};
use shelfmark_store::memory::MemoryStore;
use shelfmark_store::random::SplitMix;
use shelfmark_testkit::seeds;

use super::runner::Faces;
use super::shown::literals;

/// Rows of each table; all lie in one partition.
const ROWS: usize = 2;

/// A row: its table, and its sort key.
type Place = (usize, usize);

/// The tables as DynamoDB and as CQL call them.
const NAMES: [(&str, &str); 2] = [("ddd", "dynamodb.ddd"), ("k.ccc", "k.ccc")];

/// What a client read: the list of each place.
type Seen = BTreeMap<Place, Vec<u64>>;

struct World {
    faces: Faces,
    engine: Engine,
    tables: [Arc<Table>; 2],
    events: AtomicU64,
    ids: AtomicU64,
    records: Mutex<Vec<Record>>,
}

fn places() -> impl Iterator<Item = Place> {
    (0..NAMES.len()).flat_map(|table| (0..ROWS).map(move |row| (table, row)))
}

fn name((table, row): Place) -> Bytes {
    Bytes::from(format!("{table}/{row}"))
}

/// Every write has one version, which is the number of its transaction.
fn versions(list: &[u64]) -> Vec<Version> {
    list.iter().map(|txn| Version { txn: *txn, step: 0 }).collect()
}

fn numbers(list: &[u64]) -> Json {
    Json::Array(list.iter().map(|n| json!({"N": n.to_string()})).collect())
}

fn with(list: &[u64], own: u64) -> Vec<u64> {
    list.iter().copied().chain([own]).collect()
}

/// Opens an engine over a store in memory.
pub(super) fn engine(seed: u64) -> Engine {
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::at_micros(1_577_836_800_000_000));
    let random = Arc::new(SeededRandom::new(seed));
    let environment = Environment { clock: Arc::clone(&clock), random };
    Engine::open(Arc::new(MemoryStore::new(clock)), environment).unwrap()
}

impl World {
    fn new(seed: u64) -> Self {
        let engine = engine(seed);
        let faces = Faces::open(&engine, Share::All);
        let (status, body) = faces.dynamodb(
            "CreateTable",
            r#"{"TableName":"ddd","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[
            {"AttributeName":"p","AttributeType":"S"},{"AttributeName":"s","AttributeType":"N"}],
            "KeySchema":[{"AttributeName":"p","KeyType":"HASH"},{"AttributeName":"s","KeyType":"RANGE"}]}"#,
        );
        assert_eq!(status, 200, "{body}");
        for text in [
            "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
            "CREATE TABLE k.ccc (p text, s int, l list<bigint>, PRIMARY KEY (p, s))",
            "ALTER TABLE dynamodb.ddd ADD l list<bigint>",
        ] {
            faces.cql(text, RequestOptions::default()).unwrap();
        }
        let own = engine.table(&TableName::new("dynamodb", "ddd")).unwrap();
        let of_cql = engine.sharing(Share::All).shared_items(&TableName::new("k", "ccc")).unwrap();
        let (events, ids, records) = (AtomicU64::new(0), AtomicU64::new(1), Mutex::default());
        Self { faces, engine, tables: [own, of_cql], events, ids, records }
    }

    fn event(&self) -> u64 {
        self.events.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Notes one call: what it read, which places it wrote, whether it was acknowledged.
    fn note(&self, id: u64, began: u64, reads: Seen, writes: &[Place], is_done: bool) {
        let outcome = if is_done { Outcome::Committed(None) } else { Outcome::Aborted };
        let reads = reads.into_iter().map(|(place, list)| (name(place), versions(&list)));
        let version = Version { txn: id, step: 0 };
        let record = Record {
            id,
            reads: reads.collect(),
            writes: writes.iter().map(|place| (name(*place), version)).collect(),
            outcome,
            began,
            ended: self.event(),
        };
        self.records.lock().unwrap().push(record);
    }

    fn id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::SeqCst)
    }

    /// Reads by one call of one face, which is a transaction by itself.
    fn read(&self, random: &mut SplitMix) -> Seen {
        let (id, began) = (self.id(), self.event());
        let seen = match random.below(3) {
            0 => self.read_dynamodb(),
            1 => self.read_cql(random.index(2)),
            _ => self.read_engine(),
        };
        self.note(id, began, seen.clone(), &[], true);
        seen
    }

    fn read_dynamodb(&self) -> Seen {
        let get = |(table, row): Place| {
            let key = json!({"p": {"S": "x"}, "s": {"N": row.to_string()}});
            json!({"Get": {"TableName": NAMES[table].0, "Key": key}})
        };
        let body = json!({"TransactItems": places().map(get).collect::<Vec<_>>()});
        let (status, answer) = self.faces.dynamodb("TransactGetItems", &body.to_string());
        assert_eq!(status, 200, "{answer}");
        let answer: Json = serde_json::from_str(&answer).unwrap();
        let list = |response: &Json| -> Vec<u64> {
            let all = response["Item"]["l"]["L"].as_array().cloned().unwrap_or_default();
            all.iter().map(|own| own["N"].as_str().unwrap().parse().unwrap()).collect()
        };
        places().zip(answer["Responses"].as_array().unwrap().iter().map(list)).collect()
    }

    fn read_cql(&self, table: usize) -> Seen {
        let text = format!("SELECT s, l FROM {} WHERE p = 'x'", NAMES[table].1);
        let answer = self.faces.cql(&text, RequestOptions::default()).unwrap();
        let Answer::Rows(rows) = answer.outcome else { panic!("no rows") };
        // Rows that are not there were seen not to be there.
        let mut seen: Seen = (0..ROWS).map(|row| ((table, row), Vec::new())).collect();
        for row in literals(&rows) {
            let numbers = row[1].trim_matches(['[', ']']).split(", ");
            let list = numbers.filter_map(|own| own.parse().ok()).collect();
            seen.insert((table, row[0].parse().unwrap()), list);
        }
        seen
    }

    fn read_engine(&self) -> Seen {
        let read = self
            .engine
            .transact(|tx| places().map(|place| Ok((place, self.list_of(tx, place)?))).collect());
        read.unwrap()
    }

    fn list_of(
        &self,
        tx: &shelfmark_engine::Transaction<'_>,
        (table, row): Place,
    ) -> shelfmark_engine::Result<Vec<u64>> {
        let row = i64::try_from(row).unwrap();
        let key = Key { partition: vec!["x".into()], sort: vec![Value::number(row)] };
        let item = tx.get(&self.tables[table], &Get::new(key))?.item;
        let Some(Value::List(list)) = item.and_then(|mut item| item.remove("l")) else {
            return Ok(Vec::new());
        };
        let number = |value: &Value| match value {
            Value::Number(number) => number.to_string().parse().unwrap(),
            other => panic!("{other:?} is no version"),
        };
        Ok(list.iter().map(number).collect())
    }

    /// Writes by one call, given what was read before.
    fn write(&self, seen: &Seen, random: &mut SplitMix) {
        match random.below(5) {
            0 => self.transact_dynamodb(seen, random),
            1 => self.condition_cql(seen, random),
            2 => self.transact_engine(random),
            3 => self.append_dynamodb(random),
            _ => self.append_cql(),
        }
    }

    /// Some places are written and some are only checked, of both tables in one call.
    fn transact_dynamodb(&self, seen: &Seen, random: &mut SplitMix) {
        let (id, began) = (self.id(), self.event());
        let (mut items, mut reads, mut writes) = (Vec::new(), Seen::new(), Vec::new());
        for (place, list) in seen {
            let is_written = random.below(2) == 0;
            let (table, row) = *place;
            let mut values = serde_json::Map::new();
            let condition = match list.is_empty() {
                true => "attribute_not_exists(l)",
                false => {
                    values.insert(":old".to_owned(), json!({"L": numbers(list)}));
                    "l = :old"
                }
            };
            let mut item = json!({"TableName": NAMES[table].0, "ConditionExpression": condition,
                "Key": {"p": {"S": "x"}, "s": {"N": row.to_string()}}});
            if is_written {
                values.insert(":new".to_owned(), json!({"L": numbers(&with(list, id))}));
                item["UpdateExpression"] = json!("SET l = :new");
                writes.push(*place);
            }
            if !values.is_empty() {
                item["ExpressionAttributeValues"] = Json::Object(values);
            }
            reads.insert(*place, list.clone());
            let what = if is_written { "Update" } else { "ConditionCheck" };
            items.push(json!({ what: item }));
        }
        let body = json!({ "TransactItems": items }).to_string();
        let (status, answer) = self.faces.dynamodb("TransactWriteItems", &body);
        assert!(status == 200 || answer.contains("TransactionCanceled"), "{answer}\n{body}");
        let reads = if status == 200 { reads } else { Seen::new() };
        self.note(id, began, reads, &writes, status == 200);
    }

    /// A conditional batch over the rows of one table.
    fn condition_cql(&self, seen: &Seen, random: &mut SplitMix) {
        let (id, began) = (self.id(), self.event());
        let table = seen.keys().map(|(table, _)| *table).nth(random.index(seen.len()));
        let own: Seen =
            seen.iter().filter(|(place, _)| Some(place.0) == table).map(copied).collect();
        let statement = |(place, list): (&Place, &Vec<u64>)| {
            let condition = if list.is_empty() { "null".to_owned() } else { format!("{list:?}") };
            let (table, row) = *place;
            format!(
                "UPDATE {} SET l = {:?} WHERE p = 'x' AND s = {row} IF l = {condition};",
                NAMES[table].1,
                with(list, id)
            )
        };
        let statements: String = own.iter().map(statement).collect();
        let text = format!("BEGIN BATCH {statements} APPLY BATCH");
        let answer = self.faces.cql(&text, RequestOptions::default()).unwrap();
        let Answer::Rows(rows) = answer.outcome else { panic!("no rows") };
        let is_done = literals(&rows)[0][0] == "true";
        let writes: Vec<Place> = own.keys().copied().collect();
        self.note(id, began, if is_done { own } else { Seen::new() }, &writes, is_done);
    }

    /// A body that reads two places and writes one of them.
    fn transact_engine(&self, random: &mut SplitMix) {
        let (id, began) = (self.id(), self.event());
        let all: Vec<Place> = places().collect();
        let (one, other) = (all[random.index(all.len())], all[random.index(all.len())]);
        let reads = self.engine.transact(|tx| {
            let (own, beside) = (self.list_of(tx, one)?, self.list_of(tx, other)?);
            let value = |n: &u64| Value::number(i64::try_from(*n).unwrap());
            let list = Value::List(with(&own, id).iter().map(value).collect());
            let row = i64::try_from(one.1).unwrap();
            let item = Item::new().with("p", "x").with("s", Value::number(row)).with("l", list);
            tx.write(&Write::put(&self.tables[one.0], item))?;
            Ok(Seen::from([(other, beside), (one, own)]))
        });
        self.note(id, began, reads.unwrap(), &[one], true);
    }

    /// An update that appends to what is there, without a condition.
    fn append_dynamodb(&self, random: &mut SplitMix) {
        let (id, began) = (self.id(), self.event());
        let all: Vec<Place> = places().collect();
        let place = all[random.index(all.len())];
        let body = json!({"TableName": NAMES[place.0].0,
            "Key": {"p": {"S": "x"}, "s": {"N": place.1.to_string()}},
            "UpdateExpression": "SET l = list_append(if_not_exists(l, :none), :own)",
            "ExpressionAttributeValues": {":none": {"L": []}, ":own": {"L": numbers(&[id])}}});
        let (status, answer) = self.faces.dynamodb("UpdateItem", &body.to_string());
        assert_eq!(status, 200, "{answer}");
        self.note(id, began, Seen::new(), &[place], true);
    }

    /// A logged batch that appends to all rows of DynamoDB's table.
    fn append_cql(&self) {
        let (id, began) = (self.id(), self.event());
        let statement =
            |row| format!("UPDATE {} SET l = l + [{id}] WHERE p = 'x' AND s = {row};", NAMES[0].1);
        let statements: String = (0..ROWS).map(statement).collect();
        let text = format!("BEGIN BATCH {statements} APPLY BATCH");
        self.faces.cql(&text, RequestOptions::default()).unwrap();
        let writes: Vec<Place> = (0..ROWS).map(|row| (0, row)).collect();
        self.note(id, began, Seen::new(), &writes, true);
    }

    /// Judges what happened, once everything has ended. Returns how many calls were done and refused.
    fn judged(self) -> (usize, usize) {
        let finals = self.read_dynamodb();
        for table in 0..NAMES.len() {
            let of_cql = self.read_cql(table);
            assert!(of_cql.iter().all(|(place, list)| finals.get(place) == Some(list)));
        }
        let finals = finals.into_iter().map(|(place, list)| (name(place), versions(&list)));
        let records = self.records.into_inner().unwrap();
        let done = records.iter().filter(|own| own.outcome != Outcome::Aborted).count();
        let all = records.len();
        let history = History { records, finals: finals.collect(), is_numbered_in_order: false };
        let anomalies = check(&history);
        assert!(anomalies.is_empty(), "{anomalies:#?}\n{history:#?}");
        assert_eq!(self.engine.verify().unwrap().findings, []);
        (done, all - done)
    }
}

fn copied((place, list): (&Place, &Vec<u64>)) -> (Place, Vec<u64>) {
    (*place, list.clone())
}

#[test]
fn interleaved() {
    let mut sum = (0, 0);
    seeds::each(40, 2_000, |seed| {
        let (world, mut random) = (World::new(seed), SplitMix::new(seed));
        // What clients have read and not written yet.
        let mut pending: Vec<Seen> = Vec::new();
        for _ in 0..60 {
            if pending.len() < 4 && random.below(2) == 0 {
                pending.push(world.read(&mut random));
            } else if !pending.is_empty() {
                let seen = pending.swap_remove(random.index(pending.len()));
                world.write(&seen, &mut random);
            }
        }
        let (done, refused) = world.judged();
        sum = (sum.0 + done, sum.1 + refused);
    });
    // One seed alone may be a quiet one.
    assert!(sum.0 + sum.1 < 1_000 || sum.1 > sum.0 / 20, "done, refused: {sum:?}");
}

#[test]
fn in_a_race() {
    seeds::each(6, 500, |seed| {
        let (world, mut seeds) = (World::new(seed), SplitMix::new(seed));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let (world, mut random) = (&world, seeds.fork());
                scope.spawn(move || {
                    for _ in 0..30 {
                        let seen = world.read(&mut random);
                        world.write(&seen, &mut random);
                    }
                });
            }
        });
        world.judged();
    });
}
