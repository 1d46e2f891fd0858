//! What runs a script: both faces over one engine.

use std::error::Error;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use goldenscript::{Command, Context, Runner};
use shelfmark_cql::{
    Answered, CqlError, Executor, FaceOptions, Inline, Outcome, RequestOptions, Values,
};
use shelfmark_dynamo as dynamo;
use shelfmark_engine::{Engine, Environment, SeededRandom, Share};
use shelfmark_store::clock::{Clock, ManualClock};
use shelfmark_store::memory::MemoryStore;

use super::shown::{bound, named, positional, shown, shown_rows, with_warnings};
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
            .checking_columns(Arc::new(shelfmark_cql::ColumnTypes))
            .checking_items(Arc::new(dynamo::VectorIndexChecks));
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
        let answered = self.faces.cql(text, options)?;
        Ok(match &answered.outcome {
            Outcome::Rows(rows) => with_warnings(shown_rows(rows), &answered),
            _ => shown(&answered),
        })
    }

    fn bind(&self, text: &str, given: &[String]) -> Result<String, CqlError> {
        let statement = self.faces.cql.prepare(text, None)?;
        self.run(text, Values::Positional(bound(&statement.markers, given)))
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

impl Runner for World {
    type Command = Command;

    fn run(&mut self, command: &Command, _: &Context) -> Result<String, Box<dyn Error>> {
        let named = |name: &str| named(command, name);
        let given = positional(command);
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
