//! The parts of the server that system tables are computed from.

use std::sync::Arc;

use shelfmark_engine::Engine;

use super::local::Node;
use crate::auth::Authority;
use crate::session::{Clients, PreparedStatements, TraceStore};

/// The parts of the server that system tables are computed from.
pub(crate) struct Sources {
    pub(crate) node: Arc<Node>,
    pub(crate) traces: Arc<TraceStore>,
    pub(crate) authority: Arc<Authority>,
    pub(crate) engine: Engine,
    pub(crate) clients: Arc<Clients>,
    pub(crate) statements: Arc<PreparedStatements>,
}
