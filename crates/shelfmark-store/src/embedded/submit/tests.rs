//! Checks what happens between validating a key and taking the lock.

use crate::contract::{Commit, Store as _};
use crate::embedded::EmbeddedStore;
use crate::embedded::tests::support::{
    Scratch, add, bytes, commit_put, delete, put, put_if_absent, validated,
};

use super::{Check, checks_of, look, still_hold};

/// Validates `commit`, calls `between`, and returns true if the conditions still hold.
fn holds_after(store: &EmbeddedStore, commit: &Commit, between: impl FnOnce()) -> bool {
    let mut checks: Vec<Check<'_>> = checks_of(commit).unwrap();
    assert!(!still_hold(&store.inner, &checks), "nothing was looked at yet");
    look(&store.inner, &mut checks, None).unwrap();
    assert!(still_hold(&store.inner, &checks));
    between();
    still_hold(&store.inner, &checks)
}

#[test]
fn a_write_between_the_look_and_the_lock_is_noticed() {
    let scratch = Scratch::new();
    let store = scratch.open();
    commit_put(&store, "read", "1");
    let base = store.snapshot().unwrap();
    let demands = [
        validated(&base, &["read"], vec![]),
        validated(&base, &["absent"], vec![]),
        Commit::of(vec![put_if_absent("absent", "1")]),
        Commit::of(vec![add("absent", 1)]),
    ];
    for commit in &demands {
        assert!(holds_after(&store, commit, || {}));
        assert!(holds_after(&store, commit, || commit_put(&store, "other", "1")));
    }
    assert!(!holds_after(&store, &demands[0], || commit_put(&store, "read", "2")));
    for (number, commit) in demands.iter().enumerate().skip(1) {
        let write = if number == 3 { add("absent", 1) } else { put("absent", "1") };
        // Queued is enough; and it stays noticed once it is published.
        let queue = || {
            store.submit(Commit::of(vec![write]), Box::new(|_| {})).unwrap();
        };
        let base = store.snapshot().unwrap();
        let commit = Commit { base: Some(base), ..commit.clone() };
        assert!(!holds_after(&store, &commit, queue), "demand {number}");
        store.commit(Commit::of(vec![delete("absent")])).unwrap();
    }
    assert_eq!(store.snapshot().unwrap().get(&bytes("absent")).unwrap(), None);
}
