//! Terms: what the text says becomes something that can be evaluated for every execution.
//!
//! A term is prepared once against what receives it (a column, an argument, a limit) and evaluated
//! with the values of the markers and, in a selection, with a row.
//!
//! Invariant: whatever is evaluated is null, unset, or a valid value of the type it was prepared
//! for.

mod assign;
mod eval;
mod prepare;
mod text;

use std::sync::Arc;

use bytes::Bytes;

use crate::function::Scalar;
use crate::schema::{Schema, Table};
use crate::types::{CqlType, UserType};

pub(crate) use assign::{known_type, preferred, test, test_literal};
pub(crate) use eval::{Env, ResolvedPath, RowView};
pub(crate) use prepare::{
    ambiguous, prepare, prepare_literal as prepare_literal_as, prepare_marker,
};
pub(crate) use text::{literal_text, term_text};

/// What a term is prepared for: the name for messages and marker metadata, and the type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Receiver<'a> {
    pub(crate) name: &'a str,
    pub(crate) ty: &'a CqlType,
}

/// What is known about the markers of a statement so far, by their places.
#[derive(Debug, Default)]
pub(crate) struct Markers {
    /// Their names, of `:name`.
    pub(crate) names: Vec<Option<String>>,
    /// What receives them.
    pub(crate) types: Vec<Option<(String, CqlType)>>,
    /// Keyspace and table of what receives them, where it is part of one.
    pub(crate) tables: Vec<Option<(Arc<str>, Arc<str>)>>,
}

impl Markers {
    pub(crate) fn of(parsed: &[shelfmark_cql_syntax::ast::BindMarker]) -> Self {
        let names: Vec<Option<String>> = parsed
            .iter()
            .map(|marker| marker.name.as_ref().map(|name| name.as_str().to_owned()))
            .collect();
        let types = vec![None; names.len()];
        let tables = vec![None; names.len()];
        Self { names, types, tables }
    }

    /// Notes what receives a marker.
    pub(crate) fn set(&mut self, index: usize, name: &str, ty: &CqlType, table: Option<&Table>) {
        if let (Some(place), Some(table)) = (self.tables.get_mut(index), table) {
            *place = Some((Arc::clone(&table.keyspace), Arc::clone(&table.name)));
        }
        let own = self.names.get(index).cloned().flatten();
        if let Some(place) = self.types.get_mut(index) {
            *place = Some((own.unwrap_or_else(|| name.to_owned()), ty.clone()));
        }
    }
}

/// What terms are prepared in.
pub(crate) struct Scope<'a> {
    pub(crate) schema: &'a Schema,
    /// The keyspace that types without one are looked up in.
    pub(crate) keyspace: &'a str,
    /// The table, for `token()`.
    pub(crate) table: Option<&'a Table>,
    pub(crate) markers: &'a mut Markers,
}

/// A prepared term.
#[derive(Debug, Clone)]
pub(crate) enum Expr {
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
    /// An element of a frozen or assembled collection; how messages call that.
    Element { of: Box<Expr>, ty: CqlType, key: Box<Expr>, shown: String },
    /// A part of a collection.
    Slice { of: Box<Expr>, ty: CqlType, from: Option<Box<Expr>>, to: Option<Box<Expr>> },
    /// A field of a user type, by its place.
    Field { of: Box<Expr>, at: usize },
}

/// What a field of a literal is whose marker is not set.
#[derive(Debug, Clone)]
pub(crate) enum UnsetField {
    /// Refused.
    OfTuple,
    /// Refused, as of a frozen user type.
    OfUserType(Arc<UserType>),
    /// Null: of a live user type it leaves nothing behind.
    Null,
}

/// What is asked of a cell beside its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MetadataKind {
    WriteTime,
    MaxWriteTime,
    Ttl,
}

/// Of which cells of a column.
#[derive(Debug, Clone)]
pub(crate) enum MetadataPath {
    Whole,
    Element(Box<Expr>),
    Slice(Option<Box<Expr>>, Option<Box<Expr>>),
    Field(usize),
}

impl Expr {
    /// Whether a marker is in it.
    pub(crate) fn has_marker(&self) -> bool {
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
            Self::Slice { of, .. } | Self::Field { of, .. } => of.has_marker(),
        }
    }
}
