//! Spans of a running server at a collector that is a socket of this test.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::process::{Server, shelfmark, stderr};

/// Time that a span has to come.
const SPAN_TIME_MAX: Duration = Duration::from_secs(60);

/// Answers every request, and passes its head and body on.
fn collector(listener: TcpListener) -> Receiver<(String, Vec<u8>)> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let (mut got, mut buffer) = (Vec::new(), [0; 4096]);
            let head = loop {
                if let Some(end) = got.windows(4).position(|own| own == b"\r\n\r\n") {
                    break end + 4;
                }
                match stream.read(&mut buffer) {
                    Ok(0) | Err(_) => break got.len(),
                    Ok(count) => got.extend(&buffer[..count]),
                }
            };
            let text = String::from_utf8_lossy(&got[..head]).to_ascii_lowercase();
            let length = text.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.and_then(|own| own.trim().parse().ok()).unwrap_or_default();
            while got.len() < head + length {
                match stream.read(&mut buffer) {
                    Ok(0) | Err(_) => break,
                    Ok(count) => got.extend(&buffer[..count]),
                }
            }
            let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
            let _ = stream.write_all(answer.as_bytes());
            if sender.send((text, got.split_off(head))).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Waits for a batch of spans in which each of these texts stands.
fn batch_with(batches: &Receiver<(String, Vec<u8>)>, texts: &[&str]) -> (String, Vec<u8>) {
    loop {
        let (head, body) = batches.recv_timeout(SPAN_TIME_MAX).unwrap();
        let has = |text: &&str| body.windows(text.len()).any(|own| own == text.as_bytes());
        if texts.iter().all(has) {
            return (head, body);
        }
    }
}

#[test]
fn a_collector_gets_a_span_of_each_request_and_its_absence_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // Nobody answers there at first: what is bound and not listened to refuses.
    drop(listener);
    let url = format!("http://{address}");
    let server = Server::start_cql(folder.path(), &["--traces", &url]);
    server.create_table("Music");
    for round in 0..4 {
        server.put("Music", "a", &round.to_string());
        std::thread::sleep(Duration::from_millis(1_100));
    }
    let batches = collector(TcpListener::bind(address).unwrap());
    assert!(server.get("Music", "a", "1").contains("Item"));
    let texts = [
        "GetItem Music",
        "db.operation.name",
        "db.collection.name",
        "shelfmark.face",
        "dynamodb",
        "shelfmark.rows_read",
        "db.response.returned_rows",
        "shelfmark.key_ranges",
        "shelfmark.queue_us",
        "service.name",
    ];
    let (head, body) = batch_with(&batches, &texts);
    assert!(
        head.starts_with("post /v1/traces ") && head.contains("application/x-protobuf"),
        "{head}"
    );
    assert!(!body.windows(6).any(|own| own == b"secret"), "no value is in a span");
    let script = "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', \
                  'replication_factor': 1}; CREATE TABLE ks.t (a int PRIMARY KEY); SELECT * FROM ks.t \
                  WHERE a = 1; SELECT nothing FROM ks.t";
    let ran = shelfmark(&["cql", "--server", &server.cql, "-e", script]);
    assert!(!ran.status.success(), "the last statement is wrong");
    batch_with(&batches, &["SELECT", "cql", "error.type"]);
    // What waits at the end is sent.
    server.put("Music", "last", "1");
    let log = stderr(&server.stop("-TERM"));
    batch_with(&batches, &["PutItem Music"]);
    let count = |text: &str| log.lines().filter(|line| line.contains(text)).count();
    assert_eq!(count("spans cannot be sent to"), 1, "{log}");
    assert_eq!(count("again"), 1, "{log}");
}

#[test]
fn settings_of_traces_that_cannot_be_are_refused_before_a_folder_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let model = folder.path().join("wrong.shelf");
    std::fs::write(&model, "model nonsense {").unwrap();
    let model = model.to_str().unwrap();
    for (flags, part) in [
        (&["--traces", "https://127.0.0.1:4318"][..], "collector"),
        (&["--traces", "127.0.0.1:4318"], "http"),
        (&["--traces-one-in", "10"], "needs traces"),
        (&["--traces", "http://127.0.0.1:4318", "--traces-one-in", "0"], "not 0"),
        (&["--model", model], "needs console"),
        (&["--model", model, "--console", "127.0.0.1:0"], "wrong.shelf"),
        (&["--model", "/nowhere/x.shelf", "--console", "127.0.0.1:0"], "cannot read the model"),
    ] {
        let data = ["serve", "--data", store.to_str().unwrap(), "--dynamodb", "127.0.0.1:0"];
        let output = shelfmark(&[&data, flags].concat());
        assert!(!output.status.success());
        assert!(stderr(&output).contains(part), "{flags:?}: {}", stderr(&output));
        assert!(!store.exists(), "{flags:?}");
    }
}
