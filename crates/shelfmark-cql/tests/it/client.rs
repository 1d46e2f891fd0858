//! The client's end of the protocol against a face in the same process.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use shelfmark_cql::{Connection, Face, FaceOptions, Inline, Login, OneRole};
use shelfmark_cql_protocol::client::{
    ClientConnection, Page, ProtocolVersion, Query, Response, Result as Answered,
};
use shelfmark_cql_protocol::{Consistency, ErrorCode};
use shelfmark_cql_types::{CqlType, to_literal};
use shelfmark_engine::{Engine, Environment, SeededRandom};
use shelfmark_store::clock::{Clock, SystemClock};
use shelfmark_store::memory::MemoryStore;

/// Both ends of a connection.
struct Wire {
    client: ClientConnection,
    connection: Connection,
    woken: std::sync::mpsc::Receiver<()>,
    /// How many bytes of an answer arrive at once.
    step: usize,
}

impl Wire {
    fn new(version: ProtocolVersion, login: Option<Login>) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let random = Arc::new(SeededRandom::new(1));
        let environment = Environment { clock: Arc::clone(&clock), random };
        let engine = Engine::open(Arc::new(MemoryStore::new(clock)), environment.clone()).unwrap();
        let options = FaceOptions::default();
        let face = Face::open(engine, environment, options, login, Arc::new(Inline)).unwrap();
        let (wake, woken) = std::sync::mpsc::channel();
        let wake = std::sync::Mutex::new(wake);
        let wake = Box::new(move || wake.lock().unwrap().send(()).unwrap());
        let client = "127.0.0.1:50000".parse().unwrap();
        let connection = Connection::new(Arc::new(face), client, wake);
        Self { client: ClientConnection::new(version), connection, woken, step: usize::MAX }
    }

    fn said(&mut self, query: Bytes) -> Response {
        self.connection.feed(&mut BytesMut::from(query));
        loop {
            let bytes = self.connection.take_output().unwrap();
            if bytes.is_empty() {
                self.woken.recv().unwrap();
            }
            for piece in bytes.chunks(self.step) {
                if let Some(said) = self.client.receive(piece).unwrap() {
                    return said;
                }
            }
        }
    }

    fn ask(&mut self, query: &Query<'_>) -> Response {
        let bytes = self.client.query(query);
        self.said(bytes)
    }

    fn run(&mut self, text: &str) -> Answered {
        match self.ask(&Query { text, ..Query::default() }) {
            Response::Result(result) => result,
            other => panic!("{text}: {other:?}"),
        }
    }
}

fn started(version: ProtocolVersion) -> Wire {
    let mut wire = Wire::new(version, None);
    let startup = wire.client.startup("test");
    assert_eq!(wire.said(startup), Response::Ready);
    wire
}

const KEYSPACE: &str = "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', \
                        'replication_factor': 1}";

fn first_column(page: &Page) -> Vec<String> {
    let literal = |row: &Vec<Option<Bytes>>| to_literal(&page.columns[0].kind, row[0].as_deref());
    page.rows.iter().map(literal).collect()
}

#[test]
fn statements_are_asked_and_answered() {
    for (version, step) in
        [(ProtocolVersion::V5, 1), (ProtocolVersion::V5, usize::MAX), (ProtocolVersion::V4, 3)]
    {
        let mut wire = started(version);
        wire.step = step;
        assert!(wire.run(KEYSPACE).schema_changed);
        assert_eq!(wire.run("USE k").keyspace.as_deref(), Some("k"));
        wire.run("CREATE TYPE pair (a int, b frozen<list<text>>)");
        wire.run(
            "CREATE TABLE t (k int PRIMARY KEY, m map<text, frozen<pair>>, v vector<float, 2>)",
        );
        wire.run("INSERT INTO t (k, m, v) VALUES (1, {'x': {a: 1, b: ['y']}}, [1, 2.5])");
        let page = wire.run("SELECT m, v, k FROM t").page.unwrap();
        assert_eq!(first_column(&page), ["{'x': {a: 1, b: ['y']}}"]);
        let names: Vec<&str> = page.columns.iter().map(|column| &*column.name).collect();
        assert_eq!((names, page.paging), (vec!["m", "v", "k"], None));
        assert_eq!(page.columns[1].kind, CqlType::vector(CqlType::Float, 2));
        let nothing = wire.run("SELECT k FROM t WHERE k = 2").page.unwrap();
        assert!(nothing.rows.is_empty());
    }
}

#[test]
fn pages_go_on_where_the_last_ended() {
    let mut wire = started(ProtocolVersion::V5);
    wire.run(KEYSPACE);
    wire.run("CREATE TABLE k.t (k int, c int, PRIMARY KEY (k, c))");
    for c in 0..5 {
        wire.run(&format!("INSERT INTO k.t (k, c) VALUES (0, {c})"));
    }
    let (mut found, mut paging, mut pages) = (Vec::new(), None, 0);
    loop {
        let text = "SELECT c FROM k.t";
        let query = Query { text, page_size: Some(2), paging, ..Query::default() };
        let Response::Result(result) = wire.ask(&query) else { panic!() };
        let page = result.page.unwrap();
        found.extend(first_column(&page));
        paging = page.paging;
        pages += 1;
        if paging.is_none() {
            break;
        }
    }
    assert_eq!((found.join(" ").as_str(), pages), ("0 1 2 3 4", 3));
}

#[test]
fn a_serial_read_names_one_partition() {
    let mut wire = started(ProtocolVersion::V5);
    wire.run(KEYSPACE);
    wire.run("CREATE TABLE k.t (k int PRIMARY KEY, v int)");
    let refusal =
        "SERIAL/LOCAL_SERIAL consistency may only be requested for one partition at a time";
    for consistency in [Consistency::Serial, Consistency::LocalSerial] {
        for (text, wanted) in [
            ("SELECT v FROM k.t WHERE k IN (1, 2)", Some(refusal)),
            ("SELECT v FROM k.t WHERE k IN (1, 1)", None),
            ("SELECT v FROM k.t WHERE k = 1", None),
            ("SELECT v FROM k.t", None),
            ("SELECT cluster_name FROM system.local WHERE key IN ('local', 'x')", None),
        ] {
            let said = refusal_of(&mut wire, text, consistency);
            assert_eq!(said.as_deref(), wanted, "{text}");
        }
    }
}

#[test]
fn writes_without_conditions_have_no_serial_levels_and_counters_not_any() {
    let mut wire = started(ProtocolVersion::V5);
    wire.run(KEYSPACE);
    wire.run("CREATE TABLE k.t (k int PRIMARY KEY, v int)");
    wire.run("CREATE TABLE k.n (k int PRIMARY KEY, v counter)");
    let put = "INSERT INTO k.t (k, v) VALUES (1, 1)";
    let add = "UPDATE k.n SET v = v + 1 WHERE k = 1";
    let counters = "Counter operations are inherently non-serializable";
    for (text, consistency, wanted) in [
        (put, Consistency::Any, None),
        (
            put,
            Consistency::Serial,
            Some("You must use conditional updates for serializable writes"),
        ),
        (add, Consistency::One, None),
        (
            add,
            Consistency::Any,
            Some("Consistency level ANY is not yet supported for counter table n"),
        ),
        (add, Consistency::LocalSerial, Some(counters)),
        ("DELETE FROM k.n WHERE k = 1", Consistency::Serial, Some(counters)),
    ] {
        let said = refusal_of(&mut wire, text, consistency);
        assert_eq!(said.as_deref(), wanted, "{text} {consistency:?}");
    }
}

/// Returns the text of the refusal of a statement, if it is refused.
fn refusal_of(wire: &mut Wire, text: &str, consistency: Consistency) -> Option<String> {
    match wire.ask(&Query { text, consistency, ..Query::default() }) {
        Response::Error(refusal) => Some(refusal.to_string()),
        Response::Result(_) => None,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn a_condition_at_each_quorum_needs_a_strategy_that_knows_data_centres() {
    let mut wire = started(ProtocolVersion::V5);
    wire.run(KEYSPACE);
    wire.run("CREATE TABLE k.t (k int PRIMARY KEY, v int)");
    wire.run(
        "CREATE KEYSPACE n WITH replication = {'class': 'NetworkTopologyStrategy', \
         'datacenter1': 1}",
    );
    wire.run("CREATE TABLE n.t (k int PRIMARY KEY, v int)");
    let refusal = "consistency level EACH_QUORUM not compatible with replication strategy \
                   (org.apache.cassandra.locator.SimpleStrategy)";
    for (text, wanted) in [
        ("INSERT INTO k.t (k, v) VALUES (1, 1) IF NOT EXISTS", Some(refusal)),
        ("BEGIN BATCH UPDATE k.t SET v = 1 WHERE k = 1 IF EXISTS; APPLY BATCH", Some(refusal)),
        ("INSERT INTO k.t (k, v) VALUES (1, 1)", None),
        ("INSERT INTO n.t (k, v) VALUES (1, 1) IF NOT EXISTS", None),
    ] {
        let consistency = Consistency::EachQuorum;
        let said = refusal_of(&mut wire, text, consistency);
        assert_eq!(said.as_deref(), wanted, "{text}");
    }
}

#[test]
fn refusals_and_traces_are_read() {
    let mut wire = started(ProtocolVersion::V5);
    let text = "SELECT * FROM nowhere.t";
    let Response::Error(refusal) = wire.ask(&Query { text, ..Query::default() }) else { panic!() };
    assert_eq!(refusal.code, Some(ErrorCode::Invalid));
    assert_eq!(refusal.to_string(), "keyspace nowhere does not exist");
    let text = "SELECT key FROM system.local";
    let traced = wire.ask(&Query { text, tracing: true, ..Query::default() });
    let Response::Result(result) = traced else { panic!() };
    assert!(result.trace.is_some() && result.page.is_some());
}

#[test]
fn a_login_is_asked_for_and_checked() {
    for version in [ProtocolVersion::V4, ProtocolVersion::V5] {
        let login = || Login::new(OneRole::new("ann", "secret", [7; 16]), [9; 16]);
        let mut wire = Wire::new(version, Some(login()));
        let startup = wire.client.startup("test");
        assert!(
            matches!(wire.said(startup), Response::AuthenticationRequired(class) if class.contains("Password"))
        );
        let wrong = wire.client.login("ann", "guess");
        let Response::Error(refusal) = wire.said(wrong) else { panic!() };
        assert_eq!(refusal.code, Some(ErrorCode::BadCredentials));
        let right = wire.client.login("ann", "secret");
        assert_eq!(wire.said(right), Response::Authenticated);
        assert_eq!(wire.run("SELECT key FROM system.local").page.unwrap().rows.len(), 1);
    }
}
