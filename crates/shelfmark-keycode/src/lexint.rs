//! Encodes lexicographic integers: short bytes, or hex text, that sort as the numbers do.
//!
//! For people who build text keys by hand and know the npm library `lexicographic-integer`, whose
//! bytes these are up to [`LIBRARY_MAX`]. Up to 250 a number is its own byte; then a tag, `FB` to
//! `FE`, announces one to four bytes of n − 251; from 4,294,967,547 on `FF`, a binary exponent and
//! 44 significant bits. Above [`LIBRARY_MAX`] the library's 44 bits no longer tell neighbours apart;
//! there `FF` is followed by `F6`, `F7` or `F8`, which no exponent of the library's exact range
//! reaches, and by six, seven or eight bytes of n − 251. Hex text has two lower-case digits a byte
//! and sorts the same way.
//!
//! What it is not: not for negative numbers, and no reader of what the library writes above
//! [`LIBRARY_MAX`]: such a text stands for many numbers and is refused.
//!
//! Invariant: every `u64` has one form, and only that form is read.
//!
//! Source: substack/lexicographic-integer `a739a41`, read 2026-11; the forms behind `FF F6` to
//! `FF F8` are ours.

use crate::component::take_byte;
use crate::error::{KeyError, KeyErrorKind, Result};

/// The largest number whose bytes are those of the npm library: 2^44 + 251.
pub const LIBRARY_MAX: u64 = 17_592_186_044_667;

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
/// The byte that, behind `FF` and before a count of bytes, announces a number above
/// [`LIBRARY_MAX`].
const LONG: u8 = 0xF0;
/// Bytes of the smallest and the largest number above [`LIBRARY_MAX`].
const LONG_BYTES: std::ops::RangeInclusive<usize> = 6..=8;
/// Bytes of the longest form.
const BYTES_MAX: usize = 10;

/// Appends `number` in one to ten bytes.
pub fn put(out: &mut Vec<u8>, number: u64) {
    let Some(rest) = number.checked_sub(OFFSET) else {
        out.push(u8::try_from(number).unwrap_or(u8::MAX));
        return;
    };
    if let Ok(short) = u32::try_from(rest) {
        let bytes = short.to_be_bytes();
        let leading = bytes.iter().take(3).take_while(|byte| **byte == 0).count();
        let tag = [0xFE_u8, 0xFD, 0xFC, 0xFB];
        out.extend(tag.get(leading));
        out.extend(bytes.iter().skip(leading));
        return;
    }
    if number > LIBRARY_MAX {
        let bytes = rest.to_be_bytes();
        let leading = bytes.iter().take(2).take_while(|byte| **byte == 0).count();
        let tag = [LONG + 8, LONG + 7, LONG + 6];
        out.push(SCIENTIFIC);
        out.extend(tag.get(leading));
        out.extend(bytes.iter().skip(leading));
        return;
    }
    // At most 2^44, so the shift to 44 bits loses nothing.
    let log2 = rest.ilog2();
    let fraction = if log2 > FRACTION_BITS { rest >> 1 } else { rest << (FRACTION_BITS - log2) };
    out.push(SCIENTIFIC);
    out.push(u8::try_from(log2 - EXPONENT_BIAS).unwrap_or(u8::MAX));
    out.extend(fraction.to_be_bytes().iter().skip(8 - FRACTION_BYTES));
}

/// Decodes one number from the front of `input` and moves `input` behind it.
///
/// # Errors
///
/// * [`KeyErrorKind::Truncated`]: fewer bytes than the tag announces. Refuse the key.
/// * [`KeyErrorKind::NonCanonical`]: the number has another form. Refuse the key.
/// * [`KeyErrorKind::OutOfRange`]: the npm library's form of a number above [`LIBRARY_MAX`], where its
///   numbers collide, or a number above `u64::MAX`. Refuse the key.
pub fn take(input: &mut &[u8]) -> Result<u64> {
    let mut cursor = *input;
    let tag = take_byte(&mut cursor)?;
    let count = match tag {
        0..=0xFA => {
            *input = cursor;
            return Ok(u64::from(tag));
        }
        0xFB..=0xFE => usize::from(tag - 0xFA),
        SCIENTIFIC => 1 + long_bytes(cursor).unwrap_or(FRACTION_BYTES),
    };
    let Some((bytes, rest)) = cursor.split_at_checked(count) else {
        return Err(KeyError::at(KeyErrorKind::Truncated, input.len(), "the number ends early"));
    };
    let number = if tag == SCIENTIFIC {
        match (long_bytes(bytes), bytes.split_first()) {
            (Some(_), Some((_, bytes))) => long(bytes)?,
            _ => scientific(bytes)?,
        }
    } else {
        if count > 1 && bytes.first() == Some(&0) {
            return Err(not_canonical(1));
        }
        OFFSET + big_endian(bytes)
    };
    *input = rest;
    Ok(number)
}

/// Returns how many bytes of n − 251 are announced, if the byte behind `FF` is no exponent.
fn long_bytes(behind: &[u8]) -> Option<usize> {
    let count = usize::from(behind.first()?.checked_sub(LONG)?);
    LONG_BYTES.contains(&count).then_some(count)
}

/// Decodes six to eight bytes of a number that no shorter form holds.
fn long(bytes: &[u8]) -> Result<u64> {
    if bytes.len() > *LONG_BYTES.start() && bytes.first() == Some(&0) {
        return Err(not_canonical(2));
    }
    match big_endian(bytes).checked_add(OFFSET) {
        Some(number) if number > LIBRARY_MAX => Ok(number),
        Some(_) => Err(not_canonical(2)),
        None => {
            let message = "a lexicographic integer is at most 18,446,744,073,709,551,615";
            Err(KeyError::at(KeyErrorKind::OutOfRange, 2, message))
        }
    }
}

/// Decodes an exponent byte and six bytes of significant bits.
fn scientific(bytes: &[u8]) -> Result<u64> {
    let (exponent, fraction) = bytes.split_first().unwrap_or((&0, &[]));
    let log2 = EXPONENT_BIAS + u32::from(*exponent);
    let fraction = big_endian(fraction);
    if fraction >> FRACTION_BITS != 1 {
        return Err(not_canonical(2));
    }
    if log2 > FRACTION_BITS {
        let largest = log2 == FRACTION_BITS + 1 && fraction == 1 << FRACTION_BITS;
        return if largest { Ok(LIBRARY_MAX) } else { Err(inexact()) };
    }
    let spare = FRACTION_BITS - log2;
    if fraction.trailing_zeros() < spare {
        return Err(not_canonical(2));
    }
    Ok(OFFSET + (fraction >> spare))
}

/// Returns the number as lower-case hex text of 2 to 20 characters.
///
/// # Examples
///
/// ```
/// use shelfmark_keycode::lexint::to_hex;
///
/// // As decimal text `user#307` would sort before `user#5`.
/// assert_eq!(format!("user#{}", to_hex(5)), "user#05");
/// assert_eq!(format!("user#{}", to_hex(307)), "user#fb38");
/// assert!(to_hex(17_592_186_044_667) < to_hex(1_790_000_000_000_000));
/// ```
pub fn to_hex(number: u64) -> String {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    let mut bytes = Vec::with_capacity(BYTES_MAX);
    put(&mut bytes, number);
    let nibbles = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xF]);
    nibbles.filter_map(|nibble| DIGITS.get(usize::from(nibble))).collect()
}

/// Decodes the output of [`to_hex`].
///
/// # Errors
///
/// * [`KeyErrorKind::NonCanonical`]: an odd number of characters, a character that is no lower-case
///   hex digit, or text behind the number. Refuse the text.
/// * The others of [`take`], with positions in characters.
pub fn from_hex(text: &str) -> Result<u64> {
    let (pairs, odd) = text.as_bytes().as_chunks::<2>();
    let mut bytes = [0_u8; BYTES_MAX];
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

const fn inexact() -> KeyError {
    let message = "above 17,592,186,044,667 this form stands for several numbers";
    KeyError::at(KeyErrorKind::OutOfRange, 1, message)
}
