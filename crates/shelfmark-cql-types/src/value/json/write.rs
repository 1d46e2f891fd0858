//! Values to JSON.

use super::super::format_uuid;
use super::super::number::{
    decimal_parts, decimal_to_scientific, double_to_text, float_to_text, varint_from_bytes,
};
use super::super::time::format_timestamp_json;
use super::super::{CqlType, Native, TYPE_DEPTH_MAX, to_text};
use super::super::{elements, entries, fields, vector_elements};

/// Writes a value as JSON.
#[must_use]
pub fn to_json(ty: &CqlType, value: Option<&[u8]>) -> String {
    let mut out = String::new();
    to_json_into(ty, value, &mut out);
    out
}

/// Appends a value as JSON.
pub fn to_json_into(ty: &CqlType, value: Option<&[u8]>, out: &mut String) {
    put(ty, value, out, 0);
}

fn put(ty: &CqlType, value: Option<&[u8]>, out: &mut String, depth: usize) {
    // The original shows empty values as empty texts, and fails where there is none of them.
    let means = |value: &&[u8]| {
        !value.is_empty()
            || !ty.empty_is_meaningless()
            || matches!(ty, CqlType::Native(native) if *native != Native::Boolean)
    };
    let Some(bytes) = value.filter(means).filter(|_| depth < TYPE_DEPTH_MAX) else {
        out.push_str("null");
        return;
    };
    match ty {
        CqlType::Native(native) => put_native(*native, bytes, out),
        CqlType::Custom(_) => quoted(&format!("0x{}", hex::encode(bytes)), out),
        CqlType::List { element, .. } | CqlType::Set { element, .. } => {
            let values = elements(bytes).into_iter().flatten().flatten();
            put_list(values.map(|value| (element.as_ref(), value)), out, depth);
        }
        CqlType::Vector { element, dimension } => {
            let values = vector_elements(element, *dimension, bytes).unwrap_or_default();
            put_list(values.into_iter().map(|value| (element.as_ref(), Some(value))), out, depth);
        }
        CqlType::Tuple(types) => {
            let mut all = fields(bytes);
            let values = types.iter().map(|ty| (ty, all.next().and_then(Result::ok).flatten()));
            put_list(values, out, depth);
        }
        CqlType::Map { key, value, .. } => {
            out.push('{');
            for (at, (k, v)) in entries(bytes).into_iter().flatten().flatten().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                // A key of JSON is text; what is no text becomes text.
                let mut shown = String::new();
                put(key, k, &mut shown, depth + 1);
                if shown.starts_with('"') {
                    out.push_str(&shown);
                } else {
                    quoted(&shown, out);
                }
                out.push_str(": ");
                put(value, v, out, depth + 1);
            }
            out.push('}');
        }
        CqlType::User { definition, .. } => {
            let mut all = fields(bytes);
            out.push('{');
            for (at, (name, ty)) in definition.fields.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                put_name(name, out);
                out.push_str(": ");
                put(ty, all.next().and_then(Result::ok).flatten(), out, depth + 1);
            }
            out.push('}');
        }
    }
}

/// Appends a column's or field's name as a JSON key; one that CQL folds differently keeps quotes.
pub fn put_name(name: &str, out: &mut String) {
    if name.chars().any(char::is_uppercase) {
        quoted(&format!("\"{name}\""), out);
    } else {
        quoted(name, out);
    }
}

fn put_list<'t, 'v>(
    values: impl Iterator<Item = (&'t CqlType, Option<&'v [u8]>)>,
    out: &mut String,
    depth: usize,
) {
    out.push('[');
    for (at, (ty, value)) in values.enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        put(ty, value, out, depth + 1);
    }
    out.push(']');
}

fn put_native(native: Native, bytes: &[u8], out: &mut String) {
    let ty = CqlType::Native(native);
    match native {
        Native::Ascii | Native::Text => quoted(&String::from_utf8_lossy(bytes), out),
        Native::Blob => quoted(&format!("0x{}", hex::encode(bytes)), out),
        _ if bytes.is_empty() => out.push_str("\"\""),
        Native::Uuid | Native::Timeuuid => quoted(&format_uuid(bytes), out),
        Native::Date | Native::Time | Native::Duration | Native::Inet => {
            quoted(&to_text(&ty, bytes), out);
        }
        Native::Timestamp => match bytes.try_into().map(i64::from_be_bytes) {
            Ok(millis) => quoted(&format_timestamp_json(millis), out),
            Err(_) => out.push_str("null"),
        },
        Native::Decimal => match decimal_parts(bytes) {
            Some(decimal) => out.push_str(&decimal_to_scientific(&decimal)),
            None => out.push_str("null"),
        },
        Native::Varint => out.push_str(&varint_from_bytes(bytes).to_string()),
        Native::Float => match bytes.try_into().map(f32::from_be_bytes) {
            Ok(number) if number.is_finite() => out.push_str(&float_to_text(number)),
            _ => out.push_str("null"),
        },
        Native::Double => match bytes.try_into().map(f64::from_be_bytes) {
            Ok(number) if number.is_finite() => out.push_str(&double_to_text(number)),
            _ => out.push_str("null"),
        },
        Native::Empty => out.push_str("null"),
        Native::Bigint
        | Native::Boolean
        | Native::Counter
        | Native::Int
        | Native::Smallint
        | Native::Tinyint => out.push_str(&to_text(&ty, bytes)),
    }
}

/// Appends text in quotes, escaped.
fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}
