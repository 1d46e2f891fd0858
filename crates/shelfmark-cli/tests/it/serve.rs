//! Starting, stopping, crashing and starting again.

use std::net::TcpListener;
use std::process::Stdio;

use crate::process::{Server, command, shelfmark, stderr, stdout};

#[test]
fn a_server_says_where_it_is_and_stops_in_good_order() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let address = server.address.clone();
    server.create_table("tab");
    server.put("tab", "a", "1");
    let output = server.stop("-TERM");
    assert!(output.status.success());
    assert!(stdout(&output).starts_with(&format!("dynamodb http://{address}\n")));
    let server = Server::start(folder.path());
    assert!(server.get("tab", "a", "1").contains("\"sk\""));
    assert!(server.stop("-INT").status.success());
}

#[test]
fn what_was_acknowledged_is_there_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    server.create_table("tab");
    for n in 0..50 {
        server.put("tab", "a", &n.to_string());
    }
    server.stop("-KILL");
    let server = Server::start(folder.path());
    for n in 0..50 {
        assert!(server.get("tab", "a", &n.to_string()).contains("Item"), "{n}");
    }
}

#[test]
fn a_second_server_on_the_folder_or_the_port_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let store = folder.path().join("store");
    let second =
        shelfmark(&["serve", "--dynamodb", "127.0.0.1:0", "--data", store.to_str().unwrap()]);
    assert!(!second.status.success());
    assert!(stderr(&second).contains("open already"), "{}", stderr(&second));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let busy = shelfmark(&["serve", "--memory", "--dynamodb", &address]);
    assert!(!busy.status.success());
    assert!(stderr(&busy).contains("another program has the port"), "{}", stderr(&busy));
    server.create_table("still_there");
}

#[test]
fn an_exposed_address_needs_a_word() {
    let refused = shelfmark(&["serve", "--memory", "--dynamodb", "0.0.0.0:0"]);
    assert!(!refused.status.success());
    assert!(stderr(&refused).contains("--insecure"), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("`credentials` is missing"), "{}", stderr(&refused));
    let flags = ["serve", "--memory", "--dynamodb", "localhost:0", "--cql", "0.0.0.0:0"];
    let refused = shelfmark(&flags);
    assert!(stderr(&refused).contains("--cql-password-file"), "{}", stderr(&refused));
}

#[test]
fn who_has_no_key_is_refused_where_credentials_are_set() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys");
    std::fs::write(&keys, "[a]\naws_access_key_id = A\naws_secret_access_key = hush\n").unwrap();
    let keys = keys.to_str().unwrap();
    // With credentials others may reach the port.
    let flags = ["--credentials", keys, "--dynamodb", "0.0.0.0:0"];
    let server = Server::start_with(folder.path(), &flags);
    let (status, body) = server.call("ListTables", "{}");
    assert_eq!(status, 400);
    let expected = "{\"__type\":\"com.amazon.coral.service#MissingAuthenticationTokenException\",\
                    \"message\":\"Request is missing Authentication Token\"}";
    assert_eq!(body, expected);
    let output = server.stop("-TERM");
    assert!(!stderr(&output).contains("hush"), "{}", stderr(&output));
    std::fs::write(folder.path().join("none"), "[a]\naws_secret_access_key = hush\n").unwrap();
    let none = folder.path().join("none");
    let refused = shelfmark(&["serve", "--memory", "--credentials", none.to_str().unwrap()]);
    assert!(stderr(&refused).contains("no aws_access_key_id"), "{}", stderr(&refused));
    assert!(!stderr(&refused).contains("hush"), "{}", stderr(&refused));
}

#[test]
fn what_restricts_a_key_or_a_role_and_cannot_be_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys");
    let section = "[a]\naws_access_key_id = A\naws_secret_access_key = hush\n";
    for (setting, part) in [
        ("shelfmark_access = none", "line 4: shelfmark_access is read, write, manage or several"),
        ("shelfmark_table = x", "line 4: there is no setting shelfmark_table;"),
        ("shelfmark_tables = x/y", "line 4: shelfmark_tables: \"x/y\" is the name of no table"),
    ] {
        std::fs::write(&keys, format!("{section}{setting}\n")).unwrap();
        let refused = shelfmark(&["serve", "--memory", "--credentials", keys.to_str().unwrap()]);
        assert!(!refused.status.success(), "{setting}");
        assert!(stderr(&refused).contains(part), "{}", stderr(&refused));
        assert!(!stderr(&refused).contains("hush"), "{}", stderr(&refused));
    }
    let password = folder.path().join("password");
    std::fs::write(&password, "p\n").unwrap();
    let login = ["--cql-user", "ann", "--cql-password-file", password.to_str().unwrap()];
    for (flags, part) in [
        (vec!["--cql-authorizer", "CassandraAuthorizer"], "needs cql_user and cql_password_file"),
        (
            [&login[..], &["--cql-authorizer", "Everybody"]].concat(),
            "cql_authorizer is CassandraAuthorizer or AllowAllAuthorizer, not \"Everybody\"",
        ),
        (vec!["--cql-functions", "maybe"], "cql_functions is on or off, not \"maybe\""),
    ] {
        let refused = shelfmark(&[&["serve", "--memory"][..], &flags].concat());
        assert!(!refused.status.success(), "{flags:?}");
        assert!(stderr(&refused).contains(part), "{}", stderr(&refused));
    }
}

#[test]
fn a_setting_that_there_is_none_of_is_refused() {
    let refused = shelfmark(&["serve", "--consul", "127.0.0.1:0"]);
    assert!(!refused.status.success());
    assert!(stderr(&refused).contains("unexpected argument"), "{}", stderr(&refused));
}

#[test]
fn a_cluster_is_named_by_its_placement_drivers() {
    for (address, part) in [
        ("127.0.0.1:2379", "--engine is tikv://HOST:PORT"),
        ("tikv://127.0.0.1", "each placement driver is HOST:PORT"),
        ("tikv://127.0.0.1:2379,", "each placement driver is HOST:PORT"),
        ("tikv://127.0.0.1:2379/Shop", "is no name of a space"),
        ("tikv://127.0.0.1:1", "no placement driver answers at 127.0.0.1:1"),
    ] {
        let ports = ["--dynamodb", "127.0.0.1:0", "--cql", "127.0.0.1:0"];
        let refused = shelfmark(&[&["serve", "--engine", address][..], &ports].concat());
        assert!(!refused.status.success(), "{address}");
        assert!(stderr(&refused).contains(part), "{address}: {}", stderr(&refused));
    }
    let both = shelfmark(&["serve", "--engine", "tikv://127.0.0.1:2379", "--memory"]);
    assert!(stderr(&both).contains("cannot be used with"), "{}", stderr(&both));
}

#[test]
fn wrong_settings_are_refused_before_anybody_is_told_that_it_is_ready() {
    let folder = tempfile::tempdir().unwrap();
    let ready = folder.path().join("ready.json");
    std::fs::write(&ready, "{\"dynamodb\": \"127.0.0.1:1\"}").unwrap();
    let held = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = held.local_addr().unwrap().to_string();
    let busy = ["--dynamodb", &taken, "--ready-file", ready.to_str().unwrap()];
    let refused = shelfmark(&[&["serve", "--memory"][..], &busy].concat());
    assert!(stderr(&refused).contains("has the port"), "{}", stderr(&refused));
    assert!(!ready.exists(), "an old ready file says that this server is ready");
    for (dynamodb, flag, value, part) in [
        ("127.0.0.1:0", "--durability", "fast", "sync or interval:MS"),
        ("127.0.0.1:0", "--durability", "interval:0", "1 to 60000"),
        ("8000", "--durability", "sync", "such as 127.0.0.1:8000"),
        ("127.0.0.1:0", "--ready-file", "/proc/none/ready.json", "/proc/none/ready.json"),
    ] {
        let words = ["serve", "--memory", "--cql", "127.0.0.1:0", "--dynamodb", dynamodb];
        let refused = shelfmark(&[&words[..], &[flag, value]].concat());
        assert!(!refused.status.success() && stdout(&refused).is_empty(), "{}", stdout(&refused));
        assert!(stderr(&refused).contains(part), "{}", stderr(&refused));
    }
}

#[test]
fn settings_come_from_a_file_and_flags_win() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("shelfmark.toml");
    std::fs::write(&config, "memory = true\ndynamodb = \"0.0.0.0:0\"\n").unwrap();
    let config = config.to_str().unwrap();
    let refused = shelfmark(&["serve", "--config", config]);
    assert!(stderr(&refused).contains("--insecure"), "{}", stderr(&refused));
    let ready = folder.path().join("ready.json");
    let mut process = command()
        .args(["serve", "--config", config, "--dynamodb", "127.0.0.1:0", "--ready-file"])
        .arg(&ready)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    for _ in 0..6_000 {
        if ready.exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(ready.exists());
    process.kill().unwrap();
    process.wait().unwrap();
    std::fs::write(folder.path().join("wrong.toml"), "colour = \"red\"\n").unwrap();
    let wrong = folder.path().join("wrong.toml");
    let refused = shelfmark(&["serve", "--config", wrong.to_str().unwrap()]);
    assert!(stderr(&refused).contains("colour"), "{}", stderr(&refused));
}
