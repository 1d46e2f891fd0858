//! Encodes integers of any size in numeric order: the key type `Integer`, which is CQL's `varint`.
//!
//! Zero is `80`. A positive integer is a header, then its magnitude without leading zeros,
//! big-endian. The header is `80` + length for 1 to 119 bytes; longer ones have `F7` + k, then
//! the length in k bytes (1 to 8, without leading zeros). A negative integer is the complement of
//! all bytes of its positive twin.
//!
//! Invariant: a longer magnitude has a larger header, so the header decides first and the
//! magnitude only between equal lengths. `7F`, a negative zero, is refused.

use num_bigint::{BigInt, BigUint, Sign};

use super::cursor::{take_byte, truncated};
use crate::direction::Direction;
use crate::error::{KeyError, KeyErrorKind, Result};

const ZERO: u8 = 0x80;
/// The longest magnitude whose length stands in the header itself, in bytes.
const SHORT_MAX: usize = 119;
/// The header of longer magnitudes, plus the number of length bytes.
const LONG: u8 = ZERO + 119;

/// Appends an integer of any size: its magnitude and one byte, a few more from 120 bytes on.
pub fn put_integer(out: &mut Vec<u8>, direction: Direction, value: &BigInt) {
    let flip = flip(direction, value.sign() == Sign::Minus);
    let magnitude = value.magnitude();
    let length = usize::try_from(magnitude.bits().div_ceil(8)).unwrap_or(usize::MAX);
    put_header(out, flip, length);
    let mut skip = length.next_multiple_of(8) - length;
    for digit in magnitude.iter_u64_digits().rev() {
        out.extend(digit.to_be_bytes().iter().skip(skip).map(|byte| byte ^ flip));
        skip = 0;
    }
}

/// Appends an integer given as big-endian two's complement, the wire form of CQL's `varint`.
///
/// The same bytes as [`put_integer`] of that value, without building it. Needless leading bytes
/// are allowed and make no difference.
///
/// # Errors
///
/// * [`KeyErrorKind::WrongType`]: no bytes at all, which is no integer. Use
///   [`Kind::Empty`](crate::Kind::Empty) for CQL's empty value.
pub fn put_integer_be_bytes(out: &mut Vec<u8>, direction: Direction, value: &[u8]) -> Result<()> {
    let Some(first) = value.first() else {
        return Err(KeyError::new(KeyErrorKind::WrongType, "an integer has at least one byte"));
    };
    if *first & 0x80 == 0 {
        let flip = flip(direction, false);
        let leading = value.iter().take_while(|byte| **byte == 0).count();
        put_header(out, flip, value.len() - leading);
        out.extend(value.iter().skip(leading).map(|byte| byte ^ flip));
        return Ok(());
    }
    // The complement of the magnitude of a negative x is x - 1: the borrow runs from the end to the
    // last byte that is not zero. Leading FF bytes are then leading zeros of the magnitude.
    let last = value.iter().rposition(|byte| *byte != 0).unwrap_or(0);
    let complement = || {
        value.iter().enumerate().map(move |(at, byte)| {
            let borrow = u8::from(at >= last);
            byte.wrapping_sub(borrow)
        })
    };
    let leading = complement().take_while(|byte| *byte == 0xFF).count();
    let mask = direction.mask();
    put_header(out, flip(direction, true), value.len() - leading);
    out.extend(complement().skip(leading).map(|byte| byte ^ mask));
    Ok(())
}

/// Decodes the output of [`put_integer`].
///
/// # Errors
///
/// * [`KeyErrorKind::Truncated`]: fewer bytes than announced. Treat the key as damaged.
/// * [`KeyErrorKind::NonCanonical`]: leading zeros, a needlessly long length, or a negative zero.
///   As above.
pub fn take_integer(input: &mut &[u8], direction: Direction) -> Result<BigInt> {
    let mut cursor = *input;
    let Magnitude { negative, flip, bytes } = take_magnitude(&mut cursor, direction)?;
    let magnitude = if flip == 0 {
        BigUint::from_bytes_be(bytes)
    } else {
        let flipped: Vec<u8> = bytes.iter().map(|byte| byte ^ flip).collect();
        BigUint::from_bytes_be(&flipped)
    };
    *input = cursor;
    let sign = if negative { Sign::Minus } else { Sign::Plus };
    Ok(BigInt::from_biguint(sign, magnitude))
}

/// Skips an integer.
pub(crate) fn skip_integer(input: &mut &[u8], direction: Direction) -> Result<()> {
    take_magnitude(input, direction).map(drop)
}

struct Magnitude<'a> {
    negative: bool,
    /// The mask to xor onto `bytes`.
    flip: u8,
    bytes: &'a [u8],
}

fn take_magnitude<'a>(input: &mut &'a [u8], direction: Direction) -> Result<Magnitude<'a>> {
    let mut cursor = *input;
    let header = take_byte(&mut cursor)? ^ direction.mask();
    let negative = header < ZERO;
    let header = if negative { !header } else { header };
    let flip = flip(direction, negative);
    let length = match header - ZERO {
        0 if negative => {
            return Err(KeyError::at(KeyErrorKind::NonCanonical, 0, "an integer is minus zero"));
        }
        short if usize::from(short) <= SHORT_MAX => usize::from(short),
        long => take_length(&mut cursor, flip, usize::from(long) - SHORT_MAX)
            .map_err(|error| error.moved(1))?,
    };
    let Some((bytes, rest)) = cursor.split_at_checked(length) else {
        return Err(truncated(input.len()));
    };
    if bytes.first().is_some_and(|byte| byte ^ flip == 0) {
        let position = input.len() - cursor.len();
        let message = "an integer has leading zeros";
        return Err(KeyError::at(KeyErrorKind::NonCanonical, position, message));
    }
    *input = rest;
    Ok(Magnitude { negative, flip, bytes })
}

/// Decodes the length of a long magnitude, which takes `count` bytes.
fn take_length(cursor: &mut &[u8], flip: u8, count: usize) -> Result<usize> {
    let Some((bytes, rest)) = cursor.split_at_checked(count) else {
        return Err(truncated(cursor.len()));
    };
    let length = bytes.iter().fold(0_u64, |sum, byte| sum << 8 | u64::from(byte ^ flip));
    let leading_zero = bytes.first().is_some_and(|byte| byte ^ flip == 0);
    // A length that this machine cannot address is longer than the input in any case.
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if leading_zero || length <= SHORT_MAX {
        let message = "the length of an integer has a shorter form";
        return Err(KeyError::at(KeyErrorKind::NonCanonical, 0, message));
    }
    *cursor = rest;
    Ok(length)
}

fn put_header(out: &mut Vec<u8>, flip: u8, length: usize) {
    match u8::try_from(length) {
        Ok(short) if length <= SHORT_MAX => out.push((ZERO + short) ^ flip),
        _ => {
            let bytes = length.to_be_bytes();
            let leading = bytes.iter().take_while(|byte| **byte == 0).count();
            let count = u8::try_from(bytes.len() - leading).unwrap_or(u8::MAX);
            out.push((LONG + count) ^ flip);
            out.extend(bytes.iter().skip(leading).map(|byte| byte ^ flip));
        }
    }
    out.reserve(length);
}

/// Returns the mask to xor onto every byte of an integer.
const fn flip(direction: Direction, negative: bool) -> u8 {
    if negative { !direction.mask() } else { direction.mask() }
}
