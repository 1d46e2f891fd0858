//! Brings values into the canonical form that keys have.

use std::cmp::Ordering;

use super::{KeyType, KeyValue, check_depth, check_kinded, compare};
use crate::error::Result;

/// Sorts sets and maps, drops repeated elements (of repeated map keys the last one stays), and
/// reduces decimals to their smallest scale, as [`decode`](crate::decode) returns them.
///
/// Values that are not of the type are left alone; [`encode`](crate::encode) refuses them.
///
/// # Errors
///
/// * [`KeyErrorKind::TooDeep`](crate::KeyErrorKind::TooDeep): see
///   [`KEY_DEPTH_MAX`](crate::KEY_DEPTH_MAX). Flatten the type; the value is partly changed.
pub fn canonicalize(key_type: &KeyType, value: &mut KeyValue) -> Result<()> {
    canonicalize_at(key_type, value, 0)
}

fn canonicalize_at(key_type: &KeyType, value: &mut KeyValue, depth: usize) -> Result<()> {
    check_depth(depth)?;
    match (key_type, value) {
        (KeyType::Decimal, KeyValue::Decimal(decimal)) => *decimal = decimal.normalized(),
        (KeyType::Tuple(fields) | KeyType::Record(fields), KeyValue::Tuple(values)) => {
            for (field, value) in fields.iter().zip(values) {
                canonicalize_at(field, value, depth + 1)?;
            }
        }
        (KeyType::List(element), KeyValue::List(values)) => {
            for value in values {
                canonicalize_at(element, value, depth + 1)?;
            }
        }
        (KeyType::Set(element), KeyValue::Set(values)) => {
            for value in values.iter_mut() {
                canonicalize_at(element, value, depth + 1)?;
            }
            values.sort_by(|a, b| compare(element, a, b));
            values.dedup_by(|a, b| compare(element, a, b) == Ordering::Equal);
        }
        (KeyType::Map(key_type, value_type), KeyValue::Map(entries)) => {
            for (key, value) in entries.iter_mut() {
                canonicalize_at(key_type, key, depth + 1)?;
                canonicalize_at(value_type, value, depth + 1)?;
            }
            // The sort is stable, so of equal keys the last stays last; `dedup_by` removes the
            // later of a pair, so the pair is swapped first.
            entries.sort_by(|(a, _), (b, _)| compare(key_type, a, b));
            entries.dedup_by(|later, earlier| {
                let repeated = compare(key_type, &later.0, &earlier.0) == Ordering::Equal;
                if repeated {
                    std::mem::swap(later, earlier);
                }
                repeated
            });
        }
        (KeyType::Kinded(inner), value) => {
            check_kinded(inner)?;
            canonicalize_at(inner, value, depth)?;
        }
        _ => {}
    }
    Ok(())
}
