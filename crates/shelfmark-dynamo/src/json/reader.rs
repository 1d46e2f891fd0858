//! A pull parser: takes members and elements out of a body, in their order.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{Wording, scan};
use crate::errors::{Error, Result, texts};
use crate::limits::JSON_DEPTH_MAX;

/// Levels of JSON beyond which the service words the shape of a request as it did before.
///
/// Source: a public suite that records the service's answers, captures of October 2026: between 40 and 63
/// levels of maps, each of which is two of JSON.
const CURRENT_DEPTH_MAX: usize = 128;

/// The token at the reader's position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    Object,
    List,
    Text,
    Number,
    True,
    False,
    Null,
}

/// A reader over one body. `null` is always the same as an absent member: `None` or `false`.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    text: &'a str,
    position: usize,
    depth: usize,
    /// The deepest level that was reached.
    deepest: usize,
    /// The first attribute value that is invalid by itself; the parser of attributes takes it.
    pub(super) problem: Option<Error>,
    /// The words for such a value.
    pub(super) wording: Wording,
    /// A name that stands twice in an object is refused; else the last one counts.
    refuses_repeats: bool,
}

impl<'a> Reader<'a> {
    /// Creates a reader over a whole body.
    pub(crate) fn new(body: &'a [u8]) -> Result<Self> {
        let text = std::str::from_utf8(body).map_err(|_| no_json())?;
        Ok(Self {
            text,
            position: 0,
            depth: 0,
            deepest: 0,
            problem: None,
            wording: Wording::default(),
            refuses_repeats: false,
        })
    }

    /// Reads a whole body as one structure.
    pub(crate) fn body(
        body: &'a [u8],
        member: impl FnMut(&mut Self, &str) -> Result<()>,
    ) -> Result<()> {
        Self::new(body)?.whole(member)
    }

    /// Works as [`Reader::body`], for an operation whose values the service's older layer looks at.
    pub(crate) fn older_body(
        body: &'a [u8],
        member: impl FnMut(&mut Self, &str) -> Result<()>,
    ) -> Result<()> {
        let mut reader = Self::new(body)?;
        reader.wording = Wording::Older;
        reader.whole(member)
    }

    fn whole(mut self, member: impl FnMut(&mut Self, &str) -> Result<()>) -> Result<()> {
        if self.token()? != Token::Object || !self.structure(member)? {
            return Err(Error::serialization(texts::STRUCTURE_EXPECTED));
        }
        self.blanks();
        if self.position < self.text.len() {
            return Err(no_json());
        }
        Ok(())
    }

    /// Returns true if what was read so far is nested beyond what the service's current layer reads.
    pub(crate) fn is_deep(&self) -> bool {
        self.deepest > CURRENT_DEPTH_MAX
    }

    /// Refuses names that stand twice in an object from here on.
    pub(super) fn refuse_repeats(&mut self) {
        self.refuses_repeats = true;
    }

    /// Refuses a name that stands in an object again, where that is refused.
    pub(super) fn repeated(&self, name: &str) -> Result<()> {
        match self.refuses_repeats {
            true => Err(Error::serialization(format!("the name {name:?} stands there twice"))),
            false => Ok(()),
        }
    }

    /// Reads a structure; of a repeated member the last one counts.
    pub(crate) fn structure(
        &mut self,
        member: impl FnMut(&mut Self, &str) -> Result<()>,
    ) -> Result<bool> {
        match self.token()? {
            Token::Object => self.object(member).map(|()| true),
            Token::Null => self.word("null").map(|()| false),
            Token::List => Err(Error::serialization(texts::UNEXPECTED_LIST)),
            Token::Text | Token::Number | Token::True | Token::False => {
                Err(Error::serialization(texts::STRUCTURE_EXPECTED))
            }
        }
    }

    /// Reads a map; values that are `null` are left out.
    pub(crate) fn map<T>(
        &mut self,
        mut value: impl FnMut(&mut Self, &str) -> Result<Option<T>>,
    ) -> Result<Option<BTreeMap<String, T>>> {
        let mut map = BTreeMap::new();
        match self.token()? {
            Token::Object => self.object(|reader, name| {
                let value = value(reader, name)?;
                if map.contains_key(name) {
                    reader.repeated(name)?;
                }
                if let Some(value) = value {
                    map.insert(name.to_owned(), value);
                }
                Ok(())
            })?,
            Token::Null => return self.word("null").map(|()| None),
            Token::List => return Err(Error::serialization(texts::UNEXPECTED_LIST)),
            Token::Text | Token::Number | Token::True | Token::False => {
                return Err(Error::serialization(texts::UNEXPECTED_FIELD));
            }
        }
        Ok(Some(map))
    }

    /// Reads a list; elements that are `null` are left out.
    pub(crate) fn list<T>(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<Option<T>>,
    ) -> Result<Option<Vec<T>>> {
        match self.token()? {
            Token::List => {}
            Token::Null => return self.word("null").map(|()| None),
            Token::Object => return Err(Error::serialization(texts::UNEXPECTED_STRUCTURE)),
            Token::Text | Token::Number | Token::True | Token::False => {
                return Err(Error::serialization(texts::UNEXPECTED_FIELD));
            }
        }
        let mut list = Vec::new();
        self.enter()?;
        if !self.take(b']') {
            loop {
                if let Some(element) = element(self)? {
                    list.push(element);
                }
                if self.take(b']') {
                    break;
                }
                self.expect(b',')?;
            }
        }
        self.depth -= 1;
        Ok(Some(list))
    }

    /// Reads text.
    pub(crate) fn text(&mut self) -> Result<Option<String>> {
        Ok(self.borrowed_text()?.map(Cow::into_owned))
    }

    /// Reads text without copying it when it has no escapes.
    pub(super) fn borrowed_text(&mut self) -> Result<Option<Cow<'a, str>>> {
        match self.token()? {
            Token::Text => self.string().map(Some),
            Token::Null => self.word("null").map(|()| None),
            token @ (Token::Object | Token::List | Token::Number | Token::True | Token::False) => {
                Err(self.mistyped(token, "String"))
            }
        }
    }

    /// Reads a list of texts.
    pub(crate) fn texts(&mut self) -> Result<Option<Vec<String>>> {
        self.list(Self::text)
    }

    /// Reads an integer. A fraction is cut off, as the service does.
    pub(crate) fn integer(&mut self) -> Result<Option<i64>> {
        match self.token()? {
            Token::Number => {
                let (text, whole) = self.number()?;
                Ok(Some(if whole { saturated(text) } else { truncated(text) }))
            }
            Token::Null => self.word("null").map(|()| None),
            token @ (Token::Object | Token::List | Token::Text | Token::True | Token::False) => {
                Err(self.mistyped(token, "Integer"))
            }
        }
    }

    /// Reads a moment, which is written as seconds since the Unix epoch, in whole milliseconds.
    pub(crate) fn millis(&mut self) -> Result<Option<i64>> {
        match self.token()? {
            Token::Number => {
                let (text, _) = self.number()?;
                let seconds: f64 = text.parse().unwrap_or(0.0);
                Ok(Some(saturated(&format!("{:.0}", seconds * 1_000.0))))
            }
            Token::Null => self.word("null").map(|()| None),
            token @ (Token::Object | Token::List | Token::Text | Token::True | Token::False) => {
                Err(self.mistyped(token, "Date"))
            }
        }
    }

    /// Reads a truth value.
    pub(crate) fn boolean(&mut self) -> Result<Option<bool>> {
        match self.token()? {
            Token::True => self.word("true").map(|()| Some(true)),
            Token::False => self.word("false").map(|()| Some(false)),
            Token::Null => self.word("null").map(|()| None),
            Token::Text => Err(Error::serialization(texts::UNEXPECTED_TOKEN)),
            token @ (Token::Object | Token::List | Token::Number) => {
                Err(self.mistyped(token, "Boolean"))
            }
        }
    }

    /// Skips a value of any type.
    pub(crate) fn skip(&mut self) -> Result<()> {
        match self.token()? {
            Token::Object => self.object(|reader, _| reader.skip()),
            Token::List => self.list(|reader| reader.skip().map(|()| None::<()>)).map(|_| ()),
            Token::Text => self.string().map(|_| ()),
            Token::Number => self.number().map(|_| ()),
            Token::True => self.word("true"),
            Token::False => self.word("false"),
            Token::Null => self.word("null"),
        }
    }

    /// Skips a value that may be nested to any depth, without recursion.
    pub(super) fn skip_deep(&mut self) -> Result<()> {
        // The closing bracket of each list and object that is open.
        let mut open = Vec::new();
        loop {
            let close = match self.token()? {
                Token::Object => b'}',
                Token::List => b']',
                Token::Text | Token::Number | Token::True | Token::False | Token::Null => {
                    self.skip()?;
                    0
                }
            };
            if close > 0 {
                self.position += 1;
                if !self.take(close) {
                    open.push(close);
                    self.deepest = self.deepest.max(self.depth + open.len());
                    self.skip_name(close)?;
                    continue;
                }
            }
            loop {
                let Some(close) = open.last().copied() else { return Ok(()) };
                if !self.take(close) {
                    self.expect(b',')?;
                    self.skip_name(close)?;
                    break;
                }
                open.pop();
            }
        }
    }

    /// Skips the name of a member, if it is an object that `close` closes.
    fn skip_name(&mut self, close: u8) -> Result<()> {
        if close != b'}' {
            return Ok(());
        }
        if self.token()? != Token::Text {
            return Err(no_json());
        }
        self.string()?;
        self.expect(b':')
    }

    /// Returns the part of the body that was read.
    pub(super) fn consumed(&self) -> &[u8] {
        self.text.as_bytes().get(..self.position).unwrap_or_default()
    }

    /// Returns the next token without consuming it.
    pub(super) fn token(&mut self) -> Result<Token> {
        self.blanks();
        match self.text.as_bytes().get(self.position) {
            Some(b'{') => Ok(Token::Object),
            Some(b'[') => Ok(Token::List),
            Some(b'"') => Ok(Token::Text),
            Some(b'-' | b'0'..=b'9') => Ok(Token::Number),
            Some(b't') => Ok(Token::True),
            Some(b'f') => Ok(Token::False),
            Some(b'n') => Ok(Token::Null),
            _ => Err(no_json()),
        }
    }

    fn object(&mut self, mut member: impl FnMut(&mut Self, &str) -> Result<()>) -> Result<()> {
        self.enter()?;
        if !self.take(b'}') {
            loop {
                if self.token()? != Token::Text {
                    return Err(no_json());
                }
                let name = self.string()?;
                self.expect(b':')?;
                member(self, &name)?;
                if self.take(b'}') {
                    break;
                }
                self.expect(b',')?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn enter(&mut self) -> Result<()> {
        self.position += 1;
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        if self.depth > JSON_DEPTH_MAX {
            return Err(Error::serialization(texts::JSON_TOO_DEEP));
        }
        Ok(())
    }

    fn string(&mut self) -> Result<Cow<'a, str>> {
        let (text, end) = scan::string(self.text, self.position + 1).ok_or_else(no_json)?;
        self.position = end;
        Ok(text)
    }

    /// Reads a number as its text, and whether it is whole.
    pub(super) fn number(&mut self) -> Result<(&'a str, bool)> {
        let (end, whole) = scan::number(self.text.as_bytes(), self.position).ok_or_else(no_json)?;
        let text = self.text.get(self.position..end).ok_or_else(no_json)?;
        self.position = end;
        Ok((text, whole))
    }

    fn word(&mut self, word: &str) -> Result<()> {
        let rest = self.text.get(self.position..).unwrap_or_default();
        if !rest.starts_with(word) {
            return Err(no_json());
        }
        self.position += word.len();
        Ok(())
    }

    fn blanks(&mut self) {
        self.position = scan::blanks(self.text.as_bytes(), self.position);
    }

    fn take(&mut self, byte: u8) -> bool {
        self.blanks();
        let found = self.text.as_bytes().get(self.position) == Some(&byte);
        self.position += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.take(byte) { Ok(()) } else { Err(no_json()) }
    }

    /// Words that a well-formed token cannot be read as a Java type.
    fn mistyped(&mut self, token: Token, wanted: &str) -> Error {
        let decimal = token == Token::Number && self.number().is_ok_and(|(_, whole)| !whole);
        let found = match token {
            Token::Object => return Error::serialization(texts::UNEXPECTED_STRUCTURE),
            Token::List => return Error::serialization(texts::unrecognized_collection(wanted)),
            Token::Text => "STRING_VALUE",
            Token::Number if decimal => "DECIMAL_VALUE",
            Token::Number => "NUMBER_VALUE",
            Token::True => "TRUE_VALUE",
            Token::False => "FALSE_VALUE",
            Token::Null => "NULL_VALUE",
        };
        Error::serialization(texts::cannot_be_converted(found, wanted))
    }
}

fn no_json() -> Error {
    Error::serialization(texts::NO_JSON)
}

/// Parses an integer of any length; one that does not fit becomes the nearest that does.
fn saturated(text: &str) -> i64 {
    text.parse().unwrap_or(if text.starts_with('-') { i64::MIN } else { i64::MAX })
}

fn truncated(text: &str) -> i64 {
    let number: f64 = text.parse().unwrap_or(0.0);
    saturated(&format!("{:.0}", number.trunc()))
}
