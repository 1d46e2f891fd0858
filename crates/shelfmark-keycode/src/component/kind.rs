//! Encodes the bytes before optional values and between the elements of a collection.
//!
//! A *kind byte* stands before a sort component of CQL and before each field of a tuple or UDT:
//! null, empty (zero bytes, which CQL keeps apart from null for any type), or a value, in this
//! order. A *continuation byte* stands before each element of a list, set or map: `01` one more,
//! `00` the end, so that elements decide first and the shorter collection comes first.
//!
//! Invariant: both are complemented when descending, as everything else.

use super::cursor::truncated;
use crate::direction::Direction;
use crate::error::{KeyError, KeyErrorKind, Result};

/// The presence of a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Nothing was written; first in ascending order.
    Null,
    /// A value of zero bytes was written, of a type that has no such value itself.
    Empty,
    /// A value follows.
    Value,
}

const NULL: u8 = 0x00;
const EMPTY: u8 = 0x01;
const VALUE: u8 = 0x02;
const END: u8 = 0x00;
const MORE: u8 = 0x01;

/// Appends a kind byte.
#[inline]
pub fn put_kind(out: &mut Vec<u8>, direction: Direction, kind: Kind) {
    let byte = match kind {
        Kind::Null => NULL,
        Kind::Empty => EMPTY,
        Kind::Value => VALUE,
    };
    out.push(byte ^ direction.mask());
}

/// Decodes a kind byte.
///
/// # Errors
///
/// * [`KeyErrorKind::Truncated`]: no byte left. Treat the key as damaged.
/// * [`KeyErrorKind::NonCanonical`]: no kind has this byte. Treat the key as damaged.
#[inline]
pub fn take_kind(input: &mut &[u8], direction: Direction) -> Result<Kind> {
    let Some((byte, rest)) = input.split_first() else { return Err(truncated(0)) };
    let kind = match byte ^ direction.mask() {
        NULL => Kind::Null,
        EMPTY => Kind::Empty,
        VALUE => Kind::Value,
        _ => return Err(KeyError::at(KeyErrorKind::NonCanonical, 0, "unknown kind byte")),
    };
    *input = rest;
    Ok(kind)
}

/// Appends the byte that announces one more element of a collection.
#[inline]
pub fn put_more(out: &mut Vec<u8>, direction: Direction) {
    out.push(MORE ^ direction.mask());
}

/// Appends the byte that ends a collection.
#[inline]
pub fn put_end(out: &mut Vec<u8>, direction: Direction) {
    out.push(END ^ direction.mask());
}

/// Decodes a continuation byte: true if one more element follows.
///
/// # Errors
///
/// * [`KeyErrorKind::Truncated`]: no byte left. Treat the key as damaged.
/// * [`KeyErrorKind::NonCanonical`]: neither of the two bytes. Treat the key as damaged.
#[inline]
pub fn take_more(input: &mut &[u8], direction: Direction) -> Result<bool> {
    let Some((byte, rest)) = input.split_first() else { return Err(truncated(0)) };
    let more = match byte ^ direction.mask() {
        END => false,
        MORE => true,
        _ => return Err(KeyError::at(KeyErrorKind::NonCanonical, 0, "unknown continuation byte")),
    };
    *input = rest;
    Ok(more)
}
