//! Prepared terms as a tree.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_cql_protocol::Result;

use super::eval::EvalContext;
use crate::function::Scalar;
use crate::value::{CqlType, UserType};

/// A prepared term.
#[allow(missing_docs, reason = "the variants say what their parts are")]
#[derive(Debug, Clone)]
pub enum Expr {
    /// A value known when the statement was prepared.
    Constant(Option<Bytes>),
    /// A bound value, checked when it is bound.
    Marker { index: usize, ty: CqlType },
    /// A column of the row, by its place among the columns read.
    Column(usize),
    /// The value of an aggregate, by its place.
    Aggregate(usize),
    /// `writetime(c)` and the like of a column.
    Metadata { kind: MetadataKind, column: usize, path: MetadataPath },
    /// A list, sorted set or vector of values.
    Elements { items: Vec<Expr>, ty: CqlType },
    /// A map.
    Entries { items: Vec<(Expr, Expr)>, ty: CqlType },
    /// A tuple or user type; fields that were not given are null.
    Fields { items: Vec<Option<Expr>>, unset: UnsetField },
    /// A function of values.
    Call { function: Scalar, arguments: Vec<Expr> },
    /// The token of a partition key.
    Token(Vec<Expr>),
    /// A decimal in the one spelling that keys of another face's tables have.
    Plain(Box<Expr>),
    /// An element of a frozen or assembled collection; how messages call that.
    Element { of: Box<Expr>, ty: CqlType, key: Box<Expr>, shown: String },
    /// A part of a collection.
    Slice { of: Box<Expr>, ty: CqlType, from: Option<Box<Expr>>, to: Option<Box<Expr>> },
    /// A field of a user type, by its place.
    Field { of: Box<Expr>, at: usize },
}

/// The meaning of an unset marker as a field of a literal.
#[derive(Debug, Clone)]
pub enum UnsetField {
    /// Refused.
    OfTuple,
    /// Refused, as of a frozen user type.
    OfUserType(Arc<UserType>),
    /// Null: of a live user type it leaves nothing behind.
    Null,
}

/// A property of a cell beside its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetadataKind {
    /// `WRITETIME`.
    WriteTime,
    /// `MAXWRITETIME`.
    MaxWriteTime,
    /// `TTL`.
    Ttl,
}

/// The cells of a column whose property is selected.
#[derive(Debug, Clone)]
pub enum MetadataPath {
    /// All of its cells.
    Whole,
    /// The cell of one element.
    Element(Box<Expr>),
    /// The cells between two bounds.
    Slice(Option<Box<Expr>>, Option<Box<Expr>>),
    /// The cell of one field.
    Field(usize),
}

impl Expr {
    /// Returns true if a bind marker is in it.
    pub fn has_marker(&self) -> bool {
        match self {
            Self::Marker { .. } => true,
            Self::Constant(_) | Self::Column(_) | Self::Aggregate(_) | Self::Metadata { .. } => {
                false
            }
            Self::Elements { items, .. } | Self::Token(items) => items.iter().any(Self::has_marker),
            Self::Call { arguments, .. } => arguments.iter().any(Self::has_marker),
            Self::Entries { items, .. } => {
                items.iter().any(|(key, value)| key.has_marker() || value.has_marker())
            }
            Self::Fields { items, .. } => items.iter().flatten().any(Self::has_marker),
            Self::Element { of, key, .. } => of.has_marker() || key.has_marker(),
            Self::Slice { of, .. } | Self::Field { of, .. } | Self::Plain(of) => of.has_marker(),
        }
    }

    /// Returns true if a function of a user's is called in it.
    pub fn calls_user_function(&self) -> bool {
        let calls = Self::calls_user_function;
        match self {
            Self::Constant(_)
            | Self::Marker { .. }
            | Self::Column(_)
            | Self::Aggregate(_)
            | Self::Metadata { .. } => false,
            Self::Elements { items, .. } | Self::Token(items) => items.iter().any(calls),
            Self::Call { function, arguments } => {
                &*function.keyspace != "system" || arguments.iter().any(calls)
            }
            Self::Entries { items, .. } => {
                items.iter().any(|(key, value)| calls(key) || calls(value))
            }
            Self::Fields { items, .. } => items.iter().flatten().any(calls),
            Self::Element { of, key, .. } => calls(of) || calls(key),
            Self::Slice { of, from, to, .. } => {
                calls(of) || from.iter().chain(to).any(|own| calls(own))
            }
            Self::Field { of, .. } | Self::Plain(of) => calls(of),
        }
    }

    /// Becomes its value, if a function of a user's is called in it and it looks at no row.
    ///
    /// # Errors
    ///
    /// * Those of [`Expr::eval`].
    pub fn fold_calls(&mut self, env: EvalContext<'_>) -> Result<()> {
        if self.calls_user_function() {
            *self = Self::Constant(self.value(env, " in a term")?);
        }
        Ok(())
    }
}
