//! The DynamoDB port in HTTP/2: agreed on by TLS or known before, many requests at once, and the limits of
//! HTTP/1.1.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Bytes, Frame};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use shelfmark_dynamo::FaceOptions;
use shelfmark_dynamo::auth::{Credentials, Signer};
use shelfmark_server::Tls;
use shelfmark_server::limits::{
    ABANDONED_REQUESTS_MAX, HTTP2_HEAD_SIZE_BYTES_MAX, HTTP2_STREAMS_MAX, Times,
};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::http::{MOMENT, PATIENCE, Running, quick};
use crate::tls::{CERTIFICATE, KEY, connector};

type Sender = SendRequest<BoxBody<Bytes, Infallible>>;

/// A body that never comes.
struct Never;

impl Body for Never {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Pending
    }
}

fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { timeout(PATIENCE, test).await.unwrap() })
}

/// Connects in HTTP/2; the task ends with the connection.
async fn speak(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> (Sender, JoinHandle<()>) {
    let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    let ended = tokio::spawn(async move {
        // That it ended is what the tests ask for.
        let _ = connection.await;
    });
    (sender, ended)
}

async fn connect(server: &Running) -> (Sender, JoinHandle<()>) {
    speak(TcpStream::connect(server.address).await.unwrap()).await
}

fn request(operation: &str) -> hyper::http::request::Builder {
    Request::post("http://localhost/")
        .header("x-amz-target", format!("DynamoDB_20120810.{operation}"))
        .header("content-type", "application/x-amz-json-1.0")
}

async fn text(answer: Response<hyper::body::Incoming>) -> (StatusCode, String) {
    let status = answer.status();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

async fn call(sender: &mut Sender, operation: &str, body: &str) -> (StatusCode, String) {
    let body = Full::new(Bytes::copy_from_slice(body.as_bytes())).boxed();
    sender.ready().await.unwrap();
    text(sender.send_request(request(operation).body(body).unwrap()).await.unwrap()).await
}

const CREATE: &str = r#"{"TableName": "Rows", "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "h", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "h", "KeyType": "HASH"}]}"#;

#[test]
fn many_requests_at_once_on_one_connection() {
    let server = Running::new(Times::default(), FaceOptions::default());
    run(async {
        let (mut sender, _ended) = connect(&server).await;
        let (status, created) = call(&mut sender, "CreateTable", CREATE).await;
        assert_eq!(status, StatusCode::OK, "{created}");
        let large = "x".repeat(300_000);
        let puts: Vec<_> = (0..300)
            .map(|number| {
                let text = if number % 30 == 0 { &*large } else { "small" };
                let item = format!(
                    r#"{{"TableName": "Rows", "Item": {{"h": {{"S": "{number}"}}, "t": {{"S": "{text}"}}}}}}"#
                );
                let mut sender = sender.clone();
                tokio::spawn(async move { call(&mut sender, "PutItem", &item).await })
            })
            .collect();
        for put in puts {
            assert_eq!(put.await.unwrap(), (StatusCode::OK, "{}".to_owned()));
        }
        let (_, counted) =
            call(&mut sender, "Scan", r#"{"TableName": "Rows", "Select": "COUNT"}"#).await;
        assert!(counted.contains("LastEvaluatedKey"), "more than a page: {counted}");
        let (status, refused) = call(&mut sender, "GetItem", r#"{"TableName": "None"}"#).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{refused}");
        // The name that the client uses is a part of its address.
        let (_, endpoints) = call(&mut sender, "DescribeEndpoints", "{}").await;
        assert!(endpoints.contains(r#""Address":"localhost""#), "{endpoints}");
    });
}

#[test]
fn tls_offers_it_and_takes_what_the_client_knows() {
    let tls = Tls::from_pem(CERTIFICATE, KEY).unwrap();
    let server = Running::with(Times::default(), FaceOptions::default(), Some(tls));
    run(async {
        for (known, agreed) in [
            (&[&b"h2"[..], b"http/1.1"][..], Some(&b"h2"[..])),
            (&[b"http/1.1"], Some(b"http/1.1")),
            (&[], None),
        ] {
            let plain = TcpStream::connect(server.address).await.unwrap();
            let name = "localhost".try_into().unwrap();
            let mut stream = connector(known).connect(name, plain).await.unwrap();
            assert_eq!(stream.get_ref().1.alpn_protocol(), agreed);
            if agreed == Some(b"h2") {
                let (mut sender, _ended) = speak(stream).await;
                let (status, _) = call(&mut sender, "ListTables", "{}").await;
                assert_eq!(status, StatusCode::OK);
            } else {
                let sent = crate::http::request("ListTables", "{}");
                stream.write_all(sent.as_bytes()).await.unwrap();
                let mut answer = [0; 12];
                stream.read_exact(&mut answer).await.unwrap();
                assert_eq!(&answer, b"HTTP/1.1 200");
            }
        }
    });
}

#[test]
fn signatures_are_over_the_name_in_the_address() {
    let credentials = Some(Credentials::new().with("A", "s"));
    let options = FaceOptions { credentials, ..FaceOptions::default() };
    let server = Running::new(Times::default(), options);
    run(async {
        let (mut sender, _ended) = connect(&server).await;
        let (status, text) = call(&mut sender, "ListTables", "{}").await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert!(text.contains("MissingAuthenticationTokenException"), "{text}");
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
        for (secret, expected) in [("s", StatusCode::OK), ("t", StatusCode::BAD_REQUEST)] {
            let signed = signed("A", secret, i64::try_from(now).unwrap());
            let (status, text) = text_of(&mut sender, signed).await;
            assert_eq!(status, expected, "{text}");
        }
    });
}

/// Returns a request whose signature covers the name that the address has.
fn signed(key_id: &str, secret: &str, now: i64) -> Request<BoxBody<Bytes, Infallible>> {
    let signer = Signer {
        key_id: key_id.to_owned(),
        secret: secret.to_owned(),
        token: None,
        region: "eu-central-1".to_owned(),
    };
    let headers = signer.headers("localhost", "ListTables", b"{}", now * 1_000).unwrap();
    let mut request = Request::post("http://localhost/");
    for (name, value) in headers.into_iter().filter(|(name, _)| *name != "host") {
        request = request.header(name, value);
    }
    request.body(Full::new(Bytes::from_static(b"{}")).boxed()).unwrap()
}

async fn text_of(
    sender: &mut Sender,
    request: Request<BoxBody<Bytes, Infallible>>,
) -> (StatusCode, String) {
    text(sender.send_request(request).await.unwrap()).await
}

#[test]
fn silent_connections_end_and_busy_ones_do_not() {
    let server = Running::new(quick(), FaceOptions::default());
    run(async {
        let (mut sender, ended) = connect(&server).await;
        for _ in 0..5 {
            tokio::time::sleep(MOMENT / 2).await;
            assert_eq!(call(&mut sender, "ListTables", "{}").await.0, StatusCode::OK);
        }
        assert!(!ended.is_finished());
        ended.await.unwrap();
        // One that opens and never says more.
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(b"PRI * HT").await.unwrap();
        assert_eq!(stream.read(&mut [0; 1]).await.unwrap_or(0), 0);
    });
}

#[test]
fn a_body_that_does_not_come_is_given_up_beside_other_requests() {
    let server = Running::new(quick(), FaceOptions::default());
    run(async {
        let (mut sender, _ended) = connect(&server).await;
        let waiting = sender.send_request(request("PutItem").body(Never.boxed()).unwrap());
        assert_eq!(call(&mut sender, "ListTables", "{}").await.0, StatusCode::OK);
        let (status, _) = text(waiting.await.unwrap()).await;
        assert_eq!(status, StatusCode::REQUEST_TIMEOUT);
    });
}

/// Begins so many requests whose bodies never come, and gives them up together. Returns false once the
/// connection has ended.
async fn give_up(sender: &mut Sender, requests: u32) -> bool {
    if sender.ready().await.is_err() {
        return false;
    }
    let open: Vec<_> = (0..requests)
        .map(|_| sender.send_request(request("PutItem").body(Never.boxed()).unwrap()))
        .collect();
    // The server is to have begun with them.
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    drop(open);
    true
}

#[test]
fn who_gives_up_request_after_request_is_sent_away() {
    let server = Running::new(Times::default(), FaceOptions::default());
    run(async {
        let (mut sender, ended) = connect(&server).await;
        for _ in 0..ABANDONED_REQUESTS_MAX / 2 {
            assert!(give_up(&mut sender, 1).await);
        }
        assert_eq!(call(&mut sender, "ListTables", "{}").await.0, StatusCode::OK);
        let mut more = 0;
        while give_up(&mut sender, 1).await {
            more += 1;
            assert!(more < 2 * ABANDONED_REQUESTS_MAX, "nobody minds");
        }
        ended.await.unwrap();
        // All that may be open at once, again and again.
        let (mut sender, ended) = connect(&server).await;
        let mut times = 0;
        while give_up(&mut sender, HTTP2_STREAMS_MAX).await {
            times += 1;
            assert!(times < ABANDONED_REQUESTS_MAX, "nobody minds");
        }
        ended.await.unwrap();
        let (mut sender, _ended) = connect(&server).await;
        assert_eq!(call(&mut sender, "ListTables", "{}").await.0, StatusCode::OK);
    });
}

#[test]
fn heads_that_are_too_long_are_refused_and_the_connection_lives() {
    let server = Running::new(Times::default(), FaceOptions::default());
    run(async {
        let (mut sender, _ended) = connect(&server).await;
        let fill = "x".repeat(HTTP2_HEAD_SIZE_BYTES_MAX as usize);
        let long = request("ListTables").header("x-fill", fill);
        let answer = sender.send_request(long.body(Full::default().boxed()).unwrap()).await;
        let is_refused = answer
            .map_or(true, |answer| answer.status() == StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
        assert!(is_refused);
        assert_eq!(call(&mut sender, "ListTables", "{}").await.0, StatusCode::OK);
    });
}

#[test]
fn a_server_that_stops_ends_its_connections_in_good_order() {
    let mut server = Running::new(Times::default(), FaceOptions::default());
    run(async {
        let (mut sender, ended) = connect(&server).await;
        assert_eq!(call(&mut sender, "CreateTable", CREATE).await.0, StatusCode::OK);
        let put = r#"{"TableName": "Rows", "Item": {"h": {"S": "last"}}}"#;
        let mut other = sender.clone();
        let last = tokio::spawn(async move { call(&mut other, "PutItem", put).await });
        let (status, _) = last.await.unwrap();
        server.stop();
        assert_eq!(status, StatusCode::OK);
        ended.await.unwrap();
    });
}
