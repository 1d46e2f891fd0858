//! Values as plain JSON, for people and pipes.
//!
//! What it is not: DynamoDB's JSON, which is the face's. Here `5` is a number and `"5"` a text.
//! Bytes, UUIDs, times and addresses are written as text.

use anyhow::{anyhow, bail};
use serde_json::{Map, Number, Value as Json};
use shelfmark_keycode::number::{DYNAMO_NUMBER, parse, to_plain};
use shelfmark_model::{Item, KeyType, Value};

/// Longest number that is written in plain digits.
const NUMBER_CHARS_MAX: usize = 200;

/// Writes an item.
pub(crate) fn item_to_json(item: &Item) -> Json {
    Json::Object(item.iter().map(|(name, value)| (name.clone(), to_json(value))).collect())
}

/// Writes a value.
pub(crate) fn to_json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(bool) => Json::Bool(*bool),
        Value::Int(n) => Json::Number((*n).into()),
        Value::BigInt(n) => number(&n.to_string()),
        Value::Number(n) => match to_plain(n, NUMBER_CHARS_MAX) {
            Ok(text) => number(&text),
            Err(_) => Json::String(format!("{}e{}", n.unscaled(), -i64::from(n.scale()))),
        },
        Value::Float32(n) => Number::from_f64(f64::from(*n)).map_or(Json::Null, Json::Number),
        Value::Float(n) => Number::from_f64(*n).map_or(Json::Null, Json::Number),
        Value::Text(text) => Json::String(text.clone()),
        Value::Bytes(bytes) => Json::String(format!("0x{}", hex(bytes))),
        Value::Uuid(uuid) => Json::String(hex(uuid)),
        Value::Timestamp(n) | Value::Time(n) => Json::Number((*n).into()),
        Value::Date(n) => Json::Number((*n).into()),
        Value::Inet(address) => Json::String(address.to_string()),
        Value::Duration { months, days, nanos } => {
            Json::String(format!("{months}mo{days}d{nanos}ns"))
        }
        Value::List(values) | Value::Set(values) => {
            Json::Array(values.iter().map(to_json).collect())
        }
        Value::Map(map) => {
            Json::Object(map.iter().map(|(name, value)| (name.clone(), to_json(value))).collect())
        }
        Value::Pairs(pairs) => Json::Array(
            pairs
                .iter()
                .map(|(key, value)| Json::Array(vec![to_json(key), to_json(value)]))
                .collect(),
        ),
        Value::Tuple(fields) => Json::Array(
            fields.iter().map(|field| field.as_ref().map_or(Json::Null, to_json)).collect(),
        ),
    }
}

fn number(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_else(|_| Json::String(text.to_owned()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads an item; `types` are those of its key attributes.
pub(crate) fn item_from_json(
    text: &str,
    key_type: impl Fn(&str) -> Option<KeyType>,
) -> anyhow::Result<Item> {
    let json: Json = serde_json::from_str(text).map_err(|error| {
        anyhow!("the item is no JSON: {error}; write it as {{\"name\": value}}")
    })?;
    let Json::Object(members) = json else {
        bail!("an item is a JSON object: {{\"name\": value}}");
    };
    members.into_iter().map(|(name, json)| member(&key_type, name, json)).collect()
}

fn member(
    key_type: impl Fn(&str) -> Option<KeyType>,
    name: String,
    json: Json,
) -> anyhow::Result<(String, Value)> {
    let value = match (key_type(&name), &json) {
        (Some(key_type), Json::String(text)) => key_value(&key_type, text)?,
        (Some(key_type), Json::Number(number)) => key_value(&key_type, &number.to_string())?,
        _ => from_json(json)?,
    };
    Ok((name, value))
}

fn from_json(json: Json) -> anyhow::Result<Value> {
    Ok(match json {
        Json::Null => Value::Null,
        Json::Bool(bool) => Value::Bool(bool),
        Json::Number(number) => decimal(&number.to_string())?,
        Json::String(text) => Value::Text(text),
        Json::Array(values) => {
            Value::List(values.into_iter().map(from_json).collect::<anyhow::Result<_>>()?)
        }
        Json::Object(members) => Value::Map(map(members)?),
    })
}

fn map(members: Map<String, Json>) -> anyhow::Result<std::collections::BTreeMap<String, Value>> {
    members.into_iter().map(|(name, json)| Ok((name, from_json(json)?))).collect()
}

fn decimal(text: &str) -> anyhow::Result<Value> {
    Ok(Value::Number(parse(text, &DYNAMO_NUMBER)?))
}

/// Reads a key column's value as people type it.
pub(crate) fn key_value(key_type: &KeyType, text: &str) -> anyhow::Result<Value> {
    let wrong = |_| anyhow!("{text:?} is no whole number, which this key column holds");
    Ok(match key_type {
        KeyType::Text => Value::Text(text.to_owned()),
        KeyType::Decimal => {
            decimal(text).map_err(|error| anyhow!("{text:?} is no number: {error}"))?
        }
        KeyType::Bytes => Value::Bytes(bytes(text)?.into()),
        KeyType::Bool => Value::Bool(text.parse().map_err(|_| anyhow!("use true or false"))?),
        KeyType::Timestamp => Value::Timestamp(text.parse().map_err(wrong)?),
        KeyType::I8
        | KeyType::I16
        | KeyType::I32
        | KeyType::I64
        | KeyType::U8
        | KeyType::U16
        | KeyType::U32
        | KeyType::U64 => Value::Int(text.parse().map_err(wrong)?),
        KeyType::Kinded(inner) => key_value(inner, text)?,
        other => bail!("keys of type {other:?} cannot be typed on the command line"),
    })
}

fn bytes(text: &str) -> anyhow::Result<Vec<u8>> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let pair = |pair: &[u8]| {
        std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok())
    };
    digits
        .as_bytes()
        .chunks(2)
        .map(|two| if two.len() == 2 { pair(two) } else { None })
        .collect::<Option<_>>()
        .ok_or_else(|| anyhow!("{text:?} is no hexadecimal text, which this key column holds"))
}
