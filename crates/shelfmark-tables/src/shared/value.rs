//! Values of columns as attributes of items, and back.
//!
//! | column | attribute |
//! | --- | --- |
//! | text | text |
//! | whole numbers, decimals, floats, a timestamp's milliseconds | number |
//! | blob, duration, vector, custom, whole numbers too long to be read as text | bytes |
//! | boolean | boolean |
//! | uuid, inet, date, time, floats that are no numbers, numbers that items do not have | text |
//! | set of text, numbers or bytes | set |
//! | other sets, lists, tuples, user types | list |
//! | map | map, its keys as text |
//!
//! Invariant: what was read can be written back, and gives the same bytes.

use std::net::IpAddr;

use bytes::Bytes;
use num_bigint::BigInt;
use shelfmark_keycode::number::{ANY_NUMBER, check_dynamo_number, parse};
use shelfmark_model::serial::{deserialise, serialise};
use shelfmark_model::text::{date_text, parse_date, parse_time, parse_uuid, time_text, uuid_text};
use shelfmark_model::{Decimal, KeyType, Value};
use shelfmark_records::cells::whole;

use crate::error::{Error, Result};

/// Longest text that a refusal shows, in bytes.
const SHOWN_TEXT_MAX: usize = 64;

/// Returns the attribute that the plain serialisation of a value of a row is.
pub(super) fn attribute_of(key_type: &KeyType, raw: &[u8]) -> Result<Value> {
    // CQL's value of zero bytes, of a type that has none itself.
    if raw.is_empty() && !matches!(key_type, KeyType::Text | KeyType::Bytes) {
        return Ok(Value::text(""));
    }
    attribute(key_type, deserialise(key_type, raw)?, Source::Row)
}

/// Returns the attribute that an item gets of a plain serialisation; whoever puts it into the item
/// refuses numbers that items do not have.
pub(super) fn attribute_for_item(key_type: &KeyType, raw: &[u8]) -> Result<Value> {
    attribute(key_type, deserialise(key_type, raw)?, Source::Item)
}

fn attribute(key_type: &KeyType, value: Value, source: Source) -> Result<Value> {
    let many = |inner: &KeyType, values: Vec<Value>| -> Result<Vec<Value>> {
        values.into_iter().map(|own| attribute(inner, own, source)).collect()
    };
    let number = |number: Decimal| match source {
        Source::Row => number_or_text(number),
        Source::Item => Value::Number(number),
    };
    let float = |is_finite: bool, text: String| match source {
        Source::Row => float(is_finite, text),
        Source::Item => {
            let finite = is_finite.then(|| number_of(&text)).flatten();
            finite.map_or(Value::text(text), Value::Number)
        }
    };
    Ok(match (plain(key_type), value) {
        (_, Value::Int(n) | Value::Timestamp(n)) => Value::number(n),
        (_, Value::BigInt(n)) => {
            let bytes = || Value::Bytes(n.to_signed_bytes_be().into());
            Decimal::new(n.clone(), 0).map_or_else(|_| bytes(), number)
        }
        (_, Value::Number(n)) => number(n),
        (_, Value::Float32(n)) => float(n.is_finite(), n.to_string()),
        (_, Value::Float(n)) => float(n.is_finite(), n.to_string()),
        (_, Value::Uuid(uuid)) => Value::text(uuid_text(&uuid)),
        (_, Value::Date(days)) => Value::text(date_text(days.into())),
        (_, Value::Time(nanos)) => Value::text(time_text(nanos)),
        (_, Value::Inet(address)) => Value::text(address.to_string()),
        (KeyType::List(inner), Value::List(values)) => Value::List(many(inner, values)?),
        (KeyType::Set(inner), Value::Set(values)) => set_or_list(many(inner, values)?),
        (KeyType::Tuple(types) | KeyType::Record(types), Value::Tuple(fields)) => {
            let field = |(own, field): (&KeyType, Option<Value>)| {
                field.map_or(Ok(Value::Null), |value| attribute(own, value, source))
            };
            Value::List(types.iter().zip(fields).map(field).collect::<Result<_>>()?)
        }
        (KeyType::Map(keys, values), Value::Pairs(pairs)) => {
            let pair = |(key, value)| Ok((name_of(keys, key)?, attribute(values, value, source)?));
            Value::Map(pairs.into_iter().map(pair).collect::<Result<_>>()?)
        }
        (_, other) => other,
    })
}

/// Returns the type without null and empty, which are no attributes.
pub(super) fn plain(key_type: &KeyType) -> &KeyType {
    match key_type {
        KeyType::Kinded(inner) => inner,
        other => other,
    }
}

/// Returns a number as items have it: text, where it has more digits than theirs, or is beyond them.
pub(super) fn number_or_text(number: Decimal) -> Value {
    match check_dynamo_number(&number) {
        Ok(()) => Value::Number(number),
        Err(_) => Value::text(number.to_string()),
    }
}

/// Returns a float, given as text, as items have it.
pub(super) fn float(is_finite: bool, text: String) -> Value {
    let finite = is_finite.then(|| number_of(&text)).flatten();
    finite.map_or(Value::text(text), number_or_text)
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

/// Returns the name that a map's key has in an item, given in its plain serialisation.
pub(super) fn name_of_raw(key_type: &KeyType, raw: &[u8]) -> Result<String> {
    if raw.is_empty() {
        return Ok(String::new());
    }
    name_of(key_type, deserialise(key_type, raw)?)
}

/// Returns the name that a map's key has in an item: of a key that is a collection the hex digits of
/// its serialisation.
fn name_of(key_type: &KeyType, key: Value) -> Result<String> {
    if is_collection(key_type) {
        let mut raw = Vec::new();
        serialise(key_type, &key, &mut raw)?;
        return Ok(hex::encode(raw));
    }
    Ok(match attribute(key_type, key, Source::Row)? {
        Value::Text(text) => text.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Bool(bool) => bool.to_string(),
        Value::Bytes(bytes) => hex::encode(bytes),
        _ => return Err(Error::corrupt("a key of a map has a type that keys do not have")),
    })
}

fn is_collection(key_type: &KeyType) -> bool {
    use KeyType::{List, Map, Record, Set, Tuple};
    matches!(plain(key_type), List(_) | Set(_) | Map(..) | Tuple(_) | Record(_))
}

/// Returns the key of a map that a name in an item stands for.
pub(super) fn key_of_name(column: &str, key_type: &KeyType, name: &str) -> Result<Value> {
    let bytes = || {
        hex::decode(name).map_err(|_| {
            Error::invalid(format!("a key of the map in column {column} takes hex digits"))
        })
    };
    let attribute = match plain(key_type) {
        own if is_collection(own) => {
            return deserialise(key_type, &bytes()?).map_err(|_| {
                Error::invalid(format!(
                    "a key of the map in column {column} takes the bytes of a value of its type"
                ))
            });
        }
        KeyType::Bool => Value::Bool(name == "true"),
        KeyType::Bytes => Value::Bytes(bytes()?.into()),
        own => match number_of(name) {
            Some(number) if takes_number(own) => Value::Number(number),
            _ => Value::text(name),
        },
    };
    typed(column, key_type, &attribute, Source::Row)
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

/// The kind of row that an attribute comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// A row of cells, or a write into one: what a row is read as can be written back.
    Row,
    /// An item of its own, whose text is no number and whose bytes are none.
    Item,
}

/// Returns the plain serialisation of an attribute for a column of this type.
///
/// # Errors
///
/// * [`crate::ErrorKind::Invalid`]: the column does not take it.
pub(super) fn raw_of(column: &str, key_type: &KeyType, value: &Value) -> Result<Bytes> {
    if matches!(value, Value::Text(text) if text.is_empty()) && *key_type != KeyType::Text {
        // What CQL's value of zero bytes is read as.
        return Ok(Bytes::new());
    }
    raw_from(column, key_type, value, Source::Row)
}

/// Works as [`raw_of`], and looks at where the attribute is from.
pub(super) fn raw_from(
    column: &str,
    key_type: &KeyType,
    value: &Value,
    source: Source,
) -> Result<Bytes> {
    let mut raw = Vec::new();
    let typed = typed(column, key_type, value, source)?;
    serialise(key_type, &typed, &mut raw).map_err(|_| refused(column, key_type, value))?;
    Ok(raw.into())
}

fn typed(column: &str, key_type: &KeyType, value: &Value, source: Source) -> Result<Value> {
    let inner = |inner: &KeyType, value: &Value| typed(column, inner, value, source);
    let is_row = source == Source::Row;
    let found = match (key_type, value) {
        (KeyType::Kinded(plain), value) => return typed(column, plain, value, source),
        (KeyType::Text, Value::Text(_))
        | (KeyType::Bytes, Value::Bytes(_))
        | (KeyType::Bool, Value::Bool(_))
        | (KeyType::Decimal, Value::Number(_)) => Some(value.clone()),
        (KeyType::Decimal, Value::Text(text)) if is_row => wide_number(text).map(Value::Number),
        (KeyType::Integer, Value::Text(text)) if is_row => {
            wide_number(text).as_ref().and_then(whole).map(Value::BigInt)
        }
        (KeyType::Integer, Value::Bytes(bytes)) if is_row => {
            Some(Value::BigInt(BigInt::from_signed_bytes_be(bytes)))
        }
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
        (KeyType::F32, Value::Text(text)) => {
            text.parse().ok().filter(|n: &f32| !n.is_finite()).map(Value::Float32)
        }
        (KeyType::F64, Value::Text(text)) => {
            let wide = || wide_number(text).and_then(|n| n.to_string().parse().ok());
            let no_number = text.parse().ok().filter(|n: &f64| !n.is_finite());
            no_number.or_else(|| wide().filter(|_| is_row)).map(Value::Float)
        }
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

/// Returns the number that a text stands for, if items do not have it as a number.
pub(super) fn wide_number(text: &str) -> Option<Decimal> {
    number_of(text).filter(|number| check_dynamo_number(number).is_err())
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
