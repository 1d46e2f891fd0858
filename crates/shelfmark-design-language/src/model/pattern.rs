//! Reads and writes, resolved.

use std::collections::BTreeMap;

use super::relation::RelationId;
use super::term::{ColumnPath, Term};
use super::types::Type;
use super::value::Value;
use super::{Model, Named};
use crate::syntax::span::Span;
use crate::syntax::tree::{Aggregate, CondOp, Existing};

/// An input of a pattern.
#[derive(Debug, Clone)]
pub struct Param {
    /// The name.
    pub name: String,
    /// The type.
    pub ty: Type,
}

/// The consistency that a read asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Consistency {
    /// Any consistency.
    #[default]
    Any,
    /// Eventual: stale answers are accepted.
    Eventual,
    /// Session: the caller sees its own writes.
    Session,
    /// Strong: every answer shows the last write.
    Strong,
}

/// A read: a function from a state and inputs to a list.
#[derive(Debug, Clone)]
pub struct Read {
    /// The name, with its place.
    pub name: Named,
    /// The inputs.
    pub params: Vec<Param>,
    /// The entities and links whose tuples are returned.
    pub sources: Vec<Source>,
    /// The names of what is returned.
    pub outputs: Vec<String>,
    /// True if equal records are returned once.
    pub distinct: bool,
    /// The aggregate that is returned instead of records.
    pub aggregate: Option<(Aggregate, Option<ColumnPath>)>,
    /// The declared order, each key with whether it descends.
    pub order: Vec<(OrderKey, bool)>,
    /// The largest number of rows, if one is asked for.
    pub limit: Option<Term>,
    /// True if the limit is the size of a page, behind which the next one goes on.
    pub page: bool,
    /// True if records are skipped by number.
    pub offset: bool,
    /// True if at most one record is expected.
    pub unique: bool,
    /// The consistency that is asked for.
    pub consistency: Consistency,
    /// True if it is not part of the load of users.
    pub admin: bool,
    /// `rate`, `peak` and the like; flags are 1.
    pub facts: BTreeMap<String, f64>,
    /// The place in the text.
    pub span: Span,
}

impl Read {
    /// Returns true if row types have limits of their own.
    #[must_use]
    pub fn has_own_limits(&self) -> bool {
        self.sources.iter().any(|source| source.limit.is_some())
    }

    /// Returns true if a name stands for the row type: `kind`, unless the read has one source and
    /// that has an attribute of this name.
    pub fn is_row_type(&self, model: &Model, name: &str) -> bool {
        name == "kind"
            && !matches!(self.sources.as_slice(), [only]
                if model.relation(only.relation).column(name).is_some())
    }
}

/// Returns the name that a sort has for one row type: of several attributes, each behind its row type,
/// as `(Post.at, Comment.written)`, its own; nothing where it has none.
#[must_use]
pub fn sorted_by<'n>(row_type: &str, name: &'n str) -> &'n str {
    let Some(names) = name.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else {
        return name;
    };
    let own = |one: &'n str| one.strip_prefix(row_type)?.strip_prefix('.');
    names.split(", ").find_map(own).unwrap_or("")
}

/// One row type of a read.
#[derive(Debug, Clone)]
pub struct Source {
    /// The entity or link it is about.
    pub relation: RelationId,
    /// The conditions; all must hold.
    pub predicates: Vec<Predicate>,
    /// The source of each output; `None` when this row type has no such attribute.
    pub outputs: Vec<Option<ColumnPath>>,
    /// The largest number of rows of this type, if it has a limit of its own.
    pub limit: Option<Term>,
}

/// One key of a declared order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderKey {
    /// The row type, in the order in which the read lists them.
    Kind,
    /// An attribute, by source.
    Columns(Vec<Option<ColumnPath>>),
}

/// A condition on one attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Predicate {
    /// The attribute.
    pub path: ColumnPath,
    /// The comparison.
    pub op: CondOp,
    /// The operands of the comparison.
    pub values: Vec<Term>,
    /// The largest number of values of a list, if declared.
    pub max: Option<u64>,
    /// The place in the text.
    pub span: Span,
}

/// A write: a function from a state and inputs to a state, defined where the result is a state.
#[derive(Debug, Clone)]
pub struct Write {
    /// The name, with its place.
    pub name: Named,
    /// The inputs.
    pub params: Vec<Param>,
    /// The changes, in order.
    pub effects: Vec<Effect>,
    /// Pairs of inputs, by number: of each list one pair differs, or the write changes nothing.
    pub differ: Vec<Vec<(usize, usize)>>,
    /// True if it must happen as a whole.
    pub atomic: bool,
    /// Declared numbers, by their names.
    pub facts: BTreeMap<String, f64>,
    /// The place in the text.
    pub span: Span,
}

impl Write {
    /// Returns true if inputs differ where the write says so.
    #[must_use]
    pub fn inputs_differ(&self, inputs: &[Value]) -> bool {
        self.differ.iter().all(|pairs| pairs.iter().any(|(a, b)| inputs.get(*a) != inputs.get(*b)))
    }

    /// Returns true if the write says that at least one of these pairs of values differs.
    #[must_use]
    pub fn says_apart(&self, values: &[(Term, Term)]) -> bool {
        let among = |(a, b): &(usize, usize)| {
            values.iter().any(|pair| match pair {
                (Term::Param(x), Term::Param(y)) => (a, b) == (x, y) || (a, b) == (y, x),
                _ => false,
            })
        };
        self.differ.iter().any(|pairs| pairs.iter().all(among))
    }
}

/// The kinds of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectKind {
    /// Adds a tuple.
    Insert,
    /// Sets attributes.
    Update,
    /// Removes a tuple.
    Delete,
    /// Adds to numbers.
    Increment,
}

/// One change of a write.
#[derive(Debug, Clone)]
pub struct Effect {
    /// The kind of change.
    pub kind: EffectKind,
    /// The entity or link it is about.
    pub relation: RelationId,
    /// For an insert every given value; else what selects the tuple.
    pub key: Vec<(usize, Term)>,
    /// Attributes with their new values.
    pub set: Vec<(usize, Term)>,
    /// The behaviour if the tuple exists already.
    pub existing: Existing,
    /// The conditions on the tuple before the write; if one fails, the write changes nothing.
    pub conditions: Vec<Predicate>,
    /// The tuples that it is repeated for.
    pub each: Option<Each>,
}

impl Effect {
    /// Returns true if it adds to numbers of a tuple that begins to be where it is not there.
    #[must_use]
    pub fn begins(&self) -> bool {
        self.kind == EffectKind::Increment && self.existing == Existing::Insert
    }
}

/// The loop of an effect; `Term::Prior` in the effect is an attribute of its tuple.
#[derive(Debug, Clone)]
pub struct Each {
    /// The entity or link it is about.
    pub relation: RelationId,
    /// The name of the tuple in the body.
    pub alias: String,
    /// The conditions; all must hold.
    pub predicates: Vec<Predicate>,
}
