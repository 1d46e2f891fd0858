//! Validation, pending writes, stamps, counters and limits.

use std::sync::Arc;
use std::sync::mpsc;

use bytes::Bytes;

use crate::contract::{Commit, Direction, ErrorKind, KeyRange, Snapshot, Store as _, Write};
use crate::embedded::EmbeddedStore;
use crate::latch::Latches;

use super::support::{
    Scratch, add, bytes, commit_put, delete, get, put, put_if_absent, rows, text, validated,
};

fn kind(store: &EmbeddedStore, commit: Commit) -> ErrorKind {
    store.commit(commit).unwrap_err().kind()
}

#[test]
fn a_validated_key_that_was_written_is_a_conflict_that_names_it() {
    let scratch = Scratch::new();
    let store = scratch.open();
    commit_put(&store, "a", "1");
    let base = store.snapshot().unwrap();
    store.commit(validated(&base, &["a", "b"], vec![put("c", "1")])).unwrap();
    commit_put(&store, "b", "1");
    let error = store.commit(validated(&base, &["a", "b"], vec![put("c", "2")])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(error.keys(), [bytes("b")]);
    assert_eq!(get(&store, "c").as_deref(), Some("1"));
    // Another key may be written as often as it likes.
    store.commit(validated(&base, &["a"], vec![put("c", "3")])).unwrap();
}

#[test]
fn a_conflict_is_seen_in_memory_in_files_and_after_a_deletion() {
    let scratch = Scratch::new();
    let store = scratch.open();
    for key in ["in-memory", "in-files", "deleted", "deleted-in-files"] {
        commit_put(&store, key, "1");
    }
    let base = store.snapshot().unwrap();
    commit_put(&store, "in-files", "2");
    store.commit(Commit::of(vec![delete("deleted-in-files")])).unwrap();
    store.maintain().unwrap();
    commit_put(&store, "in-memory", "2");
    store.commit(Commit::of(vec![delete("deleted")])).unwrap();
    for key in ["in-memory", "in-files", "deleted", "deleted-in-files"] {
        assert_eq!(kind(&store, validated(&base, &[key], vec![])), ErrorKind::Conflict, "{key}");
    }
    // A deletion that merging has removed from the tree.
    commit_put(&store, "vanished", "1");
    store.maintain().unwrap();
    let base = store.snapshot().unwrap();
    store.commit(Commit::of(vec![delete("vanished")])).unwrap();
    store.maintain().unwrap();
    store.inner.merge(|tree| tree.merge_all().map(|()| true)).unwrap();
    assert!(store.inner.snapshots.view().newest(b"vanished", u64::MAX).unwrap().is_none());
    assert_eq!(kind(&store, validated(&base, &["vanished"], vec![])), ErrorKind::Conflict);
    // Absent then, put and deleted since: still written since.
    let base = store.snapshot().unwrap();
    commit_put(&store, "brief", "1");
    store.commit(Commit::of(vec![delete("brief")])).unwrap();
    assert_eq!(kind(&store, validated(&base, &["brief"], vec![])), ErrorKind::Conflict);
}

#[test]
fn put_if_absent_looks_at_what_is_queued_stored_and_deleted() {
    let scratch = Scratch::new();
    let store = scratch.open();
    store.commit(Commit::of(vec![put_if_absent("a", "1")])).unwrap();
    let error = store.commit(Commit::of(vec![put_if_absent("a", "2")])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Exists);
    assert_eq!(error.keys(), [bytes("a")]);
    store.maintain().unwrap();
    assert_eq!(kind(&store, Commit::of(vec![put_if_absent("a", "2")])), ErrorKind::Exists);
    store.commit(Commit::of(vec![delete("a")])).unwrap();
    store.commit(Commit::of(vec![put_if_absent("a", "3")])).unwrap();
    assert_eq!(get(&store, "a").as_deref(), Some("3"));
}

#[test]
fn of_many_that_race_for_a_key_one_wins() {
    const THREADS: usize = 4;
    const ROUNDS: usize = 300;
    let scratch = Scratch::new();
    let store = Arc::new(scratch.open());
    let barrier = Arc::new(std::sync::Barrier::new(THREADS));
    let wins: Vec<_> = (0..THREADS)
        .map(|thread| {
            let (store, barrier) = (store.clone(), barrier.clone());
            let (sender, receiver) = mpsc::channel();
            let body = move || {
                let mut wins = 0;
                for round in 0..ROUNDS {
                    barrier.wait();
                    let key = format!("race{round}");
                    let write = if thread % 2 == 0 {
                        Commit::of(vec![put_if_absent(&key, "1")])
                    } else {
                        let base = store.snapshot().unwrap();
                        if base.get(key.as_bytes()).unwrap().is_some() {
                            continue;
                        }
                        validated(&base, &[&key], vec![put(&key, "1")])
                    };
                    wins += usize::from(store.commit(write).is_ok());
                }
                sender.send(wins).unwrap();
            };
            crate::threads::spawn("racer", body).unwrap();
            receiver
        })
        .collect();
    let wins: usize = wins.iter().map(|wins| wins.recv().unwrap()).sum();
    assert_eq!(wins, ROUNDS);
}

#[test]
fn validation_needs_a_base_and_a_base_that_is_ours() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let commit = Commit {
        base: None,
        validate: vec![bytes("a")],
        writes: vec![put("a", "1")],
        ..Commit::default()
    };
    assert_eq!(kind(&store, commit), ErrorKind::Invalid);
}

#[test]
fn latest_shows_what_is_queued_as_one_moment() {
    let scratch = Scratch::new();
    let store = scratch.open();
    commit_put(&store, "stored", "1");
    commit_put(&store, "gone", "1");
    // Each round reads right after queueing, before or after the commit thread got to it.
    for round in 0..200 {
        let value = round.to_string();
        let (sender, receiver) = mpsc::channel();
        let writes = vec![put("a", &value), put("b", &value), delete("gone")];
        let told = sender.clone();
        store
            .submit(Commit::of(writes), Box::new(move |outcome| told.send(outcome).unwrap()))
            .unwrap();
        let latest = store.latest().unwrap();
        store
            .submit(
                Commit::of(vec![put("a", "later"), put("c", "later")]),
                Box::new(move |outcome| sender.send(outcome).unwrap()),
            )
            .unwrap();
        check_latest(&*latest, &value);
        receiver.recv().unwrap().unwrap();
        receiver.recv().unwrap().unwrap();
        // Published by now, and the layers have left the queue: still the same moment.
        check_latest(&*latest, &value);
        store.commit(Commit::of(vec![put("gone", "1"), delete("c")])).unwrap();
    }
}

fn check_latest(latest: &dyn Snapshot, value: &str) {
    assert_eq!(text(latest, "a").as_deref(), Some(value));
    assert_eq!(text(latest, "b").as_deref(), Some(value));
    assert_eq!(text(latest, "gone"), None);
    for direction in [Direction::Ascending, Direction::Descending] {
        for page in [1, 100] {
            let mut all = rows(latest, KeyRange::all(), direction, page);
            all.sort_by(|one, other| one.key.cmp(&other.key));
            let keys: Vec<&[u8]> = all.iter().map(|row| row.key.as_ref()).collect();
            assert_eq!(keys, [&b"a"[..], b"b", b"stored"]);
            assert_eq!(all[0].value, value);
        }
    }
}

#[test]
fn a_commit_that_builds_on_a_pending_value_is_validated_against_it() {
    let scratch = Scratch::new();
    let store = scratch.open();
    commit_put(&store, "row", "0");
    for round in 0..100 {
        store.submit(Commit::of(vec![put("row", "x")]), Box::new(|_| {})).unwrap();
        let base = store.latest().unwrap();
        // Nobody wrote since: passes, whether or not the put was published meanwhile.
        if round % 2 == 0 {
            store.commit(Commit::default()).unwrap();
        }
        store.submit(validated(&base, &["row"], vec![put("row", "y")]), Box::new(|_| {})).unwrap();
        let error = store.submit(validated(&base, &["row"], vec![]), Box::new(|_| {})).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
    }
}

#[test]
fn many_writers_of_one_row_progress_together() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let latches = Latches::new();
    let (sender, receiver) = mpsc::channel();
    for _ in 0..1000 {
        let sender = sender.clone();
        let _latched = latches.lock([&b"hot"[..]]);
        let old = store.latest().unwrap().get(b"hot").unwrap();
        let count = old.map_or(0, |value| String::from_utf8_lossy(&value).parse::<u32>().unwrap());
        store
            .submit(
                Commit::of(vec![put("hot", &(count + 1).to_string())]),
                Box::new(move |outcome| sender.send(outcome).unwrap()),
            )
            .unwrap();
    }
    for _ in 0..1000 {
        receiver.recv().unwrap().unwrap();
    }
    assert_eq!(get(&store, "hot").as_deref(), Some("1000"));
    assert!(store.stats().groups < 900, "{} groups", store.stats().groups);
}

#[test]
fn an_empty_commit_waits_for_all_before_it_and_needs_no_sync() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let (sender, receiver) = mpsc::channel();
    store
        .submit(
            Commit::of(vec![put("a", "1")]),
            Box::new(move |outcome| sender.send(outcome).unwrap()),
        )
        .unwrap();
    store.commit(Commit::default()).unwrap();
    assert_eq!(get(&store, "a").as_deref(), Some("1"));
    receiver.recv().unwrap().unwrap();
    let before = store.stats();
    for _ in 0..100 {
        assert_eq!(store.commit(Commit::default()).unwrap().number, 1);
    }
    assert_eq!(store.stats().syncs, before.syncs);
    assert_eq!(commit_number(&store), 2);
}

fn commit_number(store: &EmbeddedStore) -> u64 {
    store.commit(Commit::of(vec![put("z", "1")])).unwrap().number
}

#[test]
fn stamps_rise_in_commit_order() {
    let scratch = Scratch::new();
    let store = scratch.open();
    for round in 0..20_u64 {
        let number = store
            .commit(Commit::of(vec![Write::PutStamped {
                prefix: bytes("log/"),
                suffix: bytes("/x"),
                value: bytes(&round.to_string()),
            }]))
            .unwrap()
            .number;
        let mut key = b"log/".to_vec();
        key.extend_from_slice(&number.to_be_bytes());
        key.extend_from_slice(b"/x");
        let value = store.snapshot().unwrap().get(&key).unwrap().unwrap();
        assert_eq!(value, round.to_string());
    }
    let all =
        rows(&*store.snapshot().unwrap(), KeyRange::prefix(bytes("log/")), Direction::Ascending, 7);
    let values: Vec<Bytes> = all.into_iter().map(|row| row.value).collect();
    assert_eq!(values, (0..20).map(|n| bytes(&n.to_string())).collect::<Vec<_>>());
}

#[test]
fn counters_are_summed_per_group_and_survive_everything() {
    let scratch = Scratch::new();
    let mut expected = 0;
    for round in 0..4 {
        let store = scratch.open();
        for step in 1..=50 {
            let delta = if step % 7 == 0 { -3 } else { step };
            store.submit(Commit::of(vec![add("n", delta)]), Box::new(|_| {})).unwrap();
            expected += delta;
        }
        store.commit(Commit::default()).unwrap();
        assert_eq!(count(&store, "n"), Some(expected));
        match round {
            0 => store.close().unwrap(),
            1 => drop(store.maintain().unwrap()),
            _ => {}
        }
    }
}

fn count(store: &EmbeddedStore, key: &str) -> Option<i64> {
    let value = store.snapshot().unwrap().get(key.as_bytes()).unwrap()?;
    Some(Write::counter(&value).unwrap())
}

#[test]
fn counters_mix_with_puts_and_deletes_in_queue_order() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let seven = Write::Put { key: bytes("n"), value: Write::counter_value(7) };
    // In one commit and spread over commits that may or may not share a group.
    store.commit(Commit::of(vec![add("n", 1), seven.clone(), add("n", 2)])).unwrap();
    assert_eq!(count(&store, "n"), Some(9));
    store.commit(Commit::of(vec![add("n", 1), delete("n")])).unwrap();
    assert_eq!(count(&store, "n"), None);
    for write in [add("n", 5), seven, add("n", 1), add("n", 1), delete("n"), add("n", -4)] {
        store.submit(Commit::of(vec![write]), Box::new(|_| {})).unwrap();
    }
    store.commit(Commit::default()).unwrap();
    assert_eq!(count(&store, "n"), Some(-4));
    store.commit(Commit::of(vec![add("n", i64::MIN)])).unwrap();
    assert_eq!(count(&store, "n"), Some(i64::MIN.wrapping_sub(4)), "sums wrap around");
    // Not a counter.
    commit_put(&store, "text", "abc");
    assert_eq!(kind(&store, Commit::of(vec![add("text", 1)])), ErrorKind::Corrupt);
}

#[test]
fn the_last_write_of_a_key_in_a_commit_counts() {
    let scratch = Scratch::new();
    let store = scratch.open();
    store.commit(Commit::of(vec![put("a", "1"), delete("a"), put("a", "3")])).unwrap();
    store.commit(Commit::of(vec![put("b", "1"), delete("b")])).unwrap();
    assert_eq!(get(&store, "a").as_deref(), Some("3"));
    assert_eq!(get(&store, "b"), None);
}

#[test]
fn what_is_over_a_limit_is_refused_before_it_is_queued() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let caps = store.caps();
    let long = |bytes: usize| Bytes::from(vec![b'k'; bytes]);
    let longest = Write::Put { key: long(caps.key_size_bytes_max), value: bytes("v") };
    store.commit(Commit::of(vec![longest])).unwrap();
    store.maintain().unwrap();
    assert!(store.snapshot().unwrap().get(&long(caps.key_size_bytes_max)).unwrap().is_some());
    // Reading a longer key is no error: it is not there.
    assert_eq!(store.snapshot().unwrap().get(&long(caps.key_size_bytes_max + 1)).unwrap(), None);
    // Nor is going on with a scan behind the longest key.
    let all = rows(&*store.snapshot().unwrap(), KeyRange::all(), Direction::Ascending, 1);
    assert_eq!(all.len(), 1);
    let upto = KeyRange::new(bytes("a"), long(caps.key_size_bytes_max + 5));
    assert_eq!(rows(&*store.latest().unwrap(), upto, Direction::Descending, 1).len(), 1);
    let over = [
        Write::Put { key: long(caps.key_size_bytes_max + 1), value: bytes("v") },
        Write::Delete { key: long(caps.key_size_bytes_max + 1) },
        Write::Add { key: long(caps.key_size_bytes_max + 1), delta: 1 },
        Write::PutStamped {
            prefix: long(caps.key_size_bytes_max - 8),
            suffix: bytes("x"),
            value: bytes("v"),
        },
        Write::Put { key: bytes("k"), value: long(caps.value_size_bytes_max + 1) },
    ];
    for write in over {
        assert_eq!(kind(&store, Commit::of(vec![write])), ErrorKind::LimitExceeded);
    }
    let value = long(caps.value_size_bytes_max);
    let many = (0..5)
        .map(|n| Write::Put { key: bytes(&format!("big{n}")), value: value.clone() })
        .collect();
    assert_eq!(kind(&store, Commit::of(many)), ErrorKind::LimitExceeded);
    for write in [put("k", ""), put("", "v"), delete(""), put_if_absent("k", "")] {
        assert_eq!(kind(&store, Commit::of(vec![write])), ErrorKind::Invalid);
    }
    assert_eq!(commit_number(&store), 2);
}

#[test]
fn a_commit_is_as_large_as_the_limit_says_and_no_larger() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let caps = store.caps();
    // Keys of one byte and values, together just the limit; what the log adds does not count.
    let values = |last: usize| {
        let whole = Bytes::from(vec![b'v'; caps.value_size_bytes_max]);
        let count = caps.commit_size_bytes_max / caps.value_size_bytes_max;
        let mut writes: Vec<Write> = Vec::new();
        for number in 0..count {
            let size = if number + 1 == count { last } else { caps.value_size_bytes_max };
            let key = Bytes::from(vec![b'a' + u8::try_from(number).unwrap()]);
            writes.push(Write::Put { key, value: whole.slice(..size) });
        }
        Commit::of(writes)
    };
    let count = caps.commit_size_bytes_max / caps.value_size_bytes_max;
    let last = caps.value_size_bytes_max - count;
    assert_eq!(kind(&store, values(last + 1)), ErrorKind::LimitExceeded);
    store.commit(values(last)).unwrap();
    drop(store);
    let all = rows(
        &*scratch.open().snapshot().unwrap(),
        KeyRange::all(),
        Direction::Ascending,
        usize::MAX,
    );
    assert_eq!(all.len(), count);
}

#[test]
fn a_panic_in_a_completion_hurts_nobody_else() {
    let scratch = Scratch::new();
    let store = scratch.open();
    store.submit(Commit::of(vec![put("a", "1")]), Box::new(|_| panic!("on purpose"))).unwrap();
    commit_put(&store, "b", "1");
    assert_eq!(get(&store, "a").as_deref(), Some("1"));
}
