//! Converts values to the text in a template's hole and back.

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

/// Returns the value that the codec writes as exactly this text, if there is one.
///
/// What [`escape`] wrote, and numbers with a point and lists, are not read.
pub fn value(text: &str, ty: &Type, codec: Codec) -> Option<Value> {
    let value = match (codec, ty) {
        (Codec::Plain, Type::Text(_) | Type::Enum(_) | Type::Bytes(_)) => {
            Value::Text(text.to_owned())
        }
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

/// Escapes every character up to `$` as `$` and one of `0` to `T`.
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

/// The digits of base64.
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes bytes, which values hold as hexadecimal digits, as base64.
///
/// Source: RFC 4648, section 4.
#[must_use]
pub fn base64_of_hex(hex: &str) -> String {
    let digits: Vec<u32> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
    let bytes: Vec<u32> =
        digits.chunks(2).map(|two| two.iter().fold(0, |all, one| all * 16 + one)).collect();
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let group = (0..3).fold(0, |all, at| all << 8 | three.get(at).copied().unwrap_or(0));
        for at in 0..4 {
            let digit = BASE64.get((group >> (18 - 6 * at) & 63) as usize).copied().unwrap_or(b'A');
            out.push(if at > three.len() { '=' } else { char::from(digit) });
        }
    }
    out
}

/// Decodes base64 to hexadecimal digits; `None` if it is invalid.
#[must_use]
pub fn hex_of_base64(text: &str) -> Option<String> {
    let mut out = String::new();
    for four in text.as_bytes().chunks(4) {
        let own = four.iter().filter(|byte| **byte != b'=');
        let mut count = 0_u32;
        let mut group = 0_u32;
        for byte in own {
            let digit = BASE64.iter().position(|other| other == byte)?;
            group = group << 6 | u32::try_from(digit).ok()?;
            count += 1;
        }
        group <<= 6 * 4_u32.checked_sub(count)?;
        for at in 0..count.checked_sub(1)? {
            out.push_str(&format!("{:02x}", group >> (16 - 8 * at) & 255));
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::{base64_of_hex, hex_of_base64};

    /// Checks the vectors of RFC 4648, section 10.
    #[test]
    fn base64_is_as_written_down() {
        let cases = [
            ("", ""),
            ("66", "Zg=="),
            ("666f", "Zm8="),
            ("666f6f", "Zm9v"),
            ("666f6f62", "Zm9vYg=="),
        ];
        for (hex, text) in cases {
            assert_eq!(base64_of_hex(hex), text);
            assert_eq!(hex_of_base64(text).as_deref(), Some(hex));
        }
        assert_eq!(hex_of_base64("!!!!"), None);
    }
}
