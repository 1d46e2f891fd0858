//! The drivers that every case runs on.

use std::sync::Arc;
use std::time::Duration;

use shelfmark_engine::{Engine, Environment, SeededRandom};
use shelfmark_keycode::KeyType;
use shelfmark_model::{KeyColumn, TableName, TableSchema};
use shelfmark_store::Store;
use shelfmark_store::clock::ManualClock;
use shelfmark_store::embedded::{EmbeddedStore, Options};
use shelfmark_store::memory::MemoryStore;

/// An engine over one driver, and the clock that it sees.
pub(crate) struct Bed {
    pub(crate) engine: Engine,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) name: &'static str,
    _folder: Option<tempfile::TempDir>,
}

/// Runs a case on every driver.
pub(crate) fn on_every_driver(case: impl Fn(&Bed)) {
    for bed in [memory(), embedded()] {
        eprintln!("driver: {}", bed.name);
        case(&bed);
        bed.engine.store().close().unwrap();
    }
}

fn bed(name: &'static str, store: Arc<dyn Store>, clock: Arc<ManualClock>) -> Bed {
    let random = Arc::new(SeededRandom::new(7));
    let environment = Environment { clock: clock.clone(), random };
    Bed { engine: Engine::open(store, environment).unwrap(), clock, name, _folder: None }
}

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at_micros(1_700_000_000_000_000))
}

fn memory() -> Bed {
    let clock = clock();
    bed("memory", Arc::new(MemoryStore::new(clock.clone())), clock)
}

fn embedded() -> Bed {
    let folder = tempfile::tempdir().unwrap();
    let clock = clock();
    let options = Options::default();
    let store = EmbeddedStore::open(folder.path(), options, clock.clone()).unwrap();
    Bed { _folder: Some(folder), ..bed("embedded", Arc::new(store), clock) }
}

impl Bed {
    pub(crate) fn seconds(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }
}

/// A hashed table with a text partition and a text sort key.
pub(crate) fn plain(name: &str) -> TableSchema {
    TableSchema::new(TableName::new("test", name), KeyColumn::new("pk", KeyType::Text))
        .with_sort("sk", KeyType::Text)
}
