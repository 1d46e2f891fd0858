//! A server with the CQL face, and the bytes of its protocol.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use shelfmark_cql::{Face, FaceOptions};
use shelfmark_engine::budget::Budget;
use shelfmark_engine::{Engine, Environment, SeededRandom};
use shelfmark_server::{CqlSettings, Faces, Pool, PoolSize, Server, Settings, Tls};
use shelfmark_store::clock::{Clock, SystemClock};
use shelfmark_store::memory::MemoryStore;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

pub(crate) const STARTUP: u8 = 1;
pub(crate) const OPTIONS: u8 = 5;
pub(crate) const SUPPORTED: u8 = 6;
pub(crate) const ERROR: u8 = 0;
pub(crate) const READY: u8 = 2;

/// A running server; it stops when this goes.
pub(crate) struct Bed {
    pub(crate) address: SocketAddr,
    pub(crate) budget: Arc<Budget>,
    stop: Option<oneshot::Sender<()>>,
    runtime: Option<Runtime>,
    task: Option<tokio::task::JoinHandle<()>>,
}

impl Bed {
    pub(crate) fn start() -> Self {
        Self::start_with(None)
    }

    /// Starts a server whose port is encrypted, or not.
    pub(crate) fn start_with(tls: Option<Tls>) -> Self {
        Self::start_as(tls, usize::MAX)
    }

    /// Starts a server whose clients share so many bytes.
    pub(crate) fn start_within(bytes: usize) -> Self {
        Self::start_as(None, bytes)
    }

    fn start_as(tls: Option<Tls>, bytes: usize) -> Self {
        let budget = Arc::new(Budget::new(bytes));
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let environment =
            Environment { clock: Arc::clone(&clock), random: Arc::new(SeededRandom::new(1)) };
        let engine = Engine::open(Arc::new(MemoryStore::new(clock)), environment.clone()).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let size = PoolSize::of(&engine.store().caps(), 2, 16);
        let pool = Arc::new(Pool::new(size, runtime.handle().clone()));
        let options = FaceOptions { budget: Arc::clone(&budget), ..FaceOptions::default() };
        let face = Face::open(engine, environment, options, None, pool).unwrap();
        let settings = Settings {
            cql: Some(CqlSettings {
                address: "127.0.0.1:0".parse().unwrap(),
                optional: false,
                tls,
            }),
            budget: Arc::clone(&budget),
            ..Settings::default()
        };
        let faces = Faces { cql: Some(Arc::new(face)), ..Faces::default() };
        let server = runtime.block_on(Server::bind(settings, faces)).unwrap();
        let address = server.addresses().cql.unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let task = runtime.spawn(server.run(async {
            let _ = stopped.await;
        }));
        Self { address, budget, stop: Some(stop), runtime: Some(runtime), task: Some(task) }
    }

    pub(crate) fn connect(&self) -> Client {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(60))).unwrap();
        Client { stream }
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let (Some(runtime), Some(task)) = (self.runtime.take(), self.task.take()) {
            runtime.block_on(task).unwrap();
        }
    }
}

/// An answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) stream: i16,
    pub(crate) opcode: u8,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// Code and text of an error.
    pub(crate) fn error(&self) -> (i32, String) {
        assert_eq!(self.opcode, ERROR, "{self:?}");
        let code = i32::from_be_bytes(self.body[..4].try_into().unwrap());
        let length = usize::from(u16::from_be_bytes(self.body[4..6].try_into().unwrap()));
        (code, String::from_utf8(self.body[6..6 + length].to_vec()).unwrap())
    }
}

pub(crate) struct Client {
    pub(crate) stream: TcpStream,
}

impl Client {
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Reads an answer; `None` at the end of the connection.
    pub(crate) fn answer(&mut self) -> Option<Answer> {
        let mut head = [0; 9];
        match self.stream.read_exact(&mut head) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => panic!("no answer"),
            Err(_) => return None,
        }
        let length = u32::from_be_bytes(head[5..].try_into().unwrap());
        let mut body = vec![0; usize::try_from(length).unwrap()];
        self.stream.read_exact(&mut body).ok()?;
        Some(Answer { stream: i16::from_be_bytes([head[2], head[3]]), opcode: head[4], body })
    }

    /// Shakes hands.
    pub(crate) fn start(&mut self, version: u8) {
        self.send(&startup(version, &[("CQL_VERSION", "3.0.0")]));
        assert_eq!(self.answer().unwrap().opcode, READY);
    }

    /// Checks that the server serves.
    pub(crate) fn is_served(&mut self) -> bool {
        self.send(&envelope(4, 77, OPTIONS, b""));
        self.answer().is_some_and(|answer| (answer.stream, answer.opcode) == (77, SUPPORTED))
    }
}

pub(crate) fn envelope(version: u8, stream: i16, opcode: u8, body: &[u8]) -> Vec<u8> {
    let mut out = vec![version, 0];
    out.extend(stream.to_be_bytes());
    out.push(opcode);
    out.extend(u32::try_from(body.len()).unwrap().to_be_bytes());
    out.extend(body);
    out
}

pub(crate) fn startup(version: u8, options: &[(&str, &str)]) -> Vec<u8> {
    let mut body = u16::try_from(options.len()).unwrap().to_be_bytes().to_vec();
    for (name, value) in options {
        for text in [name, value] {
            body.extend(u16::try_from(text.len()).unwrap().to_be_bytes());
            body.extend(text.as_bytes());
        }
    }
    envelope(version, 0, STARTUP, &body)
}
