//! `shelfmark export`, `import` and `migrate` from live servers: rows of both faces, through files and over
//! sockets, with equal checksums.

use std::process::Output;

use crate::migrate::{cql, text};
use crate::process::{Server, shelfmark, stderr, stdout};

/// A keyspace with a column of every type, statics, an index, a view and counters.
const FILL: [&str; 16] = [
    "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TYPE k.place (street text, number int)",
    "CREATE TABLE k.t (a int, b text, s text static, ascii ascii, big bigint, bin blob, yes boolean, day date, \
     dec decimal, dbl double, flt float, ip inet, small smallint, txt text, tim time, ts timestamp, tiny \
     tinyint, u uuid, vi varint, l list<int>, st set<text>, m map<text, int>, fl frozen<list<text>>, at \
     frozen<place>, tu tuple<int, text>, du duration, PRIMARY KEY (a, b)) WITH CLUSTERING ORDER BY (b DESC)",
    "CREATE INDEX by_txt ON k.t (txt)",
    "CREATE TABLE k.n (a int PRIMARY KEY, n counter)",
    "CREATE TABLE k.\"Odd\" (\"Key\" text PRIMARY KEY, \"value\" text)",
    "INSERT INTO k.t (a, b, s, ascii, big, bin, yes, day, dec, dbl, flt, ip, small, txt, tim, ts, tiny, u, vi, \
     l, st, m, fl, at, tu, du) VALUES (1, 'x', 'static', 'a', -9223372036854775808, 0x00ff, true, \
     '2026-11-27', 1.50, 0.1, 1.5, '::1', -1, 'line\nand, \"quotes\" \\ é', '12:34:56.789', \
     '2026-11-27T01:02:03.456Z', 7, 123e4567-e89b-12d3-a456-426614174000, 123456789012345678901234567890, \
     [1, 2], {'b', 'a'}, {'k': 1}, ['', 'x'], {street: 'Main', number: 7}, (1, 'two'), 1mo2d3ns)",
    "INSERT INTO k.t (a, b, txt, dbl, flt, bin) VALUES (1, '', '', NaN, -Infinity, 0x)",
    "INSERT INTO k.t (a, b) VALUES (2, 'bare')",
    "INSERT INTO k.t (a, s) VALUES (3, 'static alone')",
    "INSERT INTO k.t (a, b, txt) VALUES (4, 'timed', 'v') USING TIMESTAMP 1000 AND TTL 100000",
    "UPDATE k.t USING TIMESTAMP 2000 SET big = 5 WHERE a = 4 AND b = 'timed'",
    "UPDATE k.n SET n = n + 3 WHERE a = 1",
    "UPDATE k.n SET n = n - 5 WHERE a = 2",
    "INSERT INTO k.\"Odd\" (\"Key\", \"value\") VALUES ('A', 'b')",
    "CREATE MATERIALIZED VIEW k.v AS SELECT a, b, txt FROM k.t WHERE a IS NOT NULL AND b IS NOT NULL AND txt \
     IS NOT NULL PRIMARY KEY (txt, a, b)",
];

fn fill(server: &Server) {
    FILL.iter().for_each(|statement| drop(cql(server, statement)));
}

#[track_caller]
fn run(arguments: &[&str]) -> String {
    let output = shelfmark(arguments);
    assert!(output.status.success(), "{arguments:?}: {}{}", stdout(&output), stderr(&output));
    stdout(&output)
}

#[track_caller]
fn refused(arguments: &[&str], part: &str) {
    let output: Output = shelfmark(arguments);
    assert!(!output.status.success(), "{arguments:?}: {}", stdout(&output));
    assert!(stderr(&output).contains(part), "{arguments:?}: {}", stderr(&output));
}

/// Returns the part of an outcome that is the checksum.
fn checksum(told: &str) -> &str {
    let at = told.find("checksum ").unwrap();
    told[at..].split_whitespace().nth(1).unwrap()
}

#[test]
fn rows_of_every_type_go_through_each_form() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_cql(folder.path(), &[]);
    fill(&server);
    let endpoint = format!("cql://{}", server.cql);
    let other = tempfile::tempdir().unwrap();
    let store = other.path().join("store");
    for (format, name) in [("jsonl", "t.jsonl"), ("csv", "t.csv.gz"), ("copy", "t.copy")] {
        for table in ["k.t", "k.n", "k.\"Odd\""] {
            let file = folder.path().join(name);
            let export = ["export", table, "--to", text(&file), "--format", format];
            if format != "jsonl" && table == "k.t" {
                // NaN and values without bytes have no text.
                cql(&server, "DELETE FROM k.t WHERE a = 1 AND b = ''");
            }
            let told = run(&[&export[..], &["--endpoint", &endpoint]].concat());
            let definition = folder.path().join(format!("{name}.table.cql"));
            let script = std::fs::read_to_string(&definition).unwrap();
            let script = format!("{};\n{};\n{script}", FILL[0], FILL[1]);
            std::fs::write(&definition, script).unwrap();
            let import = ["import", text(&file), "--table", table, "--format", format];
            let create = ["--create", text(&definition), "--data", text(&store)];
            let imported = run(&[&import[..], &create[..]].concat());
            assert_eq!(checksum(&imported), checksum(&told), "{format} {table}");
            let again = folder.path().join("again");
            let export = ["export", table, "--to", text(&again), "--format", format];
            let back = run(&[&export[..], &["--data", text(&store)]].concat());
            assert_eq!(checksum(&back), checksum(&told), "{format} {table}");
            std::fs::remove_dir_all(&store).unwrap();
        }
    }
}

#[test]
fn write_times_and_expiries_are_kept_where_asked() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_cql(folder.path(), &[]);
    fill(&server);
    let endpoint = format!("cql://{}", server.cql);
    let file = folder.path().join("t.jsonl");
    let export = ["export", "k.t", "--to", text(&file), "--format", "jsonl", "--cells"];
    run(&[&export[..], &["--endpoint", &endpoint]].concat());
    cql(&server, "TRUNCATE k.t");
    let import = ["import", text(&file), "--table", "k.t", "--format", "jsonl"];
    run(&[&import[..], &["--endpoint", &endpoint]].concat());
    let shown = cql(
        &server,
        "SELECT writetime(txt), writetime(big), ttl(big) FROM k.t WHERE a = 4 AND b = 'timed'",
    );
    assert!(shown.contains("1000 |") && shown.contains("2000 |"), "{shown}");
    let ttl = cql(&server, "SELECT ttl(txt) FROM k.t WHERE a = 4 AND b = 'timed'");
    let seconds: u32 = ttl.split_whitespace().find_map(|word| word.parse().ok()).unwrap();
    assert!((90_000..=100_000).contains(&seconds), "{ttl}");
    let csv = ["export", "k.t", "--to", "-", "--format", "csv", "--cells", "--endpoint", &endpoint];
    refused(&csv, "no place for write times");
}

#[test]
fn a_live_server_is_taken_over_by_either_protocol() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_cql(folder.path(), &["--shared"]);
    fill(&server);
    server.create_table("tab");
    for number in 0..300 {
        server.put("tab", "a", &format!("{number:03}"));
    }
    let other = tempfile::tempdir().unwrap();
    let store = other.path().join("store");
    let dynamodb = format!("dynamodb://{}", server.address);
    let told = run(&["migrate", "--from", &dynamodb, "--only", "tab", "--to", text(&store)]);
    assert!(told.contains("tab: both sides have 300 rows"), "{told}");
    let from = format!("cql://{}", server.cql);
    let told = run(&["migrate", "--from", &from, "--to", text(&store), "--json"]);
    assert!(told.contains("\"k.t\"") && told.contains("\"k.n\""), "{told}");
    // Another call changes nothing, counters least of all.
    run(&["migrate", "--from", &from, "--to", text(&store)]);
    let here = Server::start_cql(other.path(), &["--shared"]);
    for statement in [
        "SELECT * FROM k.t",
        "SELECT * FROM k.n",
        "SELECT a, b FROM k.t WHERE txt = 'v'",
        "SELECT * FROM k.v",
        "SELECT * FROM k.\"Odd\"",
        "SELECT writetime(txt), writetime(big) FROM k.t WHERE a = 4",
    ] {
        assert_eq!(cql(&here, statement), cql(&server, statement), "{statement}");
    }
    let scan = r#"{"TableName":"tab"}"#;
    assert_eq!(here.call("Scan", scan), server.call("Scan", scan));
}

#[test]
fn what_cannot_be_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let rows = folder.path().join("rows.jsonl");
    std::fs::write(&rows, "{\"pk\": \"a\"}\n").unwrap();
    let import = ["import", text(&rows), "--table", "tab", "--format", "jsonl"];
    let data = ["--data", text(&store)];
    refused(&[&import[..], &data[..]].concat(), "there is no store in");
    let create = [&import[..], &data[..], &["--create", "pk"]].concat();
    refused(&create, "is no key: write NAME:TYPE");
    run(&[&import[..], &data[..], &["--create", "pk:S"]].concat());
    assert_eq!(
        run(&[&["export", "tab", "--to", "-", "--format", "jsonl"][..], &data[..]].concat()),
        "{\"pk\":\"a\"}\n"
    );
    let none = ["export", "none", "--to", "-", "--format", "jsonl"];
    refused(&[&none[..], &data[..]].concat(), "ResourceNotFoundException");
    let http =
        ["export", "tab", "--to", "-", "--format", "copy", "--endpoint", "dynamodb://127.0.0.1:1"];
    refused(&http, "COPY's form is for CQL's rows");
    refused(&["migrate", "--from", "dynamodb://127.0.0.1:1/path", "--to", "x"], "without a path");
    refused(&["migrate", "--from", "cql://127.0.0.1:1", "--to", "tikv://x"], "folder of a store");
}

#[test]
fn the_pace_is_kept_and_a_pipe_is_silent() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let rows = folder.path().join("rows.jsonl");
    let lines: String = (0..50).map(|number| format!("{{\"pk\": \"k{number}\"}}\n")).collect();
    std::fs::write(&rows, lines).unwrap();
    let import =
        ["import", text(&rows), "--table", "tab", "--format", "jsonl", "--data", text(&store)];
    let output = shelfmark(&[&import[..], &["--create", "pk:S", "--rate", "1000"]].concat());
    assert!(output.status.success() && stderr(&output).is_empty(), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("50 rows are in tab, which was created, checksum "));
}
