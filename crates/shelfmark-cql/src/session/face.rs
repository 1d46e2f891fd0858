//! The face: what all connections share.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use shelfmark_engine::budget::{Budget, Client};
use shelfmark_engine::weight::{Pool, Refused, Weight};
use shelfmark_engine::{Engine, Environment, Owner};

use super::clients::Clients;
use super::events::Events;
use super::prepared::Statements;
use super::tracing::Traces;
use crate::auth::{Authority, Authorizer, Login};
use crate::error::CqlError;
use crate::limits::PREPARED_PART;
use crate::outcome::Spools;
use crate::statement::Executor;
use crate::system::{self, Node, Sources};

/// Who the server says it is.
#[derive(Debug, Clone)]
pub struct FaceOptions {
    /// The cluster's name, in `system.local`.
    pub cluster_name: String,
    /// The data centre that `NetworkTopologyStrategy` names.
    pub data_center: String,
    /// The rack.
    pub rack: String,
    /// Where clients reach this server: drivers connect to what `system.local` says.
    pub address: SocketAddr,
    /// The memory that requests and answers draw from.
    pub budget: Arc<Budget>,
    /// Where long answers are kept until they are sent; without it they are kept in memory.
    pub spools: Option<Arc<dyn Spools>>,
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
        }
    }
}

/// CQL over one engine. Shared by all connections.
pub struct Face {
    pub(super) executor: Arc<Executor>,
    pub(super) environment: Environment,
    pub(super) pool: Arc<dyn Pool>,
    reads_may_wait: bool,
    pub(super) statements: Arc<Statements>,
    pub(super) clients: Arc<Clients>,
    pub(super) events: Events,
    pub(super) traces: Arc<Traces>,
    pub(super) budget: Arc<Budget>,
    pub(super) spools: Option<Arc<dyn Spools>>,
    node: Arc<Node>,
    /// Who may connect; `None` lets everybody in.
    pub(super) login: Option<Login>,
}

impl Face {
    /// Creates the face.
    ///
    /// # Errors
    ///
    /// * Those of reading the catalogue: see the engine's.
    pub fn open(
        engine: Engine,
        environment: Environment,
        options: FaceOptions,
        login: Option<Login>,
        pool: Arc<dyn Pool>,
    ) -> Result<Self, CqlError> {
        let engine = engine.of_owner(Owner::Cql);
        let reads_may_wait = engine.store().caps().reads_may_wait;
        let start_role = login.as_ref().map(|own| &**own.start_role());
        let authorizer = login.as_ref().map_or(Authorizer::AllowAll, Login::authorizer);
        let authority = Arc::new(Authority::new(&engine, authorizer, start_role));
        let traces = Arc::new(Traces::default());
        let (budget, spools) = (Arc::clone(&options.budget), options.spools.clone());
        let node = Arc::new(Node::new(options));
        let statements = Arc::new(Statements::within(budget.limit() / PREPARED_PART));
        let clients = Arc::new(Clients::default());
        let tables = system::tables(&Arc::new(Sources {
            node: Arc::clone(&node),
            traces: Arc::clone(&traces),
            authority: Arc::clone(&authority),
            engine: engine.clone(),
            clients: Arc::clone(&clients),
            statements: Arc::clone(&statements),
        }));
        let roles = authority.roles().clone();
        let executor = Executor::open(engine, tables)?.with_authority(authority);
        let executor = executor.with_pool(Arc::clone(&pool));
        Ok(Self {
            executor: Arc::new(executor),
            environment,
            pool,
            reads_may_wait,
            statements,
            clients,
            events: Events::default(),
            traces,
            budget,
            spools,
            node,
            login: login.map(|login| login.and(roles)),
        })
    }

    /// Returns how much work a statement is on this store.
    pub(super) fn weigh(&self, weight: Weight) -> Weight {
        weight.over(self.reads_may_wait)
    }

    /// Creates the account of a connection in the memory budget.
    #[must_use]
    pub fn account(&self, address: IpAddr) -> Client {
        self.budget.client(address, self.login.is_none())
    }

    /// Returns what runs the face's statements.
    #[must_use]
    pub fn executor(&self) -> Arc<Executor> {
        Arc::clone(&self.executor)
    }

    /// Returns the clock and the randomness that the face was opened with.
    #[must_use]
    pub fn environment(&self) -> Environment {
        self.environment.clone()
    }

    /// Says where the server listens, once a port was picked: `system.local` shows it.
    pub fn listens_on(&self, address: SocketAddr) {
        self.node.listens_on(address);
    }
}

/// Returns the error of a request that the pool refused.
pub(super) fn full(_: Refused) -> CqlError {
    CqlError::overloaded("Too many requests wait for a thread of this server; come again later")
}
