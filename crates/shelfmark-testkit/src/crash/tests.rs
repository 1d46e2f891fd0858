//! Checks the judge by hand-made promises, plans, and stores that lack something.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use shelfmark_store::clock::ManualClock;
use shelfmark_store::memory::MemoryStore;
use shelfmark_store::{Commit, Durability, Store as _, Write, vfs};

use super::judge::{compare, judge, open, tight};
use super::plan::Plan;
use super::promise::{Promise, Promises};
use super::run::{Arguments, End};
use super::trial::Trial;
use crate::powercut::cuts::Effort;
use crate::powercut::disk::Disk;
use crate::powercut::recording::Event;

#[test]
fn every_commit_of_a_plan_changes_the_state() {
    let plan = Plan { threads: 2, ..Plan::small(3) };
    for thread in 0..2 {
        let (mut state, mut large) = (BTreeMap::new(), 0);
        for index in 1..60 {
            let before = state.clone();
            plan.apply(thread, index, &mut state);
            assert_ne!(state, before, "commit {index}");
            assert_eq!(state, plan.state(thread, index));
            assert_eq!(state[&Plan::last_key(thread)], index.to_string());
            assert!(state.keys().all(|key| key.starts_with(&Plan::prefix(thread))));
            large += state.values().filter(|value| value.len() == plan.large_bytes).count();
        }
        assert!(large > 0, "no value of several sectors");
    }
    assert_ne!(plan.writes(0, 1), plan.writes(1, 1));
    assert_ne!(plan.writes(0, 1), Plan { seed: 4, ..plan }.writes(0, 1));
}

#[test]
fn arguments_are_read_back() {
    let arguments = Arguments {
        durability: Durability::Interval(Duration::from_millis(70)),
        commits: 5,
        maintain_every: 6,
        tick: Some(Duration::from_millis(30)),
        insists: true,
        salvages: true,
        end: End::Close,
        memory_table_bytes: 7,
        disk_free_bytes_min: 8,
        ..Arguments::new(PathBuf::from("f"), Plan { seed: 1, threads: 2, keys: 3, large_bytes: 4 })
    };
    let read = Arguments::parse(arguments.words().into_iter()).unwrap();
    assert_eq!(format!("{read:?}"), format!("{arguments:?}"));
    let plain = Arguments::new(PathBuf::from("f"), Plan::small(1));
    let read = Arguments::parse(plain.words().into_iter()).unwrap();
    assert_eq!(format!("{read:?}"), format!("{plain:?}"));
    assert!(Arguments::parse(plain.words().into_iter().skip(1)).is_none());
}

fn promise(last: &[(u64, u64)], number: u64, superblock_commit: u64) -> Promise {
    Promise { last: last.iter().copied().collect(), number, superblock_commit }
}

fn said(text: &str) -> Event {
    Event::Note(text.as_bytes().to_vec())
}

fn opened(handle: u32, path: &str) -> Event {
    Event::Open { handle, creates: true, empties: false, path: path.into() }
}

fn sync(handle: u32) -> [Event; 2] {
    [
        Event::SyncBegin { handle, number: handle, site: String::new() },
        Event::SyncEnd { number: handle },
    ]
}

#[test]
fn what_is_acknowledged_is_promised_at_once_when_commits_are_synced() {
    let mut promises = Promises::new(Durability::Sync);
    let mut after = |event| {
        promises.observe(&event);
        promises.now().clone()
    };
    assert_eq!(after(said("found 0 3\nack 0 4 ")), promise(&[(0, 3)], 0, 0), "half a line");
    assert_eq!(after(said("17\nack 1 1 18\n")), promise(&[(0, 4), (1, 1)], 18, 0));
    assert_eq!(after(said("error Io of ack 9 9 9\n")), promise(&[(0, 4), (1, 1)], 18, 0));
    assert_eq!(after(said("ack 0 2 5\n")), promise(&[(0, 4), (1, 1)], 18, 0), "never less");
    // A synced superblock covers what was said when its sync began.
    after(opened(1, "store/mark"));
    let [begin, end] = sync(1);
    after(begin);
    after(said("ack 0 5 19\n"));
    assert_eq!(after(end).superblock_commit, 18);
    after(opened(2, "store/mark.new"));
    let [begin, end] = sync(2);
    after(begin);
    after(end);
    assert_eq!(promises.now().superblock_commit, 18, "another file");
}

#[test]
fn under_an_interval_a_sync_of_the_log_makes_the_promise() {
    let mut promises = Promises::new(Durability::Interval(Duration::from_millis(1)));
    let mut after = |event| {
        promises.observe(&event);
        promises.now().clone()
    };
    after(opened(1, "store/log/00001.log"));
    after(opened(2, "store/tree/tables/1"));
    assert_eq!(after(said("found 0 2\n")), promise(&[(0, 2)], 0, 0), "a reader saw it");
    assert_eq!(after(said("ack 0 3 7\n")), promise(&[(0, 2)], 0, 0));
    let [begin, end] = sync(1);
    after(begin);
    after(said("ack 0 4 8\n"));
    assert_eq!(after(end), promise(&[(0, 3)], 7, 0), "said before the sync began");
    let [begin, end] = sync(2);
    after(begin);
    assert_eq!(after(end), promise(&[(0, 3)], 7, 0), "not a log");
    // A sync under way ends with its process.
    let [begin, end] = sync(1);
    after(begin);
    after(Event::Begin);
    assert_eq!(after(end), promise(&[(0, 3)], 7, 0));
}

/// Puts what is ingested before a commit, by a commit that is counted into nothing.
fn put_ingested(store: &MemoryStore, plan: &Plan, thread: u64, index: u64) {
    let rows = plan.ingested(thread, index).into_iter();
    let writes: Vec<Write> = rows.map(|(key, value)| Write::Put { key, value }).collect();
    if !writes.is_empty() {
        store.commit(Commit::of(writes)).unwrap();
    }
}

/// A store in memory that two threads wrote 9 and 5 commits of.
fn written(plan: &Plan) -> MemoryStore {
    let store = MemoryStore::new(Arc::new(ManualClock::at_micros(1)));
    for (thread, commits) in [(0, 9), (1, 5)] {
        for index in 1..=commits {
            put_ingested(&store, plan, thread, index);
            store.commit(Commit::of(plan.writes(thread, index))).unwrap();
        }
    }
    store
}

#[test]
fn a_store_is_compared_with_the_plan_and_the_promise() {
    let plan = Plan { threads: 2, ..Plan::small(8) };
    let found = |promise: Promise| compare(&written(&plan), &plan, &promise);
    let all = BTreeMap::from([(0, 9), (1, 5)]);
    assert_eq!(found(Promise::default()), Ok(all.clone()));
    // One more holds what was ingested.
    assert_eq!(found(promise(&[(0, 9), (1, 5)], 15, 0)), Ok(all), "exactly as promised");
    let why = found(promise(&[(1, 6)], 0, 0)).unwrap_err();
    assert!(why.contains("thread 1 has 5 commits; 6 are promised"), "{why}");
    let why = found(promise(&[], 16, 0)).unwrap_err();
    assert!(why.contains("ends with commit 15; 16 is promised"), "{why}");
}

#[test]
fn any_part_of_a_commit_that_is_missing_or_too_much_shows() {
    let plan = Plan { threads: 2, ..Plan::small(8) };
    let state = plan.state(0, 9);
    let key = state.keys().find(|key| **key != Plan::last_key(0)).unwrap().clone();
    let put =
        |key: &Bytes, value: &'static str| Write::Put { key: key.clone(), value: value.into() };
    for (write, told) in [
        (Write::Delete { key: key.clone() }, "do not fit"),
        (put(&key, "other"), "do not fit"),
        (put(&Bytes::from_static(b"t00/more"), "x"), "do not fit"),
        (put(&Plan::last_key(0), "8"), "do not fit"),
        (put(&Plan::last_key(0), "x"), "no number at its last key"),
        (Write::Delete { key: Plan::last_key(1) }, "thread 1 has 0 commits"),
        (Write::Delete { key: "i/000005/03".into() }, "5 of 6 rows ingested before commit 5"),
        (put(&"i/000005/03".into(), "other"), "the ingested row b\"i/000005/03\" is another one"),
        (put(&"i/000010/00".into(), "x"), "is another one"),
        (put(&"i/000007/00".into(), "x"), "rows that nobody ingested"),
        (
            Write::Add { key: super::plan::COUNT_KEY.into(), delta: 1 },
            "14 commits are there, and 15",
        ),
    ] {
        let store = written(&plan);
        store.commit(Commit::of(vec![write.clone()])).unwrap();
        let why = compare(&store, &plan, &Promise::default()).unwrap_err();
        assert!(why.contains(told), "{write:?}: {why}");
    }
}

#[test]
fn a_folder_is_judged_and_what_is_wrong_is_told() {
    let scratch = tempfile::tempdir().unwrap();
    let (folder, plan) = (scratch.path().join("store"), Plan::small(9));
    assert_eq!(
        judge(&folder, &plan, &Promise::default()),
        Ok(BTreeMap::from([(0, 0)])),
        "none yet"
    );
    let store = open(&folder, tight()).unwrap();
    for index in 1..=12 {
        let mut rows = plan.ingested(0, index).into_iter().map(Ok);
        store.ingest(&mut rows).unwrap();
        store.commit(Commit::of(plan.writes(0, index))).unwrap();
    }
    drop(store);
    let found = BTreeMap::from([(0, 12)]);
    assert_eq!(judge(&folder, &plan, &promise(&[(0, 12)], 12, 0)), Ok(found));
    let why = judge(&folder, &plan, &promise(&[(0, 13)], 0, 0)).unwrap_err();
    assert!(why.contains("13 are promised"), "{why}");
    // A log file that is cut off and followed by no other.
    let superblock = folder.join("mark");
    vfs::truncate(&superblock, 10).unwrap();
    let why = judge(&folder, &plan, &Promise::default()).unwrap_err();
    assert!(why.contains("verify finds damage before it is opened"), "{why}");
}

#[test]
fn a_trial_tells_where_and_how_a_store_was_found_wanting() {
    let scratch = tempfile::tempdir().unwrap();
    let mut events =
        vec![Event::Begin, Event::CreateFolder("store".into()), opened(1, "store/12.log")];
    events.push(Event::Write { handle: 1, offset: 0, bytes: b"abc".to_vec() });
    events.extend(sync(1));
    events.push(said("ack 0 1 1\n"));
    let place = scratch.path().join("images");
    vfs::create_folder(&place).unwrap();
    let mut trial = Trial::new(Plan::small(1), Durability::Sync, Disk::new(), events, place);
    assert_eq!(trial.sites().into_iter().collect::<Vec<_>>(), [".log: "], "numbers are left out");
    let mut judged = Vec::new();
    let outcome = trial
        .run_with(
            |_| false,
            Effort::short(1),
            |store, _, promise| {
                judged.push((store.join("12.log").exists(), promise.number));
                Ok(())
            },
        )
        .unwrap();
    assert_eq!((outcome.cuts, outcome.judged, outcome.failure), (4, judged.len(), None));
    assert!(outcome.cases > outcome.judged, "what was judged is not judged again");
    assert!(judged.contains(&(false, 1)) && judged.contains(&(true, 1)), "{judged:?}");
    // What passed once is remembered; what a judge refuses ends the trial.
    let again = trial.run_with(|_| false, Effort::short(1), |_, _, _| Err::<(), _>("no".into()));
    assert_eq!(again.unwrap().judged, 0);
    let mut fresh = Trial::new(
        trial.plan,
        trial.durability,
        trial.start.clone(),
        trial.events.clone(),
        trial.scratch.clone(),
    );
    let refuse = |_: &std::path::Path, _: &Plan, promise: &Promise| match promise.number {
        1 => Err("no".to_owned()),
        _ => Ok(()),
    };
    let why = fresh.run_with(|_| false, Effort::short(1), refuse).unwrap().failure.unwrap();
    assert!(why.starts_with("cut after event 7 of 7: no\npending:\n"), "{why}");
    assert!(why.contains("Lost: name store for 1") && why.contains("promised: Promise"), "{why}");
}
