//! Transactions against plain maps, and the retry policy against a clock that stands still.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;

use super::{RetryPolicy, Transaction};
use crate::clock::ManualClock;
use crate::fault_injection::{FaultInjectingStore, FaultOptions};
use crate::memory::MemoryStore;
use crate::random::SplitMix;
use crate::sleep::Sleeper;
use crate::{
    AddWithin, Commit, Direction, Error, ErrorKind, KeyRange, Row, ScanLimits, Snapshot, Store,
    Write,
};

fn store_of(rows: &[(&str, &str)]) -> MemoryStore {
    let store = MemoryStore::new(Arc::new(ManualClock::at_micros(0)));
    let writes = rows.iter().map(|(key, value)| Write::Put {
        key: (*key).to_owned().into(),
        value: (*value).to_owned().into(),
    });
    store.commit(Commit::of(writes.collect())).unwrap();
    store
}

fn begin(store: &dyn Store) -> Transaction {
    Transaction::new(store.snapshot().unwrap())
}

fn keys(commit: &Commit) -> Vec<&str> {
    commit.validate.iter().map(|key| std::str::from_utf8(key).unwrap()).collect()
}

#[test]
fn it_reads_what_it_wrote_and_validates_what_it_read() {
    let store = store_of(&[("a", "1"), ("b", "2"), ("c", "3")]);
    let mut txn = begin(&store);
    txn.put("a", "mine");
    txn.delete("b");
    let many = ["a".into(), "x".into(), "b".into(), "c".into()];
    let mine = Some(Bytes::from("mine"));
    assert_eq!(txn.get(b"a").unwrap(), mine);
    assert_eq!(txn.get(b"b").unwrap(), None);
    assert_eq!(txn.get_many(&many).unwrap(), [mine, None, None, Some("3".into())]);
    txn.validate(b"epoch");
    let commit = txn.into_commit();
    // Neither `a` nor `b`: they were written before they were read.
    assert_eq!(keys(&commit), ["c", "epoch", "x"]);
    assert_eq!(commit.base.as_ref().map(|base| base.id().commit), Some(1));
    let expected =
        [Write::Put { key: "a".into(), value: "mine".into() }, Write::Delete { key: "b".into() }];
    assert_eq!(commit.writes, expected);
}

#[test]
fn a_key_that_was_read_and_then_written_is_validated() {
    let store = store_of(&[("n", "1")]);
    let mut txn = begin(&store);
    txn.get(b"n").unwrap();
    txn.put("n", "2");
    assert_eq!(keys(&txn.into_commit()), ["n"]);
}

#[test]
fn blind_writes_and_reads_of_ranges_pin_no_snapshot() {
    let store = store_of(&[("a", "1")]);
    let mut txn = begin(&store);
    txn.put("b", "2");
    txn.scan(&KeyRange::all(), Direction::Ascending, ScanLimits::default()).unwrap();
    let commit = txn.into_commit();
    assert!(commit.base.is_none() && commit.validate.is_empty());
}

#[test]
fn put_if_absent_asks_the_store_only_where_it_must() {
    let store = store_of(&[("there", "1")]);
    let put = |key: &'static str| Write::Put { key: key.into(), value: "v".into() };
    let absent = |key: &'static str| Write::PutIfAbsent { key: key.into(), value: "v".into() };

    let mut txn = begin(&store);
    txn.put_if_absent("new", "v").unwrap();
    assert_eq!(txn.put_if_absent("new", "w").unwrap_err().kind(), ErrorKind::Exists);
    txn.put("mine", "v");
    assert_eq!(txn.put_if_absent("mine", "w").unwrap_err().keys(), ["mine"]);
    txn.delete("there");
    txn.put_if_absent("there", "v").unwrap();
    assert_eq!(txn.get(b"new").unwrap().unwrap(), "v");
    let commit = txn.into_commit();
    assert_eq!(commit.writes, [put("mine"), absent("new"), put("there")]);
    store.commit(commit).unwrap();

    let mut txn = begin(&store);
    txn.put_if_absent("new", "v").unwrap();
    let refused = store.commit(txn.into_commit()).unwrap_err();
    assert_eq!((refused.kind(), refused.keys()), (ErrorKind::Exists, &["new".into()][..]));
}

#[test]
fn a_key_put_if_absent_and_deleted_must_still_be_absent() {
    for (key, end) in [("free", None), ("there", Some(ErrorKind::Exists))] {
        let store = store_of(&[("there", "1")]);
        let mut txn = begin(&store);
        txn.put_if_absent(key, "v").unwrap();
        txn.delete(key);
        assert_eq!(txn.get(key.as_bytes()).unwrap(), None);
        let ended = store.commit(txn.into_commit());
        assert_eq!(ended.err().map(|error| error.kind()), end);
        assert_eq!(store.snapshot().unwrap().get(b"free").unwrap(), None);
    }
}

#[test]
fn savepoints_take_back_everything_but_what_was_read() {
    let store = store_of(&[("a", "1"), ("b", "2")]);
    let mut txn = begin(&store);
    txn.put("a", "before");
    let (outer, bytes) = (txn.savepoint(), txn.written_bytes());
    txn.put("a", "after");
    txn.put("a", "later");
    txn.put_if_absent("c", "new").unwrap();
    let inner = txn.savepoint();
    txn.delete("b");
    txn.add("n", 3);
    txn.put_stamped("log", "", "entry");
    txn.add_within(within("w"));
    txn.get(b"read").unwrap();
    txn.rollback_to(inner).unwrap();
    assert_eq!(txn.get(b"b").unwrap().unwrap(), "2");
    assert_eq!(txn.get(b"a").unwrap().unwrap(), "later");
    txn.rollback_to(outer).unwrap();
    assert_eq!(txn.written_bytes(), bytes);
    assert_eq!(txn.rollback_to(inner).unwrap_err().kind(), ErrorKind::Invalid);
    txn.put("d", "x");
    txn.rollback_to(outer).unwrap();
    let commit = txn.into_commit();
    assert_eq!(commit.writes, [Write::Put { key: "a".into(), value: "before".into() }]);
    assert_eq!(commit.additions, []);
    assert_eq!(keys(&commit), ["b", "read"]);
}

/// An addition of 1 to a value that is a number and nothing else.
fn within(key: &'static str) -> AddWithin {
    AddWithin { key: key.into(), seen: Bytes::from_static(&[0; 8]), deltas: vec![(0, 1)] }
}

#[test]
fn additions_within_values_are_neither_read_back_nor_validated() {
    let store = store_of(&[("w", "\0\0\0\0\0\0\0\u{1}")]);
    let mut txn = begin(&store);
    txn.add_within(within("w"));
    assert!(!txn.is_read_only());
    let commit = txn.into_commit();
    assert_eq!((keys(&commit), commit.additions.len()), (vec![], 1));
    assert!(commit.base.is_some(), "a driver may begin where the value was read");
    // Others added meanwhile.
    store.commit(commit.clone()).unwrap();
    store.commit(commit).unwrap();
    let sum = store.snapshot().unwrap().get(b"w").unwrap().unwrap();
    assert_eq!(sum[..], 3_i64.to_be_bytes());
}

#[test]
fn a_transaction_knows_whether_it_wrote() {
    let store = store_of(&[("a", "1")]);
    let mut txn = begin(&store);
    txn.get(b"a").unwrap();
    assert!(txn.is_read_only());
    let savepoint = txn.savepoint();
    txn.add("n", 1);
    assert!(!txn.is_read_only());
    txn.rollback_to(savepoint).unwrap();
    assert!(txn.is_read_only());
}

/// Reads a whole range in pages; checks that every page keeps its limits.
fn pages(txn: &Transaction, range: &KeyRange, way: Direction, limits: ScanLimits) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut rest = Some(range.clone());
    while let Some(range) = rest {
        let page = txn.scan(&range, way, limits).unwrap();
        assert!(page.rows.len() <= limits.rows_max);
        let bytes = |rows: &[Row]| -> usize {
            rows.iter().map(|row| row.key.len() + row.value.len()).sum()
        };
        if let Some((_, but_last)) = page.rows.split_last() {
            assert!(bytes(but_last) < limits.bytes_max);
        }
        rows.extend(page.rows);
        rest = page.next;
    }
    rows
}

fn key(random: &mut SplitMix) -> Bytes {
    format!("{:02}", random.below(40)).into()
}

#[test]
fn merged_scans_are_what_a_map_says() {
    for seed in 0..200 {
        let mut random = SplitMix::new(seed);
        let inner = Arc::new(MemoryStore::new(Arc::new(ManualClock::at_micros(0))));
        let mut map = BTreeMap::new();
        for _ in 0..random.below(30) {
            let key = key(&mut random);
            map.insert(key.clone(), Bytes::from("stored"));
            let write = Write::Put { key, value: "stored".into() };
            inner.commit(Commit::of(vec![write])).unwrap();
        }
        let store = FaultInjectingStore::new(inner, FaultOptions::new(seed));
        let mut txn = begin(&store);
        let mut saved = vec![(txn.savepoint(), map.clone())];
        for step in 0..40 {
            match random.below(8) {
                0..=2 => {
                    let (key, value) = (key(&mut random), Bytes::from(format!("own{step}")));
                    map.insert(key.clone(), value.clone());
                    txn.put(key, value);
                }
                3 | 4 => {
                    let key = key(&mut random);
                    map.remove(&key);
                    txn.delete(key);
                }
                5 => saved.push((txn.savepoint(), map.clone())),
                6 => {
                    let at = random.index(saved.len());
                    saved.truncate(at + 1);
                    map = saved[at].1.clone();
                    txn.rollback_to(saved[at].0).unwrap();
                }
                _ => {
                    let range = KeyRange::new(key(&mut random), key(&mut random));
                    let limits = ScanLimits {
                        rows_max: 1 + random.index(6),
                        bytes_max: 1 + random.index(60),
                        keys_only: random.chance(300),
                    };
                    let value = |value: &Bytes| match limits.keys_only {
                        true => Bytes::new(),
                        false => value.clone(),
                    };
                    let mut expected: Vec<Row> = map
                        .iter()
                        .filter(|(key, _)| range.contains(key))
                        .map(|(key, stored)| Row { key: key.clone(), value: value(stored) })
                        .collect();
                    let up = pages(&txn, &range, Direction::Ascending, limits);
                    assert_eq!(up, expected, "seed {seed}");
                    expected.reverse();
                    let down = pages(&txn, &range, Direction::Descending, limits);
                    assert_eq!(down, expected, "seed {seed}");
                }
            }
        }
    }
}

/// Remembers how long it was told to sleep.
#[derive(Default)]
struct Slept(Mutex<Vec<Duration>>);

impl Sleeper for Slept {
    fn sleep(&self, wait: Duration) {
        self.0.lock().unwrap().push(wait);
    }
}

#[test]
fn only_what_may_be_tried_again_is() {
    for kind in ErrorKind::ALL {
        let slept = Slept::default();
        let mut attempts = 0;
        let ended = RetryPolicy { attempts_max: 4, ..RetryPolicy::default() }.run(
            &slept,
            &mut SplitMix::new(1),
            |attempt| -> crate::Result<()> {
                assert_eq!(attempt, attempts);
                attempts += 1;
                Err(Error::new(kind, "no"))
            },
        );
        let again = [ErrorKind::Conflict, ErrorKind::TooOld, ErrorKind::Busy].contains(&kind);
        assert_eq!(attempts, if again { 4 } else { 1 }, "{kind:?}");
        assert_eq!(ended.unwrap_err().kind(), kind);
        assert_eq!(slept.0.into_inner().unwrap().len(), if again { 3 } else { 0 });
    }
}

#[test]
fn waits_double_up_to_the_most_and_are_spread() {
    let policy = RetryPolicy {
        attempts_max: 100,
        wait_first: Duration::from_millis(1),
        wait_max: Duration::from_millis(16),
    };
    let conflict = Error::new(ErrorKind::Conflict, "no");
    let mut random = SplitMix::new(5);
    for (attempt, bound) in [(0, 1), (1, 2), (3, 8), (4, 16), (5, 16), (40, 16), (98, 16)] {
        let bound = Duration::from_millis(bound);
        let mut longest = Duration::ZERO;
        for _ in 0..200 {
            longest = longest.max(policy.wait_after(attempt, &conflict, &mut random).unwrap());
        }
        assert!(longest <= bound && longest > bound * 9 / 10, "{attempt}: {longest:?}");
    }
    assert_eq!(policy.wait_after(99, &conflict, &mut random), None);
}

#[test]
fn busy_is_waited_for_as_long_as_the_store_asks() {
    let clock = ManualClock::at_micros(0);
    let asked = Duration::from_secs(3);
    let done = RetryPolicy::default().run(&clock, &mut SplitMix::new(1), |attempt| {
        if attempt == 0 { Err(Error::busy("later", asked)) } else { Ok(attempt) }
    });
    assert_eq!(done.unwrap(), 1);
    let waited = crate::clock::Clock::monotonic(&clock);
    assert!(waited >= asked && waited <= asked + RetryPolicy::default().wait_first);
}

#[test]
fn a_transaction_that_is_retried_gets_through_the_meanest_store() {
    let inner = Arc::new(MemoryStore::new(Arc::new(ManualClock::at_micros(0))));
    let options = FaultOptions {
        conflict: 300,
        busy: 200,
        too_old: 100,
        undetermined: 0,
        ..FaultOptions::new(6)
    };
    let store = FaultInjectingStore::new(inner, options);
    let (clock, mut random) = (ManualClock::at_micros(0), SplitMix::new(6));
    let policy = RetryPolicy { attempts_max: 60, ..RetryPolicy::default() };
    for expected in 0..100_u64 {
        let before = policy.run(&clock, &mut random, |_| {
            let mut txn = begin(&store);
            let before = txn.get(b"n")?.map_or(0, |value| value.len() as u64);
            txn.put("n", vec![b'x'; usize::try_from(before).unwrap() + 1]);
            store.commit(txn.into_commit()).map(|_| before)
        });
        assert_eq!(before.unwrap(), expected);
    }
    let injected = store.injected();
    assert!(injected.conflicts > 0 && injected.busy > 0 && injected.too_old > 0);
}

#[test]
fn reads_of_one_transaction_may_run_side_by_side() {
    fn is_shared<T: Send + Sync>(_: &T) {}
    let store = store_of(&[("a", "1")]);
    let txn = begin(&store);
    is_shared(&txn);
    let base: &Arc<dyn Snapshot> = txn.base();
    assert_eq!(base.get(b"a").unwrap().unwrap(), "1");
    assert!(txn.into_commit().validate.is_empty());
}
