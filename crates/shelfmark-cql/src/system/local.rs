//! The one node there is.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::OnceLock;

use md5::{Digest as _, Md5};
use shelfmark_cql_protocol::CQL_VERSION;

use super::peers::hash_of;
use super::value::Cells;
use super::value::{bytes, inet, int, text, texts};
use crate::schema::Schema;
use crate::session::FaceOptions;

/// The release that drivers and tools take their features from; cqlsh 6.2 warns of higher ones.
pub(crate) const RELEASE_VERSION: &str = "5.0.0";

/// The number of tokens that the node says it has: tools that read a table in parallel split it at
/// these.
///
/// Source: Cassandra 5.0's `num_tokens`, read 2026-11.
const TOKENS: u32 = 16;

/// The node: what `system.local` says.
#[derive(Debug)]
pub(crate) struct Node {
    options: FaceOptions,
    /// The address on which it listens, once that is known.
    address: OnceLock<SocketAddr>,
    /// The number of this server, where several share a store.
    server: Option<u64>,
}

impl Node {
    pub(crate) fn new(options: FaceOptions, server: Option<u64>) -> Self {
        Self { options, address: OnceLock::new(), server }
    }

    /// Says where the server listens; the first call counts.
    pub(crate) fn listens_on(&self, address: SocketAddr) {
        // A later address would be that of another port of the same server.
        let _ = self.address.set(address);
    }

    /// Returns where clients reach it.
    pub(crate) fn address(&self) -> SocketAddr {
        let mut address = self.address.get().copied().unwrap_or(self.options.address);
        if address.ip().is_unspecified() {
            address.set_ip(match self.options.address.ip() {
                ip if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
                ip => ip,
            });
        }
        address
    }

    /// Returns the tokens that the node says it has.
    pub(super) fn tokens(&self) -> Vec<i64> {
        self.tokens_of(self.server)
    }

    /// Returns the tokens of one of several servers; of the only one they lie evenly over the ring.
    pub(super) fn tokens_of(&self, server: Option<u64>) -> Vec<i64> {
        let token = |place| match server {
            Some(id) => {
                let hash = u128::from_be_bytes(hash_of(self, id, place + 1));
                u64::try_from(hash >> 64).unwrap_or(0).cast_signed()
            }
            None => {
                let step = u64::MAX / u64::from(TOKENS);
                let offset = step.wrapping_mul(u64::from(place)).wrapping_add(step / 2);
                i64::MIN.wrapping_add_unsigned(offset)
            }
        };
        (0..TOKENS).map(token).collect()
    }

    pub(super) fn data_center(&self) -> &str {
        &self.options.data_center
    }

    pub(super) fn rack(&self) -> &str {
        &self.options.rack
    }

    pub(super) fn cluster_name(&self) -> &str {
        &self.options.cluster_name
    }

    /// Returns an id that stays the same as long as the cluster has its name, or, of one of several
    /// servers, as long as it runs.
    pub(super) fn host_id(&self) -> [u8; 16] {
        self.host_id_of(self.server)
    }

    /// Returns the id of one of several servers, or of the only one.
    pub(super) fn host_id_of(&self, server: Option<u64>) -> [u8; 16] {
        let hash = Md5::new()
            .chain_update(&self.options.cluster_name)
            .chain_update([0])
            .chain_update(&self.options.data_center);
        let mut id: [u8; 16] = match server {
            Some(server) => hash_of(self, server, 0),
            None => hash.finalize().into(),
        };
        let [_, _, _, _, _, _, version, _, variant, ..] = &mut id;
        *version = *version & 0x0F | 0x40;
        *variant = *variant & 0x3F | 0x80;
        id
    }
}

/// Returns the one row of `system.local`.
pub(super) fn local(node: &Node, schema: &Schema) -> Vec<Cells> {
    let address = node.address();
    let (ip, port) = (inet(address.ip()), int(i32::from(address.port())));
    let mut tokens: Vec<String> = node.tokens().iter().map(i64::to_string).collect();
    tokens.sort();
    vec![vec![
        ("key", text("local")),
        ("bootstrapped", text("COMPLETED")),
        ("broadcast_address", ip.clone()),
        // The port between nodes; there are none.
        ("broadcast_port", int(7000)),
        ("cluster_name", text(&node.options.cluster_name)),
        ("cql_version", text(CQL_VERSION)),
        ("data_center", text(&node.options.data_center)),
        ("host_id", bytes(&node.host_id())),
        ("listen_address", ip.clone()),
        ("listen_port", int(7000)),
        ("native_protocol_version", text("5")),
        ("partitioner", text("org.apache.cassandra.dht.Murmur3Partitioner")),
        ("rack", text(&node.options.rack)),
        ("release_version", text(RELEASE_VERSION)),
        ("rpc_address", ip),
        ("rpc_port", port),
        ("schema_version", bytes(&schema.version)),
        ("tokens", texts(&tokens)),
    ]]
}
