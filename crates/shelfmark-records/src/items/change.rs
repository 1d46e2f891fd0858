//! One change of one item as bytes: one value, cut into parts when it is large.
//!
//! ```text
//! whole       a map: `at`, `expired`, `old` and `new` where there is one
//! first part  F0, number of parts (varint), the first bytes of the map
//! others      the bytes that follow
//! ```
//! No value begins with `F0`, so the first byte tells which it is.

use bytes::Bytes;
use shelfmark_model::{Item, Value};

use super::record::CHUNK_SIZE_BYTES;
use super::value::{
    decode_nesting, encode_item_member, encode_map_head, encode_member, take_first_member,
};
use crate::error::{Error, Result};
use crate::varint::{Reader, put_varint};

const IN_PARTS: u8 = 0xF0;

/// The logged record of a change.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangeRecord<'i> {
    /// Microseconds since the Unix epoch.
    pub at_micros: u64,
    /// The sweep wrote it.
    pub expired: bool,
    /// The item before; `None` if there was none.
    pub old: Option<&'i Item>,
    /// The item after; `None` if there is none.
    pub new: Option<&'i Item>,
}

/// A decoded change.
#[derive(Debug, Clone, PartialEq)]
pub struct DecodedChange {
    /// Microseconds since the Unix epoch.
    pub at_micros: u64,
    /// The sweep wrote it.
    pub expired: bool,
    /// The item before; `None` if there was none.
    pub old: Option<Item>,
    /// The item after; `None` if there is none.
    pub new: Option<Item>,
}

/// Encodes a change; mostly one part, each at most a chunk and its head.
pub fn encode_change(change: &ChangeRecord<'_>) -> Vec<Bytes> {
    let mut whole = Vec::with_capacity(256);
    // The members stand in the order of their names, as those of every map.
    let images = [("new", change.new), ("old", change.old)];
    let images = || images.iter().filter_map(|(name, item)| Some((*name, (*item)?)));
    encode_map_head(2 + images().count(), &mut whole);
    encode_member("at", &Value::Int(change.at_micros.cast_signed()), &mut whole);
    encode_member("expired", &Value::Bool(change.expired), &mut whole);
    for (name, item) in images() {
        encode_item_member(name, item, &mut whole);
    }
    if whole.len() <= CHUNK_SIZE_BYTES {
        return vec![whole.into()];
    }
    let whole = Bytes::from(whole);
    let count = whole.len().div_ceil(CHUNK_SIZE_BYTES);
    let mut parts = Vec::with_capacity(count);
    for start in (0..whole.len()).step_by(CHUNK_SIZE_BYTES) {
        parts.push(whole.slice(start..whole.len().min(start + CHUNK_SIZE_BYTES)));
    }
    if let Some(first) = parts.first_mut() {
        let mut deleted_at = vec![IN_PARTS];
        put_varint(&mut deleted_at, count as u64);
        deleted_at.extend_from_slice(first);
        *first = deleted_at.into();
    }
    parts
}

/// Returns how many parts a change has, by its first one.
///
/// # Errors
///
/// * `Corrupt`: the bytes are none that this crate makes.
pub fn change_parts(first: &[u8]) -> Result<usize> {
    if first.first() != Some(&IN_PARTS) {
        return Ok(1);
    }
    let mut reader = Reader::new(first.get(1..).unwrap_or_default());
    let count = usize::try_from(reader.varint()?).map_err(|_| damaged())?;
    if count < 2 { Err(damaged()) } else { Ok(count) }
}

/// Returns when a change was written, by its first part: microseconds since the Unix epoch.
///
/// # Errors
///
/// * `Corrupt`: the bytes are none that this crate makes.
pub fn change_time(first: &[u8]) -> Result<u64> {
    let mut reader = Reader::new(first);
    if first.first() == Some(&IN_PARTS) {
        reader.byte()?;
        reader.varint()?;
    }
    take_first_time(&mut reader)
}

/// Decodes a change from all its parts.
///
/// # Errors
///
/// * `Corrupt`: the bytes are none that this crate makes.
pub fn decode_change(parts: &[Bytes]) -> Result<DecodedChange> {
    let (first, others) = parts.split_first().ok_or_else(damaged)?;
    if change_parts(first)? != parts.len() {
        return Err(damaged());
    }
    if others.is_empty() {
        return decode_whole(first);
    }
    let mut reader = Reader::new(first);
    reader.byte()?;
    reader.varint()?;
    let mut whole = reader.rest().to_vec();
    for part in others {
        whole.extend_from_slice(part);
    }
    decode_whole(&whole)
}

fn decode_whole(bytes: &[u8]) -> Result<DecodedChange> {
    // The record is a map, and each image in it.
    let Value::Map(mut record) = decode_nesting(bytes, 2)? else { return Err(damaged()) };
    let mut image = |name: &str| match record.remove(name) {
        Some(Value::Map(attributes)) => Ok(Some(attributes.into_iter().collect())),
        None => Ok(None),
        Some(_) => Err(damaged()),
    };
    let (old, new) = (image("old")?, image("new")?);
    let at_micros = match record.get("at") {
        Some(Value::Int(micros)) => micros.cast_unsigned(),
        _ => return Err(damaged()),
    };
    let expired = record.get("expired") == Some(&Value::Bool(true));
    Ok(DecodedChange { at_micros, expired, old, new })
}

/// Reads the first member of a change's map, which is its time.
fn take_first_time(reader: &mut Reader<'_>) -> Result<u64> {
    match take_first_member(reader)? {
        ("at", Value::Int(micros)) => Ok(micros.cast_unsigned()),
        _ => Err(damaged()),
    }
}

fn damaged() -> Error {
    Error::corrupt("an entry of a change log is damaged")
}
