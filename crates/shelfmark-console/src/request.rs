//! A request as the pages see it: method, path, fields, body.
//!
//! Invariant: paths and fields are decoded once, here; whatever is too long or no UTF-8 is refused.

use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::fault::{Fault, Result};
use crate::fields::Fields;
use crate::limits::{BODY_BYTES_MAX, QUERY_BYTES_MAX};

/// The methods that the pages know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads; changes nothing.
    Get,
    /// Runs what a person asked for.
    Post,
}

/// A request, whose sender was let in.
#[derive(Debug, Clone)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The path as it was sent.
    pub path: String,
    /// The query as it was sent, without its question mark.
    pub query: String,
    /// The body.
    pub body: Bytes,
    /// Set once the browser has gone: long reads end then.
    pub has_gone: Arc<AtomicBool>,
}

impl Request {
    /// Creates a request to read a path, with a query or without.
    #[must_use]
    pub fn get(target: &str) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Self {
            method: Method::Get,
            path: path.to_owned(),
            query: query.to_owned(),
            body: Bytes::new(),
            has_gone: Arc::default(),
        }
    }

    /// Creates a request with a body.
    #[must_use]
    pub fn post(target: &str, body: impl Into<Bytes>) -> Self {
        Self { method: Method::Post, body: body.into(), ..Self::get(target) }
    }

    /// Returns the fields of the query.
    ///
    /// # Errors
    ///
    /// * 400: it is too long, or no UTF-8.
    pub(crate) fn fields(&self) -> Result<Fields> {
        if self.query.len() > QUERY_BYTES_MAX {
            return Err(Fault::bad(format!("a query has at most {QUERY_BYTES_MAX} bytes")));
        }
        Fields::parse(&self.query)
    }

    /// Returns the body's JSON object.
    ///
    /// # Errors
    ///
    /// * 400, 413: it is too long, or no object.
    pub(crate) fn json(&self) -> Result<serde_json::Map<String, serde_json::Value>> {
        if self.body.len() > BODY_BYTES_MAX {
            return Err(Fault::too_large(format!("a body has at most {BODY_BYTES_MAX} bytes")));
        }
        match serde_json::from_slice(&self.body) {
            Ok(serde_json::Value::Object(fields)) => Ok(fields),
            Ok(_) => Err(Fault::bad("the body is a JSON object")),
            Err(error) => Err(Fault::bad(format!("the body is no JSON: {error}"))),
        }
    }
}

/// Returns the text field of a JSON object, or nothing if it is absent.
pub(crate) fn text_of<'j>(
    object: &'j serde_json::Map<String, serde_json::Value>,
    name: &str,
) -> &'j str {
    object.get(name).and_then(serde_json::Value::as_str).unwrap_or("")
}
