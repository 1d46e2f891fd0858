//! Every command that looks at a store, over a running server and over its folder: the same words, the same
//! output.

use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::console::console_of;
use crate::process::{Server, command, shelfmark, stderr, stdout};

/// A store with rows of all faces.
fn fill(server: &Server) {
    server.create_table("Music");
    for (pk, sk) in [("a", "chat#1"), ("a", "chat#2"), ("b", "x")] {
        server.put("Music", pk, sk);
    }
    let large = r#"{"TableName":"Music","Item":{"pk":{"S":"n"},"sk":{"S":"n"},
        "n":{"N":"-12345678901234567890.12345678901234567"}}}"#;
    assert_eq!(server.call("PutItem", large).0, 200);
    let script = "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', \
                  'replication_factor': 1}; CREATE TABLE ks.t (a int, b text, c text, PRIMARY KEY \
                  (a, b)); CREATE INDEX by_c ON ks.t (c); INSERT INTO ks.t (a, b, c) VALUES (1, 'x', \
                  'y'); INSERT INTO ks.t (a, b, c) VALUES (1, 'z', 'y');CREATE TABLE ks.wide (a int, b \
                  int, c int, PRIMARY KEY (a, b, c));";
    let made = shelfmark(&["cql", "--server", &server.cql, "-e", script]);
    assert!(made.status.success(), "{}", stderr(&made));
}

/// The commands, with what each must print somewhere.
const COMMANDS: [(&[&str], &str); 32] = [
    (&["tables"], "ks.t"),
    (&["tables", "--json"], "\"by_c\""),
    (&["tables", "--csv"], "table,owner,partition key,sort key,placement,indexes"),
    (&["stats", "Music"], "largest stretches from"),
    (&["stats", "Music", "--json"], "\"partitions\": 3"),
    (&["tablestats", "ks.t", "--csv"], "by_c,2,"),
    (&["info", "ks.wide"], "a i32"),
    (&["stats", "Muzak"], "dynamodb.Music"),
    (&["stats", "Music", "--partition", "a", "b"], "the partition key is: pk"),
    (&["get", "Music", "a", "chat#2"], "\"sk\": \"chat#2\""),
    (&["get", "Music", "n", "n"], "-12345678901234567890.12345678901234567"),
    (&["get", "Music", "n", "n", "--json"], "{\"n\":-12345678901234567890.12345678901234567,"),
    (&["get", "Music", "n", "n", "--csv"], "n,n,-12345678901234567890.12345678901234567"),
    (&["scan", "Music", "--csv", "--limit", "1"], "pk,sk"),
    (&["query", "ks.t", "1", "--csv"], "a,b,c"),
    (&["query", "ks.t", "1", "--json"], "\"b\":\"x\""),
    (&["get", "Music", "none", "none"], "no item with this key"),
    (&["get", "Music", "a"], "the key of dynamodb.Music is: pk, sk"),
    (&["get", "Muzak", "a", "b"], "dynamodb.Music"),
    (&["get", "ks.t", "1", "x"], "\"c\": \"y\""),
    (&["get", "ks.wide", "1", "2", "3"], "shelfmark cql"),
    (&["scan", "Music", "--explain"], "all of Music"),
    (&["scan", "Music", "-p", "a", "--prefix", "chat#", "--desc", "--explain"], "rows read: 2"),
    (&["scan", "Music", "--limit", "1"], "there is more: --limit 1 was reached"),
    (&["scan", "ks.t"], "\"b\":\"z\""),
    (&["query", "Music", "a", "--from", "chat#2", "--explain"], "rows read: 1, rows returned: 1"),
    (&["query", "ks.t", "1", "--desc"], "\"b\":\"x\""),
    (&["query", "ks.t", "one"], "no number"),
    (&["put", "Music", r#"{"pk":"a","sk":"chat#2"}"#, "--if-absent"], "there already"),
    (&["put", "Music", r#"{"pk":"","sk":"b"}"#], "1 to 2048"),
    (&["delete", "Music", "none", "none", "--if-present"], "no item with this key"),
    (&["delete", "Music", "none", "none"], ""),
];

fn ran(words: &[&str], place: [&str; 2]) -> (bool, String, String) {
    let output: Output = shelfmark(&[words, &place].concat());
    (output.status.success(), stdout(&output), stderr(&output))
}

#[test]
fn a_running_server_and_its_folder_answer_alike() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_cql(folder.path(), &["--console", "127.0.0.1:0"]);
    let console = console_of(folder.path());
    fill(&server);
    let over_server: Vec<_> =
        COMMANDS.iter().map(|(words, _)| ran(words, ["--server", &console])).collect();
    let verified = ran(&["verify"], ["--server", &console]);
    assert!(verified.0 && verified.1.contains("every record belongs"), "{verified:?}");
    assert!(ran(&["stats", "--json"], ["--server", &console]).1.contains("\"tables\": "));
    assert!(ran(&["compact"], ["--server", &console]).1.contains("written to table files"));
    let copy = folder.path().join("copy");
    let copied = ran(&["backup", copy.to_str().unwrap()], ["--server", &console]);
    assert!(copied.0 && copied.1.contains(" keys, "), "{copied:?}");
    let again = folder.path().join("again");
    let again = ran(&["backup", again.to_str().unwrap(), "--json"], ["--server", &console]);
    assert!(again.0 && again.1.contains("\"keys\": "), "{again:?}");
    drop(server.stop("-TERM"));
    let restored = folder.path().join("restored");
    let (copy, restored) = (copy.to_str().unwrap(), restored.to_str().unwrap());
    let made = ran(&["restore", copy, "--json"], ["--data", restored]);
    assert!(made.0 && made.1.contains("\"keys\": "), "{made:?}");
    let store = folder.path().join("store");
    for data in [store.to_str().unwrap(), restored] {
        for ((words, part), over_server) in COMMANDS.iter().zip(&over_server) {
            let here = ran(words, ["--data", data]);
            assert_eq!(over_server, &here, "{words:?}");
            assert!(
                format!("{here:?}").replace("\\\"", "\"").contains(part),
                "{words:?}: {here:?}"
            );
        }
        let verified = ran(&["verify"], ["--data", data]);
        assert!(verified.0, "{verified:?}");
        let verified = ran(&["verify", "--json"], ["--data", data]);
        let lines = verified.1.lines().map(|line| serde_json::from_str(line).unwrap());
        let lines: Vec<serde_json::Value> = lines.collect();
        assert_eq!(lines[0]["files"]["damages"], serde_json::json!([]));
        assert_eq!(lines[1]["records"]["findings"], serde_json::json!([]));
    }
}

#[test]
fn what_is_written_over_the_server_is_what_the_faces_read() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_cql(folder.path(), &["--console", "127.0.0.1:0"]);
    let console = console_of(folder.path());
    fill(&server);
    let run = |words: &[&str]| ran(words, ["--server", &console]);
    assert!(run(&["put", "Music", r#"{"pk":"new","sk":"1","n":1.50}"#]).0);
    assert!(server.get("Music", "new", "1").contains(r#""N":"1.5""#));
    assert!(run(&["delete", "Music", "new", "1", "--if-present"]).0);
    assert!(!server.get("Music", "new", "1").contains("Item"));
    let put = run(&["put", "ks.t", r#"{"a":7,"b":"new","c":"seven"}"#]);
    assert!(put.0, "{put:?}");
    let select = "SELECT c FROM ks.t WHERE a = 7 AND b = 'new'";
    let read = shelfmark(&["cql", "--server", &server.cql, "-e", select]);
    assert!(stdout(&read).contains("seven"), "{}", stdout(&read));
    // By the index as well: the put kept it.
    let select = "SELECT b FROM ks.t WHERE c = 'seven'";
    let read = shelfmark(&["cql", "--server", &server.cql, "-e", select]);
    assert!(stdout(&read).contains("new"), "{}", stdout(&read));
}

/// Stops the writers when it is dropped.
struct StopAtEnd<'s>(&'s AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_server_that_clients_write_to_is_verified_and_copied() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_cql(folder.path(), &["--console", "127.0.0.1:0"]);
    let console = console_of(folder.path());
    fill(&server);
    let copy = folder.path().join("copy");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Also where something fails: otherwise the writers would never end.
        let _stops = StopAtEnd(&stop);
        for writer in 0..2 {
            let (server, stop) = (&server, &stop);
            scope.spawn(move || {
                let mut number = 0;
                while !stop.load(Ordering::Relaxed) {
                    server.put("Music", &format!("w{writer}"), &number.to_string());
                    number += 1;
                }
            });
        }
        for _ in 0..3 {
            let verified = ran(&["verify"], ["--server", &console]);
            assert!(verified.0, "{verified:?}");
        }
        let copied = ran(&["backup", copy.to_str().unwrap()], ["--server", &console]);
        assert!(copied.0, "{copied:?}");
    });
    let restored = folder.path().join("restored");
    let restored = restored.to_str().unwrap();
    assert!(ran(&["restore", copy.to_str().unwrap()], ["--data", restored]).0);
    let verified = ran(&["verify"], ["--data", restored]);
    assert!(verified.0, "{verified:?}");
    // One moment: of each writer a beginning of what it wrote.
    for writer in ["w0", "w1"] {
        let rows = ran(&["query", "Music", writer, "--limit", "1000000"], ["--data", restored]).1;
        let all = ran(&["query", "Music", writer, "--limit", "1000000"], ["--server", &console]).1;
        let (count, numbers) = (rows.lines().count(), 0..rows.lines().count());
        assert!(count <= all.lines().count());
        for number in numbers {
            assert!(rows.contains(&format!(r#""sk":"{number}""#)), "{writer} lacks {number}");
        }
    }
}

#[test]
fn a_token_is_given_by_file_or_environment_and_a_wrong_place_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "0123456789abcdef0123\n").unwrap();
    let token = token.to_str().unwrap();
    let flags = ["--console", "127.0.0.1:0", "--console-token-file", token];
    let _server = Server::start_cql(folder.path(), &flags);
    let console = console_of(folder.path());
    let refused = ran(&["tables"], ["--server", &console]);
    assert!(!refused.0 && refused.2.contains("--console-token-file FILE"), "{refused:?}");
    assert!(ran(&["tables", "--server", &console], ["--console-token-file", token]).0);
    let mut by_environment = command();
    by_environment.env("SHELFMARK_CONSOLE_TOKEN", "0123456789abcdef0123");
    by_environment.args(["tables", "--server", &console]);
    assert!(by_environment.output().unwrap().status.success());
    for (place, part) in [("127.0.0.1:1", "--console ADDR"), ("localhost", "host and port")] {
        let refused = ran(&["tables"], ["--server", place]);
        assert!(!refused.0 && refused.2.contains(part), "{refused:?}");
    }
    // A folder that a server has open is not looked at behind its back.
    let store = folder.path().join("store");
    let refused = ran(&["tables"], ["--data", store.to_str().unwrap()]);
    assert!(!refused.0 && refused.2.contains("--server"), "{refused:?}");
}
