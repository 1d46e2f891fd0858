//! The connections that are open, for `system_views.clients`.
//!
//! What it is not: the places that connections wait for, which are the server's.
//!
//! Invariant: a connection is listed from its first byte until it is dropped, and what is kept of
//! what it says of itself is bounded.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use shelfmark_cql_protocol::frame::Version;
use shelfmark_cql_protocol::message::Request;

use super::phase::{Phase, SharedPhase};
use super::send_queue::SendQueue;
use crate::limits::CLIENT_OPTIONS_BYTES_MAX;
use shelfmark_engine::locks::lock;

/// The open connections of a face, and what closed ones did.
#[derive(Default)]
pub(crate) struct Clients {
    open: Mutex<BTreeMap<(SocketAddr, u64), Arc<Record>>>,
    next: AtomicU64,
    closed: Counts,
}

/// Requests by their kind.
#[derive(Debug, Default)]
struct Counts {
    all: AtomicU64,
    queries: AtomicU64,
    executions: AtomicU64,
}

impl Counts {
    fn add(&self, other: &Self) {
        for (own, other) in [
            (&self.all, &other.all),
            (&self.queries, &other.queries),
            (&self.executions, &other.executions),
        ] {
            own.fetch_add(other.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }
}

/// The record of one connection.
struct Record {
    address: SocketAddr,
    phase: SharedPhase,
    send_queue: Arc<SendQueue>,
    counts: Counts,
    said: Mutex<ClientProperties>,
}

/// The properties that a connection told of itself.
#[derive(Debug, Clone, Default)]
struct ClientProperties {
    version: Option<Version>,
    options: Vec<(String, String)>,
    encryption: Option<Encryption>,
}

/// The encryption of a connection.
#[derive(Debug, Clone)]
pub(crate) struct Encryption {
    /// The protocol, such as `TLSv1.3`.
    pub(crate) protocol: String,
    /// The cipher suite by its registered name.
    pub(crate) cipher_suite: String,
}

/// An open connection at this moment.
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    /// In the words of Cassandra's connection stages.
    pub(crate) stage: &'static str,
    pub(crate) user: String,
    pub(crate) keyspace: Option<Arc<str>>,
    pub(crate) version: Version,
    pub(crate) options: Vec<(String, String)>,
    pub(crate) encryption: Option<Encryption>,
    pub(crate) requests: u64,
}

/// Sums over all connections, closed ones included.
pub(crate) struct Totals {
    /// Requests that wait for their answers.
    pub(crate) active: u64,
    /// Requests that were answered.
    pub(crate) completed: u64,
    pub(crate) queries: u64,
    pub(crate) executions: u64,
}

impl Clients {
    fn open(&self) -> MutexGuard<'_, BTreeMap<(SocketAddr, u64), Arc<Record>>> {
        lock(&self.open)
    }

    fn records(&self) -> Vec<Arc<Record>> {
        self.open().values().map(Arc::clone).collect()
    }

    /// Returns the open connections in the order of their addresses.
    pub(crate) fn all(&self) -> Vec<Client> {
        self.records().iter().map(|record| record.now()).collect()
    }

    /// Returns how much was asked for by all connections, closed ones included.
    pub(crate) fn totals(&self) -> Totals {
        let sum = Counts::default();
        sum.add(&self.closed);
        let mut active = 0;
        for record in self.records() {
            sum.add(&record.counts);
            active += record.send_queue.load().requests as u64;
        }
        let Counts { all, queries, executions } = sum;
        Totals {
            active,
            completed: all.into_inner().saturating_sub(active),
            queries: queries.into_inner(),
            executions: executions.into_inner(),
        }
    }
}

impl Record {
    fn said(&self) -> MutexGuard<'_, ClientProperties> {
        lock(&self.said)
    }

    fn now(&self) -> Client {
        let said = self.said().clone();
        let (stage, user) = match self.phase.get() {
            Phase::New => ("established", None),
            Phase::Asked | Phase::Checking => ("authenticating", None),
            Phase::Ready(user) => ("ready", user),
        };
        Client {
            address: self.address,
            stage,
            // Cassandra's name for those who need not log in.
            user: user.map_or_else(|| "anonymous".to_owned(), |user| user.name.to_string()),
            keyspace: self.send_queue.keyspace(),
            version: said.version.unwrap_or(Version::HIGHEST),
            options: said.options,
            encryption: said.encryption,
            requests: self.counts.all.load(Ordering::Relaxed),
        }
    }
}

/// The entry of a connection, which ends with this value.
pub(super) struct Listed {
    clients: Arc<Clients>,
    place: (SocketAddr, u64),
    record: Arc<Record>,
}

impl Listed {
    pub(super) fn new(
        clients: &Arc<Clients>,
        address: SocketAddr,
        phase: &SharedPhase,
        send_queue: &Arc<SendQueue>,
    ) -> Self {
        let place = (address, clients.next.fetch_add(1, Ordering::Relaxed));
        let record = Arc::new(Record {
            address,
            phase: phase.clone(),
            send_queue: Arc::clone(send_queue),
            counts: Counts::default(),
            said: Mutex::default(),
        });
        clients.open().insert(place, Arc::clone(&record));
        Self { clients: Arc::clone(clients), place, record }
    }

    /// Counts a request.
    pub(super) fn count(&self, request: Option<&Request>) {
        let counts = &self.record.counts;
        counts.all.fetch_add(1, Ordering::Relaxed);
        match request {
            Some(Request::Query(_)) => counts.queries.fetch_add(1, Ordering::Relaxed),
            Some(Request::Execute(_)) => counts.executions.fetch_add(1, Ordering::Relaxed),
            _ => 0,
        };
    }

    /// Notes what STARTUP said, as far as there is room for it.
    pub(super) fn started(&self, version: Version, options: &[(String, String)]) {
        let mut bytes = 0;
        let mut kept = Vec::new();
        for (name, value) in options {
            bytes += name.len() + value.len();
            if bytes <= CLIENT_OPTIONS_BYTES_MAX {
                kept.push((name.clone(), value.clone()));
            }
        }
        let mut said = self.record.said();
        (said.version, said.options) = (Some(version), kept);
    }

    /// Notes how the connection is encrypted.
    pub(super) fn encrypted(&self, encryption: Encryption) {
        self.record.said().encryption = Some(encryption);
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.clients.open().remove(&self.place);
        self.clients.closed.add(&self.record.counts);
    }
}
