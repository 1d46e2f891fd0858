//! Expressions: conditions, filters, key conditions, updates and projections.
//!
//! Each goes through the same steps: tokens ([`lexer`]), grammar ([`parser`] and one module per
//! kind, giving the tree of [`ast`]), checks that need no table ([`check`]), then the model's own
//! [`shelfmark_model::Condition`], [`shelfmark_model::Patch`] or [`shelfmark_model::Projection`].
//! Which problem of several is reported follows the service's order.
//!
//! What it is not: it evaluates nothing and knows no table; that a path leads to a key attribute
//! is for the operations to judge.
//!
//! Invariant: text is at most 4,096 bytes, its operands nest at most
//! [`crate::limits::EXPRESSION_DEPTH_MAX`] deep and its conditions at most as deep as there are
//! operators ([`crate::limits::EXPRESSION_OPERATORS_MAX`]) before anything recurses over it.

mod ast;
mod check;
mod condition;
mod key_condition;
mod lexer;
mod lower;
mod parser;
mod placeholders;
mod projection;
mod reserved;
mod search_condition;
mod update;

/// The syntax tree, for languages whose conditions and updates are these under other words.
pub(crate) mod tree {
    pub(crate) use super::ast::{Arg, Change, Leaf, Node, Operator, RawPath, RawStep, Section};
}

pub(crate) use key_condition::{KeyCondition, KeyRelation};
pub(crate) use placeholders::{Given, Placeholders};
pub(crate) use update::changed;

use shelfmark_model::{Condition, Patch, Path, Projection, Value};

use crate::errors::{Error, Result, texts};
use crate::limits::EXPRESSION_SIZE_BYTES_MAX;

/// The kind of an expression; its name begins every message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Condition,
    Filter,
    KeyCondition,
    Projection,
    SearchCondition,
    Update,
}

impl Kind {
    /// Returns the name of the request's member.
    pub(crate) const fn member(self) -> &'static str {
        match self {
            Self::Condition => "ConditionExpression",
            Self::Filter => "FilterExpression",
            Self::KeyCondition => "KeyConditionExpression",
            Self::Projection => "ProjectionExpression",
            Self::SearchCondition => "SearchConditionExpression",
            Self::Update => "UpdateExpression",
        }
    }
}

/// A problem of an expression, without the kind of the expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Problem {
    /// A syntax error.
    Syntax(String),
    /// A reference to a value that was not given.
    MissingValue(String),
    Other(String),
}

impl Problem {
    /// Returns the error of an expression without a member, whose name is left out.
    fn bare(self) -> Error {
        let (Self::Syntax(text) | Self::MissingValue(text) | Self::Other(text)) = self;
        Error::validation(text)
    }
}

type Refused<T> = std::result::Result<T, Problem>;

impl Placeholders {
    /// Parses and translates a condition or a filter.
    pub(crate) fn condition(&self, kind: Kind, source: Option<&str>) -> Result<Option<Condition>> {
        self.read(kind, source, |source| {
            let node = condition::parse(source)?;
            check::condition(self, &node)?;
            lower::condition(self, &node)
        })
    }

    /// Parses and translates a key condition.
    pub(crate) fn key_condition(&self, source: Option<&str>) -> Result<Option<Vec<KeyCondition>>> {
        let node = self.read(Kind::KeyCondition, source, |source| {
            let node = condition::parse(source)?;
            check::condition(self, &node)?;
            Ok(node)
        })?;
        node.map(|node| key_condition::conditions(self, &node)).transpose()
    }

    /// Parses and translates the condition of a vector search.
    pub(crate) fn search_condition(
        &self,
        source: Option<&str>,
    ) -> Result<Option<Vec<(String, Value)>>> {
        let node = self.read(Kind::SearchCondition, source, |source| {
            let node = condition::parse(source)?;
            check::condition(self, &node)?;
            Ok(node)
        })?;
        node.map(|node| search_condition::equalities(self, &node)).transpose()
    }

    /// Parses and translates an update.
    pub(crate) fn update(&self, source: Option<&str>) -> Result<Option<Patch>> {
        self.read(Kind::Update, source, |source| update::read(self, source))
    }

    /// Parses and translates a projection.
    pub(crate) fn projection(&self, source: Option<&str>) -> Result<Projection> {
        let paths = self.read(Kind::Projection, source, |source| projection::read(self, source))?;
        Ok(paths.map_or(Projection::All, Projection::Paths))
    }

    /// Checks and translates the tree of a condition that has no text of its own.
    pub(crate) fn condition_of(&self, node: &tree::Node<'_>) -> Result<Condition> {
        let checked = check::condition(self, node).and_then(|()| lower::condition(self, node));
        checked.map_err(Problem::bare)
    }

    /// Checks and translates the changes of an update that has no text of its own.
    pub(crate) fn update_of(&self, changes: &[tree::Change<'_>]) -> Result<Patch> {
        update::translate(self, changes).map_err(Problem::bare)
    }

    /// Refuses paths without a text of their own of which one contains another.
    pub(crate) fn check_apart(paths: &[Path]) -> Result<()> {
        projection::apart(paths).map_err(Problem::bare)
    }

    fn read<'s, T>(
        &self,
        kind: Kind,
        source: Option<&'s str>,
        read: impl FnOnce(&'s str) -> Refused<T>,
    ) -> Result<Option<T>> {
        let Some(source) = source else { return Ok(None) };
        let invalid = |problem: &str| texts::invalid_expression(kind.member(), problem);
        if source.is_empty() {
            return Err(Error::enveloped(invalid(texts::EXPRESSION_IS_EMPTY)));
        }
        if source.len() > EXPRESSION_SIZE_BYTES_MAX {
            let size = (kind != Kind::Update).then_some(source.len());
            return Err(Error::validation(invalid(&texts::expression_size(size))));
        }
        read(source).map(Some).map_err(|problem| match problem {
            Problem::Syntax(text) if kind == Kind::Update => Error::enveloped(invalid(&text)),
            Problem::MissingValue(text) => Error::enveloped(invalid(&text)),
            Problem::Syntax(text) | Problem::Other(text) => Error::validation(invalid(&text)),
        })
    }
}

#[cfg(test)]
mod tests;
