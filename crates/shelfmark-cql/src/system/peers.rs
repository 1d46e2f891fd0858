//! The other servers on the same store, for drivers that balance over them.
//!
//! Each server publishes where clients reach it. What it is not: a ring. Every server answers for every
//! key, so the tokens that one names only spread requests.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use bytes::Bytes;
use md5::{Digest as _, Md5};
use shelfmark_engine::{Engine, Peer};

use super::local::{Node, RELEASE_VERSION};
use super::value::Cells;
use super::value::{bytes, inet, int, text, texts};
use crate::schema::Schema;

/// The name of a server's address in what it publishes.
const FACT: &str = "cql";

/// Publishes where clients reach this server, where others share its store.
///
/// # Errors
///
/// * Those of the store: the others do not know of this server until it is called again.
pub(crate) fn publish(engine: &Engine, address: SocketAddr) -> shelfmark_engine::Result<()> {
    let Some(peers) = engine.store().peers() else { return Ok(()) };
    Ok(peers.publish(FACT, Bytes::from(address.to_string()))?)
}

/// Returns where clients reach the servers that say so.
pub(crate) fn addresses(servers: &[Peer]) -> BTreeSet<SocketAddr> {
    servers.iter().filter_map(address).collect()
}

fn address(server: &Peer) -> Option<SocketAddr> {
    std::str::from_utf8(server.fact(FACT)?).ok()?.parse().ok()
}

/// Returns a number of 128 bits for something of a server.
pub(super) fn hash_of(node: &Node, server: u64, what: u32) -> [u8; 16] {
    Md5::new()
        .chain_update(node.cluster_name())
        .chain_update(server.to_be_bytes())
        .chain_update(what.to_be_bytes())
        .finalize()
        .into()
}

/// Returns the rows of `system.peers`, or of `system.peers_v2`: one for each other live server.
pub(super) fn rows(node: &Node, engine: &Engine, schema: &Schema, with_ports: bool) -> Vec<Cells> {
    let Some(peers) = engine.store().peers() else { return Vec::new() };
    // Whoever cannot ask knows of nobody.
    let live = peers.live().unwrap_or_default();
    live.iter()
        .filter(|peer| peer.id != peers.id())
        .filter_map(|peer| Some((peer.id, address(peer)?)))
        .map(|(id, at)| row(node, schema, id, at, with_ports))
        .collect()
}

fn row(node: &Node, schema: &Schema, id: u64, at: SocketAddr, with_ports: bool) -> Cells {
    let ip = inet(at.ip());
    let mut tokens: Vec<String> = node.tokens_of(Some(id)).iter().map(i64::to_string).collect();
    tokens.sort();
    let mut row: Cells = vec![
        ("peer", ip.clone()),
        ("data_center", text(node.data_center())),
        ("host_id", bytes(&node.host_id_of(Some(id)))),
        ("preferred_ip", ip.clone()),
        ("rack", text(node.rack())),
        ("release_version", text(RELEASE_VERSION)),
        ("schema_version", bytes(&schema.version)),
        ("tokens", texts(&tokens)),
    ];
    if with_ports {
        // The port between nodes; there are no such connections.
        row.extend([("peer_port", int(7000)), ("preferred_port", int(7000))]);
        row.extend([("native_address", ip), ("native_port", int(i32::from(at.port())))]);
    } else {
        row.push(("rpc_address", ip));
    }
    row
}
