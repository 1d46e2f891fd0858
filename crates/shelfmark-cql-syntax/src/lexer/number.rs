//! Tokens that begin with a digit: whole numbers, numbers with a point, durations, blobs, UUIDs.

use super::scan::{is_word, run};
use super::{A_SET, Fault, Kind, Unreadable};

type Scanned = Result<(Kind, usize), Unreadable>;

fn digits(text: &[u8], at: usize) -> usize {
    run(text, at, u8::is_ascii_digit)
}

fn is_hex(text: &[u8], at: usize) -> bool {
    text.get(at).is_some_and(u8::is_ascii_hexdigit)
}

fn is_digit(text: &[u8], at: usize) -> bool {
    text.get(at).is_some_and(u8::is_ascii_digit)
}

/// Reads what begins with digits, at `at`; `start` is the minus sign before them, or the same.
pub(super) fn number(text: &[u8], start: usize, at: usize) -> Scanned {
    let signed = start != at;
    if !signed {
        if text.get(at) == Some(&b'0') && matches!(text.get(at + 1), Some(b'x' | b'X')) {
            return Ok((Kind::Hex, run(text, at + 2, u8::is_ascii_hexdigit)));
        }
        if uuid_begins(text, at) {
            return Ok((Kind::Uuid, uuid(text, at)?));
        }
    }
    let end = digits(text, at);
    match text.get(end).map(u8::to_ascii_lowercase) {
        Some(b'.') => fraction(text, end),
        Some(b'e') => match exponent(text, end, signed) {
            Some(float) => float,
            None => Ok((Kind::Uuid, uuid(text, at)?)),
        },
        Some(b'a' | b'b' | b'c' | b'f') if !signed => Ok((Kind::Uuid, uuid(text, at)?)),
        Some(b'd') if !signed && is_uuid_letter(text, digits(text, end + 1)) => {
            Ok((Kind::Uuid, uuid(text, at)?))
        }
        Some(b'y' | b'm' | b'w' | b'd' | b'h' | b's' | b'u' | b'n' | 0xc2) => duration(text, end),
        _ => Ok((Kind::Integer, end)),
    }
}

fn is_uuid_letter(text: &[u8], at: usize) -> bool {
    is_hex(text, at) && !is_digit(text, at)
}

/// Reads on from the point of a number. Two points belong to a slice, not to the number.
fn fraction(text: &[u8], point: usize) -> Scanned {
    let dots = run(text, point, |byte| *byte == b'.') - point;
    match dots {
        2 => Ok((Kind::Integer, point)),
        1 => {
            let end = digits(text, point + 1);
            if matches!(text.get(end), Some(b'e' | b'E')) {
                return exponent(text, end, true).unwrap_or(Ok((Kind::Float, end)));
            }
            Ok((Kind::Float, end))
        }
        _ => Ok((Kind::Float, point + 1)),
    }
}

/// Reads on from the `e` of a number; nothing when it can only be a UUID.
fn exponent(text: &[u8], e: usize, signed: bool) -> Option<Scanned> {
    let sign = matches!(text.get(e + 1), Some(b'+' | b'-'));
    let start = if sign { e + 2 } else { e + 1 };
    let end = digits(text, start);
    if end == start {
        if !sign && !signed && is_hex(text, start) {
            return None;
        }
        let fault = if sign { Fault::EmptyLoop } else { Fault::NoViable };
        return Some(Err(Unreadable { at: start, fault }));
    }
    if !sign && !signed && is_hex(text, end) {
        return None;
    }
    Some(Ok((Kind::Float, end)))
}

/// Reads on from the first unit of a duration such as `1h30m`.
fn duration(text: &[u8], first: usize) -> Scanned {
    let mut end = unit(text, first)?;
    while is_digit(text, end) {
        end = unit(text, digits(text, end))?;
    }
    Ok((Kind::Duration, end))
}

fn unit(text: &[u8], at: usize) -> Result<usize, Unreadable> {
    let lower = |at: usize| text.get(at).map(u8::to_ascii_lowercase);
    let second = |at: usize| match lower(at) {
        Some(b's') => Ok(at + 1),
        _ => Err(Unreadable { at, fault: A_SET }),
    };
    match lower(at) {
        Some(b'm') if matches!(lower(at + 1), Some(b'o' | b's')) => Ok(at + 2),
        Some(b'y' | b'm' | b'w' | b'd' | b'h' | b's') => Ok(at + 1),
        Some(b'u' | b'n') => second(at + 1),
        Some(0xc2) if lower(at + 1) == Some(0xb5) => second(at + 2),
        _ => Err(Unreadable { at, fault: Fault::NoViable }),
    }
}

/// The groups of a UUID.
const UUID_GROUPS: [usize; 5] = [8, 4, 4, 4, 12];

/// Tells whether eight hexadecimal digits and a minus sign stand here: then it must be a UUID.
pub(super) fn uuid_begins(text: &[u8], at: usize) -> bool {
    let head = text.get(at..at + 9).unwrap_or_default();
    head.split_last()
        .is_some_and(|(last, digits)| *last == b'-' && digits.iter().all(u8::is_ascii_hexdigit))
}

/// Returns where a UUID ends, or where it stops being one.
pub(super) fn uuid(text: &[u8], start: usize) -> Result<usize, Unreadable> {
    let mut at = start;
    for (group, length) in UUID_GROUPS.into_iter().enumerate() {
        if group > 0 {
            if text.get(at) != Some(&b'-') {
                return Err(Unreadable { at, fault: Fault::Expected("'-'") });
            }
            at += 1;
        }
        for _ in 0..length {
            if !is_hex(text, at) {
                return Err(Unreadable { at, fault: A_SET });
            }
            at += 1;
        }
    }
    Ok(at)
}

/// Reads a duration that begins with `P`, where one stands here and no longer word does.
pub(super) fn duration_word(text: &[u8], at: usize) -> Result<Option<usize>, Unreadable> {
    if text.get(at) != Some(&b'P') {
        return Ok(None);
    }
    if text.get(digits(text, at + 1)) == Some(&b'-') && digits(text, at + 1) == at + 5 {
        return date_and_time(text, at).map(Some);
    }
    Ok(designators(text, at).filter(|end| !text.get(*end).is_some_and(is_word)))
}

/// Reads a duration behind a minus sign: there it can be nothing else.
pub(super) fn signed_duration(text: &[u8], at: usize) -> Result<usize, Unreadable> {
    if text.get(digits(text, at + 1)) == Some(&b'-') && digits(text, at + 1) == at + 5 {
        return date_and_time(text, at);
    }
    let stopped = digits(text, at + 1);
    designators(text, at).ok_or(Unreadable { at: stopped, fault: Fault::NoViable })
}

/// Reads `P0001-02-03T04:05:06`
fn date_and_time(text: &[u8], at: usize) -> Result<usize, Unreadable> {
    let form = b"P0000-00-00T00:00:00";
    for (place, expected) in (at..).zip(form) {
        let found = text.get(place);
        match expected {
            b'0' if is_digit(text, place) => {}
            b'0' => return Err(Unreadable { at: place, fault: A_SET }),
            _ if found == Some(expected) => {}
            b'-' => return Err(Unreadable { at: place, fault: Fault::Expected("'-'") }),
            b':' => return Err(Unreadable { at: place, fault: Fault::Expected("':'") }),
            _ => return Err(Unreadable { at: place, fault: Fault::Expected("'T'") }),
        }
    }
    Ok(at + form.len())
}

/// Reads `P1Y2M3D`, `PT4H5M6S`, both together, or `P7W`.
fn designators(text: &[u8], at: usize) -> Option<usize> {
    if let Some(end) = part(text, at + 1, b'W') {
        return Some(end);
    }
    let date = parts(text, at + 1, b"YMD");
    let time = match text.get(date) {
        Some(b'T') => Some(parts(text, date + 1, b"HMS")).filter(|end| *end > date + 1),
        _ => None,
    };
    time.or((date > at + 1).then_some(date))
}

fn parts(text: &[u8], mut at: usize, letters: &[u8]) -> usize {
    for letter in letters {
        at = part(text, at, *letter).unwrap_or(at);
    }
    at
}

fn part(text: &[u8], at: usize, letter: u8) -> Option<usize> {
    let end = digits(text, at);
    (end > at && text.get(end) == Some(&letter)).then_some(end + 1)
}
