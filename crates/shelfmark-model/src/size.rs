//! Computes sizes of items, by the rule that limits and result pages use.
//!
//! Not the bytes on disk: those depend on the codec. The rule is the one DynamoDB applies, so that
//! pages end where its clients expect; other kinds of values are counted in its spirit.
//!
//! Source: the sizes measured on the service, read 2026-11 (a number costs one byte, one per pair
//! of significant digits on each side of the point, and one if it is negative).

use num_bigint::Sign;
use shelfmark_keycode::Decimal;

use crate::item::Item;
use crate::value::Value;

/// Returns the size of an item in bytes: names and values of all attributes.
#[must_use]
pub fn item_size_bytes(item: &Item) -> usize {
    item.iter().map(|(name, value)| attribute_size_bytes(name, value)).sum()
}

/// Returns the size of one attribute in bytes: its name and its value.
#[must_use]
pub fn attribute_size_bytes(name: &str, value: &Value) -> usize {
    name.len() + value_size_bytes(value)
}

fn number_size_bytes(number: &Decimal) -> usize {
    let magnitude = number.magnitude();
    let digits = i64::try_from(magnitude.digits).unwrap_or(i64::MAX);
    // Digits before the point, the zeros after the last digit trimmed, and those behind it.
    let integer = (magnitude.exponent + 1).clamp(0, digits);
    let halves = |digits: i64| usize::try_from((digits + 1) / 2).unwrap_or(usize::MAX);
    let sign = usize::from(number.unscaled().sign() == Sign::Minus);
    1 + halves(integer) + halves(digits - integer) + sign
}

/// Returns the size of a value in bytes.
#[must_use]
pub fn value_size_bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 1,
        Value::Int(_) | Value::Float(_) | Value::Timestamp(_) | Value::Time(_) => 8,
        Value::Float32(_) | Value::Date(_) => 4,
        Value::BigInt(integer) => integer.to_signed_bytes_be().len(),
        Value::Number(number) => number_size_bytes(number),
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::Uuid(_) | Value::Duration { .. } => 16,
        Value::Inet(address) => {
            if address.is_ipv4() {
                4
            } else {
                16
            }
        }
        Value::Set(members) => members.iter().map(value_size_bytes).sum(),
        Value::List(list) => {
            3 + list.iter().map(|value| 1 + value_size_bytes(value)).sum::<usize>()
        }
        Value::Map(map) => {
            3 + map.iter().map(|(name, value)| 1 + attribute_size_bytes(name, value)).sum::<usize>()
        }
        Value::Pairs(pairs) => {
            3 + pairs
                .iter()
                .map(|(key, value)| 1 + value_size_bytes(key) + value_size_bytes(value))
                .sum::<usize>()
        }
        Value::Tuple(fields) => {
            3 + fields
                .iter()
                .map(|field| 1 + field.as_ref().map_or(0, value_size_bytes))
                .sum::<usize>()
        }
    }
}
