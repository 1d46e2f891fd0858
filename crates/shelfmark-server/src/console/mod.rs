//! The port for whoever runs the server: health, readiness, metrics, the operations of `shelfmark-admin`
//! and the pages of the console, over HTTP/1.1.
//!
//! Paths: `GET /health`, `/ready`, `/metrics`; `POST /api/v1/NAME` the operations; `POST /login` gives a
//! browser the cookie for the token; everything else is the [`Site`]'s.
//!
//! What it is not: a face. It knows no operation and no page; whoever handles them runs on threads that
//! may wait ([`handle`]).
//!
//! Invariant: who is answered is a program on this machine or has the token ([`gate`]); a web page of
//! another origin is neither.

mod body;
mod gate;
mod handle;
mod health;
mod metrics;
mod watching;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use shelfmark_admin::http::Site;
use shelfmark_admin::{Admin, Watch};
use shelfmark_engine::Environment;
use shelfmark_engine::budget::{Budget, Client};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, watch};

use crate::limits::STALL_TIME_MAX;
use crate::pool::{Pool, PoolSize};
use crate::stalled::Stalled;
use body::Body;
use gate::Gate;

pub(crate) use metrics::install;
pub use watching::cql_watcher;
pub(crate) use watching::{EndedOperation, ended};

/// Connections at once; whoever watches needs few.
const CONNECTIONS_MAX: usize = 64;
/// The longest time for a request's head, and between two requests of a connection.
const HEAD_MAX: Duration = Duration::from_secs(10);
/// Requests of the console that run at once; each keeps a thread.
const RUNNING_MAX: usize = 16;

/// The settings of the console's port.
pub struct ConsoleSettings {
    /// The address.
    pub address: SocketAddr,
    /// The token that requests carry as `Authorization: Bearer` or, from `POST /login` on, as a cookie;
    /// `None` asks for none.
    pub token: Option<String>,
    /// The operations, over the engine that is watched.
    pub admin: Admin,
    /// The pages, if there are any.
    pub site: Option<Arc<dyn Site>>,
}

/// The state that all requests share.
pub(crate) struct Console {
    gate: Gate,
    admin: Admin,
    site: Option<Arc<dyn Site>>,
    budget: Arc<Budget>,
    pool: Pool,
}

impl Console {
    /// Creates the state; within the runtime.
    pub(crate) fn new(settings: ConsoleSettings, budget: Arc<Budget>) -> Self {
        let size = PoolSize {
            computing: 1,
            begun: 1,
            waiting: RUNNING_MAX,
            logins: 1,
            queued: CONNECTIONS_MAX,
        };
        let random = &settings.admin.engine().environment().random;
        let on_loopback = settings.address.ip().is_loopback();
        Self {
            gate: Gate::new(settings.token, on_loopback, &**random),
            admin: settings.admin,
            site: settings.site,
            budget,
            pool: Pool::new(size, Handle::current()),
        }
    }
}

impl Console {
    /// Returns what the server notes for whoever looks, and the clock for it.
    pub(crate) fn watch(&self) -> Option<(Watch, Environment)> {
        Some((self.admin.watch()?.clone(), self.admin.engine().environment().clone()))
    }
}

type Answer = Response<Body>;

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
            _ = stopped.changed() => break,
        };
        let Ok((stream, address)) = accepted else {
            // The system is short of something; it passes.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        // Nobody waits for a place: who comes now is told nothing.
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
        let (console, stopped) = (Arc::clone(&console), stopped.clone());
        tokio::spawn(async move {
            serve(stream, address, console, stopped).await;
            drop(place);
        });
    }
    // What runs ends with the store or the process; nothing begins any more.
    let _ = console.pool.stop(Duration::ZERO);
}

async fn serve(
    stream: TcpStream,
    address: SocketAddr,
    console: Arc<Console>,
    mut stopped: watch::Receiver<bool>,
) {
    // Who is asked for no token is known.
    let client = console.budget.client(address.ip(), !console.gate.asks_for_token());
    let service = service_fn(move |request: Request<Incoming>| {
        let (console, client) = (Arc::clone(&console), client.clone());
        async move { Ok::<_, Infallible>(answer(&console, &client, request).await) }
    });
    let stream = Stalled::new(stream, STALL_TIME_MAX);
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
    }
}

async fn answer(console: &Arc<Console>, client: &Client, request: Request<Incoming>) -> Answer {
    let mut answer = routed(console, client, request).await;
    let headers = answer.headers_mut();
    for (name, value) in GUARDS {
        if !headers.contains_key(&name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    answer
}

/// Headers that every answer has unless its handler says otherwise: nothing is kept, framed, taken for
/// another type or read by pages of other origins.
const GUARDS: [(HeaderName, &str); 6] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
];

async fn routed(console: &Arc<Console>, client: &Client, request: Request<Incoming>) -> Answer {
    let (head, body) = request.into_parts();
    let path = head.uri.path();
    let is_post = head.method == Method::POST;
    if let Some(refusal) = console.gate.foreign(&head.headers) {
        return text(StatusCode::FORBIDDEN, refusal.to_owned());
    }
    if !is_post && !matches!(head.method, Method::GET | Method::HEAD) {
        let mut refusal =
            text(StatusCode::METHOD_NOT_ALLOWED, "the console takes GET and POST\n".to_owned());
        refusal.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD, POST"));
        return refusal;
    }
    if is_post && path == gate::LOGIN {
        return match handle::body_of(client, &head.headers, body).await {
            Ok(body) => console.gate.login(&body),
            Err(refusal) => refusal,
        };
    }
    let is_admitted = console.gate.admits(&head.headers);
    let site = console.site.as_deref();
    if !is_admitted && !site.is_some_and(|site| site.is_public(path)) {
        return gate::ask_for_token(site, &head);
    }
    match path {
        "/health" if !is_post => health::health(console, &head.headers).await,
        "/ready" if !is_post => health::ready(console.admin.engine()),
        "/metrics" if !is_post => metrics::scraped(&console.admin, &console.budget),
        "/" if site.is_none() => text(StatusCode::OK, LIST.to_owned()),
        _ => {
            if is_admitted {
                client.admit();
            }
            handle::handled(console, client, head, body, is_admitted).await
        }
    }
}

/// The paths, where there are no pages.
const LIST: &str = "/health\n/ready\n/metrics\n/api/v1/\n";

fn text(status: StatusCode, text: String) -> Answer {
    let mut answer = Response::new(Body::whole(Bytes::from(text)));
    *answer.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(header::CONTENT_TYPE, plain);
    answer
}
