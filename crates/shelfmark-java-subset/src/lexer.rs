//! Cuts a body into tokens.
//!
//! What it is not: a check of what they mean; words are words, whether Java reserves them or not.
//!
//! Invariant: every token knows the line it stands in, counted from one.

use crate::CompileError;

/// A token and its line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) line: u32,
}

/// The kinds of tokens.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TokenKind {
    /// A name or a reserved word.
    Word(String),
    /// A number: its digits without underscores and suffix, and the suffix in lower case.
    Number(String, Option<char>),
    /// The text of a string.
    Text(Vec<u16>),
    /// A character.
    Character(u16),
    /// A bracket, separator or operator.
    Sign(&'static str),
    /// The end of the body.
    End,
}

impl TokenKind {
    /// Returns the token as messages show it.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Word(own) | Self::Number(own, None) => own.clone(),
            Self::Number(own, Some(suffix)) => format!("{own}{suffix}"),
            Self::Text(own) => format!("\"{}\"", String::from_utf16_lossy(own)),
            Self::Character(own) => format!("'{}'", String::from_utf16_lossy(&[*own])),
            Self::Sign(own) => (*own).to_owned(),
            Self::End => "}".to_owned(),
        }
    }
}

/// Signs, those of more characters first.
const SIGNS: [&str; 48] = [
    ">>>=", "<<=", ">>=", "...", "->", "::", "++", "--", "&&", "||", "==", "!=", "<=", ">=", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", "(", ")", "{", "}", "[", "]", ";", ",", ".",
    "@", "=", ">", "<", "!", "~", "?", ":", "+", "-", "*", "/", "&", "|", "^", "%",
];

/// Cuts a body into tokens, the end among them.
pub(crate) fn tokens(body: &str) -> Result<Vec<Token>, CompileError> {
    let mut lexer = Lexer { rest: body, line: 1 };
    let mut out = Vec::new();
    loop {
        lexer.skip()?;
        let line = lexer.line;
        let kind = lexer.token()?;
        let ends = kind == TokenKind::End;
        out.push(Token { kind, line });
        if ends {
            return Ok(out);
        }
    }
}

struct Lexer<'b> {
    rest: &'b str,
    line: u32,
}

impl Lexer<'_> {
    fn error(&self, message: &str) -> CompileError {
        CompileError::new(self.line, message)
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        if next == Some('\n') {
            self.line += 1;
        }
        next
    }

    /// Skips spaces and remarks.
    fn skip(&mut self) -> Result<(), CompileError> {
        loop {
            if self.rest.starts_with("//") {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.bump();
                }
            } else if self.rest.starts_with("/*") {
                self.bump();
                self.bump();
                while !self.rest.starts_with("*/") {
                    if self.bump().is_none() {
                        return Err(self.error("Unexpected end of comment"));
                    }
                }
                self.bump();
                self.bump();
            } else if self.peek().is_some_and(char::is_whitespace) {
                self.bump();
            } else {
                return Ok(());
            }
        }
    }

    fn token(&mut self) -> Result<TokenKind, CompileError> {
        let Some(first) = self.peek() else { return Ok(TokenKind::End) };
        let second = self.rest.chars().nth(1);
        if first.is_alphabetic() || first == '_' || first == '$' {
            return Ok(TokenKind::Word(self.take(|c| c.is_alphanumeric() || c == '_' || c == '$')));
        }
        if first.is_ascii_digit() || first == '.' && second.is_some_and(|c| c.is_ascii_digit()) {
            return Ok(self.number());
        }
        if first == '"' {
            return self.text();
        }
        if first == '\'' {
            return self.character();
        }
        match SIGNS.iter().find(|sign| self.rest.starts_with(**sign)) {
            Some(sign) => {
                for _ in 0..sign.len() {
                    self.bump();
                }
                Ok(TokenKind::Sign(sign))
            }
            None => {
                Err(self.error(&format!("Syntax error on token \"{first}\", delete this token")))
            }
        }
    }

    fn take(&mut self, is_part: impl Fn(char) -> bool) -> String {
        let mut out = String::new();
        while let Some(c) = self.peek().filter(|c| is_part(*c)) {
            out.push(c);
            self.bump();
        }
        out
    }

    fn number(&mut self) -> TokenKind {
        let radix = self.rest.get(..2).map(str::to_ascii_lowercase);
        let mut digits = String::new();
        if matches!(radix.as_deref(), Some("0x" | "0b")) {
            digits = self.take(|c| c.is_ascii_alphanumeric() || c == '_').to_ascii_lowercase();
            digits.retain(|c| c != '_');
            let suffix = digits.ends_with('l').then_some('l');
            return TokenKind::Number(digits.trim_end_matches('l').to_owned(), suffix);
        }
        while let Some(c) = self.peek() {
            let exponent = digits.ends_with(['e', 'E']);
            let goes_on = c.is_ascii_digit()
                || matches!(c, '.' | '_' | 'e' | 'E')
                || exponent && matches!(c, '+' | '-');
            if !goes_on {
                break;
            }
            if c != '_' {
                digits.push(c);
            }
            self.bump();
        }
        let suffix = self.peek().map(|c| c.to_ascii_lowercase());
        let suffix = suffix.filter(|c| matches!(c, 'l' | 'f' | 'd'));
        if suffix.is_some() {
            self.bump();
        }
        TokenKind::Number(digits, suffix)
    }

    fn text(&mut self) -> Result<TokenKind, CompileError> {
        const OPEN: &str = "String literal is not properly closed by a double-quote";
        self.bump();
        let mut out = Vec::new();
        loop {
            match self.peek() {
                Some('"') => {
                    self.bump();
                    return Ok(TokenKind::Text(out));
                }
                None | Some('\n') => return Err(self.error(OPEN)),
                Some(_) => self.part(&mut out)?,
            }
        }
    }

    fn character(&mut self) -> Result<TokenKind, CompileError> {
        self.bump();
        let mut out = Vec::new();
        self.part(&mut out)?;
        match (out.as_slice(), self.bump()) {
            ([only], Some('\'')) => Ok(TokenKind::Character(*only)),
            _ => Err(self.error("Invalid character constant")),
        }
    }

    /// Reads one character of a text, escaped or not.
    fn part(&mut self, out: &mut Vec<u16>) -> Result<(), CompileError> {
        const WRONG: &str =
            "Invalid escape sequence (valid ones are  \\b  \\t  \\n  \\f  \\r  \\\"  \\'  \\\\ )";
        let mut push = |c: char| {
            out.extend_from_slice(c.encode_utf16(&mut [0; 2]));
        };
        match self.bump() {
            Some('\\') => {}
            Some(c) => {
                push(c);
                return Ok(());
            }
            None => return Err(self.error("Invalid character constant")),
        }
        match self.bump() {
            Some('n') => push('\n'),
            Some('t') => push('\t'),
            Some('r') => push('\r'),
            Some('b') => push('\u{8}'),
            Some('f') => push('\u{c}'),
            Some('s') => push(' '),
            Some(c @ ('"' | '\'' | '\\')) => push(c),
            Some('0') => push('\0'),
            Some('u') => {
                while self.peek() == Some('u') {
                    self.bump();
                }
                let mut unit = 0_u16;
                for _ in 0..4 {
                    let digit = self.bump().and_then(|c| c.to_digit(16));
                    let digit = digit.and_then(|own| u16::try_from(own).ok());
                    let digit = digit.ok_or_else(|| self.error("Invalid unicode"))?;
                    unit = unit << 4 | digit;
                }
                out.push(unit);
            }
            _ => return Err(self.error(WRONG)),
        }
        Ok(())
    }
}
