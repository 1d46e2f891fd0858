//! What each call of the contract asks the store.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_conformance::Lane as _;
use shelfmark_conformance::terse::{on, put, write};
use shelfmark_store::{Commit, Direction, KeyRange, ScanLimits, Store, Write};

use crate::calls::{ask, asked};
use crate::faults::case;
use crate::lanes::Space;

fn commit(store: &dyn Store, writes: Vec<Write>) {
    store.commit(Commit::of(writes)).unwrap();
}

fn filled(lane: &Space) -> Arc<dyn Store> {
    let store = lane.open();
    write(&*store, (0..300).map(|key| put(format!("{key:03}"), "value")).collect());
    store
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn reads_ask_as_often_as_is_written_in_the_documents() {
    case("readtrips", |lane| {
        let store = filled(lane);
        let one = asked(|| {
            let view = store.snapshot_at_first_read().unwrap();
            assert_eq!(view.get(b"007").unwrap().unwrap(), "value");
        });
        assert_eq!(one, "1 KvGet");
        let again = asked(|| {
            let view = store.snapshot_at_first_read().unwrap();
            assert_eq!(view.get(b"007").unwrap(), view.get(b"007").unwrap());
        });
        assert_eq!(again, "1 KvGet");
        let keys: Vec<Bytes> = (0..100).map(|key| format!("{key:03}").into()).collect();
        let many = asked(|| {
            let found = store.snapshot().unwrap().get_many(&keys).unwrap();
            assert!(found.iter().all(Option::is_some));
        });
        assert_eq!(many, "1 KvBatchGet, 1 Tso");
        let preloaded = asked(|| {
            let view = store.snapshot().unwrap();
            view.preload(&keys).unwrap();
            assert!(keys.iter().all(|key| view.get(key).unwrap().is_some()));
        });
        assert_eq!(preloaded, "1 KvBatchGet, 1 Tso");
        let page = |direction| {
            asked(|| {
                let range = KeyRange::new("100", "200");
                let limits = ScanLimits { rows_max: 100, ..ScanLimits::default() };
                let page = store.snapshot().unwrap().scan(&range, direction, limits).unwrap();
                assert_eq!(page.rows.len(), 100);
            })
        };
        assert_eq!(page(Direction::Ascending), "1 KvScan, 1 Tso");
        assert_eq!(page(Direction::Descending), "1 KvScan, 1 Tso");
        for cut in ["120", "160"] {
            let key: Vec<u8> = [&lane.outer_prefix()[..], cut.as_bytes()].concat();
            let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
            ask(&format!("/split?key={hex}"));
        }
        assert_eq!(page(Direction::Ascending), "3 KvScan, 1 Tso");
        assert_eq!(page(Direction::Descending), "3 KvScan, 1 Tso");
    });
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn writes_ask_as_often_as_is_written_in_the_documents() {
    case("writetrips", |lane| {
        let store = filled(lane);
        let blind = asked(|| commit(&*store, vec![put("007", "other")]));
        assert_eq!(blind, "1 KvCommit, 1 KvPrewrite, 2 Tso");
        let together = asked(|| {
            let puts = (0..50).map(|n| put(format!("{n:03}"), "x")).collect();
            commit(&*store, puts);
        });
        // The first commits; the second tells the other keys of it, behind the answer: within the count
        // or not, as the machine is fast or slow.
        let together = together.replace("2 KvCommit", "1 KvCommit");
        assert_eq!(together, "1 KvCommit, 1 KvPrewrite, 2 Tso");
        let after_a_read = asked(|| {
            let base = store.snapshot().unwrap();
            base.get(b"008").unwrap();
            store.commit(on(&base, &["008"], vec![put("008", "more")])).unwrap();
        });
        assert_eq!(after_a_read, "1 KvCommit, 1 KvGet, 1 KvPrewrite, 2 Tso");
        assert_eq!(asked(|| commit(&*store, Vec::new())), "");
    });
}
