//! The DynamoDB port, and clients on plain sockets: how long a connection may be silent, slow
//! and busy, and who is let in.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use shelfmark_dynamo::auth::Credentials;
use shelfmark_dynamo::{Face, FaceOptions};
use shelfmark_engine::{Engine, Environment, SeededRandom};
use shelfmark_server::limits::Times;
use shelfmark_server::{Faces, Server, Settings, Tls};
use shelfmark_store::clock::{Clock, SystemClock};
use shelfmark_store::memory::MemoryStore;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

/// Longer than anything here may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Running {
    runtime: Runtime,
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
}

impl Running {
    pub(crate) fn new(times: Times, options: FaceOptions) -> Self {
        Self::with(times, options, None)
    }

    pub(crate) fn with(times: Times, options: FaceOptions, tls: Option<Tls>) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let random = Arc::new(SeededRandom::new(1));
        let environment = Environment { clock: Arc::clone(&clock), random };
        let store = Arc::new(MemoryStore::new(clock));
        let engine = Engine::open(store, environment.clone()).unwrap();
        let face = Arc::new(Face::new(engine, environment, options));
        let runtime = Runtime::new().unwrap();
        let address = Some("127.0.0.1:0".parse().unwrap());
        let settings =
            Settings { dynamodb: address, dynamodb_tls: tls, times, ..Settings::default() };
        let faces = Faces { dynamodb: Some(face), ..Faces::default() };
        let server = runtime.block_on(Server::bind(settings, faces)).unwrap();
        let address = server.addresses().dynamodb.unwrap();
        let (stop, stopped) = oneshot::channel();
        runtime.spawn(server.run(async {
            let _ = stopped.await;
        }));
        Self { runtime, address, stop: Some(stop) }
    }

    /// Stops the server, as a signal does.
    pub(crate) fn stop(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(()));
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
        let _ = &self.runtime;
    }
}

/// Short enough to be waited for, and longer than a busy machine keeps a client from its turn.
pub(crate) const MOMENT: Duration = Duration::from_millis(1_500);

pub(crate) fn quick() -> Times {
    Times {
        head_max: MOMENT,
        body_max: MOMENT,
        unauthenticated_body_max: MOMENT,
        connection_max: PATIENCE,
        drain_max: MOMENT,
        ..Times::default()
    }
}

pub(crate) fn request(operation: &str, body: &str) -> String {
    format!(
        "POST / HTTP/1.1\r\nHost: localhost:1\r\nX-Amz-Target: DynamoDB_20120810.{operation}\r\n\
         Content-Type: application/x-amz-json-1.0\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Reads one answer whose body ends with a brace.
fn answer(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut some = [0; 4096];
    while !bytes.ends_with(b"}") {
        let count = stream.read(&mut some).unwrap();
        assert!(count > 0, "closed after {:?}", String::from_utf8_lossy(&bytes));
        bytes.extend(some.iter().take(count));
    }
    String::from_utf8(bytes).unwrap()
}

/// Reads until the server closes; panics if it does not in time.
pub(crate) fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error}"),
    }
    bytes
}

#[test]
fn silent_and_slow_clients_are_sent_away_and_others_are_not() {
    let server = Running::new(quick(), FaceOptions::default());
    // Never says anything; says half a head; is silent after an answer.
    let mut silent = server.connect();
    let mut half = server.connect();
    half.write_all(b"POST / HTTP/1.1\r\nHost: localhost\r\n").unwrap();
    let mut idle = server.connect();
    idle.write_all(request("ListTables", "{}").as_bytes()).unwrap();
    assert!(answer(&mut idle).contains("TableNames"));
    for stream in [&mut silent, &mut half, &mut idle] {
        rest(stream);
    }
    // Half a body.
    let mut slow = server.connect();
    slow.write_all(
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
          Content-Length: 10\r\n\r\n{",
    )
    .unwrap();
    let text = String::from_utf8(rest(&mut slow)).unwrap();
    assert!(text.starts_with("HTTP/1.1 408"), "{text}");
    // A busy one is served for longer than any of these.
    let mut busy = server.connect();
    for _ in 0..7 {
        busy.write_all(request("ListTables", "{}").as_bytes()).unwrap();
        assert!(answer(&mut busy).contains("TableNames"));
        std::thread::park_timeout(MOMENT / 5);
    }
}

#[test]
fn what_is_no_http_is_told_so() {
    let server = Running::new(Times::default(), FaceOptions::default());
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(200_000));
    let headers = format!("GET / HTTP/1.1\r\n{}\r\n", "h: v\r\n".repeat(1_000));
    let large = format!("GET / HTTP/1.1\r\nAuthorization: {}\r\n\r\n", "x".repeat(1_000_000));
    let cases = [
        ("\0\u{1}\u{2}\r\n\r\n", " 400 "),
        ("GET / HTTP/9.9\r\nHost: localhost\r\n\r\n", " 400 "),
        ("hello, is anybody there?\r\n\r\n", " 400 "),
        ("POST / HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", " 400 "),
        ("POST / HTTP/1.1\r\nContent-Length: -5\r\n\r\n", " 400 "),
        (
            "POST / HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}",
            " 400 ",
        ),
        (&long, " 431 "),
        (&headers, " 431 "),
        (&large, " 431 "),
    ];
    for (bytes, status) in cases {
        let mut client = server.connect();
        client.write_all(bytes.as_bytes()).unwrap();
        let text = String::from_utf8_lossy(&rest(&mut client)).into_owned();
        let shown: String = bytes.chars().take(60).collect();
        assert!(text.starts_with("HTTP/1.1") && text.contains(status), "{shown:?}: {text:?}");
    }
    // A client that sends all before it listens gets its answer, too.
    let mut client = server.connect();
    let body = "x".repeat(48 * 1024 * 1024);
    client.write_all(request("PutItem", &body).as_bytes()).unwrap();
    let text = String::from_utf8(rest(&mut client)).unwrap();
    assert!(text.starts_with("HTTP/1.1 413"), "{text}");
    assert!(text.contains("RequestEntityTooLargeException"), "{text}");
    // One that announces it need not send it.
    let mut client = server.connect();
    client.write_all(b"POST / HTTP/1.1\r\nContent-Length: 20000000\r\n\r\n").unwrap();
    let text = String::from_utf8(rest(&mut client)).unwrap();
    assert!(text.starts_with("HTTP/1.1 413"), "{text}");
    // Where no operation is seen there is the service's answer to that.
    let mut client = server.connect();
    client.write_all(b"PUT / HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
    let text = String::from_utf8(rest(&mut client)).unwrap().to_lowercase();
    assert!(text.starts_with("http/1.1 404"), "{text}");
    assert!(
        text.contains("x-amz-crc32: 3552371480") && text.contains("x-amzn-requestid"),
        "{text}"
    );
    assert!(text.ends_with("<unknownoperationexception/>\n"), "{text}");
}

#[test]
fn no_connection_lasts_for_ever() {
    let times = Times { connection_max: MOMENT, ..quick() };
    let server = Running::new(times, FaceOptions::default());
    let mut busy = server.connect();
    let mut served = 0;
    loop {
        if busy.write_all(request("ListTables", "{}").as_bytes()).is_err() {
            break;
        }
        let mut some = [0; 4096];
        match busy.read(&mut some) {
            Ok(0) | Err(_) => break,
            Ok(_) => served += 1,
        }
        std::thread::park_timeout(Duration::from_millis(20));
        assert!(served < 500, "it is served on and on");
    }
    assert!(served > 1, "{served}");
    // One that asks and asks, and never takes an answer.
    let mut deaf = server.connect();
    deaf.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
    let ask = request("ListTables", "{}").repeat(1000);
    let closed = (0..100).any(|_| match deaf.write_all(ask.as_bytes()) {
        Ok(()) => false,
        Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
    });
    assert!(closed, "a client that takes no answer keeps its slot");
    // Others come in.
    let mut fresh = server.connect();
    fresh.write_all(request("ListTables", "{}").as_bytes()).unwrap();
    assert!(answer(&mut fresh).contains("TableNames"));
}

#[test]
fn clients_are_told_the_name_that_they_use() {
    let server = Running::new(Times::default(), FaceOptions::default());
    let mut client = server.connect();
    client.write_all(request("DescribeEndpoints", "{}").as_bytes()).unwrap();
    let text = answer(&mut client);
    assert!(text.contains("\"Address\":\"localhost:1\""), "{text}");
}

#[test]
fn nothing_is_done_for_who_does_not_sign() {
    let credentials = Some(Credentials::new().with("A", "s"));
    let options = FaceOptions { credentials, ..FaceOptions::default() };
    let server = Running::new(Times::default(), options);
    let mut client = server.connect();
    // What names no operation is told so before anybody asks who sent it.
    for (operation, exception) in [
        ("ListTables", "MissingAuthenticationTokenException"),
        ("NoSuchThing", "UnknownOperationException"),
        ("GetRecords", "UnknownOperationException"),
    ] {
        client.write_all(request(operation, "{}").as_bytes()).unwrap();
        let text = answer(&mut client);
        assert!(text.starts_with("HTTP/1.1 400"), "{text}");
        assert!(text.contains(exception), "{operation}: {text}");
        assert!(text.to_lowercase().contains("x-amz-crc32"), "{text}");
    }
}

#[test]
fn the_content_type_is_looked_at_before_target_and_signature() {
    let credentials = Some(Credentials::new().with("A", "s"));
    for credentials in [None, credentials] {
        let options = FaceOptions { credentials, ..FaceOptions::default() };
        let server = Running::new(Times::default(), options);
        for content_type in ["", "Content-Type: text/plain\r\n", "Content-Type:\r\n"] {
            let mut client = server.connect();
            let ask = format!(
                "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Amz-Target: \
                 DynamoDB_20120810.ListTables\r\n{content_type}Content-Length: 2\r\n\r\n{{}}"
            );
            client.write_all(ask.as_bytes()).unwrap();
            let text = String::from_utf8(rest(&mut client)).unwrap();
            assert!(text.starts_with("HTTP/1.1 404"), "{content_type:?}: {text}");
            assert!(text.ends_with("<UnknownOperationException/>\n"), "{text}");
        }
        // Without a body there is nothing that has a type; the answer is plain JSON.
        let mut client = server.connect();
        client
            .write_all(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
            .unwrap();
        let text = answer(&mut client);
        assert!(text.contains("#UnknownOperationException"), "{text}");
        assert!(text.contains("content-type: application/json\r\n"), "{text}");
    }
}
