//! Background work is counted, told of, and goes on without what it cannot handle.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use shelfmark_engine::{
    BackgroundEvent, Engine, ErrorKind, Get, Query, SweepPosition, Table, Upkeep, Work, Write,
};
use shelfmark_model::{IndexState, Item, Key, TtlSource, Value};
use shelfmark_store::Write as StoreWrite;
use shelfmark_store::clock::ManualClock;
use shelfmark_store::sleep::{Sleeper as _, ThreadSleeper};
use shelfmark_store::{Commit, Error as StoreError, ErrorKind as StoreErrorKind, Store};

use crate::drivers::{START_SECONDS, open, plain};
use crate::upkeep::by_n;
use crate::watched::Watched;

const ROWS: u8 = 2;
const DUE: u8 = 6;

struct Bench {
    store: Arc<Watched>,
    clock: Arc<ManualClock>,
    engine: Engine,
    table: Arc<Table>,
}

/// An engine over a watched store, with a table whose items expire by themselves.
fn bench() -> Bench {
    let clock = Arc::new(ManualClock::at_micros(START_SECONDS * 1_000_000));
    let store = Watched::new(&clock);
    let engine = open(Arc::clone(&store) as Arc<dyn Store>, &clock);
    let mut schema = plain("t");
    schema.options.ttl = Some(TtlSource::PerItem);
    let table = engine.create_table(schema).unwrap();
    Bench { store, clock, engine, table }
}

impl Bench {
    fn put(&self, pk: &str, expires_in: u64) {
        let item = Item::new().with("pk", pk).with("sk", "x").with("n", Value::number(1));
        let mut write = Write::put(&self.table, item);
        write.expires_at = Some(START_SECONDS + expires_in);
        self.engine.write(write).unwrap();
    }

    /// Returns how many due times there are.
    fn due_times(&self) -> usize {
        self.store.keys(DUE).len()
    }

    fn damage_due(&self, second: u64) {
        let mut key = vec![DUE];
        key.extend_from_slice(&second.to_be_bytes());
        key.push(0xff);
        let put = StoreWrite::Put { key: key.into(), value: vec![1].into() };
        self.store.commit(Commit::of(vec![put])).unwrap();
    }
}

fn until(mut holds: impl FnMut() -> bool) {
    for _ in 0..2_000 {
        if holds() {
            return;
        }
        ThreadSleeper.sleep(Duration::from_millis(5));
    }
    panic!("it did not come to that in ten seconds");
}

fn broken_disk() -> StoreError {
    StoreError::new(StoreErrorKind::Io, "the disk is broken")
}

#[test]
fn a_due_time_that_cannot_be_handled_is_set_aside_and_the_others_are_swept() {
    let bench = bench();
    bench.put("before", 1);
    bench.damage_due(START_SECONDS + 2);
    bench.put("after", 3);
    bench.clock.advance(Duration::from_secs(10));
    let mut position = SweepPosition::default();
    assert_eq!(bench.engine.sweep(&mut position, 100).unwrap(), 2);
    assert_eq!(bench.due_times(), 1, "the damaged one stays");
    let status = bench.engine.background();
    assert_eq!(status.set_aside.len(), 1);
    let aside = &status.set_aside[0];
    assert_eq!((aside.work, aside.attempts), (Work::Expiry, 1));
    assert_eq!(aside.error.at, START_SECONDS + 10);
    assert!(aside.error.message.contains("damaged"), "{}", aside.error.message);
    // From the front again: it is tried again, and is one record still.
    bench.clock.advance(Duration::from_secs(61));
    assert_eq!(bench.engine.sweep(&mut position, 100).unwrap(), 0);
    let status = bench.engine.background();
    assert_eq!((status.set_aside.len(), status.set_aside[0].attempts), (1, 2));
    // Mended by hand, it leaves the list.
    let delete = StoreWrite::Delete { key: status.set_aside[0].key.clone() };
    bench.store.commit(Commit::of(vec![delete])).unwrap();
    assert_eq!(bench.due_times(), 0);
}

#[test]
fn a_record_that_makes_a_sweep_panic_is_set_aside_until_it_is_handled() {
    let bench = bench();
    bench.put("a", 1);
    bench.put("b", 2);
    bench.clock.advance(Duration::from_secs(10));
    let mut position = SweepPosition::default();
    bench.store.after_get_of(ROWS, || panic!("a test makes it panic"));
    assert_eq!(bench.engine.sweep(&mut position, 100).unwrap(), 1);
    let status = bench.engine.background();
    assert!(status.set_aside[0].error.message.contains("a test makes it panic"));
    bench.clock.advance(Duration::from_secs(61));
    assert_eq!(bench.engine.sweep(&mut position, 100).unwrap(), 1);
    assert!(bench.engine.background().set_aside.is_empty());
    assert_eq!(bench.due_times(), 0);
}

#[test]
fn a_panic_in_the_upkeep_is_told_once_with_its_recovery_and_the_work_goes_on() {
    let bench = bench();
    bench.put("a", 1);
    bench.store.failing_scan_of(DUE, || panic!("a test makes it panic"));
    bench.clock.advance(Duration::from_secs(10));
    let done = || bench.engine.background().works[4].done;
    let told: Arc<Mutex<Vec<BackgroundEvent>>> = Arc::default();
    let hears = Arc::clone(&told);
    let mut upkeep = Upkeep::start_told(&bench.engine, Duration::from_millis(5), move |event| {
        hears.lock().unwrap().push(event.clone());
    })
    .unwrap();
    until(|| told.lock().unwrap().len() >= 2);
    until(|| done() == 1);
    upkeep.stop();
    let told = told.lock().unwrap().clone();
    let error = "it panicked: a test makes it panic".to_owned();
    let failed = BackgroundEvent::Failed { work: Work::Expiry, error: error.clone() };
    let recovered = BackgroundEvent::Recovered { work: Work::Expiry, failures: 1 };
    assert_eq!(told, [failed, recovered]);
    let status = bench.engine.background();
    let expiry = status.works.iter().find(|own| own.work == Work::Expiry).unwrap();
    assert_eq!((expiry.done, expiry.failures, expiry.failures_in_a_row), (1, 1, 0));
    assert!(expiry.runs >= 2);
    assert_eq!(expiry.last_error.as_ref().unwrap().message, error);
    let purge = status.works.iter().find(|own| own.work == Work::Purge).unwrap();
    assert_eq!((purge.failures, purge.last_error.clone()), (0, None));
}

#[test]
fn a_disk_error_leaves_an_index_as_one_that_is_built_and_the_upkeep_goes_on_with_it() {
    let bench = bench();
    bench.put("a", 1_000);
    bench.store.failing_scan_of(ROWS, || Err(broken_disk()));
    let name = &bench.table.schema.name;
    let error = bench.engine.add_index(name, by_n()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    let state = || bench.engine.table(name).unwrap().schema.indexes[0].state;
    assert_eq!(state(), IndexState::Building);
    let upkeep = Upkeep::start(&bench.engine, Duration::from_millis(5)).unwrap();
    until(|| state() == IndexState::Public);
    drop(upkeep);
    let table = bench.engine.table(name).unwrap();
    let query = Query::partition(vec![Value::number(1)]).index("by_n");
    assert_eq!(bench.engine.query(&table, &query).unwrap().count, 1);
}

#[test]
fn a_stop_does_not_wait_for_an_index_and_the_next_start_goes_on_with_it() {
    let bench = bench();
    for number in 0..3 * 256 {
        bench.put(&format!("{number}"), 1_000);
    }
    bench.store.failing_scan_of(ROWS, || Err(broken_disk()));
    let name = &bench.table.schema.name;
    bench.engine.add_index(name, by_n()).unwrap_err();
    let state = || bench.engine.table(name).unwrap().schema.indexes[0].state;
    // Behind the scan of a first chunk the stop comes, and there are two more to be read.
    let (reached, at_chunk) = std::sync::mpsc::channel();
    let engine = bench.engine.clone();
    bench.store.after_scan_of(ROWS, move || {
        reached.send(()).unwrap();
        until(|| engine.background().is_stopping);
    });
    let mut upkeep = Upkeep::start(&bench.engine, Duration::from_millis(5)).unwrap();
    at_chunk.recv().unwrap();
    upkeep.stop();
    assert_eq!(state(), IndexState::Building);
    let status = bench.engine.background();
    assert!(!status.is_stopping);
    assert_eq!(status.works[0].failures, 0, "a stop is no trouble");
    let _upkeep = Upkeep::start(&bench.engine, Duration::from_millis(5)).unwrap();
    until(|| state() == IndexState::Public);
}

#[test]
fn an_index_that_fails_while_the_upkeep_runs_is_built_by_it() {
    let bench = bench();
    bench.put("a", 1_000);
    let _upkeep = Upkeep::start(&bench.engine, Duration::from_millis(5)).unwrap();
    let resumed = || bench.engine.background().works[0].runs;
    until(|| resumed() > 1);
    bench.store.failing_scan_of(ROWS, || Err(broken_disk()));
    let name = &bench.table.schema.name;
    bench.engine.add_index(name, by_n()).unwrap_err();
    until(|| bench.engine.table(name).unwrap().schema.indexes[0].state == IndexState::Public);
}

#[test]
fn a_token_of_an_earlier_build_answers_that_the_request_was_done() {
    use shelfmark_engine::{Once, Token};
    let bench = bench();
    // As it was stored: hash and expiry, and nothing behind.
    let mut key = vec![7, 0];
    key.extend_from_slice(b"old");
    let value = [7_u64.to_be_bytes(), (START_SECONDS + 600).to_be_bytes()].concat();
    let put = StoreWrite::Put { key: key.into(), value: value.into() };
    bench.store.commit(Commit::of(vec![put])).unwrap();
    let item = || Item::new().with("pk", "p").with("sk", "x").with("n", Value::number(1));
    let once = |name: &[u8], request_hash| {
        let token = Token { token: name.to_vec(), request_hash, expires_at: START_SECONDS + 600 };
        let writes = vec![Write::put(&bench.table, item())];
        bench.engine.write_all_once(&token, writes).unwrap()
    };
    assert_eq!(once(b"old", 8), Once::Repeated);
    let get = Get::new(Key::pair("p", "x"));
    assert_eq!(bench.engine.get(&bench.table, &get).unwrap().item, None);
    assert!(matches!(once(b"new", 8), Once::Written(_)));
    assert_eq!(once(b"new", 8), Once::Repeated);
    assert_eq!(once(b"new", 9), Once::Mismatch);
}

/// A face whose work fails again and again, as on a full disk, does not keep another one's.
#[test]
fn the_work_of_one_face_does_not_wait_for_that_of_another() {
    let bench = bench();
    let done = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    bench.engine.work_beside_backups(|_| Err(broken_disk().into()));
    let own = Arc::clone(&done);
    bench.engine.work_beside_backups(move |_| {
        own.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok(0)
    });
    let _upkeep = Upkeep::start(&bench.engine, Duration::from_millis(5)).unwrap();
    until(|| done.load(std::sync::atomic::Ordering::Relaxed) > 0);
}
