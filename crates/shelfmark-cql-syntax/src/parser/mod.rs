//! From tokens to a tree: one function per rule of the grammar.
//!
//! Each function decides as the original's parser does, looking as far ahead as that one looks,
//! so that a text is refused at the same token with the same words. Where the original tries one
//! alternative and, failing, another, so does this one.
//!
//! What it is not: it looks nothing up, and mends nothing: the first failure is the answer.
//!
//! Invariant: the depth of the tree is at most [`crate::DEPTH_MAX`]; nothing panics, whatever the
//! text.
//!
//! Source: behaviour of Apache Cassandra 5.0.9, tried 2026-11.

mod chain;
mod cursor;
mod describe;
mod function;
mod message;
mod modify;
mod names;
mod relation;
mod role;
mod schema;
mod select;
mod selector;
mod statement;
mod table;
mod terms;
mod transaction;
mod types;

use crate::ast::Parsed;
use crate::error::SyntaxError;
use crate::lexer::Kind;
use crate::limits::TEXT_BYTES_MAX;
use cursor::{Parse, Parser};
pub(crate) use names::RESERVED_TYPES;

/// Parses one statement, which may be followed by semicolons.
///
/// Cost: a few microseconds for a statement of a hundred bytes; one allocation per name, constant
/// and list of the tree, and one for the tokens.
///
/// # Errors
///
/// The text is no statement of CQL: nothing but another text helps. The message is the original's.
///
/// # Examples
///
/// ```
/// use shelfmark_cql_syntax::{ast::Statement, parse};
///
/// let parsed = parse("SELECT name FROM users WHERE id = ?")?;
/// assert!(matches!(parsed.statement, Statement::Select(_)));
/// assert_eq!(parsed.markers.len(), 1);
///
/// let error = parse("SELECT FROM users").unwrap_err();
/// assert_eq!(
///     error.message(),
///     "line 1:7 no viable alternative at input 'FROM' (SELECT [FROM]...)",
/// );
/// # Ok::<(), shelfmark_cql_syntax::SyntaxError>(())
/// ```
pub fn parse(text: &str) -> Result<Parsed, SyntaxError> {
    whole(text, |parser| parser.statement())
        .map(|(statement, markers)| Parsed { statement, markers })
}

/// Parses a type, such as the system tables hold.
///
/// # Errors
///
/// The text is no type.
pub fn parse_type(text: &str) -> Result<crate::ast::Type, SyntaxError> {
    whole(text, |parser| parser.cql_type()).map(|(parsed, _)| parsed)
}

/// Parses a term; its markers are numbered from 0.
///
/// # Errors
///
/// The text is no term.
pub fn parse_term(text: &str) -> Result<crate::ast::Term, SyntaxError> {
    whole(text, |parser| parser.term()).map(|(parsed, _)| parsed)
}

fn whole<T>(
    text: &str,
    rule: impl FnOnce(&mut Parser<'_>) -> Parse<T>,
) -> Result<(T, Vec<crate::ast::BindMarker>), SyntaxError> {
    if text.len() > TEXT_BYTES_MAX {
        let message = format!("statement of {} bytes, at most {TEXT_BYTES_MAX}", text.len());
        return Err(SyntaxError::new(message, 0, ""));
    }
    let mut parser = Parser::new(text);
    let parsed = rule(&mut parser).and_then(|parsed| {
        while parser.eat(Kind::Semicolon) {}
        parser.expect(Kind::End)?;
        match parser.broken_rule.take() {
            Some(rule) => parser.refuse(rule),
            None => Ok(parsed),
        }
    });
    match parsed {
        Ok(parsed) => Ok((parsed, parser.markers)),
        Err(failure) => Err(message::error(&parser, failure)),
    }
}
