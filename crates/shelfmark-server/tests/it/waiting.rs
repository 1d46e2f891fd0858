//! Stores whose reads wait, and requests that hang: others are served meanwhile, as many wait at once
//! as there are threads for, what is too much is refused, and the server still stops.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use shelfmark_engine::{Engine, Environment, SeededRandom};
use shelfmark_server::limits::Times;
use shelfmark_server::{CqlSettings, Faces, Pool, PoolSize, Server, Settings};
use shelfmark_store::clock::{Clock, SystemClock};
use shelfmark_store::memory::MemoryStore;
use shelfmark_testkit::waiting::{Inside, WaitingStore};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::bed::{Client, ERROR, envelope};
use crate::http::request;

/// Longer than anything here may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// More than the runtime has threads.
const CLIENTS: usize = 24;

/// Room for as many waiting requests of one address, which has three quarters of all.
const SIZE: PoolSize =
    PoolSize { computing: 2, begun: 4, waiting: CLIENTS / 3 * 4, logins: 2, queued: 100 };

/// Where reads stand until they may go on.
#[derive(Default)]
struct Gate {
    closed: Mutex<Option<Closed>>,
    opened: Condvar,
}

/// Which reads wait.
#[derive(Clone, Copy)]
enum Closed {
    /// Those of keys that hold this.
    For(&'static [u8]),
    /// All others.
    ButFor(&'static [u8]),
}

impl Gate {
    fn pass(&self, key: &[u8]) {
        let holds = |text: &[u8]| key.windows(text.len()).any(|own| own == text);
        let is_closed = |closed: &mut Option<Closed>| match closed {
            None => false,
            Some(Closed::For(text)) => holds(text),
            Some(Closed::ButFor(text)) => !holds(text),
        };
        drop(self.opened.wait_while(self.closed.lock().unwrap(), is_closed).unwrap());
    }

    fn close(&self, closed: Closed) {
        *self.closed.lock().unwrap() = Some(closed);
    }

    fn open(&self) {
        *self.closed.lock().unwrap() = None;
        self.opened.notify_all();
    }
}

/// A server with both faces over one store.
struct Both {
    gate: Arc<Gate>,
    inside: Arc<Inside>,
    pool: Arc<Pool>,
    dynamodb: SocketAddr,
    cql: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    task: Option<tokio::task::JoinHandle<()>>,
    runtime: Option<Runtime>,
}

impl Both {
    /// Starts it over a store that says that its reads wait, or that does not say so.
    fn start(size: PoolSize, says_so: bool) -> Self {
        let gate = Arc::new(Gate::default());
        let own = Arc::clone(&gate);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let random = Arc::new(SeededRandom::new(1));
        let environment = Environment { clock: Arc::clone(&clock), random };
        let inner = Arc::new(MemoryStore::new(clock));
        let store = WaitingStore::new(inner, Arc::new(move |key: &[u8]| own.pass(key)));
        let store = if says_so { store } else { store.unannounced() };
        let inside = store.inside();
        let engine = Engine::open(Arc::new(store), environment.clone()).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let pool = Arc::new(Pool::new(size, runtime.handle().clone()));
        let own = Arc::clone(&pool);
        let options = shelfmark_cql::FaceOptions::default();
        let cql =
            shelfmark_cql::Face::open(engine.clone(), environment.clone(), options, None, own);
        let options = shelfmark_dynamo::FaceOptions::default();
        let dynamodb = shelfmark_dynamo::Face::new(engine, environment, options);
        let dynamodb = dynamodb.with_pool(Arc::clone(&pool) as _);
        let faces = Faces { dynamodb: Some(Arc::new(dynamodb)), cql: Some(Arc::new(cql.unwrap())) };
        let any = || "127.0.0.1:0".parse().unwrap();
        let settings = Settings {
            dynamodb: Some(any()),
            cql: Some(CqlSettings { address: any(), optional: false, tls: None }),
            times: Times { drain_max: Duration::from_millis(200), ..Times::default() },
            ..Settings::default()
        };
        let server = runtime.block_on(Server::bind(settings, faces)).unwrap();
        let addresses = server.addresses();
        let (stop, stopped) = oneshot::channel::<()>();
        let task = runtime.spawn(server.run(async {
            let _ = stopped.await;
        }));
        let both = Self {
            gate,
            inside,
            pool,
            dynamodb: addresses.dynamodb.unwrap(),
            cql: addresses.cql.unwrap(),
            stop: Some(stop),
            task: Some(task),
            runtime: Some(runtime),
        };
        both.fill();
        both
    }

    /// Creates a table of each face with the rows `slow` and `quick`.
    fn fill(&self) {
        let mut http = self.http();
        http.ask(
            "CreateTable",
            r#"{"TableName": "tab", "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}]}"#,
        );
        let mut cql = self.cql();
        cql.query(
            "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        );
        cql.query("CREATE TABLE k.t (k text PRIMARY KEY, v int)");
        for key in ["slow", "quick"] {
            let item = format!(r#"{{"TableName": "tab", "Item": {{"k": {{"S": "{key}"}}}}}}"#);
            assert!(http.ask("PutItem", &item).starts_with("HTTP/1.1 200"));
            cql.query(&format!("INSERT INTO k.t (k, v) VALUES ('{key}', 7)"));
        }
    }

    fn http(&self) -> Http {
        let stream = TcpStream::connect(self.dynamodb).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Http { stream }
    }

    fn cql(&self) -> Cql {
        let stream = TcpStream::connect(self.cql).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut client = Client { stream };
        client.start(4);
        Cql { client }
    }

    /// Waits until so many reads stand at the gate.
    fn wait_for(&self, reads: usize) {
        for _ in 0..PATIENCE.as_millis() {
            if self.inside.now() >= reads {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        panic!("{} of {reads} reads came to wait at once", self.inside.now());
    }
}

impl Drop for Both {
    fn drop(&mut self) {
        self.gate.open();
        drop(self.stop.take());
        if let (Some(runtime), Some(task)) = (self.runtime.take(), self.task.take()) {
            runtime.block_on(task).unwrap();
        }
    }
}

/// A client of the DynamoDB face.
struct Http {
    stream: TcpStream,
}

impl Http {
    fn send(&mut self, operation: &str, body: &str) {
        self.stream.write_all(request(operation, body).as_bytes()).unwrap();
    }

    fn get(&mut self, key: &str) {
        self.send(
            "GetItem",
            &format!(r#"{{"TableName": "tab", "Key": {{"k": {{"S": "{key}"}}}}}}"#),
        );
    }

    /// Reads an answer: its head and a body of as many bytes as that says.
    fn answer(&mut self) -> String {
        let mut bytes = Vec::new();
        loop {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
                if body.len() >= length.unwrap().parse::<usize>().unwrap() {
                    return text;
                }
            }
            let mut some = [0; 4096];
            let count = self.stream.read(&mut some).unwrap();
            assert!(count > 0, "closed after {text:?}");
            bytes.extend(&some[..count]);
        }
    }

    fn ask(&mut self, operation: &str, body: &str) -> String {
        self.send(operation, body);
        self.answer()
    }

    /// Asks for an item that is there.
    fn is_served(&mut self) {
        self.get("quick");
        let answer = self.answer();
        assert!(answer.ends_with(r#"{"Item":{"k":{"S":"quick"}}}"#), "{answer}");
    }
}

/// A client of the CQL face.
struct Cql {
    client: Client,
}

impl Cql {
    fn send(&mut self, text: &str) {
        let mut body = u32::try_from(text.len()).unwrap().to_be_bytes().to_vec();
        body.extend(text.as_bytes());
        // Consistency ONE, no flags.
        body.extend([0, 1, 0]);
        self.client.send(&envelope(4, 1, 7, &body));
    }

    fn query(&mut self, text: &str) -> Vec<u8> {
        self.send(text);
        let answer = self.client.answer().unwrap();
        assert_ne!(answer.opcode, ERROR, "{text}: {answer:?}");
        answer.body
    }

    fn get(&mut self, key: &str) {
        self.send(&format!("SELECT v FROM k.t WHERE k = '{key}'"));
    }

    fn row(&mut self) {
        let answer = self.client.answer().unwrap();
        assert!(answer.body.ends_with(&[0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 7]), "{answer:?}");
    }

    /// Asks for a row that is there.
    fn is_served(&mut self) {
        self.get("quick");
        self.row();
    }
}

#[test]
fn reads_that_wait_wait_at_once() {
    let both = Both::start(SIZE, true);
    let mut http: Vec<Http> = (0..CLIENTS).map(|_| both.http()).collect();
    both.gate.close(Closed::For(b"slow"));
    http.iter_mut().for_each(|client| client.get("slow"));
    both.wait_for(CLIENTS);
    both.gate.open();
    assert!(http.iter_mut().all(|client| client.answer().ends_with(r#"{"S":"slow"}}}"#)));

    let mut cql: Vec<Cql> = (0..CLIENTS).map(|_| both.cql()).collect();
    both.gate.close(Closed::For(b"slow"));
    cql.iter_mut().for_each(|client| client.get("slow"));
    both.wait_for(CLIENTS);
    both.gate.open();
    cql.iter_mut().for_each(Cql::row);
    // Of one connection, too.
    let mut client = both.cql();
    both.gate.close(Closed::For(b"slow"));
    (0..CLIENTS).for_each(|_| client.get("slow"));
    both.wait_for(CLIENTS);
    both.gate.open();
    (0..CLIENTS).for_each(|_| client.row());
}

#[test]
fn a_read_that_hangs_holds_nobody_up() {
    let both = Both::start(SIZE, true);
    both.gate.close(Closed::For(b"slow"));
    let (mut http, mut cql) = (both.http(), both.cql());
    http.get("slow");
    cql.get("slow");
    both.wait_for(2);
    for _ in 0..CLIENTS {
        both.http().is_served();
        both.cql().is_served();
    }
    // Neither are writes, which read on their way.
    both.http().ask("UpdateItem", r#"{"TableName": "tab", "Key": {"k": {"S": "quick"}}}"#);
    both.cql().query("UPDATE k.t SET v = 7 WHERE k = 'quick' IF EXISTS");
    assert!(both.inside.now() >= 2);
    both.gate.open();
    assert!(http.answer().ends_with(r#"{"S":"slow"}}}"#));
    cql.row();
}

#[test]
fn heavy_requests_hold_no_light_one_up() {
    // The store does not say that it waits, and light requests run on the threads of the sockets.
    let both = Both::start(SIZE, false);
    let mut http: Vec<Http> = (0..CLIENTS).map(|_| both.http()).collect();
    let mut cql: Vec<Cql> = (0..CLIENTS).map(|_| both.cql()).collect();
    let (mut other_http, mut other_cql) = (both.http(), both.cql());
    both.gate.close(Closed::ButFor(b"quick"));
    http.iter_mut().for_each(|client| client.send("Scan", r#"{"TableName": "tab"}"#));
    both.wait_for(1);
    cql.iter_mut().for_each(|client| client.send("SELECT count(*) FROM k.t"));
    both.wait_for(SIZE.computing);
    for _ in 0..4 {
        other_http.is_served();
        other_cql.is_served();
    }
    assert_eq!(both.inside.now(), SIZE.computing);
    both.gate.open();
    assert!(http.iter_mut().all(|client| client.answer().contains(r#""Count":2"#)));
    cql.iter_mut().for_each(|client| assert!(client.client.answer().is_some()));
}

#[test]
fn what_is_too_much_is_refused_in_the_words_of_each_face() {
    let size = PoolSize { waiting: 1, queued: 1, ..SIZE };
    let both = Both::start(size, true);
    let (mut running, mut queued) = (both.http(), both.cql());
    let (mut late_http, mut late_cql) = (both.http(), both.cql());
    both.gate.close(Closed::For(b"slow"));
    running.get("slow");
    both.wait_for(1);
    queued.get("slow");
    // What is asked behind it on its connection is answered once it stands in the queue.
    assert!(queued.client.is_served());
    late_cql.get("quick");
    let (code, text) = late_cql.client.answer().unwrap().error();
    assert_eq!(code, 0x1001, "{text}");
    late_http.get("quick");
    let answer = late_http.answer();
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(answer.contains("#ProvisionedThroughputExceededException"), "{answer}");
    both.gate.open();
    assert!(running.answer().starts_with("HTTP/1.1 200"));
    queued.row();
    late_http.is_served();
    late_cql.is_served();
}

#[test]
fn the_server_stops_although_a_request_hangs() {
    let mut both = Both::start(SIZE, true);
    both.gate.close(Closed::For(b"slow"));
    let (mut http, mut cql) = (both.http(), both.cql());
    http.get("slow");
    cql.get("slow");
    both.wait_for(2);
    drop(both.stop.take());
    let (runtime, task) = (both.runtime.take().unwrap(), both.task.take().unwrap());
    runtime.block_on(task).unwrap();
    assert!(!both.pool.stop(Duration::from_millis(1)), "two requests hang");
    runtime.shutdown_timeout(PATIENCE);
    both.gate.open();
    assert!(both.pool.stop(PATIENCE));
}
