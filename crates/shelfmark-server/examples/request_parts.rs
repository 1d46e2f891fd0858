//! One request of many parts through a face, in process, to be counted by an instruction counter:
//! whatever a request is made of, four times as many parts are about four times the work.
//!
//! `request_parts KIND N` with a kind of [`KINDS`]; N of 0 does everything but the request.

use std::fmt::Write as _;
use std::sync::Arc;

use shelfmark_cql::{Inline, RequestOptions};
use shelfmark_dynamo::RequestHead;
use shelfmark_engine::{Engine, Environment, SeededRandom};
use shelfmark_store::clock::{Clock, SystemClock};
use shelfmark_store::memory::MemoryStore;

/// What is made many of.
const KINDS: &str = "dynamodb: definitions, set, names, keys, filter; cql: insert, json, in, list, batch, \
     drop, order";

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let (Some(kind), Some(count)) = (arguments.next(), arguments.next()) else {
        return Err(format!("request_parts KIND N; {KINDS}").into());
    };
    let count: usize = count.parse()?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let random = Arc::new(SeededRandom::new(1));
    let environment = Environment { clock: Arc::clone(&clock), random };
    let engine = Engine::open(Arc::new(MemoryStore::new(clock)), environment.clone())?;
    let said = match kind.as_str() {
        "definitions" | "set" | "names" | "keys" | "filter" => {
            dynamodb(engine, environment, &kind, count)
        }
        _ => cql(engine, environment, &kind, count)?,
    };
    let shown: String = said.chars().take(120).collect();
    use std::io::Write as _;
    writeln!(std::io::stdout(), "{shown}")?;
    Ok(())
}

/// Joins what `part` makes of the numbers below `count`.
fn joined(count: usize, part: impl Fn(usize) -> String) -> String {
    (0..count).map(part).collect::<Vec<_>>().join(", ")
}

fn dynamodb(engine: Engine, environment: Environment, kind: &str, count: usize) -> String {
    let options = shelfmark_dynamo::FaceOptions::default();
    let face = shelfmark_dynamo::Face::new(engine, environment, options);
    let ask = |operation: &str, body: &str| {
        let reply = face.call(&RequestHead::operation(operation), body.as_bytes());
        String::from_utf8_lossy(&reply.body).into_owned()
    };
    let definitions =
        joined(count, |at| format!(r#"{{"AttributeName": "a{at}", "AttributeType": "S"}}"#));
    let key = r#""KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}]"#;
    let table = |name: &str, definitions: &str| {
        format!(
            r#"{{"TableName": "{name}", "BillingMode": "PAY_PER_REQUEST", {key},
            "AttributeDefinitions": [{{"AttributeName": "k", "AttributeType": "S"}}{definitions}]}}"#
        )
    };
    ask("CreateTable", &table("tab", ""));
    let members = joined(count, |at| format!(r#""{at}""#));
    let at = r#""TableName": "tab", "Key": {"k": {"S": "x"}}"#;
    if count == 0 {
        return "nothing".to_owned();
    }
    match kind {
        "definitions" => ask("CreateTable", &table("other", &format!(", {definitions}"))),
        "set" => {
            let update = |verb: &str| {
                format!(
                    r#"{{{at}, "UpdateExpression": "{verb} s :s",
                    "ExpressionAttributeValues": {{":s": {{"NS": [{members}]}}}}}}"#
                )
            };
            ask("UpdateItem", &update("ADD")) + &ask("UpdateItem", &update("DELETE"))
        }
        "names" => {
            let names = joined(count, |at| format!(r##""#n{at}": "a{at}""##));
            let used = joined(count, |at| format!("#n{at}"));
            let body = format!(
                r#"{{{at}, "ProjectionExpression": "{used}",
                "ExpressionAttributeNames": {{{names}}}}}"#
            );
            ask("GetItem", &body)
        }
        "keys" => {
            let keys = joined(count, |at| format!(r#"{{"k": {{"S": "{at}"}}}}"#));
            ask("BatchGetItem", &format!(r#"{{"RequestItems": {{"tab": {{"Keys": [{keys}]}}}}}}"#))
        }
        _ => {
            let values = joined(count, |at| format!(r#"":v{at}": {{"N": "{at}"}}"#));
            let tests =
                (0..count).map(|at| format!("a <> :v{at}")).collect::<Vec<_>>().join(" AND ");
            let body = format!(
                r#"{{"TableName": "tab", "FilterExpression": "{tests}",
                "ExpressionAttributeValues": {{{values}}}}}"#
            );
            ask("Scan", &body)
        }
    }
}

fn cql(
    engine: Engine,
    environment: Environment,
    kind: &str,
    count: usize,
) -> Result<String, Failure> {
    let options = shelfmark_cql::FaceOptions::default();
    let pool = Arc::new(Inline);
    let face = shelfmark_cql::Face::open(engine, environment, options, None, pool)?;
    let executor = face.executor();
    let ask = |text: &str| -> Result<String, Failure> {
        let statement = match executor.prepare(text, Some("k")) {
            Ok(statement) => statement,
            Err(error) => return Ok(error.message),
        };
        let (sender, receiver) = std::sync::mpsc::channel();
        let answer = move |outcome| {
            // The receiver waits below.
            let _ = sender.send(format!("{outcome:?}"));
        };
        executor.execute(&statement, RequestOptions::default(), Box::new(answer));
        Ok(receiver.recv()?)
    };
    ask(
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    )?;
    ask("CREATE TABLE t (a int PRIMARY KEY, v int, l list<int>)")?;
    ask("CREATE TABLE o (a int, b int, PRIMARY KEY (a, b))")?;
    for row in 0..1_000 {
        ask(&format!("INSERT INTO t (a, v) VALUES ({row}, {row})"))?;
    }
    if count == 0 {
        return Ok("nothing".to_owned());
    }
    let names = joined(count, |at| format!("c{at}"));
    let numbers = joined(count, |at| at.to_string());
    match kind {
        "insert" => ask(&format!("INSERT INTO t ({names}) VALUES ({numbers})")),
        "json" => {
            let pairs = joined(count, |at| format!(r#""c{at}": 1"#));
            ask(&format!(r#"INSERT INTO t JSON '{{"a": 1, {pairs}}}'"#))
        }
        "in" => ask(&format!("SELECT a FROM t WHERE v IN ({numbers}) ALLOW FILTERING")),
        "list" => {
            ask(&format!("UPDATE t SET l = [{numbers}] WHERE a = 1"))?;
            ask(&format!("UPDATE t SET l = l - [{numbers}] WHERE a = 1"))
        }
        "drop" => ask(&format!("ALTER TABLE t DROP IF EXISTS ({names})")),
        "order" => {
            let order = joined(count, |at| format!("c{at} ASC"));
            ask(&format!(
                "CREATE TABLE u (a int, b int, PRIMARY KEY (a, b)) WITH CLUSTERING ORDER BY ({order})"
            ))
        }
        _ => {
            let mut text = "BEGIN UNLOGGED BATCH ".to_owned();
            for at in 0..count {
                write!(text, "INSERT INTO o (a, b) VALUES (1, {at}); ")?;
            }
            ask(&(text + "APPLY BATCH"))
        }
    }
}
