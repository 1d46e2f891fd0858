//! Clustering values and index terms: from their plain serialisation to ordered bytes, and back.
//!
//! The common types take no detour over a [`shelfmark_model::Value`].

use std::borrow::Cow;

use bytes::Bytes;
use shelfmark_keycode::{self as keycode, Direction, Kind};
use shelfmark_model::KeyType;
use shelfmark_model::serial::{deserialise, serialise};

use super::keys::Packs;
use super::spelling::with_whole_digits;
use crate::error::{Error, Result};
use crate::keys::{put_component, take_component};

/// One component of a clustering key in its plain serialisation (CQL's wire form).
///
/// `None` is null. No bytes are CQL's empty value, or the empty text or blob.
pub type ClusteringValue = Option<Bytes>;

/// Appends a kinded component.
///
/// # Errors
///
/// * `Invalid`: the bytes are no value of the type.
pub(crate) fn put_raw(
    key_type: &KeyType,
    direction: Direction,
    value: Option<&[u8]>,
    packs: Packs,
    out: &mut Vec<u8>,
) -> Result<()> {
    let KeyType::Kinded(inner) = key_type else {
        return put_plain(key_type, direction, value, out);
    };
    let Some(value) = value else {
        keycode::put_kind(out, direction, Kind::Null);
        return Ok(());
    };
    if value.is_empty() && !has_empty_values(inner) {
        keycode::put_kind(out, direction, Kind::Empty);
        return Ok(());
    }
    if let Some(put) = plain(inner, value)? {
        keycode::put_kind(out, direction, Kind::Value);
        match put {
            Plain::Text if packs.0 => keycode::put_packed_bytes(out, direction, value),
            Plain::Text | Plain::Bytes => keycode::put_bytes(out, direction, value),
            Plain::I32(n) => keycode::put_i32(out, direction, n),
            Plain::I64(n) => keycode::put_i64(out, direction, n),
            Plain::Uuid(uuid) => keycode::put_cql_uuid(out, direction, uuid),
            Plain::TimeUuid(uuid) => keycode::put_cql_timeuuid(out, direction, uuid),
        }
        return Ok(());
    }
    put_component(key_type, direction, &deserialise(inner, value)?, out)
}

/// Appends a component of an item's sort key, which is neither null nor empty.
fn put_plain(
    key_type: &KeyType,
    direction: Direction,
    value: Option<&[u8]>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let value = value.filter(|own| !own.is_empty() || has_empty_values(key_type));
    let Some(value) = value else {
        return Err(Error::invalid("a sort key of items is never null or empty"));
    };
    put_component(key_type, direction, &deserialise(key_type, value)?, out)
}

/// Reads a component of an item's sort key back.
fn take_plain(key_type: &KeyType, direction: Direction, rest: &mut &[u8]) -> Result<Vec<u8>> {
    let value = take_component(key_type, direction, rest).map_err(|_| damaged())?;
    let mut bytes = Vec::new();
    serialise(key_type, &with_whole_digits(value), &mut bytes).map_err(|_| damaged())?;
    Ok(bytes)
}

/// Reads a kinded component back.
///
/// # Errors
///
/// * `Corrupt`: the bytes are no component of the type.
#[inline]
pub(crate) fn take_raw(
    key_type: &KeyType,
    direction: Direction,
    rest: &mut &[u8],
) -> Result<ClusteringValue> {
    take_shared(key_type, direction, rest, None)
}

/// Works as [`take_raw`], of a key whose memory text and bytes may share.
#[inline]
pub(crate) fn take_shared(
    key_type: &KeyType,
    direction: Direction,
    rest: &mut &[u8],
    key: Option<&Bytes>,
) -> Result<ClusteringValue> {
    if !matches!(key_type, KeyType::Kinded(_)) {
        return Ok(Some(take_plain(key_type, direction, rest)?.into()));
    }
    let mut after = *rest;
    let kind = keycode::take_kind(&mut after, direction).map_err(|_| damaged())?;
    let bytes = match kind {
        Kind::Null => {
            *rest = after;
            return Ok(None);
        }
        Kind::Empty => {
            *rest = after;
            return Ok(Some(Bytes::new()));
        }
        Kind::Value => match take_value(key_type, direction, rest, &mut after)? {
            Taken::Lies([]) => Bytes::new(),
            Taken::Lies(bytes) => {
                key.map_or_else(|| Bytes::copy_from_slice(bytes), |key| key.slice_ref(bytes))
            }
            Taken::Made(bytes) => bytes.into(),
            fixed => Bytes::copy_from_slice(fixed.bytes()),
        },
    };
    Ok(Some(bytes))
}

/// Works as `take_raw`, appended to `out`; returns whether there was a value, which null is not.
///
/// # Errors
///
/// * `Corrupt`: the bytes are no value of this type.
#[inline]
pub fn take_into(
    key_type: &KeyType,
    direction: Direction,
    rest: &mut &[u8],
    out: &mut Vec<u8>,
) -> Result<bool> {
    if !matches!(key_type, KeyType::Kinded(_)) {
        out.extend_from_slice(&take_plain(key_type, direction, rest)?);
        return Ok(true);
    }
    let mut after = *rest;
    let kind = keycode::take_kind(&mut after, direction).map_err(|_| damaged())?;
    match kind {
        Kind::Null | Kind::Empty => *rest = after,
        Kind::Value => {
            out.extend_from_slice(take_value(key_type, direction, rest, &mut after)?.bytes());
        }
    }
    Ok(kind != Kind::Null)
}

/// A value out of a key.
enum Taken<'b> {
    /// It lies in the key as it is.
    Lies(&'b [u8]),
    Four([u8; 4]),
    Eight([u8; 8]),
    Sixteen([u8; 16]),
    Made(Vec<u8>),
}

impl Taken<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Lies(bytes) => bytes,
            Self::Four(bytes) => bytes,
            Self::Eight(bytes) => bytes,
            Self::Sixteen(bytes) => bytes,
            Self::Made(bytes) => bytes,
        }
    }
}

#[inline]
fn take_value<'b>(
    key_type: &KeyType,
    direction: Direction,
    rest: &mut &'b [u8],
    after: &mut &'b [u8],
) -> Result<Taken<'b>> {
    let inner = kinded(key_type)?;
    let taken = match inner {
        KeyType::Text | KeyType::Bytes => {
            match keycode::take_packed_bytes(after, direction).map_err(|_| damaged())? {
                Cow::Borrowed(bytes) => Taken::Lies(bytes),
                Cow::Owned(bytes) => Taken::Made(bytes),
            }
        }
        KeyType::I32 => {
            let number = keycode::take_i32(after, direction).map_err(|_| damaged())?;
            Taken::Four(number.to_be_bytes())
        }
        KeyType::I64 | KeyType::Timestamp | KeyType::Time => {
            let number = keycode::take_i64(after, direction).map_err(|_| damaged())?;
            Taken::Eight(number.to_be_bytes())
        }
        KeyType::CqlUuid => {
            Taken::Sixteen(keycode::take_cql_uuid(after, direction).map_err(|_| damaged())?)
        }
        KeyType::CqlTimeUuid => {
            Taken::Sixteen(keycode::take_cql_timeuuid(after, direction).map_err(|_| damaged())?)
        }
        _ => {
            let value = take_component(key_type, direction, rest).map_err(|_| damaged())?;
            let mut bytes = Vec::new();
            serialise(inner, &value, &mut bytes).map_err(|_| damaged())?;
            return Ok(Taken::Made(bytes));
        }
    };
    *rest = *after;
    Ok(taken)
}

enum Plain {
    /// As it is, or packed.
    Text,
    /// As they are: bytes that are no text would grow.
    Bytes,
    I32(i32),
    I64(i64),
    Uuid([u8; 16]),
    TimeUuid([u8; 16]),
}

fn plain(inner: &KeyType, value: &[u8]) -> Result<Option<Plain>> {
    let wrong = || Error::invalid(format!("{} bytes are no value of {inner:?}", value.len()));
    let uuid = || value.try_into().map_err(|_| wrong());
    Ok(Some(match inner {
        KeyType::Bytes => Plain::Bytes,
        KeyType::Text => {
            std::str::from_utf8(value).map_err(|_| Error::invalid("a text is not UTF-8"))?;
            Plain::Text
        }
        KeyType::I32 => Plain::I32(i32::from_be_bytes(value.try_into().map_err(|_| wrong())?)),
        KeyType::I64 | KeyType::Timestamp | KeyType::Time => {
            Plain::I64(i64::from_be_bytes(value.try_into().map_err(|_| wrong())?))
        }
        KeyType::CqlUuid => Plain::Uuid(uuid()?),
        KeyType::CqlTimeUuid => Plain::TimeUuid(uuid()?),
        _ => return Ok(None),
    }))
}

fn has_empty_values(inner: &KeyType) -> bool {
    matches!(inner, KeyType::Text | KeyType::Bytes)
}

fn kinded(key_type: &KeyType) -> Result<&KeyType> {
    match key_type {
        KeyType::Kinded(inner) => Ok(inner),
        _ => Err(Error::corrupt("a clustering column of a table of cells is not kinded")),
    }
}

fn damaged() -> Error {
    Error::corrupt("a stored clustering key cannot be read")
}

/// Returns the components of a partition key in its plain serialisation.
///
/// # Errors
///
/// * `Invalid`: the bytes are no composite of that many columns.
pub fn split_partition(raw: &Bytes, columns: usize) -> Result<Vec<Bytes>> {
    if columns == 1 {
        return Ok(vec![raw.clone()]);
    }
    let wrong = || Error::invalid("the partition key is no composite of the table's columns");
    let mut parts = Vec::with_capacity(columns);
    let mut at = 0;
    for _ in 0..columns {
        let length = raw.get(at..at + 2).ok_or_else(wrong)?;
        let length = usize::from(u16::from_be_bytes(length.try_into().map_err(|_| wrong())?));
        let end = at + 2 + length;
        if raw.get(end) != Some(&0) {
            return Err(wrong());
        }
        parts.push(raw.slice(at + 2..end));
        at = end + 1;
    }
    if at == raw.len() { Ok(parts) } else { Err(wrong()) }
}

/// Joins components to a partition key in its plain serialisation.
///
/// # Errors
///
/// * `LimitExceeded`: a component of several is longer than 65,535 bytes.
pub fn join_partition(parts: &[Bytes]) -> Result<Bytes> {
    if let [part] = parts {
        return Ok(part.clone());
    }
    let mut raw = Vec::with_capacity(parts.iter().map(|part| part.len() + 3).sum());
    for part in parts {
        let length = u16::try_from(part.len()).map_err(|_| {
            Error::new(
                crate::ErrorKind::LimitExceeded,
                "a column of a partition key is longer than 65,535 bytes",
            )
        })?;
        raw.extend_from_slice(&length.to_be_bytes());
        raw.extend_from_slice(part);
        raw.push(0);
    }
    Ok(raw.into())
}
