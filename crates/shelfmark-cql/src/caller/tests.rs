use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use shelfmark_engine::{Engine, Environment, SeededRandom};
use shelfmark_store::clock::{Clock, SystemClock};
use shelfmark_store::memory::MemoryStore;

use super::*;
use crate::auth::{Login, OneRole};
use crate::session::{Connection, Face, FaceOptions, Inline};
use crate::types::{CqlType, put_type_option, take_type_option, to_literal};

/// Both ends of a connection.
struct Wire {
    caller: Caller,
    connection: Connection,
    woken: std::sync::mpsc::Receiver<()>,
    /// How many bytes of an answer arrive at once.
    step: usize,
}

impl Wire {
    fn new(speech: Speech, login: Option<Login>) -> Self {
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
        Self { caller: Caller::new(speech), connection, woken, step: usize::MAX }
    }

    fn said(&mut self, question: Bytes) -> Said {
        self.connection.feed(&mut BytesMut::from(question));
        loop {
            let bytes = self.connection.take_output().unwrap();
            if bytes.is_empty() {
                self.woken.recv().unwrap();
            }
            for piece in bytes.chunks(self.step) {
                if let Some(said) = self.caller.hear(piece).unwrap() {
                    return said;
                }
            }
        }
    }

    fn ask(&mut self, question: &Question<'_>) -> Said {
        let bytes = self.caller.ask(question);
        self.said(bytes)
    }

    fn run(&mut self, text: &str) -> super::Result {
        match self.ask(&Question { text, ..Question::default() }) {
            Said::Result(result) => result,
            other => panic!("{text}: {other:?}"),
        }
    }
}

fn started(speech: Speech) -> Wire {
    let mut wire = Wire::new(speech, None);
    let startup = wire.caller.startup("test");
    assert_eq!(wire.said(startup), Said::Ready);
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
    for (speech, step) in [(Speech::V5, 1), (Speech::V5, usize::MAX), (Speech::V4, 3)] {
        let mut wire = started(speech);
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
    let mut wire = started(Speech::V5);
    wire.run(KEYSPACE);
    wire.run("CREATE TABLE k.t (k int, c int, PRIMARY KEY (k, c))");
    for c in 0..5 {
        wire.run(&format!("INSERT INTO k.t (k, c) VALUES (0, {c})"));
    }
    let (mut found, mut paging, mut pages) = (Vec::new(), None, 0);
    loop {
        let text = "SELECT c FROM k.t";
        let question = Question { text, page_size: Some(2), paging, ..Question::default() };
        let Said::Result(result) = wire.ask(&question) else { panic!() };
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
fn refusals_and_traces_are_read() {
    let mut wire = started(Speech::V5);
    let text = "SELECT * FROM nowhere.t";
    let Said::Refused(refusal) = wire.ask(&Question { text, ..Question::default() }) else {
        panic!()
    };
    assert_eq!(refusal.code, Some(crate::ErrorCode::Invalid));
    assert_eq!(refusal.to_string(), "keyspace nowhere does not exist");
    let text = "SELECT key FROM system.local";
    let traced = wire.ask(&Question { text, tracing: true, ..Question::default() });
    let Said::Result(result) = traced else { panic!() };
    assert!(result.trace.is_some() && result.page.is_some());
}

#[test]
fn a_login_is_asked_for_and_checked() {
    for speech in [Speech::V4, Speech::V5] {
        let login = || Login::new(OneRole::new("ann", "secret", [7; 16]), [9; 16]);
        let mut wire = Wire::new(speech, Some(login()));
        let startup = wire.caller.startup("test");
        assert!(
            matches!(wire.said(startup), Said::WantsLogin(class) if class.contains("Password"))
        );
        let wrong = wire.caller.login("ann", "guess");
        let Said::Refused(refusal) = wire.said(wrong) else { panic!() };
        assert_eq!(refusal.code, Some(crate::ErrorCode::BadCredentials));
        let right = wire.caller.login("ann", "secret");
        assert_eq!(wire.said(right), Said::LoggedIn);
        assert_eq!(wire.run("SELECT key FROM system.local").page.unwrap().rows.len(), 1);
    }
}

#[test]
fn another_version_is_refused_in_words() {
    // What a server that speaks no version 5 answers: in its own version, with its own list.
    let mut caller = Caller::new(Speech::V5);
    let body = b"\0\0\0\x0a\0\x02no";
    let mut answer = vec![0x84, 0, 0, 0, 0, 0, 0, 0, u8::try_from(body.len()).unwrap()];
    answer.extend_from_slice(body);
    let Some(Said::Refused(refusal)) = caller.hear(&answer).unwrap() else { panic!() };
    assert_eq!((refusal.number, &*refusal.message), (10, "no"));
}

#[test]
fn bytes_that_are_no_answer_are_told() {
    let garbled = |bytes: &[u8]| Caller::new(Speech::V4).hear(bytes).unwrap_err().to_string();
    assert!(garbled(b"HTTP/1.1 400 Bad Request\r\n").contains("cannot be read"));
    assert!(garbled(&[0x84, 0, 0, 0, 0x7F, 0, 0, 0, 0]).contains("unknown opcode 127"));
    assert!(garbled(&[0x84, 0, 0, 0, 7, 0, 0, 0, 0]).contains("answers nothing"));
    assert!(garbled(&[0x04, 0, 0, 0, 2, 0, 0, 0, 0]).contains("direction"));
    // A result that says it has two thousand million rows and columns, and holds none.
    let body = [0, 0, 0, 2, 0, 0, 0, 4, 0x7F, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF];
    let mut rows = vec![0x84, 0, 0, 0, 8, 0, 0, 0, 16];
    rows.extend_from_slice(&body);
    assert!(garbled(&rows).contains("ends too early"));
    let deep: Vec<u8> = [0, 0x20].repeat(10_000);
    assert!(take_type_option(&mut &deep[..]).is_err());
}

#[test]
fn every_type_is_read_as_it_was_written() {
    let mut all: Vec<CqlType> =
        ["ascii", "bigint", "blob", "boolean", "counter", "date", "decimal"]
            .iter()
            .chain(&["double", "duration", "float", "inet", "int", "smallint", "text", "time"])
            .chain(&["timestamp", "timeuuid", "tinyint", "uuid", "varint"])
            .map(|name| CqlType::Native(crate::types::native_by_name(name).unwrap()))
            .collect();
    all.push(CqlType::tuple(all.clone()));
    all.push(CqlType::map(CqlType::Int, CqlType::set(CqlType::list(CqlType::Uuid))));
    all.push(CqlType::Custom("com.example.Other".into()));
    for kind in all {
        for version in [3, 4, 5] {
            let mut out = Vec::new();
            put_type_option(&kind, version, &mut out);
            out.push(7);
            let mut rest = &out[..];
            assert_eq!(take_type_option(&mut rest).unwrap(), kind, "{version}");
            assert_eq!(rest, [7]);
        }
    }
}
