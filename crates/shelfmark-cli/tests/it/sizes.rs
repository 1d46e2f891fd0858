//! What `stats` says of tables and partitions, and `servers` of a server alone.

use serde_json::Value;

use crate::console::console_of;
use crate::process::{Server, shelfmark, stderr, stdout};

fn json(words: &[&str]) -> Value {
    let output = shelfmark(words);
    assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

#[test]
fn a_partition_is_measured_and_found() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_cql(folder.path(), &["--console", "127.0.0.1:0"]);
    let console = console_of(folder.path());
    server.create_table("Music");
    for at in 0..600 {
        server.put("Music", "large", &format!("{at:05}"));
    }
    for partition in ["a", "b"] {
        server.put("Music", partition, "1");
        server.put("Music", partition, "2");
    }
    let of = |partition: &str| {
        json(&["stats", "Music", "-p", partition, "--json", "--server", &console])
    };
    let before = of("a");
    assert_eq!(before["places"], Value::Array(Vec::new()), "{before}");
    assert!(shelfmark(&["compact", "--server", &console]).status.success());
    let a = of("a");
    assert_eq!(a["extent"]["rows"], 2, "{a}");
    assert_eq!(a["extent"]["partitions"], 1, "{a}");
    assert_eq!(a["extent"]["exact"], true, "{a}");
    let token = last_word(&["key", "token", "a"]);
    assert_eq!(a["token"].to_string(), token, "{a}");
    let places = a["places"].as_array().unwrap();
    assert!(!places.is_empty(), "{a}");
    let from = a["range"]["from"].as_str().unwrap();
    for place in places {
        assert_eq!(place["kind"], "table file");
        // The file begins before the partition ends, and ends behind its first key.
        assert!(place["range"]["from"].as_str() < a["range"]["to"].as_str(), "{place}");
        assert!(place["range"]["to"].as_str() > Some(from), "{place}");
    }
    let large = of("large");
    assert_eq!(large["extent"]["exact"], false, "{large}");
    assert_eq!(large["extent"]["partitions"], 1, "{large}");
    let rows = large["extent"]["rows"].as_u64().unwrap();
    assert!((300..1_200).contains(&rows), "600 rows were estimated as {rows}");
    assert_eq!(of("nobody")["extent"]["rows"], 0);
    let table = json(&["stats", "Music", "--json", "--server", &console]);
    assert_eq!(table["extent"]["partitions"], 3, "{table}");
    assert!(table["largest"][0]["from"].as_str().unwrap().starts_with("large"), "{table}");
    let words = stdout(&shelfmark(&["stats", "Music", "-p", "large", "--server", &console]));
    assert!(words.contains("about ") && words.contains("table file"), "{words}");
}

/// Returns the last word of what a command prints.
fn last_word(words: &[&str]) -> String {
    let output = shelfmark(words);
    assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    stdout(&output).split_whitespace().last().unwrap().to_owned()
}

#[test]
fn a_server_alone_is_its_own_list() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_cql(folder.path(), &["--console", "127.0.0.1:0"]);
    let console = console_of(folder.path());
    let servers = json(&["servers", "--json", "--server", &console]);
    assert_eq!(servers.as_array().unwrap().len(), 1, "{servers}");
    assert_eq!(servers[0]["dynamodb"], server.address.as_str());
    assert_eq!(servers[0]["console"], console.as_str());
    assert_eq!(servers[0]["leads"], true);
    let words = stdout(&shelfmark(&["status", "--server", &console]));
    assert!(words.contains("alone") && words.contains("leads, this one"), "{words}");
}
