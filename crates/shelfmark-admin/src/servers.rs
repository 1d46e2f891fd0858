//! `servers`: the live servers on one store, where each listens, and which of them leads.
//!
//! Each server publishes where it listens and since when; the store knows who is live. What it is not: a
//! check. A server that died is listed until its lease is over.
//!
//! Invariant: a server alone lists itself, also while it cannot reach anything.

use std::net::SocketAddr;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use shelfmark_engine::Engine;
use shelfmark_store::Peer;

use crate::admin::Admin;
use crate::error::Result;
use crate::operation::Operation;
use crate::watch::{Watch, watch_of};

/// The name, among what a server publishes, of what [`announce`] tells.
const FACT: &str = "server";

/// Asks for the live servers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Servers {}

/// The live servers, the one that has been there longest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServersAnswer {
    /// The servers.
    pub servers: Vec<ServerEntry>,
}

/// A live server, or a command that has the store open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerEntry {
    /// The id of the process, in hexadecimal digits; `alone` where a store has one server.
    pub id: String,
    /// True for the server that answers.
    pub this: bool,
    /// True for the one that does the work behind the scenes for all.
    pub leads: bool,
    /// The address for DynamoDB clients.
    pub dynamodb: Option<SocketAddr>,
    /// The address for CQL clients.
    pub cql: Option<SocketAddr>,
    /// The address of the console.
    pub console: Option<SocketAddr>,
    /// The moment since when it listens, in milliseconds since the Unix epoch; none for a command, which
    /// listens nowhere.
    pub since_ms: Option<u64>,
    /// The version of its program.
    pub version: Option<String>,
    /// The time since it renewed its lease, in milliseconds; none where a store has one server.
    pub renewed_ago_ms: Option<u64>,
}

/// The addresses on which a server listens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerAddresses {
    /// For DynamoDB clients.
    pub dynamodb: Option<SocketAddr>,
    /// For CQL clients.
    pub cql: Option<SocketAddr>,
    /// For whoever runs it.
    pub console: Option<SocketAddr>,
}

/// The part of a server's record that it tells of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServerFacts {
    addresses: ServerAddresses,
    since_ms: u64,
    version: String,
}

/// Tells the other servers on the store, and `watch`, where this one listens from now on.
///
/// # Errors
///
/// * Those of the store: the others hear of it with the next renewal of the lease.
pub fn announce(engine: &Engine, watch: Option<&Watch>, addresses: ServerAddresses) -> Result<()> {
    let facts = ServerFacts {
        addresses,
        since_ms: engine.environment().clock.now_micros() / 1_000,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let told = Bytes::from(serde_json::to_vec(&facts)?);
    if let Some(watch) = watch {
        watch.set_serves(facts);
    }
    match engine.store().peers() {
        Some(peers) => Ok(peers.publish(FACT, told)?),
        None => Ok(()),
    }
}

impl Operation for Servers {
    const NAME: &'static str = "servers";
    type Answer = ServersAnswer;

    fn run(self, admin: &Admin) -> Result<ServersAnswer> {
        let watch = watch_of(admin)?;
        let Some(peers) = admin.engine().store().peers() else {
            let alone = Self::entry("alone".to_owned(), watch.serves());
            let servers = vec![ServerEntry { this: true, leads: true, ..alone }];
            return Ok(ServersAnswer { servers });
        };
        let live = peers.live()?;
        let least = live.iter().map(|peer| peer.id).min();
        let entry = |peer: &Peer| {
            // A record that a newer program wrote otherwise is that of a server all the same.
            let facts = peer.fact(FACT).and_then(|fact| serde_json::from_slice(fact).ok());
            ServerEntry {
                this: peer.id == peers.id(),
                leads: Some(peer.id) == least,
                renewed_ago_ms: Some(
                    u64::try_from(peer.renewed_ago.as_millis()).unwrap_or(u64::MAX),
                ),
                ..Self::entry(format!("{:016x}", peer.id), facts.as_ref())
            }
        };
        Ok(ServersAnswer { servers: live.iter().map(entry).collect() })
    }
}

impl Servers {
    fn entry(id: String, facts: Option<&ServerFacts>) -> ServerEntry {
        let addresses = facts.map(|own| own.addresses).unwrap_or_default();
        ServerEntry {
            id,
            this: false,
            leads: false,
            dynamodb: addresses.dynamodb,
            cql: addresses.cql,
            console: addresses.console,
            since_ms: facts.map(|own| own.since_ms),
            version: facts.map(|own| own.version.clone()),
            renewed_ago_ms: None,
        }
    }
}
