//! The drivers that every case runs on.

use std::sync::Arc;
use std::time::Duration;

use shelfmark_engine::{Engine, Environment, SeededRandom};
use shelfmark_store::Store;
use shelfmark_store::clock::ManualClock;
use shelfmark_store::embedded::{EmbeddedStore, Options};
use shelfmark_store::fault_injection::{FaultInjectingStore, FaultOptions};
use shelfmark_store::memory::MemoryStore;
use shelfmark_typed::{Attributes, Database, EntityTable, Registry};

/// A registry over one driver, its default database, and the clock that both see.
pub(crate) struct Bed {
    pub(crate) engine: Engine,
    pub(crate) registry: Registry,
    pub(crate) database: Database,
    pub(crate) clock: Arc<ManualClock>,
    _folder: Option<tempfile::TempDir>,
}

/// Runs a case on every driver.
pub(crate) fn on_every_driver(case: impl Fn(&Bed)) {
    for (name, build) in [("memory", memory as fn() -> Bed), ("mean", mean), ("embedded", embedded)]
    {
        eprintln!("driver: {name}");
        let bed = build();
        case(&bed);
        bed.engine.store().close().unwrap();
    }
}

/// The meanest driver as far as a caller need not notice: short and empty pages, conflicts that
/// nobody caused, late answers, a `latest` that lags. Sizes as on disk, nothing busy or unknown.
fn mean() -> Bed {
    let clock = clock();
    let options = FaultOptions {
        key_size_bytes_max: 65_535,
        value_size_bytes_max: 16 * 1024 * 1024,
        commit_size_bytes_max: 64 * 1024 * 1024,
        commit_writes_max: 1_000_000,
        page_rows_max: 100,
        conflict: 100,
        busy: 0,
        undetermined: 0,
        ..FaultOptions::new(11)
    };
    let store = FaultInjectingStore::new(Arc::new(MemoryStore::new(clock.clone())), options);
    bed(Arc::new(store), clock, None)
}

fn bed(store: Arc<dyn Store>, clock: Arc<ManualClock>, folder: Option<tempfile::TempDir>) -> Bed {
    let random = Arc::new(SeededRandom::new(7));
    let environment = Environment { clock: clock.clone(), random };
    let engine = Engine::open(store, environment).unwrap();
    let registry = Registry::open(&engine).unwrap();
    let database = registry.environment("default").unwrap().database("default").unwrap();
    Bed { engine, registry, database, clock, _folder: folder }
}

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at_micros(1_700_000_000_000_000))
}

pub(crate) fn memory() -> Bed {
    let clock = clock();
    bed(Arc::new(MemoryStore::new(clock.clone())), clock, None)
}

fn embedded() -> Bed {
    let folder = tempfile::tempdir().unwrap();
    let clock = clock();
    let store = EmbeddedStore::open(folder.path(), Options::default(), clock.clone()).unwrap();
    bed(Arc::new(store), clock, Some(folder))
}

impl Bed {
    pub(crate) fn seconds(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    pub(crate) fn entities(&self, name: &str) -> EntityTable {
        EntityTable::named(&self.database, name).unwrap()
    }
}

/// One attribute `n`.
pub(crate) fn n(n: i64) -> Attributes {
    Attributes::new().with("n", n)
}
