//! Everything at once, and a check at the end.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use shelfmark_store::random::SplitMix;
use shelfmark_store::{ErrorKind, KeyRange, Store};

use crate::lane::Lane;
use crate::terse::{
    Raised, add, attempt, bytes, counter, delete, get, on, put, put_stamped, rows, together, write,
};

const THREADS: u64 = 4;
const ROUNDS: u64 = 120;

/// Counts what one thread did.
#[derive(Default)]
struct Done {
    /// The values of its own keys.
    own: BTreeMap<Bytes, Bytes>,
    added: i64,
    appended: usize,
    stamped: usize,
}

fn work(store: &dyn Store, thread: u64) -> Done {
    let mut random = SplitMix::new(thread);
    let mut done = Done::default();
    for round in 0..ROUNDS {
        let key = bytes(format!("own{thread}/{:02}", random.below(15)));
        match random.below(6) {
            0 | 1 => {
                let value = bytes(format!("{round}{}", "f".repeat(random.index(3000))));
                write(store, vec![put(&key, &value), put("shared", &value)]);
                done.own.insert(key, value);
            }
            2 => {
                write(store, vec![delete(&key), delete("shared")]);
                done.own.remove(&key);
            }
            3 => {
                let delta = i64::try_from(random.below(100)).unwrap() - 50;
                write(store, vec![add("sum", delta), put_stamped("log", "", "entry")]);
                done.added += delta;
                done.stamped += 1;
            }
            4 => {
                // Appends one letter to each of two keys, together.
                let base = store.latest().unwrap();
                let mut lists = base.get_many(&["list/a", "list/b"].map(bytes)).unwrap();
                let writes = ["list/a", "list/b"].into_iter().zip(&mut lists).map(|(key, list)| {
                    let mut list = list.take().unwrap_or_default().to_vec();
                    list.push(b'a' + u8::try_from(thread).unwrap());
                    put(key, list)
                });
                match attempt(store, on(&base, &["list/a", "list/b"], writes.collect())) {
                    Ok(_) => done.appended += 1,
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict),
                }
            }
            _ => {
                // What it wrote itself it finds, whatever the others do.
                let range = KeyRange::prefix(format!("own{thread}/"));
                let found = rows(&*store.snapshot().unwrap(), &range);
                assert_eq!(found, Vec::from_iter(done.own.clone()));
            }
        }
    }
    done
}

pub(super) fn many_threads_leave_what_they_should(lane: &dyn Lane) {
    let store = lane.open();
    let all = Mutex::new(Vec::new());
    let is_done = AtomicBool::new(false);
    let worker = |thread| {
        let (store, all) = (&*store, &all);
        move || {
            let done = work(store, thread);
            all.lock().unwrap().push((thread, done));
        }
    };
    let workers = || {
        let _raised = Raised(&is_done);
        together((0..THREADS).map(|thread| Box::new(worker(thread)) as Box<_>).collect());
    };
    let reader = || {
        while !is_done.load(Ordering::SeqCst) {
            let snapshot = store.snapshot().unwrap();
            let once = rows(&*snapshot, &KeyRange::all());
            assert_eq!(snapshot.get(b"list/a").unwrap(), snapshot.get(b"list/b").unwrap());
            assert_eq!(rows(&*snapshot, &KeyRange::all()), once);
            store.maintain().unwrap();
        }
    };
    together(vec![Box::new(workers), Box::new(reader)]);
    let all = all.into_inner().unwrap();
    let store = lane.crash(store);
    for (thread, done) in &all {
        let range = KeyRange::prefix(format!("own{thread}/"));
        let found = rows(&*store.snapshot().unwrap(), &range);
        assert_eq!(found, Vec::from_iter(done.own.clone()));
    }
    let sum: i64 = all.iter().map(|(_, done)| done.added).sum();
    assert_eq!(counter(&*store, "sum"), sum);
    let list = get(&*store, "list/a").unwrap();
    assert_eq!(get(&*store, "list/b").unwrap(), list);
    for (thread, done) in &all {
        let letter = b'a' + u8::try_from(*thread).unwrap();
        assert_eq!(list.iter().filter(|byte| **byte == letter).count(), done.appended);
    }
    let stamped: usize = all.iter().map(|(_, done)| done.stamped).sum();
    assert_eq!(rows(&*store.snapshot().unwrap(), &KeyRange::prefix("log")).len(), stamped);
}
