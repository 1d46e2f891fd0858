//! Values of columns as attributes of items, and back.
//!
//! | column | attribute |
//! | --- | --- |
//! | text | text |
//! | whole numbers, decimals, floats, a timestamp's milliseconds | number |
//! | blob, duration, vector, custom | bytes |
//! | boolean | boolean |
//! | uuid, inet, date, time, floats that are no numbers | text |
//! | set of text, numbers or bytes | set |
//! | other sets, lists, tuples, user types | list |
//! | map | map, its keys as text |
//!
//! Invariant: what was read can be written back, and gives the same bytes.

use std::net::IpAddr;

use bytes::Bytes;
use shelfmark_keycode::number::{ANY_NUMBER, parse};
use shelfmark_model::serial::{deserialise, serialise};
use shelfmark_model::text::{date_text, parse_date, parse_time, parse_uuid, time_text, uuid_text};
use shelfmark_model::{Decimal, KeyType, Value};
use shelfmark_records::cells::whole;

use crate::error::{Error, Result};

/// Longest text that a refusal shows, in bytes.
const SHOWN_TEXT_MAX: usize = 64;

/// Returns the attribute that the plain serialisation of a value is.
pub(super) fn attribute_of(key_type: &KeyType, raw: &[u8]) -> Result<Value> {
    // CQL's value of zero bytes, of a type that has none itself.
    if raw.is_empty() && !matches!(key_type, KeyType::Text | KeyType::Bytes) {
        return Ok(Value::text(""));
    }
    Ok(attribute(deserialise(key_type, raw)?))
}

fn attribute(value: Value) -> Value {
    match value {
        Value::Int(n) | Value::Timestamp(n) => Value::number(n),
        Value::BigInt(n) => Decimal::new(n, 0).map_or(Value::Null, Value::Number),
        Value::Float32(n) => float(n.is_finite(), n.to_string()),
        Value::Float(n) => float(n.is_finite(), n.to_string()),
        Value::Uuid(uuid) => Value::text(uuid_text(&uuid)),
        Value::Date(days) => Value::text(date_text(days.into())),
        Value::Time(nanos) => Value::text(time_text(nanos)),
        Value::Inet(address) => Value::text(address.to_string()),
        Value::List(values) => Value::List(values.into_iter().map(attribute).collect()),
        Value::Set(values) => set_or_list(values.into_iter().map(attribute).collect()),
        Value::Tuple(fields) => {
            let field = |field: Option<Value>| field.map_or(Value::Null, attribute);
            Value::List(fields.into_iter().map(field).collect())
        }
        Value::Pairs(pairs) => {
            let pair = |(key, value)| (name_of(&attribute(key)), attribute(value));
            Value::Map(pairs.into_iter().map(pair).collect())
        }
        other => other,
    }
}

fn float(is_finite: bool, text: String) -> Value {
    let number = is_finite.then(|| number_of(&text)).flatten();
    number.map_or(Value::text(text), Value::Number)
}

fn number_of(text: &str) -> Option<Decimal> {
    parse(text, &ANY_NUMBER).ok()
}

/// Sets of items hold values of one kind: text, numbers or bytes.
pub(super) fn set_or_list(members: Vec<Value>) -> Value {
    let is = |kind: fn(&Value) -> bool| members.iter().all(kind);
    let is_set = is(|own| matches!(own, Value::Text(_)))
        || is(|own| matches!(own, Value::Number(_)))
        || is(|own| matches!(own, Value::Bytes(_)));
    if is_set { Value::set(members) } else { Value::List(members) }
}

/// Returns the name that a map's key has in an item.
pub(super) fn name_of(key: &Value) -> String {
    match key {
        Value::Text(text) => text.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Bool(bool) => bool.to_string(),
        Value::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        other => format!("{other:?}"),
    }
}

/// Returns the key of a map that a name in an item stands for.
pub(super) fn key_of_name(column: &str, key_type: &KeyType, name: &str) -> Result<Value> {
    let attribute = match key_type {
        KeyType::Bool => Value::Bool(name == "true"),
        KeyType::Bytes => Value::Bytes(bytes_of_hex(name).ok_or_else(|| {
            Error::invalid(format!("a key of the map in column {column} takes hex digits"))
        })?),
        _ => match number_of(name) {
            Some(number) if takes_number(key_type) => Value::Number(number),
            _ => Value::text(name),
        },
    };
    typed(column, key_type, &attribute)
}

fn bytes_of_hex(name: &str) -> Option<Bytes> {
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let is_hex = name.len().is_multiple_of(2) && name.bytes().all(|own| own.is_ascii_hexdigit());
    let bytes = is_hex.then(|| name.as_bytes().chunks(2).map(pair).collect::<Option<Vec<u8>>>())?;
    bytes.map(Bytes::from)
}

fn takes_number(key_type: &KeyType) -> bool {
    matches!(
        key_type,
        KeyType::I8
            | KeyType::I16
            | KeyType::I32
            | KeyType::I64
            | KeyType::Integer
            | KeyType::Decimal
            | KeyType::F32
            | KeyType::F64
            | KeyType::Timestamp
    )
}

/// Returns the plain serialisation of an attribute for a column of this type.
///
/// # Errors
///
/// * [`crate::ErrorKind::Invalid`]: the column does not take it.
pub(super) fn raw_of(column: &str, key_type: &KeyType, value: &Value) -> Result<Bytes> {
    let mut raw = Vec::new();
    if matches!(value, Value::Text(text) if text.is_empty()) && *key_type != KeyType::Text {
        // What CQL's value of zero bytes is read as.
        return Ok(Bytes::new());
    }
    let typed = typed(column, key_type, value)?;
    serialise(key_type, &typed, &mut raw).map_err(|_| refused(column, key_type, value))?;
    Ok(raw.into())
}

fn typed(column: &str, key_type: &KeyType, value: &Value) -> Result<Value> {
    let inner = |inner: &KeyType, value: &Value| typed(column, inner, value);
    let found = match (key_type, value) {
        (KeyType::Kinded(plain), value) => return typed(column, plain, value),
        (KeyType::Text, Value::Text(_))
        | (KeyType::Bytes, Value::Bytes(_))
        | (KeyType::Bool, Value::Bool(_))
        | (KeyType::Decimal, Value::Number(_)) => Some(value.clone()),
        (KeyType::I8 | KeyType::I16 | KeyType::I32 | KeyType::I64, Value::Number(number)) => {
            whole(number).and_then(|n| i64::try_from(n).ok()).map(Value::Int)
        }
        (KeyType::Timestamp, Value::Number(number)) => {
            whole(number).and_then(|n| i64::try_from(n).ok()).map(Value::Timestamp)
        }
        (KeyType::Integer, Value::Number(number)) => whole(number).map(Value::BigInt),
        (KeyType::F32, Value::Number(n)) => {
            n.to_string().parse().ok().filter(|n: &f32| n.is_finite()).map(Value::Float32)
        }
        (KeyType::F64, Value::Number(n)) => {
            n.to_string().parse().ok().filter(|n: &f64| n.is_finite()).map(Value::Float)
        }
        (KeyType::F32, Value::Text(text)) => text.parse().ok().map(Value::Float32),
        (KeyType::F64, Value::Text(text)) => text.parse().ok().map(Value::Float),
        (KeyType::Uuid | KeyType::CqlUuid | KeyType::CqlTimeUuid, Value::Text(text)) => {
            parse_uuid(text).map(Value::Uuid)
        }
        (KeyType::Date, Value::Text(text)) => {
            parse_date(text).and_then(|days| i32::try_from(days).ok()).map(Value::Date)
        }
        (KeyType::Time, Value::Text(text)) => parse_time(text).map(Value::Time),
        (KeyType::Inet, Value::Text(text)) => text.parse::<IpAddr>().ok().map(Value::Inet),
        (KeyType::List(own), Value::List(values)) => {
            Some(Value::List(values.iter().map(|each| inner(own, each)).collect::<Result<_>>()?))
        }
        (KeyType::Set(own), Value::Set(values) | Value::List(values)) => {
            Some(Value::set(values.iter().map(|each| inner(own, each)).collect::<Result<_>>()?))
        }
        (KeyType::Map(keys, values), Value::Map(map)) => {
            let pair = |(name, value): (&String, &Value)| {
                Ok((key_of_name(column, keys, name)?, inner(values, value)?))
            };
            let mut pairs = map.iter().map(pair).collect::<Result<Vec<_>>>()?;
            pairs.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            Some(Value::Pairs(pairs))
        }
        (KeyType::Tuple(types) | KeyType::Record(types), Value::List(values))
            if values.len() == types.len() =>
        {
            let field = |(own, value): (&KeyType, &Value)| match value {
                Value::Null => Ok(None),
                value => inner(own, value).map(Some),
            };
            Some(Value::Tuple(types.iter().zip(values).map(field).collect::<Result<_>>()?))
        }
        _ => None,
    };
    found.ok_or_else(|| refused(column, key_type, value))
}

fn refused(column: &str, key_type: &KeyType, value: &Value) -> Error {
    let shown = match value {
        Value::Number(number) => format!("the number {number}"),
        Value::Text(text) if text.len() <= SHOWN_TEXT_MAX => format!("the text {text:?}"),
        other => format!("a value of kind {:?}", other.kind()),
    };
    Error::invalid(format!("column {column} takes {}, not {shown}", wanted(key_type)))
}

/// Names what a column of a type takes from an item.
fn wanted(key_type: &KeyType) -> &'static str {
    match key_type {
        KeyType::Kinded(inner) => wanted(inner),
        KeyType::Text => "text",
        KeyType::Bytes => "bytes",
        KeyType::Bool => "a boolean",
        KeyType::I8 => "a whole number of 8 bits",
        KeyType::I16 => "a whole number of 16 bits",
        KeyType::I32 => "a whole number of 32 bits",
        KeyType::I64 => "a whole number of 64 bits",
        KeyType::Integer => "a whole number",
        KeyType::Timestamp => "a whole number of milliseconds since 1970",
        KeyType::Uuid | KeyType::CqlUuid | KeyType::CqlTimeUuid => "a UUID as text",
        KeyType::Date => "a date as text, such as 2026-11-23",
        KeyType::Time => "a time of day as text, such as 08:12:54.5",
        KeyType::Inet => "an internet address as text",
        KeyType::List(_) => "a list",
        KeyType::Set(_) => "a set or a list",
        KeyType::Map(..) => "a map",
        KeyType::Tuple(_) | KeyType::Record(_) => "a list with a value or null for each field",
        _ => "a number",
    }
}
