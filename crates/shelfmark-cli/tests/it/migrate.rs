//! `shelfmark migrate`: what every face shows is the same on the other side, and goes on there.

use std::path::Path;

use crate::process::{Server, command, shelfmark, stderr, stdout};

const FILL: [&str; 11] = [
    "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TYPE k.place (street text, number int)",
    "CREATE TABLE k.t (a int, b int, s text static, v text, m map<text, int>, at frozen<place>, \
     PRIMARY KEY (a, b)) WITH CLUSTERING ORDER BY (b DESC)",
    "CREATE INDEX by_v ON k.t (v)",
    "CREATE TABLE k.n (a int PRIMARY KEY, n counter)",
    "INSERT INTO k.t (a, b, s, v, m, at) VALUES (1, 1, 's', 'x', {'one': 1}, \
     {street: 'Main', number: 7}) USING TIMESTAMP 100",
    "INSERT INTO k.t (a, b, v) VALUES (1, 2, 'y') USING TIMESTAMP 100",
    "INSERT INTO k.t (a, b, v) VALUES (1, 5, 'y') USING TIMESTAMP 100",
    "INSERT INTO k.t (a, b, v) VALUES (2, 1, 'x') USING TIMESTAMP 100 AND TTL 100000",
    "DELETE FROM k.t USING TIMESTAMP 200 WHERE a = 1 AND b > 1 AND b < 4",
    "UPDATE k.n SET n = n + 3 WHERE a = 1",
];

const SHOWN: [&str; 4] = [
    "SELECT * FROM k.t",
    "SELECT a, b, writetime(v) FROM k.t WHERE v = 'x'",
    "SELECT * FROM k.n",
    "SELECT * FROM dynamodb.tab",
];

pub(crate) fn cql(server: &Server, statement: &str) -> String {
    let output =
        command().args(["cql", "--server", &server.cql, "-e", statement]).output().unwrap();
    assert!(output.status.success(), "{statement}: {}", stderr(&output));
    stdout(&output)
}

fn fill(server: &Server) {
    FILL.iter().for_each(|statement| drop(cql(server, statement)));
    server.create_table("tab");
    for number in 0..300 {
        server.put("tab", "a", &format!("{number:03}"));
    }
    let long = "long ".repeat(30_000);
    let put = format!(
        r#"{{"TableName":"tab","Item":{{"pk":{{"S":"b"}},"sk":{{"S":"1"}},"text":{{"S":"{long}"}}}}}}"#
    );
    assert_eq!(server.call("PutItem", &put).0, 200);
}

/// Returns what both faces show.
fn shown(server: &Server) -> Vec<String> {
    let mut all: Vec<String> = SHOWN.iter().map(|statement| cql(server, statement)).collect();
    let (status, body) = server.call("Scan", r#"{"TableName":"tab"}"#);
    assert_eq!(status, 200, "{body}");
    all.push(body);
    all
}

/// Writes what the source's deletions and timestamps decide on.
fn go_on(server: &Server) {
    // Late: it is older than the deletion of its range.
    cql(server, "INSERT INTO k.t (a, b, v) VALUES (1, 3, 'late') USING TIMESTAMP 150");
    assert!(!cql(server, "SELECT v FROM k.t WHERE a = 1").contains("late"));
    cql(server, "DELETE FROM k.t WHERE a = 1 AND b > 4");
    assert!(cql(server, "SELECT b FROM k.t WHERE a = 1 AND b = 5").contains("(0 rows)"));
    cql(server, "UPDATE k.n SET n = n + 4 WHERE a = 1");
    assert!(cql(server, "SELECT n FROM k.n").contains('7'));
    server.put("tab", "c", "1");
    server.create_table("another");
}

fn migrate(from: &str, to: &str) -> String {
    let output = shelfmark(&["migrate", "--from", from, "--to", to]);
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output)
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn verify(store: &Path) {
    let output = shelfmark(&["verify", "--data", text(store)]);
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
}

#[test]
fn a_store_goes_to_another_folder_as_it_is() {
    let [old, new] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [from, to] = [&old, &new].map(|folder| folder.path().join("store"));
    let server = Server::start_cql(old.path(), &[]);
    fill(&server);
    let before = shown(&server);
    drop(server.stop("-TERM"));
    let told = migrate(text(&from), text(&to));
    assert!(told.starts_with("both sides have "), "{told}");
    assert!(told.ends_with(&format!("go on with: shelfmark serve --data {}\n", to.display())));
    verify(&to);
    let server = Server::start_cql(new.path(), &[]);
    assert_eq!(shown(&server), before);
    go_on(&server);
    drop(server.stop("-TERM"));
    verify(&to);
    // What was copied from has not changed, and the copy is a store of its own.
    let again = shelfmark(&["migrate", "--from", text(&from), "--to", text(&to)]);
    assert!(!again.status.success());
    assert!(stderr(&again).contains("already holds a store; give an empty place"));
    let server = Server::start_cql(old.path(), &[]);
    assert_eq!(shown(&server), before);
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn a_store_goes_to_where_servers_share_it_and_back_on_a_cluster() {
    let placement = std::env::var("SHELFMARK_TIKV").unwrap();
    let space = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_micros();
    let engine = format!("tikv://{placement}/migrated-{space:x}");
    let [old, between, new] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let server = Server::start_cql(old.path(), &[]);
    fill(&server);
    let before = shown(&server);
    drop(server.stop("-TERM"));
    migrate(text(&old.path().join("store")), &engine);
    let server = Server::start_cql(between.path(), &["--engine", &engine]);
    assert_eq!(shown(&server), before);
    let busy = shelfmark(&["migrate", "--from", &engine, "--to", text(&new.path().join("store"))]);
    assert!(stderr(&busy).contains("one server uses tikv://"), "{}", stderr(&busy));
    go_on(&server);
    let between_shown = shown(&server);
    drop(server.stop("-TERM"));
    let checked = shelfmark(&["verify", "--engine", &engine]);
    assert!(checked.status.success(), "{}{}", stdout(&checked), stderr(&checked));
    migrate(&engine, text(&new.path().join("store")));
    verify(&new.path().join("store"));
    let server = Server::start_cql(new.path(), &[]);
    assert_eq!(shown(&server), between_shown);
    server.put("tab", "d", "1");
    assert!(server.get("tab", "d", "1").contains("Item"));
}

#[test]
fn places_that_are_none_are_refused_with_what_to_do() {
    for (from, to, text) in [
        ("./nowhere", "./there", "there is no store in ./nowhere"),
        ("./a", "dynamodb://there", "--to dynamodb://there: a place is a folder or tikv://"),
        ("./a", "./a", "--from and --to are the same place"),
        ("tikv://here", "./a", "each placement driver is HOST:PORT"),
    ] {
        let output = shelfmark(&["migrate", "--from", from, "--to", to]);
        assert!(!output.status.success());
        assert!(stderr(&output).contains(text), "{from} {to}: {}", stderr(&output));
    }
}
