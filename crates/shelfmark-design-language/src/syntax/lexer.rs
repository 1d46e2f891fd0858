//! Splits text into tokens and comments.
//!
//! Invariant: never fails; what it does not know becomes a token that no rule takes, with a
//! message. Spans lie on character boundaries.

use super::diagnostic::Diagnostic;
use super::span::Span;

/// The kinds of tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenKind {
    /// A word.
    Name,
    /// Digits with an optional fraction, and the letters that follow: `2`, `1.1`, `64MiB`.
    Number,
    /// The text between quotes, escapes resolved.
    Text(String),
    /// Punctuation, one or two characters.
    Mark(&'static str),
    /// A character that the language does not have.
    Unknown,
    /// The end of the text.
    End,
}

/// One token.
#[derive(Debug, Clone)]
pub struct Token {
    /// The kind.
    pub kind: TokenKind,
    /// The place in the text.
    pub span: Span,
    /// True if it is the first on its line.
    pub first: bool,
}

/// A comment, from its `#` (or `//`) to the end of the line.
#[derive(Debug, Clone)]
pub struct Comment {
    /// The place in the text.
    pub span: Span,
}

/// The tokens and comments of a text.
pub struct Lexed {
    /// The tokens.
    pub tokens: Vec<Token>,
    /// The comments.
    pub comments: Vec<Comment>,
}

/// The punctuation, longest first, so that `->` is not `-` and `>`.
const MARKS: [&str; 23] = [
    "->", "<=", ">=", "!=", "..", "{", "}", "(", ")", "[", "]", ",", ";", ":", ".", "=", "+", "-",
    "<", ">", "/", "*", "%",
];

/// Splits a text into tokens; errors go to `diagnostics`.
pub fn lex(source: &str, diagnostics: &mut Vec<Diagnostic>) -> Lexed {
    let mut lexed = Lexed { tokens: Vec::new(), comments: Vec::new() };
    let mut at = 0;
    let mut first = true;
    while let Some(rest) = source.get(at..) {
        let Some(next) = rest.chars().next() else { break };
        if next == '\n' {
            first = true;
        }
        if next.is_whitespace() || next == '\u{feff}' {
            at += next.len_utf8();
            continue;
        }
        if next == '#' || rest.starts_with("//") {
            let length = rest.find('\n').unwrap_or(rest.len());
            lexed.comments.push(Comment { span: Span::new(at, at + length) });
            at += length;
            continue;
        }
        let (kind, length) = token(rest, at, diagnostics);
        lexed.tokens.push(Token { kind, span: Span::new(at, at + length), first });
        first = false;
        at += length;
    }
    let end = Span::new(source.len(), source.len());
    lexed.tokens.push(Token { kind: TokenKind::End, span: end, first: true });
    lexed
}

fn token(rest: &str, at: usize, diagnostics: &mut Vec<Diagnostic>) -> (TokenKind, usize) {
    let next = rest.chars().next().unwrap_or(' ');
    if next.is_alphabetic() || next == '_' {
        return (TokenKind::Name, run(rest, |c| c.is_alphanumeric() || c == '_'));
    }
    if next.is_ascii_digit() {
        return (TokenKind::Number, number(rest));
    }
    if next == '"' {
        return text(rest, at, diagnostics);
    }
    if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
        return (TokenKind::Mark(mark), mark.len());
    }
    let length = next.len_utf8();
    let span = Span::new(at, at + length);
    let help = match next {
        '?' => "an input has a name: `read r(x) = … where a = x`",
        _ => "texts are written between double quotes",
    };
    diagnostics.push(
        Diagnostic::error(span, format!("the character {next:?} means nothing here")).help(help),
    );
    (TokenKind::Unknown, length)
}

fn run(rest: &str, wanted: impl Fn(char) -> bool) -> usize {
    rest.find(|c| !wanted(c)).unwrap_or(rest.len())
}

fn number(rest: &str) -> usize {
    let digits = run(rest, |c| c.is_ascii_digit() || c == '_');
    let fraction = rest.get(digits..).unwrap_or("");
    let mut length = digits;
    if let Some(after) = fraction.strip_prefix('.')
        && after.starts_with(|c: char| c.is_ascii_digit())
    {
        length += 1 + run(after, |c| c.is_ascii_digit());
    }
    length + run(rest.get(length..).unwrap_or(""), |c| c.is_ascii_alphabetic())
}

fn text(rest: &str, at: usize, diagnostics: &mut Vec<Diagnostic>) -> (TokenKind, usize) {
    let mut value = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((index, next)) = chars.next() {
        match next {
            '"' => return (TokenKind::Text(value), index + 1),
            '\n' => break,
            '\\' => match chars.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, '0')) => value.push('\0'),
                Some((_, escaped @ ('"' | '\\'))) => value.push(escaped),
                Some((place, other)) => {
                    let span = Span::new(at + index, at + place + other.len_utf8());
                    let message = format!("there is no escape \\{other}");
                    diagnostics
                        .push(Diagnostic::error(span, message).help("known: \\\" \\\\ \\n \\0"));
                }
                None => break,
            },
            other => value.push(other),
        }
    }
    let length = rest.find('\n').unwrap_or(rest.len());
    diagnostics.push(
        Diagnostic::error(Span::new(at, at + length), "this text does not end on its line".into())
            .help("close it with a double quote"),
    );
    (TokenKind::Text(value), length)
}
