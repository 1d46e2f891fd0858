//! Clients that ask for more than there is: the server as a process under a hard limit of memory, one
//! attack after the other, and a bystander whose answers stay right.
//!
//! What it is not: a benchmark. The bystander's times are printed and never asserted.
//!
//! A short selection always runs, all of them with `SHELFMARK_LONG=1`.

mod functions;
mod list;
mod wire;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::process::Server;
use functions::FUNCTIONS;
use list::{ATTACKS, Attack, GUARDED};
use wire::{Cql, call, http};

/// The hard limit of the server's data: 512 MiB, in KiB.
const DATA_KIB_MAX: u64 = 512 * 1024;

/// Longer than any answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Whom an attack is on.
struct Target {
    dynamodb: String,
    cql: String,
    is_long: bool,
}

impl Target {
    fn cql(&self) -> Cql {
        Cql::open(&self.cql, PATIENCE).unwrap()
    }

    /// How many of something: fewer in the short selection.
    fn count(&self, short: usize, long: usize) -> usize {
        if self.is_long { long } else { short }
    }
}

/// Asks small questions all the while, and checks every answer.
struct Bystander {
    stop: Arc<AtomicBool>,
    times: Arc<Mutex<Vec<Duration>>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Bystander {
    fn start(mut ask: impl FnMut() + Send + 'static) -> Self {
        let (stop, times) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let (ended, measured) = (Arc::clone(&stop), Arc::clone(&times));
        let thread = std::thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                let start = Instant::now();
                ask();
                measured.lock().unwrap().push(start.elapsed());
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        Self { stop, times, thread: Some(thread) }
    }

    /// Returns how many answers there were since the last time, their 99th percentile and the longest.
    fn told(&self) -> (usize, Duration, Duration) {
        let mut times = std::mem::take(&mut *self.times.lock().unwrap());
        times.sort();
        let at = |part: usize| times.get(times.len() * part / 100).or(times.last()).copied();
        (times.len(), at(99).unwrap_or_default(), times.last().copied().unwrap_or_default())
    }

    fn end(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

/// A figure of what a process takes, in KiB; 0 if the process is gone.
fn status_kib(id: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok()).unwrap_or(0)
}

/// Most memory that a process has had, in KiB.
fn peak_kib(id: u32) -> u64 {
    status_kib(id, "VmHWM")
}

fn is_long() -> bool {
    std::env::var_os("SHELFMARK_LONG").is_some()
}

/// One server is attacked at a time: the others would take its processors.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Runs attacks on a server, with a bystander beside them.
#[expect(clippy::print_stdout, reason = "the bystander's times are for people to read")]
fn run_all(server: &Server, attacks: &[Attack], bystander: Bystander) {
    let target =
        Target { dynamodb: server.address.clone(), cql: server.cql.clone(), is_long: is_long() };
    std::thread::sleep(Duration::from_millis(300));
    println!("idle: {:?}", bystander.told());
    for attack in attacks.iter().filter(|attack| target.is_long || attack.is_short) {
        let start = Instant::now();
        println!("{} begins", attack.name);
        (attack.run)(&target);
        let (count, p99, longest) = bystander.told();
        println!(
            "{}: {:?}; bystander: {count} answers, p99 {p99:?}, longest {longest:?}; peak {} MiB, \
             data {} MiB",
            attack.name,
            start.elapsed(),
            peak_kib(server.id()) / 1024,
            status_kib(server.id(), "VmData") / 1024
        );
        assert!(peak_kib(server.id()) > 0, "the server is gone after: {}", attack.name);
        assert!(
            !bystander.thread.as_ref().unwrap().is_finished(),
            "the bystander gave up during: {}",
            attack.name
        );
    }
    bystander.end();
    assert!(peak_kib(server.id()) < DATA_KIB_MAX);
}

/// What attacks find: a small row, a wide partition of large rows, items.
fn load(server: &Server) {
    let mut cql = Cql::open(&server.cql, PATIENCE).unwrap();
    let mut run = |text: &str| {
        let answer = cql.ask(text).unwrap();
        assert_ne!(answer.opcode, 0, "{text}: {:?}", answer.error());
    };
    run(
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    run("CREATE TABLE k.one (a int PRIMARY KEY, v int)");
    run("INSERT INTO k.one (a, v) VALUES (1, 42)");
    run("CREATE TABLE k.wide (a int, b int, v blob, PRIMARY KEY (a, b))");
    run("CREATE TABLE k.keys (a int, b int, c int, d int, v int, PRIMARY KEY ((a, b), c, d))");
    run("CREATE TABLE k.texts (a text, b text, c int, v int, PRIMARY KEY ((a, b), c))");
    run("CREATE TABLE k.cas (a int, b int, v int, PRIMARY KEY (a, b))");
    let value = vec![7; 1 << 20];
    let rows: i32 = if is_long() { 400 } else { 96 };
    for row in 0..rows {
        let text = "INSERT INTO k.wide (a, b, v) VALUES (1, ?, ?)";
        let start = Instant::now();
        loop {
            cql.send(wire::QUERY, &wire::query_with(text, &[&row.to_be_bytes(), &value])).unwrap();
            let answer = cql.answer().unwrap();
            if answer.opcode == 8 {
                break;
            }
            // On a busy machine the disk is behind: who is refused comes again.
            assert!(start.elapsed() < PATIENCE, "row {row}: {:?}", answer.error());
            std::thread::sleep(Duration::from_millis(200));
        }
    }
    server.create_table("tab");
    server.put("tab", "a", "1");
}

/// Starts a server under a hard limit, which it finds by itself.
fn limited(folder: &Path, flags: &[&str]) -> Server {
    Server::start_under(DATA_KIB_MAX, folder, flags)
}

#[test]
fn nothing_that_is_asked_for_brings_the_server_down() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    // More than such a process can hold: what cannot be had is not shared out.
    let server = limited(folder.path(), &["--memory-limit", "512MB"]);
    load(&server);
    let (cql, dynamodb) = (server.cql.clone(), server.address.clone());
    let mut client = Cql::open(&cql, PATIENCE).unwrap();
    let bystander = Bystander::start(move || {
        let answer = client.ask("SELECT v FROM k.one WHERE a = 1").unwrap();
        assert!(
            answer.opcode == 8 && answer.body.ends_with(&[0, 0, 0, 4, 0, 0, 0, 42]),
            "{answer:?}"
        );
        let get = call("GetItem", r#"{"TableName":"tab","Key":{"pk":{"S":"a"},"sk":{"S":"1"}}}"#);
        assert_eq!(http(&dynamodb, PATIENCE, &get), 200);
    });
    run_all(&server, &[ATTACKS, FUNCTIONS].concat(), bystander);
}

#[test]
fn strangers_have_a_small_share() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("keys"), "[default]\naws_access_key_id = ME\naws_secret_access_key = s\n")
        .unwrap();
    std::fs::write(path("password"), "secret").unwrap();
    let (keys, password) = (path("keys"), path("password"));
    let flags = ["--credentials", &keys, "--cql-user", "ann", "--cql-password-file", &password];
    let server = limited(folder.path(), &flags);
    let cql = server.cql.clone();
    let mut client = Cql::log_in(&cql, PATIENCE, "ann", "secret").unwrap();
    let bystander = Bystander::start(move || {
        let answer = client.ask("SELECT key FROM system.local").unwrap();
        assert_eq!(answer.opcode, 8, "{answer:?}");
    });
    run_all(&server, GUARDED, bystander);
}
