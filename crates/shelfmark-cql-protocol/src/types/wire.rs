//! Walking over and building the serialised forms of collections, tuples, user types and vectors.
//!
//! Collections: `i32` count, then `i32` length and bytes of each element (a map's key and value one
//! after the other); a length of −1 is null. Tuples and user types: the same without the count,
//! trailing fields may be missing. Vectors: elements of one size without lengths, others with an
//! unsigned vint length each.

use bytes::{BufMut as _, BytesMut};

use super::{CqlType, MarshalError, Result};

/// Reads the `i32` that `input` begins with.
fn take_i32(input: &mut &[u8]) -> Option<i32> {
    let (head, rest) = input.split_first_chunk::<4>()?;
    *input = rest;
    Some(i32::from_be_bytes(*head))
}

/// Reads `[i32 length][bytes]`; `Some(None)` is null.
fn take_value<'b>(input: &mut &'b [u8]) -> Option<Option<&'b [u8]>> {
    let mut rest = *input;
    let Ok(length) = usize::try_from(take_i32(&mut rest)?) else {
        *input = rest;
        return Some(None);
    };
    let (value, rest) = rest.split_at_checked(length)?;
    *input = rest;
    Some(Some(value))
}

/// The elements of a serialised list or set.
#[derive(Debug, Clone)]
pub struct Elements<'b> {
    left: usize,
    rest: &'b [u8],
}

impl<'b> Elements<'b> {
    /// Returns how many elements are still to come, by the count that was written.
    #[must_use]
    pub const fn left(&self) -> usize {
        self.left
    }

    /// Returns the bytes behind the elements that were taken.
    #[must_use]
    pub const fn rest(&self) -> &'b [u8] {
        self.rest
    }
}

impl<'b> Iterator for Elements<'b> {
    /// `None` inside is a null element; an error says that the bytes end too early.
    type Item = Result<Option<&'b [u8]>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        match take_value(&mut self.rest) {
            Some(value) => Some(Ok(value)),
            None => {
                self.left = 0;
                Some(Err(MarshalError::new("Not enough bytes to read a list")))
            }
        }
    }
}

/// Walks over the elements of a serialised list or set.
///
/// # Errors
///
/// The bytes hold no count, or a negative one.
pub fn elements(bytes: &[u8]) -> Result<Elements<'_>> {
    counted(bytes, "list")
}

/// Reads the count of a collection; a negative one tells that it is none.
fn counted<'b>(bytes: &'b [u8], what: &str) -> Result<Elements<'b>> {
    let mut rest = bytes;
    let count = take_i32(&mut rest)
        .ok_or_else(|| MarshalError::new(format!("Not enough bytes to read a {what}")))?;
    let left = usize::try_from(count)
        .map_err(|_| MarshalError::new(format!("The data cannot be deserialized as a {what}")))?;
    Ok(Elements { left, rest })
}

/// The entries of a serialised map.
#[derive(Debug, Clone)]
pub struct Entries<'b> {
    inner: Elements<'b>,
}

impl<'b> Entries<'b> {
    /// Returns the bytes behind the entries that were taken.
    #[must_use]
    pub const fn rest(&self) -> &'b [u8] {
        self.inner.rest()
    }
}

impl<'b> Iterator for Entries<'b> {
    type Item = Result<(Option<&'b [u8]>, Option<&'b [u8]>)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.inner.left = self.inner.left.checked_sub(1)?;
        match (take_value(&mut self.inner.rest), take_value(&mut self.inner.rest)) {
            (Some(key), Some(value)) => Some(Ok((key, value))),
            _ => {
                self.inner.left = 0;
                Some(Err(MarshalError::new("Not enough bytes to read a map")))
            }
        }
    }
}

/// Walks over the entries of a serialised map.
///
/// # Errors
///
/// The bytes hold no count, or a negative one.
pub fn entries(bytes: &[u8]) -> Result<Entries<'_>> {
    counted(bytes, "map").map(|inner| Entries { inner })
}

/// The fields of a serialised tuple or user type; those missing at the end are simply not there.
#[derive(Debug, Clone)]
pub struct Fields<'b> {
    rest: &'b [u8],
}

impl<'b> Iterator for Fields<'b> {
    type Item = Result<Option<&'b [u8]>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let has_size = self.rest.len() >= 4;
        match take_value(&mut self.rest) {
            Some(value) => Some(Ok(value)),
            None => {
                self.rest = &[];
                Some(Err(MarshalError::new(match has_size {
                    true => "Not enough bytes to read",
                    false => "Not enough bytes to read size of",
                })))
            }
        }
    }
}

/// Walks over the fields of a serialised tuple or user type.
#[must_use]
pub const fn fields(bytes: &[u8]) -> Fields<'_> {
    Fields { rest: bytes }
}

/// Appends one field or element: its length and bytes, or −1 for null.
pub fn put_field(out: &mut Vec<u8>, value: Option<&[u8]>) {
    match value {
        Some(value) => {
            out.extend_from_slice(&length_i32(value.len()).to_be_bytes());
            out.extend_from_slice(value);
        }
        None => out.extend_from_slice(&(-1_i32).to_be_bytes()),
    }
}

/// Serialises a list or set from its elements, or a map from its keys and values in turn.
///
/// `count` is the number of elements or entries.
#[must_use]
pub fn put_collection<'v>(count: usize, values: impl Iterator<Item = &'v [u8]>) -> Vec<u8> {
    let mut out = length_i32(count).to_be_bytes().to_vec();
    for value in values {
        put_field(&mut out, Some(value));
    }
    out
}

/// Serialises a tuple or user type from its fields.
#[must_use]
pub fn put_tuple<'v>(values: impl Iterator<Item = Option<&'v [u8]>>) -> Vec<u8> {
    let mut out = Vec::new();
    for value in values {
        put_field(&mut out, value);
    }
    out
}

/// Returns a length as the protocol writes it. No value is longer than an envelope (256 MiB).
fn length_i32(length: usize) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX)
}

/// Splits a serialised vector into its elements.
///
/// # Errors
///
/// The bytes are fewer or more than the dimension asks for.
pub fn vector_elements<'b>(
    element: &CqlType,
    dimension: u32,
    bytes: &'b [u8],
) -> Result<Vec<&'b [u8]>> {
    let short =
        || MarshalError::new(format!("Not enough bytes to read a vector<{element}, {dimension}>"));
    let dimension = usize::try_from(dimension).map_err(|_| short())?;
    let mut out = Vec::with_capacity(dimension.min(bytes.len()));
    let mut rest = bytes;
    for _ in 0..dimension {
        let size = match element.fixed_size() {
            Some(size) => size,
            None => take_unsigned_vint(&mut rest)
                .and_then(|size| usize::try_from(size).ok())
                .ok_or_else(short)?,
        };
        let (value, after) = rest.split_at_checked(size).ok_or_else(short)?;
        out.push(value);
        rest = after;
    }
    if rest.is_empty() {
        return Ok(out);
    }
    Err(MarshalError::new(format!(
        "Unexpected {} extraneous bytes after vector<{element}, {dimension}> value",
        rest.len()
    )))
}

/// Appends an unsigned vint: the number of further bytes stands as leading ones of the first.
pub fn unsigned_vint(value: u64, out: &mut Vec<u8>) {
    let bits = 64 - value.leading_zeros().min(63);
    let extra = ((bits - 1) / 7).min(8);
    if extra == 8 {
        out.push(0xFF);
        out.extend_from_slice(&value.to_be_bytes());
        return;
    }
    let bytes = value.to_be_bytes();
    let from = 7 - extra as usize;
    let start = out.len();
    out.extend_from_slice(bytes.get(from..).unwrap_or_default());
    if let Some(first) = out.get_mut(start) {
        *first |= !(0xFF_u8.checked_shr(extra).unwrap_or(0));
    }
}

/// Reads what [`unsigned_vint`] wrote.
fn take_unsigned_vint(input: &mut &[u8]) -> Option<u64> {
    let (first, rest) = input.split_first()?;
    let extra = first.leading_ones();
    let (more, rest) = rest.split_at_checked(extra as usize)?;
    let head = u64::from(first & 0xFF_u8.checked_shr(extra).unwrap_or(0));
    *input = rest;
    Some(more.iter().fold(head, |value, byte| value << 8 | u64::from(*byte)))
}

/// Reads a signed vint (zigzag).
#[must_use]
pub fn take_vint(input: &mut &[u8]) -> Option<i64> {
    let value = take_unsigned_vint(input)?;
    Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
}

/// Appends a cell of a row: its length and its bytes. A cell over 2 GiB becomes null.
pub fn put_cell(value: Option<&[u8]>, out: &mut BytesMut) {
    let length = value.map(|value| i32::try_from(value.len()));
    if let (Some(value), Some(Ok(length))) = (value, length) {
        out.put_i32(length);
        out.put_slice(value);
    } else {
        out.put_i32(-1);
    }
}
