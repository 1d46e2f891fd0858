//! The console's pages: tables, rows, requests and models, for a person with a browser.
//!
//! A function from a [`Request`] to a [`Response`] over an engine and its faces. What it is not: it
//! has no socket and checks no token, origin or host; who serves it does that first, so every request
//! that comes here may do everything.
//!
//! Invariant: text from data becomes character data, never markup; no page loads anything from
//! elsewhere or has an inline script or style; no request reads more of a table than a page of rows
//! or a bounded number of samples.

mod ask;
mod assets;
mod fault;
mod fields;
mod figures;
mod key_line;
mod layout;
pub mod limits;
mod models;
mod request;
mod response;
mod route;
mod rows;
mod server;
mod site;
mod tables;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use shelfmark_admin::Watch;
use shelfmark_admin::http::Request;
use shelfmark_cql as cql;
use shelfmark_dynamo as dynamo;
use shelfmark_engine::Engine;

pub use response::Response;

/// The pages over one engine and its faces. Shared by all browsers.
pub struct Console {
    /// Reads tables of every face.
    pub(crate) engine: Engine,
    pub(crate) dynamodb: Arc<dynamo::Face>,
    pub(crate) cql: Arc<cql::Face>,
    /// Held by long computations over models, of which one runs at a time.
    pub(crate) workbench: models::Workbench,
    /// The notes of a running server; none where the pages are all there is.
    pub(crate) watch: Option<Watch>,
}

impl Console {
    /// Creates the pages. `engine` is the plain one, of no owner.
    #[must_use]
    pub fn new(engine: Engine, dynamodb: Arc<dynamo::Face>, cql: Arc<cql::Face>) -> Self {
        Self { engine, dynamodb, cql, workbench: models::Workbench::default(), watch: None }
    }

    /// Returns the same pages, which show what a running server notes.
    #[must_use]
    pub fn watching(self, watch: Watch) -> Self {
        Self { watch: Some(watch), ..self }
    }

    /// Answers a request, on this thread, which may take as long as a page of rows or a proof.
    #[must_use]
    pub fn answer(&self, request: &Request) -> Response {
        route::answer(self, request)
    }

    /// Returns the time since some fixed moment.
    pub(crate) fn now(&self) -> Duration {
        self.engine.environment().clock.monotonic()
    }
}
