//! The pages as the console's port serves them.

use shelfmark_admin::http::{Answer, Request, Site};

use crate::Console;

/// The page that a browser without the token is sent to.
const SIGN_IN: &str = "/sign-in";

impl Site for Console {
    fn answer(&self, request: &Request) -> Answer {
        let response = Console::answer(self, request);
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
