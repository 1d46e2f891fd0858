//! The options of a face.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use shelfmark_cql_protocol::Spools;
use shelfmark_engine::budget::Budget;

use crate::watch::Watcher;

/// The options of a face: what the server says of itself, and its resources.
#[derive(Debug, Clone)]
pub struct FaceOptions {
    /// The cluster's name, in `system.local`.
    pub cluster_name: String,
    /// The data centre that `NetworkTopologyStrategy` names.
    pub data_center: String,
    /// The rack.
    pub rack: String,
    /// The address at which clients reach this server: drivers connect to what `system.local` says.
    pub address: SocketAddr,
    /// The memory that requests and answers draw from.
    pub budget: Arc<Budget>,
    /// The factory of files for long answers; without it they are kept in memory.
    pub spools: Option<Arc<dyn Spools>>,
    /// True if functions of users may be made and called.
    pub user_functions: bool,
    /// True if indexes and views that a stop left unbuilt are built by the engine's background work, which
    /// somebody must run; the face is there before they are. Otherwise they are built before it is.
    pub builds_in_background: bool,
    /// A watcher that is told of each request that ended, if there is one.
    pub watcher: Option<Arc<dyn Watcher>>,
}

impl Default for FaceOptions {
    fn default() -> Self {
        Self {
            cluster_name: "Shelfmark".to_owned(),
            data_center: "datacenter1".to_owned(),
            rack: "rack1".to_owned(),
            address: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 9042),
            budget: Arc::default(),
            spools: None,
            user_functions: true,
            builds_in_background: false,
            watcher: None,
        }
    }
}
