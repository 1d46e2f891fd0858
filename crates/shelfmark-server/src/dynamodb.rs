//! The DynamoDB face over HTTP/1.1: one task per connection, requests executed where they are read.
//!
//! Here live the rules of the transport: methods, health, CORS, sizes, compression, times. What a
//! body means is the face's alone.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use shelfmark_dynamo::{Face, Reply, RequestHead};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot, watch};

use crate::accept::asked_to_stop;
use crate::coding::{Coding, accepted};
use crate::gzip::{GzipError, compress, unpack};
use crate::limits::{
    BODY_SIZE_BYTES_MAX, BODY_TIME_MAX, COMPRESSED_SIZE_BYTES_MIN, HEAD_SIZE_BYTES_MAX,
    HEAD_TIME_MAX,
};

type Answer = Response<Full<Bytes>>;

/// Accepts connections until `stopped`, then waits for the open ones.
pub(crate) async fn accept(
    listener: TcpListener,
    face: Arc<Face>,
    places: Arc<Semaphore>,
    stopped: watch::Receiver<bool>,
) {
    let until = stopped.clone();
    crate::accept::accept(listener, places, until, |stream, _| {
        serve(stream, Arc::clone(&face), stopped.clone())
    })
    .await;
}

async fn serve(stream: TcpStream, face: Arc<Face>, mut stopped: watch::Receiver<bool>) {
    let service = service_fn(move |request| {
        let face = Arc::clone(&face);
        async move { Ok::<_, Infallible>(answer(&face, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME_MAX)
        .max_buf_size(HEAD_SIZE_BYTES_MAX)
        .pipeline_flush(true)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = asked_to_stop(&mut stopped) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

async fn answer(face: &Arc<Face>, request: Request<Incoming>) -> Answer {
    let (head, body) = request.into_parts();
    let origin = head.headers.contains_key(header::ORIGIN);
    let mut answer = match head.method {
        Method::POST => operation(face, &head.headers, body).await,
        Method::GET | Method::HEAD => health(&head.headers, head.uri.path()),
        Method::OPTIONS if origin => preflight(&head.headers),
        Method::OPTIONS => plain(StatusCode::OK, ""),
        _ => plain(StatusCode::NOT_FOUND, ""),
    };
    let headers = answer.headers_mut();
    headers.insert(header::SERVER, HeaderValue::from_static("Shelfmark"));
    if origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        headers.insert(
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("x-amzn-RequestId, x-amz-crc32"),
        );
    }
    answer
}

fn plain(status: StatusCode, text: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(text.into()));
    *answer.status_mut() = status;
    answer
}

fn health(headers: &HeaderMap, path: &str) -> Answer {
    if path != "/" && !path.starts_with("/shard") {
        return plain(StatusCode::NOT_FOUND, "");
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("");
    plain(StatusCode::OK, format!("healthy: {host}"))
}

fn preflight(headers: &HeaderMap) -> Answer {
    let mut answer = plain(StatusCode::OK, "");
    let asked =
        |name, default| headers.get(name).cloned().unwrap_or(HeaderValue::from_static(default));
    let out = answer.headers_mut();
    // Whatever a page asks for is allowed, as the service does.
    let allowed = asked(header::ACCESS_CONTROL_REQUEST_HEADERS, "*");
    out.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    let allowed = asked(header::ACCESS_CONTROL_REQUEST_METHOD, "POST, GET, OPTIONS");
    out.insert(header::ACCESS_CONTROL_ALLOW_METHODS, allowed);
    out.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("172800"));
    answer
}

async fn operation(face: &Arc<Face>, headers: &HeaderMap, body: Incoming) -> Answer {
    let collected = Limited::new(body, BODY_SIZE_BYTES_MAX).collect();
    let body = match tokio::time::timeout(BODY_TIME_MAX, collected).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            return plain(StatusCode::PAYLOAD_TOO_LARGE, "");
        }
        Ok(Err(_)) => return plain(StatusCode::BAD_REQUEST, ""),
        Err(_) => return plain(StatusCode::REQUEST_TIMEOUT, ""),
    };
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let body = match unpack(text("content-encoding"), body) {
        Ok(body) => body,
        Err(GzipError::TooLarge) => return plain(StatusCode::PAYLOAD_TOO_LARGE, ""),
        // The service takes a body that it cannot unpack for a fault of its own.
        Err(GzipError::Damaged) => return plain(StatusCode::INTERNAL_SERVER_ERROR, ""),
    };
    if !text("content-type").is_none_or(is_json) {
        return plain(StatusCode::NOT_FOUND, "");
    }
    let target = text("x-amz-target").map(str::to_owned);
    let (sender, receiver) = oneshot::channel();
    let answer = Box::new(move |reply| {
        // A client that has gone away does not wait for its answer.
        let _ = sender.send(reply);
    });
    let head = RequestHead { target: target.as_deref(), operation: None };
    if Face::may_take_long(&head) {
        // Changing tables waits for others: it must not hold up the connections of this thread.
        let (face, target) = (Arc::clone(face), target.clone());
        let long = tokio::task::spawn_blocking(move || {
            let head = RequestHead { target: target.as_deref(), operation: None };
            face.handle(&head, &body, answer);
        });
        drop(long);
    } else {
        face.handle(&head, &body, answer);
    }
    let coding = text("accept-encoding").and_then(accepted);
    match receiver.await {
        Ok(reply) => encode(reply, coding),
        Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, ""),
    }
}

fn is_json(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or("").trim();
    ["application/x-amz-json-1.0", "application/json"]
        .iter()
        .any(|own| kind.eq_ignore_ascii_case(own))
}

fn encode(reply: Reply, coding: Option<Coding>) -> Answer {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let coding = coding.filter(|_| reply.body.len() >= COMPRESSED_SIZE_BYTES_MIN);
    let packed = coding.and_then(|coding| Some((compress(&reply.body, coding)?, coding)));
    let (body, crc32, coding) = match packed {
        // The sum is over the bytes as they are sent.
        Some((packed, coding)) => {
            let crc32 = flate2_crc(&packed);
            (packed, crc32, Some(coding))
        }
        None => (reply.body, reply.crc32, None),
    };
    let mut answer = plain(status, body);
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(reply.content_type));
    headers.insert("x-amz-crc32", HeaderValue::from(crc32));
    if let Ok(id) = HeaderValue::from_str(&reply.request_id) {
        headers.insert("x-amzn-requestid", id);
    }
    if let Some(coding) = coding {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
    }
    answer
}

fn flate2_crc(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}
