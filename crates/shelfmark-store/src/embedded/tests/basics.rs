//! Round trips.

use std::sync::Arc;

use crate::clock::SystemClock;
use crate::contract::{Commit, Direction, KeyRange, ScanLimits, Store as _, Write};
use crate::embedded::{EmbeddedStore, Options};

fn put(key: &str, value: &str) -> Write {
    Write::Put { key: key.to_owned().into(), value: value.to_owned().into() }
}

#[test]
fn a_put_is_read_back_and_survives_close_and_drop() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("store");
    for round in 0..4 {
        let store =
            EmbeddedStore::open(&folder, Options::default(), Arc::new(SystemClock::new())).unwrap();
        for earlier in 0..round {
            let key = format!("k{earlier}");
            let value = store.snapshot().unwrap().get(key.as_bytes()).unwrap();
            assert_eq!(value.as_deref(), Some(format!("v{earlier}").as_bytes()));
        }
        store.commit(Commit::of(vec![put(&format!("k{round}"), &format!("v{round}"))])).unwrap();
        let page = store
            .latest()
            .unwrap()
            .scan(&KeyRange::all(), Direction::Ascending, ScanLimits::default())
            .unwrap();
        assert_eq!(page.rows.len(), round + 1);
        if round % 2 == 0 {
            store.close().unwrap();
        }
    }
}
