//! Encodes text and bytes of any length, self-ending and in order.
//!
//! A zero byte becomes `00 FF`, and the component ends with `00 01`. Every other byte stands for
//! itself. Text is its UTF-8 bytes, whose order is the order of code points.
//!
//! Why this and not groups of eight bytes with a count: typical keys hold no zero byte, so they
//! grow by two bytes and can be read in a hex dump; the range of all values with a given prefix is
//! plain truncation; and the worst case, 2·n + 2, still fits: the longest DynamoDB key, 2,048 and
//! 1,024 bytes, all zeros, becomes 6,148 bytes, under the roughly 7 KiB that TiKV leaves.
//!
//! Invariant: in the ascending form `00` is always followed by `FF` or `01`, and `00 01` occurs
//! once, at the end.

use std::borrow::Cow;

use super::cursor::truncated;
use super::packed::PACKS;
use crate::direction::Direction;
use crate::error::{KeyError, KeyErrorKind, Result};

/// The byte that is escaped.
const ZERO: u8 = 0x00;
/// The byte after a zero that belongs to the value.
const ZERO_STAYS: u8 = 0xFF;
/// The byte after a zero that ends the component; less than any byte that could continue the value.
const ENDS: u8 = 0x01;

/// Appends bytes in unsigned lexicographic order (a prefix comes before what it begins).
///
/// Grows by two bytes and one more per zero byte.
pub fn put_bytes(out: &mut Vec<u8>, direction: Direction, value: &[u8]) {
    put_bytes_prefix(out, direction, value);
    let mask = direction.mask();
    out.extend_from_slice(&[ZERO ^ mask, ENDS ^ mask]);
}

/// Appends text in code point order, which is the order of its UTF-8 bytes.
///
/// Grows by two bytes and one more per NUL character.
#[inline]
pub fn put_text(out: &mut Vec<u8>, direction: Direction, value: &str) {
    put_bytes(out, direction, value.as_bytes());
}

/// Appends the beginning of a bytes component, without its end.
///
/// Exactly the components of values that begin with `prefix` begin with these bytes, so a range
/// over them runs from `out` to [`prefix_successor`](crate::prefix_successor) of `out`.
pub fn put_bytes_prefix(out: &mut Vec<u8>, direction: Direction, prefix: &[u8]) {
    out.reserve(prefix.len() + 2);
    if !prefix.contains(&ZERO) {
        return put_run(out, direction, prefix);
    }
    let mask = direction.mask();
    let mut runs = prefix.split(|byte| *byte == ZERO);
    // `split` yields one run more than there are zeros: one zero stands before each but the first.
    if let Some(first) = runs.next() {
        put_run(out, direction, first);
    }
    for run in runs {
        out.extend_from_slice(&[ZERO ^ mask, ZERO_STAYS ^ mask]);
        put_run(out, direction, run);
    }
}

/// Appends the beginning of a text component, without its end, as [`put_bytes_prefix`] does for
/// bytes.
#[inline]
pub fn put_text_prefix(out: &mut Vec<u8>, direction: Direction, prefix: &str) {
    put_bytes_prefix(out, direction, prefix.as_bytes());
}

#[inline]
fn put_run(out: &mut Vec<u8>, direction: Direction, run: &[u8]) {
    match direction {
        Direction::Ascending => out.extend_from_slice(run),
        Direction::Descending => out.extend(run.iter().map(|byte| !byte)),
    }
}

/// Decodes the output of [`put_bytes`].
///
/// Borrows from the key when it can: ascending and without zero bytes. Otherwise it allocates once.
///
/// # Errors
///
/// * [`KeyErrorKind::Truncated`]: no end in sight. Treat the key as damaged.
/// * [`KeyErrorKind::NonCanonical`]: a zero followed by neither `FF` nor `01`. As above.
pub fn take_bytes<'a>(input: &mut &'a [u8], direction: Direction) -> Result<Cow<'a, [u8]>> {
    let found = find_end(input, direction)?;
    let Some((body, rest)) = split_body(input, found.body) else {
        return Err(truncated(input.len()));
    };
    *input = rest;
    if direction == Direction::Ascending && found.zeros == 0 {
        return Ok(Cow::Borrowed(body));
    }
    let mut value = Vec::with_capacity(found.body - found.zeros);
    unescape(body, direction, &mut value);
    Ok(Cow::Owned(value))
}

/// Decodes the output of [`put_bytes`] and appends it to `value`.
///
/// For callers that keep a buffer: allocates nothing but its growth. On an error `value` is as
/// before.
///
/// # Errors
///
/// As [`take_bytes`].
pub fn take_bytes_into(input: &mut &[u8], direction: Direction, value: &mut Vec<u8>) -> Result<()> {
    let found = find_end(input, direction)?;
    let Some((body, rest)) = split_body(input, found.body) else {
        return Err(truncated(input.len()));
    };
    value.reserve(found.body - found.zeros);
    unescape(body, direction, value);
    *input = rest;
    Ok(())
}

/// Decodes the output of [`put_text`].
///
/// Borrows from the key when it can: ascending and without NUL characters.
///
/// # Errors
///
/// As [`take_bytes`], and [`KeyErrorKind::NonCanonical`] when the bytes are not UTF-8.
pub fn take_text<'a>(input: &mut &'a [u8], direction: Direction) -> Result<Cow<'a, str>> {
    let mut cursor = *input;
    let not_utf8 = KeyError::at(KeyErrorKind::NonCanonical, 0, "the text is not UTF-8");
    let text = match take_bytes(&mut cursor, direction)? {
        Cow::Borrowed(bytes) => Cow::Borrowed(std::str::from_utf8(bytes).map_err(|_| not_utf8)?),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8(bytes).map_err(|_| not_utf8)?),
    };
    *input = cursor;
    Ok(text)
}

/// Skips a bytes or text component without checking UTF-8.
pub(crate) fn skip_bytes(input: &mut &[u8], direction: Direction) -> Result<()> {
    let found = find_end(input, direction)?;
    let Some((_, rest)) = split_body(input, found.body) else {
        return Err(truncated(input.len()));
    };
    *input = rest;
    Ok(())
}

struct Found {
    /// Bytes before the two that end the component.
    body: usize,
    /// Number of escapes among them.
    zeros: usize,
}

fn find_end(input: &[u8], direction: Direction) -> Result<Found> {
    let mask = direction.mask();
    let zero = ZERO ^ mask;
    let mut zeros = 0;
    let mut passed = 0;
    let mut rest = input;
    while let Some(at) = memchr::memchr(zero, rest) {
        let after = rest.split_at_checked(at + 1).map(|(_, after)| after);
        let Some((follows, next)) = after.and_then(<[u8]>::split_first) else { break };
        match follows ^ mask {
            ENDS => return Ok(Found { body: passed + at, zeros }),
            ZERO_STAYS => zeros += 1,
            _ => {
                let message = "a zero byte is followed by neither FF nor 01";
                return Err(KeyError::at(KeyErrorKind::NonCanonical, passed + at + 1, message));
            }
        }
        passed += at + 2;
        rest = next;
    }
    Err(truncated(input.len()))
}

/// Returns where the rest of a component is packed, and how many escapes stand before; `None` if it
/// ends as others do.
pub(super) fn find_pack(input: &[u8], direction: Direction) -> Option<(usize, usize)> {
    let mask = direction.mask();
    let mut zeros = 0;
    for at in memchr::memchr_iter(ZERO ^ mask, input) {
        // A zero stands as `00 FF`, whose second byte is no zero, so each that is found is a first.
        match input.get(at + 1).map(|follows| follows ^ mask) {
            Some(PACKS) => return Some((at, zeros)),
            Some(ZERO_STAYS) => zeros += 1,
            _ => break,
        }
    }
    None
}

/// Splits off the body and drops the two bytes that end the component.
fn split_body(input: &[u8], body: usize) -> Option<(&[u8], &[u8])> {
    let (body, rest) = input.split_at_checked(body)?;
    let (_, rest) = rest.split_at_checked(2)?;
    Some((body, rest))
}

/// Unescapes a body that [`find_end`] has checked.
pub(super) fn unescape(body: &[u8], direction: Direction, value: &mut Vec<u8>) {
    let zero = ZERO ^ direction.mask();
    let mut rest = body;
    while let Some(at) = memchr::memchr(zero, rest) {
        let (run, escape) = rest.split_at_checked(at).unwrap_or((rest, &[]));
        put_run(value, direction, run);
        value.push(ZERO);
        rest = escape.split_at_checked(2).map_or(&[][..], |(_, next)| next);
    }
    put_run(value, direction, rest);
}
