//! Scripts of cassandra-cli out of prose, in the forgiving dialect, on real tables.

use std::sync::Arc;

use shelfmark_cassandra_cli::{Client, Command, Local, Mode, document, parse, script};
use shelfmark_cql::{Face, FaceOptions, Inline};
use shelfmark_engine::{Engine, Environment, SeededRandom};
use shelfmark_store::clock::SystemClock;
use shelfmark_store::memory::MemoryStore;

/// What running a whole document came to.
#[derive(Default)]
struct Run {
    /// What each command said, without times.
    said: Vec<String>,
    warnings: Vec<String>,
    hints: Vec<String>,
    prose_lines: usize,
}

fn client() -> Client<Local> {
    let clock = Arc::new(SystemClock::new());
    let environment = Environment { clock: clock.clone(), random: Arc::new(SeededRandom::new(1)) };
    let engine = Engine::open(Arc::new(MemoryStore::new(clock)), environment.clone()).unwrap();
    let options = FaceOptions::default();
    let face = Face::open(engine, environment, options, None, Arc::new(Inline)).unwrap();
    Client::new(Local::new(&face), Mode::Forgiving)
}

fn run(client: &mut Client<Local>, text: &str) -> Run {
    let script = document(text);
    let mut run = Run { prose_lines: script.prose_lines, ..Run::default() };
    let mut warnings = script.warnings.clone();
    for piece in &script.pieces {
        let command = parse(piece, Mode::Forgiving, &mut warnings).unwrap();
        let reply = client.run(&command).unwrap();
        let first = reply.lines.into_iter().next().unwrap();
        // A change of the schema says its version first.
        let changes =
            matches!(command, Command::CreateKeyspace(_) | Command::CreateColumnFamily(_));
        run.said.push(if changes { "created".to_owned() } else { first });
        run.hints.extend(reply.hints);
    }
    run.warnings = warnings.iter().map(|warning| warning.text().to_owned()).collect();
    run
}

/// Runs a command as a person would afterwards; returns its lines without times.
fn said(client: &mut Client<Local>, text: &str) -> Vec<String> {
    let script = script(text, Mode::Strict);
    let command = parse(&script.pieces[0], Mode::Strict, &mut Vec::new()).unwrap();
    let lines = client.run(&command).unwrap().lines;
    let plain = |line: String| match line.split_once(", timestamp=") {
        Some((before, _)) => format!("{before})"),
        None => line,
    };
    lines.into_iter().filter(|line| !line.starts_with("Elapsed")).map(plain).collect()
}

fn count(texts: &[String], part: &str) -> usize {
    texts.iter().filter(|text| text.contains(part)).count()
}

#[test]
fn a_bakerys_orders_are_kept_whatever_the_quotes() {
    let mut client = client();
    let run = run(&mut client, include_str!("bakery.txt"));
    assert_eq!(count(&run.said, "created"), 3);
    assert_eq!(count(&run.said, "Value inserted."), 8);
    assert_eq!(run.said.len(), 11);
    assert_eq!(count(&run.warnings, "never closed"), 3, "{:#?}", run.warnings);
    assert_eq!(count(&run.warnings, "LongType counts"), 1);
    assert_eq!(count(&run.warnings, "begins no comment"), 2);
    assert_eq!(count(&run.warnings, "wide spaces"), 2, "{:#?}", run.warnings);
    assert!(run.prose_lines >= 6, "{}", run.prose_lines);
    assert_eq!(count(&run.hints, "BAKERY is used from here on"), 1);
    assert_eq!(count(&run.hints, "secret is not among the declared columns"), 1);
    assert_eq!(
        said(&mut client, "get CUSTOMER where full_name = 'Ada';"),
        [
            "-------------------",
            "RowKey: c-1",
            "=> (column=full_name, value=Ada)",
            "=> (column=secret, value=rye)",
            "=> (column=since, value=1400000000000000)",
            "",
            "1 Row Returned.",
        ]
    );
    assert_eq!(
        said(&mut client, "get CUSTOMER['c-2']['full_name'];"),
        ["=> (column=full_name, value=Bo)"]
    );
    assert_eq!(
        said(&mut client, "get BOUGHT['c-1'];"),
        [
            "=> (column=400000000000300, value=a date that lost its first digit)",
            "=> (column=1400000000000100, value=rolls)",
            "=> (column=1400000000000200, value=bread)",
            "Returned 3 results.",
        ]
    );
}

#[test]
fn strictly_the_first_curly_quote_ends_it() {
    let text = "set CUSTOMER[\u{2018}c-1\u{2019}]['full_name'] = 'Ada';";
    let script = script(text, Mode::Strict);
    let refused = parse(&script.pieces[0], Mode::Strict, &mut Vec::new()).unwrap_err();
    assert!(refused.text().starts_with("Syntax error at position 13:"), "{refused}");
}

const USERS: [&str; 2] =
    ["550e8400-e29b-41d4-a716-446655440000", "550e8400-e29b-41d4-a716-446655440001"];

#[test]
fn the_document_of_2012_runs_as_it_stands() {
    let Some(text) = super::document("002") else { return };
    let mut client = client();
    let run = run(&mut client, &text);
    assert_eq!(count(&run.said, "created"), 6);
    assert_eq!(count(&run.said, "Value inserted."), 26);
    assert_eq!(run.said.len(), 32);
    assert_eq!(count(&run.warnings, "never closed"), 6);
    assert_eq!(count(&run.warnings, "LongType counts"), 3);
    assert_eq!(count(&run.warnings, "begins no comment"), 2);
    assert_eq!(count(&run.hints, "JTWISSANDRA is used from here on"), 1);
    assert_eq!(count(&run.hints, "password is not among the declared columns"), 2);
    let columns = |client: &mut _, of: &str| {
        let mut lines = said(client, &format!("get {of};"));
        let last = lines.pop().unwrap();
        assert_eq!(last, format!("Returned {} results.", lines.len()), "{of}");
        let pair = |line: &String| {
            let inner = line.strip_prefix("=> (column=").unwrap().strip_suffix(')').unwrap();
            inner.replace(", value=", "=")
        };
        lines.iter().map(pair).collect::<Vec<_>>()
    };
    let [first, second] = USERS;
    assert_eq!(
        columns(&mut client, &format!("USER['{second}']")),
        ["create_timestamp=1329836819890001", "password=222111", "user_name=test1"]
    );
    for (family, user, at, other) in [
        ("FRIEND", first, "1329836819859000", second),
        ("FRIEND", second, "1329836819781000", first),
        ("FOLLOWER", second, "1329836819859000", first),
        // One digit is missing in the document.
        ("FOLLOWER", first, "329836819781000", second),
    ] {
        assert_eq!(columns(&mut client, &format!("{family}['{user}']")), [format!("{at}={other}")]);
    }
    let tweet = |number: u32| format!("550e8400-e29b-41d4-a716-4466554400{number}");
    for (number, author) in [(11, first), (12, first), (21, second), (22, second)] {
        assert_eq!(
            columns(&mut client, &format!("TWEET['{}']", tweet(number))),
            [format!("tweet_content=Hello world: {number}"), format!("user_uuid={author}")]
        );
    }
    for user in USERS {
        // In the order of time, whoever wrote first.
        assert_eq!(
            columns(&mut client, &format!("TIMELINE['{user}']")),
            [
                format!("1329883039824000={}", tweet(11)),
                format!("1329883039825000={}", tweet(21)),
                format!("1329883039834000={}", tweet(12)),
                format!("1329883039835000={}", tweet(22)),
            ]
        );
    }
    let found = said(&mut client, "get USER where user_name = 'itstarting';");
    assert_eq!(found[1], format!("RowKey: {first}"));
}
