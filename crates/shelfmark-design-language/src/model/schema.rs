//! Schemas, resolved: tables, row families, plans.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::begins::RowTypes;
use super::pattern::Predicate;
use super::relation::RelationId;
use super::term::{ColumnPath, Term};
use super::types::Type;
use super::value::Value;
use super::{Model, Named, canonical};
use crate::notes::Notes;
use crate::syntax::span::Span;
use crate::syntax::tree::{BoundKind, CondOp, Verb};
use crate::target::profile;

/// The index of a table or index in its schema.
pub type TableId = usize;
/// The index of a row family in its schema.
pub type FamilyId = usize;

/// A layout of the model as keys and rows.
#[derive(Debug, Clone)]
pub struct Schema {
    /// The name, with its place.
    pub name: Named,
    /// The name of the target.
    pub target: String,
    /// Tables and indexes.
    pub tables: Vec<Table>,
    /// Row families, entries of indexes included.
    pub families: Vec<Family>,
    /// The plans of reads that the schema names.
    pub serves: Vec<Serve>,
    /// The plans of writes that the schema names.
    pub writes: Vec<WritePlan>,
    /// Rows as a document prints them.
    pub samples: Vec<Sample>,
    /// Notes on the schema as a whole.
    pub notes: Notes,
    /// The lookup tables; built once the families are complete.
    pub lookup: Lookup,
}

/// Lookup tables for the families of a schema, in place of searches in lists.
#[derive(Debug, Clone, Default)]
pub struct Lookup {
    of_table: Vec<RowTypes>,
    of_source: BTreeMap<RelationId, Vec<FamilyId>>,
    entries: BTreeMap<FamilyId, Vec<FamilyId>>,
    concerned: BTreeMap<RelationId, Vec<FamilyId>>,
    /// Families of a relation by the first attribute of their key; `None` where it is no matter.
    by_first: BTreeMap<(RelationId, Option<ColumnPath>), Vec<FamilyId>>,
    /// Notes on each family among the others of the schema.
    notes: Vec<Notes>,
}

impl Lookup {
    /// Returns the notes on a family among the others of the schema.
    pub fn notes(&self, family: FamilyId) -> Option<&Notes> {
        self.notes.get(family)
    }
}

impl Schema {
    /// Returns the families of a table, with their places.
    pub fn of_table(&self, table: TableId) -> impl Iterator<Item = (FamilyId, &Family)> {
        self.those(self.lookup.of_table.get(table).map_or(&[], RowTypes::all))
    }

    /// Returns the families of a table whose keys may match, column by column.
    pub fn like<'a>(
        &self,
        table: TableId,
        asked: impl Iterator<Item = &'a [Part]>,
    ) -> impl Iterator<Item = (FamilyId, &Family)> {
        let found = self.lookup.of_table.get(table).map(|types| types.like(asked));
        let found = found.unwrap_or_default().into_iter();
        found.filter_map(|id| self.families.get(id).map(|one| (id, one)))
    }

    /// Returns how many families of its table a family's key cannot be distinguished from by the
    /// beginnings of the first columns.
    pub fn alike(&self, family: &Family, columns: usize) -> usize {
        let key = family.key.iter().take(columns).map(|column| column.parts.as_slice());
        self.lookup.of_table.get(family.table).map_or(0, |types| types.count_like(key))
    }

    /// Returns the families of a relation that a read may use that knows these attributes.
    pub fn tried(
        &self,
        source: RelationId,
        counts: bool,
        known: &BTreeSet<ColumnPath>,
    ) -> impl Iterator<Item = FamilyId> {
        self.usable_ids(source, counts, known).flatten().copied()
    }

    /// Returns the families that stem from a relation, indexes too.
    pub fn of_source(&self, source: RelationId) -> impl Iterator<Item = (FamilyId, &Family)> {
        self.those(self.lookup.of_source.get(&source).map_or(&[], Vec::as_slice))
    }

    /// Returns the families that a read may use that knows these attributes, in the order of the
    /// schema: their keys begin with one of those or with none. A count may stand in rows of
    /// others.
    pub fn usable(
        &self,
        source: RelationId,
        counts: bool,
        known: &BTreeSet<ColumnPath>,
    ) -> Vec<&Family> {
        let ids: BTreeSet<FamilyId> =
            self.usable_ids(source, counts, known).flatten().copied().collect();
        ids.iter().filter_map(|id| self.families.get(*id)).collect()
    }

    fn usable_ids(
        &self,
        source: RelationId,
        counts: bool,
        known: &BTreeSet<ColumnPath>,
    ) -> impl Iterator<Item = &Vec<FamilyId>> {
        let any = known.is_empty();
        let firsts = known.iter().cloned().map(Some).chain([None]);
        let begun = firsts
            .filter(move |_| !any && !counts)
            .filter_map(move |first| self.lookup.by_first.get(&(source, first)));
        let whole = self.lookup.of_source.get(&source).filter(|_| any && !counts);
        let holders = self.lookup.concerned.get(&source).filter(|_| counts);
        let entries = holders.into_iter().flatten().filter_map(|id| self.lookup.entries.get(id));
        begun.chain(whole).chain(holders).chain(entries)
    }

    /// Returns the conditions that an index has beside those of its rows; of rows themselves none.
    pub fn own_conditions<'f>(&self, entry: &'f Family) -> &'f [Predicate] {
        let Some(base) = entry.base.and_then(|base| self.families.get(base)) else { return &[] };
        entry.when.get(base.when.len()..).unwrap_or(&[])
    }

    /// Returns the place of the column in an index's key that items have only where the index holds
    /// them: the first, of a local index the last of its own.
    pub fn mark_of(&self, entry: &Family) -> Option<usize> {
        let table = self.tables.get(entry.table).filter(|table| table.is_index)?;
        Some(if table.is_local { table.partition } else { 0 })
    }

    /// Returns the indexes of a family.
    pub fn entries(&self, base: FamilyId) -> impl Iterator<Item = (FamilyId, &Family)> {
        self.those(self.lookup.entries.get(&base).map_or(&[], Vec::as_slice))
    }

    /// Returns the families whose base rows may change when a relation does, and which its writes
    /// keep.
    pub fn concerned(&self, relation: RelationId) -> impl Iterator<Item = (FamilyId, &Family)> {
        let all = self.those(self.lookup.concerned.get(&relation).map_or(&[], Vec::as_slice));
        all.filter(|(_, family)| family.follows.is_none())
    }

    /// Returns how many columns of a table's key a query on this target may name: of an index,
    /// those of its own where the columns of the base key behind them take no condition.
    pub fn columns_asked(&self, table: TableId) -> usize {
        let Some(found) = self.tables.get(table) else { return 0 };
        let all = found.kinds.len();
        let free = profile(&self.target).is_none_or(|one| one.index_conditions_on_base_key);
        if free || !found.is_index {
            return all;
        }
        let bases = self.of_table(table).filter_map(|(_, entry)| entry.base);
        let inherited = bases.filter_map(|base| self.families.get(base)).map(|base| base.key.len());
        all.saturating_sub(inherited.max().unwrap_or(0))
    }

    fn those<'a>(&'a self, ids: &'a [FamilyId]) -> impl Iterator<Item = (FamilyId, &'a Family)> {
        ids.iter().filter_map(|id| self.families.get(*id).map(|one| (*id, one)))
    }

    /// Builds the lookup tables; to be called when families were added.
    pub fn look_up(&mut self, model: &Model) {
        let mut lookup = Lookup {
            of_table: vec![RowTypes::default(); self.tables.len()],
            notes: vec![Notes::default(); self.families.len()],
            ..Lookup::default()
        };
        for (id, family) in self.families.iter().enumerate() {
            if let Some(list) = lookup.of_table.get_mut(family.table) {
                list.add(id, family);
            }
            lookup.of_source.entry(family.source).or_default().push(id);
            let partition = self.tables.get(family.table).map_or(0, |table| table.partition);
            let first = family.first_attribute(model, partition);
            lookup.by_first.entry((family.source, first)).or_default().push(id);
            if let Some(base) = family.base {
                lookup.entries.entry(base).or_default().push(id);
            }
            // What an index shows is written with its base row.
            let holder = family.base.unwrap_or(id);
            for relation in family.concerns(model) {
                let list = lookup.concerned.entry(relation).or_default();
                if !list.contains(&holder) {
                    list.push(holder);
                }
            }
        }
        for list in lookup.concerned.values_mut() {
            list.sort_unstable();
        }
        self.lookup = lookup;
    }
}

impl Family {
    /// Returns the attribute that a call must know to form the key, in the form in which patterns
    /// name it.
    fn first_attribute(&self, model: &Model, partition: usize) -> Option<ColumnPath> {
        // Without partitions a part of the rows, or what begins with a tag, is read in any order.
        if partition == 0 && !self.when.is_empty() {
            return None;
        }
        let mut parts = self.key.first()?.parts.iter();
        let first = match partition {
            0 => parts.next(),
            _ => parts.find(|part| matches!(part, Part::Hole { .. })),
        };
        match first? {
            Part::Hole { term: Term::Column(path), .. } => {
                Some(canonical(model, self.source, path))
            }
            _ => None,
        }
    }

    /// Returns the relations whose tuples the row is computed from.
    fn concerns(&self, model: &Model) -> BTreeSet<RelationId> {
        let mut found = BTreeSet::from([self.source]);
        let mut follow = |relation: RelationId, path: &ColumnPath| {
            let mut at = relation;
            for column in path {
                found.insert(at);
                let refers = model.relation(at).columns.get(*column).and_then(|one| one.refers);
                let Some(next) = refers else { break };
                at = next;
            }
        };
        for part in self.key.iter().flat_map(|column| &column.parts) {
            if let Part::Hole { term, .. } = part {
                term.columns(&mut |path| follow(self.source, path));
            }
        }
        for one in &self.when {
            follow(self.source, &one.path);
        }
        let mut kept = Vec::new();
        for stored in &self.stored {
            match stored {
                Stored::Path(path) => follow(self.source, path),
                Stored::Collect { relation, path, .. } => {
                    follow(*relation, path);
                    kept.push(*relation);
                }
                Stored::Tally { relation, .. } => kept.push(*relation),
            }
        }
        found.extend(kept);
        found
    }
}

/// A table or an index.
#[derive(Debug, Clone)]
pub struct Table {
    /// The name, with its place.
    pub name: Named,
    /// Number of columns in the partition key.
    pub partition: usize,
    /// Kinds of the key's columns, partition first.
    pub kinds: Vec<ColumnKind>,
    /// For each key column whether it descends.
    pub desc: Vec<bool>,
    /// True for an index.
    pub is_index: bool,
    /// True for an index that lies beside its rows, in their partition.
    pub is_local: bool,
}

/// The kinds of key columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnKind {
    /// Text made by a template.
    Text,
    /// A value of a type.
    Typed(Type),
}

/// A row family: the rows in a table that stem from one entity or link.
#[derive(Debug, Clone)]
pub struct Family {
    /// The name, with its place.
    pub name: Named,
    /// The table or index it is in.
    pub table: TableId,
    /// Of an index entry: the family of the row it belongs to.
    pub base: Option<FamilyId>,
    /// The entity or link whose tuples have rows here.
    pub source: RelationId,
    /// The conditions of a sparse family.
    pub when: Vec<Predicate>,
    /// Partition columns, then sort columns.
    pub key: Vec<Column>,
    /// The attributes that its rows hold beside the key.
    pub stored: Vec<Stored>,
    /// The longest time that its rows may be behind what they stem from, in seconds, where something
    /// else than the writes of the model keeps them.
    pub follows: Option<f64>,
    /// True if its rows hold, beside their key, only numbers that writes add to and that begin to be so.
    pub adds_only: bool,
    /// The place in the text.
    pub span: Span,
    /// Notes on the family by itself.
    pub notes: Notes,
}

/// One column of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The pieces of its text or value.
    pub parts: Vec<Part>,
    /// The place in the text.
    pub span: Span,
}

/// A piece of a key, in the order of bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// Fixed text.
    Literal(String),
    /// A value.
    Hole {
        /// The value.
        term: Term,
        /// Its type.
        ty: Type,
        /// The codec that writes the value as text.
        codec: Codec,
    },
    /// The end of a text column: below every byte, and no text holds it.
    End,
}

/// The ways to write a value as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Codec {
    /// A column of its own, in the target's order-preserving form.
    Native,
    /// The text of the value.
    Plain,
    /// Zeros in front, up to a width.
    Pad(u8),
    /// Integers whose texts order as they do.
    Lexint,
    /// ISO 8601.
    Iso,
    /// Delimiters escaped.
    Esc,
}

impl Codec {
    /// Returns the codec as a template writes it behind a name: `:pad(4)`.
    pub fn suffix(self) -> String {
        match self {
            Self::Native | Self::Plain => String::new(),
            Self::Pad(width) => format!(":pad({width})"),
            Self::Lexint => ":lexint".to_owned(),
            Self::Iso => ":iso".to_owned(),
            Self::Esc => ":esc".to_owned(),
        }
    }
}

/// One thing that a row holds beside its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stored {
    /// An attribute.
    Path(ColumnPath),
    /// The values of `path` in every tuple of `relation` whose `via` is this row's source.
    Collect {
        /// The relation whose tuples refer to this one.
        relation: RelationId,
        /// The attribute by which they refer.
        via: usize,
        /// The attribute that is collected.
        path: ColumnPath,
        /// The name in the row.
        name: String,
    },
    /// A value of all tuples that refer to this one: their number, a sum, the largest or smallest.
    Tally {
        /// The relation whose tuples refer to this one.
        relation: RelationId,
        /// The attribute by which they refer.
        via: usize,
        /// The conditions on them, of their own attributes and with constants.
        when: Vec<Predicate>,
        /// The kind of value, and the attribute that it is of.
        fold: Fold,
        /// The name in the row.
        name: String,
    },
}

/// A value of several tuples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// Their number.
    Count,
    /// The sum of an attribute; of none it is 0.
    Sum(usize),
    /// The largest value of an attribute; of none it is absent.
    Max(usize),
    /// The smallest value of an attribute; of none it is absent.
    Min(usize),
}

impl Fold {
    /// Returns the attribute that is added up or compared; of a count none.
    #[must_use]
    pub fn column(self) -> Option<usize> {
        match self {
            Self::Count => None,
            Self::Sum(at) | Self::Max(at) | Self::Min(at) => Some(at),
        }
    }

    /// Returns true for the largest and the smallest value.
    #[must_use]
    pub fn is_extreme(self) -> bool {
        matches!(self, Self::Max(_) | Self::Min(_))
    }

    /// Returns the value of no tuples.
    #[must_use]
    pub fn of_none(self) -> Value {
        if self.is_extreme() { Value::Null } else { Value::Int(0) }
    }
}

/// The plan of a read.
#[derive(Debug, Clone)]
pub struct Serve {
    /// Index into the model's reads.
    pub read: usize,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The place in the text.
    pub span: Span,
    /// True if no plan was named and this one was derived.
    pub derived: bool,
}

/// One step of a read.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Step {
    /// A read of the store.
    Read(ReadStep),
    /// One more read beside the first, for other row types; its rows come behind those before.
    Also(ReadStep),
    /// Drops records that do not match.
    Filter(Vec<FilterPredicate>),
    /// Sorts by names, each with whether it descends.
    Sort(Vec<(String, bool)>),
    /// Keeps the first records.
    Take(Term),
}

impl Step {
    /// Returns the read of the store that the step is.
    #[must_use]
    pub fn read(&self) -> Option<&ReadStep> {
        match self {
            Self::Read(read) | Self::Also(read) => Some(read),
            Self::Filter(_) | Self::Sort(_) | Self::Take(_) => None,
        }
    }
}

/// A predicate on what a row shows, by name; it runs outside the store.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FilterPredicate {
    /// The name.
    pub name: String,
    /// The comparison.
    pub op: CondOp,
    /// The operands of the comparison.
    pub values: Vec<Term>,
}

impl FilterPredicate {
    /// Returns its comparisons with single values, as those of patterns are compared.
    pub fn comparisons(&self) -> Vec<(CondOp, Term)> {
        let value = |at: usize| self.values.get(at).cloned().unwrap_or(Term::Const(Value::Null));
        match self.op {
            CondOp::Between => vec![(CondOp::Ge, value(0)), (CondOp::Le, value(1))],
            op => vec![(op, value(0))],
        }
    }
}

/// A read of one table or index.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReadStep {
    /// The loop of the read, if it is repeated.
    pub each: Option<EachOf>,
    /// The word that the plan uses.
    pub verb: Verb,
    /// The table or index it is in.
    pub table: TableId,
    /// The columns that are bound to one value, from the first on.
    pub bound: Vec<Vec<Part>>,
    /// On the column after those.
    pub bounds: Vec<(BoundKind, Vec<Part>)>,
    /// True if it is read from its end.
    pub desc: bool,
    /// The largest number of rows, if one is asked for.
    pub limit: Option<Term>,
}

/// The loop of a read.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum EachOf {
    /// The values of a list, by the place of the input.
    Param(usize),
    /// The integers from the first to the last.
    Numbers(i64, i64),
}

/// The plan of a write.
#[derive(Debug, Clone)]
pub struct WritePlan {
    /// Index into the model's writes.
    pub write: usize,
    /// The steps, in order.
    pub steps: Vec<WriteStep>,
    /// The place in the text.
    pub span: Span,
    /// True if the schema does not name it.
    pub derived: bool,
}

/// One step of a write.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WriteStep {
    /// The kind of the step.
    pub kind: WriteStepKind,
    /// Families of that name, one per source.
    pub families: Vec<FamilyId>,
    /// The transaction that it belongs to.
    pub transaction: Option<usize>,
}

/// The kind of a step of a write.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum WriteStepKind {
    /// Reads rows of the family with these values.
    Read {
        /// The values that are asked for, by attribute.
        bindings: Vec<(ColumnPath, Term)>,
        /// The name of the rows in later steps.
        alias: Option<String>,
    },
    /// Puts a row.
    Put {
        /// The loop or the rows it is repeated for.
        each: Option<String>,
    },
    /// Deletes a row.
    Delete {
        /// The loop or the rows it is repeated for.
        each: Option<String>,
    },
    /// Changes attributes of a row.
    Patch {
        /// The loop or the rows it is repeated for.
        each: Option<String>,
    },
}

impl WriteStepKind {
    /// Returns true for a read.
    pub fn is_read(&self) -> bool {
        matches!(self, Self::Read { .. })
    }

    /// Returns true for a put.
    pub fn is_put(&self) -> bool {
        matches!(self, Self::Put { .. })
    }

    /// Returns true for a delete.
    pub fn is_delete(&self) -> bool {
        matches!(self, Self::Delete { .. })
    }

    /// Returns true for a patch.
    pub fn is_patch(&self) -> bool {
        matches!(self, Self::Patch { .. })
    }

    /// Returns the name of the rows that a change is repeated for.
    pub fn each(&self) -> Option<&String> {
        match self {
            Self::Put { each } | Self::Delete { each } | Self::Patch { each } => each.as_ref(),
            Self::Read { .. } => None,
        }
    }
}

/// A row as a document prints it.
#[derive(Debug, Clone)]
pub struct Sample {
    /// The row family.
    pub family: FamilyId,
    /// True if the document's script writes the row, false if the document prints it.
    pub script: bool,
    /// The key columns as printed.
    pub keys: Vec<String>,
    /// The attributes as printed.
    pub values: Vec<(String, Value)>,
    /// The place in the text.
    pub span: Span,
}
