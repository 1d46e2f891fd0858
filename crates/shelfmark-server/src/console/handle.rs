//! Runs the handlers of the console's port: the operations, then the pages.
//!
//! Invariant: a handler runs on a thread of the console's own pool, so neither the threads of the sockets
//! nor those of clients' requests wait for it; its body and its answer are in the memory budget.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use shelfmark_admin::http::{self, JSON, Method, Request};
use shelfmark_engine::budget::Client;
use shelfmark_engine::weight::{Pool as _, Refused, Weight};
use tokio::sync::oneshot;

use super::body::Body;
use super::{Answer, Console, text};
use crate::limits::{BODY_TIMES, CONSOLE_BODY_SIZE_BYTES_MAX};
use crate::memory_wait;

/// The longest time for a body.
const BODY_MAX: Duration = Duration::from_secs(60);

/// Passes a request to its handler.
pub(super) async fn handled(
    console: &Arc<Console>,
    client: &Client,
    head: Parts,
    body: Incoming,
    is_admitted: bool,
) -> Answer {
    let is_post = head.method == hyper::Method::POST;
    let body = match is_post {
        true => match body_of(client, &head.headers, body).await {
            Ok(body) => body,
            Err(refusal) => return refusal,
        },
        false => Bytes::new(),
    };
    let mut share = client.share();
    if !memory_wait::wait_for(&mut share, body.len() * BODY_TIMES).await {
        return busy();
    }
    let request = Request {
        method: if is_post { Method::Post } else { Method::Get },
        path: head.uri.path().to_owned(),
        query: head.uri.query().map(str::to_owned),
        body,
        is_admitted,
        has_gone: Arc::default(),
    };
    let waiting = Waiting(Arc::clone(&request.has_gone));
    let (sender, receiver) = oneshot::channel();
    let own = Arc::clone(console);
    let work = move |admitted: Result<(), Refused>| {
        // A client that has gone away does not wait for its answer.
        if admitted.is_err() {
            let _ = sender.send(busy());
            return;
        }
        let (answer, writer) = own.answer(&request);
        let _ = sender.send(answer);
        if let Some(write) = writer {
            write();
        }
        drop(share);
    };
    console.pool.run(None, Weight::Waiting, Box::new(work));
    let answer = receiver.await;
    // The answer is there; its body is told by its own end.
    drop(waiting);
    let Ok(answer) = answer else {
        let why = "the request ended without an answer; see the server's log\n";
        return text(StatusCode::INTERNAL_SERVER_ERROR, why.to_owned());
    };
    accounted(client, answer).await
}

/// Tells the handler once nobody waits for its answer: the connection of the request has ended.
struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Accounts for a whole answer until it is sent.
async fn accounted(client: &Client, answer: Answer) -> Answer {
    let (head, body) = answer.into_parts();
    let Body::Whole(whole) = body else { return Response::from_parts(head, body) };
    let Ok(whole) = whole.collect().await;
    match memory_wait::held(client, whole.to_bytes()).await {
        Some(bytes) => Response::from_parts(head, Body::whole(bytes)),
        None => busy(),
    }
}

impl Console {
    /// Returns the answer of a handler, and the work that writes its body.
    fn answer(&self, request: &Request) -> (Answer, Option<impl FnOnce() + use<>>) {
        let operation = if request.is_admitted { self.admin.answer(request) } else { None };
        let pages = || self.site.as_ref().map(|site| site.answer(request));
        let answer = operation.or_else(pages).unwrap_or_else(|| {
            http::Answer::text(
                404,
                format!("there is no {}; / lists what there is\n", request.path),
            )
        });
        let (body, pieces) = match answer.body {
            http::Body::Whole(bytes) => (Body::whole(bytes), None),
            http::Body::Written(writer) => {
                let (body, pieces) = Body::written();
                (body, Some((pieces, writer)))
            }
        };
        let write = pieces.map(|(mut pieces, writer)| {
            move || {
                let written = writer(&mut pieces);
                pieces.finish(written);
            }
        });
        let status = StatusCode::from_u16(answer.status);
        let mut framed = Response::new(body);
        *framed.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = framed.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(answer.content_type));
        for (name, value) in answer.headers {
            match (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(&value)) {
                (Ok(name), Ok(value)) => drop(headers.insert(name, value)),
                _ => tracing::warn!("the console cannot send the header {name}"),
            }
        }
        (framed, write)
    }
}

fn busy() -> Answer {
    let why = "too much is under way, or there is not enough memory; try again later\n";
    text(StatusCode::SERVICE_UNAVAILABLE, why.to_owned())
}

/// Reads the body of a `POST`, which is JSON: a form of another origin's page cannot say so.
pub(super) async fn body_of(
    client: &Client,
    headers: &HeaderMap,
    body: Incoming,
) -> Result<Bytes, Answer> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case(JSON) {
        let why = "a POST to the console has the Content-Type application/json\n";
        return Err(text(StatusCode::UNSUPPORTED_MEDIA_TYPE, why.to_owned()));
    }
    match tokio::time::timeout(BODY_MAX, collect(client, body)).await {
        Ok(collected) => collected,
        Err(_) => {
            let why = "the body did not come in time\n";
            Err(text(StatusCode::REQUEST_TIMEOUT, why.to_owned()))
        }
    }
}

async fn collect(client: &Client, mut body: Incoming) -> Result<Bytes, Answer> {
    let too_large = || {
        let why = format!("the body has more than {CONSOLE_BODY_SIZE_BYTES_MAX} bytes\n");
        text(StatusCode::PAYLOAD_TOO_LARGE, why)
    };
    if body.size_hint().lower() > CONSOLE_BODY_SIZE_BYTES_MAX as u64 {
        return Err(too_large());
    }
    let mut share = client.share();
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            text(StatusCode::BAD_REQUEST, format!("the body cannot be read: {error}\n"))
        })?;
        let Ok(piece) = frame.into_data() else { continue };
        if whole.len() + piece.len() > CONSOLE_BODY_SIZE_BYTES_MAX {
            return Err(too_large());
        }
        if !memory_wait::wait_for(&mut share, 2 * (whole.len() + piece.len())).await {
            return Err(busy());
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole.freeze())
}
