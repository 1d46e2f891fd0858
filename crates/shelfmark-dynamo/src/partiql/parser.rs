//! A position in the tokens of a statement, and the limits of its nesting.
//!
//! Invariant: it recurses at most [`EXPRESSION_DEPTH_MAX`] deep and counts at most
//! [`EXPRESSION_OPERATORS_MAX`] operators and functions.

use super::lexer::{Place, Token, TokenKind, tokens};
use super::malformed;
use crate::errors::{Error, Result, texts};
use crate::limits::{EXPRESSION_DEPTH_MAX, EXPRESSION_OPERATORS_MAX};

/// A parser at a position of a statement.
pub(super) struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    position: usize,
    depth: usize,
    operators: usize,
    /// Number of question marks so far.
    pub(super) parameters: usize,
}

impl<'a> Parser<'a> {
    pub(super) fn new(source: &'a str) -> Result<Self> {
        let tokens = tokens(source)?;
        Ok(Self { tokens, position: 0, depth: 0, operators: 0, parameters: 0 })
    }

    /// Returns the token so many behind the next one, or the end.
    pub(super) fn ahead(&self, count: usize) -> Option<&Token<'a>> {
        self.tokens.get(self.position + count).or(self.tokens.last())
    }

    /// Returns true if the next token is this symbol.
    pub(super) fn is(&self, symbol: &str) -> bool {
        self.ahead(0).is_some_and(|token| token.is(symbol))
    }

    /// Returns true if the next token is this keyword.
    pub(super) fn is_keyword(&self, keyword: &str) -> bool {
        self.keyword_ahead(0, keyword)
    }

    /// Returns true if the token so many behind the next one is this keyword.
    pub(super) fn keyword_ahead(&self, count: usize, keyword: &str) -> bool {
        self.ahead(count).is_some_and(|token| token.is_keyword(keyword))
    }

    pub(super) fn kind(&self) -> TokenKind {
        self.ahead(0).map_or(TokenKind::End, |token| token.kind)
    }

    pub(super) fn place(&self) -> Place {
        self.ahead(0).map(|token| token.place).unwrap_or_default()
    }

    /// Returns the text of the next token.
    pub(super) fn text(&self) -> &str {
        self.ahead(0).map_or("", |token| &token.text)
    }

    pub(super) fn skip(&mut self, count: usize) {
        self.position += count;
    }

    /// Takes the text of the next token.
    pub(super) fn take_text(&mut self) -> String {
        let text = self.text().to_owned();
        self.skip(1);
        text
    }

    pub(super) fn take(&mut self, symbol: &str) -> bool {
        let found = self.is(symbol);
        self.skip(usize::from(found));
        found
    }

    pub(super) fn take_keyword(&mut self, keyword: &str) -> bool {
        let found = self.is_keyword(keyword);
        self.skip(usize::from(found));
        found
    }

    pub(super) fn expect(&mut self, symbol: &str) -> Result<()> {
        if self.take(symbol) { Ok(()) } else { Err(malformed(&texts::expected_token(symbol))) }
    }

    pub(super) fn expect_keyword(&mut self, keyword: &str) -> Result<()> {
        if self.take_keyword(keyword) {
            return Ok(());
        }
        Err(malformed(&texts::expected_token(&keyword.to_ascii_uppercase())))
    }

    /// Returns true if nothing but a semicolon is left.
    pub(super) fn is_at_end(&self) -> bool {
        let is_end = |count| self.ahead(count).is_none_or(|token| token.kind == TokenKind::End);
        is_end(0) || self.is(";") && is_end(1)
    }

    /// Returns true if nothing is left, not even a semicolon.
    pub(super) fn is_empty(&self) -> bool {
        self.kind() == TokenKind::End
    }

    /// Parses one level deeper, within the depth limit.
    pub(super) fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > EXPRESSION_DEPTH_MAX {
            return Err(malformed(texts::STATEMENT_TOO_DEEP));
        }
        let parsed = parse(self)?;
        self.depth -= 1;
        Ok(parsed)
    }

    /// Counts an operator or a function against the limit.
    pub(super) fn count_operator(&mut self) -> Result<()> {
        self.operators += 1;
        if self.operators > EXPRESSION_OPERATORS_MAX {
            return Err(Error::validation(texts::expression_operators(self.operators)));
        }
        Ok(())
    }

    /// Parses one or more elements, separated by commas.
    pub(super) fn list<T>(
        &mut self,
        mut parse: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut list = vec![parse(self)?];
        while self.take(",") {
            list.push(parse(self)?);
        }
        Ok(list)
    }
}
