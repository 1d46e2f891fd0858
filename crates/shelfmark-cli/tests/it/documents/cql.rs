//! Statements of CQL out of prose, as frames through the face.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use shelfmark_cql::{Connection, Face, FaceOptions, Inline};
use shelfmark_cql_protocol::client::{ClientConnection, ProtocolVersion, Query, Response};
use shelfmark_cql_types::to_text;
use shelfmark_engine::{Engine, Environment, SeededRandom};
use shelfmark_store::clock::SystemClock;
use shelfmark_store::memory::MemoryStore;

/// Both ends of a connection.
struct Wire {
    client: ClientConnection,
    connection: Connection,
    woken: Receiver<()>,
}

impl Wire {
    fn open() -> Self {
        let clock = Arc::new(SystemClock::new());
        let random = Arc::new(SeededRandom::new(1));
        let environment = Environment { clock: clock.clone(), random };
        let engine = Engine::open(Arc::new(MemoryStore::new(clock)), environment.clone()).unwrap();
        let options = FaceOptions::default();
        let address = options.address;
        let face = Face::open(engine, environment, options, None, Arc::new(Inline)).unwrap();
        let (wake, woken) = channel();
        let wake = Box::new(move || {
            let _ = wake.send(());
        });
        let connection = Connection::new(Arc::new(face), address, wake);
        let mut own =
            Self { client: ClientConnection::new(ProtocolVersion::V5), connection, woken };
        let startup = own.client.startup("test");
        assert_eq!(own.said(startup), Response::Ready);
        own
    }

    fn said(&mut self, query: Bytes) -> Response {
        self.connection.feed(&mut BytesMut::from(query));
        loop {
            let bytes = self.connection.take_output().unwrap();
            if let Some(said) = self.client.receive(&bytes).unwrap() {
                return said;
            }
            self.woken.recv_timeout(Duration::from_secs(60)).unwrap();
        }
    }

    /// Runs a statement: its rows, `created` of a change of the schema, or the refusal's words.
    fn run(&mut self, text: &str) -> Vec<String> {
        let query = self.client.query(&Query { text, ..Query::default() });
        let result = match self.said(query) {
            Response::Result(result) => result,
            Response::Error(refusal) => return vec![refusal.message],
            other => panic!("{text}: {other:?}"),
        };
        let Some(page) = result.page else {
            return if result.schema_changed { vec!["created".to_owned()] } else { Vec::new() };
        };
        let rows = page.rows.iter().map(|row| {
            let cells = row.iter().zip(&page.columns).map(|(cell, column)| {
                cell.as_ref().map_or("null".to_owned(), |bytes| to_text(&column.kind, bytes))
            });
            cells.collect::<Vec<_>>().join(" ")
        });
        rows.collect()
    }

    /// Begins anew in a keyspace of this name.
    fn keyspace(&mut self, name: &str) {
        let create = format!(
            "CREATE KEYSPACE {name} WITH replication = {{'class': 'SimpleStrategy', \
             'replication_factor': 1}}"
        );
        assert_eq!(self.run(&create), ["created"]);
        assert_eq!(self.run(&format!("USE {name}")), [""; 0]);
    }
}

/// The statements of a document: from where one begins to its semicolon.
fn statements(text: &str) -> Vec<&str> {
    let begins = text.match_indices("CREATE TABLE").map(|(at, _)| &text[at..]);
    begins.map(|rest| rest.split(';').next().unwrap()).collect()
}

const WIDE: char = '\u{a0}';

/// A wide space is no white space to the server, and an error names its place.
const REFUSED_CHARACTER: &str = "no viable alternative at character '\u{a0}'";

/// Runs a statement that creates a table, where it must with plain spaces.
fn create(wire: &mut Wire, statement: &str) {
    let said = wire.run(statement);
    if !statement.contains(WIDE) {
        assert_eq!(said, ["created"], "{statement}");
        return;
    }
    let line = statement.lines().position(|line| line.contains(WIDE)).unwrap() + 1;
    assert_eq!(said, [format!("line {line}:0 {REFUSED_CHARACTER}")]);
    let plain = statement.replace(WIDE, " ");
    assert_eq!(wire.run(&plain), ["created"]);
}

fn id(number: u32) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

#[test]
fn a_librarys_readers_are_kept_but_not_behind_a_wide_space() {
    let text = include_str!("library.txt");
    let found = statements(text);
    assert_eq!(found.len(), 2);
    assert_eq!(text.matches(WIDE).count(), 1);
    let mut wire = Wire::open();
    wire.keyspace("library");
    for statement in found {
        create(&mut wire, statement);
    }
    let (book, ann) = (id(1), id(7));
    let insert = |table: &str, column: &str, value: &str| {
        format!("INSERT INTO {table} (book_id, reader_id{column}) VALUES ({book}, {ann}{value})")
    };
    assert_eq!(wire.run(&insert("readers", "", "")), [""; 0]);
    assert_eq!(wire.run(&insert("readers_by_time", ", r_time", ", 1000")), [""; 0]);
    let read = format!("SELECT reader_id FROM readers_by_time WHERE book_id = {book}");
    assert_eq!(wire.run(&read), [ann]);
}

/// Two followers at one time, one later; the later id is the greater one.
fn fill(wire: &mut Wire, with_time: bool) {
    for (follower, at) in [(1, 1000), (2, 2000), (3, 2000)] {
        let (user, follower) = (id(0), id(follower));
        let (column, value) =
            if with_time { (", f_time", format!(", {at}")) } else { ("", String::new()) };
        assert_eq!(
            wire.run(&format!(
                "INSERT INTO followers (user_id, f_user_id{column}) \
                 VALUES ({user}, {follower}{value})"
            )),
            [""; 0]
        );
        assert_eq!(
            wire.run(&format!(
                "INSERT INTO followers_by_time (user_id, f_user_id, f_time) \
                 VALUES ({user}, {follower}, {at})"
            )),
            [""; 0]
        );
    }
}

#[test]
fn the_document_of_followers_runs_as_it_stands() {
    let Some(text) = super::document("004") else { return };
    let found = statements(&text);
    assert_eq!(found.len(), 5);
    let mut wire = Wire::open();
    wire.keyspace("asked");
    for statement in &found[..3] {
        create(&mut wire, statement);
    }
    fill(&mut wire, false);
    let user = id(0);
    let newest = format!("SELECT f_user_id FROM followers_by_time WHERE user_id = {user} LIMIT 2");
    assert_eq!(wire.run(&newest), [id(3), id(2)]);
    assert_eq!(
        wire.run(&format!("SELECT f_user_id FROM followers WHERE user_id = {user}")),
        [id(1), id(2), id(3)]
    );
    // The problem: whoever leaves does not know since when he followed.
    let leave = |table: &str| {
        format!("DELETE FROM {table} WHERE user_id = {user} AND f_user_id = {}", id(3))
    };
    assert_eq!(wire.run(&leave("followers")), [""; 0]);
    assert_eq!(
        wire.run(&leave("followers_by_time")),
        [
            "PRIMARY KEY column \"f_user_id\" cannot be restricted as preceding column \"f_time\" is \
          not restricted"
        ]
    );
    five_columns(&mut wire);
    // The answer: the time stands in both.
    wire.keyspace("answered");
    for statement in &found[3..] {
        create(&mut wire, statement);
    }
    // Once more does no harm.
    assert_eq!(wire.run(&found[4].replace(WIDE, " ")), [""; 0]);
    fill(&mut wire, true);
    let time =
        format!("SELECT f_time FROM followers WHERE user_id = {user} AND f_user_id = {}", id(3));
    let time = wire.run(&time).remove(0);
    let both = format!(
        "BEGIN BATCH {}; DELETE FROM followers_by_time WHERE user_id = {user} \
         AND f_time = '{time}' AND f_user_id = {}; APPLY BATCH",
        leave("followers"),
        id(3)
    );
    assert_eq!(wire.run(&both), [""; 0]);
    assert_eq!(wire.run(&newest), [id(2), id(1)]);
    assert_eq!(
        wire.run(&format!("SELECT f_user_id FROM followers WHERE user_id = {user}")),
        [id(1), id(2)]
    );
}

fn five_columns(wire: &mut Wire) {
    for (one, two) in [("a", 1), ("a", 2), ("b", 1)] {
        assert_eq!(
            wire.run(&format!(
                "INSERT INTO stackoverflow (k_part_one, k_part_two, k_clust_one, k_clust_two, \
                 k_clust_three, DATA) VALUES ('p', 1, '{one}', {two}, {}, '{one}{two}')",
                id(9)
            )),
            [""; 0]
        );
    }
    let mut read = |place: &str| wire.run(&format!("SELECT data FROM stackoverflow WHERE {place}"));
    let partition = "k_part_one = 'p' AND k_part_two = 1";
    assert_eq!(read(partition), ["a1", "a2", "b1"]);
    assert_eq!(read(&format!("{partition} AND k_clust_one = 'a'")), ["a1", "a2"]);
    assert_eq!(read(&format!("{partition} AND k_clust_one = 'a' AND k_clust_two = 2")), ["a2"]);
    assert_eq!(
        read("k_part_one = 'p'"),
        ["Cannot execute this query as it might involve data filtering and thus may have \
          unpredictable performance. If you want to execute this query despite the performance \
          unpredictability, use ALLOW FILTERING"]
    );
    assert_eq!(
        read(&format!("{partition} AND k_clust_two = 2")),
        ["PRIMARY KEY column \"k_clust_two\" cannot be restricted as preceding column \
          \"k_clust_one\" is not restricted"]
    );
    assert_eq!(
        read(&format!("{partition} AND k_clust_one > 'a' AND k_clust_two = 1")),
        ["Clustering column \"k_clust_two\" cannot be restricted (preceding column \
          \"k_clust_one\" is restricted by a non-EQ relation)"]
    );
}
