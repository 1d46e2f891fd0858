//! `shelfmark bench`: measures the engine against the bare store underneath it, and its start, in
//! one run.
//!
//! The store does the same work with the same bytes: the same keys and values, through the same
//! commit log and batching thread. What is left is what the engine adds: keys, rows, checks.

mod load;
mod report;
mod start;

use std::sync::Arc;

use shelfmark_engine::{Engine, Environment, SeededRandom};
use shelfmark_keycode::KeyType;
use shelfmark_model::{KeyColumn, TableName, TableSchema};
use shelfmark_store::Store;
use shelfmark_store::clock::{Clock, SystemClock};
use shelfmark_store::embedded::{EmbeddedStore, Options};

use crate::arguments::Bench;
use load::{Load, Target};
use report::Report;

pub(crate) fn run(bench: &Bench) -> anyhow::Result<()> {
    let folder = tempfile::Builder::new().prefix("shelfmark-bench-").tempdir()?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let open = |name: &str| {
        EmbeddedStore::open(&folder.path().join(name), Options::default(), Arc::clone(&clock))
    };
    let bare: Arc<dyn Store> = Arc::new(open("bare")?);
    let store: Arc<dyn Store> = Arc::new(open("engine")?);
    let random = Arc::new(SeededRandom::new(1));
    let environment = Environment { clock: Arc::clone(&clock), random };
    let engine = Engine::open(Arc::clone(&store), environment)?;
    let schema =
        TableSchema::new(TableName::new("bench", "items"), KeyColumn::new("pk", KeyType::Text))
            .with_sort("sk", KeyType::Text);
    let table = engine.create_table(schema)?;
    let load = Load { items: bench.items, seconds: bench.seconds, clock: Arc::clone(&clock) };
    let targets = [Target::bare(bare), Target::engine(engine, table)];
    let mut report = Report::new(bench);
    for in_flight in [16, 64, 256] {
        let figures = load.puts(&targets, in_flight)?;
        report.add(&format!("durable put, {in_flight} in flight"), 0.9, figures);
    }
    load.fill(&targets)?;
    report.add("point get, 1 thread", 0.7, load.gets(&targets)?);
    report.add("scan of 100, 1 thread", 0.6, load.scans(&targets)?);
    for target in &targets {
        target.close()?;
    }
    drop(targets);
    start::measure(folder.path(), &clock, &mut report)?;
    report.print()
}
