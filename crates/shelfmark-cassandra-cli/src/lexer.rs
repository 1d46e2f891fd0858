//! The tokens of one command.

use super::source::{Piece, Place};
use super::{CliError, Mode, Warning};

/// The kind of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// Letters, digits, underscores and minus signs, beginning with a letter or a digit.
    Word(String),
    /// Digits, perhaps with a minus sign.
    Integer(String),
    /// Digits, a point, digits.
    Double(String),
    /// Four numbers with points between.
    Address(String),
    /// A quoted text, escapes undone.
    Text(String),
    /// A sign, of one or two characters.
    Sign(&'static str),
    /// The end.
    End,
}

impl Token {
    /// Returns the token as messages show it.
    pub(super) fn shown(&self) -> String {
        match self {
            Token::Word(text) | Token::Integer(text) | Token::Double(text) => format!("'{text}'"),
            Token::Address(text) => format!("'{text}'"),
            Token::Text(text) => format!("''{text}''"),
            Token::Sign(sign) => format!("'{sign}'"),
            Token::End => "'<EOF>'".to_owned(),
        }
    }
}

/// A token and where it begins in the piece.
#[derive(Clone, Debug)]
pub(super) struct Spotted {
    pub(super) token: Token,
    pub(super) offset: usize,
}

const SIGNS: [&str; 17] =
    [">=", "<=", "=", ">", "<", "[", "]", "{", "}", "(", ")", ":", ",", ".", "/", "?", ";"];

struct Lexer<'a> {
    piece: &'a Piece,
    mode: Mode,
    at: usize,
    odd_spaces: usize,
    first_odd_space: usize,
    warnings: &'a mut Vec<Warning>,
}

/// Reads all tokens of a command.
pub(super) fn tokens(
    piece: &Piece,
    mode: Mode,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Spotted>, CliError> {
    let mut lexer = Lexer { piece, mode, at: 0, odd_spaces: 0, first_odd_space: 0, warnings };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks();
        let offset = lexer.at;
        let token = lexer.token()?;
        let end = token == Token::End;
        tokens.push(Spotted { token, offset });
        if end {
            break;
        }
    }
    if lexer.odd_spaces > 0 {
        let place = lexer.piece.place(lexer.first_odd_space);
        let count = lexer.odd_spaces;
        let plural = if count == 1 { "" } else { "s" };
        let text = format!("{count} no-break or other wide space{plural} read as plain ones");
        lexer.warnings.push(Warning::new(place, text));
    }
    Ok(tokens)
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.piece.text.get(self.at..).unwrap_or_default()
    }

    fn place(&self, offset: usize) -> Place {
        self.piece.place(offset)
    }

    fn warn(&mut self, offset: usize, text: impl Into<String>) {
        let place = self.place(offset);
        self.warnings.push(Warning::new(place, text));
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let Some(first) = rest.chars().next() else { return };
            if matches!(first, ' ' | '\t' | '\r' | '\n') {
                self.at += 1;
            } else if first.is_whitespace() && self.mode == Mode::Forgiving {
                if self.odd_spaces == 0 {
                    self.first_odd_space = self.at;
                }
                self.odd_spaces += 1;
                self.at += first.len_utf8();
            } else if rest.starts_with("--") {
                self.at = self.piece.text.len();
            } else if rest.starts_with("/*") {
                let end = rest.find("*/").map_or(rest.len(), |end| end + 2);
                self.at += end;
            } else {
                return;
            }
        }
    }

    fn token(&mut self) -> Result<Token, CliError> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(Token::End) };
        match first {
            '\'' => self.quoted(),
            '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{201c}' | '\u{201d}'
                if self.mode == Mode::Forgiving =>
            {
                self.curly(first)
            }
            _ if first.is_ascii_alphanumeric() => Ok(self.word()),
            '-' => {
                let digits = run(rest.get(1..).unwrap_or_default(), |c| c.is_ascii_digit());
                if digits == 0 {
                    return Err(self.unexpected());
                }
                Ok(Token::Integer(self.take(digits + 1)))
            }
            _ => {
                let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign)).copied();
                let Some(sign) = sign else { return Err(self.unexpected()) };
                self.at += sign.len();
                Ok(Token::Sign(sign))
            }
        }
    }

    fn take(&mut self, length: usize) -> String {
        let text = self.rest().get(..length).unwrap_or_default().to_owned();
        self.at += length;
        text
    }

    /// Reads a word, or a number where it is made of digits alone.
    fn word(&mut self) -> Token {
        let rest = self.rest();
        let length = run(rest, is_word);
        let word = rest.get(..length).unwrap_or_default();
        if !word.bytes().all(|byte| byte.is_ascii_digit()) {
            return Token::Word(self.take(length));
        }
        let numbers = run(rest, |character| character.is_ascii_digit() || character == '.');
        let number = rest.get(..numbers).unwrap_or_default();
        let parts: Vec<&str> = number.split('.').collect();
        match parts.as_slice() {
            [_, fraction] if !fraction.is_empty() => Token::Double(self.take(numbers)),
            [_, _, _, last] if !last.is_empty() => Token::Address(self.take(numbers)),
            _ => Token::Integer(self.take(length)),
        }
    }

    fn unexpected(&self) -> CliError {
        let statement = self.piece.text.trim_end_matches(';');
        let character = self.rest().chars().next().unwrap_or(' ');
        let position = self.position(self.at);
        CliError::new(
            self.place(self.at),
            format!(
                "Syntax error at position {position}: unexpected \"{character}\" for `{statement}`."
            ),
        )
    }

    /// Returns a position as the original counts it: in characters of the joined text.
    fn position(&self, offset: usize) -> usize {
        self.piece.text.get(..offset).unwrap_or_default().chars().count()
    }

    /// Reads `'text'`, whose escapes begin with a backslash.
    fn quoted(&mut self) -> Result<Token, CliError> {
        let start = self.at;
        let mut text = String::new();
        let rest = self.rest().to_owned();
        let mut characters = rest.char_indices().skip(1);
        while let Some((offset, character)) = characters.next() {
            match character {
                '\'' => {
                    self.at = start + offset + 1;
                    return Ok(Token::Text(text));
                }
                '\u{2019}' if self.mode == Mode::Forgiving && ends_there(&rest, offset + 3) => {
                    self.warn(start, "a quote opened straight and closed curly");
                    self.at = start + offset + character.len_utf8();
                    return Ok(Token::Text(text));
                }
                '\\' => escape(&mut characters, &mut text),
                other => text.push(other),
            }
        }
        let place = self.place(start);
        let position = self.position(start);
        Err(CliError::new(
            place,
            format!(
                "Syntax error at position {position}: the quote that opens there is never closed"
            ),
        ))
    }

    /// Reads a text in curly quotes. One that is never closed ends before a bracket or at the
    /// line's semicolon, where the command goes on.
    fn curly(&mut self, opening: char) -> Result<Token, CliError> {
        let start = self.at;
        let width = opening.len_utf8();
        let body = self.rest().get(width..).unwrap_or_default().to_owned();
        for (offset, character) in body.char_indices() {
            let closes = match opening {
                '\u{201c}' | '\u{201d}' => character == '\u{201d}',
                _ => matches!(character, '\u{2019}' | '\''),
            };
            let runs_out = match character {
                ']' => bracket_ends_there(&body, offset + 1),
                ';' => body.get(offset + 1..).is_some_and(|rest| rest.trim().is_empty()),
                _ => false,
            };
            if !closes && !runs_out {
                continue;
            }
            let text = body.get(..offset).unwrap_or_default().to_owned();
            if closes {
                self.warn(start, "curly quotes read as straight ones");
                self.at = start + width + offset + character.len_utf8();
            } else {
                let before = if character == ']' { "the bracket" } else { "the semicolon" };
                self.warn(start, format!("the quote is never closed; it ends before {before}"));
                self.at = start + width + offset;
            }
            return Ok(Token::Text(text));
        }
        let position = self.position(start);
        Err(CliError::new(
            self.place(start),
            format!(
                "Syntax error at position {position}: the quote that opens there is never closed"
            ),
        ))
    }
}

/// Tells whether a key or value can end here: a bracket, an equals sign, a semicolon or nothing
/// follows.
fn ends_there(text: &str, offset: usize) -> bool {
    let rest = text.get(offset..).unwrap_or_default().trim_start();
    rest.is_empty() || rest.starts_with(['[', ']', '=', ';', ',', '}', ')', ':'])
}

/// Tells whether a bracket can be that of the command: another one, an equals sign, a semicolon or
/// nothing follows.
fn bracket_ends_there(text: &str, offset: usize) -> bool {
    let rest = text.get(offset..).unwrap_or_default().trim_start();
    rest.is_empty() || rest.starts_with(['[', '=', ';'])
}

fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|character| !belongs(character)).unwrap_or(text.len())
}

/// Undoes one escape; the backslash is already read.
fn escape(characters: &mut impl Iterator<Item = (usize, char)>, text: &mut String) {
    let Some((_, first)) = characters.next() else { return };
    let digits = match first {
        'x' => 2,
        'u' => 4,
        _ => 0,
    };
    if digits > 0 {
        let number = (0..digits)
            .map_while(|_| characters.next())
            .filter_map(|(_, digit)| digit.to_digit(16))
            .fold(0, |number, digit| number * 16 + digit);
        text.push(char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER));
        return;
    }
    text.push(match first {
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '0' => '\0',
        other => other,
    });
}
