//! Inserts that are written without reading their rows leave what the other way leaves.
//!
//! The same mutations go to two engines. One of them is observed, and what an observed engine writes
//! it reads first; so its rows are the measure.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use bytes::Bytes;
use shelfmark_engine::{
    CatalogueChange, CellChange, CellGet, CellOperation, ConditionalRead, Decision, Engine,
    Mutation, Span, SpanBound, Table,
};
use shelfmark_keycode::KeyType;
use shelfmark_model::{
    CellIndex, CellIndexTarget, Column, ColumnType, IndexState, TableName, TableSchema, TextFold,
};
use shelfmark_store::clock::ManualClock;
use shelfmark_store::memory::MemoryStore;
use shelfmark_store::random::SplitMix;
use shelfmark_store::{Commit, KeyRange, Write as StoreWrite};
use shelfmark_testkit::counting::CountingStore;
use shelfmark_testkit::seeds;

use super::{A, B, STATIC, insert, int, key, mutation, set, update};
use crate::drivers::{Bed, embedded, memory, open, patiently, restless};

/// As the engine's own: a high-water mark rises by this.
const STEP: i64 = 10_000_000;

/// Columns of one cell each, and no index: what an insert that gives them all may be written blindly.
fn plain(name: &str) -> TableSchema {
    let mut schema = super::schema(name);
    schema.columns.retain(|own| matches!(own.column_type, ColumnType::Value(_)));
    schema
}

fn both(random: &mut SplitMix) -> Vec<CellOperation> {
    let value = |random: &mut SplitMix| match random.below(40) {
        // Such a row is cut into chunks.
        0 => "large".repeat(20_000),
        1 => String::new(),
        _ => format!("v{}", random.below(1_000)),
    };
    let mut both = vec![set(A, &value(random)), set(B, &value(random))];
    if random.chance(300) {
        both.reverse();
    }
    both
}

/// Without deletions no tombstone guards what the high-water mark has to.
fn random_change(random: &mut SplitMix, deletes: bool) -> CellChange {
    let clustering = key(i32::try_from(random.below(2)).unwrap(), "x");
    let row = |is_insert, operations| CellChange::Row {
        clustering: clustering.clone(),
        is_insert,
        operations,
    };
    let least = if deletes { 0 } else { 3 };
    match least + random.below(24 - least) {
        0 => CellChange::DeletePartition,
        1 => CellChange::DeleteRow(clustering),
        2 => {
            let bound = |c| Some(SpanBound { values: vec![int(c)], included: true });
            CellChange::DeleteSpan(Span { equal: vec![], lower: bound(1), upper: bound(3) })
        }
        3 => CellChange::Statics(vec![set(STATIC, "s")]),
        4 => row(true, vec![set(A, "alone")]),
        5 => row(true, vec![set(A, "one"), set(A, "two")]),
        6 => row(true, vec![set(A, "a"), CellOperation::Delete { column: B }]),
        7 => row(false, both(random)),
        8 => row(false, vec![CellOperation::Delete { column: A }]),
        _ => row(true, both(random)),
    }
}

/// Mostly later than everything before, or as late, or a little earlier; sometimes about as much
/// later as high-water marks rise.
fn random_time(random: &mut SplitMix, latest: &mut i64) -> i64 {
    let at = match random.below(20) {
        0..=1 => *latest,
        2..=4 => *latest - i64::try_from(random.below(4)).unwrap(),
        5 => *latest - STEP,
        6 => *latest + STEP - 1,
        7 => *latest + STEP,
        8 => *latest + STEP + 1,
        _ => *latest + 1,
    };
    *latest = at.max(*latest);
    at
}

/// The stored rows of all tables, with their chunks.
fn rows(bed: &Bed) -> BTreeMap<Bytes, Bytes> {
    bed.settle();
    let view = bed.engine.store().snapshot().unwrap();
    let mut rows = BTreeMap::new();
    let mut rest = Some(KeyRange::prefix(vec![2]));
    while let Some(range) = rest {
        let page = view.scan(&range, Default::default(), Default::default()).unwrap();
        rows.extend(page.rows.into_iter().map(|row| (row.key, row.value)));
        rest = page.next;
    }
    rows
}

fn decide(bed: &Bed, table: &Arc<Table>, change: &Mutation) {
    let CellChange::Row { clustering, .. } = &change.change else { return };
    let read = ConditionalRead {
        table: Arc::clone(table),
        partition: change.partition.clone(),
        rows: vec![clustering.clone()],
        statics: false,
        now: None,
    };
    patiently(|| {
        bed.engine.write_cells_if(read.clone(), |_| {
            let own = Mutation { table: Arc::clone(table), ..change.clone() };
            // Twice: the second builds on what the first made of the row that was looked at.
            Ok(Decision { mutations: vec![own.clone(), own], answer: () })
        })
    })
    .unwrap();
}

fn run(mut blind: Bed, mut looking: Bed, seed: u64) {
    let mut random = SplitMix::new(seed);
    let (mut observed, mut latest) = (true, 1_000);
    for bed in [&blind, &looking] {
        bed.create_table(plain("t")).unwrap();
    }
    for step in 0..120 {
        if observed {
            looking.engine = looking.engine.observed(|_| {});
            observed = false;
        }
        let name = TableName::new("ks", "t");
        let tables = [&blind, &looking].map(|bed| bed.engine.table(&name).unwrap());
        let ttl_seconds = random.chance(80).then_some(50);
        let at = random_time(&mut random, &mut latest);
        let pk = ["p", "q"][random.index(2)];
        let deletes = seed.is_multiple_of(2);
        let change = random_change(&mut random, deletes);
        let more = random.chance(250).then(|| random_change(&mut random, deletes));
        let conditional = random.chance(100);
        for (bed, table) in [&blind, &looking].into_iter().zip(&tables) {
            let one = |change: &CellChange| Mutation {
                ttl_seconds,
                ..mutation(table, pk, at, change.clone())
            };
            if conditional {
                decide(bed, table, &one(&change));
            } else {
                bed.cells([&change].into_iter().chain(&more).map(one).collect());
            }
        }
        assert_eq!(rows(&blind), rows(&looking), "seed {seed}, step {step}");
        match random.below(30) {
            0 => {
                blind.check_sound();
                looking.reopen();
                blind.reopen();
                observed = true;
            }
            1 => {
                for bed in [&blind, &looking] {
                    bed.seconds(40);
                    let mut position = Default::default();
                    while bed.sweep(&mut position, 100).unwrap() > 0 {}
                }
            }
            // In memory the engine is opened anew over the same store.
            2 => {
                blind.engine = open(Arc::clone(blind.engine.store()), &blind.clock);
                looking.engine = open(Arc::clone(looking.engine.store()), &looking.clock);
                observed = true;
            }
            _ => {}
        }
    }
    for bed in [blind, looking] {
        bed.check_sound();
        bed.engine.store().close().unwrap();
    }
}

#[test]
fn inserts_leave_what_those_that_read_leave() {
    seeds::each(150, 5_000, |seed| run(memory(), memory(), seed));
}

#[test]
fn inserts_leave_what_those_that_read_leave_over_restarts() {
    seeds::each(6, 200, |seed| run(embedded(), embedded(), 10_000 + seed));
    seeds::each(3, 100, |seed| run(restless(), restless(), 20_000 + seed));
}

struct CountedBed {
    store: Arc<CountingStore>,
    /// Whoever writes lets others go first.
    is_slow: Arc<AtomicBool>,
    clock: Arc<ManualClock>,
    engine: Engine,
}

fn counted(is_exclusive: bool) -> CountedBed {
    let clock = Arc::new(ManualClock::at_micros(1_000_000));
    let inner = Arc::new(MemoryStore::new(clock.clone()));
    let counting = CountingStore::new(inner).exclusive(is_exclusive);
    let (is_slow, reads) = (Arc::new(AtomicBool::new(false)), counting.reads());
    let slow = Arc::clone(&is_slow);
    let store = Arc::new(counting.before_submit(move || {
        if slow.load(Ordering::SeqCst) {
            (0..reads.looks() % 7).for_each(|_| std::thread::yield_now());
        }
    }));
    let engine = open(Arc::clone(&store) as _, &clock);
    CountedBed { store, is_slow, clock, engine }
}

impl CountedBed {
    /// Tells whether a write looks at what is there.
    fn looks(&self, mutation: Mutation) -> bool {
        self.looks_for(vec![mutation])
    }

    fn looks_for(&self, mutations: Vec<Mutation>) -> bool {
        let before = self.store.reads().looks();
        self.engine.write_cells(mutations).unwrap();
        self.store.reads().looks() > before
    }

    fn reopened(mut self) -> Self {
        self.engine = open(Arc::clone(&self.store) as _, &self.clock);
        self
    }
}

fn whole(table: &Arc<Table>, c: i32, at: i64) -> Mutation {
    insert(table, "p", key(c, "x"), at, vec![set(A, "a"), set(B, "b")])
}

#[test]
fn an_insert_later_than_everything_reads_nothing() {
    let bed = counted(true);
    let table = bed.engine.create_table(plain("t")).unwrap();
    assert!(bed.looks(whole(&table, 1, 100)), "what is there has to be known once");
    assert!(!bed.looks(whole(&table, 1, 101)));
    assert!(!bed.looks(whole(&table, 2, 102)), "of a row that is not there too");
    assert!(bed.looks(whole(&table, 1, 102)), "as late is not later");
    assert!(bed.looks(whole(&table, 1, 50)));
    assert!(bed.looks(update(&table, "p", key(1, "x"), 200, vec![set(A, "a"), set(B, "b")])));
    assert!(bed.looks(insert(&table, "p", key(1, "x"), 201, vec![set(A, "a")])), "not all of it");
    assert!(!bed.looks(whole(&table, 1, 202)));
    assert!(bed.looks(mutation(&table, "p", 300, CellChange::DeleteRow(key(2, "x")))));
    assert!(bed.looks(whole(&table, 2, 300)), "the tombstone is as late");
    assert!(!bed.looks(whole(&table, 2, 301)));
    let expiring = Mutation { ttl_seconds: Some(5), ..whole(&table, 1, 400) };
    assert!(!bed.looks(expiring));
    assert!(!bed.looks(whole(&table, 1, 401)));
    // What another process would find tells no more than the high-water mark.
    let bed = bed.reopened();
    let table = bed.engine.table(&table.schema.name).unwrap();
    assert!(bed.looks(whole(&table, 1, 500)), "what is there has to be known once");
    assert!(bed.looks(whole(&table, 1, 100 + STEP)));
    assert!(
        !bed.looks(whole(&table, 1, 301 + STEP + 60_000_000)),
        "behind high-water mark and bound"
    );
    let large = "l".repeat(70_000);
    assert!(bed.looks(insert(&table, "p", key(3, "x"), 1 << 40, vec![set(A, &large), set(B, "")])));
    assert!(bed.looks(whole(&table, 3, 1 << 41)), "its chunks have to go");
    let bed = bed.reopened();
    let table = bed.engine.table(&table.schema.name).unwrap();
    assert!(bed.looks(whole(&table, 1, 1 << 42)));
    assert!(bed.looks(whole(&table, 1, 1 << 43)), "the high-water mark tells of chunks");
}

#[test]
fn inserts_of_one_commit_read_nothing_or_all_of_their_rows() {
    let bed = counted(true);
    let [table, other] = ["t", "u"].map(|name| bed.engine.create_table(plain(name)).unwrap());
    assert!(bed.looks_for(vec![whole(&table, 1, 100), whole(&other, 1, 100)]));
    assert!(!bed.looks_for((1..9).map(|c| whole(&table, c, 101)).collect()));
    let elsewhere = Mutation { partition: "q".into(), ..whole(&table, 1, 102) };
    assert!(!bed.looks_for(vec![whole(&table, 1, 102), elsewhere]), "two partitions");
    assert!(bed.looks_for(vec![whole(&table, 1, 103), whole(&table, 1, 103)]), "one row twice");
    assert!(bed.looks_for(vec![whole(&table, 1, 104), whole(&other, 1, 104)]), "two tables");
    assert!(bed.looks_for(vec![whole(&table, 2, 105), whole(&table, 1, 104)]), "one is as late");
    let some = update(&table, "p", key(2, "x"), 106, vec![set(A, "a")]);
    assert!(bed.looks_for(vec![whole(&table, 1, 106), some]), "one says not all");
    assert!(!bed.looks_for(vec![whole(&table, 2, 107), whole(&table, 1, 108)]), "two times");
}

#[test]
fn a_row_that_expires_is_due_though_nothing_was_read() {
    let bed = memory();
    let table = bed.create_table(plain("t")).unwrap();
    let expiring = |at, ttl_seconds| Mutation { ttl_seconds, ..whole(&table, 1, at) };
    bed.cells(vec![whole(&table, 2, 100)]);
    bed.cells(vec![expiring(101, Some(100))]);
    bed.cells(vec![expiring(102, Some(20))]);
    bed.check_sound();
    assert!(bed.value(&table, "p", key(1, "x"), A).is_some());
    // Longer than the TTL and the grace period of the table.
    bed.seconds(20 + 864_000 + 2);
    assert!(bed.value(&table, "p", key(1, "x"), A).is_none());
    let mut position = Default::default();
    while bed.sweep(&mut position, 100).unwrap() > 0 {}
    assert_eq!(rows(&bed).len(), 1, "the other row");
    bed.check_sound();
}

#[test]
fn a_store_of_the_format_before_becomes_one_of_this_when_it_is_opened() {
    let bed = counted(true);
    let format = || bed.engine.store().snapshot().unwrap().get(&[1, 0]).unwrap().unwrap();
    let now = format();
    let (key, value) = (vec![1, 0].into(), vec![0, 0, 0, 0, 0, 0, 0, 1].into());
    bed.engine.store().commit(Commit::of(vec![StoreWrite::Put { key, value }])).unwrap();
    let engine = open(Arc::clone(bed.engine.store()), &bed.clock);
    let table = engine.create_table(plain("t")).unwrap();
    assert_eq!(format(), now);
    engine.write_cells(vec![whole(&table, 1, 100)]).unwrap();
}

#[test]
fn who_shares_a_store_reads_first() {
    let bed = counted(false);
    let table = bed.engine.create_table(plain("t")).unwrap();
    assert!((100..105).all(|at| bed.looks(whole(&table, 1, at))));
}

#[test]
fn whatever_follows_from_a_row_needs_it() {
    let bed = counted(true);
    let mut schema = plain("t");
    schema.columns.push(Column {
        name: "m".to_owned(),
        id: super::MAP,
        column_type: ColumnType::Map(KeyType::Text, KeyType::Text),
        is_static: false,
    });
    let table = bed.engine.create_table(schema).unwrap();
    assert!((100..105).all(|at| bed.looks(whole(&table, 1, at))), "a map may be there");
    let mut schema = plain("u");
    schema.cells.as_mut().unwrap().indexes = vec![CellIndex {
        name: "by_a".to_owned(),
        target: CellIndexTarget::Column(A),
        terms: vec![KeyType::Text],
        fold: TextFold::default(),
        state: IndexState::Public,
    }];
    let table = bed.engine.create_table(schema).unwrap();
    assert!((100..105).all(|at| bed.looks(whole(&table, 1, at))), "an index follows from it");
}

#[test]
fn a_table_that_has_rows_gets_no_lease() {
    let bed = counted(true);
    let mut schema = plain("t");
    let index = CellIndex {
        name: "by_a".to_owned(),
        target: CellIndexTarget::Column(A),
        terms: vec![KeyType::Text],
        fold: TextFold::default(),
        state: IndexState::Public,
    };
    schema.cells.as_mut().unwrap().indexes = vec![index];
    let table = bed.engine.create_table(schema).unwrap();
    bed.engine.write_cells(vec![whole(&table, 1, 1_000)]).unwrap();
    let drop_index = |schema: &mut TableSchema| {
        schema.cells.as_mut().unwrap().indexes.clear();
        Ok(())
    };
    let name = table.schema.name.clone();
    let alter = CatalogueChange::AlterTable(name.clone(), Box::new(drop_index));
    bed.engine.change_catalogue(vec![alter]).unwrap();
    let bed = bed.reopened();
    let table = bed.engine.table(&name).unwrap();
    assert!((100..105).all(|at| bed.looks(whole(&table, 1, at))), "nobody knows how late rows are");
    // Without rows it gets one; tombstones from before are still respected.
    let gone = mutation(&table, "p", 2_000, CellChange::DeleteRow(key(1, "x")));
    bed.engine.write_cells(vec![gone]).unwrap();
    let bed = bed.reopened();
    let table = bed.engine.table(&name).unwrap();
    assert!(bed.looks(whole(&table, 2, 1_000)));
    assert!(bed.looks(whole(&table, 1, 1_500)), "there is a tombstone");
    let get = CellGet { partition: "p".into(), clustering: key(1, "x"), ..CellGet::default() };
    assert_eq!(bed.engine.get_cells(&table, &get).unwrap().row, None);
    assert!(!bed.looks(whole(&table, 1, 100_000_000)));
}

#[test]
fn what_a_condition_looked_at_is_not_taken_for_what_was_written_since() {
    let bed = memory();
    let table = bed.create_table(plain("t")).unwrap();
    let decide = |mutations: Vec<Mutation>| {
        let read = ConditionalRead {
            table: table.clone(),
            partition: "p".into(),
            rows: vec![key(1, "x")],
            statics: true,
            now: None,
        };
        let decided = |_: &_| Ok(Decision { mutations: mutations.clone(), answer: () });
        bed.engine.write_cells_if(read, decided).unwrap();
    };
    let cell = |column| bed.value(&table, "p", key(1, "x"), column);
    bed.cells(vec![whole(&table, 1, 100)]);
    decide(vec![
        mutation(&table, "p", 200, CellChange::DeletePartition),
        update(&table, "p", key(1, "x"), 300, vec![set(A, "new")]),
    ]);
    assert_eq!((cell(A).as_deref(), cell(B)), (Some("new"), None));
    decide(vec![
        update(&table, "p", key(1, "x"), 400, vec![set(A, "newer")]),
        update(&table, "p", key(1, "x"), 401, vec![set(B, "too")]),
    ]);
    assert_eq!((cell(A).as_deref(), cell(B).as_deref()), (Some("newer"), Some("too")));
}

/// Writes one row from several threads, each write at a time of its own, and says what the latest
/// left.
fn meet(engine: &Engine, table: &Arc<Table>, times: &AtomicI64) -> [Option<String>; 2] {
    let (deleted, ends) = (AtomicI64::new(0), [AtomicI64::new(0), AtomicI64::new(0)]);
    let one = |random: &mut SplitMix| {
        let at = times.fetch_add(1, Ordering::SeqCst);
        let (clustering, value) = (key(0, "x"), at.to_string());
        let write = |own| patiently(|| engine.write_cells(vec![Mutation::clone(&own)])).unwrap();
        let [a, _] = &ends;
        match random.below(10) {
            0 => {
                deleted.fetch_max(at, Ordering::SeqCst);
                write(mutation(table, "p", at, CellChange::DeletePartition));
            }
            1..=3 => {
                a.fetch_max(at, Ordering::SeqCst);
                write(update(table, "p", clustering, at, vec![set(A, &value)]));
            }
            4..=5 => {
                a.fetch_max(at, Ordering::SeqCst);
                let own = update(table, "p", clustering.clone(), at, vec![set(A, &value)]);
                let read = ConditionalRead {
                    table: Arc::clone(table),
                    partition: "p".into(),
                    rows: vec![clustering],
                    statics: false,
                    now: None,
                };
                let decided = |_: &_| Ok(Decision { mutations: vec![own.clone()], answer: () });
                patiently(|| engine.write_cells_if(read.clone(), decided)).unwrap();
            }
            _ => {
                for end in &ends {
                    end.fetch_max(at, Ordering::SeqCst);
                }
                let both = vec![set(A, &value), set(B, &value)];
                write(insert(table, "p", clustering, at, both));
            }
        }
    };
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let one = &one;
            scope.spawn(move || {
                let mut random = SplitMix::new(seed);
                (0..20).for_each(|_| one(&mut random));
            });
        }
    });
    let deleted = deleted.load(Ordering::SeqCst);
    ends.map(|end| Some(end.load(Ordering::SeqCst)).filter(|at| *at > deleted))
        .map(|at| at.map(|at| at.to_string()))
}

#[test]
fn of_writes_that_meet_the_latest_stays() {
    let times = AtomicI64::new(1_000_000_000);
    for round in 0..150 {
        let bed = counted(true);
        bed.is_slow.store(true, Ordering::SeqCst);
        let table = bed.engine.create_table(plain("t")).unwrap();
        let expected = meet(&bed.engine, &table, &times);
        let get = CellGet { partition: "p".into(), clustering: key(0, "x"), ..CellGet::default() };
        let row = bed.engine.get_cells(&table, &get).unwrap().row.unwrap_or_default();
        let found = [A, B].map(|own| row.cell(own).map(|cell| super::as_text(&cell.value)));
        assert_eq!(found, expected, "round {round}");
        assert_eq!(bed.engine.verify().unwrap().findings, []);
    }
}
