//! Reads and writes, resolved.

use std::collections::BTreeMap;

use super::relation::RelationId;
use super::term::{ColumnPath, Term};
use super::types::Type;
use super::{Model, Named};
use crate::syntax::span::Span;
use crate::syntax::tree::{Aggregate, CondOp, Existing};

#[derive(Debug, Clone)]
pub(crate) struct Param {
    pub(crate) name: String,
    pub(crate) ty: Type,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Consistency {
    #[default]
    Any,
    Eventual,
    Session,
    Strong,
}

/// A read: a function from a state and inputs to a list.
#[derive(Debug, Clone)]
pub(crate) struct Read {
    pub(crate) name: Named,
    pub(crate) params: Vec<Param>,
    pub(crate) sources: Vec<Source>,
    pub(crate) outputs: Vec<String>,
    pub(crate) distinct: bool,
    pub(crate) aggregate: Option<(Aggregate, Option<ColumnPath>)>,
    pub(crate) order: Vec<(OrderKey, bool)>,
    pub(crate) limit: Option<Term>,
    pub(crate) offset: bool,
    pub(crate) unique: bool,
    pub(crate) consistency: Consistency,
    pub(crate) admin: bool,
    /// `rate`, `peak` and the like; flags are 1.
    pub(crate) facts: BTreeMap<String, f64>,
    pub(crate) span: Span,
}

impl Read {
    /// Whether a name stands for the row type: `kind`, unless the read has one source and that has
    /// an attribute of this name.
    pub(crate) fn is_row_type(&self, model: &Model, name: &str) -> bool {
        name == "kind"
            && !matches!(self.sources.as_slice(), [only]
                if model.relation(only.relation).column(name).is_some())
    }
}

/// One row type of a read.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) relation: RelationId,
    pub(crate) predicates: Vec<Predicate>,
    /// Where each output comes from; `None` when this row type has no such attribute.
    pub(crate) outputs: Vec<Option<ColumnPath>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OrderKey {
    /// The row type, in the order in which the read lists them.
    Kind,
    /// An attribute, by source.
    Columns(Vec<ColumnPath>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Predicate {
    pub(crate) path: ColumnPath,
    pub(crate) op: CondOp,
    pub(crate) values: Vec<Term>,
    pub(crate) max: Option<u64>,
    pub(crate) span: Span,
}

/// A write: a function from a state and inputs to a state, defined where the result is a state.
#[derive(Debug, Clone)]
pub(crate) struct Write {
    pub(crate) name: Named,
    pub(crate) params: Vec<Param>,
    pub(crate) effects: Vec<Effect>,
    pub(crate) atomic: bool,
    pub(crate) facts: BTreeMap<String, f64>,
    pub(crate) span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EffectKind {
    Insert,
    Update,
    Delete,
    Increment,
}

#[derive(Debug, Clone)]
pub(crate) struct Effect {
    pub(crate) kind: EffectKind,
    pub(crate) relation: RelationId,
    /// For an insert every given value; else what selects the tuple.
    pub(crate) key: Vec<(usize, Term)>,
    pub(crate) set: Vec<(usize, Term)>,
    pub(crate) existing: Existing,
    pub(crate) each: Option<Each>,
}

/// The loop of an effect; `Term::Prior` in the effect is an attribute of its tuple.
#[derive(Debug, Clone)]
pub(crate) struct Each {
    pub(crate) relation: RelationId,
    pub(crate) alias: String,
    pub(crate) predicates: Vec<Predicate>,
}
