//! `shelfmark cassandra-cli` over a server and over a folder.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::process::{Server, shelfmark, stderr, stdout};
use crate::terminal::Terminal;

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/scripts").join(name)
}

fn run(to: [&str; 2], words: &[&str]) -> Output {
    shelfmark(&[&["cassandra-cli"], &to[..], words].concat())
}

/// What a run printed, without times, timestamps and ids of schemas.
fn said(output: &Output) -> String {
    let is_id = |line: &str| line.len() == 36 && line.split('-').count() == 5;
    let printed = stdout(output);
    let lines = printed.lines().filter(|line| !line.starts_with("Elapsed time: ") && !is_id(line));
    lines
        .map(|line| match line.split_once(", timestamp=") {
            Some((before, after)) => {
                assert!(after.trim_end_matches(')').parse::<u64>().is_ok(), "{line}");
                format!("{before})\n")
            }
            None => format!("{line}\n"),
        })
        .collect()
}

#[test]
fn a_script_prints_the_same_over_a_server_and_over_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_cql(folder.path(), &[]);
    let pinboard = script("pinboard.txt");
    let expected = std::fs::read_to_string(script("pinboard.out")).unwrap();
    let own = folder.path().join("own");
    for to in [["--server", &server.cql], ["--data", own.to_str().unwrap()]] {
        let output = run(to, &["-f", pinboard.to_str().unwrap()]);
        assert_eq!(said(&output), expected, "{}", stderr(&output));
        // The last but one fails, so that the last is not run.
        assert_eq!(output.status.code(), Some(4));
        let failed = "Line 33 => Nowhere not found in current keyspace.\n";
        assert!(stderr(&output).ends_with(failed), "{}", stderr(&output));
    }
    // CQL sees the same tables.
    let words = ["-e", "SELECT DISTINCT key, owner, pins FROM \"Pinboard\".\"Cards\"", "--json"];
    let output = shelfmark(&[&["cql", "--server", &server.cql], &words[..]].concat());
    let expected = "{\"key\": \"c1\", \"owner\": \"mia\", \"pins\": 3}\n";
    assert_eq!(stdout(&output), expected, "{}", stderr(&output));
}

#[test]
fn a_document_with_quirks_runs_when_it_is_forgiven() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let to = ["--data", store.to_str().unwrap()];
    let quirks = script("quirks.txt");
    let file = ["-f", quirks.to_str().unwrap()];
    let output = run(to, &[&["--forgiving"][..], &file].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let expected = std::fs::read_to_string(script("quirks.out")).unwrap();
    assert_eq!(said(&output), expected, "{}", stderr(&output));
    let errors = stderr(&output).replace(quirks.to_str().unwrap(), "quirks.txt");
    let errors: Vec<&str> =
        errors.lines().filter(|line| !line.starts_with("a new store")).collect();
    let warnings = std::fs::read_to_string(script("quirks.err")).unwrap();
    assert_eq!(errors.join("\n") + "\n", warnings);
    // The original would have joined all lines up to the first semicolon, and refused them.
    let store = folder.path().join("strict");
    let output = run(["--data", store.to_str().unwrap()], &file);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(4), ""));
    assert!(stderr(&output).contains("Line 6 => Syntax error at position"), "{}", stderr(&output));
}

#[test]
fn what_is_not_ended_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let to = ["--data", store.to_str().unwrap()];
    let file = folder.path().join("open.txt");
    std::fs::write(&file, "show cluster name;\n\n  create keyspace\n K\n").unwrap();
    let file = file.to_str().unwrap();
    let output = run(to, &["-f", file]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(4), "Shelfmark\n"));
    let told = "Line 4 => 3:3: the command has no semicolon at the end of a line\n";
    assert!(stderr(&output).ends_with(told), "{}", stderr(&output));
    let output = run(to, &["-k", "nowhere", "-f", file]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("nowhere"), "{}", stderr(&output));
}

/// The scripts of the document that the forgiving mode was made for.
#[test]
fn the_document_runs() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/seeds");
    let mut entries = std::fs::read_dir(seeds).into_iter().flatten().flatten();
    let document = entries.find(|entry| entry.file_name().to_string_lossy().starts_with("002"));
    let Some(document) = document.map(|entry| entry.path()) else {
        eprintln!("../shared/seeds/002* is not there: its scripts were not run by the command");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_cql(folder.path(), &[]);
    let to = ["--server", server.cql.as_str()];
    let output = run(to, &["--forgiving", "-f", document.to_str().unwrap()]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(said(&output).matches("Value inserted.").count(), 26);
    let errors = stderr(&output);
    assert!(errors.contains("lines of prose between 32 commands"), "{errors}");
    assert_eq!(errors.matches("never closed").count(), 6, "{errors}");
    let file = folder.path().join("ask.txt");
    std::fs::write(&file, "get USER where user_name = 'itstarting';").unwrap();
    let output = run(to, &["-k", "jtwissandra", "-f", file.to_str().unwrap()]);
    assert!(said(&output).contains("RowKey: 550e8400-e29b-41d4-a716-446655440000"));
}

#[test]
fn the_prompt_answers_as_the_original_does() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let to = ["cassandra-cli", "--data", store.to_str().unwrap()];
    let mut terminal = Terminal::start(folder.path(), &to);
    terminal.wait_for("[default@unknown] ");
    terminal.enter("create keyspace Pins;");
    terminal.wait_for("schemas agree across the cluster");
    terminal.enter("use pins;");
    terminal.wait_for("Authenticated to keyspace: Pins");
    terminal.wait_for("[default@Pins] ");
    terminal.enter("create column family\rA;");
    terminal.wait_for("schemas agree across the cluster");
    terminal.enter("get B['x'];");
    terminal.wait_for("B not found in current keyspace.");
    terminal.enter("?");
    terminal.wait_for("create column family CF");
    terminal.enter("quit;");
    assert!(terminal.ends());
}
