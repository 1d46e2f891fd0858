//! The port for whoever runs the server: health, readiness and metrics over HTTP.
//!
//! What it is not: a face. No row is read or written here, and nothing of a row is told.
//!
//! Invariant: who is answered is a program on this machine or has the token; a web page is neither.

mod health;
mod metrics;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use shelfmark_engine::Engine;
use shelfmark_engine::budget::Budget;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use crate::pages::Pages;

pub(crate) use metrics::{install, request};

/// Connections at once; whoever watches needs few.
const CONNECTIONS_MAX: usize = 64;
/// The longest time for a request's head.
const HEAD_MAX: Duration = Duration::from_secs(10);
/// The longest life of a connection.
const CONNECTION_MAX: Duration = Duration::from_secs(300);

/// The settings of the console's port.
pub struct ConsoleSettings {
    /// The address.
    pub address: SocketAddr,
    /// The token that requests carry as `Authorization: Bearer`; `None` asks for none.
    pub token: Option<String>,
    /// The engine that is watched.
    pub engine: Engine,
}

/// The state that all requests share.
pub(crate) struct Console {
    pub(crate) token: Option<String>,
    pub(crate) engine: Engine,
    pub(crate) budget: Arc<Budget>,
    pub(crate) on_loopback: bool,
}

type Answer = Response<Full<Bytes>>;

/// Accepts connections until `stopped`.
pub(crate) async fn accept(
    listener: TcpListener,
    console: Arc<Console>,
    mut stopped: watch::Receiver<bool>,
) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.changed() => return,
        };
        let Ok((stream, _)) = accepted else {
            // The system is short of something; it passes.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        // Nobody waits for a place: who comes now is told nothing.
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
        let (console, stopped) = (Arc::clone(&console), stopped.clone());
        tokio::spawn(async move {
            serve(stream, console, stopped).await;
            drop(place);
        });
    }
}

async fn serve(stream: TcpStream, console: Arc<Console>, mut stopped: watch::Receiver<bool>) {
    let service = service_fn(move |request: Request<Incoming>| {
        let console = Arc::clone(&console);
        async move { Ok::<_, Infallible>(answer(&console, &request)) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_MAX)
        .serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        ended = connection => {
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection to the console ended early");
            }
        }
        _ = stopped.changed() => {}
        () = tokio::time::sleep(CONNECTION_MAX) => {}
    }
}

fn answer(console: &Console, request: &Request<Incoming>) -> Answer {
    if let Some(refusal) = refusal(console, request.headers()) {
        return refusal;
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return text(StatusCode::METHOD_NOT_ALLOWED, "the console takes GET alone\n".to_owned());
    }
    match request.uri().path() {
        "/" => text(StatusCode::OK, "/health\n/ready\n/metrics\n".to_owned()),
        "/health" => health::health(&console.engine),
        "/ready" => health::ready(&console.engine),
        "/metrics" => metrics::scraped(&console.engine, &console.budget),
        path => text(StatusCode::NOT_FOUND, format!("there is no {path}; / lists what there is\n")),
    }
}

/// Refuses who has no token, and web pages where none is asked for.
fn refusal(console: &Console, headers: &HeaderMap) -> Option<Answer> {
    let Some(token) = &console.token else {
        let why = Pages::default().refusal(headers, console.on_loopback)?;
        return Some(text(StatusCode::FORBIDDEN, why.to_owned()));
    };
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.strip_prefix("Bearer "));
    if given.is_some_and(|given| is_same(given.trim().as_bytes(), token.as_bytes())) {
        return None;
    }
    let why = "send the console's token: Authorization: Bearer TOKEN\n".to_owned();
    let mut refusal = text(StatusCode::UNAUTHORIZED, why);
    refusal.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    Some(refusal)
}

/// Compares in a time that says nothing of where two texts differ.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differs = one.iter().zip(other).fold(0, |differs, (a, b)| differs | (a ^ b));
    one.len() == other.len() && differs == 0
}

fn text(status: StatusCode, text: String) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(text)));
    *answer.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(header::CONTENT_TYPE, plain);
    answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}
