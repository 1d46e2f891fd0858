//! What the tables hold, kept the simple way: maps in memory, searched from end to end.
//!
//! What it is not: a second engine. Conditions and patches are the model's, whose own tests hold
//! them; here it is about rows, indexes, expiries, counts and the change log.

use std::collections::BTreeMap;

use shelfmark_engine::{Change, Table, Write};
use shelfmark_keycode::{self as keycode, KeyValue, number};
use shelfmark_model::serial::serialise_partition;
use shelfmark_model::{
    Direction, Item, Key, KeyType, Placement, SortBound, SortColumn, SortCondition, TtlSource,
    Value,
};

/// A time in an attribute that lies further back is no expiry.
///
/// Source: DynamoDB Developer Guide, "Time to Live", read 2026-11: five years.
const IGNORED_PAST_SECONDS: u64 = 5 * 366 * 86_400;

/// A row's place: its partition as bytes, its sort key as bytes in the order of the table.
pub(super) type Place = (Vec<u8>, Vec<u8>);

/// An item with its expiry.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) key: Key,
    pub(super) item: Item,
    pub(super) expires_at: Option<u64>,
}

/// One change of a row: before, after, and whether it had expired.
pub(super) type Logged = (Option<Item>, Option<Item>, bool);

/// One table.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    pub(super) rows: BTreeMap<Place, Row>,
    pub(super) log: Vec<Logged>,
}

/// How a write ends.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum End {
    Done {
        old: Option<Item>,
        new: Option<Item>,
    },
    ConditionFailed(Option<Item>),
    PatchRefused,
    NotUnique,
    /// The call is wrong, whatever else is in it.
    Invalid,
}

/// Returns where a row lies; nothing if the key does not fit the table.
pub(super) fn place(table: &Table, key: &Key) -> Option<Place> {
    let schema = &table.schema;
    let mut partition = Vec::new();
    let types = schema.partition.iter().map(|column| &column.key_type);
    if schema.placement == Placement::Hashed {
        serialise_partition(types, &key.partition, &mut partition).ok()?;
    } else {
        for (key_type, value) in types.zip(&key.partition) {
            partition.extend(component(key_type, Direction::Ascending, value)?);
        }
    }
    let mut sort = Vec::new();
    for (column, value) in schema.sort.iter().zip(&key.sort) {
        sort.extend(component(&column.key_type, column.direction, value)?);
    }
    Some((partition, sort))
}

/// Returns the bytes of one key component; nothing if the value is of another type.
pub(super) fn component(
    key_type: &KeyType,
    direction: Direction,
    value: &Value,
) -> Option<Vec<u8>> {
    let value = match value {
        Value::Text(text) => KeyValue::Text(text.to_string()),
        Value::Bytes(bytes) => KeyValue::Bytes(bytes.to_vec()),
        Value::Number(number) => KeyValue::Decimal(number.clone()),
        _ => return None,
    };
    let mut out = Vec::new();
    keycode::encode(key_type, direction, &value, &mut out).ok()?;
    Some(out)
}

/// Tells whether readers see a row.
pub(super) fn is_shown(table: &Table, row: &Row, now: u64) -> bool {
    table.schema.options.ttl != Some(TtlSource::PerItem)
        || row.expires_at.is_none_or(|second| second > now)
}

/// Applies a write.
pub(super) fn apply(rows: &mut Rows, table: &Table, write: &Write, now: u64) -> End {
    let key = match &write.change {
        Change::Put(item) => match table.key_of(item) {
            Ok(key) => key,
            Err(_) => return End::Invalid,
        },
        Change::Patch { key, .. } | Change::Delete(key) | Change::Check(key) => key.clone(),
    };
    let Some(place) = place(table, &key) else { return End::Invalid };
    let before = rows.rows.get(&place).cloned();
    let live = before.clone().filter(|row| is_shown(table, row, now)).map(|row| row.item);
    let nothing = Item::new();
    let held = |item: &Option<Item>| {
        let item = item.as_ref().unwrap_or(&nothing);
        write.condition.as_ref().is_none_or(|condition| condition.holds(item))
    };
    if !held(&live) {
        return End::ConditionFailed(live.filter(|_| write.old_on_refusal));
    }
    let old = live.clone().filter(|_| write.returns.old);
    let after = match &write.change {
        Change::Check(_) => {
            return End::Done { old, new: live.filter(|_| write.returns.new) };
        }
        Change::Delete(_) => None,
        Change::Put(item) => Some((item.clone(), write.expires_at)),
        Change::Patch { creates: false, .. } if live.is_none() => {
            return End::Done { old, new: None };
        }
        Change::Patch { patch, .. } => {
            let base = live.clone().unwrap_or_else(|| key_item(table, &key));
            let Ok(patched) = patch.apply(&base) else { return End::PatchRefused };
            let moved = table.key_of(&patched).ok().and_then(|key| self::place(table, &key));
            if moved.as_ref() != Some(&place) {
                return End::Invalid;
            }
            let kept = before.as_ref().filter(|_| live.is_some()).and_then(|row| row.expires_at);
            Some((patched, write.expires_at.or(kept)))
        }
    };
    let after = after.map(|(item, given)| {
        let expires_at = expiry(table, &item, given);
        Row { key: key.clone(), item, expires_at }
    });
    // What has expired already holds no unique key.
    if let Some(after) = &after
        && is_shown(table, after, now)
        && is_taken(rows, table, &place, &after.item, now)
    {
        return End::NotUnique;
    }
    let new = after.as_ref().map(|row| row.item.clone()).filter(|_| write.returns.new);
    put(rows, &place, after, false);
    End::Done { old, new }
}

/// Puts or removes a row and logs that.
fn put(rows: &mut Rows, place: &Place, after: Option<Row>, expired: bool) {
    let new = after.as_ref().map(|row| row.item.clone());
    let old = match after {
        Some(row) => rows.rows.insert(place.clone(), row),
        None => rows.rows.remove(place),
    };
    let old = old.map(|row| row.item);
    if old != new {
        rows.log.push((old, new, expired));
    }
}

fn key_item(table: &Table, key: &Key) -> Item {
    let names = table.schema.key_names().map(str::to_owned);
    names.zip(key.partition.iter().chain(&key.sort).cloned()).collect()
}

fn expiry(table: &Table, item: &Item, given: Option<u64>) -> Option<u64> {
    match table.schema.options.ttl.as_ref()? {
        TtlSource::PerItem => given,
        TtlSource::Attribute(name) => match item.get(name)? {
            Value::Number(second) => {
                let plain = number::to_plain(second, 40).ok()?;
                let whole = plain.split('.').next().unwrap_or_default();
                // Towards zero, so a little less than nothing is the beginning of time.
                if whole == "-0" { Some(0) } else { whole.parse().ok() }
            }
            Value::Int(second) => u64::try_from(*second).ok(),
            _ => None,
        },
    }
}

/// Tells whether another item that has not expired has the same unique key.
fn is_taken(rows: &Rows, table: &Table, place: &Place, item: &Item, now: u64) -> bool {
    let Some(column) = unique_column(table) else { return false };
    let Some(Value::Text(own)) = item.get(column) else { return false };
    rows.rows.iter().any(|(other, row)| {
        other != place
            && row.item.get(column).and_then(Value::as_text) == Some(own)
            && row.expires_at.is_none_or(|second| second > now)
    })
}

fn unique_column(table: &Table) -> Option<&str> {
    let index = table.index("unique")?;
    index.schema.partition.first().map(|column| column.name.as_str())
}

/// Removes what has expired.
pub(super) fn sweep(rows: &mut Rows, table: &Table, now: u64) -> usize {
    let ignored_before = match &table.schema.options.ttl {
        None => return 0,
        Some(TtlSource::PerItem) => 0,
        Some(TtlSource::Attribute(_)) => now - IGNORED_PAST_SECONDS,
    };
    let is_due = |second: u64| second <= now && second >= ignored_before;
    let due = |row: &Row| row.expires_at.is_some_and(is_due);
    let places: Vec<(u64, Place)> = rows
        .rows
        .iter()
        .filter(|(_, row)| due(row))
        .map(|(place, row)| (row.expires_at.unwrap_or(0), place.clone()))
        .collect();
    for (_, place) in &places {
        put(rows, place, None, true);
    }
    places.len()
}

/// Tells whether a sort key meets a condition, column by column; nothing if that cannot be asked.
pub(super) fn meets(
    columns: &[SortColumn],
    sort: &[Value],
    condition: &SortCondition,
) -> Option<bool> {
    let ascending = |index: usize, value: &Value| {
        component(&columns.get(index)?.key_type, Direction::Ascending, value)
    };
    let equals = |values: &[Value]| -> Option<bool> {
        for (index, value) in values.iter().enumerate() {
            if ascending(index, value)? != ascending(index, sort.get(index)?)? {
                return Some(false);
            }
        }
        Some(true)
    };
    match condition {
        SortCondition::Equal(values) => equals(values),
        SortCondition::BeginsWith { equal, prefix } => {
            let begins = match (sort.get(equal.len())?, prefix) {
                (Value::Text(own), Value::Text(prefix)) => own.starts_with(prefix.as_str()),
                (Value::Bytes(own), Value::Bytes(prefix)) => own.starts_with(prefix),
                _ => return None,
            };
            Some(equals(equal)? && begins)
        }
        SortCondition::Range { equal, lower, upper } => {
            let index = equal.len();
            let own = ascending(index, sort.get(index)?)?;
            let above = match lower {
                SortBound::Unbounded => true,
                SortBound::Included(value) => own >= ascending(index, value)?,
                SortBound::Excluded(value) => own > ascending(index, value)?,
            };
            let below = match upper {
                SortBound::Unbounded => true,
                SortBound::Included(value) => own <= ascending(index, value)?,
                SortBound::Excluded(value) => own < ascending(index, value)?,
            };
            Some(equals(equal)? && above && below)
        }
        SortCondition::TupleRange { lower, upper } => {
            let widest = [lower, upper].into_iter().flatten().map(|(values, _)| values.len()).max();
            let concerned = columns.get(..widest.unwrap_or(0))?;
            let one_way = concerned.windows(2).all(|two| two[0].direction == two[1].direction);
            let tuple = |values: &[Value]| -> Option<Vec<Vec<u8>>> {
                values.iter().enumerate().map(|(index, value)| ascending(index, value)).collect()
            };
            let against = |bound: &(Vec<Value>, bool)| {
                Some(tuple(sort.get(..bound.0.len())?)?.cmp(&tuple(&bound.0)?))
            };
            let above = match lower {
                None => true,
                Some(bound) => {
                    if bound.1 {
                        against(bound)?.is_ge()
                    } else {
                        against(bound)?.is_gt()
                    }
                }
            };
            let below = match upper {
                None => true,
                Some(bound) => {
                    if bound.1 {
                        against(bound)?.is_le()
                    } else {
                        against(bound)?.is_lt()
                    }
                }
            };
            one_way.then_some(above && below)
        }
    }
}
