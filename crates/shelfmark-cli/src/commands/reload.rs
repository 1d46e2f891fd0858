//! Reads again, on SIGHUP, what may change under a running server: the log's levels, the keys of
//! DynamoDB's clients, certificates.
//!
//! What it is not: a restart. Addresses, folders and memory stay; so does whether clients are asked who
//! they are, and the password of CQL's first role.
//!
//! Invariant: what cannot be read is left as it was, and the log says so.

use std::path::Path;
use std::sync::Arc;

use shelfmark_dynamo as dynamo;
use shelfmark_server::Tls;

use super::serve::tls;
use super::settings::{self, Config};
use crate::arguments::Serve;
use crate::credentials;
use crate::log::Reloader;

/// The parts of a running server that are read again.
pub(crate) struct Reload {
    pub(crate) flags: Serve,
    pub(crate) log: Reloader,
    pub(crate) dynamodb: Arc<dynamo::Face>,
    pub(crate) dynamodb_tls: Option<Tls>,
    pub(crate) cql_tls: Option<Tls>,
}

impl Reload {
    /// Reads everything again.
    pub(crate) fn run(&self) {
        let config = match settings::of(&self.flags) {
            Ok(settings) => settings.config,
            Err(error) => return tracing::error!("the settings stay as they were: {error:#}"),
        };
        told("the log's levels", self.log.set(config.log.as_deref()));
        told("the credentials", self.credentials(&config));
        let files = (&config.dynamodb_tls_certificate, &config.dynamodb_tls_key);
        let of_dynamodb = (&self.dynamodb_tls, (files.0.as_deref(), files.1.as_deref()));
        told("the certificate for DynamoDB clients", certificate("dynamodb", of_dynamodb));
        let files = (&config.cql_tls_certificate, &config.cql_tls_key);
        let of_cql = (&self.cql_tls, (files.0.as_deref(), files.1.as_deref()));
        told("the certificate for CQL clients", certificate("cql", of_cql));
    }

    fn credentials(&self, config: &Config) -> anyhow::Result<bool> {
        if self.dynamodb.asks_for_credentials() != config.credentials.is_some() {
            anyhow::bail!("whether clients are asked for credentials changes with a restart alone");
        }
        let Some(path) = &config.credentials else { return Ok(false) };
        self.dynamodb.replace_credentials(credentials::read(path)?);
        Ok(true)
    }
}

fn certificate(
    face: &str,
    (own, (chain, key)): (&Option<Tls>, (Option<&Path>, Option<&Path>)),
) -> anyhow::Result<bool> {
    match (own, tls(face, chain, key)?) {
        (Some(own), Some(new)) => {
            own.replace(&new);
            Ok(true)
        }
        (None, None) => Ok(false),
        _ => anyhow::bail!("whether connections are encrypted changes with a restart alone"),
    }
}

/// Logs the outcome; false for nothing to read.
fn told(what: &str, outcome: anyhow::Result<bool>) {
    match outcome {
        Ok(true) => tracing::info!("{what} were read again"),
        Ok(false) => {}
        Err(error) => tracing::error!("{what} stay as they were: {error:#}"),
    }
}
