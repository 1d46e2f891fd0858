//! Reads members as SearchVectors does, whose parser is stricter than that of the other operations and
//! has its own words: a member that is `null` or of another type is refused with its place.
//!
//! Source: a public suite that records the service's answers, read 2026-11.

use super::Reader;
use super::reader::Token;
use crate::errors::{Error, Result, texts};

impl Reader<'_> {
    /// Reads text that must be there.
    pub(crate) fn strict_text(&mut self) -> Result<Option<String>> {
        let token = self.token()?;
        if token != Token::Text {
            return Err(self.unexpected(token, "a string"));
        }
        self.text()
    }

    /// Reads an integer of 32 bits that must be there.
    pub(crate) fn strict_integer(&mut self) -> Result<Option<i64>> {
        let token = self.token()?;
        if token != Token::Number {
            return Err(self.unexpected(token, "i32"));
        }
        let (text, whole) = self.number()?;
        if !whole {
            return Err(self.at_place(&texts::unexpected_fraction(text, "i32")));
        }
        match text.parse::<i32>() {
            Ok(number) => Ok(Some(number.into())),
            Err(_) => Err(self.at_place(&texts::unexpected_integer(text, "i32"))),
        }
    }

    /// Refuses anything but a list.
    pub(crate) fn strict_list(&mut self) -> Result<()> {
        let token = self.token()?;
        if token != Token::List {
            return Err(self.unexpected(token, "a sequence"));
        }
        Ok(())
    }

    fn unexpected(&mut self, token: Token, expected: &str) -> Error {
        let found = match token {
            Token::Object => "map".to_owned(),
            Token::List => "sequence".to_owned(),
            Token::Text | Token::Number | Token::True | Token::False | Token::Null => {
                match self.scalar() {
                    Ok(found) => found,
                    Err(error) => return error,
                }
            }
        };
        self.at_place(&texts::unexpected_type(&found, expected))
    }

    /// Reads a value that is neither list nor object, as the messages show it.
    fn scalar(&mut self) -> Result<String> {
        match self.token()? {
            Token::Text => Ok(format!("string {:?}", self.text()?.unwrap_or_default())),
            Token::Number => {
                let (text, whole) = self.number()?;
                let kind = if whole { "integer" } else { "floating point" };
                Ok(format!("{kind} `{text}`"))
            }
            token @ (Token::True | Token::False) => {
                self.skip()?;
                Ok(format!("boolean `{}`", token == Token::True))
            }
            Token::Null | Token::Object | Token::List => {
                self.skip()?;
                Ok("null".to_owned())
            }
        }
    }

    fn at_place(&self, text: &str) -> Error {
        Error::serialization(texts::at_place(text, behind(self.consumed())))
    }
}

/// Words a member that a body does not have; the place is the end of the body.
pub(crate) fn missing_member(body: &[u8], name: &str) -> Error {
    let place = behind(body.trim_ascii_end());
    Error::validation(texts::at_place(&texts::missing_field(name), place))
}

/// Returns the place behind these bytes: the line, from 1, and the bytes of it that were read.
fn behind(read: &[u8]) -> (usize, usize) {
    let lines = || read.split(|byte| *byte == b'\n');
    (lines().count(), lines().next_back().map_or(0, <[u8]>::len))
}
