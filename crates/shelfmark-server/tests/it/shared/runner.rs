//! What runs a script: both faces over one engine.

use std::error::Error;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use bytes::Bytes;
use goldenscript::{Argument, Command, Context, Runner};
use shelfmark_cql::{
    Answered, BoundValue, ChangeKind, CqlError, CqlType, Executor, FaceOptions, Inline, Outcome,
    RequestOptions, ResultRows, Values,
};
use shelfmark_cql_types::{from_text, to_literal};
use shelfmark_dynamo as dynamo;
use shelfmark_engine::{Engine, Environment, SeededRandom, Share};
use shelfmark_store::clock::{Clock, ManualClock};
use shelfmark_store::memory::MemoryStore;

use super::typed;

/// Both faces over one engine.
pub(super) struct World {
    store: Arc<MemoryStore>,
    clock: Arc<ManualClock>,
    engine: Engine,
    grant: Share,
    faces: Faces,
    /// What reads and writes have read, by table or index.
    steps: Steps,
}

type Steps = Arc<Mutex<Vec<String>>>;

/// Both faces, as a server has them.
pub(super) struct Faces {
    pub(super) dynamodb: dynamo::Face,
    pub(super) cql: Arc<Executor>,
    _face: shelfmark_cql::Face,
}

impl Faces {
    /// Opens both faces over an engine.
    pub(super) fn open(engine: &Engine, share: Share) -> Self {
        let engine = engine
            .sharing(share)
            .writing_attributes(Arc::new(dynamo::AttributesJson))
            .checking_columns(Arc::new(shelfmark_cql::ColumnTypes));
        let environment = engine.environment().clone();
        let options = dynamo::FaceOptions { share, ..dynamo::FaceOptions::default() };
        let dynamodb = dynamo::Face::new(engine.clone(), environment.clone(), options);
        let options = FaceOptions::default();
        let face =
            shelfmark_cql::Face::open(engine.clone(), environment, options, None, Arc::new(Inline));
        let face = face.unwrap();
        Self { dynamodb, cql: face.executor(), _face: face }
    }

    /// Calls DynamoDB and returns status and body.
    pub(super) fn dynamodb(&self, operation: &str, body: &str) -> (u16, String) {
        let head = dynamo::RequestHead::operation(operation);
        let reply = self.dynamodb.call(&head, body.as_bytes());
        (reply.status, String::from_utf8(reply.body.to_vec()).unwrap())
    }

    /// Runs a statement of CQL.
    pub(super) fn cql(&self, text: &str, options: RequestOptions) -> Result<Answered, CqlError> {
        let statement = self.cql.prepare(text, None)?;
        let (sender, receiver) = mpsc::channel();
        let answer = Box::new(move |answered| sender.send(answered).unwrap());
        self.cql.execute(&statement, options, answer);
        receiver.recv().unwrap()
    }
}

fn engine(store: &Arc<MemoryStore>, clock: &Arc<ManualClock>, steps: &Steps) -> Engine {
    let clock: Arc<dyn Clock> = Arc::clone(clock) as _;
    let environment = Environment { clock, random: Arc::new(SeededRandom::new(1)) };
    let steps = Arc::clone(steps);
    Engine::open(Arc::clone(store) as _, environment).unwrap().observed(move |report| {
        let told = report.steps.iter().map(|step| {
            let place = step.index.as_deref().unwrap_or(&step.table);
            format!("{place}: {} read, {} returned", step.rows_read, step.rows_returned)
        });
        steps.lock().unwrap().extend(told);
    })
}

impl World {
    pub(super) fn new() -> Self {
        // 2020-01-01T00:00:00Z.
        let clock = Arc::new(ManualClock::at_micros(1_577_836_800_000_000));
        let store = Arc::new(MemoryStore::new(Arc::clone(&clock) as _));
        let grant = Share::All;
        let steps = Steps::default();
        let engine = engine(&store, &clock, &steps);
        let faces = Faces::open(&engine, grant);
        Self { store, clock, engine, grant, faces, steps }
    }

    fn reopen(&mut self) {
        self.engine = engine(&self.store, &self.clock, &self.steps);
        self.faces = Faces::open(&self.engine, self.grant);
    }

    /// Scans a table item by item, each time from the key that the page before ended at.
    fn walk(&self, table: &str) -> String {
        const PAGES_MAX: usize = 50;
        let (mut out, mut start) = (String::new(), String::new());
        for _ in 0..PAGES_MAX {
            let body = format!(r#"{{"TableName":"{table}","Limit":1{start}}}"#);
            let (status, body) = self.faces.dynamodb("Scan", &body);
            writeln!(out, "{status} {body}").unwrap();
            let Some((_, last)) = body.split_once(r#""LastEvaluatedKey":"#) else { return out };
            start = format!(r#","ExclusiveStartKey":{}"#, last.strip_suffix('}').unwrap());
        }
        panic!("the scan of {table} does not end")
    }

    fn run(&self, text: &str, values: Values) -> Result<String, CqlError> {
        let options = RequestOptions { values, ..RequestOptions::default() };
        Ok(shown(&self.faces.cql(text, options)?))
    }

    fn bind(&self, text: &str, given: &[String]) -> Result<String, CqlError> {
        let statement = self.faces.cql.prepare(text, None)?;
        let bound =
            statement.markers.iter().zip(given).map(|(marker, value)| match value.as_str() {
                "null" => BoundValue::Null,
                "unset" => BoundValue::Unset,
                text => BoundValue::Bytes(Bytes::from(from_text(&marker.kind, text).unwrap())),
            });
        self.run(text, Values::Positional(bound.collect()))
    }

    fn pages(&mut self, text: &str, size: u32, restarts: bool) -> Result<String, CqlError> {
        let (mut out, mut paging) = (String::new(), None);
        loop {
            if restarts {
                self.reopen();
            }
            let options =
                RequestOptions { page_size: Some(size), paging, ..RequestOptions::default() };
            let answered = self.faces.cql(text, options)?;
            let Outcome::Rows(rows) = answered.outcome else { return Ok("no rows".to_owned()) };
            out.push_str(&shown_rows(&rows));
            paging = rows.paging;
            if paging.is_none() {
                return Ok(out);
            }
            out.push_str("\n-- next page\n");
        }
    }
}

fn shown(answered: &Answered) -> String {
    match &answered.outcome {
        Outcome::Void => [vec!["ok".to_owned()], answered.warnings.clone()].concat().join("\n"),
        Outcome::SetKeyspace(name) => format!("using {name}"),
        Outcome::SchemaChange(change) => {
            let kind = match change.kind {
                ChangeKind::Created => "created",
                ChangeKind::Updated => "updated",
                ChangeKind::Dropped => "dropped",
            };
            format!("{kind} {:?} {} {}", change.target, change.keyspace, change.name)
        }
        Outcome::Rows(rows) => {
            [vec![shown_rows(rows)], answered.warnings.clone()].concat().join("\n")
        }
    }
}

/// Returns the values of each row as constants of CQL.
pub(super) fn literals(rows: &ResultRows) -> Vec<Vec<String>> {
    let mut rest = rows.rows.bytes();
    let mut take = |kind: &CqlType| {
        let (length, after) = rest.split_first_chunk::<4>().unwrap();
        let value = usize::try_from(i32::from_be_bytes(*length)).ok();
        let (value, after) = match value {
            Some(length) => (Some(&after[..length]), &after[length..]),
            None => (None, after),
        };
        rest = after;
        to_literal(kind, value)
    };
    let row = |_| rows.columns.iter().map(|own| take(&own.kind)).collect();
    (0..rows.rows.rows()).map(row).collect()
}

fn shown_rows(rows: &ResultRows) -> String {
    let names: Vec<&str> = rows.columns.iter().map(|own| &*own.name).collect();
    let all = literals(rows).into_iter().map(|row| row.join(" | "));
    std::iter::once(names.join(" | ")).chain(all).collect::<Vec<_>>().join("\n")
}

impl Runner for World {
    type Command = Command;

    fn run(&mut self, command: &Command, _: &Context) -> Result<String, Box<dyn Error>> {
        let named = |name: &str| -> Option<String> {
            command.args.iter().find_map(|argument| match argument {
                Argument::KeyValue(own, value) if own == name => Some(value.clone()),
                _ => None,
            })
        };
        let given: Vec<String> = command
            .args
            .iter()
            .filter_map(|argument| match argument {
                Argument::Positional(value) => Some(value.clone()),
                _ => None,
            })
            .collect();
        let text = given.first().cloned().unwrap_or_default();
        let answer = match command.name.as_str() {
            "dynamodb" => {
                let body = given.get(1).map_or("{}", String::as_str);
                let (status, body) = self.faces.dynamodb(&text, body);
                let body = if text.ends_with("Table") { String::new() } else { body };
                return Ok(format!("{status} {body}\n"));
            }
            "walk" => return Ok(self.walk(&text)),
            "typed" => {
                typed::write(&self.engine);
                return Ok(String::new());
            }
            "wait" => {
                let seconds: u64 = named("seconds").unwrap().parse()?;
                self.clock.advance(Duration::from_secs(seconds));
                return Ok(String::new());
            }
            "page" => {
                let size = named("size").unwrap().parse()?;
                self.pages(&text, size, named("restarts").is_some())
            }
            "bind" => self.bind(&text, given.get(1..).unwrap_or_default()),
            "steps" => {
                self.steps.lock().unwrap().clear();
                let answer = World::run(self, &text, Values::default());
                let steps = self.steps.lock().unwrap().join("\n");
                answer.map(|rows| format!("{} rows\n{steps}", rows.lines().count() - 1))
            }
            "reopen" => {
                self.reopen();
                return Ok(String::new());
            }
            "share" => {
                self.grant = Share::of_word(&text).unwrap();
                self.reopen();
                return Ok(String::new());
            }
            statement => World::run(self, statement, Values::default()),
        };
        let shown = match answer {
            Ok(shown) => shown,
            Err(error) => format!("{:?}: {}", error.code, error.message),
        };
        Ok(format!("{shown}\n"))
    }
}
