//! The drivers under test: how each is opened, and opened again.

/// Makes a test of each case for one lane.
macro_rules! cases {
    ($lane:ident: $($module:ident { $($case:ident,)* })*) => {
        mod $lane {
            $($(
                #[test]
                fn $case() {
                    super::$module::$case(&crate::lanes::Lane::$lane());
                }
            )*)*
        }
    };
}

/// Makes a test of each case for every lane of this crate.
macro_rules! every_lane {
    ($($cases:tt)*) => {
        cases!(memory: $($cases)*);
        cases!(meanest: $($cases)*);
        cases!(embedded: $($cases)*);
    };
}

use std::sync::Arc;
use std::time::Duration;

use shelfmark_store::clock::ManualClock;
use shelfmark_store::embedded::{EmbeddedStore, Options};
use shelfmark_store::fault_injection::{FaultInjectingStore, FaultOptions};
use shelfmark_store::memory::MemoryStore;
use shelfmark_store::{Caps, Store};
use tempfile::TempDir;

/// How long a snapshot lives in every lane.
pub(crate) const SNAPSHOT_AGE_MAX: Duration = Duration::from_secs(60);
/// How many bytes may be written under a snapshot in every lane.
pub(crate) const SNAPSHOT_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// A driver and the place of its one store.
pub(crate) struct Lane {
    driver: Driver,
    pub(crate) clock: Arc<ManualClock>,
}

enum Driver {
    Memory,
    /// Over a memory store; the seed, and whether commits fail.
    Meanest(u64, bool),
    Embedded(TempDir),
    /// Over an embedded store, with all faults; the seed.
    MeanEmbedded(TempDir, u64),
}

impl Lane {
    fn of(driver: Driver) -> Self {
        // Some date: no driver may care.
        Self { driver, clock: Arc::new(ManualClock::at_micros(1_700_000_000_000_000)) }
    }

    pub(crate) fn memory() -> Self {
        Self::of(Driver::Memory)
    }

    /// The meanest store with everything but errors.
    pub(crate) fn meanest() -> Self {
        Self::of(Driver::Meanest(1, false))
    }

    /// The meanest store with all its faults.
    pub(crate) fn faulty(seed: u64) -> Self {
        Self::of(Driver::Meanest(seed, true))
    }

    pub(crate) fn embedded() -> Self {
        Self::of(Driver::Embedded(tempfile::tempdir().unwrap()))
    }

    /// The meanest store with all its faults, over an embedded one.
    pub(crate) fn faulty_embedded(seed: u64) -> Self {
        Self::of(Driver::MeanEmbedded(tempfile::tempdir().unwrap(), seed))
    }

    /// Opens the store; for a driver that keeps something, as it was left.
    pub(crate) fn open(&self) -> Arc<dyn Store> {
        match &self.driver {
            Driver::Memory => Arc::new(self.open_memory()),
            Driver::Meanest(seed, has_faults) => {
                let store = mean(Arc::new(self.open_memory()), *seed);
                store.set_faults(*has_faults);
                Arc::new(store)
            }
            Driver::Embedded(folder) => Arc::new(self.open_embedded(folder)),
            Driver::MeanEmbedded(folder, seed) => {
                Arc::new(mean(Arc::new(self.open_embedded(folder)), *seed))
            }
        }
    }

    fn open_embedded(&self, folder: &TempDir) -> EmbeddedStore {
        let options = Options {
            // Small, so that flushes and new log files come in between.
            memory_table_bytes: 256 * 1024,
            log_file_bytes: 256 * 1024,
            block_cache_bytes: 4 * 1024 * 1024,
            snapshot_age_max: SNAPSHOT_AGE_MAX,
            snapshot_bytes_max: SNAPSHOT_BYTES_MAX,
            disk_free_bytes_min: 0,
            ..Options::default()
        };
        let folder = folder.path().join("store");
        EmbeddedStore::open(&folder, options, self.clock.clone()).unwrap()
    }

    fn open_memory(&self) -> MemoryStore {
        let caps = Caps {
            snapshot_age_max: SNAPSHOT_AGE_MAX,
            snapshot_bytes_max: SNAPSHOT_BYTES_MAX,
            ..MemoryStore::default_caps()
        };
        MemoryStore::with_caps(self.clock.clone(), caps)
    }

    /// Closes `store` and opens it again, where the driver keeps anything; else returns it.
    pub(crate) fn reopen(&self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        if !self.keeps() {
            return store;
        }
        store.close().unwrap();
        drop(store);
        self.open()
    }

    /// Drops `store` without closing it and opens it again, where the driver keeps anything.
    pub(crate) fn crash(&self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        if !self.keeps() {
            return store;
        }
        drop(store);
        self.open()
    }

    /// Returns true if the driver keeps what was committed when it is closed.
    pub(crate) fn keeps(&self) -> bool {
        matches!(self.driver, Driver::Embedded(_) | Driver::MeanEmbedded(..))
    }

    /// Returns true if `latest` may show less than what is queued.
    pub(crate) fn is_behind(&self) -> bool {
        matches!(self.driver, Driver::Meanest(..) | Driver::MeanEmbedded(..))
    }
}

fn mean(inner: Arc<dyn Store>, seed: u64) -> FaultInjectingStore {
    FaultInjectingStore::new(inner, FaultOptions { undetermined: 40, ..FaultOptions::new(seed) })
}
