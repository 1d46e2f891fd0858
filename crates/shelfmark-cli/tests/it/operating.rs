//! What a server tells whoever runs it, and what it does when something runs short.

use std::io::Read as _;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::process::{Server, command, shelfmark, stderr};

/// More than any disk has: so no write but a deletion is taken. The reserve stays what it is.
const ALL: &str = "1000000GB";

fn cql(server: &Server, statement: &str) -> Output {
    command().args(["cql", "--server", &server.cql, "-e", statement]).output().unwrap()
}

fn done(output: &Output) {
    assert!(output.status.success(), "{}", stderr(output));
}

fn rights(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

/// The health of a server: status and text.
fn health(server: &Server) -> String {
    let answer = server.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    String::from_utf8(answer).unwrap()
}

#[test]
fn deletions_of_both_faces_are_done_where_room_is_short() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_cql(folder.path(), &[]);
    server.create_table("tab");
    server.create_table("gone");
    server.put("tab", "a", "1");
    let keyspace = "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', \
                    'replication_factor': 1}";
    for statement in [
        keyspace,
        "CREATE TABLE k.t (a int, b int, v text, PRIMARY KEY (a, b))",
        "CREATE TABLE k.u (a int PRIMARY KEY)",
        "CREATE INDEX by_v ON k.t (v)",
        "INSERT INTO k.t (a, b, v) VALUES (1, 1, 'x')",
        "INSERT INTO k.t (a, b, v) VALUES (1, 2, 'x')",
    ] {
        done(&cql(&server, statement));
    }
    assert!(health(&server).starts_with("HTTP/1.1 200"), "{}", health(&server));
    done(&server.stop("-TERM"));
    let server = Server::start_cql(folder.path(), &["--disk-free-min", ALL]);
    let put = r#"{"TableName":"tab","Item":{"pk":{"S":"b"},"sk":{"S":"1"}}}"#;
    assert_eq!(server.call("PutItem", put).0, 503);
    let health = health(&server);
    assert!(health.starts_with("HTTP/1.1 503"), "{health}");
    assert!(health.contains("unhealthy: fewer than"), "{health}");
    let delete = r#"{"TableName":"tab","Key":{"pk":{"S":"a"},"sk":{"S":"1"}}}"#;
    let (status, body) = server.call("DeleteItem", delete);
    assert_eq!(status, 200, "{body}");
    assert!(!server.get("tab", "a", "1").contains("Item"));
    let batch =
        r#"{"RequestItems":{"tab":[{"DeleteRequest":{"Key":{"pk":{"S":"a"},"sk":{"S":"2"}}}}]}}"#;
    assert_eq!(server.call("BatchWriteItem", batch).0, 200);
    assert_eq!(server.call("DeleteTable", r#"{"TableName":"gone"}"#).0, 200);
    assert!(!cql(&server, "INSERT INTO k.t (a, b, v) VALUES (2, 2, 'x')").status.success());
    for statement in [
        "DELETE FROM k.t WHERE a = 1 AND b = 1",
        "DELETE v FROM k.t WHERE a = 1 AND b = 2",
        "DELETE FROM k.t WHERE a = 1 AND b = 2 IF EXISTS",
        "DELETE FROM k.t WHERE a = 1",
        "TRUNCATE k.u",
        "DROP INDEX k.by_v",
        "DROP TABLE k.t",
        "DROP KEYSPACE k",
    ] {
        done(&cql(&server, statement));
    }
    // Long enough for the upkeep to look at the store.
    std::thread::sleep(Duration::from_millis(2_500));
    let output = server.stop("-TERM");
    let told = stderr(&output);
    let lines = told.matches("background work fails (the store)").count();
    assert_eq!(lines, 1, "one line for one trouble: {told}");
}

#[test]
fn what_a_server_makes_is_its_owners_and_other_files_are_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys");
    std::fs::write(&keys, "[a]\naws_access_key_id = A\naws_secret_access_key = hush\n").unwrap();
    let flags = ["--dynamodb", "127.0.0.1:0", "--credentials", keys.to_str().unwrap()];
    let set = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set(&keys, 0o644);
    let server = Server::start_with(folder.path(), &flags);
    let store = folder.path().join("store");
    assert_eq!(rights(&store), 0o700);
    assert_eq!(rights(&store.join("mark")), 0o600);
    assert_eq!(rights(&store.join("lock")), 0o600);
    let told = stderr(&server.stop("-TERM"));
    assert!(told.contains("every user of this machine can read the credentials"), "{told}");
    assert!(!told.contains("can read the data folder"), "{told}");
    set(&keys, 0o600);
    set(&store, 0o755);
    let told = stderr(&Server::start_with(folder.path(), &flags).stop("-TERM"));
    assert!(!told.contains("can read the credentials"), "{told}");
    assert!(told.contains("can read the data folder"), "{told}");
}

#[test]
fn an_empty_password_is_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    for empty in ["", "\n", "\r\n"] {
        std::fs::write(&secret, empty).unwrap();
        let file = ["--cql-user", "ann", "--cql-password-file", secret.to_str().unwrap()];
        let refused = shelfmark(&[&["serve", "--memory"][..], &file].concat());
        assert!(!refused.status.success());
        assert!(stderr(&refused).contains("holds no password"), "{}", stderr(&refused));
    }
}

#[test]
fn a_user_who_could_not_log_in_is_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("secret"), "secret").unwrap();
    std::fs::write(path("long"), "s".repeat(70_000)).unwrap();
    let long = "u".repeat(30_000);
    for (user, file, told) in [
        ("", "secret", "cql_user is empty"),
        (long.as_str(), "secret", "nobody could log in"),
        ("ann", "long", "nobody could log in"),
    ] {
        let flags = ["serve", "--memory", "--cql-user", user, "--cql-password-file", &path(file)];
        let refused = shelfmark(&flags);
        assert!(!refused.status.success());
        assert!(stderr(&refused).contains(told), "{}", stderr(&refused));
    }
}

#[test]
fn refused_logins_and_signatures_are_in_the_log_and_no_secret_is() {
    let folder = tempfile::tempdir().unwrap();
    let (keys, secret) = (folder.path().join("keys"), folder.path().join("secret"));
    std::fs::write(&keys, "[a]\naws_access_key_id = A\naws_secret_access_key = hush\n").unwrap();
    std::fs::write(&secret, "whisper").unwrap();
    let flags = [
        "--credentials",
        keys.to_str().unwrap(),
        "--cql-user",
        "ann",
        "--cql-password-file",
        secret.to_str().unwrap(),
    ];
    let server = Server::start_cql(folder.path(), &flags);
    for _ in 0..5 {
        assert_eq!(server.call("ListTables", "{}").0, 400);
    }
    for user in ["bob", "carl", "dan"] {
        let ask = ["-u", user, "-p", "guess", "-e", "SELECT key FROM system.local"];
        let refused = command().args(["cql", "--server", &server.cql]).args(ask).output().unwrap();
        assert!(!refused.status.success());
    }
    let told = stderr(&server.stop("-TERM"));
    let signatures = told.matches("signature was refused: \"MissingAuthenticationToken").count();
    assert_eq!(signatures, 1, "{told}");
    assert_eq!(told.matches("a CQL login was refused: \"bob\"").count(), 1, "{told}");
    // The others were counted, the last of them by name.
    assert!(told.contains("login was refused 2 more times since the last line"), "{told}");
    assert!(told.contains("the last of them: \"carl\", \"dan\""), "{told}");
    assert!(told.contains("signature was refused 4 more times"), "{told}");
    assert!(
        !told.contains("hush") && !told.contains("whisper") && !told.contains("guess"),
        "{told}"
    );
}

#[test]
fn the_log_begins_with_version_folder_recovery_and_addresses() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let address = server.address.clone();
    server.create_table("tab");
    let told = stderr(&server.stop("-KILL"));
    assert!(told.contains(&format!("shelfmark {} starts", env!("CARGO_PKG_VERSION"))), "{told}");
    assert!(told.contains("store is open: it is new"), "{told}");
    assert!(told.contains(&format!("DynamoDB clients are served at http://{address}")), "{told}");
    let told = stderr(&Server::start(folder.path()).stop("-TERM"));
    assert!(told.contains("it was stopped by a crash; "), "{told}");
    assert!(told.contains("asked to stop") && told.contains("stopped in good order"), "{told}");
    let told = stderr(&Server::start(folder.path()).stop("-TERM"));
    assert!(told.contains("is open: it was stopped in good order"), "{told}");
}

#[test]
fn running_out_of_files_is_told_and_clients_are_served_again_after() {
    let folder = tempfile::tempdir().unwrap();
    let ready = folder.path().join("ready.json");
    // Seven files that it inherits leave it fewer than the places that one address may have, so that it
    // is files that run out, not places.
    let line = format!(
        "ulimit -n 24; exec 3</dev/null 4<&3 5<&3 6<&3 7<&3 8<&3 9<&3; exec {} serve --memory --dynamodb 127.0.0.1:0 --cql 127.0.0.1:0 \
         --ready-file {}",
        env!("CARGO_BIN_EXE_shelfmark"),
        ready.display()
    );
    let mut server = Command::new("sh").args(["-c", &line]).stderr(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !ready.exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&ready).unwrap()).unwrap();
    let address = json["dynamodb"].as_str().unwrap().to_owned();
    let all: Vec<TcpStream> = (0..60).map(|_| TcpStream::connect(&address).unwrap()).collect();
    std::thread::sleep(Duration::from_millis(1_500));
    drop(all);
    let mut client = TcpStream::connect(&address).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    std::io::Write::write_all(
        &mut client,
        b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    )
    .unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    server.kill().unwrap();
    let told = stderr(&server.wait_with_output().unwrap());
    let lines = told.matches("connections cannot be accepted").count();
    assert_eq!(lines, 1, "one line, not one per attempt: {told}");
}
