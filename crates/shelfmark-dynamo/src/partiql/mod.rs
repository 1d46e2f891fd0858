//! PartiQL: the text of a statement, to the conditions, patches and key ranges of the other
//! operations.
//!
//! A statement goes through these steps: tokens ([`lexer`]), grammar ([`expression`] and
//! [`statement`], giving the tree of [`ast`]), values ([`value`]), then the trees that conditions
//! and updates of the other operations have too ([`condition`], [`update`]), with the same checks
//! behind them; for a SELECT the ranges that it reads ([`reads`]) and the names of what it answers
//! ([`columns`]).
//!
//! What it is not: it reads and writes nothing and evaluates nothing. That is done by the same code
//! as for Query, Scan and UpdateItem.
//!
//! Invariant: a statement is at most [`crate::limits::STATEMENT_CHARS_MAX`] long, its terms nest at
//! most [`crate::limits::EXPRESSION_DEPTH_MAX`] deep and it has at most
//! [`crate::limits::EXPRESSION_OPERATORS_MAX`] operators before anything recurses over its tree.
//!
//! Source of the grammar and of the texts: the published grammar of the PartiQL reference
//! implementation that the service is built on, and a public suite that records the service's
//! answers, read 2026-11.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a tree is looked through for what is of use; all else in it is refused alike"
)]

mod asked;
mod ast;
mod columns;
mod condition;
mod expression;
mod intervals;
mod lexer;
mod next_token;
mod parser;
mod reads;
mod statement;
mod update;
mod value;
mod words;

pub use asked::{AskedKind, AskedStatement, AskedValue, AskedValues, asked_statement};
pub(crate) use ast::{Delete, Image, Insert, Named, Select, Statement, Update};
pub(crate) use columns::Columns;
pub(crate) use condition::{check_key_type, condition, key_and_condition};
pub(crate) use next_token::{NextToken, request_hash};
pub(crate) use reads::{Direction, Read, Reads};
pub(crate) use update::patch;
pub(crate) use value::item;

use crate::errors::{Error, Result, texts};

/// Parses a statement; returns it and the number of its parameters.
pub(crate) fn parse(source: &str) -> Result<(Statement, usize)> {
    statement::parse(source)
}

/// Returns the error of a statement that is not in the grammar; `detail` may be empty.
fn malformed(detail: &str) -> Error {
    Error::validation(texts::malformed_statement(detail))
}
