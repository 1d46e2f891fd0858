//! The drivers under test: how each is opened, and opened again.

use std::sync::Arc;

use shelfmark_conformance::{Lane, SNAPSHOT_AGE_MAX, SNAPSHOT_BYTES_MAX};
use shelfmark_store::clock::ManualClock;
use shelfmark_store::embedded::{EmbeddedStore, Options};
use shelfmark_store::fault_injection::{FaultInjectingStore, FaultOptions};
use shelfmark_store::memory::MemoryStore;
use shelfmark_store::{Caps, Store};
use tempfile::TempDir;

/// A driver and the place of its one store.
pub(crate) struct OwnLane {
    driver: Driver,
    clock: Arc<ManualClock>,
}

enum Driver {
    Memory,
    /// Over a memory store; the seed, and whether commits fail.
    Meanest(u64, bool),
    Embedded(TempDir),
    /// Over an embedded store, with all faults; the seed.
    MeanEmbedded(TempDir, u64),
}

impl OwnLane {
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
}

impl Lane for OwnLane {
    fn open(&self) -> Arc<dyn Store> {
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

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    fn keeps(&self) -> bool {
        matches!(self.driver, Driver::Embedded(_) | Driver::MeanEmbedded(..))
    }

    fn is_behind(&self) -> bool {
        matches!(self.driver, Driver::Meanest(..) | Driver::MeanEmbedded(..))
    }
}

fn mean(inner: Arc<dyn Store>, seed: u64) -> FaultInjectingStore {
    FaultInjectingStore::new(inner, FaultOptions { undetermined: 40, ..FaultOptions::new(seed) })
}
