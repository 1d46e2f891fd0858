//! Every kind of error, produced by calls that a program can make, on drivers as they are.
//!
//! The match has no arm for the rest, so a kind that is added here fails to compile until somebody
//! says how it comes about.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use shelfmark_engine::{
    Engine, Environment, Error, ErrorKind, Get, Query, Result, SeededRandom, Write,
};
use shelfmark_model::{Condition, Item, Key, Path as ItemPath, TableName};
use shelfmark_store::clock::{Clock, ManualClock};
use shelfmark_store::embedded::{EmbeddedStore, Options};
use shelfmark_store::fault_injection::FaultOptions;
use shelfmark_store::memory::MemoryStore;
use shelfmark_store::{Commit, Store, Write as StoreWrite, vfs};

use crate::drivers::{Bed, START_SECONDS, embedded, keys, meaner, memory, plain};

fn item(pk: &str) -> Item {
    Item::new().with("pk", pk).with("sk", "x")
}

fn get(pk: &str) -> Get {
    Get::new(Key::pair(pk, "x"))
}

/// A program's way to an engine on disk: whatever goes wrong on it is one kind of error to it.
fn program(folder: &Path, options: Options) -> Result<Engine> {
    let clock = Arc::new(ManualClock::at_micros(START_SECONDS * 1_000_000));
    let store = EmbeddedStore::open(folder, options, clock.clone())?;
    Engine::open(Arc::new(store), Environment { clock, random: Arc::new(SeededRandom::new(7)) })
}

#[test]
fn every_kind_is_produced_from_outside() {
    for kind in ErrorKind::ALL {
        let error = produce(kind);
        assert_eq!(error.kind(), kind, "{error}");
        assert!(!error.to_string().is_empty());
        assert_eq!(error.retry_after().is_some(), kind == ErrorKind::Busy, "{error}");
    }
}

fn produce(kind: ErrorKind) -> Error {
    match kind {
        ErrorKind::Conflict => always_late(),
        ErrorKind::ConditionFailed => {
            let (bed, table) = filled(embedded());
            let absent = Condition::NotExists(ItemPath::attribute("pk"));
            bed.engine.write(Write::put(&table, item("a")).when(absent)).unwrap_err()
        }
        ErrorKind::Invalid => {
            let (bed, table) = filled(embedded());
            bed.engine.write(Write::put(&table, Item::new())).unwrap_err()
        }
        ErrorKind::NotFound => {
            embedded().engine.table(&TableName::new("test", "nothing")).unwrap_err()
        }
        ErrorKind::AlreadyExists => {
            let (bed, _) = filled(embedded());
            bed.engine.create_table(plain("t")).unwrap_err()
        }
        ErrorKind::LimitExceeded => {
            let (bed, table) = filled(embedded());
            bed.engine.write(Write::put(&table, item(&"x".repeat(70_000)))).unwrap_err()
        }
        ErrorKind::Busy => {
            let options = FaultOptions { busy: 1000, late: 0, ..FaultOptions::new(1) };
            with_faults(options).unwrap_err()
        }
        ErrorKind::Undetermined => {
            let mut options = FaultOptions { undetermined: 1000, ..FaultOptions::new(1) };
            (options.busy, options.late) = (0, 0);
            with_faults(options).unwrap_err()
        }
        ErrorKind::TooOld => {
            let (bed, table) = filled(embedded());
            let view = bed.engine.snapshot().unwrap();
            bed.seconds(3600);
            view.get(&table, &get("a")).unwrap_err()
        }
        ErrorKind::ReadOnly => disk_full(),
        ErrorKind::Unavailable => {
            let folder = tempfile::tempdir().unwrap();
            let _first = program(folder.path(), Options::default()).unwrap();
            program(folder.path(), Options::default()).err().unwrap()
        }
        ErrorKind::Closed => {
            let (bed, table) = filled(embedded());
            bed.engine.store().close().unwrap();
            bed.engine.get(&table, &get("a")).unwrap_err()
        }
        ErrorKind::Io => {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("file");
            vfs::replace(&file, b"no folder").unwrap();
            program(&file.join("store"), Options::default()).err().unwrap()
        }
        ErrorKind::Corrupt => {
            let (bed, table) = filled(embedded());
            let row = keys(&bed, &[2]).remove(0);
            let value = bytes::Bytes::from_static(b"no record");
            let damage = StoreWrite::Put { key: row, value };
            bed.engine.store().commit(Commit::of(vec![damage])).unwrap();
            let error = bed.engine.get(&table, &get("a")).unwrap_err();
            let query = Query::partition(vec!["a".into()]);
            assert_eq!(bed.engine.query(&table, &query).unwrap_err().kind(), error.kind());
            error
        }
        ErrorKind::Internal => after_a_panic(),
    }
}

fn filled(bed: Bed) -> (Bed, Arc<shelfmark_engine::Table>) {
    let table = bed.engine.create_table(plain("t")).unwrap();
    bed.engine.write(Write::put(&table, item("a"))).unwrap();
    (bed, table)
}

/// Somebody else writes what was read, in every run of the body.
fn always_late() -> Error {
    let (bed, table) = filled(memory());
    let outcome = bed.engine.transact(|tx| {
        tx.get(&table, &get("a"))?;
        bed.engine.write(Write::put(&table, item("a")))?;
        tx.write(&Write::put(&table, item("b")))
    });
    assert_eq!(bed.engine.get(&table, &get("b")).unwrap().item, None);
    outcome.unwrap_err()
}

fn with_faults(options: FaultOptions) -> Result<()> {
    let bed = meaner(options);
    let meanest = bed.meanest.as_ref().unwrap();
    meanest.set_faults(false);
    let table = bed.engine.create_table(plain("t")).unwrap();
    meanest.set_faults(true);
    bed.engine.write(Write::put(&table, item("a"))).map(|_| ())
}

/// Less space is free than must stay so: reads go on, and writes do once there is space.
fn disk_full() -> Error {
    let folder = tempfile::tempdir().unwrap();
    let roomy = program(folder.path(), Options::default()).unwrap();
    let table = roomy.create_table(plain("t")).unwrap();
    roomy.write(Write::put(&table, item("a"))).unwrap();
    roomy.store().close().unwrap();
    drop((roomy, table));
    let full = Options { disk_free_bytes_min: u64::MAX, ..Options::default() };
    let engine = program(folder.path(), full).unwrap();
    let table = engine.table(&TableName::new("test", "t")).unwrap();
    let large = item("b").with("text", "x".repeat(1 << 20));
    // Noticed within a megabyte of writes.
    let refused = (0..4).find_map(|_| engine.write(Write::put(&table, large.clone())).err());
    assert_eq!(engine.get(&table, &get("a")).unwrap().item, Some(item("a")));
    drop((engine, table));
    let engine = program(folder.path(), Options::default()).unwrap();
    let table = engine.table(&TableName::new("test", "t")).unwrap();
    engine.write(Write::put(&table, item("c"))).unwrap();
    refused.unwrap()
}

/// A clock that panics when it is told to: nothing of the engine's own can.
struct Faulty {
    inner: ManualClock,
    panics: AtomicBool,
}

impl Clock for Faulty {
    fn now_micros(&self) -> u64 {
        self.inner.now_micros()
    }

    fn monotonic(&self) -> Duration {
        assert!(!self.panics.load(Ordering::SeqCst), "the clock is broken");
        self.inner.monotonic()
    }
}

/// A panic in the middle of a commit leaves a store that nobody can trust.
fn after_a_panic() -> Error {
    let panics = AtomicBool::new(false);
    let clock = Arc::new(Faulty { inner: ManualClock::at_micros(0), panics });
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(clock.clone()));
    let random = Arc::new(SeededRandom::new(7));
    let engine = Engine::open(store, Environment { clock: clock.clone(), random }).unwrap();
    let table = engine.create_table(plain("t")).unwrap();
    let write = || engine.write(Write::put(&table, item("a")));
    clock.panics.store(true, Ordering::SeqCst);
    catch_unwind(AssertUnwindSafe(write)).unwrap_err();
    clock.panics.store(false, Ordering::SeqCst);
    write().unwrap_err()
}
