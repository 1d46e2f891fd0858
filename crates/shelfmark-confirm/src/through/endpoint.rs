//! Servers that requests are sent to: in this process, or wherever a caller reaches them.
//!
//! What it is not: there is no socket here. Who has one implements a trait.
//!
//! Invariant: a face in this process is over an engine in memory, and nothing of it stays.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use bytes::BytesMut;
use shelfmark_cql::Connection;
use shelfmark_cql_protocol::client::{
    ClientConnection, ProtocolVersion, Request, Response, Result as Answered,
};
use shelfmark_dynamo::{Face, FaceOptions};
use shelfmark_engine::{Engine, Environment, SeededRandom};
use shelfmark_store::clock::SystemClock;
use shelfmark_store::memory::MemoryStore;

/// A server that takes CQL's statements, as texts and prepared.
pub trait CqlEndpoint {
    /// Sends a request and returns its result.
    ///
    /// # Errors
    ///
    /// What the server says, or that it cannot be reached, as a message.
    fn run(&self, request: &Request<'_>) -> Result<Answered, String>;
}

fn engine() -> Result<(Engine, Environment), String> {
    let clock = Arc::new(SystemClock::new());
    let store = Arc::new(MemoryStore::new(Arc::<SystemClock>::clone(&clock)));
    let environment = Environment { clock, random: Arc::new(SeededRandom::new(1)) };
    let engine = Engine::open(store, environment.clone()).map_err(|error| error.to_string())?;
    Ok((engine, environment))
}

/// Opens a DynamoDB face over an empty engine in memory.
pub(crate) fn local_dynamodb() -> Result<Face, String> {
    let (engine, environment) = engine()?;
    Ok(Face::new(engine, environment, FaceOptions::default()))
}

/// A connection to a CQL face over an engine in memory.
pub(crate) struct LocalCql(Mutex<Wire>);

struct Wire {
    client: ClientConnection,
    connection: Connection,
    woken: mpsc::Receiver<()>,
}

impl LocalCql {
    /// Opens an empty engine and begins a session.
    pub(crate) fn new() -> Result<Self, String> {
        let (engine, environment) = engine()?;
        let options = shelfmark_cql::FaceOptions::default();
        let background = Arc::new(shelfmark_cql::Inline);
        let face = shelfmark_cql::Face::open(engine, environment, options, None, background)
            .map_err(|error| error.to_string())?;
        let (wake, woken) = mpsc::channel();
        let wake = Mutex::new(wake);
        let wake = move || {
            // Nobody waits any more only when the connection is gone.
            let _ = wake.lock().unwrap_or_else(PoisonError::into_inner).send(());
        };
        let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
        let connection = Connection::new(Arc::new(face), address, Box::new(wake));
        let client = ClientConnection::new(ProtocolVersion::V5);
        let mut wire = Wire { client, connection, woken };
        let startup = wire.client.startup("shelfmark-confirm");
        match wire.said(&startup)? {
            Response::Ready => Ok(Self(Mutex::new(wire))),
            other => Err(format!("the session does not begin: {other:?}")),
        }
    }
}

impl Wire {
    fn said(&mut self, request: &[u8]) -> Result<Response, String> {
        self.connection.feed(&mut BytesMut::from(request));
        loop {
            let taken = self.connection.take_output().map_err(|error| error.to_string())?;
            if taken.is_empty() {
                self.woken.recv().map_err(|_| "the connection is gone".to_owned())?;
            }
            if let Some(said) = self.client.receive(&taken).map_err(|error| error.to_string())? {
                return Ok(said);
            }
        }
    }
}

impl CqlEndpoint for LocalCql {
    fn run(&self, request: &Request<'_>) -> Result<Answered, String> {
        let mut wire = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let request = wire.client.request(request);
        match wire.said(&request)? {
            Response::Result(result) => Ok(result),
            Response::Error(refusal) => Err(refusal.to_string()),
            other => Err(format!("an answer out of turn: {other:?}")),
        }
    }
}
