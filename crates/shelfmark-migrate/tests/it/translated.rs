//! What does not go to the other side as it is.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_engine::Engine;
use shelfmark_migrate::Translation;
use shelfmark_records::catalogue::TableRecord;
use shelfmark_records::catalogue::keys::{
    change_lock_key, copy_key, format_record, forms_key, table_key, version_key,
};
use shelfmark_records::cells::tombstones::{bound_key, high_water_key, range_key};
use shelfmark_records::keys::{Tree, tree_key};
use shelfmark_store::{Commit, Store, Write};

use crate::places::{filled, memory, moved, shared, table};

fn value() -> Bytes {
    Bytes::from_static(b"value")
}

fn put(store: &Arc<dyn Store>, key: Bytes) {
    store.commit(Commit::of(vec![Write::Put { key, value: value() }])).unwrap();
}

fn record(store: &Arc<dyn Store>, engine: &Engine) -> TableRecord {
    let key = table_key(&table(engine).schema.name);
    let snapshot = store.snapshot().unwrap();
    let own = snapshot.get(&key).unwrap().unwrap();
    assert_eq!(snapshot.get(&copy_key(&key)).unwrap().as_ref(), Some(&own));
    TableRecord::decode(&own).unwrap()
}

#[test]
fn what_one_engine_remembers_stays_behind() {
    let (alone, many) = (memory(), shared(usize::MAX));
    let onto_many = Translation::of(&*alone, &*many).unwrap();
    let onto_one = Translation::of(&*many, &*alone).unwrap();
    let is_kept = |translation: &Translation, key: &Bytes| {
        let found = translation.value_of(key, value()).unwrap();
        assert!(found.as_ref().is_none_or(|found| *found == value()));
        found.is_some()
    };
    let guard = Bytes::from([tree_key(Tree::Guards, 7), vec![1]].concat());
    for key in [format_record().0, forms_key(), change_lock_key(), guard] {
        assert!(!is_kept(&onto_many, &key) && !is_kept(&onto_one, &key), "{key:?}");
        assert!(!is_kept(&onto_many, &copy_key(&key)) || key[0] != Tree::Catalogue as u8);
    }
    assert!(!is_kept(&onto_many, &high_water_key(7)));
    assert!(is_kept(&onto_one, &high_water_key(7)));
    // A bound of tombstones is believed by every engine, and a range may end at any byte.
    for key in [version_key(), bound_key(7), range_key(7, 0, &[4]), tree_key(Tree::Rows, 7).into()]
    {
        assert!(is_kept(&onto_many, &key) && is_kept(&onto_one, &key), "{key:?}");
    }
}

#[test]
fn a_table_with_deletions_of_ranges_says_so_where_servers_share_the_store() {
    for has_range in [false, true] {
        let (from, to, back) = (memory(), shared(usize::MAX), memory());
        let engine = filled(&from, 3, 0);
        let before = record(&from, &engine);
        if has_range {
            put(&from, range_key(before.id, 0, b"end"));
        }
        moved(&from, &to, |_| {}).unwrap();
        let expected = TableRecord { ranged: has_range, ..before.clone() };
        assert_eq!(record(&to, &engine), expected);
        moved(&from, &back, |_| {}).unwrap();
        assert_eq!(record(&back, &engine), before);
    }
}
