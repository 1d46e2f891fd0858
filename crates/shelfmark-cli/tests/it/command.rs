//! The small commands, their help, and what they say when they are misused.

use crate::process::{Server, shelfmark, stderr, stdout};

fn check(arguments: &[&str], expected: &str) {
    let output = shelfmark(arguments);
    assert_eq!(stdout(&output), expected, "{}", stderr(&output));
    assert!(output.status.success());
}

fn check_refused(arguments: &[&str], part: &str) {
    let output = shelfmark(arguments);
    assert!(!output.status.success());
    assert!(stderr(&output).contains(part), "{}", stderr(&output));
}

#[test]
fn keys_are_written_and_read() {
    check(&["key", "lexint", "5", "20", "307"], "05\n14\nfb38\n");
    check(&["key", "lexint", "--decode", "fb38"], "307\n");
    check(&["key", "lexint", "17592186044667"], "ff0c080000000000\n");
    check(&["key", "lexint", "17592186044668"], "fff6100000000001\n");
    check(&["key", "lexint", "--decode", "fff6100000000001"], "17592186044668\n");
    check(&["key", "lexint", "18446744073709551615"], "fff8ffffffffffffff04\n");
    check_refused(&["key", "lexint", "18446744073709551616"], "18446744073709551615");
    check_refused(&["key", "lexint", "--decode", "ff0d080000000000"], "several numbers");
    check_refused(&["key", "lexint", "--decode", "fc0000"], "lexicographic integer");
    check(&["key", "token", ""], "-9223372036854775808\n");
    let ulids = stdout(&shelfmark(&["key", "ulid", "--count", "3"]));
    let lines: Vec<&str> = ulids.lines().collect();
    assert!(lines.iter().all(|line| line.len() == 26));
    assert!(lines.is_sorted() && lines.len() == 3);
    check_refused(&["key", "ulid", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ"], "ULID");
    check(
        &["key", "ulid", "01ARZ3NDEKTSV4RRFFQ69G5FAV"],
        "2016-07-30T23:54:10.259Z (1469922850259 ms since 1970)\n",
    );
}

#[test]
fn every_command_helps_with_an_example() {
    let commands = [
        "serve",
        "config",
        "tour",
        "get",
        "put",
        "delete",
        "scan",
        "query",
        "tables",
        "stats",
        "connections",
        "slow",
        "compact",
        "verify",
        "cql",
        "cassandra-cli",
        "bench",
        "key",
        "completions",
        "man",
    ];
    let design = [
        "new", "fmt", "check", "prove", "confirm", "verify", "plan", "size", "import", "explain",
        "draw", "json",
    ];
    let one = commands.iter().map(|command| vec![*command]);
    let two = design.iter().map(|verb| vec!["design", *verb]);
    let codecs = ["lexint", "ulid", "token"].iter().map(|codec| vec!["key", *codec]);
    for words in one.chain(two).chain(codecs) {
        let help = stdout(&shelfmark(&[&words[..], &["--help"]].concat()));
        let example = help.split_once("Example").map_or("", |(_, example)| example);
        assert!(example.contains(&format!("shelfmark {}", words.join(" "))), "{words:?}: {help}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(&shelfmark(&["completions", shell]));
        for word in ["lexint", "cassandra-cli", "forgiving", "tls-ca"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let first = stdout(&shelfmark(&["man"]));
    assert!(first.contains(".TH shelfmark 1") && first.contains("cassandra\\-cli"), "{first}");
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    assert!(shelfmark(&["man", "--out", pages.to_str().unwrap()]).status.success());
    for (page, word) in [
        ("shelfmark.1", ".SH SUBCOMMANDS"),
        ("shelfmark-serve.1", "memory\\-limit"),
        ("shelfmark-cql.1", "forgiving"),
        ("shelfmark-design-prove.1", "deny"),
        ("shelfmark-key-ulid.1", "ULID"),
    ] {
        let text = std::fs::read_to_string(pages.join(page)).unwrap();
        assert!(text.contains(word), "{page}: {text}");
    }
    let help = stdout(&shelfmark(&["--help"]));
    let named = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let named = named.take_while(|line| !line.is_empty());
    // Lines that go on are indented further.
    let named = named.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    for command in named.filter(|command| !["", "help"].contains(command)) {
        assert!(pages.join(format!("shelfmark-{command}.1")).exists(), "{command} has no page");
    }
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    check_refused(&["man", "--out", file.to_str().unwrap()], "cannot write manual pages into");
}

#[test]
fn a_store_is_looked_at_from_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    server.create_table("Music");
    server.put("Music", "a", "chat#1");
    server.put("Music", "a", "chats#1");
    assert!(server.stop("-TERM").status.success());
    let store = folder.path().join("store");
    let data = ["--data", store.to_str().unwrap()];
    let run = |words: &[&str]| shelfmark(&[words, &data].concat());
    let item = r#"{"pk": "a", "sk": "chat#2", "n": 1.50}"#;
    assert!(run(&["put", "Music", item]).status.success());
    let again = run(&["put", "Music", item, "--if-absent"]);
    assert!(stderr(&again).contains("there already"), "{}", stderr(&again));
    let got = stdout(&run(&["get", "Music", "a", "chat#2"]));
    let got: serde_json::Value = serde_json::from_str(&got).unwrap();
    assert_eq!(got, serde_json::json!({"pk": "a", "sk": "chat#2", "n": 1.5}));
    let scanned = run(&["scan", "Music", "-p", "a", "--prefix", "chat#", "--desc", "--explain"]);
    let keys: Vec<String> = stdout(&scanned)
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["sk"].to_string())
        .collect();
    assert_eq!(keys, ["\"chat#2\"", "\"chat#1\""]);
    let explained = stderr(&scanned);
    assert!(explained.contains("rows read: 2, rows returned: 2"));
    let range = "range: Music (\"a\"), sk begins with \"chat#\", from the last";
    assert!(explained.contains(range), "{explained}");
    assert!(stdout(&run(&["tables"])).contains("pk text"));
    assert!(stdout(&run(&["stats", "--json"])).contains("\"tables\": 1"));
    let missing = run(&["get", "Muzak", "a", "b"]);
    assert!(stderr(&missing).contains("dynamodb.Music"), "{}", stderr(&missing));
    let verified = run(&["verify"]);
    assert!(verified.status.success(), "{}", stderr(&verified));
    assert!(stdout(&verified).contains("every record belongs where it is"));
    damage_first_row(&store);
    let verified = run(&["verify"]);
    assert!(!verified.status.success(), "{}", stdout(&verified));
    assert!(stdout(&verified).contains("every byte is as it was written"));
    assert!(stdout(&verified).contains("wrong: rows of dynamodb.Music"), "{}", stdout(&verified));
}

#[test]
fn items_keep_their_digits_and_keys_their_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    server.create_table("Music");
    assert!(server.stop("-TERM").status.success());
    let store = folder.path().join("store");
    let data = ["--data", store.to_str().unwrap()];
    let run = |words: &[&str]| shelfmark(&[words, &data].concat());
    let item = r#"{"n":-12345678901234567890.12345678901234567,"pk":"a","sk":"b"}"#;
    assert!(run(&["put", "Music", item]).status.success());
    assert_eq!(stdout(&run(&["scan", "Music"])), format!("{item}\n"));
    let long = format!(r#"{{"pk":"{}","sk":"b"}}"#, "k".repeat(2_049));
    for (item, part) in [
        (r#"{"pk":"","sk":"b"}"#, "1 to 2048"),
        (&long, "1 to 2048"),
        (r#"{"pk":{"S":"a"},"sk":"b"}"#, "plain JSON"),
        (r#"{"pk":"a","sk":"c","n":1234567890123456789012345678901234567890}"#, "digits"),
    ] {
        let refused = run(&["put", "Music", item]);
        assert!(!refused.status.success());
        assert!(stderr(&refused).contains(part), "{}", stderr(&refused));
    }
}

#[test]
fn tables_of_cql_are_named_and_found_well() {
    let folder = tempfile::tempdir().unwrap();
    let data = ["--data", folder.path().to_str().unwrap()];
    let run = |words: &[&str]| shelfmark(&[words, &data].concat());
    let script = "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', \
                  'replication_factor': 1}; CREATE TABLE ks.t (a int, b text, c text, PRIMARY KEY \
                  (a, b)); CREATE INDEX by_c ON ks.t (c); INSERT INTO ks.t (a, b, c) VALUES (1, 'x', \
                  'y');";
    let made = run(&["cql", "-e", script]);
    assert!(made.status.success(), "{}", stderr(&made));
    let tables = stdout(&run(&["tables"]));
    assert!(tables.contains(" b text ") && tables.contains(" by_c "), "{tables}");
    // A key that an item could have is one; others are for CQL alone.
    let got = run(&["get", "ks.t", "1", "x"]);
    assert!(stdout(&got).contains("\"c\": \"y\""), "{}", stderr(&got));
    let made =
        run(&["cql", "-e", "CREATE TABLE ks.wide (a int, b int, c int, PRIMARY KEY (a, b, c))"]);
    assert!(made.status.success(), "{}", stderr(&made));
    for words in
        [&["get", "ks.wide", "1", "1", "1"][..], &["scan", "ks.wide"], &["put", "ks.wide", "{}"]]
    {
        let refused = run(words);
        assert!(stderr(&refused).contains("shelfmark cql -e"), "{}", stderr(&refused));
    }
    let verified = run(&["verify"]);
    assert!(verified.status.success(), "{}{}", stdout(&verified), stderr(&verified));
}

/// Puts something else in the place of a row, through the store: its bytes are right, and wrong.
fn damage_first_row(data: &std::path::Path) {
    use shelfmark_store::{Commit, KeyRange, Store as _, Write};
    let clock = std::sync::Arc::new(shelfmark_store::clock::SystemClock::new());
    let options = shelfmark_store::embedded::Options::default();
    let store = shelfmark_store::embedded::EmbeddedStore::open(data, options, clock).unwrap();
    let rows = KeyRange::prefix(vec![2]);
    let snapshot = store.snapshot().unwrap();
    let page = snapshot.scan(&rows, Default::default(), Default::default()).unwrap();
    let (key, value) = (page.rows[0].key.clone(), bytes::Bytes::from_static(b"?"));
    drop(snapshot);
    store.commit(Commit::of(vec![Write::Put { key, value }])).unwrap();
    store.close().unwrap();
}

#[test]
fn wrong_calls_say_what_to_do() {
    check_refused(&["tables", "--data", "/nonexistent/store"], "--data DIR");
    check_refused(&["verify", "--data", "/nonexistent/store"], "--data DIR");
    check_refused(&["tour", "--model", "none"], "openchat");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("thesis.txt"), "do not lose me").unwrap();
    let data = folder.path().to_str().unwrap();
    check_refused(&["tables", "--data", data], "holds no store");
    assert!(folder.path().join("thesis.txt").exists());
    // To look is not to create, and what went wrong is said once.
    let empty = tempfile::tempdir().unwrap();
    for command in ["tables", "stats"] {
        check_refused(&[command, "--data", empty.path().to_str().unwrap()], "there is no store");
    }
    assert_eq!(std::fs::read_dir(empty.path()).unwrap().count(), 0);
    let refused = stderr(&shelfmark(&["serve", "--data", "/proc/none/store"]));
    assert_eq!(refused.matches("os error").count(), 1, "{refused}");
}

#[test]
fn the_measurement_comes_to_its_end() {
    // What it measures is for people; that servers start for it, answer and start after a kill is not.
    let done = shelfmark(&["bench", "--seconds", "1", "--items", "500", "--markdown"]);
    assert!(done.status.success(), "{}", stderr(&done));
    let told = stdout(&done);
    for row in ["durable put, 16 in flight", "scan of 100", "first answer after a crash"] {
        assert!(told.contains(row), "{row}: {told}");
    }
}
