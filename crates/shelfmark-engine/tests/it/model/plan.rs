//! A pick made concrete: what the engine is asked, and the same for the oracle.

use std::sync::Arc;

use shelfmark_engine::{Change, Table, Write};
use shelfmark_model::{
    Comparison, Condition, Item, Key, Operand, Patch, PatchOperation, PatchValue, Path, Value,
};

use super::oracle::whole;
use super::spec::{Spec, decimal};
use super::step::{Attributes, ChangePick, PatchPick, WritePick};

/// A write.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) table: usize,
    pub(super) key: Key,
    /// The key's attributes.
    pub(super) key_item: Item,
    pub(super) change: PlannedChange,
    pub(super) condition: Option<PlannedCondition>,
    pub(super) expires_at: Option<u64>,
    wants_images: bool,
}

#[derive(Debug, Clone)]
pub(super) enum PlannedChange {
    Put(Item),
    Patch { operations: Vec<PlannedPatch>, creates: bool },
    Delete,
    Check,
}

#[derive(Debug, Clone)]
pub(super) enum PlannedPatch {
    Set(&'static str, Value),
    Remove(&'static str),
    Add(&'static str, i64),
    Copy(&'static str, &'static str),
}

/// A condition or filter that the oracle can judge.
#[derive(Debug, Clone)]
pub(super) enum PlannedCondition {
    Exists(&'static str),
    Absent(&'static str),
    NIs(i64),
    NBelow(i64),
    Either(Box<(PlannedCondition, PlannedCondition)>),
}

impl PlannedCondition {
    /// Returns the `pick`-th condition; 0 is none.
    pub(super) fn of(pick: u8) -> Option<Self> {
        Some(match pick {
            1 => Self::Exists("tag"),
            2 => Self::Absent("n"),
            3 => Self::NBelow(2),
            4 => Self::NIs(1),
            5 => Self::Absent("tag"),
            6 => Self::Either(Box::new((Self::NIs(2), Self::Absent("email")))),
            _ => return None,
        })
    }

    pub(super) fn holds(&self, item: Option<&Item>) -> bool {
        let n = || item.and_then(|item| item.get("n")).and_then(whole);
        match self {
            Self::Exists(name) => item.is_some_and(|item| item.get(name).is_some()),
            Self::Absent(name) => item.is_none_or(|item| item.get(name).is_none()),
            Self::NIs(other) => n() == Some(*other),
            Self::NBelow(other) => n().is_some_and(|n| n < *other),
            Self::Either(both) => both.0.holds(item) || both.1.holds(item),
        }
    }

    pub(super) fn to_engine(&self) -> Condition {
        let compare = |comparison, n: &i64| {
            let n = Operand::Value(Value::number(*n));
            Condition::Compare(comparison, Operand::Path(Path::attribute("n")), n)
        };
        match self {
            Self::Exists(name) => Condition::Exists(Path::attribute(*name)),
            Self::Absent(name) => Condition::NotExists(Path::attribute(*name)),
            Self::NIs(n) => compare(Comparison::Equal, n),
            Self::NBelow(n) => compare(Comparison::Less, n),
            Self::Either(both) => Condition::Or(vec![both.0.to_engine(), both.1.to_engine()]),
        }
    }
}

/// Returns the `pick`-th key of a table.
pub(super) fn key(spec: &Spec, pick: u16) -> Key {
    let pick = usize::from(pick);
    let (partitions, sorts) = (&spec.partitions, &spec.sorts);
    Key {
        partition: partitions[pick % partitions.len()].clone(),
        sort: sorts[pick / partitions.len() % sorts.len()].clone(),
    }
}

fn n(pick: u8) -> Option<Value> {
    match pick {
        0 => None,
        7 => Some("seven".into()),
        n => Some(Value::number(i64::from(n) - 2)),
    }
}

fn tag(pick: u8) -> Option<Value> {
    match pick {
        1 | 2 => Some("red".into()),
        3 => Some("blue".into()),
        4 => Some("".into()),
        // Of another type than the index wants.
        5 => Some(Value::number(1)),
        _ => None,
    }
}

fn email(pick: u8) -> Option<Value> {
    (pick > 1).then(|| Value::text(format!("e{}", pick - 2)))
}

fn score(pick: u8) -> Option<Value> {
    [None, Some(decimal(5, 1)), Some(decimal(1, 0)), Some(decimal(-25, 1)), Some("high".into())]
        [usize::from(pick)]
    .clone()
}

fn body(spec: &Spec, pick: u8) -> Option<Value> {
    match pick {
        0 => None,
        5 if spec.has_large => Some(Value::text("large".repeat(8_000))),
        n => Some(Value::text("b".repeat(usize::from(n) * 7))),
    }
}

fn until(now: u64, pick: u8) -> Option<Value> {
    let now = i64::try_from(now).unwrap();
    (pick > 0).then(|| Value::number(now + i64::from(pick) - 2))
}

fn with(item: &mut Item, name: &str, value: Option<Value>) {
    if let Some(value) = value {
        item.set(name, value);
    }
}

fn item(spec: &Spec, key_item: &Item, pick: &Attributes, now: u64) -> Item {
    let mut item = key_item.clone();
    with(&mut item, "n", n(pick.n));
    with(&mut item, "tag", tag(pick.tag));
    with(&mut item, "score", score(pick.score));
    with(&mut item, "email", email(pick.email));
    with(&mut item, "body", body(spec, pick.body));
    with(&mut item, "until", until(now, pick.until));
    if spec.has_large && pick.body == 5 {
        // Two of them do not fit in one chunk.
        item.set("more", item.get("body").cloned().unwrap());
    }
    item
}

fn patch(spec: &Spec, pick: &PatchPick) -> PlannedPatch {
    let or_remove = |name, value: Option<Value>| match value {
        Some(value) => PlannedPatch::Set(name, value),
        None => PlannedPatch::Remove(name),
    };
    match pick {
        PatchPick::SetN(pick) => or_remove("n", n(*pick)),
        PatchPick::AddN(more) => PlannedPatch::Add("n", i64::from(*more)),
        PatchPick::SetTag(pick) => or_remove("tag", tag(*pick)),
        PatchPick::SetEmail(pick) => or_remove("email", email(*pick)),
        PatchPick::RemoveScore => PlannedPatch::Remove("score"),
        PatchPick::SetBody(pick) => or_remove("body", body(spec, *pick)),
        PatchPick::Copy => PlannedPatch::Copy("copy", "score"),
    }
}

impl PlannedPatch {
    fn name(&self) -> &'static str {
        match self {
            Self::Set(name, _) | Self::Remove(name) | Self::Add(name, _) | Self::Copy(name, _) => {
                name
            }
        }
    }

    fn to_engine(&self) -> PatchOperation {
        let path = Path::attribute(self.name());
        match self {
            Self::Set(_, value) => PatchOperation::Set(path, PatchValue::value(value.clone())),
            Self::Remove(_) => PatchOperation::Remove(path),
            Self::Add(_, more) => PatchOperation::Add(path, Value::number(*more)),
            Self::Copy(_, from) => {
                let from = Operand::Path(Path::attribute(*from));
                PatchOperation::Set(path, PatchValue::Operand(from))
            }
        }
    }
}

impl Plan {
    pub(super) fn of(specs: &[Spec], pick: &WritePick, now: u64) -> Self {
        let table = usize::from(pick.table) % specs.len();
        let spec = &specs[table];
        let key = key(spec, pick.key);
        let names = spec.schema.key_names().map(str::to_owned);
        let key_item: Item = names.zip(key.partition.iter().chain(&key.sort).cloned()).collect();
        let change = match &pick.change {
            ChangePick::Put(attributes) => {
                PlannedChange::Put(item(spec, &key_item, attributes, now))
            }
            ChangePick::Patch { operations, creates } => {
                let mut planned: Vec<PlannedPatch> = Vec::new();
                for operation in operations {
                    let operation = patch(spec, operation);
                    // No path of a patch overlaps another.
                    if !planned.iter().any(|other| other.name() == operation.name()) {
                        planned.push(operation);
                    }
                }
                PlannedChange::Patch { operations: planned, creates: *creates }
            }
            ChangePick::Delete => PlannedChange::Delete,
            ChangePick::Check => PlannedChange::Check,
        };
        let expires_at = match pick.expires {
            0..3 => None,
            n => Some(now + u64::from(n) - 3),
        };
        Self {
            table,
            key,
            key_item,
            change,
            condition: PlannedCondition::of(pick.condition),
            expires_at,
            wants_images: pick.wants_images,
        }
    }

    pub(super) fn to_engine(&self, table: &Arc<Table>) -> Write {
        let change = match &self.change {
            PlannedChange::Put(item) => Change::Put(item.clone()),
            PlannedChange::Patch { operations, creates } => Change::Patch {
                key: self.key.clone(),
                patch: Patch {
                    operations: operations.iter().map(PlannedPatch::to_engine).collect(),
                },
                creates: *creates,
            },
            PlannedChange::Delete => Change::Delete(self.key.clone()),
            PlannedChange::Check => Change::Check(self.key.clone()),
        };
        let mut write = Write::new(table, change);
        write.condition = self.condition.as_ref().map(PlannedCondition::to_engine);
        write.expires_at = self.expires_at;
        write.returns.old = self.wants_images;
        write.returns.new = self.wants_images;
        write.old_on_refusal = self.wants_images;
        write
    }

    /// Whether the answer has the images that it should have.
    pub(super) fn wants_images(&self) -> bool {
        self.wants_images
    }
}
