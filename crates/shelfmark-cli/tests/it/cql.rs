//! `shelfmark cql` over a server and over a folder: scripts, errors, logins, TLS, the prompt.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use crate::process::{Server, command, shelfmark, stderr, stdout};
use crate::terminal::Terminal;

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/scripts").join(name)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs `shelfmark cql` over a server or a folder.
fn cql(to: [&str; 2], words: &[&str]) -> Output {
    shelfmark(&[&["cql"], &to[..], words].concat())
}

#[track_caller]
fn check(output: &Output, expected: &str) {
    assert!(output.status.success(), "{}{}", stdout(output), stderr(output));
    assert_eq!(stdout(output), expected, "{}", stderr(output));
}

#[track_caller]
fn check_refused(output: &Output, code: i32, parts: &[&str]) {
    assert_eq!(output.status.code(), Some(code), "{}", stderr(output));
    for part in parts {
        assert!(stderr(output).contains(part), "{part} in {}", stderr(output));
    }
}

const KEYSPACE: &str = "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', \
                        'replication_factor': 1};";

#[test]
fn a_script_prints_the_same_over_a_server_and_over_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_cql(folder.path(), &[]);
    let guestbook = script("guestbook.cql");
    let expected = std::fs::read_to_string(script("guestbook.out")).unwrap();
    check(&cql(["--server", &server.cql], &["-f", text(&guestbook)]), &expected);
    let own = folder.path().join("own");
    check(&cql(["--data", text(&own)], &["-f", text(&guestbook)]), &expected);
    // What one wrote the other reads, once it is closed.
    assert!(server.stop("-TERM").status.success());
    let store = folder.path().join("store");
    let words = ["-k", "guestbook", "-e", "SELECT visit FROM visits WHERE guest = 'bob'"];
    check(&cql(["--data", text(&store)], &words), "\n visit\n-------\n     7\n\n(1 rows)\n");
}

#[test]
fn a_refused_statement_ends_the_script_and_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let to = ["--data", text(&store)];
    let wrong = folder.path().join("wrong.cql");
    std::fs::write(&wrong, "SELECT key FROM system.local;\n\n  SELECT *\n  FORM t;\nUSE k;")
        .unwrap();
    let name = text(&wrong);
    let output = cql(to, &["-f", name]);
    let place = format!("error: {name}:4:3: line 2:2 ");
    check_refused(&output, 2, &[&place, "code 2000", "\n4 |   FORM t;\n      ^\n"]);
    assert!(stdout(&output).contains("(1 rows)"));
    let output = cql(to, &["-e", "USE nowhere", "-e", "SELECT key FROM system.local"]);
    check_refused(
        &output,
        2,
        &["error: Keyspace 'nowhere' does not exist [Invalid query, code 2200]"],
    );
    assert_eq!(stdout(&output), "");
    check_refused(&cql(to, &["-e", "CAPTURE x"]), 2, &["CAPTURE is not answered here"]);
    check_refused(&cql(to, &["-e", "CONSISTENCY MANY"]), 2, &["MANY is no level"]);
    check_refused(&cql(to, &["-f", "/nonexistent.cql"]), 1, &["cannot read /nonexistent.cql"]);
    check_refused(&cql(to, &["-k", "nowhere", "-e", "help"]), 1, &["nowhere"]);
}

#[test]
fn rows_come_as_json_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let statements = "CREATE TABLE k.t (a int PRIMARY KEY, \"B\" text, c map<text, frozen<list<int>>>); \
                      INSERT INTO k.t (a, \"B\", c) VALUES (1, '\"x\"', {'y': [1, 2]}); \
                      INSERT INTO k.t (a) VALUES (2); SELECT * FROM k.t; HELP";
    let output = cql(["--data", text(&store)], &["-e", KEYSPACE, "-e", statements, "--json"]);
    check(
        &output,
        "{\"a\": 1, \"B\": \"\\\"x\\\"\", \"c\": {\"y\": [1, 2]}}\n{\"a\": 2, \"B\": null, \"c\": null}\n",
    );
    assert!(stderr(&output).contains("Commands of the shell"));
    assert!(stderr(&output).contains("a new store is created in"));
}

#[test]
fn standard_input_and_called_scripts_are_run() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let called = folder.path().join("called.cql");
    std::fs::write(&called, format!("{KEYSPACE}\u{a0}\u{3000}\nUSE k; exit; USE nowhere;"))
        .unwrap();
    let mut process = command()
        .args(["cql", "--data", text(&store)])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = process.stdin.take().unwrap();
    write!(input, "SOURCE '{}'\nTRACING ON\nSELECT key FROM system.local;", text(&called)).unwrap();
    drop(input);
    let output = process.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("\n key\n-------\n local\n\n(1 rows)\n\nTrace "));
    assert!(stdout(&output).contains("Preparing statement"));
    let wide = format!("warning: {}:1:91: a wide space", text(&called));
    assert!(stderr(&output).contains(&wide), "{}", stderr(&output));
    assert!(stderr(&output).contains("and 1 more"));
    std::fs::write(&called, format!("SOURCE '{}';", text(&called))).unwrap();
    let output = cql(["--data", text(&store)], &["-f", text(&called)]);
    check_refused(&output, 2, &["call each other more than 16 deep"]);
}

#[test]
fn whoever_is_not_there_is_named_with_what_to_do() {
    let nobody =
        std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    for name in ["cql", "cassandra-cli"] {
        let output = shelfmark(&[name, "--server", &nobody, "-f", "/dev/null"]);
        check_refused(&output, 1, &[&nobody, "`shelfmark serve`", "--data DIR"]);
    }
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let output = cql(["--server", &server.address], &["-e", "help"]);
    check_refused(&output, 1, &[&server.address, "CQL port"]);
    let store = folder.path().join("store");
    check_refused(&cql(["--data", text(&store)], &["-e", "help"]), 1, &["open already"]);
    let output = shelfmark(&["cql", "--data", "x", "--server", "y"]);
    check_refused(&output, 2, &["cannot be used with"]);
}

#[test]
fn a_server_that_asks_is_told_who_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "correct horse\n").unwrap();
    let flags = ["--cql-user", "ann", "--cql-password-file", text(&secret)];
    let server = Server::start_cql(folder.path(), &flags);
    let to = ["--server", server.cql.as_str()];
    let ask = ["-e", "SELECT key FROM system.local"];
    check_refused(&cql(to, &ask), 1, &["asks who is there", "--user NAME"]);
    let file = [&["-u", "ann", "--password-file", text(&secret)][..], &ask].concat();
    assert!(cql(to, &file).status.success(), "{}", stderr(&cql(to, &file)));
    let wrong = [&["-u", "ann", "-p", "wrong"][..], &ask].concat();
    check_refused(&cql(to, &wrong), 1, &["Provided username ann and/or password are incorrect"]);
    let none = [&["-u", "ann"][..], &ask].concat();
    check_refused(&cql(to, &none), 1, &["--password-file FILE"]);
}

#[test]
fn a_connection_is_encrypted_for_whom_it_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let tls = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shelfmark-server/tests/it/tls");
    let (certificate, key) = (tls.join("certificate.pem"), tls.join("key.pem"));
    let flags = ["--cql-tls-certificate", text(&certificate), "--cql-tls-key", text(&key)];
    let server = Server::start_cql(folder.path(), &flags);
    let address = server.cql.replace("127.0.0.1", "localhost");
    let ask = ["-e", "SELECT key FROM system.local", "--json"];
    let encrypted = [&["--tls-ca", text(&certificate)][..], &ask].concat();
    check(&cql(["--server", &address], &encrypted), "{\"key\": \"local\"}\n");
    // The certificate is for another name.
    let output = cql(["--server", &server.cql], &encrypted);
    check_refused(&output, 1, &["certificate"]);
    check_refused(&cql(["--server", &address], &ask), 1, &["--tls-ca"]);
    let none = [&["--tls-ca", "/dev/null"][..], &ask].concat();
    check_refused(&cql(["--server", &address], &none), 1, &["holds no certificate"]);
}

/// The certificate is as `openssl req -x509` makes it: it may sign others, and the server presents it.
#[test]
fn a_certificate_that_signed_itself_is_trusted_if_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let tls = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tls");
    let (pinned, key) = (tls.join("pinned.pem"), tls.join("pinned-key.pem"));
    let flags = ["--cql-tls-certificate", text(&pinned), "--cql-tls-key", text(&key)];
    let server = Server::start_cql(folder.path(), &flags);
    let address = server.cql.replace("127.0.0.1", "localhost");
    let ask = |trusted: &Path, address: &str| {
        let words = ["--tls-ca", text(trusted), "-e", "SELECT key FROM system.local", "--json"];
        cql(["--server", address], &words)
    };
    check(&ask(&pinned, &address), "{\"key\": \"local\"}\n");
    // One of the same names with another key, one that is not in the file, and another name.
    check_refused(&ask(&tls.join("other.pem"), &address), 1, &["cannot agree on TLS"]);
    let usual = tls.join("../../../../shelfmark-server/tests/it/tls/certificate.pem");
    check_refused(&ask(&usual, &address), 1, &["cannot agree on TLS"]);
    check_refused(&ask(&pinned, &server.cql), 1, &["not valid for name"]);
}

/// So `openssl req -x509 -subj /CN=localhost` makes it: for names in certificates nobody looks at that.
#[test]
fn a_certificate_without_names_is_trusted_if_it_is_the_one_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let tls = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tls");
    let (nameless, key) = (tls.join("nameless.pem"), tls.join("nameless-key.pem"));
    let flags = ["--cql-tls-certificate", text(&nameless), "--cql-tls-key", text(&key)];
    let server = Server::start_cql(folder.path(), &flags);
    let ask = |trusted: &Path| {
        let words = ["--tls-ca", text(trusted), "-e", "SELECT key FROM system.local", "--json"];
        cql(["--server", &server.cql], &words)
    };
    check(&ask(&nameless), "{\"key\": \"local\"}\n");
    check_refused(&ask(&tls.join("pinned.pem")), 1, &["cannot agree on TLS"]);
}

#[test]
fn a_warning_of_several_lines_is_shown_as_lines() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let to = ["--data", text(&store)];
    let file = folder.path().join("vectors.cql");
    let script = format!(
        "{KEYSPACE}\nCREATE TABLE k.v (a int PRIMARY KEY, v vector<float, 2>);\n\
         CREATE INDEX ON k.v (v) USING 'sai';\n"
    );
    std::fs::write(&file, script).unwrap();
    let output = cql(to, &["-f", text(&file)]);
    check(&output, "");
    let told = stderr(&output);
    assert!(told.contains("warning: SAI ANN indexes on vector columns"), "{told}");
    assert!(told.contains("\n     * Paging.\n") && !told.contains("\\n"), "{told}");
}

#[test]
fn ctrl_c_ends_the_statement_and_not_the_shell() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_cql(folder.path(), &[]);
    check(&cql(["--server", &server.cql], &["-e", KEYSPACE]), "");
    let mut terminal = Terminal::start(folder.path(), &["cql", "--server", &server.cql, "-k", "k"]);
    terminal.wait_for("cql:k> ");
    // An empty line is thrown away like any other.
    terminal.send("\x03");
    terminal.wait_for("cql:k> ");
    server.pause();
    terminal.enter("select cluster_name from system.local;");
    // The editor has let go of the terminal: from here on the statement is what is interrupted.
    terminal.wait_for("\u{1b}[?2004l");
    for _ in 0..10 {
        std::thread::sleep(std::time::Duration::from_millis(200));
        terminal.interrupt();
    }
    server.signal("-CONT");
    terminal.wait_for("interrupted");
    // The keyspace is still in use, and answers are those of the next statement.
    terminal.wait_for("cql:k> ");
    terminal.enter("create table t (a int primary key);");
    terminal.wait_for("cql:k> ");
    terminal.enter("select count(*) from k.t;");
    terminal.wait_for("(1 rows)");
    terminal.wait_for("cql:k> ");
    terminal.send("\x04");
    assert!(terminal.ends());
}

#[test]
fn the_prompt_edits_completes_and_remembers() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let mut terminal = Terminal::start(folder.path(), &["cql", "--data", text(&store)]);
    terminal.wait_for("cql> ");
    terminal.enter(KEYSPACE);
    terminal.enter("use k;");
    terminal.wait_for("cql:k> ");
    // Several lines are one statement.
    terminal.enter("create table widgets (id int primary key,\rcolour text);");
    terminal.wait_for("cql:k> ");
    terminal.enter("insert into widgets (id, colour) values (7, 'green');");
    // Tab completes a keyword, and a name that is in the schema by now.
    terminal.enter("sel\tcolour fr\twid\t;");
    terminal.wait_for("green");
    terminal.wait_for("(1 rows)");
    terminal.enter("select nothing from widgets;");
    terminal.wait_for("error:");
    terminal.wait_for("cql:k> ");
    // Ctrl-C throws away what was typed.
    terminal.send("select");
    terminal.wait_for("select");
    terminal.send("\x03");
    terminal.wait_for("cql:k> ");
    terminal.enter("create role x with password = 'hush';");
    // Up brings back what was run before, and Ctrl-D leaves.
    terminal.enter("show version");
    terminal.wait_for("CQL spec 3.4.7");
    terminal.wait_for("cql:k> ");
    terminal.send("\x1b[A\r");
    terminal.wait_for("CQL spec 3.4.7");
    terminal.wait_for("cql:k> ");
    terminal.send("\x04");
    assert!(terminal.ends());
    let history =
        std::fs::read_to_string(folder.path().join("state/shelfmark/cql_history")).unwrap();
    assert!(history.contains("insert into widgets"), "{history}");
    assert!(!history.contains("hush"), "{history}");
}

#[test]
fn tables_fit_the_terminal_and_pages_wait() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let columns: Vec<String> = (0..30).map(|n| format!("column_{n} int")).collect();
    let wide = format!("CREATE TABLE k.wide (id int PRIMARY KEY, {});", columns.join(", "));
    let to = ["--data", text(&store)];
    let long = format!("INSERT INTO k.long (id, t) VALUES (1, '{}');", "word ".repeat(60));
    let words = [
        "-e",
        KEYSPACE,
        "-e",
        &wide,
        "-e",
        "INSERT INTO k.wide (id, column_3) VALUES (1, 5);",
        "-e",
        "CREATE TABLE k.long (id int PRIMARY KEY, t text)",
        "-e",
        &long,
    ];
    assert!(cql(to, &words).status.success(), "{}", stderr(&cql(to, &words)));
    let mut terminal = Terminal::start(folder.path(), &["cql", "--data", text(&store)]);
    terminal.wait_for("cql> ");
    terminal.enter("select * from k.wide;");
    terminal.wait_for("@ Row 1");
    terminal.wait_for("(1 rows)");
    terminal.enter("select * from k.long;");
    let shown = terminal.wait_for("(1 rows)");
    // The terminal is 100 columns wide; its lines are no longer.
    let table: Vec<&str> = shown.lines().filter(|line| line.contains("word word")).collect();
    assert!(table.len() > 2, "{shown}");
    let plain = |line: &str| anstream::adapter::strip_str(line).to_string();
    assert!(table.iter().all(|line| plain(line).chars().count() <= 101), "{shown}");
    terminal.enter("paging 1");
    terminal.enter("select keyspace_name from system_schema.keyspaces;");
    terminal.wait_for("---MORE---");
    terminal.enter("");
    terminal.wait_for("---MORE---");
    terminal.enter("q");
    terminal.wait_for("(2 rows)");
    terminal.enter("exit");
    assert!(terminal.ends());
}

/// An article as a web page leaves it: prose, line numbers, curly quotes, and tables made twice.
const ARTICLE: &str = "How we keep followers\n\n1\n2\n3\nCREATE TABLE IF NOT EXISTS followers (\n\
    user_id int,\nf_user_id int,\n\nPRIMARY KEY ((user_id),f_user_id)\n);\n\nUpdate your \
    application, then add the time:\n\nCREATE TABLE IF NOT EXISTS followers (\nuser_id int,\n\
    f_user_id int,\n\nf_time\u{a0}TIMESTAMP,\nPRIMARY KEY ((user_id),f_user_id)\n);\n\
    WITH CLUSTERING ORDER BY (f_time DESC)\nmeans the newest first.\n\
    CREATE TABLE names (name text PRIMARY KEY);\n\
    INSERT INTO names (name) VALUES (\u{2018}Bahar\u{2019});\n";

#[test]
fn a_document_runs_when_it_is_forgiven_and_says_what_was_mended() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let to = ["--data", text(&store)];
    check(&cql(to, &["-e", KEYSPACE]), "");
    let article = folder.path().join("article.txt");
    std::fs::write(&article, ARTICLE).unwrap();
    let name = text(&article);
    // As it stands its first line is no statement.
    check_refused(&cql(to, &["-k", "k", "-f", name]), 2, &["1:1"]);
    let output = cql(to, &["-k", "k", "--forgiving", "-f", name]);
    check(&output, "");
    let told = stderr(&output);
    for part in [
        "article.txt:1: 7 lines of prose beside 4 statements were passed over",
        "article.txt:25: a curly quote was read as '",
        "a wide space that no server reads was taken for a plain one",
        "warning: Table k.followers is there already and is another: it has no column f_time. IF NOT \
         EXISTS left it as it is.",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
    check(
        &cql(to, &["-k", "k", "-e", "SELECT * FROM names"]),
        "\n name\n-------\n Bahar\n\n(1 rows)\n",
    );
}

#[test]
fn a_table_of_another_shape_is_told_and_the_same_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let to = ["--data", text(&store)];
    check(&cql(to, &["-e", KEYSPACE]), "");
    let make = |body: &str| {
        let statement = format!("CREATE TABLE IF NOT EXISTS t {body}");
        let output = cql(to, &["-k", "k", "-e", &statement]);
        check(&output, "");
        stderr(&output)
    };
    let first = "(a int, b int, c text, PRIMARY KEY (a, b)) WITH CLUSTERING ORDER BY (b DESC)";
    for same in [
        first,
        first,
        "(c text, b int, a int, PRIMARY KEY ((a), b)) WITH CLUSTERING ORDER BY (b DESC)",
    ] {
        let told = make(same);
        assert!(!told.contains("is another"), "{told}");
    }
    for (body, difference) in [
        ("(a int, b int, d text, PRIMARY KEY (a, b))", "sorted the other way by b"),
        (
            "(a int, b int, d text, PRIMARY KEY (a, b)) WITH CLUSTERING ORDER BY (b DESC)",
            "it has no column d",
        ),
        (
            "(a int, b int, c blob, PRIMARY KEY (a, b)) WITH CLUSTERING ORDER BY (b DESC)",
            "its column c is text, not blob",
        ),
        (
            "(a int, b int, c text, PRIMARY KEY ((a, b)))",
            "its column b stands elsewhere in the key",
        ),
        (
            "(a int, b int, PRIMARY KEY (a, b)) WITH CLUSTERING ORDER BY (b DESC)",
            "it also has the column c",
        ),
    ] {
        let told = make(body);
        assert!(told.contains("Table k.t is there already and is another: "), "{told}");
        assert!(told.contains(difference), "{difference} in {told}");
    }
}

/// The article with the two tables of followers, as it was saved.
#[test]
fn the_document_of_the_followers_runs() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/seeds");
    let mut entries = std::fs::read_dir(seeds).into_iter().flatten().flatten();
    let document = entries.find(|entry| entry.file_name().to_string_lossy().starts_with("004"));
    let Some(document) = document.map(|entry| entry.path()) else {
        eprintln!("../shared/seeds/004* is not there: its statements were not run by the command");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let to = ["--data", text(&store)];
    check(&cql(to, &["-e", KEYSPACE]), "");
    let output = cql(to, &["-k", "k", "--forgiving", "-f", text(&document)]);
    check(&output, "");
    let told = stderr(&output);
    assert!(told.contains("beside 5 statements were passed over"), "{told}");
    assert!(told.contains("Table k.followers is there already and is another"), "{told}");
    let tables = stdout(&cql(to, &["-k", "k", "-e", "DESC TABLES"]));
    for table in ["followers", "followers_by_time", "stackoverflow"] {
        assert!(tables.contains(table), "{tables}");
    }
}
