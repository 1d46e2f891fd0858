//! Clients that send rubbish: each gets an error, and the server goes on serving the others.

use crate::process::Server;

#[test]
fn rubbish_costs_nobody_else_anything() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    server.create_table("tab");
    server.put("tab", "a", "1");
    let still_serves = |what: &str| {
        assert!(server.get("tab", "a", "1").contains("Item"), "after {what}");
    };
    server.raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 not http at all\r\n\r\n");
    still_serves("a TLS greeting");
    server.raw(
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
          Content-Length: 100\r\nConnection: close\r\n\r\nshort",
    );
    still_serves("a body cut short");
    let long = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(200_000));
    server.raw(long.as_bytes());
    still_serves("a long head");

    let bomb = "[".repeat(100_000);
    let (status, body) = server.call("PutItem", &bomb);
    assert_eq!(status, 400, "{body}");
    assert!(body.contains("SerializationException"), "{body}");
    let nested = format!(
        r#"{{"TableName":"tab","Item":{{"pk":{{"S":"a"}},"sk":{{"S":"2"}},"x":{}{{"NULL":true}}{}}}}}"#,
        r#"{"L":["#.repeat(2_000),
        "]}".repeat(2_000)
    );
    assert_eq!(server.call("PutItem", &nested).0, 400);
    let parentheses = format!(
        r#"{{"TableName":"tab","FilterExpression":"{}a = :a{}","ExpressionAttributeValues":{{":a":{{"N":"1"}}}}}}"#,
        "(".repeat(4_096),
        ")".repeat(4_096)
    );
    let (status, body) = server.call("Scan", &parentheses);
    assert_eq!(status, 400, "{body}");
    assert!(body.contains("ValidationException"), "{body}");
    still_serves("JSON bombs");

    let key = "k".repeat(2_049);
    let over = format!(r#"{{"TableName":"tab","Item":{{"pk":{{"S":"{key}"}},"sk":{{"S":"2"}}}}}}"#);
    let (status, body) = server.call("PutItem", &over);
    assert_eq!(status, 400, "{body}");
    for number in ["1E+999999999", "NaN", "Infinity", "0x10", "", " 1"] {
        let item = format!(
            r#"{{"TableName":"tab","Item":{{"pk":{{"S":"a"}},"sk":{{"S":"2"}},"n":{{"N":"{number}"}}}}}}"#
        );
        assert_eq!(server.call("PutItem", &item).0, 400, "{number}");
    }
    still_serves("values over the limits");

    let large = "x".repeat(20 * 1024 * 1024);
    let (status, _) = server.call("PutItem", &large);
    assert_eq!(status, 413);
    still_serves("a body of 20 MB");
    let (status, body) = server.call("NoSuchThing", "{}");
    assert_eq!(status, 400);
    assert!(body.contains("UnknownOperationException"), "{body}");
}

#[test]
fn the_transport_answers_as_clients_expect() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let text =
        |request: &str| String::from_utf8_lossy(&server.raw(request.as_bytes())).to_lowercase();
    let health = text("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert!(
        health.starts_with("http/1.1 200") && health.ends_with("healthy: localhost"),
        "{health}"
    );
    let wrong = text("DELETE / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert!(wrong.starts_with("http/1.1 404"), "{wrong}");
    let kind = text(
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\
         Connection: close\r\n\r\n{}",
    );
    assert!(kind.starts_with("http/1.1 404"), "{kind}");
    let call = text(
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n\
         X-Amz-Target: DynamoDB_20120810.ListTables\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
    );
    for header in
        ["x-amzn-requestid: ", "x-amz-crc32: ", "content-type: application/x-amz-json-1.0"]
    {
        assert!(call.contains(header), "{call}");
    }
}

/// What a browser sends for a page that asks for the list of tables, before and with the request.
fn of_page(server: &Server, method: &str, origin: &str, host: &str) -> String {
    let request = format!(
        "{method} / HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\n\
         Access-Control-Request-Headers: x-amz-target\r\n\
         Content-Type: application/x-amz-json-1.0\r\n\
         X-Amz-Target: DynamoDB_20120810.CreateTable\r\nContent-Length: 2\r\n\
         Connection: close\r\n\r\n{{}}"
    );
    String::from_utf8_lossy(&server.raw(request.as_bytes())).to_lowercase()
}

#[test]
fn web_pages_of_others_can_do_nothing_and_those_that_are_allowed_can() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&folder.path().join("closed"));
    for method in ["OPTIONS", "POST", "GET"] {
        for (origin, host) in [
            ("http://evil.example", "localhost"),
            ("http://evil.example:8000", "evil.example:8000"),
            ("null", "127.0.0.1"),
        ] {
            let answer = of_page(&server, method, origin, host);
            assert!(answer.starts_with("http/1.1 403") && answer.contains("--cors"), "{answer}");
            assert!(!answer.contains("access-control-allow"), "{answer}");
        }
    }
    let rebound = server.raw(b"GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    assert!(String::from_utf8_lossy(&rebound).starts_with("HTTP/1.1 403"));
    drop(server);
    let arguments = ["--dynamodb", "127.0.0.1:0", "--cors", "http://app.test:3000"];
    let server = Server::start_with(&folder.path().join("open"), &arguments);
    let preflight = of_page(&server, "OPTIONS", "http://app.test:3000", "localhost");
    assert!(preflight.contains("access-control-allow-headers: x-amz-target"), "{preflight}");
    assert!(preflight.contains("access-control-allow-origin: http://app.test:3000"), "{preflight}");
    let asked = of_page(&server, "POST", "http://app.test:3000", "localhost");
    assert!(
        asked.starts_with("http/1.1 400"),
        "it was read, and an empty request is wrong: {asked}"
    );
    assert!(
        of_page(&server, "POST", "http://evil.example", "localhost").starts_with("http/1.1 403")
    );
}
