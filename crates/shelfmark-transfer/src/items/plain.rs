//! Items as plain JSON, a line each: `{"pk": "a", "n": 5, "tags": {"$set": ["x"]}}`.
//!
//! Texts, numbers, truth values, null, lists and maps are JSON's own. What JSON has not is an object with one
//! member: `$binary` with base64, `$set` with members, and `$map` around a map that would be taken for one
//! of these. What it is not: the JSON of `shelfmark scan`, which is for people and forgets types.
//!
//! Invariant: what was written reads back as it was, and numbers keep all their digits.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::ser::{Error as _, SerializeMap as _};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use shelfmark_keycode::number::{DYNAMO_NUMBER, parse};
use shelfmark_model::{Item, Value};

/// The names of the members that stand for what JSON has not.
const BINARY: &str = "$binary";
const SET: &str = "$set";
const MAP: &str = "$map";

/// Deepest nesting that is read: the service's 32 levels, with two of JSON for each.
const DEPTH_MAX: usize = 80;

struct PlainItem<'a>(&'a Item);

struct Plain<'a>(&'a Value);

/// A member that stands for what JSON has not.
struct Tagged<'a, T: Serialize + ?Sized>(&'static str, &'a T);

impl<T: Serialize + ?Sized> Serialize for Tagged<'_, T> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut map = out.serialize_map(Some(1))?;
        map.serialize_entry(self.0, self.1)?;
        map.end()
    }
}

struct Members<'a>(&'a [Value]);

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(self.0.iter().map(Plain))
    }
}

struct Fields<'a>(&'a BTreeMap<String, Value>);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_map(self.0.iter().map(|(name, value)| (name, Plain(value))))
    }
}

impl Serialize for PlainItem<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_map(self.0.iter().map(|(name, value)| (name.as_str(), Plain(value))))
    }
}

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => out.serialize_unit(),
            Value::Bool(value) => out.serialize_bool(*value),
            Value::Number(number) => {
                let text = shelfmark_keycode::number::to_plain(number, NUMBER_CHARS_MAX);
                let text = text.map_err(S::Error::custom)?;
                RawValue::from_string(text).map_err(S::Error::custom)?.serialize(out)
            }
            Value::Text(text) => out.serialize_str(text),
            Value::Bytes(bytes) => Tagged(BINARY, STANDARD.encode(bytes).as_str()).serialize(out),
            Value::List(values) => Members(values).serialize(out),
            Value::Set(values) => Tagged(SET, &Members(values)).serialize(out),
            Value::Map(map) if is_like_tagged(map) => Tagged(MAP, &Fields(map)).serialize(out),
            Value::Map(map) => Fields(map).serialize(out),
            other => Err(S::Error::custom(format!("a value of kind {:?}", other.kind()))),
        }
    }
}

/// Longest number in text: 38 digits behind 130 zeros, and a sign.
const NUMBER_CHARS_MAX: usize = 200;

fn is_like_tagged(map: &BTreeMap<String, Value>) -> bool {
    map.len() == 1 && map.keys().all(|name| matches!(name.as_str(), BINARY | SET | MAP))
}

/// Returns an item as one line, without its end.
///
/// # Errors
///
/// * A value that no item of DynamoDB has, as a message.
pub(crate) fn line_of(item: &Item) -> Result<String, String> {
    serde_json::to_string(&PlainItem(item)).map_err(|error| error.to_string())
}

/// Parses a line.
///
/// # Errors
///
/// * What is wrong with it, as a message.
pub(crate) fn item_of(line: &str) -> Result<Item, String> {
    let no_json = |error: serde_json::Error| format!("it is no JSON: {error}");
    let members: Unique<'_> = serde_json::from_str(line).map_err(no_json)?;
    let members = members.0.into_iter().map(|(name, json)| {
        let value = value_of(json.get(), 0).map_err(|why| format!("{name}: {why}"))?;
        Ok((name, value))
    });
    members.collect()
}

/// The members of an object, each name once.
struct Unique<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> serde::Deserialize<'de> for Unique<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Visit;
        impl<'de> serde::de::Visitor<'de> for Visit {
            type Value = Unique<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object such as {\"name\": value}")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Unique<'de>, A::Error> {
                let mut found: Vec<(String, &RawValue)> = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                    found.push((name, value));
                }
                let mut names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
                names.sort_unstable();
                match names.windows(2).find(|two| two.first() == two.last()) {
                    Some(two) => {
                        Err(serde::de::Error::custom(format!("{two:?} is one name twice")))
                    }
                    None => Ok(Unique(found)),
                }
            }
        }
        input.deserialize_map(Visit)
    }
}

fn value_of(text: &str, depth: usize) -> Result<Value, String> {
    let wrong = |error: serde_json::Error| error.to_string();
    if depth > DEPTH_MAX {
        return Err(format!("it is nested more than {DEPTH_MAX} deep"));
    }
    Ok(match text.as_bytes().first() {
        Some(b'n') => Value::Null,
        Some(b't') => Value::Bool(true),
        Some(b'f') => Value::Bool(false),
        Some(b'"') => Value::text(serde_json::from_str::<String>(text).map_err(wrong)?),
        Some(b'[') => Value::List(values_of(text, depth + 1)?),
        Some(b'{') => {
            let members: Unique<'_> = serde_json::from_str(text).map_err(wrong)?;
            match members.0.as_slice() {
                [(name, json)] if name == BINARY => binary(json.get())?,
                [(name, json)] if name == SET => set(values_of(json.get(), depth + 1)?)?,
                [(name, json)] if name == MAP => {
                    let inner: Unique<'_> = serde_json::from_str(json.get()).map_err(wrong)?;
                    map_of(inner, depth + 1)?
                }
                _ => map_of(members, depth + 1)?,
            }
        }
        _ => Value::Number(
            parse(text, &DYNAMO_NUMBER)
                .map_err(|error| format!("{text} is no number that can be kept: {error}"))?,
        ),
    })
}

fn values_of(text: &str, depth: usize) -> Result<Vec<Value>, String> {
    let values: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    values.into_iter().map(|json| value_of(json.get(), depth)).collect()
}

fn map_of(members: Unique<'_>, depth: usize) -> Result<Value, String> {
    let members =
        members.0.into_iter().map(|(name, json)| Ok((name, value_of(json.get(), depth)?)));
    Ok(Value::Map(members.collect::<Result<_, String>>()?))
}

fn binary(text: &str) -> Result<Value, String> {
    let text: String = serde_json::from_str(text)
        .map_err(|_| format!("{BINARY} stands before a text of base64"))?;
    let bytes =
        STANDARD.decode(&text).map_err(|error| format!("{text:?} is no base64: {error}"))?;
    Ok(Value::Bytes(bytes.into()))
}

fn set(members: Vec<Value>) -> Result<Value, String> {
    let count = members.len();
    let kind = members.first().map(Value::kind);
    let is_one_kind = members.iter().all(|own| Some(own.kind()) == kind);
    let is_set =
        matches!(members.first(), Some(Value::Text(_) | Value::Number(_) | Value::Bytes(_)));
    if !is_set || !is_one_kind {
        return Err(format!(
            "{SET} stands before texts, numbers or binaries, at least one, of one kind"
        ));
    }
    match Value::set(members) {
        Value::Set(distinct) if distinct.len() == count => Ok(Value::Set(distinct)),
        _ => Err(format!("a member of {SET} is there twice")),
    }
}
