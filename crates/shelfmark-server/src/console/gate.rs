//! Decides who may use the console's port.
//!
//! Without a token every program of this machine may, and a web page may not: what it sends carries its
//! origin, or a `Host` that is no name of this machine. With a token every request proves that it knows
//! it, as `Authorization: Bearer` or by the cookie that `POST /login` gave; then any `Host` will do, for
//! no browser sends the cookie of one name to another. An `Origin` must always be this server's own: a
//! page of another port of this machine would carry the cookie.
//!
//! What it is not: rights. Who is admitted may do everything.
//!
//! Invariant: the cookie is a secret of this process, never the token itself: it goes to every port of
//! the same host name, and ends with the process.

use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use serde::Deserialize;
use shelfmark_admin::http::{COOKIE, Site};
use shelfmark_engine::Random;

use super::{Answer, text};
use crate::pages::Pages;

/// The path that takes the token.
pub(super) const LOGIN: &str = "/login";

/// The rules of one port.
pub(super) struct Gate {
    token: Option<String>,
    /// The content of the cookie.
    session: String,
    on_loopback: bool,
}

/// The body of a login.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Login {
    token: String,
}

impl Gate {
    pub(super) fn new(token: Option<String>, on_loopback: bool, random: &dyn Random) -> Self {
        let mut bytes = [0; 32];
        random.fill(&mut bytes);
        let session = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { token, session, on_loopback }
    }

    pub(super) fn asks_for_token(&self) -> bool {
        self.token.is_some()
    }

    /// Returns the reason to refuse a request that a web page of another origin made.
    pub(super) fn foreign(&self, headers: &HeaderMap) -> Option<&'static str> {
        let host = text_of(headers, &header::HOST);
        if let Some(host) = host
            && self.token.is_none()
            && self.on_loopback
            && !Pages::default().knows(host)
        {
            return Some(
                "the console is not known by this Host name: use localhost, or give it a token \
                 (--console-token-file FILE)\n",
            );
        }
        if let Some(origin) = headers.get(header::ORIGIN) {
            let own = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
            let is_own =
                own.is_some_and(|(_, own)| host.is_some_and(|h| h.eq_ignore_ascii_case(own)));
            if !is_own {
                return Some("a web page of another origin may not use the console\n");
            }
        }
        // Scripts and pictures of a foreign page carry no origin; a link that a person follows may.
        let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        let is_foreign = matches!(site, Some(b"cross-site" | b"same-site"));
        let mode = headers.get("sec-fetch-mode").map(HeaderValue::as_bytes);
        (is_foreign && mode != Some(b"navigate"))
            .then_some("a web page of another origin may not use the console\n")
    }

    /// Returns true if a request proves that it knows the token, or none is asked for.
    pub(super) fn admits(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let given = text_of(headers, &header::AUTHORIZATION);
        if let Some(given) = given.and_then(|value| value.strip_prefix("Bearer ")) {
            return is_same(given.trim(), token);
        }
        let cookies = headers.get_all(header::COOKIE).into_iter();
        let cookies = cookies.filter_map(|value| value.to_str().ok());
        let mut cookies = cookies.flat_map(|value| value.split(';')).map(str::trim);
        cookies.any(|cookie| {
            let value = cookie.strip_prefix(COOKIE).and_then(|rest| rest.strip_prefix('='));
            value.is_some_and(|value| is_same(value, &self.session))
        })
    }

    /// Answers a login: the cookie for the token.
    pub(super) fn login(&self, body: &[u8]) -> Answer {
        let Ok(Login { token: given }) = serde_json::from_slice(body) else {
            let why = "log in with {\"token\": \"…\"}\n";
            return text(StatusCode::BAD_REQUEST, why.to_owned());
        };
        if self.token.as_ref().is_some_and(|token| !is_same(given.trim(), token)) {
            return text(StatusCode::UNAUTHORIZED, "this is not the console's token\n".to_owned());
        }
        let mut answer = text(StatusCode::NO_CONTENT, String::new());
        let cookie = format!("{COOKIE}={}; Path=/; HttpOnly; SameSite=Strict", self.session);
        if let Ok(cookie) = HeaderValue::from_str(&cookie) {
            answer.headers_mut().insert(header::SET_COOKIE, cookie);
        }
        answer
    }
}

/// Asks for the token: a browser by the page for it, a program by a status.
pub(super) fn ask_for_token(site: Option<&dyn Site>, head: &Parts) -> Answer {
    let wants_page = head.method == Method::GET
        && text_of(&head.headers, &header::ACCEPT).is_some_and(|kinds| kinds.contains("text/html"));
    if wants_page && let Some(path) = site.and_then(Site::login_path) {
        let mut answer = text(StatusCode::SEE_OTHER, String::new());
        if let Ok(path) = HeaderValue::from_str(path) {
            answer.headers_mut().insert(header::LOCATION, path);
        }
        return answer;
    }
    let why = "send the console's token: Authorization: Bearer TOKEN\n".to_owned();
    let mut refusal = text(StatusCode::UNAUTHORIZED, why);
    refusal.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    refusal
}

fn text_of<'h>(headers: &'h HeaderMap, name: &header::HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Compares in a time that says nothing of where two texts differ.
fn is_same(one: &str, other: &str) -> bool {
    let pairs = one.bytes().zip(other.bytes());
    let differs = pairs.fold(0, |differs, (a, b)| differs | (a ^ b));
    one.len() == other.len() && differs == 0
}

#[cfg(test)]
mod tests {
    use shelfmark_engine::SeededRandom;

    use super::*;

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &str)| {
            (header::HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        };
        all.iter().map(pair).collect()
    }

    fn gate(token: Option<&str>) -> Gate {
        Gate::new(token.map(str::to_owned), true, &SeededRandom::new(1))
    }

    #[test]
    fn pages_of_other_origins_are_refused_and_the_own_ones_are_not() {
        let open = gate(None);
        let own = ("host", "localhost:8080");
        assert!(open.foreign(&headers(&[own])).is_none());
        assert!(open.foreign(&headers(&[own, ("origin", "http://localhost:8080")])).is_none());
        assert!(open.foreign(&headers(&[("host", "evil.example")])).is_some());
        for origin in ["http://localhost:8081", "http://evil.example", "null", "localhost:8080"] {
            for token in [None, Some("t")] {
                let found = gate(token).foreign(&headers(&[own, ("origin", origin)]));
                assert!(found.is_some(), "{origin}");
            }
        }
        // Where a foreign name leads here, name and origin agree.
        let rebound = [("host", "evil.example:8080"), ("origin", "http://evil.example:8080")];
        assert!(open.foreign(&headers(&rebound)).is_some());
        let picture = [own, ("sec-fetch-site", "same-site"), ("sec-fetch-mode", "no-cors")];
        assert!(open.foreign(&headers(&picture)).is_some());
        let link = [own, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
        assert!(open.foreign(&headers(&link)).is_none());
    }

    #[test]
    fn the_cookie_admits_and_is_not_the_token() {
        let gate = gate(Some("0123456789abcdef"));
        assert!(!gate.admits(&headers(&[])));
        assert!(gate.admits(&headers(&[("authorization", "Bearer 0123456789abcdef")])));
        assert_eq!(gate.login(b"{\"token\":\"0123456789abcdeg\"}").status(), 401);
        assert_eq!(gate.login(b"token").status(), 400);
        let answer = gate.login(b"{\"token\":\"0123456789abcdef\"}");
        let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
        assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
        assert!(!cookie.contains("0123456789abcdef"), "{cookie}");
        let sent = format!("theme=dark; {}", cookie.split(';').next().unwrap());
        assert!(gate.admits(&headers(&[("cookie", &sent)])));
        assert!(!gate.admits(&headers(&[("cookie", &sent[..sent.len() - 1])])));
        assert!(!gate.admits(&headers(&[("cookie", "shelfmark_console=")])));
    }
}
