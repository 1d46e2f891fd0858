//! What runs a script.

use std::error::Error;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use goldenscript::{Block, Command, Context, Runner};
use shelfmark_cql::{
    Answered, Authorizer, BoundValue, CqlError, Executor, Outcome, PreparedStatement,
    RequestOptions, User, Values,
};
use shelfmark_engine::{Engine, Environment, SeededRandom};
use shelfmark_store::clock::ManualClock;
use shelfmark_store::memory::MemoryStore;

use super::shown::{bound, named, positional, shown, shown_rows};

/// The role that the server is started with.
const START_ROLE: &str = "admin";

/// An engine in memory, its executor, and a connection's keyspace.
pub(crate) struct World {
    store: Arc<MemoryStore>,
    engine: Engine,
    executor: Executor,
    clock: Arc<ManualClock>,
    authorizer: Authorizer,
    keyspace: Option<String>,
    user: Option<String>,
}

impl World {
    pub(crate) fn new() -> Self {
        // 2020-01-01T00:00:00Z.
        let clock = Arc::new(ManualClock::at_micros(1_577_836_800_000_000));
        let store = Arc::new(MemoryStore::new(clock.clone()));
        let environment =
            Environment { clock: clock.clone(), random: Arc::new(SeededRandom::new(1)) };
        let engine = Engine::open(store.clone(), environment).unwrap();
        let executor = Executor::open(engine.clone(), Vec::new()).unwrap();
        let executor = executor.with_authorizer(Authorizer::AllowAll, START_ROLE);
        let authorizer = Authorizer::AllowAll;
        Self { store, engine, executor, clock, authorizer, keyspace: None, user: None }
    }

    /// Goes on with another engine.
    pub(crate) fn move_to(&mut self, engine: Engine) {
        let executor = Executor::open(engine.clone(), Vec::new()).unwrap();
        self.executor = executor.with_authorizer(self.authorizer, START_ROLE);
        self.engine = engine;
    }

    /// Does what the background does for the executor.
    pub(crate) fn go_on_building(&self) -> shelfmark_engine::Result<u64> {
        self.executor.go_on_building()
    }

    /// Opens the store anew: nothing that was remembered in memory is left.
    pub(crate) fn restart(&mut self) {
        let environment =
            Environment { clock: self.clock.clone(), random: Arc::new(SeededRandom::new(1)) };
        self.clock.advance(Duration::from_millis(1));
        self.engine = Engine::open(self.store.clone(), environment).unwrap();
        self.executor = Executor::open(self.engine.clone(), Vec::new())
            .unwrap()
            .with_authorizer(self.authorizer, START_ROLE);
    }

    /// Has this authorizer decide from now on, as after a start with another setting.
    pub(crate) fn authorize(&mut self, authorizer: Authorizer) {
        self.authorizer = authorizer;
        self.restart();
    }

    /// What runs the statements.
    pub(crate) fn executor(&self) -> &Executor {
        &self.executor
    }

    /// The engine below.
    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Prepares a statement, to be run when the world is another.
    pub(crate) fn prepare(&self, text: &str) -> Result<Arc<PreparedStatement>, CqlError> {
        self.executor.prepare(text, self.keyspace.as_deref())
    }

    /// Runs a statement as the role that is logged in.
    pub(crate) fn execute(
        &self,
        statement: &Arc<PreparedStatement>,
        mut options: RequestOptions,
    ) -> Result<Answered, CqlError> {
        options.keyspace = self.keyspace.as_deref().map(Arc::from);
        options.user = self
            .user
            .as_deref()
            .map(|name| User { name: name.into(), start_role: START_ROLE.into() });
        let (sender, receiver) = mpsc::channel();
        let answer = Box::new(move |answered| sender.send(answered).unwrap());
        self.executor.execute(statement, options, answer);
        receiver.recv().unwrap()
    }

    /// Acts as this role from now on.
    pub(crate) fn log_in(&mut self, user: &str) {
        self.user = Some(user.to_owned());
    }

    /// Runs a statement and returns its answer as text.
    pub(crate) fn run(&mut self, text: &str) -> Result<String, CqlError> {
        let statement = self.prepare(text)?;
        let answered = self.execute(&statement, RequestOptions::default())?;
        Ok(self.show(answered))
    }

    fn show(&mut self, answered: Answered) -> String {
        let text = shown(&answered);
        if let Outcome::SetKeyspace(name) = answered.outcome {
            self.keyspace = Some(name);
        }
        text
    }

    fn pages(&mut self, text: &str, size: u32, restarts: bool) -> Result<String, CqlError> {
        let mut out = String::new();
        let mut paging = None;
        loop {
            if restarts {
                let executor = Executor::open(self.engine.clone(), Vec::new())?;
                self.executor = executor.with_authorizer(self.authorizer, START_ROLE);
            }
            let statement = self.prepare(text)?;
            let options =
                RequestOptions { page_size: Some(size), paging, ..RequestOptions::default() };
            let Outcome::Rows(rows) = self.execute(&statement, options)?.outcome else {
                return Ok("no rows".to_owned());
            };
            out.push_str(&shown_rows(&rows));
            paging = rows.paging;
            if paging.is_none() {
                return Ok(out);
            }
            out.push_str("\n-- next page\n");
        }
    }

    fn bind(&mut self, text: &str, values: &[String]) -> Result<String, CqlError> {
        let statement = self.prepare(text)?;
        self.bound(text, bound(&statement.markers, values))
    }

    /// Runs a statement with values as they come off the wire.
    pub(crate) fn bound(
        &mut self,
        text: &str,
        values: Vec<BoundValue>,
    ) -> Result<String, CqlError> {
        let statement = self.prepare(text)?;
        let values = Values::Positional(values);
        let options = RequestOptions { values, ..RequestOptions::default() };
        let answered = self.execute(&statement, options)?;
        Ok(self.show(answered))
    }

    fn metadata(&self, text: &str) -> Result<String, CqlError> {
        let statement = self.prepare(text)?;
        let list = |columns: &[shelfmark_cql::ColumnSpec]| {
            let all: Vec<String> =
                columns.iter().map(|own| format!("{} {}", own.name, own.kind)).collect();
            all.join(", ")
        };
        Ok(format!(
            "markers: {}\nkey: {:?}\nresult: {}",
            list(&statement.markers),
            statement.pk_indices,
            list(&statement.result)
        ))
    }
}

impl Runner for World {
    type Command = Command;

    fn run(&mut self, command: &Command, _: &Context) -> Result<String, Box<dyn Error>> {
        let named = |name: &str| named(command, name);
        let positional = positional(command);
        let text = positional.first().cloned().unwrap_or_default();
        let answer = match command.name.as_str() {
            "page" => {
                let size = named("size").unwrap().parse()?;
                let restarts = named("restarts").is_some();
                self.pages(&text, size, restarts)
            }
            "bind" => self.bind(&text, positional.get(1..).unwrap_or_default()),
            "metadata" => self.metadata(&text),
            "clock" => {
                self.clock.advance(Duration::from_secs(named("seconds").unwrap().parse()?));
                return Ok(String::new());
            }
            "user" => {
                self.user = Some(text).filter(|name| !name.is_empty());
                return Ok(String::new());
            }
            "authorizer" => {
                self.authorize(Authorizer::named(&text).unwrap());
                return Ok(String::new());
            }
            "reopen" => {
                self.restart();
                return Ok(String::new());
            }
            statement => World::run(self, statement),
        };
        let shown = match answer {
            Ok(shown) => shown,
            Err(error) => format!("{:?}: {}", error.code, error.message),
        };
        Ok(format!("{shown}\n"))
    }

    fn end_block(&mut self, _: &Block) -> Result<String, Box<dyn Error>> {
        // Each block is a moment of its own, so that timestamps differ.
        self.clock.advance(Duration::from_millis(1));
        Ok(String::new())
    }
}
