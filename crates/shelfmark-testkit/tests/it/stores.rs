//! The stores that are judged.

use std::path::Path;
use std::sync::Arc;

use shelfmark_store::clock::SystemClock;
use shelfmark_store::embedded::{EmbeddedStore, Options};
use shelfmark_store::fault_injection::{FaultInjectingStore, FaultOptions};
use shelfmark_store::memory::MemoryStore;

pub(crate) fn memory() -> MemoryStore {
    MemoryStore::new(Arc::new(SystemClock::new()))
}

/// All faults, many of them. Late ends only where threads make them matter: in one thread they
/// would make the run depend on the time of day.
pub(crate) fn meanest(seed: u64, late: u16) -> FaultInjectingStore {
    let options = FaultOptions {
        conflict: 100,
        undetermined: 150,
        too_old: 20,
        late,
        ..FaultOptions::new(seed)
    };
    FaultInjectingStore::new(Arc::new(memory()), options)
}

/// Memory tables so small that several are flushed in a run.
pub(crate) fn embedded(folder: &Path) -> EmbeddedStore {
    let options = Options {
        memory_table_bytes: 256 * 1024,
        log_file_bytes: 512 * 1024,
        block_cache_bytes: 4 * 1024 * 1024,
        disk_free_bytes_min: 0,
        ..Options::default()
    };
    EmbeddedStore::open(folder, options, Arc::new(SystemClock::new())).unwrap()
}
