//! Failures as the original words them.
//!
//! `line 1:7 no viable alternative at input 'FROM' (SELECT [FROM]...)`: place, what is wrong, and
//! in parentheses the text around the token where the decision began, that token in brackets, from
//! ten tokens before it to at most two behind it, white space and comments counting as tokens.
//!
//! Source: behaviour of Apache Cassandra 5.0.9, tried 2026-11.

use super::cursor::{Failure, Parser, Reason, meaning};
use crate::error::{SyntaxError, place};
use crate::lexer::{Fault, Kind, Piece, Token, Unreadable, scan};
use crate::limits::DEPTH_MAX;

/// The number of tokens shown before the decision.
const TOKENS_BEFORE: usize = 10;
/// The number of tokens shown behind the decision's first, if they were looked at.
const TOKENS_BEHIND: usize = 2;

/// Words a failure.
pub(super) fn error(parser: &Parser<'_>, failure: Failure) -> SyntaxError {
    let text = parser.text;
    if let Some(unreadable) = parser.unreadable
        && failure.farthest + 1 >= parser.tokens.len()
        && parser.broken_rule.is_none()
    {
        return unreadable_error(text, unreadable);
    }
    let here = parser.token(parser.position);
    let rule = parser.broken_rule.clone().or(match &failure.reason {
        Reason::Rule(rule) => Some(rule.clone()),
        _ => None,
    });
    if let Some(rule) = rule {
        return SyntaxError::new(rule.into(), byte(here.start), text);
    }
    let (index, at, what) = match failure.reason {
        Reason::NoViable { index, at } => {
            let token = parser.token(at);
            let shown = shown(text, token);
            (index, token, format!("no viable alternative at input {shown}"))
        }
        Reason::Mismatch { index, expected } => {
            let token = parser.token(index);
            let shown = shown(text, token);
            (index, token, format!("mismatched input {shown} expecting {expected}"))
        }
        Reason::Depth { index } => {
            let what = format!("statement is nested deeper than {DEPTH_MAX} levels");
            (index, parser.token(index), what)
        }
        Reason::Rule(_) => (parser.position, here, String::new()),
    };
    let snippet = snippet(parser, index, failure.farthest);
    let message = format!("line {} {what}{snippet}", line_and_column(text, at));
    SyntaxError::new(message, byte(at.start), text)
}

fn byte(offset: u32) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

/// Returns line and column of a token; the end of the text has none in the original.
fn line_and_column(text: &str, token: Token) -> String {
    if token.kind == Kind::End {
        return "0:-1".to_owned();
    }
    let (line, column) = place(text, byte(token.start));
    format!("{line}:{column}")
}

fn shown(text: &str, token: Token) -> String {
    if token.kind == Kind::End {
        return "'<EOF>'".to_owned();
    }
    let written = text.get(byte(token.start)..byte(token.end)).unwrap_or_default();
    let meaning = meaning(token.kind, written);
    let meaning = if token.kind == Kind::EmptyQuoted { written } else { &meaning };
    let escaped = meaning.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t");
    format!("'{escaped}'")
}

fn unreadable_error(text: &str, unreadable: Unreadable) -> SyntaxError {
    let rest = text.get(unreadable.at..).unwrap_or_default();
    let shown = match rest.chars().next() {
        None => "'<EOF>'".to_owned(),
        Some('\n') => "'\\n'".to_owned(),
        Some('\r') => "'\\r'".to_owned(),
        Some('\t') => "'\\t'".to_owned(),
        Some(character) => format!("'{character}'"),
    };
    let what = match unreadable.fault {
        Fault::NoViable => format!("no viable alternative at character {shown}"),
        Fault::Expected(set) => format!("mismatched character {shown} expecting {set}"),
        Fault::EmptyLoop => {
            format!("required (...)+ loop did not match anything at character {shown}")
        }
    };
    let (line, column) = place(text, unreadable.at);
    SyntaxError::new(format!("line {line}:{column} {what}"), unreadable.at, text)
}

/// A token, or white space or a comment, as the snippet counts them.
struct Shown {
    start: usize,
    /// The length in UTF-16 units that the original takes the token to have: of quoted ones that
    /// of what they quote.
    length: usize,
    is_end: bool,
}

/// Returns the text around a decision, or nothing where the original shows nothing.
fn snippet(parser: &Parser<'_>, index: usize, farthest: usize) -> String {
    let text = parser.text;
    // Nothing behind the farthest token is shown, so a long text costs no more than a short one.
    let pieces = pieces(text, byte(parser.token(farthest.max(index)).start));
    let number = |token: usize| {
        let start = byte(parser.token(token).start);
        let end = parser.token(token).kind == Kind::End;
        pieces.iter().position(|piece| piece.is_end == end && piece.start == start).unwrap_or(0)
    };
    let offending = number(index);
    let last = number(farthest).min(offending + TOKENS_BEHIND);
    let first = offending.saturating_sub(TOKENS_BEFORE);
    let chosen = [pieces.get(first), pieces.get(last), pieces.get(offending)];
    let [Some(from), Some(to), Some(offending)] = chosen else { return String::new() };
    if from.is_end || to.is_end || offending.is_end {
        return String::new();
    }
    draw(text, from, to, offending).unwrap_or_default()
}

fn pieces(text: &str, last: usize) -> Vec<Shown> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while let Ok((piece, end)) = scan(text.as_bytes(), at) {
        let written = text.get(at..end).unwrap_or_default();
        let length = match piece {
            Piece::Token(token) if token.kind == Kind::EmptyQuoted => 2,
            Piece::Token(token) => meaning(token.kind, written).encode_utf16().count(),
            _ => written.encode_utf16().count(),
        };
        let is_end = piece == Piece::End;
        pieces.push(Shown { start: at, length, is_end });
        if is_end || at >= last {
            break;
        }
        at = end;
    }
    pieces
}

/// Cuts the lines as the original does: the end first, then the brackets, then the beginning.
fn draw(text: &str, from: &Shown, to: &Shown, offending: &Shown) -> Option<String> {
    let mut written: Vec<&str> = text.split('\n').collect();
    while written.len() > 1 && written.last().is_some_and(|line| line.is_empty()) {
        written.pop();
    }
    let spot = |piece: &Shown| {
        let (line, column) = place(text, piece.start);
        (line - 1, column)
    };
    let (from_line, from_column) = spot(from);
    let (to_line, to_column) = spot(to);
    let (line, column) = spot(offending);
    let units = |line: &&str| line.encode_utf16().collect::<Vec<u16>>();
    let mut lines: Vec<Vec<u16>> = written.get(from_line..=to_line)?.iter().map(units).collect();
    let to_end = to_column + to.length;
    let whole_end = to_line + 1 == written.len() && to_end == lines.last()?.len();
    lines.last_mut()?.truncate(to_end);
    let bracketed = lines.get_mut(line.checked_sub(from_line)?)?;
    let close = column + offending.length;
    if close > bracketed.len() {
        return None;
    }
    bracketed.insert(close, u16::from(b']'));
    bracketed.insert(column, u16::from(b'['));
    let begun = lines.first()?.get(from_column..)?.to_vec();
    *lines.first_mut()? = begun;
    let shown = lines.concat();
    let before = if from_line == 0 && from_column == 0 { "" } else { "..." };
    let behind = if whole_end { "" } else { "..." };
    Some(format!(" ({before}{}{behind})", String::from_utf16_lossy(&shown)))
}
