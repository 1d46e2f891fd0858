//! Measures the start: the time from the process to its first answer, after a clean stop and after
//! a crash, and the memory of an idle server.
//!
//! The server is this command itself, `shelfmark serve`, as a process of its own.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use shelfmark_engine::{Engine, Environment, SeededRandom, Write};
use shelfmark_keycode::KeyType;
use shelfmark_model::{Item, KeyColumn, TableName, TableSchema, Value};
use shelfmark_store::clock::Clock;
use shelfmark_store::embedded::{EmbeddedStore, Options};
use shelfmark_store::sleep::{Sleeper as _, ThreadSleeper};
use shelfmark_store::{Durability, Store, vfs};

use super::load::body;
use super::report::Report;

const MIB: u64 = 1024 * 1024;
/// Size of the log that a crash leaves to be replayed: as much as is kept before a flush.
const LOG_BYTES: u64 = 63 * MIB;
/// Items written before the first start.
const ITEMS: u64 = 50_000;
/// Tables of the store with many tables.
const TABLES: usize = 10_000;
/// Number of starts of which the median counts.
const STARTS: usize = 5;

/// The figures of a start.
struct Started {
    first_answer: Duration,
    idle_bytes: Option<u64>,
}

/// Runs all measurements below `folder`.
pub(super) fn measure(
    folder: &Path,
    clock: &Arc<dyn Clock>,
    report: &mut Report,
) -> anyhow::Result<()> {
    let store = folder.join("start");
    fill(&store, clock, |engine, table| {
        for first in (0..ITEMS).step_by(100) {
            engine.write_all(items(table, first))?;
        }
        engine.store().close()?;
        Ok(())
    })?;
    let started = starts(&store, clock)?;
    let ms = |started: &Started| format!("{:.0} ms", started.first_answer.as_secs_f64() * 1e3);
    report.add_start("start to first answer after a clean stop", ms(&started), "50 ms");
    let idle = started.idle_bytes.map_or("unknown here".to_owned(), |bytes| {
        format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10)
    });
    report.add_start("memory of the idle server then", idle, "30 MB");

    let store = folder.join("tables");
    fill(&store, clock, |engine, _| {
        for number in 1..TABLES {
            engine.create_table(schema(&format!("t{number}")))?;
        }
        engine.store().close()?;
        Ok(())
    })?;
    let what = format!("the same with {TABLES} tables");
    report.add_start(&what, ms(&starts(&store, clock)?), "50 ms");

    let store = folder.join("crash");
    let log = std::cell::Cell::new(0);
    fill(&store, clock, |engine, table| {
        let mut first = 0;
        while log.get() < LOG_BYTES {
            engine.write_all(items(table, first))?;
            first += 100;
            log.set(engine.store().stats().log_bytes_on_disk);
        }
        // Dropped and not closed: the log is all there is, as after `kill -9`.
        Ok(())
    })?;
    let what = format!("start to first answer after a crash, {} MiB of log", log.get() / MIB);
    report.add_start(&what, ms(&start(&store, clock)?), "700 ms");
    Ok(())
}

fn schema(name: &str) -> TableSchema {
    let name = TableName::new("dynamodb", name);
    TableSchema::new(name, KeyColumn::new("pk", KeyType::Text)).with_sort("sk", KeyType::Text)
}

fn items(table: &Arc<shelfmark_engine::Table>, first: u64) -> Vec<Write> {
    let item = |n: u64| {
        let item = Item::new().with("pk", format!("user#{:08}", n / 1000));
        let item = item.with("sk", format!("message#{n:012}"));
        Write::put(table, item.with("body", Value::Bytes(body(n))))
    };
    (first..first + 100).map(item).collect()
}

/// Creates a store with a filled table; nothing is flushed before it is closed.
fn fill(
    folder: &Path,
    clock: &Arc<dyn Clock>,
    work: impl FnOnce(&Engine, &Arc<shelfmark_engine::Table>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let options = Options {
        durability: Durability::Interval(Duration::from_millis(50)),
        memory_table_bytes: 1024 * MIB,
        ..Options::default()
    };
    let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(folder, options, Arc::clone(clock))?);
    let random = Arc::new(SeededRandom::new(1));
    let engine = Engine::open(store, Environment { clock: Arc::clone(clock), random })?;
    let table = engine.create_table(schema("t0"))?;
    work(&engine, &table)
}

/// Starts several times, each after a clean stop, and returns the median.
fn starts(folder: &Path, clock: &Arc<dyn Clock>) -> anyhow::Result<Started> {
    let mut all = (0..STARTS).map(|_| start(folder, clock)).collect::<anyhow::Result<Vec<_>>>()?;
    all.sort_by_key(|started| started.first_answer);
    Ok(all.swap_remove(STARTS / 2))
}

fn start(folder: &Path, clock: &Arc<dyn Clock>) -> anyhow::Result<Started> {
    let began = clock.monotonic();
    let mut server = Server(
        Command::new(std::env::current_exe()?)
            .args(["serve", "--dynamodb", "127.0.0.1:0", "--cql", "127.0.0.1:0", "--data"])
            .arg(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?,
    );
    let mut lines = BufReader::new(server.0.stdout.take().context("no output")?).lines();
    let line = lines.next().context("the server ended at once")??;
    let address = line.strip_prefix("dynamodb http://").context("the server says no address")?;
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(
        b"POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810.ListTables\r\n\
          Content-Type: application/json\r\nContent-Length: 11\r\n\r\n{\"Limit\":1}",
    )?;
    let mut head = [0; 12];
    stream.read_exact(&mut head)?;
    let first_answer = clock.monotonic() - began;
    if &head != b"HTTP/1.1 200" {
        bail!("the first answer is {}", head.escape_ascii());
    }
    drop(stream);
    ThreadSleeper.sleep(Duration::from_millis(300));
    let idle_bytes = memory_of(&server.0);
    server.stop()?;
    Ok(Started { first_answer, idle_bytes })
}

/// Returns the resident memory of a process in bytes, where the system tells it.
fn memory_of(process: &Child) -> Option<u64> {
    let status = vfs::read(Path::new(&format!("/proc/{}/status", process.id()))).ok()?;
    let status = String::from_utf8(status).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// A server process that is killed at the end of the measurement.
struct Server(Child);

impl Server {
    fn stop(&mut self) -> anyhow::Result<()> {
        let id = self.0.id().to_string();
        Command::new("kill").args(["-TERM", &id]).status()?;
        let status = self.0.wait()?;
        anyhow::ensure!(status.success(), "the server did not stop in good order: {status}");
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // After `stop` there is nobody left.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
