//! Lexicographic integers: short bytes, or hex text, that sort as the numbers do.
//!
//! For people who build text keys by hand and know the npm library `lexicographic-integer`, whose
//! bytes these are. Up to 250 a number is its own byte; then a tag, `FB` to `FE`, announces one to
//! four bytes of n − 251; from 4,294,967,547 on `FF`, a binary exponent and 44 significant bits.
//! Hex text has two lower-case digits a byte and sorts the same way.
//!
//! What it is not: not for numbers above [`LEXINT_MAX`], where 44 bits no longer tell neighbours
//! apart; those are refused. [`put_u64`](crate::put_u64) holds any `u64`.
//!
//! Invariant: each number has one form, and only that form is read.
//!
//! Source: substack/lexicographic-integer `a739a41`, read 2026-11.

use crate::component::take_byte;
use crate::error::{KeyError, KeyErrorKind, Result};

/// The largest number: 2^44 + 251.
pub const LEXINT_MAX: u64 = 17_592_186_044_667;

/// The largest number that is its own byte, plus one.
const OFFSET: u64 = 251;
/// The tag of the form with an exponent.
const SCIENTIFIC: u8 = 0xFF;
/// The exponent of 2^32, the smallest that form holds.
const EXPONENT_BIAS: u32 = 32;
/// Significant bits below the leading one.
const FRACTION_BITS: u32 = 43;
/// Bytes of the significant bits.
const FRACTION_BYTES: usize = 6;

/// Appends `number` in one to eight bytes.
///
/// # Errors
///
/// * [`KeyErrorKind::OutOfRange`]: above [`LEXINT_MAX`]. Use [`put_u64`](crate::put_u64).
pub fn put(out: &mut Vec<u8>, number: u64) -> Result<()> {
    if number > LEXINT_MAX {
        return Err(too_large(None));
    }
    let Some(rest) = number.checked_sub(OFFSET) else {
        out.push(u8::try_from(number).unwrap_or(u8::MAX));
        return Ok(());
    };
    if let Ok(short) = u32::try_from(rest) {
        let bytes = short.to_be_bytes();
        let leading = bytes.iter().take(3).take_while(|byte| **byte == 0).count();
        let tag = [0xFE_u8, 0xFD, 0xFC, 0xFB];
        out.extend(tag.get(leading));
        out.extend(bytes.iter().skip(leading));
        return Ok(());
    }
    // At most 2^44, so the shift to 44 bits loses nothing.
    let log2 = rest.ilog2();
    let fraction = if log2 > FRACTION_BITS { rest >> 1 } else { rest << (FRACTION_BITS - log2) };
    out.push(SCIENTIFIC);
    out.push(u8::try_from(log2 - EXPONENT_BIAS).unwrap_or(u8::MAX));
    out.extend(fraction.to_be_bytes().iter().skip(8 - FRACTION_BYTES));
    Ok(())
}

/// Reads one number from the front of `input` and moves `input` behind it.
///
/// # Errors
///
/// * [`KeyErrorKind::Truncated`]: fewer bytes than the tag announces. Refuse the key.
/// * [`KeyErrorKind::NonCanonical`]: the number has another form. Refuse the key.
/// * [`KeyErrorKind::OutOfRange`]: above [`LEXINT_MAX`], where numbers collide. Refuse the key.
pub fn take(input: &mut &[u8]) -> Result<u64> {
    let mut cursor = *input;
    let tag = take_byte(&mut cursor)?;
    let count = match tag {
        0..=0xFA => {
            *input = cursor;
            return Ok(u64::from(tag));
        }
        0xFB..=0xFE => usize::from(tag - 0xFA),
        SCIENTIFIC => 1 + FRACTION_BYTES,
    };
    let Some((bytes, rest)) = cursor.split_at_checked(count) else {
        return Err(KeyError::at(KeyErrorKind::Truncated, input.len(), "the number ends early"));
    };
    let number = if tag == SCIENTIFIC {
        scientific(bytes)?
    } else {
        if count > 1 && bytes.first() == Some(&0) {
            return Err(not_canonical(1));
        }
        OFFSET + big_endian(bytes)
    };
    *input = rest;
    Ok(number)
}

/// The number of an exponent byte and six bytes of significant bits.
fn scientific(bytes: &[u8]) -> Result<u64> {
    let (exponent, fraction) = bytes.split_first().unwrap_or((&0, &[]));
    let log2 = EXPONENT_BIAS + u32::from(*exponent);
    let fraction = big_endian(fraction);
    if fraction >> FRACTION_BITS != 1 {
        return Err(not_canonical(2));
    }
    if log2 > FRACTION_BITS {
        let largest = log2 == FRACTION_BITS + 1 && fraction == 1 << FRACTION_BITS;
        return if largest { Ok(LEXINT_MAX) } else { Err(too_large(Some(1))) };
    }
    let spare = FRACTION_BITS - log2;
    if fraction.trailing_zeros() < spare {
        return Err(not_canonical(2));
    }
    Ok(OFFSET + (fraction >> spare))
}

/// The number as lower-case hex text, 2 to 16 characters.
///
/// # Errors
///
/// As [`put`].
///
/// # Examples
///
/// ```
/// use shelfmark_keycode::lexint::to_hex;
///
/// // As decimal text `user#307` would sort before `user#5`.
/// assert_eq!(format!("user#{}", to_hex(5)?), "user#05");
/// assert_eq!(format!("user#{}", to_hex(307)?), "user#fb38");
/// # Ok::<(), shelfmark_keycode::KeyError>(())
/// ```
pub fn to_hex(number: u64) -> Result<String> {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    let mut bytes = Vec::with_capacity(2 + FRACTION_BYTES);
    put(&mut bytes, number)?;
    let nibbles = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xF]);
    Ok(nibbles.filter_map(|nibble| DIGITS.get(usize::from(nibble))).collect())
}

/// The number that [`to_hex`] wrote.
///
/// # Errors
///
/// * [`KeyErrorKind::NonCanonical`]: an odd number of characters, a character that is no lower-case
///   hex digit, or text behind the number. Refuse the text.
/// * The others of [`take`], with positions in characters.
pub fn from_hex(text: &str) -> Result<u64> {
    let (pairs, odd) = text.as_bytes().as_chunks::<2>();
    let mut bytes = [0_u8; 2 + FRACTION_BYTES];
    if !odd.is_empty() {
        let message = "hex text has an odd number of characters";
        return Err(KeyError::at(KeyErrorKind::NonCanonical, text.len(), message));
    }
    for (at, [high, low]) in pairs.iter().enumerate() {
        let (Some(high), Some(low)) = (nibble(*high), nibble(*low)) else {
            let message = "a character is no lower-case hex digit";
            return Err(KeyError::at(KeyErrorKind::NonCanonical, 2 * at, message));
        };
        match bytes.get_mut(at) {
            Some(byte) => *byte = high << 4 | low,
            None => return Err(behind(2 * at)),
        }
    }
    let given = bytes.get(..pairs.len()).unwrap_or(&bytes);
    let mut rest = given;
    let number = take(&mut rest).map_err(|error| {
        let position = error.position().unwrap_or(0);
        error.moved(position)
    })?;
    if rest.is_empty() { Ok(number) } else { Err(behind(2 * (given.len() - rest.len()))) }
}

const fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

fn big_endian(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

const fn behind(position: usize) -> KeyError {
    KeyError::at(KeyErrorKind::NonCanonical, position, "there is text behind the number")
}

const fn not_canonical(position: usize) -> KeyError {
    KeyError::at(KeyErrorKind::NonCanonical, position, "the number has another form")
}

const fn too_large(position: Option<usize>) -> KeyError {
    let message = "a lexicographic integer is at most 17,592,186,044,667";
    match position {
        Some(position) => KeyError::at(KeyErrorKind::OutOfRange, position, message),
        None => KeyError::new(KeyErrorKind::OutOfRange, message),
    }
}
