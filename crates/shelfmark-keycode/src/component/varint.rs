//! Encodes ordered varints: `u64` ids in front of a key, in one to nine bytes; no key type.
//!
//! Small values are short. They lead a key and are never descending.
//!
//! As many leading one bits as bytes follow, then a zero bit (left out at nine bytes), then the
//! value, big-endian: one byte to 127, two to 16,383, three to 2,097,151, nine at most.
//!
//! Invariant: a shorter form is a smaller value and only the shortest form of a value is read, so
//! byte order is numeric order.

use super::cursor::truncated;
use crate::error::{KeyError, KeyErrorKind, Result};

/// The longest ordered varint, in bytes.
pub const ORDERED_VARINT_BYTES_MAX: usize = 9;

/// Appends `value` in one to nine bytes.
#[inline]
pub fn put_ordered_varint(out: &mut Vec<u8>, value: u64) {
    let length = length_of(value);
    if length == ORDERED_VARINT_BYTES_MAX {
        out.push(0xFF);
        out.extend_from_slice(&value.to_be_bytes());
        return;
    }
    // `length` leading bytes: `length - 1` one bits and a zero above the value's bits.
    let ones = !(u64::MAX >> (length - 1));
    let shifted = ones | value << (64 - 8 * length);
    let bytes = shifted.to_be_bytes();
    out.extend(bytes.iter().take(length));
}

/// Decodes the output of [`put_ordered_varint`].
///
/// # Errors
///
/// * [`KeyErrorKind::Truncated`]: fewer bytes than the first announces. Treat the key as damaged.
/// * [`KeyErrorKind::NonCanonical`]: the value has a shorter form. Treat the key as damaged.
#[inline]
pub fn take_ordered_varint(input: &mut &[u8]) -> Result<u64> {
    let Some(first) = input.first() else { return Err(truncated(0)) };
    let length = first.leading_ones() as usize + 1;
    let Some((form, rest)) = input.split_at_checked(length) else {
        return Err(truncated(input.len()));
    };
    let raw = form.iter().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
    let value = if length == ORDERED_VARINT_BYTES_MAX {
        raw // The first byte was shifted out.
    } else {
        raw & (u64::MAX >> (64 - 7 * length))
    };
    if length_of(value) != length {
        let message = "the integer has a shorter form";
        return Err(KeyError::at(KeyErrorKind::NonCanonical, 0, message));
    }
    *input = rest;
    Ok(value)
}

const fn length_of(value: u64) -> usize {
    let bits = (u64::BITS - (value | 1).leading_zeros()) as usize;
    let length = bits.div_ceil(7);
    // The ninth byte holds eight bits: there is no zero bit to end the row of ones.
    if length < ORDERED_VARINT_BYTES_MAX { length } else { ORDERED_VARINT_BYTES_MAX }
}
