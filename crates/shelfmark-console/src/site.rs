//! The pages as the console's port serves them.

use shelfmark_admin::http::{Answer, Method as SentMethod, Request as Sent, Site};

use crate::Console;
use crate::request::{Method, Request};

/// The page that a browser without the token is sent to.
const SIGN_IN: &str = "/sign-in";

impl Site for Console {
    fn answer(&self, sent: &Sent) -> Answer {
        let request = Request {
            method: match sent.method {
                SentMethod::Get => Method::Get,
                SentMethod::Post => Method::Post,
            },
            path: sent.path.clone(),
            query: sent.query.clone().unwrap_or_default(),
            body: sent.body.clone(),
            has_gone: std::sync::Arc::clone(&sent.has_gone),
        };
        let response = Console::answer(self, &request);
        let mut answer = Answer::new(response.status, response.kind, response.body);
        answer.headers = response.headers;
        answer
    }

    fn is_public(&self, path: &str) -> bool {
        path == SIGN_IN || path.starts_with("/assets/")
    }

    fn login_path(&self) -> Option<&str> {
        Some(SIGN_IN)
    }
}
