//! The engine and the oracle side by side: each step is done to both, and the answers compared.

use std::collections::BTreeMap;
use std::sync::Arc;

use shelfmark_engine::{
    ChangePosition, Error, ErrorKind, Get, Query, Refusal, SweepPosition, Table, Write, Written,
};
use shelfmark_keycode::take_ordered_varint;
use shelfmark_model::{Item, Key, Value};
use shelfmark_store::KeyRange;

use super::oracle::{Done, Oracle, Refused, identity};
use super::plan::{Plan, key};
use super::reads::{number, query, scan};
use super::spec::{Spec, all};
use super::step::{Operation, Reading, ScanPick, Step, WritePick};
use crate::drivers::{Bed, START_SECONDS};

pub(super) struct World {
    bed: Bed,
    specs: Vec<Spec>,
    oracle: Oracle,
    /// Handles that may have been retired since they were taken.
    tables: Vec<Arc<Table>>,
    position: SweepPosition,
}

fn check_done(plan: &Plan, done: &Done, written: &Written) {
    assert!(written.existed.is_none_or(|existed| existed == done.old.is_some()), "{written:#?}");
    if plan.wants_images() {
        assert_eq!(written.old, done.old);
        assert_eq!(written.new, done.new);
    }
}

fn check_refused(plan: &Plan, refused: &Refused, refusal: &Refusal) {
    let fits = match (refused, refusal) {
        (Refused::Condition(old), Refusal::ConditionFailed(told)) => {
            *told == if plan.wants_images() { old.clone() } else { None }
        }
        (Refused::Patch, Refusal::Patch(_)) | (Refused::NotUnique, Refusal::NotUnique(_)) => true,
        _ => false,
    };
    assert!(fits, "expected {refused:#?}, got {refusal:#?}");
}

impl World {
    pub(super) fn new(bed: Bed) -> Self {
        let specs = all();
        let create = |spec: &Spec| bed.create_table(spec.schema.clone()).unwrap();
        let tables = specs.iter().map(create).collect();
        let oracle = Oracle::new(&specs, START_SECONDS);
        Self { bed, specs, oracle, tables, position: SweepPosition::default() }
    }

    pub(super) fn step(&mut self, step: &Step) {
        match step {
            Step::Write(pick) => self.write_all(std::slice::from_ref(pick), true),
            Step::WriteAll(picks) => self.write_all(picks, false),
            Step::Transact { operations, aborts } => self.transact(operations, *aborts),
            Step::Get { table, key: pick } => {
                let table = number(*table, &self.specs);
                let key = key(&self.specs[table], *pick);
                self.get(table, key);
            }
            Step::Query(pick) => {
                let engine = &self.bed.engine;
                let ask = |table: &Table, query: &Query| engine.query(table, query);
                query(&ask, &self.oracle, &self.specs, &self.tables, pick);
            }
            Step::Scan(pick) => self.scan(pick),
            Step::AddIndex { table, index } => self.add_index(*table, *index),
            Step::DropIndex { table, index } => self.drop_index(*table, *index),
            Step::Recreate { table } => {
                let table = number(*table, &self.specs);
                let spec = &self.specs[table];
                self.bed.drop_table(&spec.schema.name).unwrap();
                self.tables[table] = self.bed.create_table(spec.schema.clone()).unwrap();
                self.oracle.tables[table] = super::oracle::State::of(spec);
            }
            Step::Alter { table } => {
                let name = &self.specs[number(*table, &self.specs)].schema.name;
                self.bed.alter_options(name, |options| options.gc_grace_seconds += 1).unwrap();
            }
            Step::Counts { table } => self.counts(number(*table, &self.specs)),
            Step::Changes { table, page } => {
                self.changes(number(*table, &self.specs), usize::from(*page));
            }
            Step::Advance { seconds } => {
                self.bed.seconds(u64::from(*seconds));
                self.oracle.now += u64::from(*seconds);
            }
            Step::Sweep => self.sweep(),
            Step::Purge => {
                assert_eq!(self.bed.purge().unwrap(), 0);
                crate::drivers::patiently(|| self.bed.engine.split_all_due()).unwrap();
            }
            Step::Reopen => self.reopen(),
        }
    }

    fn reopen(&mut self) {
        self.bed.reopen();
        let table = |spec: &Spec| self.bed.engine.table(&spec.schema.name).unwrap();
        self.tables = self.specs.iter().map(table).collect();
        self.position = SweepPosition::default();
    }

    fn sweep(&mut self) {
        while self.bed.sweep(&mut self.position, 3).unwrap() == 3 {}
        // What was due before it was written lies behind the position, until a minute has passed.
        let mut front = SweepPosition::default();
        while self.bed.sweep(&mut front, 3).unwrap() == 3 {}
        self.bed.settle();
        self.oracle.sweep(&self.specs);
    }

    fn write_all(&mut self, picks: &[WritePick], alone: bool) {
        let plan = |pick| Plan::of(&self.specs, pick, self.oracle.now);
        let plans: Vec<Plan> = picks.iter().map(plan).collect();
        let mut after = self.oracle.clone();
        let expected: Vec<Result<Done, Refused>> =
            plans.iter().map(|plan| after.write(&self.specs, plan)).collect();
        let mut writes: Vec<Write> =
            plans.iter().map(|plan| plan.to_engine(&self.tables[plan.table])).collect();
        let outcome = match (alone, writes.pop()) {
            (true, Some(write)) => self.bed.write(write).map(|written| vec![written]),
            (_, last) => {
                writes.extend(last);
                self.bed.write_all(writes)
            }
        };
        match outcome {
            Ok(written) => {
                for ((plan, expected), written) in plans.iter().zip(&expected).zip(&written) {
                    let done = expected.as_ref().unwrap_or_else(|refused| panic!("{refused:#?}"));
                    check_done(plan, done, written);
                }
                assert_eq!(written.len(), plans.len());
                self.oracle = after;
            }
            Err(error) => check_failures(&plans, &expected, &error),
        }
    }

    fn transact(&mut self, operations: &[Operation], aborts: bool) {
        let (specs, tables, before) = (&self.specs, &self.tables, &self.oracle);
        let mut after = before.clone();
        let outcome = self.bed.transact(|tx| {
            after = before.clone();
            for operation in operations {
                match operation {
                    Operation::Get { table, key: pick } => {
                        let table = number(*table, specs);
                        let key = key(&specs[table], *pick);
                        let got = tx.get(&tables[table], &Get::new(key.clone()))?;
                        assert_eq!(got.item, after.get(specs, table, &key));
                    }
                    Operation::Write(pick) => {
                        let plan = Plan::of(specs, pick, before.now);
                        let expected = after.write(specs, &plan);
                        match (tx.write(&plan.to_engine(&tables[plan.table])), expected) {
                            (Ok(written), Ok(done)) => check_done(&plan, &done, &written),
                            // The table is being prepared for large rows: the body runs again.
                            (Err(error), Ok(_)) if error.kind() == ErrorKind::Conflict => {
                                return Err(error);
                            }
                            (Err(error), Err(refused)) => {
                                check_refused(&plan, &refused, &error.failures()[0].refusal);
                            }
                            (got, expected) => panic!("expected {expected:#?}, got {got:#?}"),
                        }
                    }
                    Operation::Query(pick) => {
                        let ask = |table: &Table, query: &Query| tx.query(table, query);
                        query(&ask, &after, specs, tables, pick);
                    }
                }
            }
            if aborts { Err(Error::invalid("aborted")) } else { Ok(()) }
        });
        match outcome {
            Ok(()) => self.oracle = after,
            Err(error) => assert_eq!((error.kind(), aborts), (ErrorKind::Invalid, true), "{error}"),
        }
    }

    fn get(&self, table: usize, key: Key) {
        let got = self.bed.engine.get(&self.tables[table], &Get::new(key.clone())).unwrap();
        let expected = self.oracle.get(&self.specs, table, &key);
        let rows = u64::from(expected.is_some());
        assert_eq!((got.report.rows_read(), got.report.rows_returned()), (rows, rows));
        assert_eq!(got.item, expected);
    }

    fn scan(&self, pick: &ScanPick) {
        scan(&self.bed.engine, &self.oracle, &self.specs, &self.tables, pick);
    }

    fn add_index(&mut self, table: u8, index: u8) {
        let table = number(table, &self.specs);
        let Some(spec) = self.specs[table].indexes.get(usize::from(index)) else { return };
        let name = &self.specs[table].schema.name;
        let is_there = self.oracle.tables[table].indexes[usize::from(index)];
        let fits = self.oracle.fits(&self.specs, table, usize::from(index));
        match self.bed.add_index(name, spec.schema.clone()) {
            Ok(_) => {
                assert!(!is_there && fits);
                self.oracle.tables[table].indexes[usize::from(index)] = true;
            }
            Err(error) => {
                assert!(is_there || !fits, "{error}");
                assert_eq!(error.kind(), ErrorKind::AlreadyExists);
            }
        }
    }

    fn drop_index(&mut self, table: u8, index: u8) {
        let table = number(table, &self.specs);
        let Some(spec) = self.specs[table].indexes.get(usize::from(index)) else { return };
        let name = &self.specs[table].schema.name;
        let is_there = &mut self.oracle.tables[table].indexes[usize::from(index)];
        let outcome = self.bed.drop_index(name, &spec.schema.name);
        assert_eq!(outcome.is_ok(), *is_there);
        *is_there = false;
    }

    fn counts(&self, table: usize) {
        let (spec, state) = (&self.specs[table], &self.oracle.tables[table]);
        let (engine, handle) = (&self.bed.engine, &self.tables[table]);
        if !spec.schema.options.exact_counts {
            assert_eq!(engine.count(handle).unwrap_err().kind(), ErrorKind::Invalid);
            return;
        }
        let handle = engine.table(&handle.schema.name).unwrap();
        assert_eq!(engine.count(&handle).unwrap(), state.rows.len() as u64);
        for partition in &spec.partitions {
            let probe = |row: &super::oracle::Row| {
                let sort = Vec::new();
                let of = |partition: &Vec<Value>| {
                    identity(
                        &spec.schema,
                        &Key { partition: partition.clone(), sort: sort.clone() },
                    )
                };
                of(&row.key.partition) == of(partition)
            };
            let expected = state.rows.values().filter(|row| probe(row)).count();
            assert_eq!(engine.count_partition(&handle, partition).unwrap(), expected as u64);
        }
    }

    /// Replays the change log, page by page: it must lead to what is there.
    fn changes(&self, table: usize, page: usize) {
        let (spec, engine) = (&self.specs[table], &self.bed.engine);
        let handle = engine.table(&spec.schema.name).unwrap();
        if !spec.schema.options.change_log {
            let error = engine.changes(&handle, None, 1).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid);
            return;
        }
        let (mut items, mut last): (BTreeMap<String, Item>, Option<ChangePosition>) =
            (BTreeMap::new(), None);
        loop {
            let changes = engine.changes(&handle, last, page).unwrap();
            if changes.is_empty() {
                break;
            }
            for change in changes {
                assert!(last.is_none_or(|last| last < change.position));
                last = Some(change.position);
                let image = change.new.as_ref().or(change.old.as_ref()).unwrap();
                let id = identity(&spec.schema, &handle.key_of(image).unwrap());
                let before = match &change.new {
                    Some(new) => items.insert(id, new.clone()),
                    None => items.remove(&id),
                };
                assert_eq!(before, change.old);
                assert!(!change.expired || change.new.is_none());
            }
        }
        let rows = &self.oracle.tables[table].rows;
        let expected: BTreeMap<String, Item> =
            rows.iter().map(|(id, row)| (id.clone(), row.item.clone())).collect();
        assert_eq!(items, expected);
    }

    /// Compares everything, then again after a sweep, a purge and a reopen.
    pub(super) fn end(mut self) {
        self.whole();
        self.sweep();
        assert_eq!(self.bed.purge().unwrap(), 0);
        self.bed.settle();
        self.reopen();
        self.whole();
        self.only_what_belongs();
        assert_eq!(self.bed.engine.verify().unwrap().findings, []);
        self.bed.engine.store().close().unwrap();
    }

    fn whole(&self) {
        for table in 0..self.specs.len() {
            let pick = u8::try_from(table).unwrap();
            let reading = Reading {
                descending: false,
                limit: None,
                bytes_max: None,
                filter: 0,
                peek: false,
                count_only: false,
            };
            for index in 0..3 {
                let reading = reading.clone();
                self.scan(&ScanPick { table: pick, index, segments: 3, partitions: None, reading });
            }
            self.counts(table);
            self.changes(table, 100);
        }
    }

    /// After a purge the store holds keys of the tables and indexes that are there alone.
    fn only_what_belongs(&self) {
        let tables: Vec<_> = self
            .specs
            .iter()
            .map(|spec| self.bed.engine.table(&spec.schema.name).unwrap())
            .collect();
        let view = self.bed.engine.store().snapshot().unwrap();
        for tree in [2, 3, 5, 8] {
            let mut rest = Some(KeyRange::prefix(vec![tree]));
            while let Some(range) = rest {
                let page = view.scan(&range, Default::default(), Default::default()).unwrap();
                for row in page.rows {
                    let id = take_ordered_varint(&mut &row.key[1..]).unwrap();
                    let is_index = |table: &Arc<Table>| table.indexes().iter().any(|i| i.id == id);
                    let belongs = tables.iter().any(|table| table.id == id || is_index(table));
                    assert!(belongs, "a key of id {id} in tree {tree} is left");
                }
                rest = page.next;
            }
        }
    }
}

fn check_failures(plans: &[Plan], expected: &[Result<Done, Refused>], error: &Error) {
    let mut failures = error.failures().iter();
    for (position, (plan, expected)) in plans.iter().zip(expected).enumerate() {
        if let Err(refused) = expected {
            let failure = failures.next().unwrap_or_else(|| panic!("{refused:#?} is not told"));
            assert_eq!(failure.position, position);
            check_refused(plan, refused, &failure.refusal);
        }
    }
    assert_eq!(failures.next(), None);
    assert!(expected.iter().any(Result::is_err), "{error}");
}
