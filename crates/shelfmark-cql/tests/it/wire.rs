//! Both ends of a connection in one process, speaking frames.

use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};

use bytes::{Bytes, BytesMut};
use shelfmark_cql::{Connection, Face, FaceOptions, Inline};
use shelfmark_cql_protocol::client::{
    ClientConnection, Page, ProtocolVersion, Query, Response, Result as Answered, ServerError,
};
use shelfmark_cql_types::to_literal;
use shelfmark_engine::{Engine, Environment, SeededRandom};
use shelfmark_store::clock::{Clock, SystemClock};
use shelfmark_store::memory::MemoryStore;

/// A face over a store in memory.
pub(crate) fn face() -> Arc<Face> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let random = Arc::new(SeededRandom::new(1));
    let environment = Environment { clock: Arc::clone(&clock), random };
    let engine = Engine::open(Arc::new(MemoryStore::new(clock)), environment.clone()).unwrap();
    let options = FaceOptions::default();
    Arc::new(Face::open(engine, environment, options, None, Arc::new(Inline)).unwrap())
}

/// A connection and its client.
pub(crate) struct Wire {
    client: ClientConnection,
    pub(crate) connection: Connection,
    woken: Receiver<()>,
}

impl Wire {
    /// Connects from a port of this machine.
    pub(crate) fn new(face: &Arc<Face>, port: u16) -> Self {
        let (wake, woken) = std::sync::mpsc::channel();
        let wake = Mutex::new(wake);
        // Nobody listens any more when the connection is gone.
        let wake = Box::new(move || {
            let _ = wake.lock().unwrap().send(());
        });
        let client = ([127, 0, 0, 1], port).into();
        let connection = Connection::new(Arc::clone(face), client, wake);
        Self { client: ClientConnection::new(ProtocolVersion::V5), connection, woken }
    }

    /// Connects and shakes hands.
    pub(crate) fn started(face: &Arc<Face>, port: u16) -> Self {
        let mut wire = Self::new(face, port);
        let startup = wire.client.startup("test");
        assert_eq!(wire.said(startup), Response::Ready);
        wire
    }

    fn said(&mut self, query: Bytes) -> Response {
        self.connection.feed(&mut BytesMut::from(query));
        loop {
            let bytes = self.connection.take_output().unwrap();
            if bytes.is_empty() {
                self.woken.recv().unwrap();
            }
            if let Some(said) = self.client.receive(&bytes).unwrap() {
                return said;
            }
        }
    }

    /// Asks, and returns the answer or the refusal.
    pub(crate) fn ask(&mut self, query: &Query<'_>) -> Result<Answered, ServerError> {
        let bytes = self.client.query(query);
        match self.said(bytes) {
            Response::Result(result) => Ok(result),
            Response::Error(refusal) => Err(refusal),
            other => panic!("{other:?}"),
        }
    }

    /// Runs a statement that is right.
    pub(crate) fn run(&mut self, text: &str) -> Answered {
        let query = Query { text, ..Query::default() };
        self.ask(&query).unwrap_or_else(|refusal| panic!("{text}: {refusal}"))
    }

    /// Runs a `SELECT` and returns its rows as CQL constants.
    pub(crate) fn rows(&mut self, text: &str) -> Vec<Vec<String>> {
        literals(&self.run(text).page.unwrap())
    }
}

/// The rows of a page as CQL constants.
pub(crate) fn literals(page: &Page) -> Vec<Vec<String>> {
    let row = |row: &Vec<Option<Bytes>>| {
        let pairs = page.columns.iter().zip(row);
        pairs.map(|(column, value)| to_literal(&column.kind, value.as_deref())).collect()
    };
    page.rows.iter().map(row).collect()
}

/// A keyspace `k` with a table, an index of each kind and a view.
pub(crate) const SCHEMA: [&str; 5] = [
    "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TABLE k.t (a int, b int, v int, s text, PRIMARY KEY (a, b))",
    "CREATE INDEX by_v ON k.t (v)",
    "CREATE INDEX by_s ON k.t (s) USING 'sai'",
    "CREATE MATERIALIZED VIEW k.m AS SELECT * FROM k.t WHERE v IS NOT NULL AND a IS NOT NULL AND \
     b IS NOT NULL PRIMARY KEY (v, a, b)",
];
