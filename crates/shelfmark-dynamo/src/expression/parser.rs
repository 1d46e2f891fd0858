//! Parses the parts of the grammar that all expressions share: paths, operands, function calls.
//!
//! Recursive descent over the tokens of an operand. Invariant: it recurses at most
//! [`EXPRESSION_DEPTH_MAX`] deep, so an operand of nothing but parentheses is a refusal.

use super::ast::{Arg, Leaf, Operator, RawPath, RawStep};
use super::lexer::{Token, TokenKind, tokens};
use super::{Problem, Refused};
use crate::errors::texts;
use crate::limits::{EXPRESSION_DEPTH_MAX, EXPRESSION_OPERATORS_MAX, LIST_INDEX_MAX};

/// Keywords, which are no names in any kind of expression: one grammar serves them all.
const KEYWORDS: [&str; 9] = ["AND", "OR", "NOT", "BETWEEN", "IN", "SET", "REMOVE", "ADD", "DELETE"];

/// A parser at a position of an expression.
pub(super) struct Parser<'a> {
    source: &'a str,
    tokens: Vec<Token<'a>>,
    position: usize,
    depth: usize,
    operators: usize,
    /// True if a pair of parentheses stands directly around another.
    pub(super) redundant_parentheses: bool,
}

impl<'a> Parser<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self {
            source,
            tokens: tokens(source),
            position: 0,
            depth: 0,
            operators: 0,
            redundant_parentheses: false,
        }
    }

    pub(super) fn peek(&self) -> Token<'a> {
        self.at(self.position)
    }

    fn at(&self, position: usize) -> Token<'a> {
        let end = Token { kind: TokenKind::End, text: "", start: self.source.len() };
        self.tokens.get(position).or(self.tokens.last()).copied().unwrap_or(end)
    }

    pub(super) fn advance(&mut self) -> Token<'a> {
        let token = self.peek();
        self.position += 1;
        token
    }

    pub(super) fn take(&mut self, symbol: &str) -> bool {
        let found = self.peek().is(symbol);
        self.position += usize::from(found);
        found
    }

    pub(super) fn take_word(&mut self, keyword: &str) -> bool {
        let found = self.peek().is_word(keyword);
        self.position += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, symbol: &str) -> Refused<()> {
        if self.take(symbol) { Ok(()) } else { Err(self.unexpected()) }
    }

    /// Refuses the next token, quoting the text from the token before to the one behind.
    pub(super) fn unexpected(&self) -> Problem {
        let token = self.peek();
        let before = match self.position.checked_sub(1) {
            Some(before) => self.at(before),
            None => token,
        };
        let near = self.source.get(before.start..self.at(self.position + 1).end());
        let text = if token.kind == TokenKind::End { "<EOF>" } else { token.text };
        Problem::Syntax(texts::syntax_error(text, near.unwrap_or_default()))
    }

    /// Counts an operator or a function against the limit.
    pub(super) fn count_operator(&mut self) -> Refused<()> {
        self.operators += 1;
        if self.operators > EXPRESSION_OPERATORS_MAX {
            return Err(Problem::Other(texts::expression_operators(self.operators)));
        }
        Ok(())
    }

    /// Parses one level deeper, within the depth limit.
    pub(super) fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Refused<T>) -> Refused<T> {
        self.depth += 1;
        if self.depth > EXPRESSION_DEPTH_MAX {
            return Err(Problem::Other(texts::EXPRESSION_TOO_DEEP.to_owned()));
        }
        let parsed = parse(self)?;
        self.depth -= 1;
        Ok(parsed)
    }

    pub(super) fn end(&self) -> Refused<()> {
        if self.peek().kind == TokenKind::End { Ok(()) } else { Err(self.unexpected()) }
    }

    /// Parses `a.b[3].#c`.
    pub(super) fn path(&mut self) -> Refused<RawPath<'a>> {
        let mut path = vec![self.path_name()?];
        loop {
            if self.take(".") {
                path.push(self.path_name()?);
            } else if self.take("[") {
                path.push(self.path_index()?);
                self.expect("]")?;
            } else {
                return Ok(path);
            }
        }
    }

    fn path_name(&mut self) -> Refused<RawStep<'a>> {
        let token = self.peek();
        let step = match token.kind {
            TokenKind::Word if !is_keyword(token) => RawStep::Word(token.text),
            TokenKind::Name => RawStep::Name(token.text),
            TokenKind::Word
            | TokenKind::Value
            | TokenKind::Number
            | TokenKind::Symbol
            | TokenKind::Unknown
            | TokenKind::End => return Err(self.unexpected()),
        };
        self.position += 1;
        Ok(step)
    }

    fn path_index(&mut self) -> Refused<RawStep<'a>> {
        let token = self.peek();
        if token.kind != TokenKind::Number {
            return Err(self.unexpected());
        }
        match token.text.parse() {
            Ok(index) if index <= LIST_INDEX_MAX => {
                self.position += 1;
                Ok(RawStep::Index(index))
            }
            _ => Err(Problem::Other(texts::list_index(token.text))),
        }
    }

    /// Parses an operand, which may stand in parentheses.
    pub(super) fn operand(&mut self) -> Refused<Arg<'a>> {
        if !self.peek().is("(") {
            return self.bare_operand();
        }
        self.deeper(|parser| {
            parser.position += 1;
            parser.redundant_parentheses |= parser.peek().is("(");
            let arg = parser.operand()?;
            parser.expect(")")?;
            Ok(arg)
        })
    }

    /// Parses a value, a call or a path.
    pub(super) fn bare_operand(&mut self) -> Refused<Arg<'a>> {
        let token = self.peek();
        if token.kind == TokenKind::Value {
            self.position += 1;
            return Ok(Arg::Value(token.text));
        }
        let call = token.kind == TokenKind::Word && self.at(self.position + 1).is("(");
        if !call || is_keyword(token) {
            return self.path().map(Arg::Path);
        }
        self.count_operator()?;
        self.deeper(|parser| {
            parser.position += 2;
            let args = parser.list(Self::operand)?;
            parser.expect(")")?;
            Ok(Arg::Call(Leaf { operator: Operator::Call(token.text), args }))
        })
    }

    /// Parses one or more elements, separated by commas.
    pub(super) fn list<T>(
        &mut self,
        mut parse: impl FnMut(&mut Self) -> Refused<T>,
    ) -> Refused<Vec<T>> {
        let mut list = vec![parse(self)?];
        while self.take(",") {
            list.push(parse(self)?);
        }
        Ok(list)
    }
}

fn is_keyword(token: Token<'_>) -> bool {
    KEYWORDS.iter().any(|keyword| token.is_word(keyword))
}
