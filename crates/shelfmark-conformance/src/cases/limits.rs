//! Checks that what fits the limits is taken, that what does not is refused, and that nothing is cut.

use bytes::Bytes;
use shelfmark_store::{Commit, ErrorKind, KeyRange, Store, Write};

use crate::lane::Lane;
use crate::terse::{attempt, delete, get, kind, put, put_if_absent, rows, write};

fn refused(store: &dyn Store, writes: Vec<Write>) {
    assert_eq!(kind(attempt(store, Commit::of(writes))), ErrorKind::LimitExceeded);
}

pub(super) fn keys_up_to_the_limit(lane: &dyn Lane) {
    let store = lane.open();
    let longest = store.caps().key_size_bytes_max;
    let key = |length: usize| Bytes::from(vec![b'k'; length]);
    write(&*store, vec![put(key(longest), "1"), put(key(longest - 1), "2")]);
    refused(&*store, vec![put(key(longest + 1), "1")]);
    refused(&*store, vec![delete(key(longest + 1))]);
    refused(&*store, vec![put_if_absent(key(longest + 1), "1")]);
    refused(&*store, vec![Write::Add { key: key(longest + 1), delta: 1 }]);
    // The stamp is part of the key.
    let stamped = |prefix: usize, suffix: usize| Write::PutStamped {
        prefix: key(prefix),
        suffix: key(suffix),
        value: "v".into(),
    };
    refused(&*store, vec![stamped(longest - 8, 1)]);
    write(&*store, vec![stamped(longest - 9, 1)]);
    let store = lane.reopen(store);
    assert_eq!(get(&*store, key(longest)).unwrap(), "1");
    assert_eq!(get(&*store, key(longest - 1)).unwrap(), "2");
    assert_eq!(rows(&*store.snapshot().unwrap(), &KeyRange::all()).len(), 3);
    // Reading what cannot be there is no error.
    assert_eq!(get(&*store, key(longest + 1)), None);
}

pub(super) fn values_up_to_the_limit(lane: &dyn Lane) {
    let store = lane.open();
    let longest = store.caps().value_size_bytes_max;
    let value = Bytes::from(vec![b'v'; longest + 1]);
    let put = |value: Bytes| Write::Put { key: "a".into(), value };
    refused(&*store, vec![put(value.clone())]);
    refused(&*store, vec![Write::PutIfAbsent { key: "a".into(), value: value.clone() }]);
    write(&*store, vec![put(value.slice(1..))]);
    let store = lane.reopen(store);
    assert_eq!(get(&*store, "a").unwrap(), value.slice(1..));
}

pub(super) fn commits_up_to_the_limit(lane: &dyn Lane) {
    let store = lane.open();
    let caps = store.caps();
    let value = Bytes::from(vec![b'v'; caps.value_size_bytes_max]);
    let mut left = caps.commit_size_bytes_max;
    let mut writes = Vec::new();
    while left > 0 {
        let key = Bytes::from(format!("{:07}", writes.len()));
        let length = value.len().min(left.saturating_sub(key.len())).max(1);
        left = left.saturating_sub(key.len() + length);
        writes.push(Write::Put { key, value: value.slice(..length) });
    }
    let over = writes.iter().cloned().chain([delete("x")]).collect();
    refused(&*store, over);
    assert!(rows(&*store.snapshot().unwrap(), &KeyRange::all()).is_empty());
    // The largest one is written where it is not too large for a test.
    if caps.commit_size_bytes_max <= 32 * 1024 * 1024 {
        let count = writes.len();
        write(&*store, writes);
        assert_eq!(rows(&*store.snapshot().unwrap(), &KeyRange::all()).len(), count);
    }
}

pub(super) fn so_many_writes_and_no_more(lane: &dyn Lane) {
    let store = lane.open();
    let most = store.caps().commit_writes_max;
    let mut writes = vec![delete("x"); most + 1];
    refused(&*store, writes.clone());
    if most <= 10_000 {
        writes.pop();
        write(&*store, writes);
    }
}

pub(super) fn nothing_is_empty(lane: &dyn Lane) {
    let store = lane.open();
    let stamped =
        Write::PutStamped { prefix: Bytes::new(), suffix: Bytes::new(), value: Bytes::new() };
    for wrong in [
        put("a", ""),
        put_if_absent("a", ""),
        put("", "1"),
        delete(""),
        stamped,
        Write::Add { key: Bytes::new(), delta: 1 },
    ] {
        let commit = Commit::of(vec![put("b", "1"), wrong]);
        assert_eq!(kind(attempt(&*store, commit)), ErrorKind::Invalid);
    }
    assert_eq!(get(&*store, "b"), None);
    assert_eq!(get(&*store, ""), None);
}
