//! The tables, what happened on them, and the judgement at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;
use shelfmark_conformance::history::{History, Outcome, Record, Version, check};
use shelfmark_engine::{ErrorKind, Get, Query, Scan, Table, View};
use shelfmark_keycode::KeyType;
use shelfmark_model::{
    IndexKind, IndexSchema, IndexState, Item, Key, KeyColumn, Placement, Projected, TableSchema,
    Value,
};
use shelfmark_store::random::SplitMix;

use super::act::Actor;
use crate::drivers::{Bed, patiently, plain};

/// Items of each table that everybody meets at.
pub(super) const KEYS: usize = 2;

/// The table whose keys are read by ranges, and how many keys it has; most are absent for long.
pub(super) const RANGED: usize = 2;
pub(super) const RANGED_KEYS: usize = 12;

/// Which version is which: 16 writes of one item in one transaction are more than there are.
const STEPS: u64 = 16;

pub(super) struct World {
    pub(super) bed: Bed,
    pub(super) tables: Vec<Arc<Table>>,
    /// Bytes of text in each item, so that memory tables fill up.
    pub(super) filler_bytes: usize,
    events: AtomicU64,
    records: Mutex<Vec<Record>>,
}

/// What came of all histories, to make sure that something was tried at all.
#[derive(Debug, Default)]
pub(super) struct Sum {
    pub(super) committed: usize,
    pub(super) aborted: usize,
    pub(super) unknown: usize,
}

impl Sum {
    pub(super) fn add(&mut self, other: Self) {
        self.committed += other.committed;
        self.aborted += other.aborted;
        self.unknown += other.unknown;
    }

    pub(super) fn is_fair(&self) {
        let all = self.committed + self.aborted + self.unknown;
        // One seed alone may be a quiet one.
        if all >= 1_000 {
            assert!(self.committed > all / 5, "{self:?}");
            assert!(self.aborted > all / 50, "{self:?}");
        }
    }
}

fn index(name: &str, kind: IndexKind, column: KeyColumn) -> IndexSchema {
    IndexSchema {
        name: name.to_owned(),
        kind,
        partition: vec![column],
        sort: Vec::new(),
        projected: Projected::All,
        state: IndexState::Public,
    }
}

/// Hashed with indexes; ordered with counts and a change log; one partition of many keys.
fn schemas() -> [TableSchema; 3] {
    let indexed = plain("indexed")
        .with_index(index("by_last", IndexKind::Secondary, KeyColumn::new("last", KeyType::I64)))
        .with_index(index("by_slot", IndexKind::Unique, KeyColumn::new("slot", KeyType::I64)));
    let mut logged = plain("logged");
    logged.placement = Placement::Ordered;
    logged.options.exact_counts = true;
    logged.options.change_log = true;
    logged.options.shard_bytes_max = Some(100);
    [indexed, logged, plain("ranged")]
}

pub(super) fn key(place: usize) -> Key {
    Key::pair(format!("p{place}"), "x")
}

/// A key of the table that is read by ranges.
pub(super) fn ranged_key(place: usize) -> Key {
    Key::pair("r", format!("s{place:02}"))
}

/// What the history calls an item.
pub(super) fn name(table: usize, place: usize) -> Bytes {
    Bytes::from(format!("{table}/{place}"))
}

/// The versions that an item lists; an absent one lists none.
pub(super) fn versions(item: Option<&Item>) -> Vec<Version> {
    let Some(Value::List(list)) = item.and_then(|item| item.get("list")) else { return Vec::new() };
    let version = |value: &Value| match value {
        Value::Int(n) => {
            let n = n.cast_unsigned();
            Version { txn: n / STEPS, step: u32::try_from(n % STEPS).unwrap() }
        }
        other => panic!("{other:?} is no version"),
    };
    list.iter().map(version).collect()
}

pub(super) fn value(version: Version) -> Value {
    Value::Int((version.txn * STEPS + u64::from(version.step)).cast_signed())
}

impl World {
    pub(super) fn new(bed: Bed, filler_bytes: usize) -> Self {
        let faults = |are_on| bed.meanest.as_ref().map(|meanest| meanest.set_faults(are_on));
        faults(false);
        let tables = schemas().map(|schema| bed.create_table(schema).unwrap());
        faults(true);
        let (events, records) = (AtomicU64::new(0), Mutex::new(Vec::new()));
        Self { tables: tables.to_vec(), bed, filler_bytes, events, records }
    }

    pub(super) fn event(&self) -> u64 {
        self.events.fetch_add(1, Ordering::SeqCst) + 1
    }

    pub(super) fn note(&self, record: Record) {
        self.records.lock().unwrap().push(record);
    }

    pub(super) fn nested(&self, seed: u64, transactions: usize) {
        let mut actor = Actor::new(SplitMix::new(seed));
        for _ in 0..transactions {
            actor.act(self, 2);
        }
    }

    pub(super) fn race(&self, seed: u64, threads: usize, transactions: usize) {
        let mut seeds = SplitMix::new(seed);
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let watcher = scope.spawn(|| {
                while !is_done.load(Ordering::SeqCst) {
                    self.look();
                    let _ = self.bed.engine.store().maintain();
                    std::thread::yield_now();
                }
            });
            let actors: Vec<_> = (0..threads)
                .map(|_| {
                    let mut actor = Actor::new(seeds.fork());
                    scope.spawn(move || (0..transactions).for_each(|_| actor.act(self, 0)))
                })
                .collect();
            let failed = actors.into_iter().filter_map(|actor| actor.join().err()).next();
            is_done.store(true, Ordering::SeqCst);
            let watched = watcher.join();
            if let Some(panic) = failed.or(watched.err()) {
                std::panic::resume_unwind(panic);
            }
        });
    }

    /// Looks at one moment: no half of a commit, and everything derived agrees with the items.
    pub(super) fn look(&self) {
        let view = patiently(|| self.bed.engine.snapshot()).unwrap();
        if let Err(error) = self.look_at(&view) {
            assert_eq!(error.kind(), ErrorKind::TooOld, "{error}");
        }
    }

    fn look_at(&self, view: &View) -> shelfmark_engine::Result<()> {
        let [indexed, logged] = [&self.tables[0], &self.tables[1]];
        let items = view.scan(indexed, &Scan::default())?.items;
        let mut slots = BTreeSet::new();
        for item in &items {
            let Some(Value::Int(last)) = item.get("last") else { panic!("no last version") };
            assert_eq!(versions(Some(item)).last().copied().map(value), Some(Value::Int(*last)));
            let by_last = Query::partition(vec![Value::Int(*last)]).index("by_last");
            assert!(view.query(indexed, &by_last)?.items.contains(item), "an entry is missing");
            let slot = item.get("slot").cloned().unwrap();
            let by_slot = Query::partition(vec![slot.clone()]).index("by_slot");
            assert_eq!(view.query(indexed, &by_slot)?.items, std::slice::from_ref(item));
            assert!(slots.insert(format!("{slot:?}")), "two items have one slot");
        }
        for index in ["by_last", "by_slot"] {
            let scan = Scan { index: Some(index.to_owned()), ..Scan::default() };
            assert_eq!(view.scan(indexed, &scan)?.count, items.len(), "{index}: a stale entry");
        }
        let place = |place| view.get(logged, &Get::new(key(place)));
        for at in 0..KEYS {
            let again = place(at)?.item;
            assert_eq!(place(at)?.item, again, "the moment moved");
        }
        Ok(())
    }

    /// Judges what happened, once everything has ended.
    pub(super) fn judged(self) -> Sum {
        if let Some(meanest) = &self.bed.meanest {
            meanest.set_faults(false);
        }
        self.bed.settle();
        self.look();
        let mut finals = BTreeMap::new();
        for (table, own) in self.tables.iter().take(RANGED).enumerate() {
            for place in 0..KEYS {
                let got = self.bed.engine.get(own, &Get::new(key(place))).unwrap();
                finals.insert(name(table, place), versions(got.item.as_ref()));
            }
        }
        for place in 0..RANGED_KEYS {
            let got = self.bed.engine.get(&self.tables[RANGED], &Get::new(ranged_key(place)));
            finals.insert(name(RANGED, place), versions(got.unwrap().item.as_ref()));
        }
        self.check_log(&finals);
        let mut records = self.records.into_inner().unwrap();
        forget_what_was_not_told(&mut records, &finals);
        let mut sum = Sum::default();
        for record in &records {
            match record.outcome {
                Outcome::Committed(_) => sum.committed += 1,
                Outcome::Aborted => sum.aborted += 1,
                Outcome::Unknown => sum.unknown += 1,
            }
        }
        let history = History { records, finals, is_numbered_in_order: false };
        let anomalies = check(&history);
        assert!(anomalies.is_empty(), "{anomalies:#?}\n{history:#?}");
        assert_eq!(self.bed.engine.verify().unwrap().findings, []);
        self.bed.engine.store().close().unwrap();
        sum
    }

    /// The change log leads from nothing to what is there, without a gap.
    fn check_log(&self, finals: &BTreeMap<Bytes, Vec<Version>>) {
        let table = &self.tables[1];
        let mut last: BTreeMap<String, Item> = BTreeMap::new();
        for change in self.bed.engine.changes(table, None, usize::MAX).unwrap() {
            let Some(new) = change.new else { panic!("nothing was deleted") };
            let pk = new.get("pk").and_then(Value::as_text).unwrap().to_owned();
            assert_eq!(change.old.as_ref(), last.get(&pk), "a change is missing before this one");
            last.insert(pk, new);
        }
        for place in 0..KEYS {
            let listed = versions(last.get(&format!("p{place}")));
            assert_eq!(finals.get(&name(1, place)), Some(&listed), "the log ends elsewhere");
        }
        let count = self.bed.engine.count(table).unwrap();
        assert_eq!(count, last.len() as u64);
    }
}

/// What a transaction with an unknown end saw, nobody was told; if it did not happen in the end,
/// what it saw may not have happened either.
fn forget_what_was_not_told(records: &mut [Record], finals: &BTreeMap<Bytes, Vec<Version>>) {
    let seen: BTreeSet<u64> = finals.values().flatten().map(|version| version.txn).collect();
    for record in records {
        if record.outcome == Outcome::Unknown && !seen.contains(&record.id) {
            record.reads.clear();
        }
    }
}
