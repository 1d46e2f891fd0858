//! Splits foreign text into words, numbers, texts and marks: of JavaScript, SQL and Prisma.
//!
//! What it is not: a grammar. Each importer reads the tokens that it knows and passes over the rest.
//!
//! Invariant: tokens lie in the order of the text, and their number is limited.

use crate::ImportError;

/// Most tokens of one text.
///
/// Ours: a text of the largest size with a token every eight bytes.
pub(crate) const TOKENS_MAX: usize = 500_000;

/// The kinds of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    Number,
    /// A text between quotes, which are the character.
    Text(char),
    Mark,
}

/// A token; of a text, what stands between its quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Token {
    pub(crate) fn is(&self, mark: &str) -> bool {
        self.kind == Kind::Mark && self.text == mark
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word)
    }
}

/// The ways in which languages write comments and texts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    pub(crate) line_comments: &'static [&'static str],
    /// True if a backslash in a text escapes the next character.
    pub(crate) escapes: bool,
}

/// JavaScript, TypeScript and Prisma.
pub(crate) const SCRIPT: Style = Style { line_comments: &["//"], escapes: true };

/// SQL.
pub(crate) const SQL: Style = Style { line_comments: &["--", "#"], escapes: true };

/// Returns the tokens of a text.
pub(crate) fn tokens(text: &str, style: Style) -> Result<Vec<Token>, ImportError> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let Some(c) = rest.chars().next() else { break };
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        if let Some(end) = comment_end(rest, style) {
            at += end;
            continue;
        }
        if found.len() >= TOKENS_MAX {
            let message = format!("more than {TOKENS_MAX} words and marks; import it in parts");
            return Err(ImportError::at(text, at, message));
        }
        let (kind, length, written) = token(rest, c, style);
        if let (Kind::Text(_), None) = (kind, &written) {
            return Err(ImportError::at(text, at, "this text has no end; close its quote"));
        }
        let end = at + length;
        let own = written.unwrap_or_else(|| rest.get(..length).unwrap_or_default().to_owned());
        found.push(Token { kind, text: own, start: at, end });
        at = end;
    }
    Ok(found)
}

fn comment_end(rest: &str, style: Style) -> Option<usize> {
    if style.line_comments.iter().any(|mark| rest.starts_with(mark)) {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    let inside = rest.strip_prefix("/*")?;
    Some(inside.find("*/").map_or(rest.len(), |end| end + 4))
}

/// Returns the kind and the length of the token at the beginning, and what a text holds.
fn token(rest: &str, c: char, style: Style) -> (Kind, usize, Option<String>) {
    let run = |inside: fn(char) -> bool| {
        rest.char_indices().find(|(_, c)| !inside(*c)).map_or(rest.len(), |(at, _)| at)
    };
    if matches!(c, '"' | '\'' | '`') {
        let (length, text) = quoted(rest, c, style);
        return (Kind::Text(c), length, text);
    }
    if c.is_ascii_digit() {
        return (Kind::Number, run(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_'), None);
    }
    if c.is_alphabetic() || matches!(c, '_' | '$' | '@') {
        let length = run(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '@'));
        return (Kind::Word, length, None);
    }
    let pair = ["=>", "<=", ">=", "<>", "!=", "||", "::", "..."];
    let long = pair.into_iter().find(|mark| rest.starts_with(mark));
    (Kind::Mark, long.map_or(c.len_utf8(), str::len), None)
}

/// Returns the length of a text with its quotes, and what stands between them.
fn quoted(rest: &str, quote: char, style: Style) -> (usize, Option<String>) {
    let mut out = String::new();
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\\' && style.escapes {
            out.extend(chars.next().map(|(_, c)| c));
        } else if c == quote {
            if chars.peek().is_some_and(|(_, next)| *next == quote) {
                chars.next();
                out.push(quote);
                continue;
            }
            return (at + c.len_utf8(), Some(out));
        } else {
            out.push(c);
        }
    }
    (rest.len(), None)
}
