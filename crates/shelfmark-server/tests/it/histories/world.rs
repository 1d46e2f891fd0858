//! A server with both faces over one store, its one table, and the log of what its clients saw.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use shelfmark_admin::{Admin, Watch};
use shelfmark_conformance::history::{History, Outcome, Record, TxnId, Version};
use shelfmark_engine::{Engine, Environment, SeededRandom, Share};
use shelfmark_server::{ConsoleSettings, CqlSettings, Faces, Pool, PoolSize, Server, Settings};
use shelfmark_store::Store;
use shelfmark_store::clock::{Clock, SystemClock};
use shelfmark_store::random::SplitMix;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use super::cql::Client;

/// The table's name among CQL's, and among DynamoDB's.
pub(super) const TABLE: &str = "h.t";

/// Partitions of the table, and rows of each.
pub(super) const PARTITIONS: u8 = 2;
pub(super) const ROWS: u8 = 3;

/// A row: its partition, and its place in it.
pub(super) type Place = (u8, u8);

/// What the rows hold; a row that is absent holds nothing.
pub(super) type Rows = BTreeMap<Place, String>;

pub(super) fn places() -> impl Iterator<Item = Place> {
    (0..PARTITIONS).flat_map(|partition| (0..ROWS).map(move |row| (partition, row)))
}

/// Draws a number below `n`.
pub(super) fn below(random: &mut SplitMix, n: u8) -> u8 {
    u8::try_from(random.below(n.into())).unwrap()
}

/// Draws two rows.
pub(super) fn two(random: &mut SplitMix) -> [Place; 2] {
    let all = PARTITIONS * ROWS;
    let first = below(random, all);
    let second = (first + 1 + below(random, all - 1)) % all;
    [first, second].map(|number| (number / ROWS, number % ROWS))
}

/// The running server, and the engine that it serves.
pub(crate) struct World {
    pub(super) engine: Engine,
    pub(crate) dynamodb: SocketAddr,
    pub(crate) cql: SocketAddr,
    pub(crate) console: SocketAddr,
    stop: oneshot::Sender<()>,
    task: tokio::task::JoinHandle<()>,
    runtime: Runtime,
}

impl World {
    /// Serves a new store, with the table.
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        let world = Self::again(store);
        let mut client = Client::connect(world.cql);
        client.run(
            "CREATE KEYSPACE h WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        );
        client.run("CREATE TABLE h.t (p int, c int, v text, PRIMARY KEY (p, c))");
        world
    }

    /// Serves a store that was served before.
    pub(crate) fn again(store: Arc<dyn Store>) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let random = Arc::new(SeededRandom::new(1));
        let environment = Environment { clock, random };
        let engine = Engine::open(store, environment.clone()).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let size = PoolSize::of(&engine.store().caps(), 2, 1024);
        let pool = Arc::new(Pool::new(size, runtime.handle().clone()));
        let options = shelfmark_cql::FaceOptions::default();
        let own = Arc::clone(&pool);
        let cql =
            shelfmark_cql::Face::open(engine.clone(), environment.clone(), options, None, own);
        let options = shelfmark_dynamo::FaceOptions { share: Share::All, ..Default::default() };
        let dynamodb = shelfmark_dynamo::Face::new(engine.clone(), environment, options);
        let dynamodb = dynamodb.with_pool(pool);
        let faces = Faces { dynamodb: Some(Arc::new(dynamodb)), cql: Some(Arc::new(cql.unwrap())) };
        let any = || "127.0.0.1:0".parse().unwrap();
        let settings = Settings {
            dynamodb: Some(any()),
            cql: Some(CqlSettings { address: any(), optional: false, tls: None }),
            console: Some(ConsoleSettings {
                address: any(),
                token: None,
                admin: Admin::new(engine.sharing(Share::All))
                    .watching(Watch::new(Duration::from_secs(60))),
                site: None,
            }),
            ..Settings::default()
        };
        let server = runtime.block_on(Server::bind(settings, faces)).unwrap();
        let addresses = server.addresses();
        server.announce(&engine);
        let (stop, stopped) = oneshot::channel::<()>();
        let task = runtime.spawn(server.run(async {
            let _ = stopped.await;
        }));
        Self {
            engine: engine.sharing(Share::All),
            dynamodb: addresses.dynamodb.unwrap(),
            cql: addresses.cql.unwrap(),
            console: addresses.console.unwrap(),
            stop,
            task,
            runtime,
        }
    }

    /// Stops the server and closes the store.
    pub(crate) fn stop(self) {
        self.stop.send(()).unwrap();
        self.runtime.block_on(self.task).unwrap();
        self.engine.store().close().unwrap();
    }

    /// Returns what a CQL client sees of the table.
    pub(super) fn rows(&self) -> Rows {
        Client::connect(self.cql).rows("SELECT p, c, v FROM h.t")
    }
}

/// What a client did, and how it ended: for a test that some do nothing.
type Deed = (&'static str, bool);

/// What all clients saw, in the order of one count of events.
#[derive(Default)]
pub(super) struct Log {
    events: AtomicU64,
    ids: AtomicU64,
    records: Mutex<Vec<Record>>,
    sum: Mutex<BTreeMap<Deed, usize>>,
}

/// A request under way.
pub(super) struct Begun {
    pub(super) id: TxnId,
    began: u64,
    deed: &'static str,
}

impl Begun {
    /// Returns what a row holds with this request's version appended to `old`.
    pub(super) fn append(&self, old: &str) -> String {
        format!("{old}{};", self.id)
    }
}

fn key((partition, row): Place) -> Bytes {
    vec![partition, row].into()
}

/// Reads a row's list of versions.
fn versions(text: &str) -> Vec<Version> {
    let version = |part: &str| Version { txn: part.parse().unwrap(), step: 0 };
    text.split_terminator(';').map(version).collect()
}

impl Log {
    pub(super) fn begin(&self, deed: &'static str) -> Begun {
        let id = self.ids.fetch_add(1, Ordering::SeqCst) + 1;
        Begun { id, began: self.events.fetch_add(1, Ordering::SeqCst), deed }
    }

    /// Notes a request that was done: what it saw, and which rows it appended to.
    pub(super) fn done(&self, begun: Begun, saw: &[(Place, String)], appended: &[Place]) {
        self.end(begun, saw, appended, Outcome::Committed(None));
    }

    /// Notes a request that was refused, whose writes nobody may see.
    pub(super) fn refused(&self, begun: Begun, tried: &[Place]) {
        self.end(begun, &[], tried, Outcome::Aborted);
    }

    /// Notes a conditional request that was not done because of what it was told instead.
    pub(super) fn told(&self, begun: Begun, saw: &[(Place, String)]) {
        *self.sum.lock().unwrap().entry((begun.deed, false)).or_default() += 1;
        self.push(&begun, saw, &[], Outcome::Committed(None));
    }

    fn end(&self, begun: Begun, saw: &[(Place, String)], wrote: &[Place], outcome: Outcome) {
        let is_done = outcome != Outcome::Aborted;
        *self.sum.lock().unwrap().entry((begun.deed, is_done)).or_default() += 1;
        self.push(&begun, saw, wrote, outcome);
    }

    fn push(&self, begun: &Begun, saw: &[(Place, String)], wrote: &[Place], outcome: Outcome) {
        let ended = self.events.fetch_add(1, Ordering::SeqCst);
        let own = Version { txn: begun.id, step: 0 };
        let record = Record {
            id: begun.id,
            reads: saw.iter().map(|(place, text)| (key(*place), versions(text))).collect(),
            writes: wrote.iter().map(|place| (key(*place), own)).collect(),
            outcome,
            began: begun.began,
            ended,
        };
        self.records.lock().unwrap().push(record);
    }

    /// Returns how often each deed was done.
    pub(super) fn sum(&self) -> BTreeMap<&'static str, usize> {
        let all = self.sum.lock().unwrap();
        let mut done = BTreeMap::new();
        for ((deed, is_done), count) in &*all {
            *done.entry(*deed).or_default() += if *is_done { *count } else { 0 };
        }
        done
    }

    /// Returns the history, with what the rows hold at the end.
    pub(super) fn ended(&self, world: &World) -> History {
        let rows = world.rows();
        let finals = places()
            .map(|place| (key(place), versions(rows.get(&place).map_or("", String::as_str))))
            .collect();
        let records = self.records.lock().unwrap().clone();
        History { records, finals, is_numbered_in_order: false }
    }
}
