//! Splits statements into tokens: words, texts, numbers and symbols, each with its place.
//!
//! Blanks and comments (`-- …` to the end of the line, `/* … */`) separate tokens. A character that
//! begins none, a text, quoted name or comment without an end and a number whose exponent is out of
//! the reach of 32 bits refuse the statement, in the service's words without a detail.

use std::borrow::Cow;
use std::fmt;

use super::malformed;
use super::words::is_keyword;
use crate::errors::Result;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name.
    Word,
    /// A keyword, in small letters.
    Keyword,
    /// A name in double quotes.
    Quoted,
    /// A text in single quotes.
    Text,
    Number,
    /// An operator, a bracket or a question mark.
    Symbol,
    /// The end of the statement.
    End,
}

/// Line and column of a token, from 1, and its length, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Place {
    line: usize,
    column: usize,
    length: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.line, self.column, self.length)
    }
}

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: TokenKind,
    /// The text without quotes.
    pub(super) text: Cow<'a, str>,
    pub(super) place: Place,
}

impl Token<'_> {
    /// Returns true if this is the given symbol.
    pub(super) fn is(&self, symbol: &str) -> bool {
        self.kind == TokenKind::Symbol && self.text == symbol
    }

    /// Returns true if this is the given keyword.
    pub(super) fn is_keyword(&self, keyword: &str) -> bool {
        self.kind == TokenKind::Keyword && self.text == keyword
    }
}

/// Symbols of two characters.
const PAIRS: [&str; 7] = ["<<", ">>", "<=", ">=", "<>", "!=", "||"];
/// Symbols of one character.
const SINGLES: &str = "()[]{}<>=,.:;?*+-/%@";

/// Returns the tokens of a statement, with one [`TokenKind::End`] behind them.
///
/// # Errors
///
/// * ValidationException: something in the statement is no token.
pub(super) fn tokens(source: &str) -> Result<Vec<Token<'_>>> {
    let mut lexer = Lexer { rest: source, line: 1, column: 1 };
    let mut tokens = Vec::with_capacity(source.len() / 4 + 2);
    while let Some(first) = lexer.begin()? {
        tokens.push(lexer.token(first)?);
    }
    let place = Place { line: lexer.line, column: lexer.column, length: 0 };
    tokens.push(Token { kind: TokenKind::End, text: Cow::Borrowed(""), place });
    Ok(tokens)
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
    column: usize,
}

impl<'a> Lexer<'a> {
    /// Steps over blanks and comments; returns the first character of the next token.
    fn begin(&mut self) -> Result<Option<char>> {
        loop {
            let blanks = self.rest.len() - self.rest.trim_start().len();
            self.advance(blanks);
            let comment = if self.rest.starts_with("--") {
                self.rest.find('\n').unwrap_or(self.rest.len())
            } else if self.rest.starts_with("/*") {
                let end = self.rest.get(2..).and_then(|inner| inner.find("*/"));
                end.ok_or_else(|| malformed(""))? + 4
            } else {
                return Ok(self.rest.chars().next());
            };
            self.advance(comment);
        }
    }

    /// Takes so many bytes, which end between characters, and returns them.
    fn advance(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        for letter in taken.chars() {
            if letter == '\n' {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
        self.rest = rest;
        taken
    }

    fn token(&mut self, first: char) -> Result<Token<'a>> {
        let (line, column) = (self.line, self.column);
        let (kind, bytes) = self.extent(first)?;
        let taken = self.advance(bytes);
        let place = Place { line, column, length: taken.chars().count() };
        let (kind, text) = match kind {
            TokenKind::Quoted => (kind, unquoted(taken, '"')),
            TokenKind::Text => (kind, unquoted(taken, '\'')),
            TokenKind::Word => word(taken),
            TokenKind::Number | TokenKind::Symbol | TokenKind::Keyword | TokenKind::End => {
                (kind, Cow::Borrowed(taken))
            }
        };
        Ok(Token { kind, text, place })
    }

    /// Returns the kind and the length in bytes of the token that begins with `first`.
    fn extent(&self, first: char) -> Result<(TokenKind, usize)> {
        let is_digit = |byte: &u8| byte.is_ascii_digit();
        let second = self.rest.as_bytes().get(1);
        match first {
            '\'' => self.quoted(b'\'').map(|bytes| (TokenKind::Text, bytes)),
            '"' => self.quoted(b'"').map(|bytes| (TokenKind::Quoted, bytes)),
            '0'..='9' => self.number().map(|bytes| (TokenKind::Number, bytes)),
            '.' if second.is_some_and(is_digit) => {
                self.number().map(|bytes| (TokenKind::Number, bytes))
            }
            'a'..='z' | 'A'..='Z' | '_' | '$' => {
                let is_name =
                    |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
                Ok((TokenKind::Word, self.rest.bytes().take_while(is_name).count()))
            }
            _ if PAIRS.iter().any(|pair| self.rest.starts_with(pair)) => Ok((TokenKind::Symbol, 2)),
            _ if SINGLES.contains(first) => Ok((TokenKind::Symbol, 1)),
            _ => Err(malformed("")),
        }
    }

    /// Returns the length of what stands between two quotes, which are doubled inside.
    fn quoted(&self, quote: u8) -> Result<usize> {
        let bytes = self.rest.as_bytes();
        let mut at = 1;
        loop {
            match (bytes.get(at), bytes.get(at + 1)) {
                (None, _) => return Err(malformed("")),
                (Some(one), Some(two)) if *one == quote && *two == quote => at += 2,
                (Some(one), _) if *one == quote => return Ok(at + 1),
                (Some(_), _) => at += 1,
            }
        }
    }

    fn number(&self) -> Result<usize> {
        let bytes = self.rest.as_bytes();
        let digits =
            |from: usize| bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
        let mut end = digits(0);
        let mut fraction = 0;
        if bytes.get(end) == Some(&b'.') {
            fraction = digits(end + 1);
            end += 1 + fraction;
        }
        if !matches!(bytes.get(end), Some(b'e' | b'E')) {
            return Ok(end);
        }
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let of_exponent = digits(end + 1 + sign);
        if of_exponent == 0 {
            return Err(malformed(""));
        }
        let exponent = self.rest.get(end + 1..end + 1 + sign + of_exponent).unwrap_or_default();
        let exponent = exponent.trim_start_matches('+').parse::<i32>();
        let scale = exponent.ok().and_then(|exponent| {
            i32::try_from(i64::try_from(fraction).ok()? - i64::from(exponent)).ok()
        });
        match scale {
            Some(_) => Ok(end + 1 + sign + of_exponent),
            None => Err(malformed("")),
        }
    }
}

/// Takes the quotes away.
fn unquoted(taken: &str, quote: char) -> Cow<'_, str> {
    let inner = taken.get(1..taken.len().saturating_sub(1)).unwrap_or_default();
    if !inner.contains(quote) {
        return Cow::Borrowed(inner);
    }
    let mut double = String::with_capacity(2);
    double.extend([quote, quote]);
    Cow::Owned(inner.replace(&double, double.get(..1).unwrap_or_default()))
}

/// Tells keywords from names.
fn word(taken: &str) -> (TokenKind, Cow<'_, str>) {
    let small = taken.to_ascii_lowercase();
    if !is_keyword(&small) {
        return (TokenKind::Word, Cow::Borrowed(taken));
    }
    (TokenKind::Keyword, Cow::Owned(small))
}
