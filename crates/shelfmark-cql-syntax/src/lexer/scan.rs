//! One piece of text: a token, white space or a comment.

use super::number::{duration_word, number, signed_duration, uuid, uuid_begins};
use super::{Fault, Kind, Piece, Token, Unreadable, keyword, offset};

/// Reads what begins at a byte, and says where it ends.
pub(crate) fn scan(text: &[u8], at: usize) -> Result<(Piece, usize), Unreadable> {
    let Some(&first) = text.get(at) else { return Ok((Piece::End, at)) };
    let next = text.get(at + 1).copied();
    let (kind, end) = match first {
        b' ' | b'\t' | b'\n' | b'\r' => {
            let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
            return Ok((Piece::Hidden { start: at }, run(text, at, blank)));
        }
        b'-' | b'/' if next == Some(first) => return comment(text, at),
        b'/' if next == Some(b'*') => return long_comment(text, at),
        b'a'..=b'z' | b'A'..=b'Z' => word(text, at)?,
        b'0'..=b'9' => number(text, at, at)?,
        b'-' => minus(text, at)?,
        b'\'' => (Kind::String, quoted(text, at, b'\'', "'''")?),
        b'"' => name(text, at)?,
        b'$' => (Kind::String, dollars(text, at)?),
        _ => sign(text, at, first, next)?,
    };
    Ok((Piece::Token(Token { kind, start: offset(at), end: offset(end) }), end))
}

/// Returns where a run of bytes ends.
pub(super) fn run(text: &[u8], start: usize, belongs: impl Fn(&u8) -> bool) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    rest.iter().position(|byte| !belongs(byte)).map_or(text.len(), |length| start + length)
}

pub(super) fn is_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_'
}

fn comment(text: &[u8], at: usize) -> Result<(Piece, usize), Unreadable> {
    let end = run(text, at, |byte| !matches!(byte, b'\n' | b'\r'));
    if end == text.len() {
        return Err(Unreadable { at: end, fault: super::A_SET });
    }
    Ok((Piece::Hidden { start: at }, end + 1))
}

fn long_comment(text: &[u8], at: usize) -> Result<(Piece, usize), Unreadable> {
    let body = text.get(at + 2..).unwrap_or_default();
    match body.windows(2).position(|pair| pair == b"*/") {
        Some(length) => Ok((Piece::Hidden { start: at }, at + 2 + length + 2)),
        None => Err(Unreadable { at: text.len(), fault: Fault::Expected("'*'") }),
    }
}

fn word(text: &[u8], at: usize) -> Result<(Kind, usize), Unreadable> {
    let end = run(text, at, is_word);
    let word = text.get(at..end).unwrap_or_default();
    if uuid_begins(text, at) {
        return Ok((Kind::Uuid, uuid(text, at)?));
    }
    if let Some(duration) = duration_word(text, at)? {
        return Ok((Kind::Duration, duration));
    }
    if let Some(kind) = keyword(word) {
        return Ok((kind, end));
    }
    if word == b"expr" && text.get(end) == Some(&b'(') {
        return Ok((Kind::ExprParen, end + 1));
    }
    let boolean = word.eq_ignore_ascii_case(b"true") || word.eq_ignore_ascii_case(b"false");
    Ok((if boolean { Kind::Boolean } else { Kind::Ident }, end))
}

fn minus(text: &[u8], at: usize) -> Result<(Kind, usize), Unreadable> {
    match text.get(at + 1) {
        Some(b'0'..=b'9') => number(text, at, at + 1),
        Some(b'n' | b'N') => Ok((Kind::NegativeNan, all_of(text, at + 1, b"nan")?)),
        Some(b'i' | b'I') => Ok((Kind::NegativeInfinity, all_of(text, at + 1, b"infinity")?)),
        Some(b'P') => Ok((Kind::Duration, signed_duration(text, at + 1)?)),
        Some(b'=') => Ok((Kind::MinusEqual, at + 2)),
        _ => Ok((Kind::Minus, at + 1)),
    }
}

/// Reads the rest of a word: its first letter behind a minus sign has decided that it is this word.
fn all_of(text: &[u8], at: usize, word: &[u8]) -> Result<usize, Unreadable> {
    for (place, expected) in (at..).zip(word) {
        if !text.get(place).is_some_and(|byte| byte.eq_ignore_ascii_case(expected)) {
            return Err(Unreadable { at: place, fault: super::A_SET });
        }
    }
    Ok(at + word.len())
}

/// Returns where a quoted text ends; a doubled quote inside stands for one.
fn quoted(text: &[u8], at: usize, quote: u8, shown: &'static str) -> Result<usize, Unreadable> {
    let mut end = at + 1;
    loop {
        end = run(text, end, |byte| *byte != quote);
        if end == text.len() {
            return Err(Unreadable { at: end, fault: Fault::Expected(shown) });
        }
        if text.get(end + 1) != Some(&quote) {
            return Ok(end + 1);
        }
        end += 2;
    }
}

fn name(text: &[u8], at: usize) -> Result<(Kind, usize), Unreadable> {
    if text.get(at + 1) == Some(&b'"') && text.get(at + 2) != Some(&b'"') {
        return Ok((Kind::EmptyQuoted, at + 2));
    }
    Ok((Kind::Quoted, quoted(text, at, b'"', "'\"'")?))
}

/// Reads `$$text$$`, where the text may hold anything but two dollar signs.
fn dollars(text: &[u8], at: usize) -> Result<usize, Unreadable> {
    let fault = Fault::Expected("'$'");
    if text.get(at + 1) != Some(&b'$') {
        return Err(Unreadable { at: at + 1, fault });
    }
    let body = text.get(at + 2..).unwrap_or_default();
    match body.windows(2).position(|pair| pair == b"$$") {
        Some(length) => Ok(at + 2 + length + 2),
        // The original notices it at the last character.
        None => Err(Unreadable { at: (at + 2).max(text.len().saturating_sub(1)), fault }),
    }
}

fn sign(text: &[u8], at: usize, first: u8, next: Option<u8>) -> Result<(Kind, usize), Unreadable> {
    let equal = next == Some(b'=');
    let kind = match first {
        b'.' if next == Some(b'.') => return Ok((Kind::Range, at + 2)),
        b'<' if equal => return Ok((Kind::LessOrEqual, at + 2)),
        b'>' if equal => return Ok((Kind::GreaterOrEqual, at + 2)),
        b'!' if equal => return Ok((Kind::NotEqual, at + 2)),
        b'+' if equal => return Ok((Kind::PlusEqual, at + 2)),
        b'!' => return Err(Unreadable { at: at + 1, fault: Fault::Expected("'='") }),
        b';' => Kind::Semicolon,
        b'(' => Kind::LeftParen,
        b')' => Kind::RightParen,
        b',' => Kind::Comma,
        b'.' => Kind::Dot,
        b'*' => Kind::Star,
        b'=' => Kind::Equal,
        b'<' => Kind::Less,
        b'>' => Kind::Greater,
        b'[' => Kind::LeftBracket,
        b']' => Kind::RightBracket,
        b'{' => Kind::LeftBrace,
        b'}' => Kind::RightBrace,
        b':' => Kind::Colon,
        b'+' => Kind::Plus,
        b'/' => Kind::Slash,
        b'%' => Kind::Percent,
        b'?' => Kind::Question,
        _ => {
            debug_assert!(at < text.len());
            return Err(Unreadable { at, fault: Fault::NoViable });
        }
    };
    Ok((kind, at + 1))
}
