//! Settings from flags, environment and file: which holds, what the log looks like, what is read again on
//! SIGHUP.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::process::{Server, command, shelfmark, stderr, stdout};

#[test]
fn config_shows_what_holds_and_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shelfmark.toml");
    std::fs::write(&file, "share = \"none\"\nlog = \"warn\"\n").unwrap();
    let mut asked = command();
    asked.env("SHELFMARK_SHARE", "all").env("SHELFMARK_SHAER", "all");
    asked.args(["config", "--csv", "--dynamodb", "127.0.0.1:7777", "--config"]).arg(&file);
    let shown = asked.output().unwrap();
    let lines = stdout(&shown);
    assert!(lines.contains("dynamodb,127.0.0.1:7777,flag --dynamodb\n"), "{lines}");
    let share = lines.lines().find(|line| line.starts_with("share,")).unwrap();
    assert!(share.contains("all,environment SHELFMARK_SHARE; not none of file "), "{share}");
    assert!(lines.contains("durability,sync,default\n"), "{lines}");
    assert!(stderr(&shown).contains("SHELFMARK_SHAER is the name of no setting"), "{shown:?}");
    let json = stdout(&shelfmark(&["config", "--json"]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json[0]["setting"], "data");
    std::fs::write(&file, "shaer = \"none\"\n").unwrap();
    let wrong = shelfmark(&["config", "--config", file.to_str().unwrap()]);
    assert!(!wrong.status.success() && stderr(&wrong).contains("shaer"), "{wrong:?}");
    let wrong = shelfmark(&["serve", "--memory", "--log", "a=b=c"]);
    assert!(!wrong.status.success() && stderr(&wrong).contains("levels by target"), "{wrong:?}");
    let wrong = shelfmark(&["serve", "--memory", "--log-format", "xml"]);
    assert!(!wrong.status.success() && stderr(&wrong).contains("text or json"), "{wrong:?}");
}

#[test]
fn log_lines_are_json_where_they_are_asked_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_cql(folder.path(), &["--log-format", "json"]);
    let ended = server.stop("-TERM");
    let lines = stderr(&ended);
    assert!(lines.lines().count() >= 3, "{lines}");
    for line in lines.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(line["time"].as_str().unwrap().ends_with('Z'), "{line}");
        assert!(line["target"].as_str().unwrap().starts_with("shelfmark"), "{line}");
        assert_eq!(line["level"], "INFO");
        assert!(!line["message"].as_str().unwrap().is_empty(), "{line}");
    }
}

/// Keys in the form of `~/.aws/credentials`.
fn keys(id: &str) -> String {
    format!("[ann]\naws_access_key_id = {id}\naws_secret_access_key = hidden-value\n")
}

/// Waits until an unsigned request with a key id is refused in this way.
fn wait_until(server: &Server, key_id: &str, part: &str) {
    let scope = format!("{key_id}/20261123/eu-central-1/dynamodb/aws4_request");
    let request = format!(
        "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Amz-Target: \
         DynamoDB_20120810.ListTables\r\nX-Amz-Date: {}\r\nAuthorization: AWS4-HMAC-SHA256 \
         Credential={scope}, SignedHeaders=host;x-amz-date;x-amz-target, Signature=00\r\n\
         Content-Type: application/x-amz-json-1.0\r\nContent-Length: 2\r\n\r\n{{}}",
        now()
    );
    let request = request.replace("20261123", now().split('T').next().unwrap());
    let deadline = Instant::now() + Duration::from_secs(30);
    let mut answer = String::new();
    while Instant::now() < deadline {
        answer = String::from_utf8(server.raw(request.as_bytes())).unwrap();
        if answer.contains(part) {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("no {part:?} in {answer}");
}

/// Returns the time as signatures have it.
fn now() -> String {
    let shown =
        std::process::Command::new("date").args(["-u", "+%Y%m%dT%H%M%SZ"]).output().unwrap();
    stdout(&shown).trim().to_owned()
}

#[test]
fn credentials_and_levels_are_read_again_on_a_signal() {
    let folder = tempfile::tempdir().unwrap();
    let (file, credentials) = (folder.path().join("s.toml"), folder.path().join("keys"));
    std::fs::write(&credentials, keys("AKOLD")).unwrap();
    std::fs::write(&file, "log = \"info\"\n").unwrap();
    let path = |own: &Path| own.to_str().unwrap().to_owned();
    let flags = ["--credentials", &path(&credentials), "--config", &path(&file)];
    let server = Server::start_cql(folder.path(), &flags);
    wait_until(&server, "AKOLD", "InvalidSignatureException");
    wait_until(&server, "AKNEW", "UnrecognizedClientException");
    // What cannot be read is left as it was.
    std::fs::write(&credentials, "[ann]\naws_access_key_id = AKHALF\n").unwrap();
    server.signal("-HUP");
    std::thread::sleep(Duration::from_secs(1));
    wait_until(&server, "AKOLD", "InvalidSignatureException");
    std::fs::write(&credentials, keys("AKNEW")).unwrap();
    std::fs::write(&file, "log = \"info,shelfmark_server=debug\"\n").unwrap();
    server.signal("-HUP");
    wait_until(&server, "AKNEW", "InvalidSignatureException");
    wait_until(&server, "AKOLD", "UnrecognizedClientException");
    let ended = server.stop("-TERM");
    assert!(ended.status.success());
    let log = stderr(&ended);
    assert!(log.contains("the credentials stay as they were"), "{log}");
    assert!(log.contains("the credentials were read again"), "{log}");
    assert!(log.contains("the log's levels were read again"), "{log}");
    assert!(!log.contains("hidden-value"), "{log}");
}
