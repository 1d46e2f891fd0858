//! Turns text that a person typed into the value of a key column.

use bytes::Bytes;
use shelfmark_cql_types::{CqlType, from_text};
use shelfmark_keycode::number::{ANY_NUMBER, parse as parse_number};
use shelfmark_keycode::parse_uuid;
use shelfmark_model::{KeyType, Value};

use crate::fault::{Fault, Result};
use crate::limits::KEY_TEXT_BYTES_MAX;
use crate::tables::key_type_text;

/// Parses a key column of items.
pub(super) fn value(column: &str, key_type: &KeyType, text: &str) -> Result<Value> {
    check_length(column, text)?;
    let wrong = || {
        Fault::bad(format!("{column} is of type {}; this is none: {text}", key_type_text(key_type)))
    };
    match key_type {
        KeyType::Text => Ok(Value::text(text)),
        KeyType::Bytes => bytes(text).map(Value::Bytes).ok_or_else(wrong),
        KeyType::Decimal => parse_number(text, &ANY_NUMBER).map(Value::Number).map_err(|_| wrong()),
        KeyType::Bool => text.parse().map(Value::Bool).map_err(|_| wrong()),
        KeyType::I8
        | KeyType::I16
        | KeyType::I32
        | KeyType::I64
        | KeyType::U8
        | KeyType::U16
        | KeyType::U32 => text.parse().map(Value::Int).map_err(|_| wrong()),
        KeyType::Timestamp => text.parse().map(Value::Timestamp).map_err(|_| wrong()),
        KeyType::Uuid | KeyType::CqlUuid | KeyType::CqlTimeUuid => {
            parse_uuid(text).map(Value::Uuid).ok_or_else(wrong)
        }
        KeyType::Kinded(inner) => value(column, inner, text),
        _ => Err(Fault::bad(format!(
            "{column} is of type {}, which cannot be typed here; ask for it in Ask",
            key_type_text(key_type)
        ))),
    }
}

/// Parses a key column of CQL.
pub(super) fn cell(column: &str, kind: &CqlType, text: &str) -> Result<Bytes> {
    check_length(column, text)?;
    let found = from_text(kind, text).map_err(|error| Fault::bad(format!("{column}: {error}")))?;
    Ok(found.into())
}

fn check_length(column: &str, text: &str) -> Result<()> {
    if text.len() <= KEY_TEXT_BYTES_MAX {
        return Ok(());
    }
    Err(Fault::bad(format!("{column}: a key is typed with at most {KEY_TEXT_BYTES_MAX} bytes")))
}

/// Parses bytes: hexadecimal digits behind `0x`, or text as it is.
fn bytes(text: &str) -> Option<Bytes> {
    match text.strip_prefix("0x") {
        Some(digits) => hex::decode(digits).ok().map(Bytes::from),
        None => Some(Bytes::copy_from_slice(text.as_bytes())),
    }
}

/// Returns the least text above all that begin with a prefix; `None` if there is none.
pub(super) fn text_after(prefix: &str) -> Option<String> {
    let mut chars: Vec<char> = prefix.chars().collect();
    while let Some(last) = chars.pop() {
        // The characters between are no text of their own.
        let next = if last == '\u{d7ff}' { 0xe000 } else { u32::from(last) + 1 };
        if let Some(next) = char::from_u32(next) {
            chars.push(next);
            return Some(chars.into_iter().collect());
        }
    }
    None
}
