//! Transactions that read ranges: whole and partly, from either end, of what is there and of what
//! is not, counted, and by the rule that a value is unique within a range.
//!
//! A range that was read is recorded as a read of every key in it, absent ones included; that makes
//! a phantom a read of a version that was replaced.

use shelfmark_conformance::history::{Outcome, Record, Version};
use shelfmark_engine::{Query, Transaction, Write};
use shelfmark_model::{
    Comparison, Condition, Item, Operand, Path, SortBound, SortCondition, Value,
};

use super::act::{Actor, NESTING_RUNS, begun, end, listed, outcome_of};
use super::world::{RANGED, RANGED_KEYS, World, name, ranged_key, value, versions};

/// How a range is read.
#[derive(Clone, Copy)]
struct Reading {
    from: usize,
    to: usize,
    descending: bool,
    limit: Option<usize>,
}

impl Actor {
    fn reading(&mut self) -> Reading {
        let from = self.random.index(RANGED_KEYS);
        let to = from + 1 + self.random.index(RANGED_KEYS - from);
        let limit = self.random.chance(400).then(|| 1 + self.random.index(3));
        Reading { from, to, descending: self.random.chance(400), limit }
    }

    /// Reads some ranges, and appends to some keys inside and outside of them.
    pub(super) fn ranged(&mut self, world: &World, depth: usize) {
        let readings: Vec<Reading> =
            (0..1 + self.random.below(2)).map(|_| self.reading()).collect();
        let writes: Vec<usize> =
            (0..self.random.below(3)).map(|_| self.random.index(RANGED_KEYS)).collect();
        let only_if_empty = self.random.chance(300);
        let mut record = begun(world);
        let mut runs = 0;
        let outcome = world.bed.engine.transact(|tx| {
            if runs > 0 {
                record.reads.clear();
                let next = begun(world);
                end(world, std::mem::replace(&mut record, next), Outcome::Aborted);
            }
            runs += 1;
            let mut found = 0;
            for reading in &readings {
                found += read_range(world, tx, *reading, &mut record)?;
                if runs <= NESTING_RUNS && depth > 0 && self.random.chance(400) {
                    self.act(world, depth - 1);
                }
            }
            if only_if_empty && found > 0 {
                return Ok(());
            }
            for place in &writes {
                append(world, tx, *place, &mut record)?;
            }
            Ok(())
        });
        let outcome = outcome_of(outcome);
        if outcome == Outcome::Aborted {
            record.reads.clear();
        }
        end(world, record, outcome);
    }

    /// Puts one key if it is as it was when it was read: a plain write beside the transactions.
    pub(super) fn ranged_put(&mut self, world: &World) {
        let place = self.random.index(RANGED_KEYS);
        let mut record = begun(world);
        let table = &world.tables[RANGED];
        let get = shelfmark_engine::Get::new(ranged_key(place));
        let Ok(got) = world.bed.engine.get(table, &get) else { return };
        let mut list = versions(got.item.as_ref());
        record.reads.push((name(RANGED, place), list.clone()));
        let unchanged = match got.item {
            None => Condition::NotExists(Path::attribute("pk")),
            Some(_) => Condition::Compare(
                Comparison::Equal,
                Operand::Path(Path::attribute("list")),
                Operand::Value(listed(&list)),
            ),
        };
        let version = Version { txn: record.id, step: 0 };
        list.push(version);
        record.writes.push((name(RANGED, place), version));
        let put = Write::put(table, item(place, &list)).when(unchanged);
        end(world, record, outcome_of(world.bed.engine.write(put)));
    }
}

fn item(place: usize, list: &[Version]) -> Item {
    Item::new()
        .with("pk", "r")
        .with("sk", format!("s{place:02}"))
        .with("list", Value::List(list.iter().copied().map(value).collect()))
}

/// Reads a range and records every key that the page covered. Returns how many were there.
fn read_range(
    world: &World,
    tx: &Transaction<'_>,
    reading: Reading,
    record: &mut Record,
) -> shelfmark_engine::Result<usize> {
    let bound = |place: usize| Value::text(format!("s{place:02}"));
    let mut query = Query::partition(vec![Value::text("r")]).sort(SortCondition::Range {
        equal: Vec::new(),
        lower: SortBound::Included(bound(reading.from)),
        upper: SortBound::Excluded(bound(reading.to)),
    });
    query.descending = reading.descending;
    query.limit = reading.limit;
    let page = tx.query(&world.tables[RANGED], &query)?;
    let place_of = |item: &Item| {
        let sort = item.get("sk").and_then(Value::as_text).unwrap();
        sort.trim_start_matches('s').parse::<usize>().unwrap()
    };
    let mut covered = reading.from..reading.to;
    if let (Some(_), Some(last)) = (&page.cursor, page.items.last()) {
        match reading.descending {
            true => covered.start = place_of(last),
            false => covered.end = place_of(last) + 1,
        }
    }
    for place in covered {
        let found = page.items.iter().find(|item| place_of(item) == place);
        let mut list = versions(found);
        // What the transaction wrote itself is no read of the store.
        list.retain(|version| version.txn != record.id);
        let known = name(RANGED, place);
        if !record.reads.iter().any(|(key, _)| *key == known) {
            record.reads.push((known, list));
        }
    }
    Ok(page.items.len())
}

fn append(
    world: &World,
    tx: &Transaction<'_>,
    place: usize,
    record: &mut Record,
) -> shelfmark_engine::Result<()> {
    let table = &world.tables[RANGED];
    let get = shelfmark_engine::Get::new(ranged_key(place));
    let mut list = versions(tx.get(table, &get)?.item.as_ref());
    let known = name(RANGED, place);
    if list.iter().any(|version| version.txn == record.id) {
        return Ok(());
    }
    if !record.reads.iter().any(|(key, _)| *key == known) {
        record.reads.push((known.clone(), list.clone()));
    }
    let version = Version { txn: record.id, step: 0 };
    list.push(version);
    tx.write(&Write::put(table, item(place, &list)))?;
    record.writes.push((known, version));
    Ok(())
}
