//! The server: its ports, its start and its end.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use shelfmark_admin::{ServerAddresses, Watch, announce};
use shelfmark_cql::Face as CqlFace;
use shelfmark_dynamo::Face as DynamoFace;
use shelfmark_engine::budget::Budget;
use shelfmark_engine::{Engine, Environment};
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::connection_slots::ConnectionSlots;
use crate::console::{self, Console, ConsoleSettings};
use crate::limits::{CONNECTIONS_WAITING_MAX, TICK_PERIOD, Times};
use crate::pages::Pages;
use crate::tls::Tls;
use crate::{cql, dynamodb};

/// The addresses and settings of a server.
#[derive(Default)]
pub struct Settings {
    /// The address of the DynamoDB face; `None` leaves it out.
    pub dynamodb: Option<SocketAddr>,
    /// The TLS settings of DynamoDB clients' connections, if they are encrypted.
    pub dynamodb_tls: Option<Tls>,
    /// The time limits of DynamoDB clients' connections.
    pub times: Times,
    /// The settings of the CQL face; `None` leaves it out.
    pub cql: Option<CqlSettings>,
    /// The memory budget of DynamoDB clients. CQL's is the face's.
    pub budget: Arc<Budget>,
    /// Web pages that may use the DynamoDB port while it takes requests without credentials.
    pub pages: Pages,
    /// The settings of the console; `None` leaves it out.
    pub console: Option<ConsoleSettings>,
    /// The recorder of requests that ended, where there is one without a console.
    pub watch: Option<(Watch, Environment)>,
}

/// The settings of the CQL face.
pub struct CqlSettings {
    /// The address.
    pub address: SocketAddr,
    /// True to leave the face out, with a warning, if the port is taken: nobody asked for it by
    /// name.
    pub optional: bool,
    /// The TLS settings, if connections are encrypted.
    pub tls: Option<Tls>,
}

/// The faces to serve; those without an address in [`Settings`] are not served.
#[derive(Default)]
pub struct Faces {
    /// The DynamoDB face.
    pub dynamodb: Option<Arc<DynamoFace>>,
    /// The CQL face.
    pub cql: Option<Arc<CqlFace>>,
}

/// The addresses on which the faces listen; those that are off are `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Addresses {
    /// The DynamoDB face.
    pub dynamodb: Option<SocketAddr>,
    /// The CQL face.
    pub cql: Option<SocketAddr>,
    /// The console.
    pub console: Option<SocketAddr>,
}

/// The reason why the server could not start or go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The port could not be opened.
    #[error("cannot listen on {address}: {source}{hint}", hint = hint(source))]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the system.
        source: std::io::Error,
    },
}

fn hint(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::AddrInUse => {
            "; another program has the port: stop it, or choose another port (0 picks a free one)"
        }
        std::io::ErrorKind::PermissionDenied => "; ports below 1024 need rights; choose another",
        _ => "",
    }
}

/// A server whose ports are open.
pub struct Server {
    dynamodb: Option<(TcpListener, Arc<DynamoFace>, Option<Tls>)>,
    cql: Option<(TcpListener, Arc<CqlFace>, Option<Tls>)>,
    addresses: Addresses,
    times: Times,
    budget: Arc<Budget>,
    pages: Pages,
    console: Option<(TcpListener, Arc<Console>)>,
    watch: Option<(Watch, Environment)>,
}

impl Server {
    /// Opens the ports. Clients that connect from now on wait until [`Server::run`] serves them.
    ///
    /// # Errors
    ///
    /// * [`Error::Listen`]: a port is taken or not allowed; the message says what to do.
    pub async fn bind(settings: Settings, faces: Faces) -> Result<Self, Error> {
        let mut server = Self {
            dynamodb: None,
            cql: None,
            addresses: Addresses::default(),
            times: settings.times,
            budget: settings.budget,
            pages: settings.pages,
            console: None,
            watch: settings.watch,
        };
        if let (Some(address), Some(face)) = (settings.dynamodb, faces.dynamodb) {
            let listener = listen(address)?;
            server.addresses.dynamodb = listener.local_addr().ok();
            server.dynamodb = Some((listener, face, settings.dynamodb_tls));
        }
        if let (Some(settings), Some(face)) = (settings.cql, faces.cql) {
            match listen(settings.address) {
                Ok(listener) => {
                    server.addresses.cql = listener.local_addr().ok();
                    server.addresses.cql.iter().for_each(|address| face.listens_on(*address));
                    server.cql = Some((listener, face, settings.tls));
                }
                Err(error) if settings.optional => {
                    tracing::warn!("CQL clients are not served: {error}");
                }
                Err(error) => return Err(error),
            }
        }
        if let Some(settings) = settings.console {
            let listener = listen(settings.address)?;
            server.addresses.console = listener.local_addr().ok();
            let console = Console::new(settings, Arc::clone(&server.budget));
            server.console = Some((listener, Arc::new(console)));
            console::install();
        }
        Ok(server)
    }

    /// Returns the addresses of the faces, with the ports that were picked.
    #[must_use]
    pub fn addresses(&self) -> Addresses {
        self.addresses
    }

    /// Tells whoever asks, and the other servers on the store of `engine`, where this one listens. Where
    /// they cannot hear of it now, they do with the next renewal of its lease.
    pub fn announce(&self, engine: &Engine) {
        let Addresses { dynamodb, cql, console } = self.addresses;
        let watch = self.console.as_ref().and_then(|(_, console)| console.watch());
        let watch = watch.as_ref().map(|(watch, _)| watch);
        let told = announce(engine, watch, ServerAddresses { dynamodb, cql, console });
        if let Err(error) = told {
            tracing::warn!("the other servers do not know of this one yet: {error}");
        }
    }

    /// Serves until `stop` is done, then lets open requests end, for at most
    /// [`crate::limits::DRAIN_TIME_MAX`].
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let (stopping, stopped) = watch::channel(false);
        let slots = ConnectionSlots::of_process(self.budget.limit());
        let watch = self.console.as_ref().and_then(|(_, console)| console.watch());
        let watch = watch.or(self.watch);
        if let Some((watch, _)) = &watch {
            watch.add_connections(slots.clone());
        }
        let mut tasks = JoinSet::new();
        if let Some((listener, face, tls)) = self.dynamodb {
            let (slots, stopped) = (slots.clone(), stopped.clone());
            let budget = Arc::clone(&self.budget);
            let all = dynamodb::Shared::new(face, tls, self.times, budget, self.pages, watch);
            tasks.spawn(dynamodb::accept(listener, all, slots, stopped));
        }
        if let Some((listener, face, tls)) = self.cql {
            tasks.spawn(cql::accept(listener, face, tls, slots, stopped));
        }
        // Not waited for: who watches may watch to the end.
        let watching = self.console.map(|(listener, console)| {
            tokio::spawn(console::accept(listener, console, stopping.subscribe()))
        });
        let ticking = tokio::spawn(tick());
        stop.await;
        // Nobody listening any more is fine: then there is nobody to stop.
        let _ = stopping.send(true);
        let drained = async { while tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(self.times.drain_max, drained).await.is_err() {
            tracing::warn!("some requests did not end in time and were cut off");
        }
        if let Some(watching) = watching {
            watching.abort();
        }
        ticking.abort();
    }
}

/// Ticks for as long as the server runs, so that the timers of requests wake nobody.
///
/// The runtime wakes the thread that waits for the sockets when a timer is set that ends before all
/// others, and each request sets several: for its head, for its body. None of them ends before the tick.
async fn tick() {
    let mut ticks = tokio::time::interval(TICK_PERIOD);
    loop {
        ticks.tick().await;
    }
}

/// Checks that a port can be opened, without keeping it: [`Server::bind`] may still find it taken.
///
/// # Errors
///
/// * [`Error::Listen`]: as of [`Server::bind`].
pub fn check_free(address: SocketAddr) -> Result<(), Error> {
    match std::net::TcpListener::bind(address) {
        Ok(_) => Ok(()),
        Err(source) => Err(Error::Listen { address, source }),
    }
}

fn listen(address: SocketAddr) -> Result<TcpListener, Error> {
    let bind = || {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        // As `TcpListener::bind` does, so that a restart finds the port free.
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(CONNECTIONS_WAITING_MAX)
    };
    bind().map_err(|source| Error::Listen { address, source })
}
