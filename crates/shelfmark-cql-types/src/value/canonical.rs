//! The one form of a value that clients may send in several: sets and maps in order.
//!
//! Drivers send sets and maps in the order of their hash tables. What is stored, compared and hashed
//! is sorted, with members and keys that are there twice once; so are literals where they are
//! evaluated.
//!
//! What it is not: no check. The bytes have passed [`super::validate()`].
//!
//! Invariant: two values that differ in nothing but the order of members have the same bytes after it.
//!
//! Source: Apache Cassandra 5.0, `SetSerializer.serializeValues` and `MapSerializer.serializeValues`,
//! read 2026-11.

use bytes::Bytes;

use super::{CqlType, compare, unsigned_vint};
use super::{elements, entries, fields, put_collection, put_field, vector_elements};

/// Brings a valid value into its one form; costs nothing for types without sets and maps.
#[must_use]
pub fn canonical(ty: &CqlType, bytes: &Bytes) -> Bytes {
    if bytes.is_empty() || !ty.any(&is_ordered) {
        return bytes.clone();
    }
    ordered(ty, bytes).map_or_else(|| bytes.clone(), Bytes::from)
}

const fn is_ordered(ty: &CqlType) -> bool {
    matches!(ty, CqlType::Set { .. } | CqlType::Map { .. })
}

/// Returns the bytes of a part, sorted if it needs to be.
fn part(ty: &CqlType, bytes: &[u8]) -> Vec<u8> {
    if bytes.is_empty() || !ty.any(&is_ordered) {
        return bytes.to_vec();
    }
    ordered(ty, bytes).unwrap_or_else(|| bytes.to_vec())
}

/// Returns the canonical bytes; `None` if the bytes are no value of the type.
fn ordered(ty: &CqlType, bytes: &[u8]) -> Option<Vec<u8>> {
    match ty {
        CqlType::Native(_) | CqlType::Custom(_) => None,
        CqlType::List { element, .. } => {
            let parts = members(element, bytes)?;
            Some(put_collection(parts.len(), parts.iter().map(Vec::as_slice)))
        }
        CqlType::Set { element, .. } => {
            let mut parts = members(element, bytes)?;
            parts.sort_by(|a, b| compare(element, a, b));
            parts.dedup_by(|a, b| compare(element, a, b).is_eq());
            Some(put_collection(parts.len(), parts.iter().map(Vec::as_slice)))
        }
        CqlType::Map { key, value, .. } => {
            let mut parts: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
            for entry in entries(bytes).ok()? {
                let (k, v) = entry.ok()?;
                parts.push((part(key, k?), part(value, v?)));
            }
            // Of equal keys the last one counts: the sort is stable.
            parts.reverse();
            parts.sort_by(|(a, _), (b, _)| compare(key, a, b));
            parts.dedup_by(|(a, _), (b, _)| compare(key, a, b).is_eq());
            let flat = parts.iter().flat_map(|(k, v)| [k.as_slice(), v.as_slice()]);
            Some(put_collection(parts.len(), flat))
        }
        CqlType::Tuple(types) => tuple(types.iter(), bytes),
        CqlType::User { definition, .. } => {
            tuple(definition.fields.iter().map(|(_, field)| field), bytes)
        }
        CqlType::Vector { element, dimension } => {
            let mut out = Vec::with_capacity(bytes.len());
            for own in vector_elements(element, *dimension, bytes).ok()? {
                let own = part(element, own);
                // Types of one size hold no sets.
                unsigned_vint(own.len() as u64, &mut out);
                out.extend_from_slice(&own);
            }
            Some(out)
        }
    }
}

fn members(element: &CqlType, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    elements(bytes).ok()?.map(|own| Some(part(element, own.ok()??))).collect()
}

/// Fields that are missing at the end stay so.
fn tuple<'t>(types: impl Iterator<Item = &'t CqlType>, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len());
    for (ty, field) in types.zip(fields(bytes)) {
        put_field(&mut out, field.ok()?.map(|own| part(ty, own)).as_deref());
    }
    Some(out)
}
