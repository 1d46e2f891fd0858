//! Values of attributes in states.
//!
//! Invariant: the derived order is the order that patterns speak of: numbers by size, texts by
//! code points, identifiers by unsigned bytes. Values of different kinds never meet in a column.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use shelfmark_keycode::calendar::{civil_from_days, days_from_civil};
use shelfmark_keycode::uuid_text;

use super::types::Type;

/// A value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Value {
    /// An optional attribute that is not there.
    Null,
    /// True or false.
    Bool(bool),
    /// Numbers, timestamps (milliseconds since 1970) and dates (days since 1970).
    Int(i64),
    /// UUIDs and ULIDs.
    Id(#[serde(with = "crate::id_digits")] u128),
    /// Texts, and bytes as their hexadecimal digits.
    Text(String),
    /// Lists and sets.
    List(Vec<Value>),
}

impl Value {
    /// Formats the value for people, and for text keys that name no codec.
    pub fn text(&self, ty: &Type) -> String {
        match (self, ty) {
            (Self::Null, _) => String::new(),
            (Self::Bool(value), _) => value.to_string(),
            (Self::Int(days), Type::Date) => {
                let (year, month, day) = civil_from_days(*days);
                format!("{year:04}-{month:02}-{day:02}")
            }
            (Self::Int(value), _) => value.to_string(),
            (Self::Id(value), Type::Ulid) => ulid_text(*value),
            (Self::Id(value), _) => uuid_text(&value.to_be_bytes()),
            (Self::Text(text), _) => text.clone(),
            (Self::List(items), Type::List(element, _)) => {
                let texts: Vec<String> = items.iter().map(|item| item.text(element)).collect();
                texts.join(",")
            }
            (Self::List(items), _) => format!("{} elements", items.len()),
        }
    }

    /// Converts the value to JSON.
    pub fn json(&self, ty: &Type) -> Json {
        match self {
            Self::Null => Json::Null,
            Self::Bool(value) => Json::Bool(*value),
            Self::Int(value) if !matches!(ty, Type::Date) => Json::from(*value),
            Self::List(items) => {
                let element = if let Type::List(element, _) = ty { element } else { ty };
                Json::Array(items.iter().map(|item| item.json(element)).collect())
            }
            other => Json::String(other.text(ty)),
        }
    }
}

impl Value {
    /// Parses the output of [`Value::json`]; `None` if the JSON is no value of the type.
    pub fn of_json(json: &Json, ty: &Type) -> Option<Self> {
        match (json, ty) {
            (Json::Null, _) => Some(Self::Null),
            (Json::Bool(bit), _) => Some(Self::Bool(*bit)),
            (Json::Number(number), _) => number.as_i64().map(Self::Int),
            (Json::String(text), Type::Date) => days_of(text).map(Self::Int),
            (Json::String(text), Type::Uuid) => {
                u128::from_str_radix(&text.replace('-', ""), 16).ok().map(Self::Id)
            }
            (Json::String(text), Type::Ulid) => ulid_of(text).map(Self::Id),
            (Json::String(text), _) => Some(Self::Text(text.clone())),
            (Json::Array(items), Type::List(element, _)) => items
                .iter()
                .map(|item| Self::of_json(item, element))
                .collect::<Option<_>>()
                .map(Self::List),
            _ => None,
        }
    }
}

fn ulid_of(text: &str) -> Option<u128> {
    text.bytes().try_fold(0_u128, |value, byte| {
        let digit = ULID_ALPHABET.iter().position(|other| *other == byte)?;
        value.checked_mul(32)?.checked_add(digit as u128)
    })
}

/// Returns the day number of `yyyy-mm-dd`; the inverse of [`civil_from_days`] where the date exists.
fn days_of(text: &str) -> Option<i64> {
    let mut parts = text.rsplitn(3, '-').map(|part| part.parse::<i32>().map(i64::from));
    let (day, month, year) = (parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
    Some(days_from_civil(year, month, day))
}

const ULID_ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

fn ulid_text(value: u128) -> String {
    (0..26)
        .rev()
        .map(|place| {
            let digit = usize::try_from((value >> (place * 5)) & 31).unwrap_or(0);
            char::from(ULID_ALPHABET.get(digit).copied().unwrap_or(b'0'))
        })
        .collect()
}

/// Parses a UUID (its 32 digits, with or without dashes) or a ULID, as the type says.
pub fn id_value(text: &str, ty: &Type) -> Option<Value> {
    if matches!(ty, Type::Uuid) {
        let hex: String = text.chars().filter(|c| *c != '-').collect();
        let id = (hex.len() == 32).then(|| u128::from_str_radix(&hex, 16).ok())?;
        return id.map(Value::Id);
    }
    let ulid: shelfmark_keycode::Ulid = text.parse().ok()?;
    let mut id: u128 = 0;
    for c in ulid.to_string().bytes() {
        let digit = ULID_ALPHABET.iter().position(|byte| *byte == c)?;
        id = (id << 5) | digit as u128;
    }
    Some(Value::Id(id))
}

/// Returns the ISO text of a timestamp in milliseconds: 24 characters for the years 0 to 9999.
pub fn iso_text(millis: i64) -> String {
    let days = millis.div_euclid(86_400_000);
    let rest = millis.rem_euclid(86_400_000);
    let (year, month, day) = civil_from_days(days);
    let (hour, minute) = (rest / 3_600_000, rest / 60_000 % 60);
    let (second, milli) = (rest / 1_000 % 60, rest % 1_000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// Parses a date (`2021-09-15`) or a time (`2021-09-15T02:00:00.000Z`, of which all behind the date
/// may be left out from the end) as the type says: days or milliseconds since 1970.
pub fn iso_value(text: &str, ty: &Type) -> Option<Value> {
    let (date, time) = text.split_once('T').unwrap_or((text, ""));
    let whole = date.len() == 10 && date.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    // A day that is none comes back as another one.
    let days = days_of(date).filter(|days| Value::Int(*days).text(&Type::Date) == date)?;
    match ty {
        _ if !whole => None,
        Type::Date if !text.contains('T') => Some(Value::Int(days)),
        Type::Timestamp => {
            let time = time.strip_suffix('Z').unwrap_or(time);
            let (clock, millis) = time.split_once('.').unwrap_or((time, ""));
            let mut seconds = 0;
            let most = [23, 59, 59];
            let parts: Vec<&str> = clock.split(':').filter(|part| !part.is_empty()).collect();
            if parts.len() > most.len() || text.ends_with('T') {
                return None;
            }
            for (at, most) in most.iter().enumerate() {
                let part = match parts.get(at) {
                    Some(part) => digits(part, 2).filter(|part| part <= most)?,
                    None => 0,
                };
                seconds = seconds * 60 + part;
            }
            let millis = if millis.is_empty() { 0 } else { digits(millis, 3)? };
            Some(Value::Int(days * 86_400_000 + seconds * 1_000 + millis))
        }
        _ => None,
    }
}

fn digits(text: &str, count: usize) -> Option<i64> {
    let whole = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    if whole { text.parse().ok() } else { None }
}
