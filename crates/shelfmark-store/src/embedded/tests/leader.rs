//! A caller writes its lone commit itself, and nobody notices but by the time it takes.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, ThreadId};
use std::time::Duration;

use crate::clock::ManualClock;
use crate::contract::{Commit, Durability, ErrorKind, Store as _, Write};
use crate::embedded::options::SUPERBLOCK_SYNC_INTERVAL;
use crate::embedded::{EmbeddedStore, Options};
use crate::locks::lock;
use crate::vfs;

use super::support::{Scratch, contents, get, pause, put, small};

/// Keeps the commit thread in the completion of a commit, until the sender is used or dropped.
fn hold_the_commit_thread(store: &EmbeddedStore) -> Sender<()> {
    let (release, released) = channel::<()>();
    let (began, begun) = channel();
    let commit = Commit::of(vec![put("held", "1")]);
    let done = Box::new(move |_| {
        began.send(()).unwrap();
        let _ = released.recv();
    });
    store.submit(commit, done).unwrap();
    begun.recv().unwrap();
    release
}

/// Queues a commit, and returns what tells which thread called its completion.
fn queue(store: &EmbeddedStore, key: &str) -> Receiver<ThreadId> {
    let (sender, receiver) = channel();
    let done = Box::new(move |outcome: crate::Result<_>| {
        outcome.unwrap();
        let _ = sender.send(thread::current().id());
    });
    store.submit(Commit::of(vec![put(key, "1")]), done).unwrap();
    receiver
}

#[test]
fn a_lone_commit_is_written_by_who_waits_for_it() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let release = hold_the_commit_thread(&store);
    let told = queue(&store, "a");
    let syncs = store.stats().syncs;
    store.lead();
    assert_eq!(told.try_recv(), Ok(thread::current().id()));
    assert_eq!(store.stats().syncs, syncs + 1);
    assert_eq!(get(&store, "a").as_deref(), Some("1"));
    // There is nothing left to lead, and the commit thread goes on as before.
    store.lead();
    assert_eq!(store.stats().syncs, syncs + 1);
    drop(release);
    assert_ne!(queue(&store, "b").recv(), Ok(thread::current().id()));
    store.close().unwrap();
    drop(store);
    assert_eq!(contents(&scratch.open()).len(), 3);
}

#[test]
fn who_commits_beside_others_leaves_it_to_the_commit_thread() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let release = hold_the_commit_thread(&store);
    let both = [queue(&store, "a"), queue(&store, "b")];
    store.lead();
    assert!(both.iter().all(|told| told.try_recv().is_err()));
    drop(release);
    let tellers = both.map(|told| told.recv().unwrap());
    assert_eq!(tellers[0], tellers[1]);
    assert_ne!(tellers[0], thread::current().id());
    // The last group was one of two: who comes alone now may not stay alone.
    let release = hold_the_commit_thread(&store);
    // The commit that holds it was alone again.
    let told = queue(&store, "c");
    store.lead();
    assert_eq!(told.try_recv(), Ok(thread::current().id()));
    drop(release);
}

#[test]
fn a_slow_disk_is_left_to_the_commit_thread() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let release = hold_the_commit_thread(&store);
    let told = queue(&store, "a");
    store.inner.counters.last_sync_micros.store(5_000, Ordering::Relaxed);
    store.lead();
    assert!(told.try_recv().is_err());
    drop(release);
    assert_ne!(told.recv(), Ok(thread::current().id()));
}

/// The commit thread sleeps until the log is to be synced: it must know when that became dirty.
#[test]
fn nobody_leads_where_the_log_is_synced_by_the_clock() {
    let scratch = Scratch::new();
    let durability = Durability::Interval(Duration::from_millis(10));
    let store = scratch.open_with(Options { durability, ..small() }).unwrap();
    let release = hold_the_commit_thread(&store);
    let told = queue(&store, "a");
    store.lead();
    assert!(told.try_recv().is_err());
    drop(release);
    assert_ne!(told.recv(), Ok(thread::current().id()));
    while lock(&store.inner.log).writer.is_dirty() {
        pause(Duration::from_millis(1));
    }
}

/// The commit thread sleeps while a caller leads, and writes what comes meanwhile.
#[test]
fn what_comes_while_a_caller_leads_is_not_forgotten() {
    let scratch = Scratch::new();
    let store = scratch.open();
    for round in 0..200 {
        let store = &store;
        thread::scope(|scope| {
            for own in ["a", "b", "c"] {
                scope.spawn(move || {
                    store.commit(Commit::of(vec![put(&format!("{own}{round}"), "1")])).unwrap();
                });
            }
        });
    }
    assert_eq!(contents(&store).len(), 600);
    assert_eq!(store.stats().commits_pending, 0);
}

#[test]
fn the_superblock_is_synced_behind_commits_that_callers_led() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let release = hold_the_commit_thread(&store);
    let told = queue(&store, "a");
    store.lead();
    assert_eq!(told.try_recv(), Ok(thread::current().id()));
    drop(release);
    // The commit thread slept without a time to wake at, or wakes for what is due.
    while lock(&store.inner.superblock).is_dirty() {
        pause(Duration::from_millis(1));
    }
}

/// The commit thread, which is woken for each commit and finds none, does what is due all the same.
#[test]
fn work_that_is_due_is_done_although_every_commit_is_led() {
    let scratch = Scratch::new();
    let clock = Arc::new(ManualClock::at_micros(0));
    let store = scratch.open_at(small(), clock.clone());
    let release = hold_the_commit_thread(&store);
    let lead = |key| {
        let told = queue(&store, key);
        store.lead();
        assert_eq!(told.try_recv(), Ok(thread::current().id()));
        store.inner.queue.lock().is_due()
    };
    assert!(!lead("a"));
    clock.advance(SUPERBLOCK_SYNC_INTERVAL);
    assert!(lead("b"));
    assert!(lock(&store.inner.superblock).is_dirty());
    drop(release);
    while lock(&store.inner.superblock).is_dirty() {
        pause(Duration::from_millis(1));
    }
}

#[test]
fn a_led_commit_that_fails_ends_writing_as_any_other() {
    let scratch = Scratch::new();
    let store = scratch.open_with(Options { log_file_bytes: 1, ..small() }).unwrap();
    let release = hold_the_commit_thread(&store);
    // The next log file cannot be created: something of that name is there.
    let next = scratch.folder.join("log/00000000000000000002.log");
    vfs::create_folder(&next).unwrap();
    let (sender, told) = channel();
    let done = Box::new(move |outcome| drop(sender.send(outcome)));
    store.submit(Commit::of(vec![put("b", "1")]), done).unwrap();
    store.lead();
    let error = told.try_recv().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ReadOnly);
    assert!(error.to_string().contains("was not written"), "{error}");
    drop(release);
    let later = store.commit(Commit::of(vec![Write::Delete { key: "b".into() }])).unwrap_err();
    assert_eq!(later.kind(), ErrorKind::ReadOnly);
    assert!(store.maintain().is_err(), "nobody waits for the commit thread, which has ended");
    assert!(store.close().is_err());
    drop(store);
    vfs::remove_tree(&next).unwrap();
    assert_eq!(contents(&scratch.open()).len(), 1);
}
