//! Splits expressions into tokens: words, placeholders, list indexes and symbols.
//!
//! It never fails: a character that no expression knows is a token of its own, and the parser
//! refuses it with its place.

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name, a keyword or a function.
    Word,
    /// `#name`.
    Name,
    /// `:value`.
    Value,
    /// Digits.
    Number,
    /// An operator or a bracket.
    Symbol,
    /// A character that begins no token.
    Unknown,
    /// The end of the expression.
    End,
}

/// One token: a slice of the expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: TokenKind,
    pub(super) text: &'a str,
    /// Its start, in bytes.
    pub(super) start: usize,
}

impl Token<'_> {
    /// Returns true if this is the given symbol.
    pub(super) fn is(&self, symbol: &str) -> bool {
        self.kind == TokenKind::Symbol && self.text == symbol
    }

    /// Returns true if this is the given keyword in any case.
    pub(super) fn is_word(&self, keyword: &str) -> bool {
        self.kind == TokenKind::Word && self.text.eq_ignore_ascii_case(keyword)
    }

    pub(super) const fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// Returns the tokens of an expression, with one [`TokenKind::End`] behind them.
pub(super) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::with_capacity(source.len() / 3 + 2);
    let mut rest = source.trim_start_matches(is_blank);
    while let Some(first) = rest.chars().next() {
        let (kind, length) = token(rest, first);
        let (text, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        tokens.push(Token { kind, text, start: source.len() - rest.len() });
        rest = after.trim_start_matches(is_blank);
    }
    tokens.push(Token { kind: TokenKind::End, text: "", start: source.len() });
    tokens
}

/// Returns the kind and the length in bytes of the token that begins with `first`.
fn token(rest: &str, first: char) -> (TokenKind, usize) {
    let run = |skip: usize, belongs: fn(&u8) -> bool| {
        skip + rest.bytes().skip(skip).take_while(belongs).count()
    };
    match first {
        'a'..='z' | 'A'..='Z' => (TokenKind::Word, run(0, is_name_byte)),
        // A number has no zeros before its other digits: `01` are two numbers.
        '0' => (TokenKind::Number, 1),
        '1'..='9' => (TokenKind::Number, run(0, u8::is_ascii_digit)),
        '#' | ':' => {
            let length = run(1, is_name_byte);
            let kind = match first {
                _ if length == 1 => TokenKind::Unknown,
                '#' => TokenKind::Name,
                _ => TokenKind::Value,
            };
            (kind, length)
        }
        '<' if rest.starts_with("<=") || rest.starts_with("<>") => (TokenKind::Symbol, 2),
        '>' if rest.starts_with(">=") => (TokenKind::Symbol, 2),
        '=' | '<' | '>' | '(' | ')' | '[' | ']' | '.' | ',' | '+' | '-' => (TokenKind::Symbol, 1),
        other => (TokenKind::Unknown, other.len_utf8()),
    }
}

const fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\r' | '\n')
}

const fn is_name_byte(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_'
}
