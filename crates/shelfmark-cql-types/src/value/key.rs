//! The key components that hold the values of a type.
//!
//! Clustering columns are *kinded*: a byte says null, empty or value, because CQL's types have a
//! value of zero bytes beside null. Fields of tuples and elements of frozen collections likewise.
//!
//! What it is not: the translation of values into components is the engine's; partition keys keep
//! their serialised bytes and need none of this.

use std::net::IpAddr;

use bytes::Bytes;
use shelfmark_keycode::KeyType;

use super::{CqlType, Native};

/// Returns the type of the key component that holds values of this type; null and empty are not in
/// it.
#[must_use]
pub fn key_type(ty: &CqlType) -> KeyType {
    let kinded = |inner: &CqlType| KeyType::Kinded(Box::new(key_type(inner)));
    let boxed = |inner: &CqlType| Box::new(kinded(inner));
    match ty {
        CqlType::Native(native) => match native {
            Native::Ascii | Native::Text => KeyType::Text,
            Native::Blob | Native::Empty | Native::Duration => KeyType::Bytes,
            Native::Bigint | Native::Counter => KeyType::I64,
            Native::Boolean => KeyType::Bool,
            Native::Date => KeyType::Date,
            Native::Decimal => KeyType::Decimal,
            Native::Double => KeyType::F64,
            Native::Float => KeyType::F32,
            Native::Inet => KeyType::Inet,
            Native::Int => KeyType::I32,
            Native::Smallint => KeyType::I16,
            Native::Time => KeyType::Time,
            Native::Timestamp => KeyType::Timestamp,
            Native::Timeuuid => KeyType::CqlTimeUuid,
            Native::Tinyint => KeyType::I8,
            Native::Uuid => KeyType::CqlUuid,
            Native::Varint => KeyType::Integer,
        },
        // Their elements have neither number nor lengths that components are read by.
        CqlType::Custom(_) | CqlType::Vector { .. } => KeyType::Bytes,
        CqlType::List { element, .. } => KeyType::List(boxed(element)),
        CqlType::Set { element, .. } => KeyType::Set(boxed(element)),
        CqlType::Map { key, value, .. } => KeyType::Map(boxed(key), boxed(value)),
        CqlType::Tuple(types) => KeyType::Tuple(types.iter().map(kinded).collect()),
        CqlType::User { definition: udt, .. } => {
            // It may get more fields.
            KeyType::Record(udt.fields.iter().map(|(_, field)| kinded(field)).collect())
        }
    }
}

/// Returns the address that 4 or 16 bytes stand for.
pub(super) fn inet(bytes: &[u8]) -> Option<IpAddr> {
    if let Ok(four) = <[u8; 4]>::try_from(bytes) {
        return Some(IpAddr::from(four));
    }
    <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from)
}

/// Joins the columns of a partition key into the form that is stored and hashed.
#[must_use]
pub fn partition_bytes(parts: &[Bytes]) -> Bytes {
    if let [only] = parts {
        return only.clone();
    }
    let mut out = Vec::with_capacity(parts.iter().map(|part| part.len() + 3).sum());
    for part in parts {
        out.extend_from_slice(&u16::try_from(part.len()).unwrap_or(u16::MAX).to_be_bytes());
        out.extend_from_slice(part);
        out.push(0);
    }
    out.into()
}

/// Splits what [`partition_bytes`] joined.
#[must_use]
pub fn partition_parts(bytes: &Bytes, count: usize) -> Vec<Bytes> {
    if count == 1 {
        return vec![bytes.clone()];
    }
    let mut parts = Vec::with_capacity(count);
    let mut at = 0;
    while let Some(length) = bytes.get(at..at + 2).and_then(|own| own.first_chunk::<2>()) {
        let end = at + 2 + usize::from(u16::from_be_bytes(*length));
        if end > bytes.len() {
            break;
        }
        parts.push(bytes.slice(at + 2..end));
        at = end + 1;
    }
    parts
}
