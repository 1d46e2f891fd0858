//! From text to tokens.
//!
//! The lexer decides as the original's does, oddities included: a minus sign before digits belongs
//! to the number, eight hexadecimal digits before a minus sign begin a UUID whatever follows, and
//! a line comment must end with its line. So what Cassandra refuses is refused here, at the same
//! place.
//!
//! What it is not: it converts nothing; a token is its kind and its place.
//!
//! Invariant: tokens lie one behind the other, each at least one byte long, and between them is
//! nothing but white space and comments.
//!
//! Source: behaviour of Apache Cassandra 5.0.9, tried 2026-11.

mod keyword;
mod kind;
mod number;
mod scan;

pub(crate) use keyword::keyword;
pub(crate) use kind::{Class, Kind, WORDS};
pub(crate) use scan::scan;

/// One token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// Its kind.
    pub(crate) kind: Kind,
    /// Its first byte.
    pub(crate) start: u32,
    /// The byte behind its last.
    pub(crate) end: u32,
}

/// A text that the lexer could not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    /// The byte where it stopped; the text's length at its end.
    pub(crate) at: usize,
    /// The fault there.
    pub(crate) fault: Fault,
}

/// The fault of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// No token goes on like that.
    NoViable,
    /// Something else had to stand there.
    Expected(&'static str),
    /// At least one digit had to stand there.
    EmptyLoop,
}

/// One of several characters, as the original names them.
pub(crate) const A_SET: Fault = Fault::Expected("set null");

/// A token or what stands between tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A token of the grammar.
    Token(Token),
    /// White space, or one comment.
    Hidden {
        /// Its first byte.
        start: usize,
    },
    /// The text ends here.
    End,
}

/// Reads all tokens of a text.
///
/// The last token is [`Kind::End`], or [`Kind::Broken`] where the text stops being readable;
/// then the fault comes with it.
pub(crate) fn tokens(text: &str) -> (Vec<Token>, Option<Unreadable>) {
    let bytes = text.as_bytes();
    let mut tokens = Vec::with_capacity(text.len() / 4 + 4);
    let mut at = 0;
    loop {
        match scan(bytes, at) {
            Ok((Piece::Token(token), end)) => {
                tokens.push(token);
                at = end;
            }
            Ok((Piece::Hidden { .. }, end)) => at = end,
            Ok((Piece::End, _)) => {
                tokens.push(Token { kind: Kind::End, start: offset(at), end: offset(at) });
                return (tokens, None);
            }
            Err(unreadable) => {
                tokens.push(Token { kind: Kind::Broken, start: offset(at), end: offset(at) });
                return (tokens, Some(unreadable));
            }
        }
    }
}

/// Returns a place in a text, which is never longer than [`crate::TEXT_BYTES_MAX`].
pub(crate) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
