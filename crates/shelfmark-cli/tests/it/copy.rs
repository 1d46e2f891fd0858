//! `COPY` of `shelfmark cql`: rows to files and back, over a server and over a folder.

use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

use crate::process::{Server, command, shelfmark, stderr, stdout};
use crate::terminal::Terminal;

const SCHEMA: &str = "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', \
    'replication_factor': 1};
    CREATE TYPE k.pair (a int, b text);
    CREATE TABLE k.t (id int PRIMARY KEY, a ascii, b blob, c boolean, d date, e decimal, f double, \
    g duration, h inet, i list<text>, j map<text, frozen<set<int>>>, k frozen<pair>, l text, m time, \
    n timestamp, o timeuuid, p tuple<int, text>, q varint, r uuid, s vector<float, 2>, t set<bigint>);
    INSERT INTO k.t (id, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t) VALUES (1, 'x', \
    0x00ff, true, '2020-02-29', 1.50, 1.0E-7, 1mo2d3h, '::1', ['a,b', 'it''s \"so\"'], \
    {'k': {1, 2}}, {a: 1, b: 'using'}, 'a \"b\", c\\d', '01:02:03.000000004', \
    '2020-01-01 00:00:00.123Z', 50554d6e-29bb-11e5-b345-feff819cdc9f, (1, 'z'), -7, \
    50554d6e-29bb-41e5-b345-feff819cdc9f, [1.5, -2], {1, 2});
    INSERT INTO k.t (id, l, c) VALUES (2, '', false);
    INSERT INTO k.t (id) VALUES (3);
    INSERT INTO k.t (id, l) VALUES (4, '\nline ä');";

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn cql(to: [&str; 2], statement: &str) -> Output {
    shelfmark(&["cql", to[0], to[1], "-e", statement])
}

#[track_caller]
fn done(to: [&str; 2], statement: &str) -> String {
    let output = cql(to, statement);
    assert!(output.status.success(), "{statement}: {}", stderr(&output));
    stdout(&output)
}

#[track_caller]
fn refused(to: [&str; 2], statement: &str, parts: &[&str]) {
    let output = cql(to, statement);
    assert_eq!(output.status.code(), Some(2), "{}{}", stdout(&output), stderr(&output));
    for part in parts {
        let told = stdout(&output) + &stderr(&output);
        assert!(told.contains(part), "{part} in {told}");
    }
}

#[test]
fn every_type_comes_back_as_it_went() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_cql(folder.path(), &[]);
    let to = ["--server", &server.cql];
    done(to, SCHEMA);
    let rows = "EXPAND ON; SELECT * FROM k.t; EXPAND OFF";
    let before = done(to, rows);
    for (number, options) in [
        "",
        " WITH HEADER = TRUE",
        " WITH DELIMITER = ';' AND QUOTE = '|' AND NULL = 'nothing' AND HEADER = true",
        " WITH ESCAPE = '\"' AND PAGESIZE = 1",
    ]
    .iter()
    .enumerate()
    {
        let file = folder.path().join(format!("{number}.csv"));
        let out = done(to, &format!("COPY k.t TO '{}'{options}", text(&file)));
        assert!(out.contains("4 rows exported"), "{out}");
        done(to, "TRUNCATE k.t");
        let back = options.replace(" AND PAGESIZE = 1", "");
        let out = done(to, &format!("COPY k.t FROM '{}'{back}", text(&file)));
        assert!(out.contains("4 rows imported"), "{out}");
        assert_eq!(done(to, rows), before, "{options}");
    }
}

#[test]
fn columns_headers_and_limits() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let to = ["--data", text(&store)];
    done(to, SCHEMA);
    done(to, "CREATE TABLE k.p (a int, b int, c text, \"D d\" int, PRIMARY KEY (a, b))");
    let file = folder.path().join("p.csv");
    std::fs::write(&file, "D d,b,a,c\n1,2,3,x\n4,5,6,\n7,8,9,z\n").unwrap();
    let from = |options: &str| format!("COPY k.p FROM '{}' WITH {options}", text(&file));
    let all = || done(to, "SELECT a, b, c, \"D d\" FROM k.p");
    done(to, &from("HEADER = TRUE AND SKIPROWS = 1 AND MAXROWS = 1"));
    assert!(all().contains(" 6 | 5 | null |   4") && all().contains("(1 rows)"), "{}", all());
    done(to, &from("HEADER = TRUE AND SKIPCOLS = 'c' AND CHUNKSIZE = 5 AND INGESTRATE = 100"));
    assert!(all().contains("(3 rows)") && !all().contains('x'), "{}", all());
    let some = folder.path().join("some.csv");
    done(to, &format!("COPY k.p (c, \"D d\", a, b) TO '{}' WITH HEADER = TRUE", text(&some)));
    let written = std::fs::read_to_string(&some).unwrap();
    assert!(written.starts_with("c,D d,a,b\n") && written.contains(",4,6,5\n"), "{written}");
    let out = done(to, "COPY k.p (a, b) TO STDOUT");
    assert!(out.lines().any(|line| line == "6,5") && out.lines().count() == 3, "{out}");
    // Split at a token, the two halves are the whole.
    let half = |end: &str| done(to, &format!("COPY k.p (a, b) TO STDOUT WITH {end}TOKEN = 0"));
    let (first, second) = (half("END"), half("BEGIN"));
    assert_eq!(first.lines().count() + second.lines().count(), 3, "{first}{second}");
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let to = ["--data", text(&store)];
    done(to, SCHEMA);
    done(
        to,
        "CREATE TABLE k.n (a int PRIMARY KEY, b list<int>); CREATE TABLE k.c (a int PRIMARY KEY, n counter)",
    );
    let file = folder.path().join("n.csv");
    let from = format!("COPY k.n FROM '{}'", text(&file));
    for (body, parts) in [
        ("1,[1]\n2,[2]\nx,[3]\n4,[4]\n", &["n.csv, line 3: column a: ", "2 rows imported"][..]),
        ("1,[1]\n2\n", &["line 2: the record has 1 fields, and 2 columns are copied"]),
        (
            "1,\"[1\n,2]\"\n\n5,[1)\n",
            &["line 4: column b: '[1)' is no list<int>", "1 rows imported"],
        ),
        ("1,[1]) USING TTL (5\n", &["line 1: column b"]),
        ("1,[1]\n,[2]\n", &["line 2: ", "1 rows imported"]),
        ("1,[1]\n2,\"[2]\n", &["line 2: the quote that is opened in this record is not closed"]),
        ("1,['a']\n", &["line 1: "]),
    ] {
        done(to, "TRUNCATE k.n");
        std::fs::write(&file, body).unwrap();
        refused(to, &from, parts);
    }
    refused(to, "COPY k.n FROM '/nowhere/at.all'", &["cannot read /nowhere/at.all"]);
    refused(to, "COPY k.n TO '/nowhere/at.all'", &["cannot write /nowhere/at.all"]);
    refused(to, "COPY k.nothing TO '/tmp/x'", &["table nothing does not exist"]);
    refused(to, "COPY k.n TO", &["the command is COPY TABLE"]);
    refused(to, &format!("COPY k.c FROM '{}'", text(&file)), &["counters"]);
    std::fs::write(&file, "a,z\n1,[1]\n").unwrap();
    refused(to, &format!("{from} WITH HEADER = TRUE"), &["line 1: the table has no column z"]);
}

/// Runs the shell with a text on standard input.
fn piped(arguments: &[&str], input: &str) -> Output {
    let mut process = command()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    process.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    process.wait_with_output().unwrap()
}

/// As cqlsh has it: rows stand behind the command in a script, or come from standard input.
#[test]
fn rows_come_from_standard_input_or_follow_in_the_script() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let to = ["--data", text(&store)];
    done(to, SCHEMA);
    done(to, "CREATE TABLE k.q (a int PRIMARY KEY, b text)");
    let all = || done(to, "SELECT * FROM k.q");
    let flags = ["cql", to[0], to[1]];
    let script = "COPY k.q FROM STDIN WITH HEADER = TRUE;\nb,a\n'DROP TABLE k.q;,1\nexit,2\n\\.\n\
                  INSERT INTO k.q (a, b) VALUES (3, 'x');\ncopy k.q (a) from stdin\n4\n";
    let by_pipe = piped(&flags, script);
    assert!(by_pipe.status.success(), "{}{}", stdout(&by_pipe), stderr(&by_pipe));
    assert!(stdout(&by_pipe).contains("2 rows imported from <stdin>."), "{}", stdout(&by_pipe));
    let rows = all();
    for part in ["'DROP TABLE k.q;", "exit", " x\n", " 4 | null", "(4 rows)"] {
        assert!(rows.contains(part), "{part} in {rows}");
    }
    done(to, "TRUNCATE k.q");
    let file = folder.path().join("s.cql");
    std::fs::write(&file, script).unwrap();
    let by_file = shelfmark(&[&flags[..], &["-f", text(&file)]].concat());
    assert!(by_file.status.success(), "{}", stderr(&by_file));
    assert_eq!(all(), rows);
    let wrong = script.replace(",2\n", ",two\n");
    std::fs::write(&file, wrong).unwrap();
    refused(to, &format!("SOURCE '{}'", text(&file)), &["s.cql, line 4: column a: "]);
    // Of an argument the rows are standard input.
    done(to, "TRUNCATE k.q");
    let copy = [&flags[..], &["-e", "COPY k.q FROM STDIN; SELECT * FROM k.q"]].concat();
    let by_argument = piped(&copy, "7,y\n\\.\n8,z\n");
    let out = stdout(&by_argument);
    assert!(out.contains("1 rows imported") && out.contains("(1 rows)"), "{out}");
}

/// At the prompt rows are typed.
#[test]
fn rows_are_typed_at_the_prompt() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let to = ["--data", text(&store)];
    done(to, SCHEMA);
    done(to, "CREATE TABLE k.q (a int PRIMARY KEY, b text)");
    let mut terminal = Terminal::start(folder.path(), &["cql", to[0], to[1]]);
    terminal.wait_for("cql> ");
    terminal.enter("COPY k.q FROM STDIN;");
    terminal.wait_for("to end input]");
    terminal.wait_for("[copy] ");
    terminal.enter("1,DROP TABLE k.q;");
    terminal.wait_for("[copy] ");
    terminal.enter("\\.");
    terminal.wait_for("1 rows imported");
    terminal.wait_for("cql> ");
    terminal.enter("COPY k.q FROM STDIN;");
    terminal.wait_for("[copy] ");
    terminal.send("\x03");
    terminal.wait_for("interrupted");
    terminal.wait_for("cql> ");
    terminal.enter("SELECT b FROM k.q;");
    terminal.wait_for("DROP TABLE k.q;");
    terminal.wait_for("(1 rows)");
}

/// What a file takes in memory does not grow with it.
#[test]
fn a_long_file_is_streamed() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let to = ["--data", text(&store)];
    done(to, SCHEMA);
    done(to, "CREATE TABLE k.l (a int PRIMARY KEY, t text)");
    let file = folder.path().join("long.csv");
    let body = |rows: u32| -> String {
        (0..rows).map(|row| format!("{row},{}\n", "x".repeat(1_000))).collect()
    };
    std::fs::write(&file, body(3_000)).unwrap();
    let out = done(to, &format!("COPY k.l FROM '{}'", text(&file)));
    assert!(out.contains("3000 rows imported"), "{out}");
    let back = folder.path().join("back.csv");
    done(to, &format!("COPY k.l TO '{}'", text(&back)));
    let mut lines: Vec<String> =
        std::fs::read_to_string(&back).unwrap().lines().map(str::to_owned).collect();
    let number = |line: &str| line.split(',').next().unwrap().parse::<u32>().unwrap();
    lines.sort_by_key(|line| number(line));
    assert_eq!(lines.join("\n") + "\n", body(3_000));
}
