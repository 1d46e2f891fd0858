//! Values as CQL serialises them.
//!
//! Invariant: a value that was bound and read again is the same attribute.

use bytes::Bytes;
use serde_json::{Value as Json, json};
use shelfmark_cql_protocol::BoundValue;
use shelfmark_cql_protocol::types::{CqlType, Native};
use shelfmark_design_language::codec;
use shelfmark_design_language::model::Value;
use shelfmark_design_language::model::types::Type;

/// Returns a value as CQL serialises it for a type.
pub(super) fn bytes_of(value: &Json, kind: &CqlType) -> Option<BoundValue> {
    if value.is_null() {
        return Some(BoundValue::Null);
    }
    serialised(value, kind).map(|bytes| BoundValue::Bytes(bytes.into()))
}

fn serialised(value: &Json, kind: &CqlType) -> Option<Vec<u8>> {
    let native = match kind {
        CqlType::List { element, .. } => {
            let items = value.as_array()?;
            let mut out = i32::try_from(items.len()).ok()?.to_be_bytes().to_vec();
            for item in items {
                let bytes = serialised(item, element)?;
                out.extend(i32::try_from(bytes.len()).ok()?.to_be_bytes());
                out.extend(bytes);
            }
            return Some(out);
        }
        CqlType::Native(native) => native,
        _ => return None,
    };
    let number = || value.as_i64();
    let text = || value.as_str();
    Some(match native {
        Native::Bigint | Native::Counter | Native::Timestamp => number()?.to_be_bytes().to_vec(),
        Native::Int => i32::try_from(number()?).ok()?.to_be_bytes().to_vec(),
        Native::Boolean => vec![u8::from(value.as_bool()?)],
        // A scale of nothing, and the digits.
        Native::Decimal => [&[0; 4][..], &number()?.to_be_bytes()[..]].concat(),
        Native::Uuid => match Value::of_json(value, &Type::Uuid)? {
            Value::Id(id) => id.to_be_bytes().to_vec(),
            _ => return None,
        },
        Native::Date => match Value::of_json(value, &Type::Date)? {
            // Days from the middle of the unsigned numbers.
            Value::Int(days) => u32::try_from(days + (1 << 31)).ok()?.to_be_bytes().to_vec(),
            _ => return None,
        },
        Native::Blob => bytes_of_hex(text()?)?.to_vec(),
        Native::Text | Native::Ascii => text()?.as_bytes().to_vec(),
        _ => return None,
    })
}

/// Returns the bytes of hexadecimal digits.
pub(super) fn bytes_of_hex(text: &str) -> Option<Bytes> {
    let digits = text.as_bytes().chunks(2);
    let byte = |two: &[u8]| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok();
    digits.map(byte).collect()
}

/// Returns bytes as hexadecimal digits.
pub(super) fn hex_of(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads a value as CQL serialises it, as an attribute.
pub(super) fn attribute(bytes: &[u8], ty: &Type, typed: bool) -> Option<Json> {
    let number = |bytes: &[u8]| Some(i64::from_be_bytes(bytes.try_into().ok()?).to_string());
    Some(match ty {
        Type::Uuid => {
            let id = Value::Id(u128::from_be_bytes(bytes.try_into().ok()?));
            json!({ if typed { "U" } else { "S" }: id.text(ty) })
        }
        Type::Bool => json!({ "BOOL": bytes.first() == Some(&1) }),
        Type::Int(_) | Type::Timestamp => json!({ "N": number(bytes)? }),
        Type::Date => {
            // Days from the middle of the unsigned numbers.
            let days = i64::from(u32::from_be_bytes(bytes.try_into().ok()?)) - (1 << 31);
            json!({ "S": Value::Int(days).text(ty) })
        }
        Type::Ulid | Type::Text(_) | Type::Enum(_) => {
            json!({ "S": std::str::from_utf8(bytes).ok()? })
        }
        Type::Bytes(_) => {
            json!({ "B": codec::base64_of_hex(&hex_of(bytes)) })
        }
        Type::List(of, _) => {
            let (count, mut rest) = bytes.split_first_chunk::<4>()?;
            let mut items = Vec::new();
            for _ in 0..u32::from_be_bytes(*count) {
                let (length, behind) = rest.split_first_chunk::<4>()?;
                let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
                items.push(attribute(behind.get(..length)?, of, typed)?);
                rest = behind.get(length..)?;
            }
            json!({ "L": items })
        }
        // States hold whole numbers only; in a key one may come back without its zeros, as 1E+1.
        Type::Decimal(_) => {
            let (scale, digits) = bytes.split_first_chunk::<4>()?;
            let negative = digits.first().is_some_and(|byte| byte & 0x80 != 0);
            let start = if negative { -1_i128 } else { 0 };
            let whole = digits
                .iter()
                .try_fold(start, |sum, byte| Some(sum.checked_mul(256)? + i128::from(*byte)))?;
            let zeros =
                10_i128.checked_pow(i32::from_be_bytes(*scale).checked_neg()?.try_into().ok()?)?;
            json!({ "N": whole.checked_mul(zeros)?.to_string() })
        }
    })
}
