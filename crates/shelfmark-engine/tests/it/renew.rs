//! After a loss: whatever keys are gone, or of an earlier time, the rest belongs together again and
//! can be read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_engine::{
    CatalogueChange, CellChange, CellScan, Engine, KeyOwner, Mended, Scan, Write,
};
use shelfmark_model::{Item, Key, RowKind, TableName};
use shelfmark_store::clock::ManualClock;
use shelfmark_store::memory::MemoryStore;
use shelfmark_store::{Commit, Store as _, Write as StoreWrite};

use crate::cells::{A, B, from, insert, key, mutation, schema, set, update};
use crate::drivers::{Bed, START_SECONDS, keys, memory, on_every_driver, open, patiently, plain};
use crate::verify::verified;

type Contents = BTreeMap<Bytes, Bytes>;

fn contents(bed: &Bed) -> Contents {
    bed.settle();
    let view = bed.engine.store().snapshot().unwrap();
    let value = |key: Bytes| (key.clone(), view.get(&key).unwrap().unwrap());
    keys(bed, &[]).into_iter().map(value).collect()
}

/// An engine over a store that has just this, as after a salvage.
fn engine_over(contents: &Contents) -> Engine {
    let clock = Arc::new(ManualClock::at_micros(START_SECONDS * 1_000_000));
    let store = MemoryStore::new(clock.clone());
    let put =
        |(key, value): (&Bytes, &Bytes)| StoreWrite::Put { key: key.clone(), value: value.clone() };
    let writes: Vec<StoreWrite> = contents.iter().map(put).collect();
    for writes in writes.chunks(64) {
        store.commit(Commit::of(writes.to_vec())).unwrap();
    }
    open(Arc::new(store), &clock)
}

/// Tables of items and of cells with everything that follows from rows.
fn fill(bed: &Bed) {
    crate::verify::fill(bed);
    crate::cells::verify::fill(bed);
    let short = bed.create_table(plain("short")).unwrap();
    bed.put(&short, Item::new().with("pk", "p").with("sk", "s"));
    // Columns that an insert says all of, so that it has a high-water mark.
    let mut lean = schema("lean");
    lean.columns.truncate(2);
    let lean = bed.create_table(lean).unwrap();
    bed.cells(vec![insert(&lean, "p", key(1, "x"), 10, vec![set(A, "red"), set(B, "b")])]);
    let emptied = bed.create_table(plain("emptied")).unwrap();
    bed.put(&emptied, Item::new().with("pk", "p").with("sk", "s"));
    // A split that has begun and waits.
    let full = bed.engine.table(&TableName::new("test", "full")).unwrap();
    let refuses = bed.engine.on_split(|_| Err("not now".into()));
    for n in 40..46 {
        bed.put(&full, Item::new().with("pk", "p4").with("sk", format!("{n}")));
    }
    for _ in 0..3 {
        patiently(|| bed.engine.split_all_due()).unwrap();
    }
    assert!(!bed.engine.split_failures().is_empty());
    drop(refuses);
}

/// Changes something of each kind in a store that [`fill`] made.
fn change(bed: &Bed) {
    let full = bed.engine.table(&TableName::new("test", "full")).unwrap();
    let item = |n: usize, tag: &str, code: &str| {
        Item::new()
            .with("pk", format!("p{}", n / 10))
            .with("sk", format!("{n:02}"))
            .with("tag", tag)
            .with("code", code)
    };
    // Unique keys move on, so that an earlier state has one that is taken by now.
    bed.put(&full, item(1, "t9", "new"));
    bed.put(&full, item(2, "t9", "c1"));
    bed.put(&full, item(5, "t0", "c5"));
    bed.put(&full, item(30, "t1", "c30"));
    bed.write(Write::delete(&full, Key::pair("p0", "07"))).unwrap();
    // The first row with chunks of its table, which notes that.
    let short = bed.engine.table(&TableName::new("test", "short")).unwrap();
    let text = "x".repeat(100_000);
    bed.put(&short, Item::new().with("pk", "p").with("sk", "s").with("text", text));
    let t = bed.engine.table(&TableName::new("ks", "t")).unwrap();
    bed.cells(vec![
        update(&t, "p", key(1, "x"), 30, vec![set(A, "green")]),
        insert(&t, "r", key(1, "x"), 30, vec![set(A, "red"), set(B, "b")]),
        mutation(&t, "p", 40, CellChange::DeleteSpan(from(4))),
        mutation(&t, "q", 40, CellChange::DeletePartition),
    ]);
    // Later than what the high-water mark of before says.
    let lean = bed.engine.table(&TableName::new("ks", "lean")).unwrap();
    let all = vec![set(A, "red"), set(B, "b")];
    bed.cells(vec![insert(&lean, "s", key(1, "x"), 50_000_000, all)]);
    bed.change_catalogue(|| {
        vec![CatalogueChange::TruncateTable(TableName::new("test", "ordered"))]
    });
    patiently(|| bed.engine.purge()).unwrap();
    // Of this one the keys are still there.
    bed.change_catalogue(|| {
        vec![CatalogueChange::TruncateTable(TableName::new("test", "emptied"))]
    });
}

/// What every read of whole tables and indexes shows.
fn shown(engine: &Engine) -> BTreeSet<String> {
    let mut shown = BTreeSet::new();
    for name in engine.table_names(None, None, usize::MAX).unwrap() {
        let table = engine.table(&name).unwrap();
        if table.schema.rows == RowKind::Cells {
            let page = engine.scan_cells(&table, &CellScan::default()).unwrap();
            assert!(page.cursor.is_none());
            shown.extend(page.rows.iter().map(|row| format!("{name} {row:?}")));
            continue;
        }
        let indexes = table.indexes().iter().map(|index| Some(index.schema.name.clone()));
        for index in indexes.chain([None]) {
            for descending in [false, true] {
                let scan = Scan { index: index.clone(), descending, ..Scan::default() };
                let mut next = Some(scan);
                while let Some(scan) = next {
                    let page = engine.scan(&table, &scan).unwrap();
                    let items = page.items.iter().filter(|_| index.is_none());
                    shown.extend(items.map(|item| format!("{name} {item:?}")));
                    next = page.cursor.map(|start| Scan { start: Some(start), ..scan });
                }
            }
        }
    }
    shown
}

/// Takes a stretch of keys away, or back to an earlier time, and looks at what is left after the
/// renewal. Returns what was told.
fn lose(
    now: &Contents,
    earlier: &Contents,
    stretch: &[Bytes],
    before: &BTreeSet<String>,
) -> Vec<Mended> {
    let mut left = now.clone();
    for key in stretch {
        match earlier.get(key) {
            Some(value) => drop(left.insert(key.clone(), value.clone())),
            None => drop(left.remove(key)),
        }
    }
    let (first, last) = (stretch.first().unwrap(), stretch.last().unwrap());
    let least = now.range(..first.clone()).next_back().map(|(key, _)| key.clone());
    let greatest = now.range(last.clone()..).nth(1).map(|(key, _)| key.clone());
    let engine = engine_over(&left);
    let owners = engine.key_owners().unwrap().between(least.as_deref(), greatest.as_deref());
    let lost: BTreeSet<KeyOwner> = owners.into_iter().collect();
    let mut told = Vec::new();
    engine.renew_after_loss(Some(&lost), &mut |mended| told.push(mended)).unwrap();
    let mut found = engine.verify().unwrap();
    // Whoever uses the view decides what becomes of it.
    if told.iter().any(|own| matches!(own, Mended::ViewWithoutBase { .. })) {
        found.findings.retain(|own| !own.why.contains("its base"));
    }
    let why = || format!("{first:02x?} to {last:02x?} of {lost:?}\ntold {told:#?}");
    assert!(found.is_clean(), "{:#?}\n{}", found.findings, why());
    let is_known = |key: &Bytes| key[0] != 1 || !stretch.contains(&copy_of(key));
    if stretch.iter().all(is_known) {
        // What of the catalogue was lost is back from its copy.
        let after = shown(&engine);
        let missing = before.difference(&after).count();
        // A row and its row in a view; a tombstone may hide a row no more.
        let concerned = stretch.iter().filter(|key| [2, 4].contains(&key[0])).count();
        assert!(missing <= 2 * concerned, "{missing} rows are missing\n{}", why());
    }
    if stretch.len() > 1 {
        let again = again(&engine, &lost);
        assert!(again.is_empty(), "{again:#?}\n{}", why());
    }
    if first[0] == 1 {
        // What is there stays there.
        let after = shown(&engine);
        assert_eq!(engine.purge().unwrap(), 0);
        assert_eq!(shown(&engine), after, "{}", why());
    }
    told
}

/// Once more: returns what is done beside building again, which should be nothing.
fn again(engine: &Engine, lost: &BTreeSet<KeyOwner>) -> Vec<Mended> {
    let mut again = Vec::new();
    engine.renew_after_loss(Some(lost), &mut |mended| again.push(mended)).unwrap();
    again.retain(|own| {
        use Mended::{Indexes, View, ViewWithoutBase};
        !matches!(own, Indexes { .. } | View { .. } | ViewWithoutBase { .. })
    });
    again
}

/// Where the copy of a record of the catalogue is.
fn copy_of(key: &[u8]) -> Bytes {
    [&[10], &key[1..]].concat().into()
}

/// Single keys, and stretches of several that overlap by half.
fn stretches(keys: &[Bytes]) -> impl Iterator<Item = &[Bytes]> {
    let of = |length: usize| keys.windows(length).step_by(length.div_ceil(2));
    of(1).chain(of(20))
}

/// As when a file is lost whose keys are in no other one.
#[test]
fn whatever_keys_are_lost_the_rest_belongs_together() {
    let bed = memory();
    fill(&bed);
    let now = contents(&bed);
    let before = shown(&bed.engine);
    let keys: Vec<Bytes> = now.keys().cloned().collect();
    assert!(keys.len() > 250, "{}", keys.len());
    let mut told = Vec::new();
    for stretch in stretches(&keys) {
        told.extend(lose(&now, &Contents::new(), stretch, &before));
    }
    assert!(told.iter().any(|own| matches!(own, Mended::Catalogue { .. })));
    // Records of tables of which the copies are lost as well.
    for key in keys.iter().filter(|key| key.starts_with(&[1, 2])) {
        told.extend(lose(&now, &Contents::new(), &[key.clone(), copy_of(key)], &before));
    }
    let has = |wanted: fn(&Mended) -> bool| told.iter().any(wanted);
    assert!(has(|own| matches!(own, Mended::RowRemoved { .. })));
    assert!(has(|own| matches!(own, Mended::Counts { .. })));
    assert!(has(|own| matches!(own, Mended::DueTimes { .. })));
    assert!(has(|own| matches!(own, Mended::ChangesRemoved { .. })));
    assert!(has(|own| matches!(own, Mended::Deletions { .. })));
    assert!(has(|own| matches!(own, Mended::DeletedAgain { .. })));
    assert!(has(|own| matches!(own, Mended::Unknown { .. })));
    assert!(has(|own| matches!(own, Mended::ViewForgotten { .. })));
}

/// As when a file is lost whose keys are in older ones, too.
#[test]
fn whatever_comes_back_of_an_earlier_time_the_rest_belongs_together() {
    let bed = memory();
    fill(&bed);
    let earlier = contents(&bed);
    change(&bed);
    let now = contents(&bed);
    let before = shown(&bed.engine);
    let all: BTreeSet<Bytes> = now.keys().chain(earlier.keys()).cloned().collect();
    let keys: Vec<Bytes> = all.into_iter().collect();
    let mut told = Vec::new();
    for stretch in stretches(&keys) {
        if stretch.iter().any(|key| now.get(key) != earlier.get(key)) {
            told.extend(lose(&now, &earlier, stretch, &before));
        }
    }
    assert!(told.iter().any(|own| matches!(own, Mended::IndexRemoved { .. })));
}

/// Nothing is known of what was lost: everything is looked at, on every driver.
#[test]
fn a_whole_store_is_made_anew_where_it_has_to_be() {
    on_every_driver(|bed| {
        fill(bed);
        let before = shown(&bed.engine);
        // Every fifth key of what follows from rows.
        let followers = [3, 6, 8].iter().flat_map(|tree| keys(bed, &[*tree]));
        let lost: Vec<StoreWrite> =
            followers.step_by(5).map(|key| StoreWrite::Delete { key }).collect();
        assert!(lost.len() > 10);
        patiently(|| Ok(bed.engine.store().commit(Commit::of(lost.clone()))?)).unwrap();
        assert!(!verified(bed).is_clean());
        let mut told = Vec::new();
        let mut tell = |mended: Mended| told.push(mended.to_string());
        patiently(|| bed.engine.renew_after_loss(None, &mut tell)).unwrap();
        assert_eq!(verified(bed).findings, [], "{told:#?}");
        assert_eq!(shown(&bed.engine), before);
        for wanted in [
            "indexes of test.full were built anew: 2",
            "indexes of ks.t were built anew: 6",
            "view ks.by_a was built anew from ks.t",
            "counts of test.full were corrected: ",
        ] {
            assert!(told.iter().any(|own| own.contains(wanted)), "{wanted}: {told:#?}");
        }
    });
}

/// The process ends at any point of a renewal: the next one makes all of it.
#[test]
fn a_renewal_that_was_interrupted_is_made_again() {
    let bed = memory();
    fill(&bed);
    let mut left = contents(&bed);
    let followers: Vec<Bytes> =
        [1, 3, 5, 6, 8, 9].iter().flat_map(|tree| keys(&bed, &[*tree])).collect();
    // All but the tables themselves.
    for key in followers.iter().skip(2).step_by(5).filter(|key| key[..2] != [1, 2]) {
        left.remove(key);
    }
    for steps in 0.. {
        let engine = engine_over(&left);
        let mut told = 0;
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            engine.renew_after_loss(None, &mut |_| {
                assert!(told < steps, "the process ends here");
                told += 1;
            })
        }));
        let clock = Arc::new(ManualClock::at_micros(START_SECONDS * 1_000_000));
        let again = open(Arc::clone(engine.store()), &clock);
        again.renew_after_loss(None, &mut |_| {}).unwrap();
        assert_eq!(again.verify().unwrap().findings, [], "{steps}");
        if outcome.is_ok() {
            assert!(steps > 5, "{steps}");
            break;
        }
    }
}

/// Nothing of this loss concerns the index, which a renewal before was building.
#[test]
fn what_waits_to_be_built_is_built() {
    let bed = memory();
    fill(&bed);
    let names = ["full", "t"].map(|name| {
        let namespace = if name == "t" { "ks" } else { "test" };
        TableName::new(namespace, name)
    });
    let renew = |name: &TableName| CatalogueChange::RenewDerived(name.clone());
    bed.change_catalogue(|| names.iter().map(renew).collect());
    let entries = verified(&bed).entries;
    bed.engine.renew_after_loss(Some(&BTreeSet::new()), &mut |_| {}).unwrap();
    let found = verified(&bed);
    assert_eq!(found.findings, []);
    assert!(entries < 10 && found.entries > 40, "{entries}, then {}", found.entries);
}

/// The row that lost a chunk is named by its key, and the table can be read again.
#[test]
fn what_is_left_of_a_row_is_removed_and_named() {
    let bed = memory();
    fill(&bed);
    let now = contents(&bed);
    let before = shown(&bed.engine);
    let is_chunk = |(key, value): &(&Bytes, &Bytes)| key[0] == 2 && [3, 4].contains(&value[0]);
    let chunks: Vec<Bytes> = now.iter().filter(is_chunk).map(|(key, _)| key.clone()).collect();
    let named: Vec<String> = chunks
        .iter()
        .flat_map(|chunk| lose(&now, &Contents::new(), std::slice::from_ref(chunk), &before))
        .filter(|own| matches!(own, Mended::RowRemoved { .. }))
        .map(|own| own.to_string())
        .collect();
    assert_eq!(named.len(), chunks.len(), "one line for each row: {named:#?}");
    let is_there = |text: &str| named.iter().any(|own| own.contains(text));
    assert!(is_there("the row (pk = \"p0\", sk = \"05\") of test.full"), "{named:#?}");
    assert!(is_there("the row (pk = \"q\", c = 2, d = \"x\") of ks.purged"), "{named:#?}");
}

/// What was lost is told by what may lie between two keys.
#[test]
fn a_stretch_of_keys_is_told_by_whose_it_may_be() {
    let bed = memory();
    fill(&bed);
    assert_eq!(bed.engine.purge().unwrap(), 0);
    let owners = bed.engine.key_owners().unwrap();
    let all = keys(&bed, &[]);
    let said = |least: &Bytes, greatest: &Bytes| -> Vec<String> {
        owners.between(Some(least), Some(greatest)).iter().map(ToString::to_string).collect()
    };
    let full = bed.engine.table(&TableName::new("test", "full")).unwrap();
    let of = |tree: u8, id: u64| {
        let mut prefix = vec![tree];
        shelfmark_keycode::put_ordered_varint(&mut prefix, id);
        keys(&bed, &prefix)
    };
    let (rows, by_tag) = (of(2, full.id), of(3, full.indexes()[0].id));
    assert_eq!(said(&rows[0], rows.last().unwrap()), ["rows of test.full"]);
    assert_eq!(said(&by_tag[0], &by_tag[1]), ["entries of index by_tag of test.full"]);
    assert_eq!(owners.row_name(&rows[0]).unwrap(), "pk = \"p1\", sk = \"10\"");
    assert!(owners.are_of_one_table(&rows[0], &rows[1]));
    assert!(!owners.are_of_one_table(&rows[0], &by_tag[0]));
    let over = said(rows.last().unwrap(), &by_tag[0]);
    assert_eq!(over.first().unwrap(), "rows of test.full");
    assert_eq!(over.last().unwrap(), "entries of index by_tag of test.full");
    assert!(over.contains(&"rows of view ks.by_a".to_owned()), "{over:?}");
    let whole: Vec<String> = owners.between(None, None).iter().map(ToString::to_string).collect();
    for owner in [
        "the catalogue of tables",
        "deletions in ks.t",
        "the change log of test.full",
        "the times at which rows expire",
        "request tokens",
        "counts of test.full",
        "shards of test.full",
    ] {
        assert!(whole.contains(&owner.to_owned()), "{owner}: {whole:?}");
    }
    // Every key has exactly one owner, and no unknown one.
    for key in &all {
        assert_eq!(owners.between(Some(key), Some(key)).len(), 1, "{key:02x?}");
    }
    let stranger = Bytes::from_static(&[2, 99, 1]);
    assert_eq!(said(&stranger, &stranger), ["a table that is not known any more (number 99)"]);
}
