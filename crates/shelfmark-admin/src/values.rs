//! Converts values to plain JSON and back, for people and pipes.
//!
//! What it is not: DynamoDB's JSON, which is the face's. Here `5` is a number and `"5"` a text.
//! Bytes, UUIDs, times and addresses are written as text.
//!
//! Invariant: numbers keep all their digits, in both directions.

use std::collections::BTreeMap;

use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use shelfmark_keycode::number::{DYNAMO_NUMBER, parse};
use shelfmark_model::text::uuid_text;
use shelfmark_model::{Item, KeyType, Value};

use crate::error::{Error, ErrorKind, Result};

/// Deepest nesting that is parsed. Source: as deep as the engine keeps values.
const DEPTH_MAX: usize = 64;

/// An item that is written as JSON.
struct PlainItem<'a>(&'a Item);

impl Serialize for PlainItem<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> std::result::Result<S::Ok, S::Error> {
        out.collect_map(self.0.iter().map(|(name, value)| (name.as_str(), Plain(value))))
    }
}

/// A value that is written as JSON.
pub(crate) struct Plain<'a>(pub(crate) &'a Value);

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> std::result::Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => out.serialize_unit(),
            Value::Bool(bool) => out.serialize_bool(*bool),
            Value::Int(n) | Value::Timestamp(n) | Value::Time(n) => out.serialize_i64(*n),
            Value::Date(n) => (*n).serialize(out),
            Value::BigInt(n) => number(n.to_string(), out),
            Value::Number(n) => number(n.to_string(), out),
            // What is no number of JSON becomes null.
            Value::Float32(n) => out.serialize_f32(*n),
            Value::Float(n) => out.serialize_f64(*n),
            Value::Text(text) => out.serialize_str(text),
            Value::Bytes(bytes) => out.serialize_str(&format!("0x{}", hex::encode(bytes))),
            Value::Uuid(uuid) => out.serialize_str(&uuid_text(uuid)),
            Value::Inet(address) => out.serialize_str(&address.to_string()),
            Value::Duration { months, days, nanos } => {
                out.serialize_str(&format!("{months}mo{days}d{nanos}ns"))
            }
            Value::List(values) | Value::Set(values) => out.collect_seq(values.iter().map(Plain)),
            Value::Map(map) => {
                out.collect_map(map.iter().map(|(name, value)| (name, Plain(value))))
            }
            Value::Pairs(pairs) => {
                out.collect_seq(pairs.iter().map(|(key, value)| (Plain(key), Plain(value))))
            }
            Value::Tuple(fields) => {
                out.collect_seq(fields.iter().map(|field| field.as_ref().map(Plain)))
            }
        }
    }
}

/// Writes a number with all its digits.
fn number<S: Serializer>(text: String, out: S) -> std::result::Result<S::Ok, S::Error> {
    RawValue::from_string(text).map_err(S::Error::custom)?.serialize(out)
}

/// Returns an item as JSON.
pub(crate) fn json_of(item: &Item) -> Result<Box<RawValue>> {
    serde_json::value::to_raw_value(&PlainItem(item)).map_err(|error| {
        Error::new(ErrorKind::Failed, format!("the item cannot be written as JSON: {error}"))
    })
}

/// Parses an item; `types` are those of its key attributes.
pub(crate) fn item_from_json(
    text: &str,
    key_type: impl Fn(&str) -> Option<KeyType>,
) -> Result<Item> {
    let no_json = |error| {
        Error::invalid(format!("the item is no JSON: {error}; write it as {{\"name\": value}}"))
    };
    let json: &RawValue = serde_json::from_str(text).map_err(no_json)?;
    if !json.get().starts_with('{') {
        return Err(Error::invalid("an item is a JSON object: {\"name\": value}"));
    }
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(json.get()).map_err(no_json)?;
    members.into_iter().map(|(name, json)| member(&key_type, name, json)).collect()
}

fn member(
    key_type: impl Fn(&str) -> Option<KeyType>,
    name: String,
    json: &RawValue,
) -> Result<(String, Value)> {
    let Some(key_type) = key_type(&name) else { return Ok((name, value(json, 0)?)) };
    let text = json.get();
    let read = match text.as_bytes().first() {
        Some(b'"') => key_value(&key_type, &serde_json::from_str::<String>(text)?),
        Some(b'{') => Err(Error::invalid("it is plain JSON, not {\"S\": …} as in DynamoDB's API")),
        Some(b'-' | b'0'..=b'9') if key_type == KeyType::Text => Err(Error::invalid(format!(
            "the key is a text, and {text} is a number; write it as \"{text}\""
        ))),
        Some(b'-' | b'0'..=b'9') => key_value(&key_type, text),
        _ => value(json, 0),
    };
    match read {
        Ok(value) => Ok((name, value)),
        Err(error) => Err(Error::invalid(format!("{name}: {error}"))),
    }
}

/// Parses a value at this depth of nesting.
fn value(json: &RawValue, depth: usize) -> Result<Value> {
    let text = json.get();
    if depth > DEPTH_MAX {
        return Err(Error::invalid(format!("the item is nested more than {DEPTH_MAX} deep")));
    }
    Ok(match text.as_bytes().first() {
        Some(b'n') => Value::Null,
        Some(b't') => Value::Bool(true),
        Some(b'f') => Value::Bool(false),
        Some(b'"') => Value::text(serde_json::from_str::<String>(text)?),
        Some(b'[') => {
            let values: Vec<&RawValue> = serde_json::from_str(text)?;
            let values = values.into_iter().map(|json| value(json, depth + 1));
            Value::List(values.collect::<Result<_>>()?)
        }
        Some(b'{') => {
            let members: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
            let members =
                members.into_iter().map(|(name, json)| Ok((name, value(json, depth + 1)?)));
            Value::Map(members.collect::<Result<_>>()?)
        }
        _ => decimal(text)?,
    })
}

fn decimal(text: &str) -> Result<Value> {
    let number = parse(text, &DYNAMO_NUMBER);
    Ok(Value::Number(
        number
            .map_err(|error| Error::invalid(format!("{text:?} is no number to keep: {error}")))?,
    ))
}

/// Parses a key column's value as people type it.
pub(crate) fn key_value(key_type: &KeyType, text: &str) -> Result<Value> {
    let wrong =
        |_| Error::invalid(format!("{text:?} is no whole number, which this key column holds"));
    Ok(match key_type {
        KeyType::Text => Value::from(text),
        KeyType::Decimal => decimal(text)?,
        KeyType::Bytes => Value::Bytes(bytes(text)?.into()),
        KeyType::Bool => {
            Value::Bool(text.parse().map_err(|_| Error::invalid("use true or false"))?)
        }
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
        other => {
            return Err(Error::invalid(format!(
                "keys of type {other:?} cannot be typed on the command line"
            )));
        }
    })
}

fn bytes(text: &str) -> Result<Vec<u8>> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let pair = |pair: &[u8]| {
        std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok())
    };
    digits
        .as_bytes()
        .chunks(2)
        .map(|two| if two.len() == 2 { pair(two) } else { None })
        .collect::<Option<_>>()
        .ok_or_else(|| {
            Error::invalid(format!("{text:?} is no hexadecimal text, which this key column holds"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_key(name: &str) -> Option<KeyType> {
        (name == "k").then_some(KeyType::Text)
    }

    #[test]
    fn what_is_read_is_written_with_all_its_digits() {
        let text =
            r#"{"a":[1,null,{"b":true}],"k":"x","n":-12345678901234567890.12345678901234567}"#;
        let item = item_from_json(text, text_key).unwrap();
        assert_eq!(serde_json::to_string(&PlainItem(&item)).unwrap(), text);
        let large = item_from_json(r#"{"n":1e100}"#, text_key).unwrap();
        let written = serde_json::to_string(&PlainItem(&large)).unwrap();
        assert_eq!(written, format!("{{\"n\":1{}}}", "0".repeat(100)));
        let uuid: Item = std::iter::once(("u".to_owned(), Value::Uuid([0xab; 16]))).collect();
        let written = serde_json::to_string(&PlainItem(&uuid)).unwrap();
        assert_eq!(written, r#"{"u":"abababab-abab-abab-abab-abababababab"}"#);
    }

    #[test]
    fn what_cannot_be_kept_is_named() {
        let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        let cases = [
            ("", "no JSON"),
            ("[1]", "JSON object"),
            (r#"{"k":"x"} more"#, "no JSON"),
            (r#"{"n":123456789012345678901234567890123456789}"#, "digits"),
            (r#"{"n":1e999}"#, "1e999"),
            (r#"{"k":{"S":"x"}}"#, "plain JSON"),
            (&deep, "nested"),
        ];
        for (text, part) in cases {
            let error = item_from_json(text, text_key).unwrap_err().to_string();
            let shown: String = text.chars().take(60).collect();
            assert!(error.contains(part), "{shown}: {error}");
        }
    }
}
