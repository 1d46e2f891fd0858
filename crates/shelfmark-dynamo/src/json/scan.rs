//! Finds the ends of JSON's strings, numbers and words.
//!
//! Functions over bytes, without state. Their results are positions in the input, so nothing is
//! copied unless a string has escapes.

use std::borrow::Cow;

/// Reads a string whose opening quote stands before `position`, and returns its text and the offset
/// behind the closing quote; `None` if it is no string.
pub(super) fn string(text: &str, position: usize) -> Option<(Cow<'_, str>, usize)> {
    let bytes = text.as_bytes();
    let mut end = position;
    loop {
        match bytes.get(end)? {
            b'"' => return Some((Cow::Borrowed(text.get(position..end)?), end + 1)),
            b'\\' => break,
            0..0x20 => return None,
            _ => end += 1,
        }
    }
    let mut out = String::with_capacity(end - position + 16);
    let mut copied = position;
    loop {
        match bytes.get(end)? {
            b'"' => {
                out.push_str(text.get(copied..end)?);
                return Some((Cow::Owned(out), end + 1));
            }
            b'\\' => {
                out.push_str(text.get(copied..end)?);
                end = escape(bytes, end + 1, &mut out)?;
                copied = end;
            }
            0..0x20 => return None,
            _ => end += 1,
        }
    }
}

/// Decodes the escape after a backslash at `position - 1`, and returns its end.
fn escape(bytes: &[u8], position: usize, out: &mut String) -> Option<usize> {
    let plain = match bytes.get(position)? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode(bytes, position + 1, out),
        _ => return None,
    };
    out.push(plain);
    Some(position + 1)
}

/// Decodes four hexadecimal digits, and four more when they are the first half of a surrogate pair.
/// Half of a pair alone is no character, and UTF-8 cannot hold it.
fn unicode(bytes: &[u8], position: usize, out: &mut String) -> Option<usize> {
    let first = hex(bytes, position)?;
    if !(0xD800..0xDC00).contains(&first) {
        out.push(char::from_u32(first)?);
        return Some(position + 4);
    }
    if bytes.get(position + 4..position + 6)? != b"\\u" {
        return None;
    }
    let second = hex(bytes, position + 6)?;
    if !(0xDC00..0xE000).contains(&second) {
        return None;
    }
    out.push(char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00))?);
    Some(position + 10)
}

fn hex(bytes: &[u8], position: usize) -> Option<u32> {
    let digits = bytes.get(position..position + 4)?;
    digits.iter().try_fold(0, |number, digit| Some(number * 16 + char::from(*digit).to_digit(16)?))
}

/// Returns the end of the number that begins at `position`, and true if it is written as an
/// integer.
pub(super) fn number(bytes: &[u8], position: usize) -> Option<(usize, bool)> {
    let digits = |mut at: usize| {
        let start = at;
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        (at > start).then_some(at)
    };
    let mut end = position + usize::from(bytes.get(position) == Some(&b'-'));
    let mut whole = true;
    end = if bytes.get(end) == Some(&b'0') { end + 1 } else { digits(end)? };
    if bytes.get(end) == Some(&b'.') {
        whole = false;
        end = digits(end + 1)?;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        whole = false;
        end += 1;
        end = digits(end + usize::from(matches!(bytes.get(end), Some(b'+' | b'-'))))?;
    }
    Some((end, whole))
}

/// Returns the end of the blanks that begin at `position`.
pub(super) fn blanks(bytes: &[u8], position: usize) -> usize {
    let mut end = position;
    while matches!(bytes.get(end), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        end += 1;
    }
    end
}
