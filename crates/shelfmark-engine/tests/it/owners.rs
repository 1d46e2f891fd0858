//! Owners of namespaces, the second copy of the catalogue, and a record that cannot be read.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_engine::{CatalogueChange, Engine, ErrorKind, Get, Owner};
use shelfmark_keycode::KeyType;
use shelfmark_model::{Column, ColumnType, Item, Key, KeyColumn, TableName, TableSchema};
use shelfmark_store::{Commit, Write as StoreWrite};

use crate::drivers::{Bed, keys, memory, plain};
use crate::verify::verified;

fn again(bed: &Bed) -> Engine {
    Engine::open(Arc::clone(bed.engine.store()), bed.engine.environment().clone()).unwrap()
}

fn value(bed: &Bed, key: &[u8]) -> Bytes {
    bed.engine.store().snapshot().unwrap().get(key).unwrap().unwrap()
}

fn commit(bed: &Bed, writes: Vec<StoreWrite>) {
    bed.engine.store().commit(Commit::of(writes)).unwrap();
}

fn put(key: &[u8], value: &[u8]) -> StoreWrite {
    StoreWrite::Put { key: key.to_vec().into(), value: value.to_vec().into() }
}

fn copy_of(key: &[u8]) -> Vec<u8> {
    [&[10], &key[1..]].concat()
}

fn record(bed: &Bed, name: &str) -> Bytes {
    let ends = |key: &Bytes| key.windows(name.len() + 1).any(|part| part[1..] == *name.as_bytes());
    keys(bed, &[1, 2]).into_iter().find(ends).unwrap()
}

/// Two tables, the record of the first damaged on both sides.
#[test]
fn a_table_that_cannot_be_read_is_one_table() {
    let bed = memory();
    bed.create_table(plain("bad")).unwrap();
    let good = bed.create_table(plain("good")).unwrap();
    bed.put(&good, Item::new().with("pk", "p").with("sk", "s"));
    let key = record(&bed, "bad");
    commit(&bed, vec![put(&key, b"?"), put(&copy_of(&key), b"?")]);
    let engine = again(&bed);
    let names = engine.table_names(None, None, 10).unwrap();
    assert_eq!(names, [TableName::new("test", "bad"), TableName::new("test", "good")]);
    for face in Owner::ALL {
        assert!(engine.of_owner(face).table_names(None, None, 10).is_ok());
    }
    let refused = engine.table(&names[0]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Corrupt);
    assert!(refused.to_string().contains("test.bad"), "{refused}");
    let good = engine.table(&names[1]).unwrap();
    assert!(engine.get(&good, &Get::new(Key::pair("p", "s"))).unwrap().item.is_some());
    engine.resume_all_indexes().unwrap();
    engine.create_table(plain("new")).unwrap();
    let found = verified(&bed).findings;
    assert!(found.iter().any(|own| own.why.contains("test.bad")), "{found:?}");
    // Renewal leaves what it cannot know alone.
    engine.renew_after_loss(None, &mut |_| {}).unwrap();
    assert_eq!(engine.purge().unwrap(), 0);
    assert!(engine.table(&names[1]).is_ok());
}

#[test]
fn a_record_that_cannot_be_read_is_read_from_its_copy() {
    let bed = memory();
    let table = bed.create_table(plain("t")).unwrap();
    bed.put(&table, Item::new().with("pk", "p").with("sk", "s"));
    let key = record(&bed, "t");
    let whole = value(&bed, &key);
    commit(&bed, vec![put(&key, b"?")]);
    let engine = again(&bed);
    let read = engine.table(&table.schema.name).unwrap();
    assert_eq!(read.schema, table.schema);
    assert!(!verified(&bed).is_clean());
    let mut told = Vec::new();
    engine.restore_catalogue(&mut |mended| told.push(mended.to_string())).unwrap();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(value(&bed, &key), whole);
    assert!(verified(&bed).is_clean());
    engine.restore_catalogue(&mut |mended| panic!("{mended}")).unwrap();
}

#[test]
fn a_store_of_before_gets_its_copies_when_it_is_opened() {
    let bed = memory();
    let table = bed.create_table(plain("t")).unwrap();
    let mut writes: Vec<StoreWrite> =
        keys(&bed, &[10]).into_iter().map(|key| StoreWrite::Delete { key }).collect();
    assert!(writes.len() > 3);
    writes.push(put(&[1, 0], &2_u64.to_be_bytes()));
    // Namespaces of before have no owners, and those that nobody created no records.
    writes.extend(keys(&bed, &[1, 4]).into_iter().map(|key| StoreWrite::Delete { key }));
    commit(&bed, writes);
    let engine = again(&bed);
    assert_eq!(engine.table(&table.schema.name).unwrap().schema, table.schema);
    assert!(verified(&bed).is_clean());
    assert_eq!(value(&bed, &[10, 0]), 3_u64.to_be_bytes().to_vec());
    // Whose a name is follows from what is there.
    let refused = engine
        .of_owner(Owner::Cql)
        .change_catalogue(vec![CatalogueChange::CreateNamespace {
            name: "test".to_owned(),
            attachment: Bytes::new(),
        }])
        .unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
}

/// Of a list of types in each other, as a column that is no key.
fn nested(depth: usize) -> TableSchema {
    let mut schema = TableSchema::of_cells(
        TableName::new("ks", "deep"),
        vec![KeyColumn::new("p", KeyType::Text)],
    );
    let inner = (0..depth).fold(KeyType::I32, |inner, _| KeyType::List(Box::new(inner)));
    schema.columns = vec![Column {
        name: "v".to_owned(),
        id: 1,
        column_type: ColumnType::Value(inner),
        is_static: false,
    }];
    schema
}

#[test]
fn what_could_not_be_read_back_is_not_committed() {
    for (depth, is_taken) in [(11, true), (30, true), (40, false), (500, false)] {
        let bed = memory();
        let before = keys(&bed, &[]);
        let created = bed.engine.create_table(nested(depth));
        assert_eq!(created.is_ok(), is_taken, "{depth}: {created:?}");
        if is_taken {
            let read = again(&bed).table(&TableName::new("ks", "deep")).unwrap();
            assert_eq!(read.schema, nested(depth));
        } else {
            assert_eq!(created.unwrap_err().kind(), ErrorKind::LimitExceeded);
            assert_eq!(keys(&bed, &[]), before, "nothing was committed");
        }
    }
}
