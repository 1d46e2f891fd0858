//! Encodes decimals of any precision in numeric order; equal numbers have equal bytes.
//!
//! A number is taken as 0.d₁d₂d₃… · 10^E with d₁ ≠ 0 and no trailing zeros. Zero is `80`. A
//! positive one is an exponent header, then two digits a byte plus one (`01` to `64`, an odd last
//! digit is followed by zero), then `00`. The header is `89` + (E + 40) for E from −40 to 63;
//! above, `F0` + k, then E − 64 in k bytes; below, `89` − k, then the complement of −41 − E in k
//! bytes (k from 1 to 4, no leading zeros but for the single byte zero). A negative number is the
//! complement of all bytes of its positive twin.
//!
//! Invariant: header and exponent bytes decide first, then the digits, where a longer run beats
//! its own beginning because the end, `00`, is below every digit byte.

use super::cursor::{take_byte, truncated};
use crate::decimal::{DIGITS_MAX, Decimal, Digits, Parts};
use crate::direction::Direction;
use crate::error::{KeyError, KeyErrorKind, Result};

const ZERO: u8 = 0x80;
/// The header of the smallest exponent that fits into the header.
const NEAR: u8 = 0x89;
const NEAR_EXPONENT_MIN: i64 = -40;
const NEAR_EXPONENT_MAX: i64 = 63;
/// The header of the largest exponent that fits into the header.
const NEAR_END: u8 = 0xF0;
/// The most bytes of an exponent beside its header.
const FAR_BYTES_MAX: u8 = 4;
const DIGITS_END: u8 = 0x00;

/// Appends a decimal: one to five bytes, one per two significant digits, and one.
///
/// Allocates only for numbers of more than 38 digits, to turn them from binary.
pub fn put_decimal(out: &mut Vec<u8>, direction: Direction, value: &Decimal) {
    put_parts(out, direction, &Parts::of(value));
}

pub(crate) fn put_parts(out: &mut Vec<u8>, direction: Direction, parts: &Parts) {
    if parts.is_zero() {
        return out.push(ZERO ^ direction.mask());
    }
    let flip = if parts.negative { !direction.mask() } else { direction.mask() };
    put_exponent(out, flip, parts.exponent);
    let digits = parts.digits.as_slice();
    out.reserve(digits.len() / 2 + 2);
    for pair in digits.chunks(2) {
        let pair = match pair {
            [tens, ones] => tens * 10 + ones,
            [tens] => tens * 10,
            _ => 0,
        };
        out.push((pair + 1) ^ flip);
    }
    out.push(DIGITS_END ^ flip);
}

fn put_exponent(out: &mut Vec<u8>, flip: u8, exponent: i64) {
    if let Ok(near) = u8::try_from(exponent - NEAR_EXPONENT_MIN)
        && exponent <= NEAR_EXPONENT_MAX
    {
        return out.push((NEAR + near) ^ flip);
    }
    let above = exponent > NEAR_EXPONENT_MAX;
    let far =
        if above { exponent - NEAR_EXPONENT_MAX - 1 } else { NEAR_EXPONENT_MIN - 1 - exponent };
    // At most 2^31 and the digits of a number: four bytes.
    let bytes = u32::try_from(far).unwrap_or(u32::MAX).to_be_bytes();
    let leading = bytes.iter().take(bytes.len() - 1).take_while(|byte| **byte == 0).count();
    let count = u8::try_from(bytes.len() - leading).unwrap_or(FAR_BYTES_MAX);
    let (header, flip_far) = if above { (NEAR_END + count, flip) } else { (NEAR - count, !flip) };
    out.push(header ^ flip);
    out.extend(bytes.iter().skip(leading).map(|byte| byte ^ flip_far));
}

/// Decodes the output of [`put_decimal`], with the smallest scale.
///
/// # Errors
///
/// * [`KeyErrorKind::Truncated`]: the bytes end inside the number. Treat the key as damaged.
/// * [`KeyErrorKind::NonCanonical`]: bytes that no number has. As above.
/// * [`KeyErrorKind::TooLong`], [`KeyErrorKind::Underflow`]: more digits or a smaller exponent than
///   a [`Decimal`] holds. As above.
pub fn take_decimal(input: &mut &[u8], direction: Direction) -> Result<Decimal> {
    let mut cursor = *input;
    let Some(head) = take_head(&mut cursor, direction)? else {
        *input = cursor;
        return Ok(Decimal::zero());
    };
    let start = input.len() - cursor.len();
    let pairs = take_pairs(&mut cursor, head.flip).map_err(|error| error.moved(start))?;
    if pairs.len() > DIGITS_MAX.div_ceil(2) {
        let message = "a decimal has too many digits";
        return Err(KeyError::at(KeyErrorKind::TooLong, start, message));
    }
    let mut digits = Digits::new();
    for pair in pairs {
        let pair = (pair ^ head.flip) - 1;
        digits.push(pair / 10);
        digits.push(pair % 10);
    }
    digits.trim();
    let parts = Parts { negative: head.negative, exponent: head.exponent, digits };
    let decimal = parts.to_decimal().map_err(|error| error.moved(0))?;
    *input = cursor;
    Ok(decimal)
}

/// Skips a decimal without checking that it is within the range of a [`Decimal`].
pub(crate) fn skip_decimal(input: &mut &[u8], direction: Direction) -> Result<()> {
    let mut cursor = *input;
    if let Some(head) = take_head(&mut cursor, direction)? {
        let start = input.len() - cursor.len();
        take_pairs(&mut cursor, head.flip).map_err(|error| error.moved(start))?;
    }
    *input = cursor;
    Ok(())
}

struct Head {
    negative: bool,
    flip: u8,
    exponent: i64,
}

/// Decodes sign and exponent; `None` is zero.
fn take_head(input: &mut &[u8], direction: Direction) -> Result<Option<Head>> {
    let mut cursor = *input;
    let header = take_byte(&mut cursor)? ^ direction.mask();
    if header == ZERO {
        *input = cursor;
        return Ok(None);
    }
    let negative = header < ZERO;
    let header = if negative { !header } else { header };
    let flip = if negative { !direction.mask() } else { direction.mask() };
    let exponent = if header > NEAR_END {
        NEAR_EXPONENT_MAX + 1 + take_far(&mut cursor, flip, header - NEAR_END)?
    } else if header >= NEAR {
        NEAR_EXPONENT_MIN + i64::from(header - NEAR)
    } else {
        NEAR_EXPONENT_MIN - 1 - take_far(&mut cursor, !flip, NEAR - header)?
    };
    *input = cursor;
    Ok(Some(Head { negative, flip, exponent }))
}

/// Decodes the `count` bytes of an exponent; positions count from the header before them.
fn take_far(cursor: &mut &[u8], flip: u8, count: u8) -> Result<i64> {
    if count > FAR_BYTES_MAX {
        return Err(KeyError::at(KeyErrorKind::NonCanonical, 0, "no decimal has this header"));
    }
    let Some((bytes, rest)) = cursor.split_at_checked(usize::from(count)) else {
        return Err(truncated(cursor.len() + 1));
    };
    if count > 1 && bytes.first().is_some_and(|byte| byte ^ flip == 0) {
        let message = "the exponent of a decimal has a shorter form";
        return Err(KeyError::at(KeyErrorKind::NonCanonical, 1, message));
    }
    *cursor = rest;
    Ok(bytes.iter().fold(0, |sum, byte| sum << 8 | i64::from(byte ^ flip)))
}

/// Finds the digit pairs and moves behind their end.
fn take_pairs<'a>(input: &mut &'a [u8], flip: u8) -> Result<&'a [u8]> {
    let end = DIGITS_END ^ flip;
    let Some(length) = input.iter().position(|byte| *byte == end) else {
        return Err(truncated(input.len()));
    };
    let (pairs, rest) = input.split_at_checked(length).unwrap_or((input, &[]));
    let refused =
        |position, message| Err(KeyError::at(KeyErrorKind::NonCanonical, position, message));
    if let Some(position) = pairs.iter().position(|byte| byte ^ flip > 100) {
        return refused(position, "a byte of a decimal holds no two digits");
    }
    // The first pair is at least 10 (no leading zero), the last is not 00 (no trailing zeros).
    match (pairs.first(), pairs.last()) {
        (Some(first), Some(last))
            if byte_pair(*first, flip) >= 10 && byte_pair(*last, flip) > 0 =>
        {
            *input = rest.split_first().map_or(&[], |(_, rest)| rest);
            Ok(pairs)
        }
        _ => refused(0, "a decimal has needless zeros or no digits"),
    }
}

/// Returns the two digits in a byte that is not the end.
const fn byte_pair(byte: u8, flip: u8) -> u8 {
    (byte ^ flip).wrapping_sub(1)
}
