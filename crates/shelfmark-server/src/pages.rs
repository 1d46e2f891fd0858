//! Restricts which web pages may use an open DynamoDB port.
//!
//! A server on loopback without credentials trusts every program of the machine. A web page is a
//! program of somebody else's that runs in a browser of this machine: what it sends carries the
//! page's origin, and where a foreign name was made to lead here (DNS rebinding) that name as its
//! `Host`. Both are refused unless they were allowed by name. What it is not: authentication. With
//! credentials a signature decides, and every page may try.
//!
//! Invariant: a request that is refused here has had no effect, and its answer cannot be read by the
//! page.

use std::net::IpAddr;

use hyper::HeaderMap;
use hyper::header::{self, HeaderValue};

/// Origins of web pages that may use an open port, such as `http://localhost:3000`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pages {
    origins: Vec<String>,
    all: bool,
}

impl Pages {
    /// Allows these origins; `*` stands for all.
    ///
    /// # Errors
    ///
    /// * The first that is no origin, and what one looks like.
    pub fn of(origins: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Self, String> {
        let mut pages = Self::default();
        for origin in origins {
            let origin = origin.as_ref().trim().trim_end_matches('/').to_ascii_lowercase();
            let host = origin.split_once("://").map(|(_, host)| host);
            if origin == "*" {
                pages.all = true;
            } else if host.is_some_and(|host| !host.is_empty() && !host.contains('/')) {
                pages.origins.push(origin);
            } else {
                return Err(format!(
                    "{origin:?} is no origin: write scheme, host and port as a browser does, such \
                     as http://localhost:3000, or * for all"
                ));
            }
        }
        Ok(pages)
    }

    /// Returns the reason to refuse a request to a port that takes requests without credentials.
    pub(crate) fn refusal(&self, headers: &HeaderMap, on_loopback: bool) -> Option<&'static str> {
        if self.all {
            return None;
        }
        if headers.get(header::ORIGIN).is_some_and(|origin| !self.allows(origin)) {
            return Some(
                "a web page of this origin may not use this server: start it with --cors ORIGIN\n",
            );
        }
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        match host {
            Some(host) if on_loopback && !self.knows(host) => Some(
                "this server is not known by this Host name: use localhost, or start it with --cors \
                 ORIGIN\n",
            ),
            _ => None,
        }
    }

    /// Returns the allowed origin to answer a page with, if it may read answers.
    pub(crate) fn allowed(&self, origin: &HeaderValue) -> Option<HeaderValue> {
        if self.all {
            return Some(HeaderValue::from_static("*"));
        }
        self.allows(origin).then(|| origin.clone())
    }

    fn allows(&self, origin: &HeaderValue) -> bool {
        let origin = origin.to_str().unwrap_or_default().trim_end_matches('/');
        self.origins.iter().any(|own| own.eq_ignore_ascii_case(origin))
    }

    /// Returns true for names that lead to this machine whoever looks them up, and for those in the
    /// allowed origins.
    pub(crate) fn knows(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        name == "localhost"
            || name.ends_with(".localhost")
            || is_of_the_service(name)
            // A page cannot make somebody else's number lead here.
            || name.parse::<IpAddr>().is_ok()
            || self.origins.iter().any(|origin| {
                origin.split_once("://").is_some_and(|(_, own)| own.split(':').next() == Some(name))
            })
    }
}

/// Returns true for the names of the service's own endpoints, which clients keep whose address was put in
/// its place: no page is served under these.
fn is_of_the_service(name: &str) -> bool {
    let Some(rest) = name.strip_suffix(".amazonaws.com").or_else(|| name.strip_suffix(".api.aws"))
    else {
        return false;
    };
    match rest.split('.').collect::<Vec<_>>().as_slice() {
        ["dynamodb" | "dynamodb-fips" | "streams-dynamodb", _] | ["streams", "dynamodb", _] => true,
        [account, "ddb" | "streams-ddb", _] => account.bytes().all(|byte| byte.is_ascii_digit()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(pages: &Pages, origin: Option<&str>, host: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in [(header::ORIGIN, origin), (header::HOST, host)] {
            if let Some(value) = value {
                headers.insert(name, HeaderValue::from_str(value).unwrap());
            }
        }
        pages.refusal(&headers, true).is_some()
    }

    #[test]
    fn programs_are_served_and_pages_are_not() {
        let none = Pages::default();
        for host in ["localhost:8000", "127.0.0.1:8000", "[::1]:8000", "my.localhost", "10.0.0.7"] {
            assert!(!refused(&none, None, Some(host)), "{host}");
        }
        for host in [
            "dynamodb.eu-central-1.amazonaws.com",
            "streams.dynamodb.eu-central-1.amazonaws.com:443",
            "111122223333.ddb.us-east-1.amazonaws.com",
            "dynamodb.us-east-1.api.aws",
        ] {
            assert!(!refused(&none, None, Some(host)), "{host}");
        }
        let others = [
            "dynamodb.amazonaws.com.evil.example",
            "evil.ddb.us-east-1.amazonaws.com",
            "s3.us-east-1.amazonaws.com",
        ];
        for host in others {
            assert!(refused(&none, None, Some(host)), "{host}");
        }
        assert!(!refused(&none, None, None));
        for host in ["evil.example:8000", "localhost.evil.example", "", "dynamodb:8000"] {
            assert!(refused(&none, None, Some(host)), "{host}");
        }
        for origin in ["http://evil.example", "http://localhost:3000", "null"] {
            assert!(refused(&none, Some(origin), Some("localhost:8000")), "{origin}");
        }
    }

    #[test]
    fn what_is_allowed_is_allowed_and_nothing_beside_it() {
        let one = Pages::of(["HTTP://app.test:3000/"]).unwrap();
        assert!(!refused(&one, Some("http://app.test:3000"), Some("localhost:8000")));
        assert!(!refused(&one, Some("http://app.test:3000"), Some("app.test:8000")));
        assert!(refused(&one, Some("http://app.test:3001"), Some("localhost:8000")));
        assert!(refused(&one, Some("https://app.test:3000"), Some("localhost:8000")));
        let all = Pages::of(["*"]).unwrap();
        assert!(!refused(&all, Some("http://any.example"), Some("any.example")));
        for wrong in ["app.test", "http://", "http://a/b", ""] {
            assert!(Pages::of([wrong]).is_err(), "{wrong}");
        }
    }

    /// Checks that any name is accepted beyond loopback, where the name that clients use is not
    /// known.
    #[test]
    fn names_are_free_where_the_port_is_not_on_loopback() {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static("store.internal:8000"));
        assert!(Pages::default().refusal(&headers, false).is_none());
        headers.insert(header::ORIGIN, HeaderValue::from_static("http://evil.example"));
        assert!(Pages::default().refusal(&headers, false).is_some());
    }
}
