//! What one actor does: one transaction of some kind after the other, each recorded once.

use shelfmark_conformance::history::{Outcome, Record, Version};
use shelfmark_engine::{Change, Error, ErrorKind, Get, Query, Returns, Transaction, Write};
use shelfmark_model::{
    Comparison, Condition, Item, Operand, Patch, PatchOperation, PatchValue, Path, Value,
};
use shelfmark_store::random::SplitMix;

use super::world::{KEYS, World, key, name, value, versions};

/// Slots that items take: few, so that they meet at them.
const SLOTS: u64 = 3;

/// In the first runs of a body others may run inside it; later ones hold latches.
pub(super) const NESTING_RUNS: usize = 2;

pub(super) struct Actor {
    pub(super) random: SplitMix,
}

/// An item: which table, which of its keys.
type At = (usize, usize);

impl Actor {
    pub(super) fn new(random: SplitMix) -> Self {
        Self { random }
    }

    /// Does one transaction, with up to `depth` levels of others inside.
    pub(super) fn act(&mut self, world: &World, depth: usize) {
        match self.random.below(14) {
            0..5 => self.transaction(world, depth),
            5 | 6 => self.patches(world),
            7 => self.conditional_put(world),
            8 => self.reads(world),
            9..12 => self.ranged(world, depth),
            12 => self.ranged_put(world),
            _ => world.look(),
        }
    }

    fn chosen(&mut self, most: u64) -> Vec<At> {
        let mut all: Vec<At> =
            (0..2).flat_map(|table| (0..KEYS).map(move |at| (table, at))).collect();
        let count = 1 + self.random.below(most);
        (0..count).map(|_| all.swap_remove(self.random.index(all.len()))).collect()
    }

    /// Reads some items, and appends to all, one or none of them.
    fn transaction(&mut self, world: &World, depth: usize) {
        let chosen = self.chosen(3);
        let appended = self.random.index(chosen.len() + 1);
        let is_twice = self.random.chance(250);
        let is_given_up = self.random.chance(80);
        let mut record = begun(world);
        let mut runs = 0;
        let outcome = world.bed.engine.transact(|tx| {
            if runs > 0 {
                // Nobody was told what the run before saw, and nobody may see what it wrote.
                record.reads.clear();
                let next = begun(world);
                end(world, std::mem::replace(&mut record, next), Outcome::Aborted);
            }
            runs += 1;
            for at in &chosen {
                if runs <= NESTING_RUNS && depth > 0 && self.random.chance(400) {
                    self.act(world, depth - 1);
                }
                let item = read(world, tx, *at)?;
                record.reads.push((name(at.0, at.1), versions(item.as_ref())));
            }
            for at in chosen.iter().take(appended) {
                let twice = usize::from(is_twice) + 1;
                for step in 0..twice {
                    self.append(world, tx, *at, step, &mut record)?;
                }
            }
            if runs <= NESTING_RUNS && depth > 0 && self.random.chance(200) {
                self.act(world, depth - 1);
            }
            if is_given_up {
                return Err(Error::new(ErrorKind::ConditionFailed, "given up"));
            }
            Ok(())
        });
        // What a body saw that gave up by itself was told, so it must have been there.
        let is_told = outcome.as_ref().map_or_else(Error::kind, |()| ErrorKind::ConditionFailed)
            == ErrorKind::ConditionFailed;
        let outcome = outcome_of(outcome);
        if outcome == Outcome::Aborted && !is_told {
            record.reads.clear();
        }
        end(world, record, outcome);
    }

    /// Appends a version, with a put or a patch. A slot that is taken leaves the item as it is.
    fn append(
        &mut self,
        world: &World,
        tx: &Transaction<'_>,
        at: At,
        step: usize,
        record: &mut Record,
    ) -> shelfmark_engine::Result<()> {
        let version = Version { txn: record.id, step: u32::try_from(step).unwrap() };
        let slot = self.slot();
        let write = match self.random.chance(500) {
            true => appending(world, at, version, slot),
            false => {
                let mut list: Vec<Version> = versions(read(world, tx, at)?.as_ref());
                // The step before is replaced: nobody else may ever see it.
                list.retain(|own| own.txn != record.id);
                list.push(version);
                Write::put(&world.tables[at.0], item(world, at, &list, slot))
            }
        };
        // A patch leaves the first step in the list, where others may see it.
        let is_put = matches!(write.change, Change::Put(_));
        if step > 0 && !is_put {
            return Ok(());
        }
        match tx.write(&write) {
            Ok(_) => {
                let key = name(at.0, at.1);
                record.writes.retain(|(own, _)| *own != key);
                record.writes.push((key, version));
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn slot(&mut self) -> i64 {
        self.random.below(SLOTS).cast_signed()
    }

    /// Appends to several items at once, in one call without a look before.
    fn patches(&mut self, world: &World) {
        let chosen = self.chosen(3);
        let mut record = begun(world);
        let version = Version { txn: record.id, step: 0 };
        let mut writes = Vec::new();
        for at in &chosen {
            let mut write = appending(world, *at, version, self.slot());
            write.returns = Returns { old: true, new: false };
            writes.push(write);
            record.writes.push((name(at.0, at.1), version));
        }
        let written = world.bed.engine.write_all(writes);
        if let Ok(written) = &written {
            for (at, written) in chosen.iter().zip(written) {
                record.reads.push((name(at.0, at.1), versions(written.old.as_ref())));
            }
        }
        end(world, record, outcome_of(written));
    }

    /// Reads an item, and puts it with one more version if it is still the same.
    fn conditional_put(&mut self, world: &World) {
        let at = self.chosen(1)[0];
        let mut record = begun(world);
        let table = &world.tables[at.0];
        let Ok(got) = world.bed.engine.get(table, &Get::new(key(at.1))) else { return };
        let mut list = versions(got.item.as_ref());
        record.reads.push((name(at.0, at.1), list.clone()));
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
        record.writes.push((name(at.0, at.1), version));
        let put = Write::put(table, item(world, at, &list, self.slot())).when(unchanged);
        end(world, record, outcome_of(world.bed.engine.write(put)));
    }

    /// Reads items of both tables: point by point, all at one moment, or through an index.
    fn reads(&mut self, world: &World) {
        let mut record = begun(world);
        let engine = &world.bed.engine;
        let view = engine.snapshot().unwrap();
        let is_by_index = self.random.chance(300);
        let chosen = self.chosen(4);
        let mut read_one = |at: At| -> shelfmark_engine::Result<()> {
            let table = &world.tables[at.0];
            let item = view.get(table, &Get::new(key(at.1)))?.item;
            let found = match (&item, is_by_index && at.0 == 0) {
                (Some(item), true) => {
                    let last = item.get("last").cloned().unwrap();
                    let query = Query::partition(vec![last]).index("by_last");
                    let mut entries = view.query(table, &query)?.items;
                    entries.retain(|entry| entry.get("pk") == item.get("pk"));
                    entries.pop()
                }
                _ => item.clone(),
            };
            record.reads.push((name(at.0, at.1), versions(found.as_ref())));
            Ok(())
        };
        match chosen.into_iter().try_for_each(&mut read_one) {
            Ok(()) => end(world, record, Outcome::Committed(None)),
            Err(error) => assert_eq!(error.kind(), ErrorKind::TooOld, "{error}"),
        }
    }
}

pub(super) fn begun(world: &World) -> Record {
    let began = world.event();
    let (reads, writes) = (Vec::new(), Vec::new());
    Record { id: began, reads, writes, outcome: Outcome::Aborted, began, ended: began }
}

pub(super) fn end(world: &World, mut record: Record, outcome: Outcome) {
    record.outcome = outcome;
    record.ended = world.event();
    world.note(record);
}

pub(super) fn outcome_of<T>(ended: shelfmark_engine::Result<T>) -> Outcome {
    let Err(error) = ended else { return Outcome::Committed(None) };
    match error.kind() {
        ErrorKind::Undetermined => Outcome::Unknown,
        ErrorKind::Conflict
        | ErrorKind::ConditionFailed
        | ErrorKind::AlreadyExists
        | ErrorKind::Busy
        | ErrorKind::TooOld => Outcome::Aborted,
        kind => panic!("{kind:?}: {error}"),
    }
}

fn read(world: &World, tx: &Transaction<'_>, at: At) -> shelfmark_engine::Result<Option<Item>> {
    Ok(tx.get(&world.tables[at.0], &Get::new(key(at.1)))?.item)
}

pub(super) fn listed(list: &[Version]) -> Value {
    Value::List(list.iter().copied().map(value).collect())
}

fn item(world: &World, at: At, list: &[Version], slot: i64) -> Item {
    let mut item = Item::new()
        .with("pk", format!("p{}", at.1))
        .with("sk", "x")
        .with("list", listed(list))
        .with("last", list.last().copied().map_or(Value::Null, value));
    if at.0 == 0 {
        item.set("slot", slot);
    }
    item.set("filler", "f".repeat(world.filler_bytes));
    item
}

/// Appends a version whatever is there.
fn appending(world: &World, at: At, version: Version, slot: i64) -> Write {
    let list = || Path::attribute("list");
    let old = PatchValue::IfNotExists(list(), Box::new(PatchValue::value(Value::List(vec![]))));
    let one = PatchValue::value(Value::List(vec![value(version)]));
    let append = PatchValue::ListAppend(Box::new(old), Box::new(one));
    let mut patch = Patch { operations: vec![PatchOperation::Set(list(), append)] }
        .and_set("last", value(version))
        .and_set("filler", "f".repeat(world.filler_bytes));
    if at.0 == 0 {
        patch = patch.and_set("slot", slot);
    }
    let change = Change::Patch { key: key(at.1), patch, creates: true };
    Write::new(&world.tables[at.0], change)
}
