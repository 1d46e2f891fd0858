//! Sort-key conditions as ranges of bytes.

use bytes::Bytes;
use shelfmark_keycode::{prefix_successor, put_bytes_prefix};
use shelfmark_model::{Direction, KeyType, SortBound, SortColumn, SortCondition, Value};
use shelfmark_store::KeyRange;

use super::component::put_component;
use super::keyspec::{KeySpec, ROW};
use crate::error::{Error, Result};

/// Returns the range of the rows of a partition whose sort key meets `condition`.
///
/// Bounds that exclude everything give an empty range, no error.
///
/// # Errors
///
/// * `Invalid`: the condition names more columns than the key has, or a value does not fit its column.
pub fn sort_range(
    spec: &KeySpec,
    partition: &[Value],
    condition: &SortCondition,
) -> Result<KeyRange> {
    let mut base = spec.partition_key(partition)?;
    base.push(ROW);
    match condition {
        SortCondition::Equal(values) => Ok(KeyRange::prefix(extended(base, &spec.sort, values)?)),
        SortCondition::BeginsWith { equal, prefix } => {
            let column = column_after(&spec.sort, equal)?;
            let mut start = extended(base, &spec.sort, equal)?;
            let prefix = match (&column.key_type, prefix) {
                (KeyType::Text, Value::Text(text)) => text.as_bytes(),
                (KeyType::Bytes, Value::Bytes(bytes)) => bytes,
                (key_type, prefix) => {
                    return Err(Error::invalid(format!(
                        "sort column {} of type {key_type:?} cannot begin with a {:?}; only text \
                         and bytes can, and with their own kind",
                        column.name,
                        prefix.kind()
                    )));
                }
            };
            put_bytes_prefix(&mut start, column.direction, prefix);
            Ok(KeyRange::prefix(start))
        }
        SortCondition::Range { equal, lower, upper } => {
            let column = column_after(&spec.sort, equal)?;
            let base = extended(base, &spec.sort, equal)?;
            let (first, last) = match column.direction {
                Direction::Ascending => (lower, upper),
                Direction::Descending => (upper, lower),
            };
            let bound = |bound: &SortBound| match bound {
                SortBound::Unbounded => Ok(None),
                SortBound::Included(value) | SortBound::Excluded(value) => {
                    let mut key = base.clone();
                    put_component(&column.key_type, column.direction, value, &mut key)?;
                    Ok::<_, Error>(Some((key, matches!(bound, SortBound::Included(_)))))
                }
            };
            Ok(between(&base, bound(first)?, bound(last)?))
        }
        SortCondition::TupleRange { lower, upper } => {
            let widest = [lower, upper].into_iter().flatten().map(|(values, _)| values.len()).max();
            let columns = spec.sort.get(..widest.unwrap_or(0)).ok_or_else(too_many)?;
            let direction = columns.first().map_or(Direction::Ascending, |first| first.direction);
            if columns.iter().any(|column| column.direction != direction) {
                return Err(Error::invalid(
                    "a range over several sort columns needs them in one direction",
                ));
            }
            let (first, last) = match direction {
                Direction::Ascending => (lower, upper),
                Direction::Descending => (upper, lower),
            };
            let bound = |bound: &Option<(Vec<Value>, bool)>| match bound {
                None => Ok(None),
                Some((values, included)) => {
                    Ok::<_, Error>(Some((extended(base.clone(), &spec.sort, values)?, *included)))
                }
            };
            let (first, last) = (bound(first)?, bound(last)?);
            Ok(between(&base, first, last))
        }
    }
}

/// Returns what of a range comes after the row `key` (without chunk) when read in `direction`.
pub fn after_row(range: &KeyRange, key: &[u8], descending: bool) -> KeyRange {
    if descending {
        let end = Bytes::copy_from_slice(key);
        let end = match &range.end {
            Some(old) if *old < end => old.clone(),
            _ => end,
        };
        return KeyRange { start: range.start.clone(), end: Some(end) };
    }
    match prefix_successor(key) {
        Some(start) if start.as_slice() > range.start.as_ref() => {
            KeyRange { start: start.into(), end: range.end.clone() }
        }
        Some(_) => range.clone(),
        None => KeyRange { start: range.start.clone(), end: Some(range.start.clone()) },
    }
}

/// Returns the range from `first` to `last` (each a key prefix, and whether it belongs to the range)
/// among the keys that begin with `base`.
fn between(base: &[u8], first: Option<(Vec<u8>, bool)>, last: Option<(Vec<u8>, bool)>) -> KeyRange {
    let whole = KeyRange::prefix(base.to_vec());
    let start = match first {
        None => whole.start,
        Some((key, true)) => key.into(),
        // Nothing follows a prefix of 0xFF bytes alone; no key of ours is one.
        Some((key, false)) => prefix_successor(&key).map_or(whole.start, Into::into),
    };
    let end = match last {
        None => whole.end,
        Some((key, true)) => prefix_successor(&key).map(Into::into),
        Some((key, false)) => Some(key.into()),
    };
    KeyRange { start, end }
}

fn extended(mut base: Vec<u8>, columns: &[SortColumn], values: &[Value]) -> Result<Vec<u8>> {
    if values.len() > columns.len() {
        return Err(too_many());
    }
    for (column, value) in columns.iter().zip(values) {
        put_component(&column.key_type, column.direction, value, &mut base)?;
    }
    Ok(base)
}

fn column_after<'c>(columns: &'c [SortColumn], equal: &[Value]) -> Result<&'c SortColumn> {
    columns.get(equal.len()).ok_or_else(too_many)
}

fn too_many() -> Error {
    Error::invalid("the sort condition names more columns than the sort key has")
}
