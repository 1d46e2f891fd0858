//! From values to the text in a template's hole.

use shelfmark_keycode::lexint;

use crate::model::schema::Codec;
use crate::model::types::Type;
use crate::model::value::{Value, id_value, iso_text, iso_value};

/// Characters up to this one are escaped by `esc`, so that every usual delimiter sorts below.
pub const ESCAPED_MAX: u8 = b'$';

/// Returns the text, or `None` when the codec cannot write the value.
pub fn text(value: &Value, ty: &Type, codec: Codec) -> Option<String> {
    match (codec, value) {
        (_, Value::Null) => None,
        (Codec::Plain | Codec::Native, value) => Some(value.text(ty)),
        (Codec::Pad(width), Value::Int(n)) => {
            Some(format!("{n:0width$}", width = usize::from(width)))
        }
        (Codec::Lexint, Value::Int(n)) => Some(lexint::to_hex(u64::try_from(*n).ok()?)),
        (Codec::Iso, Value::Int(at)) => Some(iso_text(*at)),
        (Codec::Esc, Value::Text(text)) => Some(escape(text)),
        _ => None,
    }
}

/// Returns the value that the codec writes as exactly this text, or `None` when it writes none so.
///
/// What [`escape`] wrote, and bytes, numbers with a point and lists, are not read.
pub fn value(text: &str, ty: &Type, codec: Codec) -> Option<Value> {
    let value = match (codec, ty) {
        (Codec::Plain, Type::Text(_) | Type::Enum(_)) => Value::Text(text.to_owned()),
        (Codec::Plain | Codec::Pad(_), Type::Int(_)) | (Codec::Plain, Type::Timestamp) => {
            Value::Int(text.parse().ok()?)
        }
        (Codec::Plain, Type::Bool) => Value::Bool(text.parse().ok()?),
        (Codec::Plain, Type::Date) | (Codec::Iso, Type::Timestamp) => iso_value(text, ty)?,
        (Codec::Plain, Type::Uuid | Type::Ulid) => id_value(text, ty)?,
        _ => return None,
    };
    let same = self::text(&value, ty, codec).as_deref() == Some(text);
    (same && ty.holds(&value)).then_some(value)
}

/// Writes every character up to `$` as `$` and one of `0` to `T`.
///
/// The order of texts is kept, and nothing below `$` is left, so a delimiter such as `#` ends the
/// text and sorts below whatever would continue it.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match u8::try_from(c) {
            Ok(byte) if byte <= ESCAPED_MAX => {
                out.push('$');
                out.push(char::from(b'0' + byte));
            }
            _ => out.push(c),
        }
    }
    out
}
