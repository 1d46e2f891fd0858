//! An answer as it is sent: status, headers, body.
//!
//! Invariant: every answer has the policy under which a page runs no script and loads nothing but
//! the console's own.

use bytes::Bytes;
use maud::Markup;

/// The policy of every page: it loads from the console alone and sends forms there. Pictures of models
/// are shown from memory (`blob:`).
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: \
    data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// An answer.
#[derive(Debug, Clone)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// The content type.
    pub kind: &'static str,
    /// Names and values of further headers.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Bytes,
}

impl Response {
    fn new(status: u16, kind: &'static str, body: impl Into<Bytes>) -> Self {
        let headers = [
            ("cache-control", "no-store"),
            ("content-security-policy", POLICY),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ];
        let headers = headers.map(|(name, value)| (name, value.to_owned())).to_vec();
        Self { status, kind, headers, body: body.into() }
    }

    pub(crate) fn html(status: u16, markup: Markup) -> Self {
        Self::new(status, "text/html; charset=utf-8", markup.into_string())
    }

    pub(crate) fn json(status: u16, value: &serde_json::Value) -> Self {
        Self::new(status, "application/json", value.to_string())
    }

    pub(crate) fn text(text: String) -> Self {
        Self::new(200, "text/plain; charset=utf-8", text)
    }

    /// Returns a file that is part of the command, which browsers may keep: its address changes with
    /// its content.
    pub(crate) fn asset(kind: &'static str, text: &'static str) -> Self {
        let mut response = Self::new(200, kind, text);
        response.headers.retain(|(name, _)| *name != "cache-control");
        response.headers.push(("cache-control", "public, max-age=31536000, immutable".to_owned()));
        response
    }

    /// Sends the browser to another page.
    pub(crate) fn to(target: &str) -> Self {
        let mut response = Self::new(303, "text/plain; charset=utf-8", "");
        response.headers.push(("location", target.to_owned()));
        response
    }

    /// Returns the value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| *own == name).map(|(_, value)| value.as_str())
    }
}
