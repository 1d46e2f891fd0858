//! Snapshots show one moment, and the right one.

use std::collections::BTreeMap;

use bytes::Bytes;
use shelfmark_store::random::SplitMix;
use shelfmark_store::{Commit, KeyRange};

use crate::lanes::Lane;
use crate::support::{bytes, delete, put, rows, shows, submit, write};

type Model = BTreeMap<Bytes, Bytes>;

fn change(model: &mut Model, random: &mut SplitMix, filler: usize) -> Vec<shelfmark_store::Write> {
    let mut writes = Vec::new();
    for _ in 0..1 + random.below(4) {
        let key = bytes(format!("{:02}", random.below(20)));
        if random.chance(300) {
            model.remove(&key);
            writes.push(delete(key));
        } else {
            let value = bytes(format!("{:08}{}", random.below(1 << 20), "f".repeat(filler)));
            model.insert(key.clone(), value.clone());
            writes.push(put(key, value));
        }
    }
    writes
}

pub(super) fn a_snapshot_shows_one_moment(lane: &Lane) {
    let store = lane.open();
    let mut random = SplitMix::new(11);
    let mut model = Model::new();
    let mut moments = Vec::new();
    for round in 0..200 {
        write(&*store, change(&mut model, &mut random, 0));
        if round % 5 == 0 {
            moments.push((store.snapshot().unwrap(), model.clone()));
        }
        if moments.len() > 10 {
            moments.remove(random.index(10));
        }
        let (snapshot, then) = &moments[random.index(moments.len())];
        assert_eq!(rows(&**snapshot, &KeyRange::all()), Vec::from_iter(then.clone()));
        let key = format!("{:02}", random.below(20));
        assert_eq!(snapshot.get(key.as_bytes()).unwrap(), then.get(key.as_bytes()).cloned());
    }
}

pub(super) fn a_snapshot_outlives_flushes(lane: &Lane) {
    let store = lane.open();
    let mut random = SplitMix::new(12);
    let mut model = Model::new();
    for _ in 0..20 {
        write(&*store, change(&mut model, &mut random, 2000));
    }
    let then = model.clone();
    let snapshot = store.snapshot().unwrap();
    for round in 0..150 {
        write(&*store, change(&mut model, &mut random, 4000));
        if round % 30 == 0 {
            store.maintain().unwrap();
            assert_eq!(rows(&*snapshot, &KeyRange::all()), Vec::from_iter(then.clone()));
        }
    }
    drop(snapshot);
    store.maintain().unwrap();
    let now = store.snapshot().unwrap();
    assert_eq!(rows(&*now, &KeyRange::all()), Vec::from_iter(model));
}

pub(super) fn latest_shows_what_is_queued(lane: &Lane) {
    let store = lane.open();
    write(&*store, vec![put("a", "0"), put("b", "0"), put("gone", "0")]);
    for round in 1..50 {
        let value = format!("{round}");
        let key = format!("new{round:02}");
        let writes = vec![put("a", &value), put(&key, &value), delete("gone")];
        let (number, end) = submit(&*store, Commit::of(writes)).unwrap();
        let mut tries = 0;
        let latest = loop {
            let latest = store.latest().unwrap();
            tries += 1;
            if latest.id().commit >= number {
                break latest;
            }
            assert!(lane.is_behind() && tries < 100, "latest is behind what was queued");
        };
        assert_eq!(latest.get(b"a").unwrap().unwrap(), value);
        assert_eq!(latest.get(b"gone").unwrap(), None);
        assert_eq!(latest.get(b"b").unwrap().unwrap(), "0");
        let range = KeyRange::prefix("new");
        assert_eq!(rows(&*latest, &range).last().unwrap(), &(bytes(&key), bytes(&value)));
        if round % 3 == 0 {
            end.recv().unwrap().unwrap();
        }
    }
}

pub(super) fn a_snapshot_shows_every_acknowledged_commit(lane: &Lane) {
    let store = lane.open();
    let store = &*store;
    let writer = |name: &'static str| {
        move || {
            for round in 0..60 {
                let number = write(store, vec![put(name, format!("{round}"))]);
                for snapshot in [store.snapshot().unwrap(), store.latest().unwrap()] {
                    assert!(snapshot.id().commit >= number);
                    assert_eq!(snapshot.get(name.as_bytes()).unwrap().unwrap(), format!("{round}"));
                }
            }
        }
    };
    crate::support::together(vec![
        Box::new(writer("a")),
        Box::new(writer("b")),
        Box::new(writer("c")),
    ]);
}

pub(super) fn snapshots_are_counted(lane: &Lane) {
    let store = lane.open();
    assert_eq!(store.stats().oldest_snapshot, None);
    let first = write(&*store, vec![put("a", "1")]);
    let older = store.snapshot().unwrap();
    assert!(shows(&*store, older.id().commit, first));
    let first = older.id().commit;
    let second = write(&*store, vec![put("a", "2")]);
    assert_eq!(store.stats().published, second);
    let newer = store.snapshot().unwrap();
    assert!(shows(&*store, newer.id().commit, second));
    let second = newer.id().commit;
    assert_eq!(store.stats().snapshots_open, 2);
    assert_eq!(store.stats().oldest_snapshot, Some(first));
    drop(older);
    assert_eq!(store.stats().oldest_snapshot, Some(second));
    drop(newer);
    assert_eq!(store.stats().snapshots_open, 0);
    assert_eq!(store.stats().oldest_snapshot, None);
}
