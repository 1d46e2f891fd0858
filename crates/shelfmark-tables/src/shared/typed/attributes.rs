//! Attributes of typed records as attributes of items.
//!
//! | value | attribute |
//! | --- | --- |
//! | integers, decimals, floats, a timestamp's milliseconds | number; text, where items have no such number |
//! | date, time of day, address, UUID | text |
//! | maps whose keys are text, numbers or booleans | map; others a list of pairs |
//! | tuples | list |
//!
//! Invariant: nothing that a record says is left out, under whatever name it is stored.

use std::collections::BTreeMap;

use shelfmark_model::text::{date_text, time_text, uuid_text};
use shelfmark_model::{Decimal, Item, Value};

use super::super::value::{float, number_or_text};

/// The attribute with the second at which an item expires.
const EXPIRES: &str = "_@expires";

/// Returns the attributes of a stored item that are no key, under the names that the record gave them.
/// `is_key` tells names of the shown key.
pub(super) fn shown(
    item: Item,
    is_stored_key: impl Fn(&str) -> bool,
    is_key: impl Fn(&str) -> bool,
) -> Item {
    let own = item.into_iter().filter(|(name, _)| !is_stored_key(name) && **name != *EXPIRES);
    own.map(|(name, value)| {
        // The typed layer puts `_` before names that are taken.
        let name = match name.strip_prefix('_') {
            Some(own) if !is_key(own) => own.into(),
            _ => name,
        };
        (name, attribute(value))
    })
    .collect()
}

fn attribute(value: Value) -> Value {
    match value {
        Value::Int(n) | Value::Timestamp(n) => Value::number(n),
        Value::BigInt(n) => Decimal::new(n, 0).map_or(Value::Null, number_or_text),
        Value::Number(n) => number_or_text(n),
        Value::Float32(n) => float(n.is_finite(), n.to_string()),
        Value::Float(n) => float(n.is_finite(), n.to_string()),
        Value::Uuid(uuid) => Value::text(uuid_text(&uuid)),
        Value::Date(days) => Value::text(date_text(days.into())),
        Value::Time(nanos) => Value::text(time_text(nanos)),
        Value::Inet(address) => Value::text(address.to_string()),
        Value::List(values) => Value::List(values.into_iter().map(attribute).collect()),
        Value::Tuple(fields) => {
            let field = |field: Option<Value>| field.map_or(Value::Null, attribute);
            Value::List(fields.into_iter().map(field).collect())
        }
        Value::Map(map) => {
            Value::Map(map.into_iter().map(|(name, value)| (name, attribute(value))).collect())
        }
        Value::Pairs(pairs) => pairs_of(pairs),
        other => other,
    }
}

fn pairs_of(pairs: Vec<(Value, Value)>) -> Value {
    let pairs: Vec<(Value, Value)> =
        pairs.into_iter().map(|(key, value)| (attribute(key), attribute(value))).collect();
    let name = |key: &Value| match key {
        Value::Text(text) => Some(text.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(bool) => Some(bool.to_string()),
        _ => None,
    };
    let named: Option<BTreeMap<String, Value>> =
        pairs.iter().map(|(key, value)| Some((name(key)?, value.clone()))).collect();
    match named.filter(|named| named.len() == pairs.len()) {
        Some(named) => Value::Map(named),
        None => Value::List(
            pairs.into_iter().map(|(key, value)| Value::List(vec![key, value])).collect(),
        ),
    }
}
