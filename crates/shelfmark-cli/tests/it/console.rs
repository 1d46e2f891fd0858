//! The console's port: health, readiness, metrics, operations, and who is answered.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use crate::process::{Server, shelfmark, stderr};

/// Asks the console; returns the whole answer.
fn ask(address: &str, path: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let host = if headers.contains("Host:") { "" } else { "Host: localhost\r\n" };
    write!(stream, "GET {path} HTTP/1.1\r\n{host}{headers}Connection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Posts a body to the console; returns the whole answer.
pub(crate) fn post(address: &str, path: &str, headers: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let host = if headers.contains("Host:") { "" } else { "Host: localhost\r\n" };
    let length = body.len();
    // The server may answer before it has read everything.
    let _ = write!(
        stream,
        "POST {path} HTTP/1.1\r\n{host}{headers}Content-Length: {length}\r\nConnection: \
         close\r\n\r\n{body}"
    );
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

/// Returns the console's address, which the server wrote into its ready file.
pub(crate) fn console_of(folder: &std::path::Path) -> String {
    let text = std::fs::read_to_string(folder.join("ready.json")).unwrap();
    let ready: serde_json::Value = serde_json::from_str(&text).unwrap();
    ready["console"].as_str().unwrap().to_owned()
}

/// Returns the value of a sample.
fn sample(metrics: &str, name: &str) -> f64 {
    let line = metrics.lines().find(|line| line.starts_with(name));
    let line = line.unwrap_or_else(|| panic!("no {name} in {metrics}"));
    line.rsplit_once(' ').unwrap().1.parse().unwrap()
}

#[test]
fn requests_and_the_store_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_cql(folder.path(), &["--console", "127.0.0.1:0"]);
    let console = console_of(folder.path());
    server.create_table("tab");
    for number in 0..5 {
        server.put("tab", "a", &number.to_string());
    }
    let refused = r#"{"TableName":"nowhere","Key":{"pk":{"S":"a"}}}"#;
    assert_eq!(server.call("GetItem", refused).0, 400);
    server.call("NoSuchOperation", "{}");
    let metrics = ask(&console, "/metrics", "");
    assert!(metrics.starts_with("HTTP/1.1 200 OK"), "{metrics}");
    let of = |operation: &str, status: &str| {
        let labels = format!(r#"{{face="dynamodb",operation="{operation}",status="{status}"}}"#);
        sample(&metrics, &format!("shelfmark_requests_total{labels}"))
    };
    assert_eq!(of("PutItem", "ok"), 5.0);
    assert_eq!(of("GetItem", "refused"), 1.0);
    assert_eq!(of("other", "refused"), 1.0);
    let times = r#"shelfmark_request_seconds_count{face="dynamodb",operation="PutItem"}"#;
    assert_eq!(sample(&metrics, times), 5.0);
    assert!(sample(&metrics, "shelfmark_commits_total") >= 6.0);
    assert!(sample(&metrics, "shelfmark_syncs_total") >= 1.0);
    assert!(sample(&metrics, "shelfmark_budget_bytes") > 1e6);
    assert!(metrics.contains("# HELP shelfmark_requests_total Requests by face"), "{metrics}");
    // Nothing that a client sent.
    assert!(!metrics.contains("nowhere"), "{metrics}");
    drop(server.stop("-TERM"));
}

#[test]
fn health_says_why_writes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_cql(folder.path(), &["--console", "127.0.0.1:0"]);
    let console = console_of(folder.path());
    for path in ["/health", "/ready"] {
        assert!(ask(&console, path, "").starts_with("HTTP/1.1 200 OK"), "{path}");
    }
    assert!(ask(&console, "/elsewhere", "").starts_with("HTTP/1.1 404"));
    assert!(ask(&console, "/", "").starts_with("HTTP/1.1 303"), "to the first page");
    assert!(ask(&console, "/tables", "").contains("<title>"));
    drop(server.stop("-TERM"));
    let full = ["--console", "127.0.0.1:0", "--disk-free-min", "1000000GB"];
    let _server = Server::start_cql(folder.path(), &full);
    let console = console_of(folder.path());
    for path in ["/health", "/ready"] {
        let answer = ask(&console, path, "");
        assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
        assert!(answer.contains("fewer than"), "{answer}");
    }
}

#[test]
fn a_token_is_asked_for_where_one_is_given_and_web_pages_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_cql(folder.path(), &["--console", "127.0.0.1:0"]);
    let console = console_of(folder.path());
    let page = ask(&console, "/health", "Origin: http://evil.example\r\n");
    assert!(page.starts_with("HTTP/1.1 403"), "{page}");
    let rebound = ask(&console, "/health", "Host: evil.example\r\n");
    assert!(rebound.starts_with("HTTP/1.1 403"), "{rebound}");
    drop(server.stop("-TERM"));
    let token = folder.path().join("token");
    std::fs::write(&token, "0123456789abcdef0123\n").unwrap();
    let token = token.to_str().unwrap();
    let flags = ["--console", "127.0.0.1:0", "--console-token-file", token];
    let _server = Server::start_cql(folder.path(), &flags);
    let console = console_of(folder.path());
    for wrong in ["", "Authorization: Bearer 0123456789abcdef\r\n", "Authorization: Bearer x\r\n"] {
        let refused = ask(&console, "/metrics", wrong);
        assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
        assert!(!refused.contains("shelfmark_"), "{refused}");
    }
    let right = ask(&console, "/metrics", "Authorization: Bearer 0123456789abcdef0123\r\n");
    assert!(right.starts_with("HTTP/1.1 200 OK"), "{right}");
}

#[test]
fn a_console_that_others_reach_needs_a_token_that_nobody_guesses() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("store");
    let (data, token) = (data.to_str().unwrap(), folder.path().join("token"));
    let open = shelfmark(&["serve", "--data", data, "--console", "0.0.0.0:0"]);
    assert!(stderr(&open).contains("--console-token-file FILE"), "{}", stderr(&open));
    std::fs::write(&token, "short").unwrap();
    let token = token.to_str().unwrap();
    let short = ["serve", "--data", data, "--console", "0.0.0.0:0", "--console-token-file", token];
    let short = shelfmark(&short);
    assert!(stderr(&short).contains("openssl rand -hex 32"), "{}", stderr(&short));
    assert!(!folder.path().join("store").exists());
}

const JSON: &str = "Content-Type: application/json\r\n";

#[test]
fn operations_are_posted_as_json_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_cql(folder.path(), &["--console", "127.0.0.1:0"]);
    let console = console_of(folder.path());
    server.create_table("tab");
    let tables = post(&console, "/api/v1/tables", JSON, "{}");
    assert!(tables.starts_with("HTTP/1.1 200 OK"), "{tables}");
    assert!(tables.contains(r#""name":"tab""#), "{tables}");
    assert!(tables.contains("x-frame-options: DENY"), "{tables}");
    let cases = [
        ("/api/v1/tables", "", "{}", "415"),
        ("/api/v1/tables", "Content-Type: text/plain\r\n", "{}", "415"),
        ("/api/v1/tables", "Content-Type: application/x-www-form-urlencoded\r\n", "a=b", "415"),
        ("/api/v1/tables", JSON, "{", "400"),
        ("/api/v1/tables", JSON, r#"{"unknown":1}"#, "400"),
        ("/api/v1/no-such", JSON, "{}", "404"),
        ("/nowhere", JSON, "{}", "404"),
    ];
    for (path, headers, body, status) in cases {
        let answer = post(&console, path, headers, body);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{path} {headers}: {answer}");
    }
    assert!(ask(&console, "/api/v1/tables", "").starts_with("HTTP/1.1 400"));
    let all = ask(&console, "/api/v1/", "");
    assert!(all.starts_with("HTTP/1.1 200") && all.contains(r#""tables","stats""#), "{all}");
    let deep = "[".repeat(100_000);
    assert!(post(&console, "/api/v1/tables", JSON, &deep).starts_with("HTTP/1.1 400"));
    let large = " ".repeat(5 * 1024 * 1024);
    assert!(!post(&console, "/api/v1/tables", JSON, &large).contains("200 OK"));
    for foreign in ["Origin: http://evil.example\r\n", "Host: evil.example\r\n"] {
        let refused = post(&console, "/api/v1/tables", &format!("{JSON}{foreign}"), "{}");
        assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
    }
    let own = format!("{JSON}Host: {console}\r\nOrigin: http://{console}\r\n");
    assert!(post(&console, "/api/v1/tables", &own, "{}").starts_with("HTTP/1.1 200"));
    drop(server.stop("-TERM"));
}

#[test]
fn a_browser_logs_in_with_the_token_and_has_a_cookie() {
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "0123456789abcdef0123\n").unwrap();
    let token = token.to_str().unwrap();
    let flags = ["--console", "127.0.0.1:0", "--console-token-file", token];
    let _server = Server::start_cql(folder.path(), &flags);
    let console = console_of(folder.path());
    assert!(post(&console, "/api/v1/tables", JSON, "{}").starts_with("HTTP/1.1 401"));
    let wrong = post(&console, "/login", JSON, r#"{"token":"0123456789abcdef0124"}"#);
    assert!(wrong.starts_with("HTTP/1.1 401"), "{wrong}");
    let right = r#"{"token":"0123456789abcdef0123"}"#;
    assert!(post(&console, "/login", "", right).starts_with("HTTP/1.1 415"));
    let evil = format!("{JSON}Origin: http://localhost:1\r\n");
    assert!(post(&console, "/login", &evil, right).starts_with("HTTP/1.1 403"));
    let answer = post(&console, "/login", JSON, right);
    assert!(answer.starts_with("HTTP/1.1 204"), "{answer}");
    let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let cookie = format!("{JSON}Cookie: {}\r\n", cookie.split(';').next().unwrap());
    assert!(post(&console, "/api/v1/tables", &cookie, "{}").starts_with("HTTP/1.1 200"));
    let elsewhere = format!("{cookie}Origin: http://localhost:1\r\n");
    assert!(post(&console, "/api/v1/tables", &elsewhere, "{}").starts_with("HTTP/1.1 403"));
}

/// Runs statements of CQL over a server.
fn cql(server: &Server, script: &str) -> bool {
    shelfmark(&["cql", "--server", &server.cql, "-e", script]).status.success()
}

const KEYSPACE: &str = "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', \
                        'replication_factor': 1}; CREATE TABLE ks.t (a int PRIMARY KEY, b text);";

#[test]
fn both_faces_are_measured_and_every_chart_has_its_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_cql(folder.path(), &["--console", "127.0.0.1:0"]);
    let console = console_of(folder.path());
    server.create_table("tab");
    server.put("tab", "a", "1");
    server.get("tab", "a", "1");
    assert_eq!(server.call("GetItem", r#"{"TableName":"nowhere","Key":{}}"#).0, 400);
    assert!(cql(&server, KEYSPACE));
    for number in 0..3 {
        assert!(cql(&server, &format!("INSERT INTO ks.t (a, b) VALUES ({number}, 'x')")));
    }
    assert!(cql(&server, "SELECT * FROM ks.t"));
    assert!(!cql(&server, "SELECT * FROM ks.none"));
    let metrics = ask(&console, "/metrics", "");
    let of = |name: &str, labels: &str| sample(&metrics, &format!("{name}{{{labels}}}"));
    let requests = |operation: &str, status: &str| {
        let labels = format!(r#"face="cql",operation="{operation}",status="{status}""#);
        of("shelfmark_requests_total", &labels)
    };
    assert_eq!(requests("INSERT", "ok"), 3.0);
    // The shell reads the schema as well.
    assert!(requests("SELECT", "ok") >= 1.0);
    assert_eq!(requests("SCHEMA", "ok"), 2.0);
    assert!(of("shelfmark_refusals_total", r#"face="cql",error="Invalid""#) >= 1.0);
    assert!(of("shelfmark_rows_returned_total", r#"face="cql""#) >= 3.0);
    assert_eq!(of("shelfmark_rows_read_total", r#"face="dynamodb""#), 1.0);
    assert!(sample(&metrics, "shelfmark_cache_limit_bytes ") > 1e6);
    let dashboard = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/grafana.json");
    let dashboard = std::fs::read_to_string(dashboard).unwrap();
    let parsed: serde_json::Value = serde_json::from_str(&dashboard).unwrap();
    assert!(parsed["panels"].as_array().unwrap().len() > 10);
    let is_name = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    let mut names = 0;
    for (at, _) in dashboard.match_indices("shelfmark_") {
        let name: String = dashboard[at..].chars().take_while(|own| is_name(*own)).collect();
        let is_there = metrics
            .lines()
            .any(|line| line.strip_prefix(&name).is_some_and(|rest| rest.starts_with(['{', ' '])));
        assert!(is_there, "the dashboard has {name}, and the server has not:\n{metrics}");
        names += 1;
    }
    assert!(names > 25, "{names}");
    drop(server.stop("-TERM"));
}

#[test]
fn slow_and_refused_requests_and_connections_are_listed_without_values() {
    let folder = tempfile::tempdir().unwrap();
    // Every request is slow enough.
    let server =
        Server::start_cql(folder.path(), &["--console", "127.0.0.1:0", "--slow-after", "0"]);
    let console = console_of(folder.path());
    server.create_table("tab");
    server.put("tab", "secret-key", "secret-sort");
    server.get("tab", "secret-key", "secret-sort");
    assert_eq!(server.call("GetItem", r#"{"TableName":"nowhere","Key":{}}"#).0, 400);
    assert!(cql(&server, KEYSPACE));
    assert!(cql(&server, "INSERT INTO ks.t (a, b) VALUES (1, 'secret-value')"));
    assert!(cql(&server, "SELECT * FROM ks.t"));
    let listed = shelfmark(&["slow", "--server", &console, "--csv"]);
    let lines = String::from_utf8(listed.stdout).unwrap();
    let line = |parts: [&str; 3]| {
        let found = lines.lines().find(|line| parts.iter().all(|part| line.contains(part)));
        found.unwrap_or_else(|| panic!("no {parts:?} in {lines}")).to_owned()
    };
    assert!(line(["dynamodb", ",GetItem,", ",tab,"]).contains(",1,1,"), "{lines}");
    line(["dynamodb", ",GetItem,nowhere,", "ResourceNotFoundException"]);
    assert!(line(["cql", ",SELECT,", ",ks.t,"]).contains(",1,1,"), "{lines}");
    line(["cql", ",INSERT,", ",ks.t,"]);
    let json = shelfmark(&["slow", "--server", &console, "--json"]);
    let json = String::from_utf8(json.stdout).unwrap();
    assert!(!json.contains("secret") && !lines.contains("secret"), "{json}");
    assert!(json.contains("\"ranges\""), "{json}");
    let mut kept = TcpStream::connect(&server.address).unwrap();
    write!(kept, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut answer = [0; 12];
    kept.read_exact(&mut answer).unwrap();
    let connections = shelfmark(&["connections", "--server", &console, "--csv"]);
    let connections = String::from_utf8(connections.stdout).unwrap();
    assert!(connections.starts_with("face,address,busy,known,idle\n"), "{connections}");
    assert!(connections.contains("dynamodb,127.0.0.1,"), "{connections}");
    drop(server.stop("-TERM"));
}

#[test]
fn garbage_ends_its_connection_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_cql(folder.path(), &["--console", "127.0.0.1:0"]);
    let console = console_of(folder.path());
    let long = format!("GET /{} HTTP/1.1\r\n", "x".repeat(1_000_000));
    let chunk = format!("100000\r\n{}\r\n", "x".repeat(0x10_0000));
    let chunked = format!(
        "POST /api/v1/tables HTTP/1.1\r\nHost: localhost\r\n{JSON}Transfer-Encoding: \
         chunked\r\n\r\n{}0\r\n\r\n",
        chunk.repeat(6)
    );
    for garbage in ["\0\u{1}\u{2}\r\n\r\n", "POST / HTTP/9.9\r\n\r\n", &long, &chunked] {
        let mut stream = TcpStream::connect(&console).unwrap();
        // The server may close before it has read everything: that is an answer, too.
        let _ = stream.write_all(garbage.as_bytes());
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(!String::from_utf8_lossy(&answer).contains("200 OK"), "{answer:?}");
    }
    // Connections that say nothing: those beyond the places are let go, the others in time.
    let silent: Vec<_> = (0..100).filter_map(|_| TcpStream::connect(&console).ok()).collect();
    drop(silent);
    // Their places are free once the server has seen that they went; who comes before is told nothing.
    let is_healthy = || {
        let mut stream = TcpStream::connect(&console).unwrap();
        let _ = stream
            .write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer.starts_with(b"HTTP/1.1 200 OK")
    };
    let mut tries = 0;
    while !is_healthy() {
        tries += 1;
        assert!(tries < 200, "the places are never free again");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(server.stop("-TERM").status.success());
}
