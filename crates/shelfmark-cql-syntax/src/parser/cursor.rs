//! The place in the tokens, how far was looked, and what went wrong.
//!
//! The original's messages show the text around the token at which a decision began, up to the
//! farthest token that any decision looked at. So every look ahead is counted here, as far as the
//! original's decision would have gone.

use crate::ast::{BindMarker, Marker, Name};
use crate::lexer::{Kind, Token, Unreadable, tokens};
use crate::limits::DEPTH_MAX;
use crate::span::Span;

/// Parsing one rule.
pub(crate) type Parse<T> = Result<T, Failure>;

/// A failed rule, with the reason.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// The reason of a failure.
    pub(crate) reason: Reason,
    /// The farthest token that was looked at.
    pub(crate) farthest: usize,
}

/// The reason of a failure.
#[derive(Clone, Debug)]
pub(crate) enum Reason {
    /// The decision that began at `index` ends at token `at`.
    NoViable {
        /// The token at which the decision began.
        index: usize,
        /// The token that fits nothing.
        at: usize,
    },
    /// Another token must stand at `index`.
    Mismatch {
        /// The place.
        index: usize,
        /// The text that must stand there.
        expected: &'static str,
    },
    /// The grammar is kept, a rule beside it is not.
    Rule(Box<str>),
    /// Deeper than [`DEPTH_MAX`].
    Depth {
        /// The token at which it got too deep.
        index: usize,
    },
}

/// The tokens of one text and the state of parsing them.
pub(crate) struct Parser<'a> {
    pub(crate) text: &'a str,
    pub(crate) tokens: Vec<Token>,
    pub(crate) unreadable: Option<Unreadable>,
    pub(crate) position: usize,
    pub(crate) farthest: usize,
    pub(crate) markers: Vec<BindMarker>,
    /// The first broken rule that lets parsing go on; it is what is reported in the end.
    pub(crate) broken_rule: Option<Box<str>>,
    /// Inside of `BEGIN TRANSACTION`, where a condition may end at `THEN`.
    pub(crate) in_transaction: bool,
    depth: usize,
}

/// A state to go back to.
struct Mark {
    position: usize,
    markers: usize,
    broken_rule: Option<Box<str>>,
    depth: usize,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(text: &'a str) -> Parser<'a> {
        let (tokens, unreadable) = tokens(text);
        Parser {
            text,
            tokens,
            unreadable,
            position: 0,
            farthest: 0,
            markers: Vec::new(),
            broken_rule: None,
            in_transaction: false,
            depth: 0,
        }
    }

    /// Returns the kind of the `ahead`-th token from here, the current one being the first, and
    /// counts it as looked at.
    #[inline]
    pub(crate) fn peek(&mut self, ahead: usize) -> Kind {
        self.looked(ahead);
        self.kind(self.position + ahead - 1)
    }

    #[inline]
    pub(crate) fn now(&mut self) -> Kind {
        self.peek(1)
    }

    fn kind(&self, index: usize) -> Kind {
        match self.tokens.get(index) {
            Some(token) => token.kind,
            None => self.tokens.last().map_or(Kind::End, |token| token.kind),
        }
    }

    /// Counts the `ahead`-th token from here as looked at.
    #[inline]
    pub(crate) fn looked(&mut self, ahead: usize) {
        let index = self.position + ahead - 1;
        if index > self.farthest {
            self.farthest = index;
        }
    }

    /// Goes on by one token and returns the one passed. At the end it stays.
    #[inline]
    pub(crate) fn bump(&mut self) -> Token {
        let token = self.token(self.position);
        if self.position + 1 < self.tokens.len() {
            self.position += 1;
        }
        self.looked(1);
        token
    }

    pub(crate) fn token(&self, index: usize) -> Token {
        let last = self.tokens.last().copied();
        let end = Token { kind: Kind::End, start: 0, end: 0 };
        self.tokens.get(index).copied().or(last).unwrap_or(end)
    }

    /// Goes on if the current token is of this kind.
    #[inline]
    pub(crate) fn eat(&mut self, kind: Kind) -> bool {
        let found = self.now() == kind;
        if found {
            self.bump();
        }
        found
    }

    /// Goes on over a token that must stand here.
    #[inline]
    pub(crate) fn expect(&mut self, kind: Kind) -> Parse<Token> {
        if self.now() == kind {
            return Ok(self.bump());
        }
        Err(self.mismatch(kind))
    }

    #[cold]
    fn mismatch(&self, kind: Kind) -> Failure {
        self.failure(Reason::Mismatch { index: self.position, expected: kind.shown() })
    }

    fn failure(&self, reason: Reason) -> Failure {
        Failure { reason, farthest: self.farthest }
    }

    /// Returns the failure of a decision that began here and ends at the `ahead`-th token.
    #[cold]
    pub(crate) fn no_viable<T>(&mut self, ahead: usize) -> Parse<T> {
        self.looked(ahead);
        let index = self.position;
        Err(self.failure(Reason::NoViable { index, at: index + ahead - 1 }))
    }

    /// Fails by a rule beside the grammar, which stops parsing.
    #[cold]
    pub(crate) fn refuse<T>(&self, message: impl Into<Box<str>>) -> Parse<T> {
        Err(self.failure(Reason::Rule(message.into())))
    }

    /// Notes the breach of a rule beside the grammar, reported once everything is parsed.
    #[cold]
    pub(crate) fn note(&mut self, message: impl FnOnce() -> String) {
        if self.broken_rule.is_none() {
            self.broken_rule = Some(message().into());
        }
    }

    fn mark(&self) -> Mark {
        Mark {
            position: self.position,
            markers: self.markers.len(),
            broken_rule: self.broken_rule.clone(),
            depth: self.depth,
        }
    }

    /// Goes back, forgetting everything but how far was looked.
    fn rewind(&mut self, mark: Mark) {
        self.position = mark.position;
        self.markers.truncate(mark.markers);
        self.broken_rule = mark.broken_rule;
        self.depth = mark.depth;
    }

    /// Tries to parse something; when it fails, goes back and returns nothing. What is nested too
    /// deep fails for good.
    pub(crate) fn attempt<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Parse<T>,
    ) -> Parse<Option<T>> {
        let mark = self.mark();
        match parse(self) {
            Ok(parsed) => Ok(Some(parsed)),
            Err(failure @ Failure { reason: Reason::Depth { .. }, .. }) => Err(failure),
            Err(_) => {
                self.rewind(mark);
                Ok(None)
            }
        }
    }

    /// Parses something one level deeper.
    pub(crate) fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.descend()?;
        let parsed = parse(self)?;
        self.depth -= 1;
        Ok(parsed)
    }

    /// Counts one level that stays until [`Parser::ascend`].
    pub(crate) fn descend(&mut self) -> Parse<()> {
        if self.depth == DEPTH_MAX {
            return Err(self.failure(Reason::Depth { index: self.position }));
        }
        self.depth += 1;
        Ok(())
    }

    pub(crate) fn ascend(&mut self, levels: usize) {
        self.depth -= levels;
    }

    /// Returns a token's text as written.
    pub(crate) fn slice(&self, token: Token) -> &'a str {
        Span { start: token.start, end: token.end }.text(self.text)
    }

    /// Returns what the original calls a token's text: of quoted ones what they quote.
    pub(crate) fn meaning(&self, token: Token) -> Box<str> {
        meaning(token.kind, self.slice(token))
    }

    /// Goes on over a token that must stand here, and returns its text.
    pub(crate) fn expect_text(&mut self, kind: Kind) -> Parse<Box<str>> {
        let token = self.expect(kind)?;
        Ok(self.meaning(token))
    }

    /// Makes a name of a token that may be one.
    pub(crate) fn as_name(&self, token: Token) -> Name {
        let span = Span { start: token.start, end: token.end };
        let text = match token.kind {
            Kind::Quoted | Kind::EmptyQuoted => self.meaning(token),
            _ => {
                let mut text: Box<str> = self.slice(token).into();
                text.make_ascii_lowercase();
                text
            }
        };
        Name::at(text, span)
    }

    /// Numbers a bind marker.
    pub(crate) fn bind(&mut self, name: Option<Name>, span: Span) -> Marker {
        let index = self.markers.len();
        self.markers.push(BindMarker { name, span });
        Marker { index }
    }
}

/// Returns what the original calls a token's text.
pub(crate) fn meaning(kind: Kind, written: &str) -> Box<str> {
    let inner = |quotes: usize| written.get(quotes..written.len() - quotes).unwrap_or_default();
    match kind {
        Kind::String if written.starts_with('$') => inner(2).into(),
        Kind::String if inner(1).contains('\'') => inner(1).replace("''", "'").into(),
        Kind::Quoted if inner(1).contains('"') => inner(1).replace("\"\"", "\"").into(),
        Kind::String | Kind::Quoted => inner(1).into(),
        Kind::EmptyQuoted => "".into(),
        _ => written.into(),
    }
}
