//! Schemas, resolved: tables, row families, plans.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::begins::RowTypes;
use super::pattern::Predicate;
use super::relation::RelationId;
use super::term::{ColumnPath, Term};
use super::types::Type;
use super::value::Value;
use super::{Model, Named};
use crate::prove::canon::canonical;
use crate::prove::unique::Clash;
use crate::syntax::span::Span;
use crate::syntax::tree::{BoundKind, CondOp, Verb};
use crate::target::profile;

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
    /// Where things are; made once the families are complete.
    pub(crate) lookup: Lookup,
}

/// What would else be looked for in lists, over and over.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lookup {
    of_table: Vec<RowTypes>,
    of_source: BTreeMap<RelationId, Vec<FamilyId>>,
    entries: BTreeMap<FamilyId, Vec<FamilyId>>,
    concerned: BTreeMap<RelationId, Vec<FamilyId>>,
    /// Families of a relation by the first attribute of their key; `None` where it is no matter.
    by_first: BTreeMap<(RelationId, Option<ColumnPath>), Vec<FamilyId>>,
    /// What is wrong with each family's keys, once somebody has asked.
    clashes: Vec<OnceLock<Option<Clash>>>,
}

impl Lookup {
    pub(crate) fn clash(&self, family: FamilyId) -> Option<&OnceLock<Option<Clash>>> {
        self.clashes.get(family)
    }
}

impl Schema {
    /// The families of a table, with their places.
    pub(crate) fn of_table(&self, table: TableId) -> impl Iterator<Item = (FamilyId, &Family)> {
        self.those(self.lookup.of_table.get(table).map_or(&[], RowTypes::all))
    }

    /// The families of a table whose keys may be as asked, column by column.
    pub(crate) fn like<'a>(
        &self,
        table: TableId,
        asked: impl Iterator<Item = &'a [Part]>,
    ) -> impl Iterator<Item = (FamilyId, &Family)> {
        let found = self.lookup.of_table.get(table).map(|types| types.like(asked));
        let found = found.unwrap_or_default().into_iter();
        found.filter_map(|id| self.families.get(id).map(|one| (id, one)))
    }

    /// How many families of its table a family's key cannot be told from by how the first columns
    /// begin.
    pub(crate) fn alike(&self, family: &Family, columns: usize) -> usize {
        let key = family.key.iter().take(columns).map(|column| column.parts.as_slice());
        self.lookup.of_table.get(family.table).map_or(0, |types| types.count_like(key))
    }

    /// The families by which reads of a relation may go that know the attributes.
    pub(crate) fn tried(
        &self,
        source: RelationId,
        counts: bool,
        known: &BTreeSet<ColumnPath>,
    ) -> impl Iterator<Item = FamilyId> {
        self.usable_ids(source, counts, known).flatten().copied()
    }

    /// The families that stem from a relation, indexes too.
    pub(crate) fn of_source(
        &self,
        source: RelationId,
    ) -> impl Iterator<Item = (FamilyId, &Family)> {
        self.those(self.lookup.of_source.get(&source).map_or(&[], Vec::as_slice))
    }

    /// The families by which a read may go that knows the attributes, in the order of the schema:
    /// their keys begin with one of those or with none. A count may stand in rows of others.
    pub(crate) fn usable(
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

    /// The indexes of a family.
    pub(crate) fn entries(&self, base: FamilyId) -> impl Iterator<Item = (FamilyId, &Family)> {
        self.those(self.lookup.entries.get(&base).map_or(&[], Vec::as_slice))
    }

    /// The families of base rows in which something may change when a relation does.
    pub(crate) fn concerned(
        &self,
        relation: RelationId,
    ) -> impl Iterator<Item = (FamilyId, &Family)> {
        self.those(self.lookup.concerned.get(&relation).map_or(&[], Vec::as_slice))
    }

    /// How many columns of a table's key a query on this target may name: of an index, those of its
    /// own where the columns of the base key behind them take no condition.
    pub(crate) fn columns_asked(&self, table: TableId) -> usize {
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

    /// Notes where everything is. To be called when families were added.
    pub(crate) fn look_up(&mut self, model: &Model) {
        let mut lookup = Lookup {
            of_table: vec![RowTypes::default(); self.tables.len()],
            clashes: vec![OnceLock::new(); self.families.len()],
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
    /// The attribute that a call must know to form the key, in the form in which patterns name it.
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

    /// The relations whose tuples the row is computed from.
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
                Stored::Count { relation, .. } => kept.push(*relation),
            }
        }
        found.extend(kept);
        found
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
    pub(crate) known: Known,
}

/// What is worked out of a family once somebody asks for it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    /// The attributes that its rows show.
    pub(crate) shown: OnceLock<BTreeSet<ColumnPath>>,
    /// Whether its key tells tuples apart.
    pub(crate) key_tells: OnceLock<bool>,
}

/// One column of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) parts: Vec<Part>,
    pub(crate) span: Span,
}

/// A piece of a key, in the order of bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

impl Codec {
    /// As a template writes it behind a name: `:pad(4)`.
    pub(crate) fn suffix(self) -> String {
        match self {
            Self::Native | Self::Plain => String::new(),
            Self::Pad(width) => format!(":pad({width})"),
            Self::Lexint => ":lexint".to_owned(),
            Self::Iso => ":iso".to_owned(),
            Self::Esc => ":esc".to_owned(),
        }
    }
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

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Step {
    Read(ReadStep),
    Filter(Vec<FilterPredicate>),
    Sort(Vec<(String, bool)>),
    Take(Term),
}

/// A predicate on what a row shows, by name; it runs outside the store.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FilterPredicate {
    pub(crate) name: String,
    pub(crate) op: CondOp,
    pub(crate) values: Vec<Term>,
}

impl FilterPredicate {
    /// What it compares with, one comparison each, as those of patterns are told.
    pub(crate) fn comparisons(&self) -> Vec<(CondOp, Term)> {
        let value = |at: usize| self.values.get(at).cloned().unwrap_or(Term::Const(Value::Null));
        match self.op {
            CondOp::Between => vec![(CondOp::Ge, value(0)), (CondOp::Le, value(1))],
            op => vec![(op, value(0))],
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
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

#[derive(Debug, Clone, Serialize, Deserialize)]
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

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct WriteStep {
    pub(crate) kind: WriteStepKind,
    /// Families of that name, one per source.
    pub(crate) families: Vec<FamilyId>,
    /// Which transaction it is in.
    pub(crate) transaction: Option<usize>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum WriteStepKind {
    Read { bindings: Vec<(ColumnPath, Term)>, alias: Option<String> },
    Put { each: Option<String> },
    Delete { each: Option<String> },
    Patch { each: Option<String> },
}

impl WriteStepKind {
    pub(crate) fn is_read(&self) -> bool {
        matches!(self, Self::Read { .. })
    }

    pub(crate) fn is_put(&self) -> bool {
        matches!(self, Self::Put { .. })
    }

    pub(crate) fn is_delete(&self) -> bool {
        matches!(self, Self::Delete { .. })
    }

    pub(crate) fn is_patch(&self) -> bool {
        matches!(self, Self::Patch { .. })
    }

    /// The name of the rows that a change goes through, one by one.
    pub(crate) fn each(&self) -> Option<&String> {
        match self {
            Self::Put { each } | Self::Delete { each } | Self::Patch { each } => each.as_ref(),
            Self::Read { .. } => None,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) family: FamilyId,
    /// Whether the document's script writes it; else the document prints it.
    pub(crate) script: bool,
    pub(crate) keys: Vec<String>,
    pub(crate) values: Vec<(String, Value)>,
    pub(crate) span: Span,
}
