//! Collects the load of a model: rates of patterns, and what writes change how often.
//!
//! What it is not: no measurement. A rate, count or fan-out that is not declared has the usual one
//! named here, and the plan says so.
//!
//! Invariant: every figure is positive and finite.

use std::collections::BTreeSet;

use crate::price::Prices;
use crate::volume::{Figure, distinct, rows, share, skew};
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::{
    ColumnPath, Model, Predicate, Read, RelationId, Term, Type, Value, Write, canonical,
};
use shelfmark_design_language::syntax::tree::{CondOp, Existing};
use shelfmark_design_language::target::Target;

/// Calls a second of a pattern without a declared rate.
pub(crate) const USUAL_RATE: f64 = 1.0;

/// Tuples of a relation without a declared count.
pub(crate) const USUAL_COUNT: f64 = 1e6;

/// Rows of a call without a declared fan-out.
pub(crate) const USUAL_ROWS: f64 = 10.0;

/// Rows of a call whose caller says how many.
pub(crate) const USUAL_LIMIT: f64 = 20.0;

/// Returns the calls a second of a pattern.
pub(crate) fn rate(facts: &std::collections::BTreeMap<String, f64>) -> f64 {
    facts.get("rate").or(facts.get("peak")).copied().unwrap_or(USUAL_RATE).max(1e-9)
}

/// Returns the calls a second of a pattern at its peak; 0 where nothing is declared.
fn peak(facts: &std::collections::BTreeMap<String, f64>) -> f64 {
    facts.get("peak").or(facts.get("rate")).copied().unwrap_or(0.0)
}

/// One change of a write.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) relation: RelationId,
    pub(crate) kind: EffectKind,
    /// The attributes that select the tuple; of an insert all given ones.
    pub(crate) key: BTreeSet<usize>,
    pub(crate) set: BTreeSet<usize>,
    /// The constants among what it sets, and gives to a new tuple.
    pub(crate) constants: Vec<(usize, Value)>,
    pub(crate) fresh: bool,
    /// The relation of the loop, if it is repeated.
    pub(crate) each: Option<RelationId>,
    /// Calls a second, times the turns of the loop.
    pub(crate) rate: f64,
    pub(crate) peak: f64,
    /// True if other items are changed together with it.
    pub(crate) together: bool,
}

/// The changes of all writes, and the prices by which they count.
pub(crate) struct Load<'a> {
    pub(crate) changes: Vec<Change>,
    pub(crate) prices: &'static Prices,
    pub(crate) target: &'a Target,
}

impl<'a> Load<'a> {
    pub(crate) fn of(model: &Model, target: &'a Target, prices: &'static Prices) -> Self {
        let changes = model.writes.iter().flat_map(|write| {
            let many = write.effects.len() > 1;
            write.effects.iter().map(move |effect| change(model, write, effect, many))
        });
        Self { changes: changes.collect(), prices, target }
    }

    /// Returns the changes of a relation.
    pub(crate) fn about(&self, relation: RelationId) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(move |change| change.relation == relation)
    }

    /// Returns true if some write sets the attribute at the end of a path.
    pub(crate) fn changes_at(&self, model: &Model, relation: RelationId, path: &[usize]) -> bool {
        let owner = model.path_owner(relation, path);
        self.changes.iter().any(|change| {
            change.relation == owner && path.last().is_some_and(|last| change.set.contains(last))
        })
    }
}

fn change(model: &Model, write: &Write, effect: &Effect, many: bool) -> Change {
    let turns = effect.each.as_ref().map_or(1.0, |each| {
        let known = equal(model, each.relation, &each.predicates);
        rows_of(model, each.relation, &known)
    });
    let given = effect.key.iter().filter(|_| effect.kind == EffectKind::Insert);
    let constant = |(column, term): &(usize, Term)| match term {
        Term::Const(value) => Some((*column, value.clone())),
        _ => None,
    };
    Change {
        relation: effect.relation,
        kind: effect.kind,
        key: effect.key.iter().map(|(column, _)| *column).collect(),
        set: effect.set.iter().map(|(column, _)| *column).collect(),
        constants: effect.set.iter().chain(given).filter_map(constant).collect(),
        fresh: effect.existing == Existing::Fresh,
        each: effect.each.as_ref().map(|each| each.relation),
        rate: rate(&write.facts) * turns,
        peak: peak(&write.facts) * turns,
        together: many || turns > 1.0,
    }
}

/// Returns the attributes that conditions fix.
pub(crate) fn equal(
    model: &Model,
    relation: RelationId,
    predicates: &[Predicate],
) -> BTreeSet<ColumnPath> {
    let fixed = predicates.iter().filter(|one| one.op == CondOp::Eq);
    fixed.map(|one| canonical(model, relation, &one.path)).collect()
}

/// Returns the number of tuples of a relation.
pub(crate) fn count(model: &Model, relation: RelationId) -> f64 {
    let found = model.relation(relation);
    if let Some(count) = found.facts.get("count") {
        return count.max(1.0);
    }
    // As many as its parents have, by the fan-out that says most.
    let of_parents = found.fanouts.iter().filter_map(|fanout| {
        let average = fanout.facts.get("avg")?;
        let known = fanout.from.iter().map(|column| vec![*column]).collect();
        let parents = distinct(model, relation, &known)?;
        Some(average * parents)
    });
    of_parents.max_by(f64::total_cmp).unwrap_or(USUAL_COUNT).max(1.0)
}

/// Returns the number of tuples that share values of these attributes, on average.
pub(crate) fn rows_of(model: &Model, relation: RelationId, known: &BTreeSet<ColumnPath>) -> f64 {
    let all = count(model, relation);
    if known.is_empty() {
        return all;
    }
    let found = rows(model, relation, known, Figure::Average);
    found.unwrap_or_else(|| usual_rows(model, relation, known, all)).clamp(1.0, all)
}

fn usual_rows(model: &Model, relation: RelationId, known: &BTreeSet<ColumnPath>, all: f64) -> f64 {
    // What is known of two attributes bounds what shares both, and so does what is usual of one.
    let of_part = known.iter().map(|path| {
        let one = BTreeSet::from([path.clone()]);
        rows(model, relation, &one, Figure::Average).unwrap_or(USUAL_ROWS)
    });
    let values = distinct(model, relation, known).map(|values| all / values.max(1.0));
    of_part.chain(values).min_by(f64::total_cmp).unwrap_or(USUAL_ROWS)
}

/// Returns the rows that one call of a read gets of one source.
pub(crate) fn rows_read(model: &Model, read: &Read, source: usize) -> f64 {
    let Some(source) = read.sources.get(source) else { return 1.0 };
    // Each value of a list is known as one value is.
    let lists = source.predicates.iter().filter(|one| one.op == CondOp::In);
    let mut known = equal(model, source.relation, &source.predicates);
    known.extend(lists.map(|one| canonical(model, source.relation, &one.path)));
    let mut found = rows_of(model, source.relation, &known);
    for one in &source.predicates {
        found *= match one.op {
            CondOp::In => one.max.map_or(USUAL_ROWS, |max| max as f64 / 2.0),
            CondOp::Between => 0.1,
            CondOp::Lt | CondOp::Le | CondOp::Gt | CondOp::Ge | CondOp::Begins => 0.5,
            CondOp::Present => present(model, source.relation, &one.path),
            _ => 1.0,
        };
    }
    let limit = source.limit.as_ref().or(read.limit.as_ref()).map(|limit| match limit {
        shelfmark_design_language::model::Term::Const(
            shelfmark_design_language::model::Value::Int(n),
        ) => *n as f64,
        _ => USUAL_LIMIT,
    });
    limit.map_or(found, |limit| found.min(limit)).max(1.0)
}

/// Returns the share of tuples that have every attribute on a path.
pub(crate) fn present(model: &Model, relation: RelationId, path: &[usize]) -> f64 {
    let owner = model.path_owner(relation, path);
    let column = path.last().and_then(|last| model.relation(owner).columns.get(*last));
    match column {
        Some(column) if column.optional => column.facts.get("sparse").copied().unwrap_or(0.5),
        _ => 1.0,
    }
}

/// Returns the units of work a second, of all that is written with one key, at its hottest; each
/// change of an item or entry of so many units. Of an entry only changes of what it holds count.
pub(crate) fn hottest(
    model: &Model,
    load: &Load<'_>,
    relation: RelationId,
    partition: &[ColumnPath],
    held: Option<&BTreeSet<ColumnPath>>,
    units: f64,
) -> f64 {
    let touched = |change: &&Change| {
        let made = matches!(change.kind, EffectKind::Insert | EffectKind::Delete);
        let hits = |path: &ColumnPath| matches!(path.as_slice(), [one] if change.set.contains(one));
        made || held.is_none_or(|held| held.iter().any(hits))
    };
    let changes = load.about(relation).filter(touched);
    let heat = changes.map(|change| {
        let inserts = change.kind == EffectKind::Insert;
        // Inserts have all one day: it does not spread them.
        let spreads = |path: &&ColumnPath| {
            !(inserts && matches!(model.path_type(relation, path), Type::Date | Type::Timestamp))
        };
        let known: BTreeSet<ColumnPath> = partition.iter().filter(spreads).cloned().collect();
        let part = if known.is_empty() { 1.0 } else { most_wanted(model, relation, &known) };
        change.peak * units * part * if change.together { 2.0 } else { 1.0 }
    });
    heat.sum()
}

/// Returns the share of all changes that goes to the most wanted values: what a declared skew says;
/// else the part of all tuples that the largest fan-out has, if that is more than an even part.
fn most_wanted(model: &Model, relation: RelationId, known: &BTreeSet<ColumnPath>) -> f64 {
    let all = count(model, relation);
    let even = share(model, relation, known)
        .unwrap_or_else(|| (rows_of(model, relation, known) / all).min(0.01));
    if skew(model, relation, known).is_some() {
        return even;
    }
    let largest = rows(model, relation, known, Figure::Worst);
    largest.map_or(even, |largest| even.max(largest / all)).min(1.0)
}
