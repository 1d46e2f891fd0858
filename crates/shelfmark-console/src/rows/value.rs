//! Writes values of items for reading.

use shelfmark_keycode::uuid_text;
use shelfmark_model::Value;

use crate::limits::SHOWN_CHARS_MAX;

/// Levels of a document that a short form shows.
const DEPTH_MAX: usize = 3;

/// Writes a value on one line, cut where it is long.
pub(crate) fn value_text(value: &Value) -> String {
    let mut out = String::new();
    put(value, &mut out, 0);
    cut(out)
}

/// Cuts a text that is too long for a row of a table.
pub(crate) fn cut(mut text: String) -> String {
    if let Some((at, _)) = text.char_indices().nth(SHOWN_CHARS_MAX) {
        text.truncate(at);
        text.push('…');
    }
    text
}

fn put(value: &Value, out: &mut String, depth: usize) {
    // What is cut off at the end need not be written.
    if out.len() > SHOWN_CHARS_MAX * 4 {
        return;
    }
    if depth > DEPTH_MAX {
        out.push('…');
        return;
    }
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(&value.to_string()),
        Value::Int(value) | Value::Timestamp(value) | Value::Time(value) => {
            out.push_str(&value.to_string());
        }
        Value::BigInt(value) => out.push_str(&value.to_string()),
        Value::Number(value) => out.push_str(&number_text(value)),
        Value::Float32(value) => out.push_str(&value.to_string()),
        Value::Float(value) => out.push_str(&value.to_string()),
        Value::Date(value) => out.push_str(&value.to_string()),
        Value::Text(text) => out.push_str(text),
        Value::Inet(value) => out.push_str(&value.to_string()),
        Value::Duration { months, days, nanos } => {
            out.push_str(&format!("{months}mo{days}d{nanos}ns"));
        }
        Value::Bytes(bytes) => {
            let shown = bytes.get(..SHOWN_CHARS_MAX).unwrap_or(bytes);
            out.push_str(&format!("0x{}", hex::encode(shown)));
        }
        Value::Uuid(bytes) => out.push_str(&uuid_text(bytes)),
        Value::List(values) => list(values.iter(), ('[', ']'), out, depth),
        Value::Set(values) => list(values.iter(), ('{', '}'), out, depth),
        Value::Tuple(fields) => {
            let fields = fields.iter().map(|field| field.as_ref().unwrap_or(&Value::Null));
            list(fields, ('(', ')'), out, depth);
        }
        Value::Map(map) => {
            out.push('{');
            for (at, (name, value)) in map.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                out.push_str(name);
                out.push_str(": ");
                put(value, out, depth + 1);
            }
            out.push('}');
        }
        Value::Pairs(pairs) => {
            out.push('{');
            for (at, (key, value)) in pairs.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                put(key, out, depth + 1);
                out.push_str(": ");
                put(value, out, depth + 1);
            }
            out.push('}');
        }
    }
}

fn list<'v>(
    values: impl Iterator<Item = &'v Value>,
    (open, close): (char, char),
    out: &mut String,
    depth: usize,
) {
    out.push(open);
    for (at, value) in values.enumerate() {
        if out.len() > SHOWN_CHARS_MAX * 4 {
            break;
        }
        out.push_str(if at > 0 { ", " } else { "" });
        put(value, out, depth + 1);
    }
    out.push(close);
}

/// Writes a number without an exponent where that is short.
fn number_text(number: &shelfmark_model::Decimal) -> String {
    const PLAIN_CHARS_MAX: usize = 60;
    shelfmark_keycode::number::to_plain(number, PLAIN_CHARS_MAX)
        .unwrap_or_else(|_| number.to_string())
}

/// Writes a value of DynamoDB's JSON on one line, as [`value_text`] does.
pub(crate) fn item_text(value: &serde_json::Value) -> String {
    let item = super::row::item_of(&format!("{{\"value\":{value}}}"));
    match item.as_ref().ok().and_then(|item| item.get("value")) {
        Some(value) => value_text(value),
        None => cut(value.to_string()),
    }
}
