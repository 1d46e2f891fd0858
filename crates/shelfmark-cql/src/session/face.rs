//! The face: what all connections share.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use shelfmark_cql_protocol::{Consistency, CqlError, Spools};
use shelfmark_engine::budget::{Budget, Client};
use shelfmark_engine::weight::{Pool, Refused, Weight};
use shelfmark_engine::{Engine, Environment, Owner, TableEvent};

use super::clients::Clients;
use super::events::Events;
use super::options::FaceOptions;
use super::prepared::PreparedStatements;
use super::tracing::TraceStore;
use crate::auth::{Authority, Authorizer, Login};
use crate::engine_error::from_engine;
use crate::limits::PREPARED_PART;
use crate::statement::Executor;
use crate::system::{self, Node, Sources};
use crate::watch::Watcher;

/// CQL over one engine. Shared by all connections.
pub struct Face {
    pub(super) executor: Arc<Executor>,
    pub(super) environment: Environment,
    pub(super) pool: Arc<dyn Pool>,
    reads_may_wait: bool,
    pub(super) statements: Arc<PreparedStatements>,
    pub(super) clients: Arc<Clients>,
    pub(super) events: Arc<Events>,
    pub(super) traces: Arc<TraceStore>,
    pub(super) budget: Arc<Budget>,
    pub(super) spools: Option<Arc<dyn Spools>>,
    pub(super) watcher: Option<Arc<dyn Watcher>>,
    node: Arc<Node>,
    /// The check of logins; `None` lets everybody in.
    pub(super) login: Option<Login>,
}

impl Face {
    /// Makes a write that this thread just passed on durable here, where that is quicker than to wait for
    /// another thread. For who was not answered yet, and may be held up for a sync.
    pub fn lead(&self) {
        self.executor.lead();
    }

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
        let traces = Arc::new(TraceStore::default());
        let (budget, spools) = (Arc::clone(&options.budget), options.spools.clone());
        let watcher = options.watcher.clone();
        let FaceOptions { user_functions, builds_in_background, .. } = options;
        let server = engine.store().peers().map(|peers| peers.id());
        let node = Arc::new(Node::new(options, server));
        let statements = Arc::new(PreparedStatements::within(budget.limit() / PREPARED_PART));
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
        let background = engine.clone();
        let executor = match builds_in_background {
            true => Executor::open_unbuilt(engine, tables)?,
            false => Executor::open(engine, tables)?,
        };
        let executor = executor.with_authority(authority);
        let executor = executor.with_user_functions(user_functions);
        let executor = Arc::new(executor.with_pool(Arc::clone(&pool)));
        let events = Arc::new(Events::default());
        let own = Arc::downgrade(&executor);
        background.work_beside_backups(move |_| {
            own.upgrade().map_or(Ok(0), |executor| executor.go_on_building())
        });
        watch_shared(&executor, &events);
        watch_other_servers(&executor, &events);
        watch_servers(&executor, &events)
            .map_err(|error| from_engine(&error, Consistency::One, None))?;
        Ok(Self {
            executor,
            environment,
            pool,
            reads_may_wait,
            statements,
            clients,
            events,
            traces,
            budget,
            spools,
            watcher,
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
        // Until it succeeds the other servers do not name this one; nothing else depends on it.
        drop(self.executor.publish_address(self.node.address()));
    }
}

/// Has changes that another server on the same store made known here, and clients told.
fn watch_other_servers(executor: &Arc<Executor>, events: &Arc<Events>) {
    let known = (Arc::downgrade(executor), Arc::downgrade(events));
    executor.watch_other_servers(move || {
        if let (Some(executor), Some(events)) = (known.0.upgrade(), known.1.upgrade()) {
            executor.changed_elsewhere().iter().for_each(|change| events.publish(change));
        }
    });
}

/// Has clients told of other servers on the same store that come and go.
fn watch_servers(executor: &Arc<Executor>, events: &Arc<Events>) -> shelfmark_engine::Result<()> {
    let events = Arc::downgrade(events);
    executor.watch_servers(move |change, address| {
        if let Some(events) = events.upgrade() {
            events.server(change, address);
        }
    })
}

/// Has tables of another face that appear, change and go away known here, and clients told.
fn watch_shared(executor: &Arc<Executor>, events: &Arc<Events>) {
    let known = (Arc::downgrade(executor), Arc::downgrade(events));
    executor.watch_shared(move |name, event| {
        let (Some(executor), Some(events)) = (known.0.upgrade(), known.1.upgrade()) else {
            return false;
        };
        match event {
            TableEvent::Creating => executor.forget_if_gone(name),
            TableEvent::Changed => {
                let changes = executor.shared_changed(name);
                changes.iter().for_each(|change| events.publish(change));
            }
        }
        true
    });
}

/// Returns the error of a request that the pool refused.
pub(super) fn full(_: Refused) -> CqlError {
    CqlError::overloaded("Too many requests wait for a thread of this server; come again later")
}
