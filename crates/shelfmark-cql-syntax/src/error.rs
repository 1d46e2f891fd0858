//! Errors: the place and the reason of a refusal.

use std::fmt;

/// A text that is no CQL.
///
/// The message is Cassandra's for the same text wherever that is known; programs match it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    message: String,
    offset: usize,
    line: usize,
    column: usize,
}

impl SyntaxError {
    pub(crate) fn new(message: String, offset: usize, text: &str) -> SyntaxError {
        let (line, column) = place(text, offset);
        SyntaxError { message, offset, line, column }
    }

    /// Returns the message, as a client is to read it.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the byte where the text stops being CQL; its length when it ends too early.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the line of that byte, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns the column of that byte, from 0, in UTF-16 units as the message counts them.
    #[must_use]
    pub fn column(&self) -> usize {
        self.column
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SyntaxError {}

/// Returns line (from 1) and column (from 0, in UTF-16 units) of a byte.
pub(crate) fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (line, before.get(start..).unwrap_or_default().encode_utf16().count())
}
