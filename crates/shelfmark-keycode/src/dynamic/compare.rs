//! Defines the order of values without their bytes.
//!
//! What it is not: it does not share code with the encoders, because tests hold one against the
//! other.

use std::cmp::Ordering;

use super::{KEY_DEPTH_MAX, KeyType, KeyValue};

/// Compares two values of one type, ascending; this defines the order of keys.
///
/// Values that are not of the type come after those that are and are equal among themselves, and
/// so are parts nested deeper than [`KEY_DEPTH_MAX`]; [`encode`](crate::encode) refuses both.
#[must_use]
pub fn compare(key_type: &KeyType, left: &KeyValue, right: &KeyValue) -> Ordering {
    compare_at(key_type, left, right, 0)
}

fn compare_at(key_type: &KeyType, left: &KeyValue, right: &KeyValue, depth: usize) -> Ordering {
    use KeyValue as V;

    if depth >= KEY_DEPTH_MAX {
        return Ordering::Equal;
    }
    match (key_type, left, right) {
        (KeyType::Text, V::Text(a), V::Text(b)) => a.chars().cmp(b.chars()),
        (KeyType::Bytes, V::Bytes(a), V::Bytes(b)) => a.cmp(b),
        (KeyType::Bool, V::Bool(a), V::Bool(b)) => a.cmp(b),
        (KeyType::I8, V::I8(a), V::I8(b)) => a.cmp(b),
        (KeyType::I16, V::I16(a), V::I16(b)) => a.cmp(b),
        (KeyType::I32, V::I32(a), V::I32(b)) => a.cmp(b),
        (KeyType::I64, V::I64(a), V::I64(b))
        | (KeyType::Time, V::Time(a), V::Time(b))
        | (KeyType::Timestamp, V::Timestamp(a), V::Timestamp(b)) => a.cmp(b),
        (KeyType::I128, V::I128(a), V::I128(b)) => a.cmp(b),
        (KeyType::U8, V::U8(a), V::U8(b)) => a.cmp(b),
        (KeyType::U16, V::U16(a), V::U16(b)) => a.cmp(b),
        (KeyType::U32, V::U32(a), V::U32(b)) | (KeyType::Date, V::Date(a), V::Date(b)) => a.cmp(b),
        (KeyType::U64, V::U64(a), V::U64(b)) => a.cmp(b),
        (KeyType::U128, V::U128(a), V::U128(b)) => a.cmp(b),
        (KeyType::Integer, V::Integer(a), V::Integer(b)) => a.cmp(b),
        (KeyType::Decimal, V::Decimal(a), V::Decimal(b)) => a.cmp(b),
        (KeyType::F32, V::F32(a), V::F32(b)) => a.total_cmp(b),
        (KeyType::F64, V::F64(a), V::F64(b)) => a.total_cmp(b),
        (KeyType::Inet, V::Inet(a), V::Inet(b)) => inet_bytes(a).cmp(&inet_bytes(b)),
        (KeyType::Uuid, V::Uuid(a), V::Uuid(b)) => a.cmp(b),
        (KeyType::CqlUuid, V::Uuid(a), V::Uuid(b)) => compare_cql_uuid(a, b),
        (KeyType::CqlTimeUuid, V::Uuid(a), V::Uuid(b)) => compare_cql_timeuuid(a, b),
        _ => compare_nested(key_type, left, right, depth),
    }
}

fn compare_nested(key_type: &KeyType, left: &KeyValue, right: &KeyValue, depth: usize) -> Ordering {
    use KeyValue as V;

    match (key_type, left, right) {
        (KeyType::Tuple(types) | KeyType::Record(types), V::Tuple(a), V::Tuple(b)) => types
            .iter()
            .zip(a.iter().zip(b))
            .map(|(field, (a, b))| compare_at(field, a, b, depth + 1))
            .find(|order| order.is_ne())
            .unwrap_or_else(|| a.len().cmp(&b.len())),
        (KeyType::List(element), V::List(a), V::List(b))
        | (KeyType::Set(element), V::Set(a), V::Set(b)) => a
            .iter()
            .zip(b)
            .map(|(a, b)| compare_at(element, a, b, depth + 1))
            .find(|order| order.is_ne())
            .unwrap_or_else(|| a.len().cmp(&b.len())),
        (KeyType::Map(key, value), V::Map(a), V::Map(b)) => a
            .iter()
            .zip(b)
            .map(|((key_a, value_a), (key_b, value_b))| {
                compare_at(key, key_a, key_b, depth + 1)
                    .then_with(|| compare_at(value, value_a, value_b, depth + 1))
            })
            .find(|order| order.is_ne())
            .unwrap_or_else(|| a.len().cmp(&b.len())),
        (KeyType::Kinded(inner), a, b) => {
            kind_rank(a).cmp(&kind_rank(b)).then_with(|| match (a, b) {
                (V::Null, V::Null) | (V::Empty, V::Empty) => Ordering::Equal,
                // A kinded type in a kinded type has no keys.
                _ if matches!(**inner, KeyType::Kinded(_)) => Ordering::Equal,
                _ => compare_at(inner, a, b, depth),
            })
        }
        (ty, a, b) => is_foreign(ty, a).cmp(&is_foreign(ty, b)),
    }
}

const fn kind_rank(value: &KeyValue) -> u8 {
    match value {
        KeyValue::Null => 0,
        KeyValue::Empty => 1,
        _ => 2,
    }
}

/// Returns true if the value is not of the type, by the outermost level only.
fn is_foreign(key_type: &KeyType, value: &KeyValue) -> bool {
    use KeyValue as V;

    !matches!(
        (key_type, value),
        (KeyType::Text, V::Text(_))
            | (KeyType::Bytes, V::Bytes(_))
            | (KeyType::Bool, V::Bool(_))
            | (KeyType::I8, V::I8(_))
            | (KeyType::I16, V::I16(_))
            | (KeyType::I32, V::I32(_))
            | (KeyType::I64, V::I64(_))
            | (KeyType::I128, V::I128(_))
            | (KeyType::U8, V::U8(_))
            | (KeyType::U16, V::U16(_))
            | (KeyType::U32, V::U32(_))
            | (KeyType::U64, V::U64(_))
            | (KeyType::U128, V::U128(_))
            | (KeyType::Integer, V::Integer(_))
            | (KeyType::Decimal, V::Decimal(_))
            | (KeyType::F32, V::F32(_))
            | (KeyType::F64, V::F64(_))
            | (KeyType::Date, V::Date(_))
            | (KeyType::Time, V::Time(_))
            | (KeyType::Timestamp, V::Timestamp(_))
            | (KeyType::Inet, V::Inet(_))
            | (KeyType::Uuid | KeyType::CqlUuid | KeyType::CqlTimeUuid, V::Uuid(_))
            | (KeyType::Tuple(_) | KeyType::Record(_), V::Tuple(_))
            | (KeyType::List(_), V::List(_))
            | (KeyType::Set(_), V::Set(_))
            | (KeyType::Map(_, _), V::Map(_))
    )
}

fn inet_bytes(address: &std::net::IpAddr) -> Vec<u8> {
    match address {
        std::net::IpAddr::V4(address) => address.octets().to_vec(),
        std::net::IpAddr::V6(address) => address.octets().to_vec(),
    }
}

/// Returns the 60-bit time of a version 1 UUID, with the version in front of it.
fn version_and_time(uuid: &[u8; 16]) -> [u8; 8] {
    let [a, b, c, d, e, f, g, h, ..] = *uuid;
    [g, h, e, f, a, b, c, d]
}

fn compare_cql_uuid(left: &[u8; 16], right: &[u8; 16]) -> Ordering {
    let version = |uuid: &[u8; 16]| {
        let [.., v, _, _, _, _, _, _, _, _, _] = *uuid;
        v >> 4
    };
    version(left).cmp(&version(right)).then_with(|| {
        let by_time = match version(left) {
            1 => version_and_time(left).cmp(&version_and_time(right)),
            _ => Ordering::Equal,
        };
        by_time.then_with(|| left.cmp(right))
    })
}

fn compare_cql_timeuuid(left: &[u8; 16], right: &[u8; 16]) -> Ordering {
    let signed = |uuid: &[u8; 16]| {
        let [.., a, b, c, d, e, f, g, h] = *uuid;
        [a, b, c, d, e, f, g, h].map(u8::cast_signed)
    };
    version_and_time(left)
        .cmp(&version_and_time(right))
        .then_with(|| signed(left).cmp(&signed(right)))
}
