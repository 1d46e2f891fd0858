//! Tools that have a console's address and nothing else: transfers and the protocol of language models over
//! a running server, with the words and files that they have over its folder.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::console::console_of;
use crate::process::{Server, command, shelfmark, stderr, stdout};

/// Rows of both faces.
fn fill(server: &Server) {
    server.create_table("Music");
    for (pk, sk) in [("a", "chat#1"), ("a", "chat#2"), ("b", "x")] {
        server.put("Music", pk, sk);
    }
    let script = "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', \
                  'replication_factor': 1}; CREATE TABLE ks.t (a int, b text, c list<text>, d decimal, \
                  PRIMARY KEY (a, b)); INSERT INTO ks.t (a, b, c, d) VALUES (1, 'x', ['y', 'z'], 1.50); \
                  INSERT INTO ks.t (a, b) VALUES (1, 'z');";
    let made = shelfmark(&["cql", "--server", &server.cql, "-e", script]);
    assert!(made.status.success(), "{}", stderr(&made));
}

fn ran(words: &[&str], place: [&str; 2]) -> (bool, String, String) {
    let output = shelfmark(&[words, &place].concat());
    (output.status.success(), stdout(&output), stderr(&output))
}

/// Tables, forms, and the names of their files.
const EXPORTS: [(&str, &str, &str); 6] = [
    ("Music", "jsonl", "music.jsonl"),
    ("Music", "csv", "music.csv"),
    ("Music", "dynamodb-json", "music.json"),
    ("ks.t", "jsonl", "t.jsonl"),
    ("ks.t", "csv", "t.csv"),
    ("ks.t", "copy", "t.copy"),
];

/// Exports everything into a folder. Returns what was said.
fn exported(folder: &Path, place: [&str; 2]) -> Vec<(bool, String, String)> {
    std::fs::create_dir_all(folder).unwrap();
    let folder = folder.to_str().unwrap();
    let all = EXPORTS.into_iter().map(|(table, format, name)| {
        let to = format!("{folder}/{name}");
        let words = ["export", table, "--to", &to, "--format", format, "--segments", "1", "--json"];
        ran(&words, place)
    });
    all.collect()
}

#[test]
fn tables_go_out_and_in_by_the_console_as_by_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_cql(folder.path(), &["--console", "127.0.0.1:0"]);
    let console = console_of(folder.path());
    fill(&server);
    let (over_server, over_folder) = (folder.path().join("server"), folder.path().join("folder"));
    let told = exported(&over_server, ["--server", &console]);
    assert!(told.iter().all(|(done, ..)| *done), "{told:?}");
    let missing = ran(&["export", "Muzak", "--to", "-", "--format", "csv"], ["--server", &console]);
    assert!(!missing.0 && missing.2.contains("ResourceNotFound"), "{missing:?}");

    // Into new tables of the running server, and out again.
    let file = |name: &str| over_server.join(name).to_str().unwrap().to_owned();
    for (table, format, name, create) in [
        ("Copy", "jsonl", "music.jsonl", "pk:S,sk:S"),
        ("Copy2", "csv", "music.csv", "pk:S,sk:S"),
        ("ks.u", "copy", "t.copy", &*file("u.cql")),
    ] {
        let definition =
            "CREATE TABLE ks.u (a int, b text, c list<text>, d decimal, PRIMARY KEY (a, b))";
        std::fs::write(file("u.cql"), definition).unwrap();
        let from = file(name);
        let words = ["import", &from, "--table", table, "--format", format, "--create", create];
        let imported = ran(&words, ["--server", &console]);
        assert!(imported.0, "{imported:?}");
        let original = over_server.join(name);
        let again = file("again");
        let words = ["export", table, "--to", &again, "--format", format, "--segments", "1"];
        assert!(ran(&words, ["--server", &console]).0);
        assert_eq!(std::fs::read(&original).unwrap(), std::fs::read(&again).unwrap(), "{table}");
        std::fs::remove_file(&again).unwrap();
    }

    drop(server.stop("-TERM"));
    let store = folder.path().join("store");
    assert_eq!(told, exported(&over_folder, ["--data", store.to_str().unwrap()]));
    for (_, _, name) in EXPORTS {
        let read = |folder: &Path| std::fs::read(folder.join(name)).unwrap();
        assert_eq!(read(&over_server), read(&over_folder), "{name}");
    }
}

/// A session of the protocol over the streams of `shelfmark mcp`.
struct Session {
    process: std::process::Child,
    answers: std::io::Lines<BufReader<std::process::ChildStdout>>,
    next: u64,
}

impl Session {
    fn begin(flags: &[&str]) -> Self {
        let mut command = command();
        command.arg("mcp").args(flags).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let answers = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut session = Self { process, answers, next: 0 };
        let client = json!({ "name": "test", "version": "1" });
        session.ask(
            "initialize",
            &json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client }),
        );
        session.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        session
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.process.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }));
        loop {
            let line = self.answers.next().unwrap().unwrap();
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == json!(id) {
                return answer["result"].clone();
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// Asks everything that reads. Returns the answers.
fn answers(session: &mut Session) -> Vec<Value> {
    let query = json!({
        "TableName": "Music",
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": { ":p": { "S": "a" } },
    });
    let missing = json!({ "TableName": "Muzak" });
    vec![
        session.call("tables", &json!({})),
        session.call("dynamodb", &json!({ "operation": "Query", "request": query })),
        session.call("dynamodb", &json!({ "operation": "Scan", "request": missing })),
        session.call("cql", &json!({ "statement": "SELECT * FROM ks.t WHERE a = 1" })),
        session.call("cql", &json!({ "statement": "SELECT nothing FROM ks.t" })),
    ]
}

#[test]
fn a_model_asks_a_running_server_and_changes_it_only_with_leave() {
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "0123456789abcdef0123\n").unwrap();
    let token = token.to_str().unwrap();
    let flags = ["--console", "127.0.0.1:0", "--console-token-file", token];
    let server = Server::start_cql(folder.path(), &flags);
    let console = console_of(folder.path());
    fill(&server);
    let place = ["--server", &*console, "--console-token-file", token];
    let without = shelfmark(&["mcp", "--server", &console]);
    assert!(!without.status.success() && stderr(&without).contains("--console-token-file"));

    let mut session = Session::begin(&place);
    let over_server = answers(&mut session);
    let text = |answer: &Value| answer.to_string();
    assert!(
        text(&over_server[1]).contains("1 range(s), 2 rows read, 2 returned"),
        "{over_server:#?}"
    );
    assert!(text(&over_server[2]).contains("ResourceNotFoundException"), "{over_server:#?}");
    assert!(text(&over_server[3]).contains("Read 2 rows of t"), "{over_server:#?}");
    let put = json!({ "TableName": "Music", "Item": { "pk": { "S": "new" }, "sk": { "S": "1" } } });
    let put = json!({ "operation": "PutItem", "request": put });
    let refused = session.call("dynamodb", &put);
    assert!(refused["isError"] == json!(true) && text(&refused).contains("--allow-writes"));
    let insert = json!({ "statement": "INSERT INTO ks.t (a, b) VALUES (9, 'new')" });
    assert_eq!(session.call("cql", &insert)["isError"], json!(true));
    drop(session);
    assert!(!server.get("Music", "new", "1").contains("Item"));

    let mut session = Session::begin(&[&place[..], &["--allow-writes"]].concat());
    assert_ne!(session.call("dynamodb", &put)["isError"], json!(true));
    assert_ne!(session.call("cql", &insert)["isError"], json!(true));
    let delete = json!({ "statement": "DELETE FROM ks.t WHERE a = 9 AND b = 'new'" });
    assert_ne!(session.call("cql", &delete)["isError"], json!(true));
    drop(session);
    assert!(server.get("Music", "new", "1").contains("Item"));

    let key = r#"{"TableName":"Music","Key":{"pk":{"S":"new"},"sk":{"S":"1"}}}"#;
    assert_eq!(server.call("DeleteItem", key).0, 200);
    drop(server.stop("-TERM"));
    let store = folder.path().join("store");
    let over_folder = answers(&mut Session::begin(&["--data", store.to_str().unwrap()]));
    for (server, folder) in over_server.iter().zip(&over_folder).take(3) {
        assert_eq!(server, folder);
    }
    assert_eq!(
        over_server[3]["structuredContent"]["answer"],
        over_folder[3]["structuredContent"]["answer"]
    );
    assert_eq!(over_server[4], over_folder[4]);
}

/// Each page of it was once made whole, several times over, which no small server had the memory for.
#[test]
fn tables_of_long_rows_are_read_by_the_console_of_a_small_server() {
    const ROWS: usize = 24;
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--console", "127.0.0.1:0", "--share", "all", "--memory-limit", "64MiB"];
    let server = Server::start_cql(folder.path(), &flags);
    let console = console_of(folder.path());
    let script = folder.path().join("rows.cql");
    let value = "x".repeat(1_000_000);
    let insert = |row| format!("INSERT INTO ks.long (a, b, v) VALUES ('p', {row}, '{value}');");
    let text = format!(
        "CREATE KEYSPACE ks WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}; \
         CREATE TABLE ks.long (a text, b int, v text, PRIMARY KEY (a, b)); {}",
        (0..ROWS).map(insert).collect::<String>()
    );
    std::fs::write(&script, text).unwrap();
    let made = shelfmark(&["cql", "--server", &server.cql, "-f", script.to_str().unwrap()]);
    assert!(made.status.success(), "{}", stderr(&made));
    for words in [
        &["scan", "ks.long"][..],
        &["query", "ks.long", "p"],
        &["export", "ks.long", "--to", "-", "--format", "jsonl"],
    ] {
        let (done, lines, told) = ran(words, ["--server", &console]);
        assert!(done, "{words:?}: {told}");
        assert_eq!(lines.lines().count(), ROWS, "{words:?}");
        assert!(lines.lines().all(|line| line.contains(&value)), "{words:?}");
    }
}
