//! Values as text: what a quoted or plain constant means for a type, and how a value is shown.

use super::composite::composite_from_text;
use super::key::inet;
use super::number::{
    decimal_parts, decimal_to_plain, double_to_text, float_to_text, parse_decimal, parse_varint,
    varint_from_bytes, varint_to_bytes,
};
use super::time::{
    format_date, format_time, format_timestamp_utc, parse_date, parse_duration, parse_time,
    parse_timestamp, take_duration,
};
use super::too_deep;
use super::{
    CqlType, MarshalError, Native, Result, TYPE_DEPTH_MAX, decimal_from_parts, format_uuid,
    maybe_quote, parse_uuid,
};
use super::{elements, entries, fields, vector_elements};

/// Serialises what the text of a constant, without its quotes, means for the type.
///
/// # Errors
///
/// It means nothing. The text names it.
pub fn from_text(ty: &CqlType, text: &str) -> Result<Vec<u8>> {
    from_text_at(ty, text, 0)
}

/// Works as [`from_text`], inside of so many composites.
pub(super) fn from_text_at(ty: &CqlType, text: &str, depth: usize) -> Result<Vec<u8>> {
    if depth > TYPE_DEPTH_MAX {
        return Err(too_deep());
    }
    match ty {
        CqlType::Native(native) => native_from_text(*native, text),
        CqlType::Custom(class) => composite_from_text(class, text, depth).unwrap_or_else(|| {
            hex::decode(text)
                .ok()
                .ok_or_else(|| MarshalError::new(format!("cannot parse '{text}' as hex bytes")))
        }),
        _ => match hex::decode(text) {
            Ok(bytes) if super::validate(ty, &bytes).is_ok() => Ok(bytes),
            Ok(_) => {
                Err(MarshalError::new(format!("cannot parse '{text}' as a value of type {ty}")))
            }
            Err(_) => Err(MarshalError::new(format!("cannot parse '{text}' as hex bytes"))),
        },
    }
}

fn native_from_text(native: Native, text: &str) -> Result<Vec<u8>> {
    let fail = |what: &str| MarshalError::new(format!("Unable to make {what} from '{text}'"));
    let optional = !matches!(native, Native::Ascii | Native::Text | Native::Blob | Native::Empty);
    if optional && text.is_empty() {
        return match native {
            Native::Date => {
                Err(MarshalError::new("Unable to coerce '' to a formatted date (long)"))
            }
            Native::Time => {
                Err(MarshalError::new("(TimeType) Unable to coerce '' to a formatted time (long)"))
            }
            _ => Ok(Vec::new()),
        };
    }
    Ok(match native {
        Native::Ascii => {
            if !text.is_ascii() {
                return Err(MarshalError::new(
                    "Invalid ASCII character in string literal: java.nio.charset.UnmappableCharacterException: Input length = 1",
                ));
            }
            text.as_bytes().to_vec()
        }
        Native::Text => text.as_bytes().to_vec(),
        Native::Blob => hex::decode(text)
            .ok()
            .ok_or_else(|| MarshalError::new(format!("cannot parse '{text}' as hex bytes")))?,
        Native::Boolean => match text.to_ascii_lowercase().as_str() {
            "true" => vec![1],
            "false" => vec![0],
            _ => return Err(fail("boolean")),
        },
        Native::Tinyint => text.parse::<i8>().map_err(|_| fail("byte"))?.to_be_bytes().to_vec(),
        Native::Smallint => text.parse::<i16>().map_err(|_| fail("short"))?.to_be_bytes().to_vec(),
        Native::Int => text.parse::<i32>().map_err(|_| fail("int"))?.to_be_bytes().to_vec(),
        Native::Bigint | Native::Counter => {
            text.parse::<i64>().map_err(|_| fail("long"))?.to_be_bytes().to_vec()
        }
        Native::Float => parse_f32(text).ok_or_else(|| fail("float"))?.to_be_bytes().to_vec(),
        Native::Double => parse_f64(text).ok_or_else(|| fail("double"))?.to_be_bytes().to_vec(),
        Native::Varint => varint_to_bytes(&parse_varint(text)?),
        Native::Decimal => {
            let decimal = parse_decimal(text)?;
            decimal_from_parts(decimal.unscaled(), decimal.scale())
        }
        Native::Uuid => parse_uuid(text).ok_or_else(|| fail("UUID"))?.to_vec(),
        Native::Timeuuid => {
            let unknown = || MarshalError::new(format!("Unknown timeuuid representation: {text}"));
            let uuid = parse_uuid(text).ok_or_else(unknown)?;
            if uuid.get(6).is_none_or(|byte| byte & 0xF0 != 0x10) {
                return Err(MarshalError::new("TimeUUID supports only version 1 UUIDs"));
            }
            uuid.to_vec()
        }
        Native::Inet => match bare_address(text).parse() {
            Ok(std::net::IpAddr::V4(address)) => address.octets().to_vec(),
            // As in Java, an address of version 4 is one, however it is written.
            Ok(std::net::IpAddr::V6(address)) => match address.to_ipv4_mapped() {
                Some(mapped) => mapped.octets().to_vec(),
                None => address.octets().to_vec(),
            },
            Err(_) if text.eq_ignore_ascii_case("localhost") => vec![127, 0, 0, 1],
            Err(_) => short_ipv4(text).ok_or_else(|| fail("inet address"))?.to_vec(),
        },
        Native::Timestamp => parse_timestamp(text)?.to_be_bytes().to_vec(),
        Native::Date => parse_date(text)?.to_be_bytes().to_vec(),
        Native::Time => parse_time(text)?.to_be_bytes().to_vec(),
        Native::Duration => parse_duration(text)?.to_bytes(),
        Native::Empty if text.is_empty() => Vec::new(),
        Native::Empty => return Err(MarshalError::new(format!("'{text}' is not empty"))),
    })
}

/// Returns an address without the brackets and the zone that one of version 6 may have.
fn bare_address(text: &str) -> &str {
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let inner = inner.filter(|own| own.contains(':')).unwrap_or(text);
    match inner.split_once('%') {
        Some((address, _)) if address.contains(':') => address,
        _ => inner,
    }
}

/// Returns an address of version 4 with fewer than four parts, as Java reads them: the last part
/// fills the bytes that are left.
fn short_ipv4(text: &str) -> Option<[u8; 4]> {
    let mut parts: Vec<&str> = text.split('.').collect();
    if parts.len() > 4 || !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let last: u32 = parts.pop()?.parse().ok()?;
    let left = 8 * (4 - parts.len());
    if u64::from(last) >> left != 0 {
        return None;
    }
    let mut out = last.to_be_bytes();
    for (part, byte) in parts.into_iter().zip(&mut out) {
        *byte = part.parse().ok()?;
    }
    Some(out)
}

/// Parses a double as Java does: `NaN` and `Infinity`, and none of Rust's own names.
fn parse_f64(text: &str) -> Option<f64> {
    match without_blanks(text) {
        "NaN" | "-NaN" => Some(f64::NAN),
        "Infinity" | "+Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        text => plain_float(text)?.parse().ok(),
    }
}

fn parse_f32(text: &str) -> Option<f32> {
    match without_blanks(text) {
        "NaN" | "-NaN" => Some(f32::NAN),
        "Infinity" | "+Infinity" => Some(f32::INFINITY),
        "-Infinity" => Some(f32::NEG_INFINITY),
        text => plain_float(text)?.parse().ok(),
    }
}

/// Returns a text without the blanks around it, which Java skips before numbers with a point.
fn without_blanks(text: &str) -> &str {
    text.trim_matches(|c: char| c <= ' ')
}

fn plain_float(text: &str) -> Option<&str> {
    let digits =
        text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
    digits.then_some(text)
}

/// Writes a value as text, as `CAST(… AS text)` does; of collections, their bytes as hex.
#[must_use]
pub fn to_text(ty: &CqlType, bytes: &[u8]) -> String {
    match ty {
        CqlType::Native(native) => {
            native_to_text(*native, bytes).unwrap_or_else(|| hex::encode(bytes))
        }
        _ => hex::encode(bytes),
    }
}

fn native_to_text(native: Native, bytes: &[u8]) -> Option<String> {
    if bytes.is_empty() {
        return Some(String::new());
    }
    Some(match native {
        Native::Ascii | Native::Text => String::from_utf8_lossy(bytes).into_owned(),
        Native::Blob | Native::Empty => hex::encode(bytes),
        Native::Boolean => (*bytes.first()? != 0).to_string(),
        Native::Tinyint => i8::from_be_bytes(bytes.try_into().ok()?).to_string(),
        Native::Smallint => i16::from_be_bytes(bytes.try_into().ok()?).to_string(),
        Native::Int => i32::from_be_bytes(bytes.try_into().ok()?).to_string(),
        Native::Bigint | Native::Counter => i64::from_be_bytes(bytes.try_into().ok()?).to_string(),
        Native::Float => float_to_text(f32::from_be_bytes(bytes.try_into().ok()?)),
        Native::Double => double_to_text(f64::from_be_bytes(bytes.try_into().ok()?)),
        Native::Varint => varint_from_bytes(bytes).to_string(),
        Native::Decimal => decimal_to_plain(&decimal_parts(bytes)?),
        Native::Uuid | Native::Timeuuid => format_uuid(bytes),
        Native::Inet => match inet(bytes)? {
            std::net::IpAddr::V4(address) => address.to_string(),
            // Java writes all eight groups, and of an address of version 4 that one.
            std::net::IpAddr::V6(address) => {
                if let Some(mapped) = address.to_ipv4_mapped() {
                    return Some(mapped.to_string());
                }
                let groups: Vec<String> =
                    address.segments().iter().map(|group| format!("{group:x}")).collect();
                groups.join(":")
            }
        },
        Native::Timestamp => format_timestamp_utc(i64::from_be_bytes(bytes.try_into().ok()?)),
        Native::Date => format_date(u32::from_be_bytes(bytes.try_into().ok()?)),
        Native::Time => format_time(i64::from_be_bytes(bytes.try_into().ok()?)),
        Native::Duration => take_duration(bytes).ok()?.to_text(),
    })
}

/// Writes a value as a constant of CQL that means it.
#[must_use]
pub fn to_literal(ty: &CqlType, value: Option<&[u8]>) -> String {
    let Some(bytes) = value else { return "null".to_owned() };
    let joined =
        |parts: Vec<String>, open: &str, close: &str| format!("{open}{}{close}", parts.join(", "));
    match ty {
        CqlType::Native(native) => native_literal(*native, bytes),
        CqlType::Custom(_) => format!("0x{}", hex::encode(bytes)),
        CqlType::List { element, .. } => joined(element_literals(element, bytes), "[", "]"),
        CqlType::Set { element, .. } => joined(element_literals(element, bytes), "{", "}"),
        CqlType::Map { key, value, .. } => {
            let parts = entries(bytes).into_iter().flatten().flatten();
            let parts =
                parts.map(|(k, v)| format!("{}: {}", to_literal(key, k), to_literal(value, v)));
            joined(parts.collect(), "{", "}")
        }
        CqlType::Tuple(types) => {
            let mut all = fields(bytes);
            let mut next = || all.next().and_then(Result::ok).flatten();
            joined(types.iter().map(|ty| to_literal(ty, next())).collect(), "(", ")")
        }
        CqlType::User { definition, .. } => {
            let mut all = fields(bytes);
            let mut next = || all.next().and_then(Result::ok).flatten();
            let parts = definition
                .fields
                .iter()
                .map(|(name, ty)| format!("{}: {}", maybe_quote(name), to_literal(ty, next())));
            joined(parts.collect(), "{", "}")
        }
        CqlType::Vector { element, dimension } => {
            let parts = vector_elements(element, *dimension, bytes).unwrap_or_default();
            joined(
                parts.into_iter().map(|part| to_literal(element, Some(part))).collect(),
                "[",
                "]",
            )
        }
    }
}

fn element_literals(element: &CqlType, bytes: &[u8]) -> Vec<String> {
    elements(bytes)
        .into_iter()
        .flatten()
        .flatten()
        .map(|value| to_literal(element, value))
        .collect()
}

fn native_literal(native: Native, bytes: &[u8]) -> String {
    if let (Native::Inet, Some(address)) = (native, inet(bytes)) {
        return format!("'{address}'");
    }
    let text = to_text(&CqlType::Native(native), bytes);
    match native {
        Native::Ascii | Native::Text => format!("'{}'", text.replace('\'', "''")),
        Native::Blob | Native::Empty => format!("0x{text}"),
        Native::Timestamp | Native::Date | Native::Time | Native::Inet => format!("'{text}'"),
        _ => text,
    }
}
