//! What verifying finds: nothing in a store that the engine wrote, and each kind of damage.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_engine::{FINDINGS_MAX, Table, Token, Verification, Write};
use shelfmark_keycode::KeyType;
use shelfmark_model::{
    IndexKind, IndexSchema, IndexState, Item, Key, KeyColumn, Placement, Projected, TableSchema,
    TtlSource,
};
use shelfmark_store::{Commit, Row, Write as StoreWrite};

use crate::drivers::{Bed, START_SECONDS, keys, memory, on_every_driver, patiently, plain};

pub(crate) fn verified(bed: &Bed) -> Verification {
    bed.settle();
    patiently(|| bed.engine.verify()).unwrap()
}

fn index(name: &str, kind: IndexKind, column: &str) -> IndexSchema {
    IndexSchema {
        name: name.to_owned(),
        kind,
        partition: vec![KeyColumn::new(column, KeyType::Text)],
        sort: Vec::new(),
        projected: Projected::All,
        state: IndexState::Public,
    }
}

fn full() -> TableSchema {
    let mut schema = plain("full")
        .with_index(index("by_tag", IndexKind::Secondary, "tag"))
        .with_index(index("by_code", IndexKind::Unique, "code"));
    schema.options.exact_counts = true;
    schema.options.change_log = true;
    schema.options.shard_items_max = Some(4);
    schema.options.shard_bytes_max = Some(2_000);
    schema.options.ttl = Some(TtlSource::PerItem);
    schema
}

fn item(n: usize) -> Item {
    let mut item = Item::new()
        .with("pk", format!("p{}", n / 10))
        .with("sk", format!("{n:02}"))
        .with("tag", format!("t{}", n % 3))
        .with("code", format!("c{n}"));
    if n == 5 {
        item.set("text", "x".repeat(150_000));
    }
    item
}

/// Every kind of record, among them a split partition and rows with chunks.
pub(crate) fn fill(bed: &Bed) -> Arc<Table> {
    let table = bed.create_table(full()).unwrap();
    for n in 0..20 {
        let mut write = Write::put(&table, item(n));
        write.expires_at = (n % 4 == 0).then_some(START_SECONDS + 100 + n as u64);
        bed.write(write).unwrap();
    }
    for _ in 0..4 {
        patiently(|| bed.engine.split_all_due()).unwrap();
    }
    bed.write(Write::delete(&table, Key::pair("p1", "13"))).unwrap();
    let mut ordered = plain("ordered");
    ordered.placement = Placement::Ordered;
    let ordered = bed.create_table(ordered).unwrap();
    bed.put(&ordered, item(1));
    let token = Token { token: b"t".to_vec(), request_hash: 1, expires_at: START_SECONDS + 9 };
    bed.write_all_once(&token, vec![Write::put(&ordered, item(2))]).unwrap();
    let gone = bed.create_table(plain("gone")).unwrap();
    bed.put(&gone, item(1));
    bed.drop_table(&gone.schema.name).unwrap();
    table
}

#[test]
fn what_the_engine_wrote_is_found_well_and_counted() {
    on_every_driver(|bed| {
        fill(bed);
        let found = verified(bed);
        assert_eq!(found.findings, []);
        assert_eq!((found.tables, found.rows, found.entries), (2, 21, 38));
        assert_eq!((found.changes, found.due_times, found.tokens), (21, 5, 1));
        bed.seconds(1_000);
        assert_eq!(verified(bed).findings, [], "what has expired is no damage");
    });
}

/// The keys and values of a tree.
pub(crate) fn rows(bed: &Bed, tree: u8) -> Vec<Row> {
    let view = bed.engine.store().snapshot().unwrap();
    keys(bed, &[tree])
        .into_iter()
        .map(|key| Row { value: view.get(&key).unwrap().unwrap(), key })
        .collect()
}

/// Changes a store behind the engine's back, and returns why it is found wrong.
fn findings(damage: impl Fn(&Bed) -> Vec<StoreWrite>) -> Vec<String> {
    let bed = memory();
    fill(&bed);
    let writes = damage(&bed);
    assert!(!writes.is_empty());
    bed.engine.store().commit(Commit::of(writes)).unwrap();
    verified(&bed).findings.iter().map(ToString::to_string).collect()
}

fn check(expected: &[&str], damage: impl Fn(&Bed) -> Vec<StoreWrite>) {
    let found = findings(damage);
    for expected in expected {
        assert!(found.iter().any(|found| found.contains(expected)), "{expected}: {found:#?}");
    }
    assert!(found.len() <= expected.len() + 5, "{expected:?}: {found:#?}");
}

fn put(key: &Bytes, value: impl Into<Bytes>) -> StoreWrite {
    StoreWrite::Put { key: key.clone(), value: value.into() }
}

fn delete(key: &Bytes) -> StoreWrite {
    StoreWrite::Delete { key: key.clone() }
}

fn cut(value: &Bytes) -> Bytes {
    value.slice(..value.len() - 1)
}

const ROWS: u8 = 2;
const INDEX: u8 = 3;
const CHANGES: u8 = 5;
const DUE: u8 = 6;
const COUNTS: u8 = 8;
const SHARDS: u8 = 9;

#[test]
fn damaged_rows_are_found() {
    let first = |bed: &Bed| rows(bed, ROWS).remove(0);
    check(&["cut short"], |bed| vec![put(&first(bed).key, cut(&first(bed).value))]);
    check(&["unknown version"], |bed| vec![put(&first(bed).key, "?")]);
    check(&["its count says"], |bed| vec![delete(&first(bed).key)]);
    // A chunk of the large row; what is left of it is no row.
    let chunk = |bed: &Bed| rows(bed, ROWS).into_iter().find(|row| row.value[0] == 4).unwrap();
    check(&["lacks chunks"], |bed| vec![delete(&chunk(bed).key)]);
    check(&["chunk without its row"], |bed| {
        let at = chunk(bed);
        vec![put(&[at.key.as_ref(), &[9]].concat().into(), at.value)]
    });
    // A row at a key that its own key columns do not make: another token.
    check(&["another key than its own"], |bed| {
        let mut moved = first(bed).key.to_vec();
        moved[3] ^= 1;
        vec![put(&moved.into(), first(bed).value)]
    });
}

#[test]
fn heads_that_are_none_are_found() {
    let first = |bed: &Bed| rows(bed, ROWS).remove(0);
    check(&["a head at a chunk's key"], |bed| {
        let Row { key, value } = first(bed);
        vec![put(&[&key[..key.len() - 1], &[1]].concat().into(), value)]
    });
    // It says that it expires, and not when.
    check(&["a head that is damaged"], |bed| vec![put(&first(bed).key, vec![1, 2])]);
    let bed = memory();
    let table = bed.create_table(plain("t")).unwrap();
    let record = rows(&bed, 1).into_iter().find(|row| row.key[1] == 2).unwrap();
    let large = "x".repeat(100_000);
    bed.put(&table, Item::new().with("pk", "p").with("sk", "s").with("text", large));
    assert_eq!(verified(&bed).findings, []);
    bed.engine.store().commit(Commit::of(vec![put(&record.key, record.value)])).unwrap();
    let found = verified(&bed).findings;
    assert!(found.iter().any(|own| own.why.contains("does not know of any")), "{found:?}");
    assert!(found.iter().any(|own| own.why.contains("differs from its record")), "{found:?}");
}

#[test]
fn a_catalogue_that_contradicts_itself_is_found() {
    let tables = |bed: &Bed| {
        let all = rows(bed, 1).into_iter();
        all.filter(|row| row.key[1] == 2).collect::<Vec<_>>()
    };
    check(&["says that it is test.full", "is used twice"], |bed| {
        let tables = tables(bed);
        vec![put(&tables[1].key, tables[0].value.clone())]
    });
    check(&["a key that cannot be read"], |_| vec![put(&Bytes::from_static(&[1, 2, 3]), "?")]);
    check(&["a key without an id"], |_| vec![put(&Bytes::from_static(&[ROWS]), "?")]);
    check(&["a table of items has no tombstones"], |bed| {
        let id = rows(bed, ROWS)[0].key[1];
        vec![put(&vec![4, id, 1].into(), "?")]
    });
}

#[test]
fn entries_that_lead_nowhere_or_lack_are_found() {
    let first = |bed: &Bed| rows(bed, INDEX).remove(0);
    check(&["has no entry"], |bed| vec![delete(&first(bed).key)]);
    check(&["a record of an unknown version"], |bed| vec![put(&first(bed).key, "?")]);
    check(&["says something else"], |bed| {
        let row = rows(bed, INDEX).into_iter().find(|row| row.value.len() < 60).unwrap();
        let mut value = row.value.to_vec();
        *value.last_mut().unwrap() ^= 1;
        vec![put(&row.key, value)]
    });
    check(&["leads to no row"], |bed| {
        // As if the row had gone without its entries; its counts go with it.
        let row = rows(bed, ROWS).remove(0);
        vec![delete(&row.key)]
    });
    check(&["another one"], |bed| {
        // An entry of tag `tX` that leads to a row with another tag.
        let row = rows(bed, INDEX).remove(0);
        let mut key = row.key.to_vec();
        let place = key.windows(2).position(|pair| pair == b"t0" || pair == b"t1" || pair == b"t2");
        key[place.unwrap() + 1] = b'X';
        vec![put(&key.into(), row.value)]
    });
}

#[test]
fn an_entry_may_lack_where_its_unique_key_has_expired_and_nowhere_else() {
    // Of item 0, which expires: the entry whose key holds this.
    let entry = |bed: &Bed, of: &[u8]| {
        let is_own = |row: &Row| row.key.windows(of.len()).any(|part| part == of);
        delete(&rows(bed, INDEX).into_iter().find(is_own).unwrap().key)
    };
    for (of, has_expired, is_missed) in [
        ("c0\0", false, true),
        ("c0\0", true, false),
        ("t0\0", false, true),
        ("t0\0", true, true),
        ("c1\0", true, true),
    ] {
        let found = findings(|bed| {
            bed.seconds(if has_expired { 1_000 } else { 0 });
            vec![entry(bed, of.as_bytes())]
        });
        let is_found = found.iter().any(|found| found.contains("has no entry"));
        assert_eq!((found.len(), is_found), (usize::from(is_missed), is_missed), "{of}: {found:?}");
    }
}

#[test]
fn wrong_counts_are_found() {
    let table = |bed: &Bed| rows(bed, COUNTS).remove(0);
    let partition = |bed: &Bed| rows(bed, COUNTS).remove(1);
    let add = |row: Row, delta| vec![StoreWrite::Add { key: row.key, delta }];
    check(&["the table has 19 rows, its count says 20"], |bed| add(table(bed), 1));
    check(&["the partition has"], |bed| add(partition(bed), -1));
    check(&["no counter"], |bed| vec![put(&table(bed).key, "many")]);
    let shard = |bed: &Bed| rows(bed, SHARDS).pop().unwrap();
    check(&["shard"], |bed| add(shard(bed), 1));
    check(&["neither a shard map nor a counter"], |bed| {
        vec![put(&rows(bed, SHARDS).remove(0).key, "?")]
    });
    check(&["the partition has no rows, its count says 3"], |bed| {
        let mut key = partition(bed).key.to_vec();
        let at = key.len() - 3;
        key[at] = b'Z';
        vec![put(&key.into(), StoreWrite::counter_value(3))]
    });
}

#[test]
fn what_lies_beside_the_rows_is_found() {
    check(&["is not in the queue"], |bed| vec![delete(&rows(bed, DUE).remove(0).key)]);
    check(&["a due time that cannot be read"], |bed| vec![put(&rows(bed, DUE).remove(0).key, "?")]);
    let large =
        |bed: &Bed| rows(bed, CHANGES).into_iter().find(|row| row.value[0] == 0xF0).unwrap();
    check(&["lacks parts"], |bed| vec![delete(&large(bed).key)]);
    check(&["lacks parts"], |bed| {
        let all = rows(bed, CHANGES);
        let last = all.iter().rposition(|row| row.key.len() > large(bed).key.len()).unwrap();
        vec![delete(&all[last].key)]
    });
    check(&["lacks parts"], |bed| {
        // The log ends in the middle of a change.
        let large = large(bed);
        let behind = rows(bed, CHANGES).into_iter().filter(|row| row.key > large.key);
        behind.map(|row| delete(&row.key)).collect()
    });
    check(&["the queue of due times, key"], |bed| {
        let expires = rows(bed, ROWS).into_iter().find(|row| row.value[..2] == [1, 2]);
        vec![put(&expires.unwrap().key, "?")]
    });
    check(&["cut short"], |bed| {
        let change = rows(bed, CHANGES).remove(0);
        vec![put(&change.key, cut(&change.value))]
    });
    check(&["a token that cannot be read"], |bed| vec![put(&rows(bed, 7).remove(0).key, "?")]);
    check(&["a key of no tree"], |_| vec![put(&Bytes::from_static(b"stranger"), "?")]);
    check(&["which no table has"], |_| vec![put(&Bytes::from_static(&[ROWS, 99, 0]), "?")]);
    check(&["record of table"], |bed| {
        let table = rows(bed, 1).into_iter().find(|row| row.key[1] == 2).unwrap();
        vec![put(&table.key, cut(&table.value))]
    });
    check(&["the next id is not above"], |_| {
        vec![put(&Bytes::from_static(&[1, 1]), vec![0, 0, 0, 0, 0, 0, 0, 1])]
    });
}

#[test]
fn so_many_findings_and_no_more() {
    let bed = memory();
    let table = bed.create_table(plain("t")).unwrap();
    for n in 0..FINDINGS_MAX + 7 {
        bed.put(&table, Item::new().with("pk", "p").with("sk", format!("{n}")).with("n", n as i64));
    }
    let writes = keys(&bed, &[ROWS]).iter().map(|key| put(key, "?")).collect();
    bed.engine.store().commit(Commit::of(writes)).unwrap();
    let found = verified(&bed);
    assert_eq!((found.findings.len(), found.findings_more), (FINDINGS_MAX, 7));
    assert!(!found.is_clean());
}
