//! The order of a type's values: what sorts sets, map keys and clustering columns, and what
//! conditions compare by.

use std::cmp::Ordering;

use shelfmark_keycode::{KeyType, KeyValue};

use super::number::{decimal_parts, varint_from_bytes};
use super::{CqlType, Native, TYPE_DEPTH_MAX};
use super::{elements, entries, fields, vector_elements};

/// Compares two values of one type; zero bytes come first.
///
/// Bytes that are no value of the type compare as unsigned bytes.
#[must_use]
pub fn compare(ty: &CqlType, a: &[u8], b: &[u8]) -> Ordering {
    compare_at(ty, a, b, 0)
}

fn compare_at(ty: &CqlType, a: &[u8], b: &[u8], depth: usize) -> Ordering {
    if a.is_empty() || b.is_empty() || depth >= TYPE_DEPTH_MAX {
        return a.len().cmp(&b.len()).then_with(|| a.cmp(b));
    }
    match ty {
        CqlType::Native(native) => compare_native(*native, a, b),
        CqlType::Custom(_) => a.cmp(b),
        CqlType::List { element, .. } | CqlType::Set { element, .. } => {
            let (Ok(left), Ok(right)) = (elements(a), elements(b)) else { return a.cmp(b) };
            compare_lists(element, left.flatten(), right.flatten(), depth)
        }
        CqlType::Map { key, value, .. } => {
            let (Ok(mut left), Ok(mut right)) = (entries(a), entries(b)) else { return a.cmp(b) };
            loop {
                match (left.next().and_then(Result::ok), right.next().and_then(Result::ok)) {
                    (Some((k1, v1)), Some((k2, v2))) => {
                        let order = compare_nullable(key, k1, k2, depth)
                            .then_with(|| compare_nullable(value, v1, v2, depth));
                        if order.is_ne() {
                            return order;
                        }
                    }
                    (one, other) => return one.is_some().cmp(&other.is_some()),
                }
            }
        }
        CqlType::Tuple(types) => compare_fields(types.iter(), a, b, depth),
        CqlType::User { definition: udt, .. } => {
            compare_fields(udt.fields.iter().map(|(_, field)| field), a, b, depth)
        }
        CqlType::Vector { element, dimension } => {
            match (vector_elements(element, *dimension, a), vector_elements(element, *dimension, b))
            {
                (Ok(left), Ok(right)) => compare_lists(
                    element,
                    left.into_iter().map(Some),
                    right.into_iter().map(Some),
                    depth,
                ),
                _ => a.cmp(b),
            }
        }
    }
}

fn compare_lists<'a, 'b>(
    element: &CqlType,
    mut a: impl Iterator<Item = Option<&'a [u8]>>,
    mut b: impl Iterator<Item = Option<&'b [u8]>>,
    depth: usize,
) -> Ordering {
    loop {
        match (a.next(), b.next()) {
            (Some(left), Some(right)) => {
                let order = compare_nullable(element, left, right, depth);
                if order.is_ne() {
                    return order;
                }
            }
            (left, right) => return left.is_some().cmp(&right.is_some()),
        }
    }
}

/// Compares field by field; missing fields at the end equal nulls.
fn compare_fields<'t>(
    types: impl Iterator<Item = &'t CqlType>,
    a: &[u8],
    b: &[u8],
    depth: usize,
) -> Ordering {
    let (mut left, mut right) = (fields(a), fields(b));
    for ty in types {
        let next = |all: &mut super::Fields<'_>| {
            all.next().and_then(Result::ok).flatten().map(<[u8]>::to_vec)
        };
        let (one, other) = (next(&mut left), next(&mut right));
        let order = compare_nullable(ty, one.as_deref(), other.as_deref(), depth);
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

fn compare_nullable(ty: &CqlType, a: Option<&[u8]>, b: Option<&[u8]>, depth: usize) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => compare_at(ty, a, b, depth + 1),
        (a, b) => a.is_some().cmp(&b.is_some()),
    }
}

fn compare_native(native: Native, a: &[u8], b: &[u8]) -> Ordering {
    match native {
        Native::Tinyint
        | Native::Smallint
        | Native::Int
        | Native::Bigint
        | Native::Counter
        | Native::Timestamp => signed(a).cmp(&signed(b)),
        Native::Float => {
            match (a.try_into().map(f32::from_be_bytes), b.try_into().map(f32::from_be_bytes)) {
                (Ok(a), Ok(b)) => canonical_f32(a).total_cmp(&canonical_f32(b)),
                _ => a.cmp(b),
            }
        }
        Native::Double => {
            match (a.try_into().map(f64::from_be_bytes), b.try_into().map(f64::from_be_bytes)) {
                (Ok(a), Ok(b)) => canonical_f64(a).total_cmp(&canonical_f64(b)),
                _ => a.cmp(b),
            }
        }
        Native::Varint => varint_from_bytes(a).cmp(&varint_from_bytes(b)),
        Native::Decimal => match (decimal_parts(a), decimal_parts(b)) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => a.cmp(b),
        },
        Native::Uuid => compare_uuids(&KeyType::CqlUuid, a, b),
        Native::Timeuuid => compare_uuids(&KeyType::CqlTimeUuid, a, b),
        Native::Boolean => a.iter().any(|byte| *byte != 0).cmp(&b.iter().any(|byte| *byte != 0)),
        Native::Ascii
        | Native::Blob
        | Native::Date
        | Native::Duration
        | Native::Empty
        | Native::Inet
        | Native::Text
        | Native::Time => a.cmp(b),
    }
}

/// Reads a two's complement number of up to eight bytes.
fn signed(bytes: &[u8]) -> i64 {
    let start = match bytes.first() {
        Some(first) if first & 0x80 != 0 => -1,
        _ => 0,
    };
    bytes.iter().fold(start, |value, byte| value << 8 | i64::from(*byte))
}

/// Returns the one NaN for every NaN: Java compares it as the greatest number.
pub(super) const fn canonical_f32(value: f32) -> f32 {
    if value.is_nan() { f32::NAN.abs() } else { value }
}

/// Works as [`canonical_f32`].
pub(super) const fn canonical_f64(value: f64) -> f64 {
    if value.is_nan() { f64::NAN.abs() } else { value }
}

fn compare_uuids(key_type: &KeyType, a: &[u8], b: &[u8]) -> Ordering {
    match (a.try_into(), b.try_into()) {
        (Ok(left), Ok(right)) => {
            shelfmark_keycode::compare(key_type, &KeyValue::Uuid(left), &KeyValue::Uuid(right))
        }
        _ => a.cmp(b),
    }
}
