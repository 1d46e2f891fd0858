//! Scripts: several statements in one text.
//!
//! What it is not: it does not parse. A semicolon ends a statement wherever it stands outside of
//! quotes, comments and batches.

use crate::lexer::{Fault, Kind, Piece, scan};
use crate::span::Span;

/// A script cut at its semicolons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The statements, each from its first token to its semicolon.
    pub statements: Vec<Span>,
    /// The unfinished statement behind the last semicolon, if anything but white space and comments
    /// stands there.
    pub rest: Option<Span>,
}

/// Cuts a script into statements. `BEGIN … APPLY BATCH` and `BEGIN … COMMIT TRANSACTION` stay
/// whole. A quote or comment that is never closed is part of the rest.
///
/// Cost: one pass over the text.
#[must_use]
pub fn split(text: &str) -> Script {
    let mut script = Script::default();
    let mut start = None;
    let mut opened = false;
    let mut closed = false;
    let mut at = 0;
    loop {
        let (piece, end) = match scan(text.as_bytes(), at) {
            Ok(scanned) => scanned,
            // A line comment may end the script without a line feed.
            Err(_) if is_comment(text, at) => break,
            Err(unreadable) if unreadable.fault == Fault::NoViable && unreadable.at == at => {
                start.get_or_insert(at);
                let rest = text.get(at..).unwrap_or_default();
                at += rest.chars().next().map_or(1, char::len_utf8);
                continue;
            }
            Err(_) => {
                start.get_or_insert(at);
                break;
            }
        };
        if let Piece::Token(token) = piece {
            let word = text.get(at..end).unwrap_or_default();
            let first = start.is_none();
            match token.kind {
                Kind::Begin if first => opened = true,
                Kind::Apply => closed = true,
                Kind::Ident if word.eq_ignore_ascii_case("commit") => closed = true,
                _ => {}
            }
            if token.kind == Kind::Semicolon {
                if !opened || closed {
                    script.statements.extend(start.take().map(|start| span(start, end)));
                    (opened, closed) = (false, false);
                }
            } else {
                start.get_or_insert(at);
            }
        } else if piece == Piece::End {
            break;
        }
        at = end;
    }
    script.rest = start.map(|start| span(start, text.len()));
    script
}

fn is_comment(text: &str, at: usize) -> bool {
    text.get(at..).is_some_and(|rest| rest.starts_with("--") || rest.starts_with("//"))
}

fn span(start: usize, end: usize) -> Span {
    Span { start: crate::lexer::offset(start), end: crate::lexer::offset(end) }
}

/// Replaces no-break and other wide spaces outside of quotes and comments, which no server reads,
/// by plain ones. Returns the text and the bytes where they stood.
#[must_use]
pub fn with_plain_spaces(text: &str) -> (String, Vec<usize>) {
    let mut plain = String::with_capacity(text.len());
    let mut places = Vec::new();
    let mut at = 0;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        match scan(text.as_bytes(), at) {
            Ok((Piece::End, _)) => return (plain, places),
            Ok((_, end)) => {
                plain.push_str(text.get(at..end).unwrap_or_default());
                at = end;
            }
            Err(_) => match rest.chars().next() {
                Some(character) if character.is_whitespace() && !character.is_ascii() => {
                    plain.push(' ');
                    places.push(at);
                    at += character.len_utf8();
                }
                _ => {
                    plain.push_str(rest);
                    return (plain, places);
                }
            },
        }
    }
}
