//! The clients of one cluster, taken in turns.
//!
//! One client has one connection to each store, which is soon the narrowest place; several share
//! the work. What it is not: a judge of errors (`retry`).
//!
//! Invariant: a client that no longer finds the cluster is replaced, so that a store outlives
//! every restart of its cluster.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use shelfmark_store::{Error, ErrorKind, Result};
use tikv_client::{Config, TransactionClient};

use crate::options::Options;

/// Largest message that a client takes, in bytes: a page of the largest values.
const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The clients of a cluster.
pub(crate) struct Clients {
    placement: Vec<String>,
    config: Config,
    clients: RwLock<Vec<Arc<TransactionClient>>>,
    next: AtomicUsize,
}

impl Clients {
    /// Connects to the cluster.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Unavailable`]: no placement driver answers, or its certificate is not trusted.
    pub(crate) async fn connect(options: &Options) -> Result<Self> {
        let mut config = Config::default()
            .with_timeout(options.patience)
            .with_grpc_max_decoding_message_size(MESSAGE_BYTES_MAX);
        if let Some(tls) = &options.tls {
            config = config.with_security(&tls.authority, &tls.certificate, &tls.key);
        }
        let clients = Self {
            placement: options.placement.clone(),
            config,
            clients: RwLock::default(),
            next: AtomicUsize::new(0),
        };
        let mut connected = Vec::new();
        for _ in 0..options.connections.max(1) {
            connected.push(clients.connected().await?);
        }
        *clients.clients.write().unwrap_or_else(PoisonError::into_inner) = connected;
        Ok(clients)
    }

    /// Returns the next client.
    pub(crate) fn next(&self) -> Arc<TransactionClient> {
        let clients = self.clients.read().unwrap_or_else(PoisonError::into_inner);
        let turn = self.next.fetch_add(1, Ordering::Relaxed) % clients.len().max(1);
        #[expect(clippy::indexing_slicing, reason = "a store has at least one client")]
        Arc::clone(&clients[turn])
    }

    /// Replaces every client by a new one, for when the old ones no longer find the cluster.
    pub(crate) async fn renew(&self) -> Result<()> {
        let fresh = self.connected().await?;
        let mut clients = self.clients.write().unwrap_or_else(PoisonError::into_inner);
        for client in clients.iter_mut() {
            *client = Arc::clone(&fresh);
        }
        Ok(())
    }

    async fn connected(&self) -> Result<Arc<TransactionClient>> {
        let client =
            TransactionClient::new_with_config(self.placement.clone(), self.config.clone()).await;
        client.map(Arc::new).map_err(|error| {
            let places = self.placement.join(", ");
            let message = format!("no placement driver answers at {places}: {error}");
            Error::new(ErrorKind::Unavailable, message).with_source(error)
        })
    }
}
