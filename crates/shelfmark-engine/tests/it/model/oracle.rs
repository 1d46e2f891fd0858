//! The plain answer: rows in a map, rules written down a second time without keys, entries or
//! latches.

use std::collections::BTreeMap;

use shelfmark_keycode::KeyType;
use shelfmark_model::{
    IndexKind, IndexSchema, Item, Key, Placement, TableSchema, TtlSource, Value,
};

use super::plan::{Plan, PlannedChange, PlannedPatch};
use super::spec::Spec;

/// Tells rows apart as the table does.
type Identity = String;

#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) key: Key,
    pub(super) item: Item,
    pub(super) expires_at: Option<u64>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct State {
    pub(super) rows: BTreeMap<Identity, Row>,
    /// Which of the spec's indexes the table has.
    pub(super) indexes: Vec<bool>,
}

#[derive(Debug, Clone)]
pub(super) struct Oracle {
    pub(super) tables: Vec<State>,
    /// Second since the Unix epoch.
    pub(super) now: u64,
}

/// Why a write is refused.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Refused {
    Condition(Option<Item>),
    Patch,
    NotUnique,
}

/// What a write leaves, as readers see it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Done {
    pub(super) old: Option<Item>,
    pub(super) new: Option<Item>,
}

/// Numbers are equal by value, except in the partition key of a hashed table.
fn plain(value: &Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(number.normalized()),
        other => other.clone(),
    }
}

pub(super) fn identity(schema: &TableSchema, key: &Key) -> Identity {
    let sort: Vec<Value> = key.sort.iter().map(plain).collect();
    match schema.placement {
        Placement::Hashed => format!("{:?}|{sort:?}", key.partition),
        Placement::Ordered => {
            let partition: Vec<Value> = key.partition.iter().map(plain).collect();
            format!("{partition:?}|{sort:?}")
        }
    }
}

/// Whether an item has all attributes of an index's key, of the right types.
pub(super) fn is_in(index: &IndexSchema, item: &Item) -> bool {
    let fits = |name: &str, key_type: &KeyType| match (key_type, item.get(name)) {
        (KeyType::Text, Some(Value::Text(_))) | (KeyType::Decimal, Some(Value::Number(_))) => true,
        (KeyType::Text | KeyType::Decimal, _) => false,
        (other, _) => panic!("the model has no index over {other:?}"),
    };
    index.partition.iter().all(|column| fits(&column.name, &column.key_type))
        && index.sort.iter().all(|column| fits(&column.name, &column.key_type))
}

fn index_key(index: &IndexSchema, item: &Item) -> Vec<Option<Value>> {
    let partition = index.partition.iter().map(|column| &column.name);
    let names = partition.chain(index.sort.iter().map(|column| &column.name));
    names.map(|name| item.get(name).map(plain)).collect()
}

pub(super) fn whole(value: &Value) -> Option<i64> {
    let (unscaled, scale) = value.as_number()?.normalized().into_parts();
    let unscaled = i64::try_from(unscaled).ok()?;
    (scale <= 0).then(|| unscaled * 10i64.pow(scale.unsigned_abs()))
}

impl Oracle {
    pub(super) fn new(specs: &[Spec], now: u64) -> Self {
        let tables = specs.iter().map(State::of).collect();
        Self { tables, now }
    }

    /// Whether readers see the row.
    pub(super) fn is_live(&self, schema: &TableSchema, row: &Row) -> bool {
        schema.options.ttl != Some(TtlSource::PerItem)
            || row.expires_at.is_none_or(|second| second > self.now)
    }

    pub(super) fn live<'a>(&'a self, specs: &'a [Spec], table: usize) -> Vec<&'a Row> {
        let schema = &specs[table].schema;
        self.tables[table].rows.values().filter(|row| self.is_live(schema, row)).collect()
    }

    pub(super) fn get(&self, specs: &[Spec], table: usize, key: &Key) -> Option<Item> {
        let schema = &specs[table].schema;
        let row = self.tables[table].rows.get(&identity(schema, key))?;
        self.is_live(schema, row).then(|| row.item.clone())
    }

    /// Does a write, or says why not.
    pub(super) fn write(&mut self, specs: &[Spec], plan: &Plan) -> Result<Done, Refused> {
        let old = self.get(specs, plan.table, &plan.key);
        if plan.condition.as_ref().is_some_and(|condition| !condition.holds(old.as_ref())) {
            return Err(Refused::Condition(old));
        }
        let schema = &specs[plan.table].schema;
        let id = identity(schema, &plan.key);
        let kept = self.tables[plan.table].rows.get(&id).and_then(|row| row.expires_at);
        let (item, given) = match &plan.change {
            PlannedChange::Check => return Ok(Done { new: old.clone(), old }),
            PlannedChange::Delete => {
                self.tables[plan.table].rows.remove(&id);
                return Ok(Done { old, new: None });
            }
            PlannedChange::Put(item) => (item.clone(), plan.expires_at),
            PlannedChange::Patch { creates: false, .. } if old.is_none() => {
                return Ok(Done { old, new: None });
            }
            PlannedChange::Patch { operations, .. } => {
                let start = old.clone().unwrap_or_else(|| plan.key_item.clone());
                let kept = kept.filter(|_| old.is_some());
                (patched(start, operations)?, plan.expires_at.or(kept))
            }
        };
        let expires_at = match &schema.options.ttl {
            None => None,
            Some(TtlSource::PerItem) => given,
            Some(TtlSource::Attribute(name)) => {
                item.get(name).and_then(whole).and_then(|second| u64::try_from(second).ok())
            }
        };
        let row = Row { key: plan.key.clone(), item: item.clone(), expires_at };
        if self.is_live(schema, &row) && !self.is_unique(specs, plan.table, &id, &item) {
            return Err(Refused::NotUnique);
        }
        self.tables[plan.table].rows.insert(id, row);
        Ok(Done { old, new: Some(item) })
    }

    /// Whether no other live row has the unique keys of an item.
    fn is_unique(&self, specs: &[Spec], table: usize, id: &Identity, item: &Item) -> bool {
        let spec = &specs[table];
        let has = &self.tables[table].indexes;
        let unique = spec.indexes.iter().zip(has).filter(|(index, has)| {
            **has && index.schema.kind == IndexKind::Unique && is_in(&index.schema, item)
        });
        unique.map(|(index, _)| &index.schema).all(|index| {
            !self.tables[table].rows.iter().any(|(other, row)| {
                other != id
                    && self.is_live(&spec.schema, row)
                    && is_in(index, &row.item)
                    && index_key(index, &row.item) == index_key(index, item)
            })
        })
    }

    /// Whether a unique index could be built.
    pub(super) fn fits(&self, specs: &[Spec], table: usize, index: usize) -> bool {
        let index = &specs[table].indexes[index].schema;
        let rows = self.live(specs, table);
        let keys: Vec<_> = rows
            .iter()
            .filter(|row| is_in(index, &row.item))
            .map(|row| format!("{:?}", index_key(index, &row.item)))
            .collect();
        let mut distinct = keys.clone();
        distinct.sort();
        distinct.dedup();
        index.kind != IndexKind::Unique || distinct.len() == keys.len()
    }

    /// Removes what is due.
    pub(super) fn sweep(&mut self, specs: &[Spec]) {
        for (state, spec) in self.tables.iter_mut().zip(specs) {
            if spec.schema.options.ttl.is_some() {
                state.rows.retain(|_, row| row.expires_at.is_none_or(|second| second > self.now));
            }
        }
    }
}

impl State {
    pub(super) fn of(spec: &Spec) -> Self {
        let is_there = |name: &str| spec.schema.index(name).is_some();
        let indexes = spec.indexes.iter().map(|index| is_there(&index.schema.name)).collect();
        Self { rows: BTreeMap::new(), indexes }
    }
}

fn patched(before: Item, operations: &[PlannedPatch]) -> Result<Item, Refused> {
    let mut item = before.clone();
    for operation in operations {
        match operation {
            PlannedPatch::Set(name, value) => drop(item.set(*name, value.clone())),
            PlannedPatch::Remove(name) => drop(item.remove(name)),
            PlannedPatch::Add(name, more) => {
                let sum = match before.get(name) {
                    None => *more,
                    Some(value) => whole(value).ok_or(Refused::Patch)? + more,
                };
                item.set(*name, Value::number(sum));
            }
            PlannedPatch::Copy(name, from) => {
                let value = before.get(from).ok_or(Refused::Patch)?;
                item.set(*name, value.clone());
            }
        }
    }
    Ok(item)
}
