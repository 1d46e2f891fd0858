//! The drivers that every case runs on, and an engine over each.
//!
//! The meanest driver answers what a caller must expect: the engine absorbs a conflict by itself,
//! `Busy` reaches the caller, who waits and calls again ([`patiently`]). Ends that nobody knows are
//! off here; `faults` has them on.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use shelfmark_engine::{
    Engine, Environment, ErrorKind, Once, Result, SeededRandom, SweepPosition, Table, Token,
    Transaction, Write, Written,
};
use shelfmark_keycode::KeyType;
use shelfmark_model::{IndexSchema, Item, KeyColumn, TableName, TableOptions, TableSchema};
use shelfmark_store::clock::{Clock as _, ManualClock, SystemClock};
use shelfmark_store::embedded::{EmbeddedStore, Options};
use shelfmark_store::fault_injection::{FaultInjectingStore, FaultOptions};
use shelfmark_store::memory::MemoryStore;
use shelfmark_store::{
    Caps, Commit, Completion, KeyRange, Maintained, Queued, Snapshot, Store, StoreStats,
};

/// Names a cluster's placement drivers; then cases run there alone (`cargo xtask tikv`).
const CLUSTER: &str = "SHELFMARK_TIKV";

/// What the clock of every bed shows at first, in seconds since the Unix epoch.
pub(crate) const START_SECONDS: u64 = 1_700_000_000;

/// An engine over one driver, and the clock that it sees.
pub(crate) struct Bed {
    pub(crate) engine: Engine,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) name: &'static str,
    /// The meanest driver, if this is it.
    pub(crate) meanest: Option<Arc<FaultInjectingStore>>,
    folder: Option<tempfile::TempDir>,
}

/// Runs a case on every driver.
pub(crate) fn on_every_driver(case: impl Fn(&Bed)) {
    let own: &[fn() -> Bed] = match std::env::var_os(CLUSTER) {
        None => &[memory, meanest, embedded, restless],
        Some(_) => &[tikv],
    };
    for build in own {
        let bed = build();
        eprintln!("driver: {}", bed.name);
        case(&bed);
        bed.engine.store().close().unwrap();
    }
}

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at_micros(START_SECONDS * 1_000_000))
}

fn bed(name: &'static str, store: Arc<dyn Store>, clock: Arc<ManualClock>) -> Bed {
    let engine = open(store, &clock);
    Bed { engine, clock, name, meanest: None, folder: None }
}

/// Opens an engine over a store that may be busy.
pub(crate) fn open(store: Arc<dyn Store>, clock: &Arc<ManualClock>) -> Engine {
    let random = Arc::new(SeededRandom::new(7));
    let environment = Environment { clock: clock.clone(), random };
    patiently(|| Engine::open(Arc::clone(&store), environment.clone())).unwrap()
}

/// In memory.
pub(crate) fn memory() -> Bed {
    let clock = clock();
    bed("memory", Arc::new(MemoryStore::new(clock.clone())), clock)
}

/// The meanest driver over memory; `SHELFMARK_SEED` chooses what it does when.
pub(crate) fn meanest() -> Bed {
    let seed = std::env::var("SHELFMARK_SEED").ok().and_then(|seed| seed.trim().parse().ok());
    let options = FaultOptions::new(seed.unwrap_or(5));
    meaner(FaultOptions { conflict: 120, busy: 60, undetermined: 0, ..options })
}

/// The meanest driver, as mean as chosen once the engine is open.
pub(crate) fn meaner(options: FaultOptions) -> Bed {
    let clock = clock();
    let store =
        Arc::new(FaultInjectingStore::new(Arc::new(MemoryStore::new(clock.clone())), options));
    store.set_faults(false);
    let bed = bed("meanest", Arc::clone(&store) as Arc<dyn Store>, clock);
    store.set_faults(true);
    Bed { meanest: Some(store), ..bed }
}

/// On disk.
pub(crate) fn embedded() -> Bed {
    let (folder, clock) = (tempfile::tempdir().unwrap(), clock());
    let store = embedded_store(folder.path(), Options::default(), &clock);
    Bed { folder: Some(folder), ..bed("embedded", store, clock) }
}

/// On disk, with memory tables that are written out all the time.
pub(crate) fn restless() -> Bed {
    let (folder, clock) = (tempfile::tempdir().unwrap(), clock());
    let store = restless_store(folder.path(), &clock);
    Bed { folder: Some(folder), ..bed("restless", store, clock) }
}

/// As [`restless`]; every other ingestion is done and not told of, as if the process had ended then.
pub(crate) fn forgetful() -> Bed {
    let (folder, clock) = (tempfile::tempdir().unwrap(), clock());
    let inner = restless_store(folder.path(), &clock);
    let store = Arc::new(Forgetful { inner, ingestions: AtomicU64::new(0) });
    Bed { folder: Some(folder), ..bed("forgetful", store, clock) }
}

/// On a cluster, in a space of its own.
fn tikv() -> Bed {
    let [bed, other] = tikv_servers();
    other.engine.store().close().unwrap();
    bed
}

/// Two servers on a cluster, in one space of their own.
pub(crate) fn tikv_servers() -> [Bed; 2] {
    let space = format!("engine-{:x}", SystemClock::new().now_micros());
    [tikv_in(&space), tikv_in(&space)]
}

fn tikv_in(space: &str) -> Bed {
    let clock = clock();
    let placement = std::env::var(CLUSTER).unwrap();
    let mut options =
        shelfmark_tikv::Options::new(placement.split(',').map(str::to_owned).collect());
    // Leases go by real time, whatever the engine's clock shows.
    let real = Arc::new(SystemClock::new());
    space.clone_into(&mut options.space);
    let store = shelfmark_tikv::TikvStore::open(options, real).unwrap();
    bed("tikv", Arc::new(store), clock)
}

fn embedded_store(folder: &Path, options: Options, clock: &Arc<ManualClock>) -> Arc<dyn Store> {
    Arc::new(EmbeddedStore::open(folder, options, clock.clone()).unwrap())
}

fn restless_store(folder: &Path, clock: &Arc<ManualClock>) -> Arc<dyn Store> {
    let options = Options {
        memory_table_bytes: 256 * 1024,
        log_file_bytes: 512 * 1024,
        block_cache_bytes: 4 * 1024 * 1024,
        ..Options::default()
    };
    let inner = embedded_store(folder, options, clock);
    Arc::new(Restless { inner, commits: AtomicU64::new(0) })
}

/// Calls again as long as the store is busy, as a caller must.
pub(crate) fn patiently<T>(mut call: impl FnMut() -> Result<T>) -> Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Busy => {
                assert!(error.retry_after().is_some(), "busy, and nothing said about how long");
            }
            ended => return ended,
        }
    }
}

/// The calls of the engine that may be busy, made patiently.
impl Bed {
    pub(crate) fn seconds(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    /// Waits until everything queued is durable and visible.
    pub(crate) fn settle(&self) {
        patiently(|| Ok(self.engine.store().commit(Commit::default())?)).unwrap();
    }

    /// Closes the store and opens it again, where it is one that lasts.
    pub(crate) fn reopen(&mut self) {
        let Some(folder) = &self.folder else { return };
        self.engine.store().close().unwrap();
        // The folder is let go with the last handle.
        let (placeholder, clock) = (memory().engine, Arc::clone(&self.clock));
        drop(std::mem::replace(&mut self.engine, placeholder));
        let store = match self.name {
            "restless" => restless_store(folder.path(), &clock),
            _ => embedded_store(folder.path(), Options::default(), &clock),
        };
        self.engine = open(store, &clock);
    }

    /// Makes a call that may be busy.
    pub(crate) fn patient<T>(&self, mut call: impl FnMut(&Engine) -> Result<T>) -> T {
        patiently(|| call(&self.engine)).unwrap()
    }

    pub(crate) fn create_table(&self, schema: TableSchema) -> Result<Arc<Table>> {
        patiently(|| self.engine.create_table(schema.clone()))
    }

    pub(crate) fn drop_table(&self, name: &TableName) -> Result<()> {
        patiently(|| self.engine.drop_table(name))
    }

    pub(crate) fn alter_options(
        &self,
        name: &TableName,
        change: impl Fn(&mut TableOptions),
    ) -> Result<Arc<Table>> {
        patiently(|| self.engine.alter_options(name, &change))
    }

    pub(crate) fn add_index(&self, name: &TableName, index: IndexSchema) -> Result<Arc<Table>> {
        patiently(|| self.engine.add_index(name, index.clone()))
    }

    pub(crate) fn drop_index(&self, name: &TableName, index: &str) -> Result<Arc<Table>> {
        patiently(|| self.engine.drop_index(name, index))
    }

    pub(crate) fn write(&self, write: Write) -> Result<Written> {
        patiently(|| self.engine.write(write.clone()))
    }

    pub(crate) fn write_all(&self, writes: Vec<Write>) -> Result<Vec<Written>> {
        patiently(|| self.engine.write_all(writes.clone()))
    }

    pub(crate) fn write_all_once(&self, token: &Token, writes: Vec<Write>) -> Result<Once> {
        patiently(|| self.engine.write_all_once(token, writes.clone()))
    }

    pub(crate) fn put(&self, table: &Arc<Table>, item: Item) {
        self.write(Write::put(table, item)).unwrap();
    }

    pub(crate) fn transact<T>(
        &self,
        mut body: impl FnMut(&Transaction<'_>) -> Result<T>,
    ) -> Result<T> {
        patiently(|| self.engine.transact(&mut body))
    }

    pub(crate) fn sweep(&self, position: &mut SweepPosition, limit: usize) -> Result<usize> {
        patiently(|| self.engine.sweep(position, limit))
    }

    /// Purges; where a thread behind the scenes may be reading, a few times.
    pub(crate) fn purge(&self) -> Result<usize> {
        let tries = if self.name == "tikv" { 20 } else { 1 };
        let mut left = patiently(|| self.engine.purge())?;
        for _ in 1..tries {
            if left == 0 {
                break;
            }
            left = patiently(|| self.engine.purge())?;
        }
        Ok(left)
    }
}

/// Writes the memory table out and compacts beside every few commits.
struct Restless {
    inner: Arc<dyn Store>,
    commits: AtomicU64,
}

impl Store for Restless {
    fn snapshot(&self) -> shelfmark_store::Result<Arc<dyn Snapshot>> {
        self.inner.snapshot()
    }

    fn latest(&self) -> shelfmark_store::Result<Arc<dyn Snapshot>> {
        self.inner.latest()
    }

    fn snapshot_for_copy(&self) -> shelfmark_store::Result<Arc<dyn Snapshot>> {
        self.inner.snapshot_for_copy()
    }

    fn submit(&self, commit: Commit, done: Completion) -> shelfmark_store::Result<Queued> {
        if self.commits.fetch_add(1, Ordering::SeqCst) % 64 == 63 {
            self.inner.maintain()?;
        }
        self.inner.submit(commit, done)
    }

    fn boundaries(&self, range: &KeyRange) -> shelfmark_store::Result<Vec<Bytes>> {
        self.inner.boundaries(range)
    }

    fn destroy_range(&self, range: &KeyRange) -> shelfmark_store::Result<()> {
        self.inner.destroy_range(range)
    }

    fn ingest(
        &self,
        rows: &mut dyn Iterator<Item = shelfmark_store::Result<(Bytes, Bytes)>>,
    ) -> shelfmark_store::Result<()> {
        self.inner.ingest(rows)
    }

    fn maintain(&self) -> shelfmark_store::Result<Maintained> {
        self.inner.maintain()
    }

    fn caps(&self) -> Caps {
        self.inner.caps()
    }

    fn stats(&self) -> StoreStats {
        self.inner.stats()
    }

    fn close(&self) -> shelfmark_store::Result<()> {
        self.inner.close()
    }
}

/// Answers every other ingestion with an error once it is done.
struct Forgetful {
    inner: Arc<dyn Store>,
    ingestions: AtomicU64,
}

impl Store for Forgetful {
    fn snapshot(&self) -> shelfmark_store::Result<Arc<dyn Snapshot>> {
        self.inner.snapshot()
    }

    fn latest(&self) -> shelfmark_store::Result<Arc<dyn Snapshot>> {
        self.inner.latest()
    }

    fn snapshot_for_copy(&self) -> shelfmark_store::Result<Arc<dyn Snapshot>> {
        self.inner.snapshot_for_copy()
    }

    fn submit(&self, commit: Commit, done: Completion) -> shelfmark_store::Result<Queued> {
        self.inner.submit(commit, done)
    }

    fn boundaries(&self, range: &KeyRange) -> shelfmark_store::Result<Vec<Bytes>> {
        self.inner.boundaries(range)
    }

    fn destroy_range(&self, range: &KeyRange) -> shelfmark_store::Result<()> {
        self.inner.destroy_range(range)
    }

    fn ingest(
        &self,
        rows: &mut dyn Iterator<Item = shelfmark_store::Result<(Bytes, Bytes)>>,
    ) -> shelfmark_store::Result<()> {
        self.inner.ingest(rows)?;
        if self.ingestions.fetch_add(1, Ordering::SeqCst).is_multiple_of(2) {
            let kind = shelfmark_store::ErrorKind::Unavailable;
            return Err(shelfmark_store::Error::new(kind, "done, and not told of"));
        }
        Ok(())
    }

    fn maintain(&self) -> shelfmark_store::Result<Maintained> {
        self.inner.maintain()
    }

    fn caps(&self) -> Caps {
        self.inner.caps()
    }

    fn stats(&self) -> StoreStats {
        self.inner.stats()
    }

    fn close(&self) -> shelfmark_store::Result<()> {
        self.inner.close()
    }
}

/// A hashed table with a text partition and a text sort key.
pub(crate) fn plain(name: &str) -> TableSchema {
    TableSchema::new(TableName::new("test", name), KeyColumn::new("pk", KeyType::Text))
        .with_sort("sk", KeyType::Text)
}

/// Every key of the store that begins with `prefix`, however short its pages are.
pub(crate) fn keys(bed: &Bed, prefix: &[u8]) -> Vec<Bytes> {
    let view = bed.engine.store().snapshot().unwrap();
    let mut keys = Vec::new();
    let mut rest = Some(KeyRange::prefix(prefix.to_vec()));
    while let Some(range) = rest {
        let page = view.scan(&range, Default::default(), Default::default()).unwrap();
        keys.extend(page.rows.into_iter().map(|row| row.key));
        rest = page.next;
    }
    keys
}
