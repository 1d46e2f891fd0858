//! Keys, items, conditions and patches out of an input: from small domains, so that they meet.

use bytes::Bytes;
use shelfmark_engine::{Change, Returns, Table, Write};
use shelfmark_keycode::number::{ANY_NUMBER, parse};
use shelfmark_model::{
    Comparison, Condition, Item, Key, KeyType, Operand, Patch, PatchOperation, PatchValue, Path,
    SortBound, SortCondition, Step, Value, ValueKind,
};
use std::sync::Arc;

use crate::bed::BEGIN_SECONDS;
use crate::input::Input;

/// Deepest nesting of a value or condition.
const DEPTH_MAX: usize = 3;

/// Texts whose order or escaping is easily got wrong.
const TEXTS: [&str; 12] =
    ["a", "b", "", "a\0", "a\0b", "ab", "aa", "\u{FF}", "é", "~", "\u{10FFFF}", "a\u{1}"];

/// Numbers of which some are equal and spelt otherwise.
const NUMBERS: [&str; 12] =
    ["0", "1", "1.0", "1.00", "-1", "2", "10", "0.5", "-0.50", "1e20", "-1e-20", "12345678901234"];

const BYTES: [&[u8]; 7] = [b"", b"\0", b"\xFF", b"\xFF\xFF", b"\0\xFF", b"a", b"\0\0"];

/// Attributes: those that indexes and expiries look at, and others.
const NAMES: [&str; 8] = ["u", "n", "v", "t", "w", "x", "pk", "sk"];

pub(super) fn text(input: &mut Input<'_>) -> String {
    match TEXTS.get(input.below(TEXTS.len() + 1)) {
        Some(text) => (*text).to_owned(),
        None => input.text(),
    }
}

pub(super) fn number(input: &mut Input<'_>) -> Value {
    let chosen = NUMBERS.get(input.below(NUMBERS.len() + 1));
    let parsed =
        chosen.map_or_else(|| parse(&input.text(), &ANY_NUMBER), |text| parse_with_scale(text));
    parsed.map_or_else(|_| Value::number(7), Value::Number)
}

/// Keeps the zeros behind the point, which [`parse`] leaves out.
fn parse_with_scale(text: &str) -> shelfmark_keycode::Result<shelfmark_model::Decimal> {
    let Some((whole, fraction)) = text.split_once('.') else { return parse(text, &ANY_NUMBER) };
    let scale = i32::try_from(fraction.len()).unwrap_or(0);
    let unscaled = format!("{whole}{fraction}").parse().unwrap_or_default();
    shelfmark_model::Decimal::new(unscaled, scale)
}

fn bytes(input: &mut Input<'_>) -> Value {
    let chosen = BYTES.get(input.below(BYTES.len() + 1)).copied();
    Value::Bytes(Bytes::copy_from_slice(chosen.unwrap_or_else(|| input.bytes())))
}

/// A value for a key column; of another type once in a while.
pub(super) fn key_value(input: &mut Input<'_>, key_type: &KeyType) -> Value {
    match key_type {
        KeyType::Text => Value::text(text(input)),
        KeyType::Decimal => number(input),
        _ => bytes(input),
    }
}

pub(super) fn partition(input: &mut Input<'_>, table: &Table) -> Vec<Value> {
    table.schema.partition.iter().map(|column| key_value(input, &column.key_type)).collect()
}

pub(super) fn key(input: &mut Input<'_>, table: &Table) -> Key {
    let partition = partition(input, table);
    let sort = &table.schema.sort;
    Key { partition, sort: sort.iter().map(|own| key_value(input, &own.key_type)).collect() }
}

pub(super) fn value(input: &mut Input<'_>, depth: usize) -> Value {
    let few = |input: &mut Input<'_>| 0..input.below(4);
    let below = depth.saturating_sub(1);
    match input.below(if depth == 0 { 8 } else { 13 }) {
        0 => Value::text(text(input)),
        1 => number(input),
        // A second near the beginning, for expiries.
        2 => Value::number(i64::try_from(BEGIN_SECONDS).unwrap_or(0) + i64::from(input.byte())),
        3 => bytes(input),
        4 => Value::Int(input.u64().cast_signed()),
        5 => Value::Bool(input.flag()),
        6 => Value::Null,
        7 => Value::Float(f64::from(input.byte())),
        8 => Value::List(few(input).map(|_| value(input, below)).collect()),
        9 => Value::set(few(input).map(|_| value(input, 0)).collect()),
        10 => Value::Map(few(input).map(|_| (name(input), value(input, below))).collect()),
        11 => Value::Tuple(few(input).map(|_| input.flag().then(|| value(input, below))).collect()),
        _ => Value::text("long ".repeat(usize::from(input.byte()) * 80)),
    }
}

fn name(input: &mut Input<'_>) -> String {
    (*input.one_of(&NAMES)).to_owned()
}

/// An item with its key; of wrong key types or without them only where a value happens to be set.
fn item(input: &mut Input<'_>, table: &Table) -> Item {
    let key = key(input, table);
    let names = table.schema.key_names().map(str::to_owned);
    let mut item: Item = names.zip(key.partition.into_iter().chain(key.sort)).collect();
    for _ in 0..input.below(5) {
        let name = name(input);
        let value = value(input, DEPTH_MAX);
        if !table.schema.is_key(&name) {
            item.set(name, value);
        }
    }
    item
}

fn path(input: &mut Input<'_>) -> Path {
    let mut path = Path::attribute(name(input));
    for _ in 0..input.below(3) {
        path.steps.push(if input.flag() {
            Step::Index(input.below(4))
        } else {
            Step::Name(name(input))
        });
    }
    path
}

fn operand(input: &mut Input<'_>) -> Operand {
    match input.below(3) {
        0 => Operand::Path(path(input)),
        1 => Operand::Value(value(input, 1)),
        _ => Operand::Size(path(input)),
    }
}

pub(super) fn condition(input: &mut Input<'_>, depth: usize) -> Condition {
    const COMPARISONS: [Comparison; 6] = [
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
    ];
    const KINDS: [ValueKind; 4] =
        [ValueKind::Text, ValueKind::Number, ValueKind::Set, ValueKind::List];
    let below = depth.saturating_sub(1);
    let several = |input: &mut Input<'_>| {
        (0..input.below(3)).map(|_| condition(input, below)).collect::<Vec<_>>()
    };
    match input.below(if depth == 0 { 9 } else { 12 }) {
        0 => Condition::Exists(path(input)),
        1 => Condition::NotExists(path(input)),
        2 => Condition::Compare(*input.one_of(&COMPARISONS), operand(input), operand(input)),
        3 => Condition::Between(operand(input), operand(input), operand(input)),
        4 => Condition::In(operand(input), (0..input.below(3)).map(|_| operand(input)).collect()),
        5 => Condition::KindIn(path(input), vec![*input.one_of(&KINDS)]),
        6 => Condition::SetOf(path(input), *input.one_of(&KINDS)),
        7 => Condition::BeginsWith(operand(input), operand(input)),
        8 => Condition::Contains(operand(input), operand(input)),
        9 => Condition::And(several(input)),
        10 => Condition::Or(several(input)),
        _ => Condition::Not(condition(input, below).into()),
    }
}

fn patch_value(input: &mut Input<'_>, depth: usize) -> PatchValue {
    let below = depth.saturating_sub(1);
    let inner = |input: &mut Input<'_>| Box::new(patch_value(input, below));
    match input.below(if depth == 0 { 1 } else { 5 }) {
        0 => PatchValue::Operand(operand(input)),
        1 => PatchValue::Plus(inner(input), inner(input)),
        2 => PatchValue::Minus(inner(input), inner(input)),
        3 => PatchValue::ListAppend(inner(input), inner(input)),
        _ => PatchValue::IfNotExists(path(input), inner(input)),
    }
}

/// Operations whose paths do not overlap, as every face makes sure.
fn patch(input: &mut Input<'_>) -> Patch {
    let mut operations: Vec<PatchOperation> = Vec::new();
    for _ in 0..=input.below(4) {
        let operation = match input.below(4) {
            0 => PatchOperation::Set(path(input), patch_value(input, 2)),
            1 => PatchOperation::Remove(path(input)),
            2 => PatchOperation::Add(path(input), value(input, 1)),
            _ => PatchOperation::Subtract(path(input), value(input, 1)),
        };
        let clashes = |other: &PatchOperation| {
            let (own, other) = (operation.path(), other.path());
            own.overlaps(other) || own.conflicts(other)
        };
        if !operations.iter().any(clashes) {
            operations.push(operation);
        }
    }
    Patch { operations }
}

/// A write: a byte for the kind, then what it needs, then what it is asked besides.
pub(super) fn write(input: &mut Input<'_>, table: &Arc<Table>) -> Write {
    let change = match input.below(8) {
        0..3 => Change::Put(item(input, table)),
        3..5 => {
            let (key, patch) = (key(input, table), patch(input));
            Change::Patch { key, patch, creates: input.flag() }
        }
        5..7 => Change::Delete(key(input, table)),
        _ => Change::Check(key(input, table)),
    };
    let mut write = Write::new(table, change);
    let asked = input.byte();
    if asked & 1 != 0 {
        write.condition = Some(condition(input, 2));
    }
    write.returns = Returns { old: asked & 2 != 0, new: asked & 4 != 0 };
    write.old_on_refusal = asked & 8 != 0;
    if asked & 16 != 0 {
        write.expires_at = Some(BEGIN_SECONDS + u64::from(input.byte()));
    }
    write
}

/// A condition on the sort key whose values are of the columns' types.
pub(super) fn sort_condition(input: &mut Input<'_>, table: &Table) -> SortCondition {
    let columns = &table.schema.sort;
    let leading = |input: &mut Input<'_>, count: usize| -> Vec<Value> {
        columns.iter().take(count).map(|own| key_value(input, &own.key_type)).collect()
    };
    let kind = input.below(4);
    let count = input.below(columns.len() + 1);
    let Some(next) = columns.get(count).filter(|_| kind != 0 && kind != 3) else {
        if kind == 3 {
            let bound = |input: &mut Input<'_>| {
                let count = input.below(columns.len() + 1);
                input.flag().then(|| (leading(input, count), input.flag()))
            };
            return SortCondition::TupleRange { lower: bound(input), upper: bound(input) };
        }
        return SortCondition::Equal(leading(input, count));
    };
    let equal = leading(input, count);
    if kind == 1 && next.key_type != KeyType::Decimal {
        return SortCondition::BeginsWith { equal, prefix: key_value(input, &next.key_type) };
    }
    let bound = |input: &mut Input<'_>| match input.below(3) {
        0 => SortBound::Unbounded,
        1 => SortBound::Included(key_value(input, &next.key_type)),
        _ => SortBound::Excluded(key_value(input, &next.key_type)),
    };
    SortCondition::Range { equal, lower: bound(input), upper: bound(input) }
}
