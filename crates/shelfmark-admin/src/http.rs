//! Requests and answers of the console's port, as its handlers see them.
//!
//! The server reads them from the socket, checks who asks, and bounds the body; a handler returns an
//! [`Answer`]. What it is not: HTTP. Framing, cookies, `Host` and `Origin` are the server's.
//!
//! Invariant: a handler runs on a thread that may wait, and sees only requests that were admitted, but for
//! paths that a [`Site`] calls public.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;
use serde::Serialize;

/// The path below which the operations lie: `POST /api/v1/NAME`.
pub const API: &str = "/api/v1/";

/// The name of the cookie that a browser has after `POST /login`.
pub const COOKIE: &str = "shelfmark_console";

/// The content type of JSON.
pub const JSON: &str = "application/json";

/// The method of a request; others never reach a handler. A `HEAD` arrives as a `GET`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads a page or a file; it has no body.
    Get,
    /// Asks or changes something; the body is JSON.
    Post,
}

/// A request to the console's port.
#[derive(Debug, Clone)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The path, as it was sent: not decoded.
    pub path: String,
    /// The part behind `?`, as it was sent.
    pub query: Option<String>,
    /// The body of a `POST`.
    pub body: Bytes,
    /// True unless the path is public and nobody proved who they are.
    pub is_admitted: bool,
    /// Set once nobody waits for the answer any more: long work ends then.
    pub has_gone: Arc<AtomicBool>,
}

impl Request {
    /// Creates an admitted request to read a path, with a query or without.
    #[must_use]
    pub fn get(target: &str) -> Self {
        let (path, query) = target
            .split_once('?')
            .map_or((target, None), |(path, query)| (path, Some(query.to_owned())));
        Self {
            method: Method::Get,
            path: path.to_owned(),
            query,
            body: Bytes::new(),
            is_admitted: true,
            has_gone: Arc::default(),
        }
    }

    /// Creates an admitted request with a body.
    #[must_use]
    pub fn post(target: &str, body: impl Into<Bytes>) -> Self {
        Self { method: Method::Post, body: body.into(), ..Self::get(target) }
    }
}

/// Headers behind the body of a long answer: what is only known at its end.
pub type Trailers = Vec<(&'static str, String)>;

/// Writes the body of a long answer piece by piece; an error cuts the connection off, so that the client
/// takes no half for the whole.
pub type Writer = Box<dyn FnOnce(&mut dyn io::Write) -> io::Result<Trailers> + Send>;

/// The body of an answer.
pub enum Body {
    /// A body that is there.
    Whole(Bytes),
    /// A body that is written while it is sent, on the thread of the handler.
    Written(Writer),
}

/// An answer of the console's port.
pub struct Answer {
    /// The status code of HTTP.
    pub status: u16,
    /// The content type.
    pub content_type: &'static str,
    /// Further headers, such as `content-security-policy`; they replace those of the server.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Body,
}

impl Answer {
    /// Returns an answer with a body of this type.
    #[must_use]
    pub fn new(status: u16, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self { status, content_type, headers: Vec::new(), body: Body::Whole(body.into()) }
    }

    /// Returns an answer in plain text.
    #[must_use]
    pub fn text(status: u16, text: impl Into<String>) -> Self {
        Self::new(status, "text/plain; charset=utf-8", text.into())
    }

    /// Returns an answer in JSON.
    #[must_use]
    pub fn json(status: u16, value: &impl Serialize) -> Self {
        match serde_json::to_vec(value) {
            Ok(body) => Self::new(status, JSON, body),
            Err(error) => Self::text(500, format!("the answer cannot be written: {error}\n")),
        }
    }

    /// Returns a long answer that is written while it is sent.
    #[must_use]
    pub fn written(content_type: &'static str, writer: Writer) -> Self {
        Self { status: 200, content_type, headers: Vec::new(), body: Body::Written(writer) }
    }

    /// Returns the answer with a further header.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// The pages behind the console's port: every path but the operations, `/health`, `/ready`, `/metrics`
/// and `POST /login`.
pub trait Site: Send + Sync {
    /// Answers a request; may wait and compute.
    fn answer(&self, request: &Request) -> Answer;

    /// Returns true for paths that are answered without the token: the page that asks for it, and what
    /// that page loads. None unless said otherwise.
    fn is_public(&self, path: &str) -> bool {
        let _ = path;
        false
    }

    /// Returns the path of the page that asks for the token, where a browser without one is sent.
    fn login_path(&self) -> Option<&str> {
        None
    }
}
