//! Attributes as the cells of a column: a value is one cell, a collection has one per element.
//!
//! Invariant: an element of a list is named by its place and its value, so that a write which was
//! worked out from a list that changed meanwhile finds nothing.

use bytes::Bytes;
use shelfmark_model::serial::serialise;
use shelfmark_model::{Column, ColumnType, KeyType, Value};
use shelfmark_records::cells::with_whole_digits;
use xxhash_rust::xxh3::xxh3_64;

use super::super::value::{Source, key_of_name, plain, raw_from};

/// Path and value of one cell.
pub(super) type Element = (Bytes, Bytes);

/// Returns the cells of an attribute in its column, none for null; `None` if it does not fit.
pub(super) fn of_value(column: &Column, value: &Value) -> Option<Vec<Element>> {
    let name = &column.name;
    match (&column.column_type, value) {
        (ColumnType::Counter, _) => None,
        (_, Value::Null) => Some(Vec::new()),
        (ColumnType::Value(key_type), value) => {
            Some(vec![(Bytes::new(), raw(name, key_type, value)?)])
        }
        (ColumnType::List(inner), Value::List(values)) => {
            let element = |(at, value): (usize, &Value)| {
                let raw = raw(name, inner, value)?;
                Some((list_path(at, &raw), raw))
            };
            values.iter().enumerate().map(element).collect()
        }
        (ColumnType::Set(inner), Value::Set(values) | Value::List(values)) => {
            let element = |value: &Value| Some((raw(name, inner, value)?, Bytes::new()));
            let mut members: Vec<Element> = values.iter().map(element).collect::<Option<_>>()?;
            members.sort_unstable();
            // A list that has a value twice is no set.
            let differ = members.windows(2).all(|pair| pair.first() != pair.last());
            differ.then_some(members)
        }
        (ColumnType::Map(keys, values), Value::Map(map)) => {
            let element = |(key, value): (&String, &Value)| {
                Some((map_path(name, keys, key)?, raw(name, values, value)?))
            };
            let mut entries: Vec<Element> = map.iter().map(element).collect::<Option<_>>()?;
            entries.sort_unstable();
            // Names that are one key of the column's type are no map of it.
            let path = |own: Option<&Element>| own.map(|(path, _)| path.clone());
            let differ = entries.windows(2).all(|pair| path(pair.first()) != path(pair.last()));
            differ.then_some(entries)
        }
        _ => None,
    }
}

/// Returns the path of an element of a list.
pub(super) fn list_path(at: usize, raw: &[u8]) -> Bytes {
    let mut path = u32::try_from(at).unwrap_or(u32::MAX).to_be_bytes().to_vec();
    path.extend_from_slice(&xxh3_64(raw).to_be_bytes());
    path.into()
}

/// Returns the path of an entry of a map, if its name is a key of the column's type.
fn map_path(column: &str, keys: &KeyType, name: &str) -> Option<Bytes> {
    let mut path = Vec::new();
    serialise(keys, &key_of_name(column, keys, name).ok()?, &mut path).ok()?;
    Some(path.into())
}

/// Returns the plain serialisation of an attribute, if it is one of the type.
pub(super) fn raw(column: &str, key_type: &KeyType, value: &Value) -> Option<Bytes> {
    let value = match value {
        // An empty text is a text, and none of CQL's empty values.
        Value::Text(text) if text.is_empty() && *plain(key_type) != KeyType::Text => return None,
        Value::Number(_) => &with_whole_digits(value.clone()),
        value => value,
    };
    raw_from(column, key_type, value, Source::Item).ok()
}
