//! Schemas, resolved: tables, row families, plans.

use super::Named;
use super::pattern::Predicate;
use super::relation::RelationId;
use super::term::{ColumnPath, Term};
use super::types::Type;
use super::value::Value;
use crate::syntax::span::Span;
use crate::syntax::tree::{BoundKind, Verb};

pub(crate) type TableId = usize;
pub(crate) type FamilyId = usize;

#[derive(Debug, Clone)]
pub(crate) struct Schema {
    pub(crate) name: Named,
    pub(crate) target: String,
    pub(crate) tables: Vec<Table>,
    pub(crate) families: Vec<Family>,
    pub(crate) serves: Vec<Serve>,
    pub(crate) writes: Vec<WritePlan>,
    pub(crate) samples: Vec<Sample>,
}

impl Schema {
    /// The families of a table, with their places.
    pub(crate) fn of_table(&self, table: TableId) -> impl Iterator<Item = (FamilyId, &Family)> {
        self.families.iter().enumerate().filter(move |(_, family)| family.table == table)
    }
}

/// A table or an index.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) name: Named,
    /// How many columns the partition key has.
    pub(crate) partition: usize,
    /// Kinds of the key's columns, partition first.
    pub(crate) kinds: Vec<ColumnKind>,
    pub(crate) desc: Vec<bool>,
    pub(crate) is_index: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Text,
    Typed(Type),
}

/// A row family: which rows a state has in a table because of one entity or link.
#[derive(Debug, Clone)]
pub(crate) struct Family {
    pub(crate) name: Named,
    pub(crate) table: TableId,
    /// Of an index entry: the family of the row it belongs to.
    pub(crate) base: Option<FamilyId>,
    pub(crate) source: RelationId,
    pub(crate) when: Vec<Predicate>,
    /// Partition columns, then sort columns.
    pub(crate) key: Vec<Column>,
    pub(crate) stored: Vec<Stored>,
    pub(crate) span: Span,
}

/// One column of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) parts: Vec<Part>,
    pub(crate) span: Span,
}

/// A piece of a key, in the order of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Literal(String),
    Hole {
        term: Term,
        ty: Type,
        codec: Codec,
    },
    /// The end of a text column: below every byte, and no text holds it.
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Codec {
    /// A column of its own, in the target's order-preserving form.
    Native,
    /// The text of the value.
    Plain,
    Pad(u8),
    Lexint,
    Iso,
    Esc,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stored {
    Path(ColumnPath),
    /// The values of `path` in every tuple of `relation` whose `via` is this row's source.
    Collect {
        relation: RelationId,
        via: usize,
        path: ColumnPath,
        name: String,
    },
    Count {
        relation: RelationId,
        via: usize,
        name: String,
    },
}

#[derive(Debug, Clone)]
pub(crate) struct Serve {
    /// Index into the model's reads.
    pub(crate) read: usize,
    pub(crate) steps: Vec<Step>,
    pub(crate) span: Span,
    /// Whether no plan was named and this one was derived.
    pub(crate) derived: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Step {
    Read(ReadStep),
    Filter(Vec<FilterPredicate>),
    Sort(Vec<(String, bool)>),
    Take(Term),
}

/// A predicate on what a row shows, by name; it runs outside the store.
#[derive(Debug, Clone)]
pub(crate) struct FilterPredicate {
    pub(crate) name: String,
    pub(crate) op: crate::syntax::tree::CondOp,
    pub(crate) values: Vec<Term>,
}

#[derive(Debug, Clone)]
pub(crate) struct ReadStep {
    pub(crate) each: Option<EachOf>,
    pub(crate) verb: Verb,
    pub(crate) table: TableId,
    /// The columns that are bound to one value, from the first on.
    pub(crate) bound: Vec<Vec<Part>>,
    /// On the column after those.
    pub(crate) bounds: Vec<(BoundKind, Vec<Part>)>,
    pub(crate) desc: bool,
    pub(crate) limit: Option<Term>,
}

#[derive(Debug, Clone)]
pub(crate) enum EachOf {
    Param(usize),
    Numbers(i64, i64),
}

#[derive(Debug, Clone)]
pub(crate) struct WritePlan {
    /// Index into the model's writes.
    pub(crate) write: usize,
    pub(crate) steps: Vec<WriteStep>,
    pub(crate) span: Span,
    pub(crate) derived: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct WriteStep {
    pub(crate) kind: WriteStepKind,
    /// Families of that name, one per source.
    pub(crate) families: Vec<FamilyId>,
    /// Which transaction it is in.
    pub(crate) transaction: Option<usize>,
}

#[derive(Debug, Clone)]
pub(crate) enum WriteStepKind {
    Read { bindings: Vec<(ColumnPath, Term)>, alias: Option<String> },
    Put { each: Option<String> },
    Delete { each: Option<String> },
    Patch { each: Option<String> },
}

#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) family: FamilyId,
    pub(crate) keys: Vec<String>,
    pub(crate) values: Vec<(String, Value)>,
    pub(crate) span: Span,
}
