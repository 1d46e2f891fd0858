//! Snapshots show one moment, and the right one.

use std::collections::BTreeMap;

use bytes::Bytes;
use shelfmark_store::random::SplitMix;
use shelfmark_store::{Commit, ErrorKind, KeyRange, Snapshot};

use crate::lane::Lane;
use crate::terse::{attempt, bytes, delete, kind, on, put, rows, shows, submit, write};

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

pub(super) fn a_snapshot_shows_one_moment(lane: &dyn Lane) {
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

pub(super) fn a_snapshot_outlives_flushes(lane: &dyn Lane) {
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

pub(super) fn latest_shows_what_is_queued(lane: &dyn Lane) {
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

pub(super) fn a_snapshot_shows_every_acknowledged_commit(lane: &dyn Lane) {
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
    crate::terse::together(vec![
        Box::new(writer("a")),
        Box::new(writer("b")),
        Box::new(writer("c")),
    ]);
}

pub(super) fn snapshots_are_counted(lane: &dyn Lane) {
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

/// Reads some of the keys `a`, `b`, `c` in one of the ways to read.
fn read_some(
    view: &dyn Snapshot,
    random: &mut SplitMix,
) -> shelfmark_store::Result<Vec<Option<Bytes>>> {
    let keys = ["a", "b", "c"].map(bytes);
    let one = keys[random.index(keys.len())].clone();
    match random.below(5) {
        0 => view.get_many(&keys),
        1 => {
            let page = view.scan(&KeyRange::all(), Default::default(), Default::default())?;
            Ok(page.rows.into_iter().map(|row| Some(row.value)).collect())
        }
        2 => {
            view.preload(&keys)?;
            keys.iter().map(|key| view.get(key)).collect()
        }
        _ => Ok(vec![view.get(&one)?]),
    }
}

pub(super) fn a_view_at_its_first_read_shows_one_moment(lane: &dyn Lane) {
    let store = lane.open();
    let mut random = SplitMix::new(17);
    let mut whole_beside_writes = 0;
    for round in 0..300 {
        let number = |round: i32| Some(bytes(format!("{round:04}")));
        let all = |value: &str| ["a", "b", "c"].map(|key| put(key, value)).into();
        write(&*store, all(&format!("{:04}", 2 * round)));
        let view = store.snapshot_at_first_read().unwrap();
        let mut shown = Vec::new();
        let mut is_torn = false;
        for step in 0..3 {
            match read_some(&*view, &mut random) {
                Ok(values) => shown.extend(values),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::TooOld, "{error}");
                    assert!(step > 0, "nothing was shown before");
                    is_torn = true;
                    break;
                }
            }
            if step == 0 && round % 2 == 0 {
                write(&*store, all(&format!("{:04}", 2 * round + 1)));
            }
        }
        assert!(shown.iter().all(|value| *value == number(2 * round)), "{shown:?} in {round}");
        whole_beside_writes += i32::from(!is_torn && round % 2 == 0);
        assert!(!is_torn || round % 2 == 0, "nothing was written meanwhile");
    }
    assert!(whole_beside_writes > 0, "no view outlived a write");
}

pub(super) fn a_preload_changes_no_answer(lane: &dyn Lane) {
    let store = lane.open();
    write(&*store, vec![put("a", "1"), put("b", "1")]);
    let view = store.snapshot().unwrap();
    write(&*store, vec![put("a", "2"), put("c", "2"), delete("b")]);
    let long = bytes("k".repeat(store.caps().key_size_bytes_max + 1));
    view.preload(&[bytes("a"), bytes("b"), bytes("c"), bytes(""), long.clone()]).unwrap();
    let found = ["a", "b", "c", ""].map(|key| view.get(key.as_bytes()).unwrap());
    assert_eq!(found, [Some(bytes("1")), Some(bytes("1")), None, None]);
    assert_eq!(view.get(&long).unwrap(), None);
    // Also what the preload did not name.
    assert_eq!(view.get_many(&[bytes("d"), bytes("a")]).unwrap(), [None, Some(bytes("1"))]);
}

pub(super) fn no_commit_rests_on_a_view_that_was_not_read(lane: &dyn Lane) {
    let store = lane.open();
    write(&*store, vec![put("a", "1")]);
    let view = store.snapshot_at_first_read().unwrap();
    write(&*store, vec![put("a", "2")]);
    let refused = attempt(&*store, on(&view, &["a"], vec![put("a", "3")]));
    assert!(matches!(kind(refused), ErrorKind::Invalid | ErrorKind::Conflict | ErrorKind::TooOld));
}
