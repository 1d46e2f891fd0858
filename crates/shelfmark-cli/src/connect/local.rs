//! A CQL face in this process, over a store that is opened for it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use anyhow::Context as _;
use bytes::BytesMut;
use shelfmark_cql::{Connection, Face, FaceOptions, Inline, Progress};
use shelfmark_engine::{Engine, Share, Upkeep};
use shelfmark_store::embedded::Options;

use super::link::Link;
use crate::store::{open, shared};

const UPKEEP_PERIOD: Duration = Duration::from_secs(1);

/// The number of the next connection, in place of a port.
static NUMBER: AtomicU16 = AtomicU16::new(0);

/// A connection without a socket.
pub(super) struct InProcess {
    connection: Connection,
    /// Signals that an answer is ready; the writes' thread sends it.
    woken: mpsc::Receiver<()>,
    ended: bool,
    /// The store that is closed with the connection.
    store: Option<(Upkeep, Engine)>,
}

impl InProcess {
    /// Opens the store of a folder, creating it if it is absent.
    pub(super) fn open(folder: &Path) -> anyhow::Result<Self> {
        if !folder.exists() {
            anstream::eprintln!("a new store is created in {}", folder.display());
        }
        let engine = open(folder, Options::default(), true)?;
        let environment = engine.environment().clone();
        // As with a server that asks nobody who he is: other faces' tables can be read.
        let shown = shared(&engine, Share::Read);
        let options = FaceOptions::default();
        let background = Arc::new(Inline);
        let face = Face::open(shown, environment, options, None, background)
            .map_err(|error| anyhow::anyhow!("CQL tables cannot be read: {error}"))?;
        let upkeep = Upkeep::start(&engine, UPKEEP_PERIOD)?;
        Ok(Self { store: Some((upkeep, engine)), ..Self::over(Arc::new(face)) })
    }

    /// Connects to a face whose store belongs to the caller.
    pub(super) fn over(face: Arc<Face>) -> Self {
        Self::connected(face, |connection| connection)
    }

    /// Connects as somebody whom nobody asks to log in.
    pub(super) fn trusted(face: Arc<Face>) -> Self {
        Self::connected(face, Connection::trusted)
    }

    fn connected(face: Arc<Face>, made: impl FnOnce(Connection) -> Connection) -> Self {
        let (wake, woken) = mpsc::channel();
        let wake = Mutex::new(wake);
        let wake = move || {
            // Nobody waits any more only when the connection is gone.
            let _ = wake.lock().unwrap_or_else(PoisonError::into_inner).send(());
        };
        // Each has a number of its own: what one that ends had asked for is forgotten, and no more.
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let client = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), number);
        let connection = made(Connection::new(face, client, Box::new(wake)));
        Self { connection, woken, ended: false, store: None }
    }
}

impl Link for InProcess {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut input = BytesMut::from(bytes);
        let mut progress = self.connection.feed(&mut input);
        while progress == Progress::Paused {
            progress = self.connection.feed(&mut input);
        }
        self.ended = progress == Progress::Ended;
        Ok(())
    }

    fn receive(&mut self) -> io::Result<Vec<u8>> {
        loop {
            let bytes = self.connection.take_output()?;
            if !bytes.is_empty() {
                return Ok(bytes.into());
            }
            if self.ended || self.woken.recv().is_err() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    fn close(self: Box<Self>) -> anyhow::Result<()> {
        let Some((mut upkeep, engine)) = self.store else { return Ok(()) };
        upkeep.stop();
        drop(self.connection);
        engine.store().close().context("the store could not be closed in good order")
    }
}
