//! A server of CQL elsewhere that `confirm` sends statements to.

use std::cell::RefCell;
use std::env;
use std::path::Path;

use anyhow::bail;
use shelfmark_confirm::CqlEndpoint;
use shelfmark_cql_protocol::client::{Request, Result as Answered};

use crate::arguments::Connect;
use crate::connect::Session;

/// A server of CQL.
pub(super) struct CqlServer(RefCell<Session>);

impl CqlServer {
    /// Connects, with the login of the environment if there is one.
    pub(super) fn at(url: &str, tls_ca: Option<&Path>) -> anyhow::Result<Self> {
        let server = url.strip_prefix("cql://").unwrap_or(url).trim_end_matches('/').to_owned();
        if server.contains("://") {
            bail!("--endpoint {url}: CQL is reached by host:port or cql://host:port");
        }
        let connect = Connect {
            data: None,
            server,
            user: env::var("CQL_USER").ok(),
            password: env::var("CQL_PASSWORD").ok(),
            password_file: None,
            tls_ca: tls_ca.map(Path::to_path_buf),
            keyspace: None,
        };
        Ok(Self(RefCell::new(Session::open(&connect)?)))
    }
}

impl CqlEndpoint for CqlServer {
    fn run(&self, request: &Request<'_>) -> Result<Answered, String> {
        self.0.borrow_mut().request(request).map_err(|failure| failure.to_string())
    }
}
