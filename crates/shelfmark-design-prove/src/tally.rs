//! Counts, sums, and largest and smallest values that rows keep: what a change of a counted tuple does
//! to them.
//!
//! What it is not: no proof that a plan does it; that is asked where the plan's step is.
//!
//! Invariant: what is said to leave a tally as it is leaves it so in every state.

use super::canon::comparisons;
use super::needs::changes;
use super::range::Met;
use crate::eval::state::compare;
use shelfmark_design_language::model::pattern::{Effect, EffectKind, Predicate};
use shelfmark_design_language::model::schema::{Family, Fold, Stored};
use shelfmark_design_language::model::{
    ColumnPath, Model, OrderKey, Read, RelationId, Term, Value,
};
use shelfmark_design_language::syntax::tree::{Aggregate, CondOp, Existing};

/// A value of several tuples, and what it is of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tally<'a> {
    pub(crate) relation: RelationId,
    pub(crate) via: usize,
    pub(crate) when: &'a [Predicate],
    pub(crate) fold: Fold,
    pub(crate) name: &'a str,
}

/// The change of a tally by an effect on a counted tuple.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Nothing.
    Same,
    /// The tuple is counted afterwards and was not, if what is asked of it holds.
    Comes,
    /// The tuple was counted, if what is asked of it held, and is not afterwards.
    Goes,
    /// The tuple's part of a sum grows, if it is counted.
    Grows,
    /// The tuple is counted in the row of what it referred to before, and then in that of another, if
    /// what is asked of it holds.
    Moves,
    /// No step of a plan says it.
    Unplanned(&'static str),
}

impl<'a> Tally<'a> {
    /// Returns what a row holds as a tally, if it is one.
    pub(crate) fn of(stored: &'a Stored) -> Option<Self> {
        let Stored::Tally { relation, via, when, fold, name } = stored else { return None };
        Some(Self { relation: *relation, via: *via, when, fold: *fold, name })
    }

    /// Returns the attributes of a counted tuple that its tally depends on.
    pub(crate) fn columns(&self) -> Vec<ColumnPath> {
        let asked = self.when.iter().map(|one| one.path.clone());
        asked.chain(self.fold.column().map(|at| vec![at])).chain([vec![self.via]]).collect()
    }

    /// Returns true if it is of some tuples only, or of what they hold.
    pub(crate) fn is_rich(&self) -> bool {
        !self.when.is_empty() || self.fold != Fold::Count
    }

    /// Returns what an effect does to it.
    pub(crate) fn turn(&self, model: &Model, effect: &Effect) -> Turn {
        let turn = self.any_turn(model, effect);
        let replaces = effect.existing == Existing::Replace;
        match turn {
            Turn::Same => turn,
            Turn::Comes if !(self.fold.is_extreme() && replaces) => turn,
            Turn::Unplanned(_) => turn,
            _ if self.fold.is_extreme() => Turn::Unplanned(
                "who takes a largest or smallest value away would have to find the next",
            ),
            _ => turn,
        }
    }

    /// Returns what an effect does to any value of all counted tuples.
    fn any_turn(&self, model: &Model, effect: &Effect) -> Turn {
        if effect.relation != self.relation {
            return Turn::Same;
        }
        match effect.kind {
            EffectKind::Insert => match self.counts(|at| new_value(model, effect, at)) {
                Some(false) if effect.existing != Existing::Replace => Turn::Same,
                _ => Turn::Comes,
            },
            EffectKind::Delete => match self.counts(|at| old_value(effect, at)) {
                Some(false) => Turn::Same,
                _ => Turn::Goes,
            },
            EffectKind::Update | EffectKind::Increment => self.updated(model, effect),
        }
    }

    fn updated(&self, model: &Model, effect: &Effect) -> Turn {
        let changed = changes(model, effect);
        let asked = |one: &Predicate| one.path.first().is_some_and(|at| changed.contains(at));
        let adds = self.fold.column().is_some_and(|at| changed.contains(&at));
        let before = self.counts(|at| old_value(effect, at));
        if changed.contains(&self.via) {
            if before == Some(false) && !self.when.iter().any(asked) {
                return Turn::Same;
            }
            let alone = effect.kind == EffectKind::Update && effect.each.is_none();
            return match alone && !adds && !self.when.iter().any(asked) {
                true => Turn::Moves,
                false => Turn::Unplanned("a count moves, and what is counted changes with it"),
            };
        }
        if !self.when.iter().any(asked) {
            return match (adds, effect.kind) {
                (false, _) => Turn::Same,
                (true, _) if before == Some(false) => Turn::Same,
                (true, EffectKind::Increment) => Turn::Grows,
                (true, _) if self.fold.is_extreme() => Turn::Goes,
                (true, _) => Turn::Unplanned("a sum follows what is added, not what is set"),
            };
        }
        let set = |at: usize| match effect.set.iter().find(|(column, _)| *column == at) {
            Some((_, term)) if effect.kind == EffectKind::Update => told_by(term),
            Some(_) => None,
            None => old_value(effect, at),
        };
        match (before, self.counts(set)) {
            (Some(false), Some(false)) => Turn::Same,
            (Some(true), Some(true)) if !adds => Turn::Same,
            (Some(false), Some(true)) if !adds => Turn::Comes,
            (Some(true), Some(false)) if !adds => Turn::Goes,
            _ => Turn::Unplanned(
                "whether a tuple is counted is not told by what selects it and by what is set; \
                 a condition with a constant tells what it was (`if state = \"open\"`)",
            ),
        }
    }

    /// Returns whether a tuple is counted, where what is told of it settles that.
    fn counts(&self, told: impl Fn(usize) -> Option<Told>) -> Option<bool> {
        let mut all = Some(true);
        for one in self.when {
            let told = one.path.first().and_then(|at| told(*at));
            let holds = match (told, one.op) {
                (Some(Told::Is(value)), op) => Some(compare(op, &value, &constants(one))),
                (Some(Told::There), CondOp::Present) => Some(true),
                (Some(Told::There), CondOp::Absent) => Some(false),
                _ => None,
            };
            match holds {
                Some(false) => return Some(false),
                Some(true) => {}
                None => all = None,
            }
        }
        all
    }

    /// Returns true if it answers a read of the tuples that refer to one.
    pub(crate) fn answers(&self, model: &Model, read: &Read) -> bool {
        let Some(asked) = self.asked(model, read) else { return false };
        matches!(asked.as_slice(), [Met { op: CondOp::Eq, .. }])
    }

    /// Returns the conditions of a read that concern the reference, where all others are those of the
    /// tally, and what is added up is the same.
    pub(crate) fn asked(&self, model: &Model, read: &Read) -> Option<Vec<Met>> {
        let [source] = read.sources.as_slice() else { return None };
        let same = source.relation == self.relation
            && match &read.aggregate {
                Some((Aggregate::Count, None)) => self.fold == Fold::Count,
                Some((Aggregate::Sum, Some(path))) => match path.as_slice() {
                    [at] => self.fold == Fold::Sum(*at),
                    _ => false,
                },
                Some(_) => false,
                None => extreme(read) == Some(self.fold),
            };
        let wanted = comparisons(model, self.relation, &source.predicates).filter(|_| same)?;
        let own = comparisons(model, self.relation, self.when)?;
        let by_reference = |met: &&Met| met.row == Term::Column(vec![self.via]);
        let (asked, rest): (Vec<&Met>, Vec<&Met>) = wanted.iter().partition(by_reference);
        let alike =
            rest.iter().all(|one| own.contains(one)) && own.iter().all(|one| rest.contains(&one));
        alike.then(|| asked.into_iter().cloned().collect())
    }
}

/// Returns the tallies of a family.
pub(crate) fn tallies(family: &Family) -> impl Iterator<Item = Tally<'_>> {
    family.stored.iter().filter_map(Tally::of)
}

/// Returns true if a plan's steps can follow what an effect does to a kept number.
pub fn is_followed(model: &Model, stored: &Stored, effect: &Effect) -> bool {
    Tally::of(stored).is_none_or(|one| !matches!(one.turn(model, effect), Turn::Unplanned(_)))
}

/// Returns the attributes of a counted tuple on which a kept number depends, where an effect changes it.
pub fn changed_by(model: &Model, stored: &Stored, effect: &Effect) -> Vec<ColumnPath> {
    let tally = Tally::of(stored).filter(|one| one.turn(model, effect) != Turn::Same);
    tally.map(|one| one.columns()).unwrap_or_default()
}

/// Returns the largest or smallest value that a read asks for: the first of an order by what it shows.
pub fn extreme(read: &Read) -> Option<Fold> {
    let ([source], [(OrderKey::Columns(paths), desc)]) =
        (read.sources.as_slice(), read.order.as_slice())
    else {
        return None;
    };
    let one = read.limit == Some(Term::Const(Value::Int(1)));
    let ([Some(shown)], [Some(by)]) = (source.outputs.as_slice(), paths.as_slice()) else {
        return None;
    };
    let [at] = by.as_slice() else { return None };
    let plain = read.aggregate.is_none() && !read.offset && !read.page && one && shown == by;
    plain.then_some(if *desc { Fold::Max(*at) } else { Fold::Min(*at) })
}

/// Returns true if a read is of a number that a row may keep.
pub(crate) fn is_tally(read: &Read) -> bool {
    matches!(read.aggregate, Some((Aggregate::Count, None) | (Aggregate::Sum, Some(_))))
}

/// Returns the constants that a condition compares with.
pub(crate) fn constants(one: &Predicate) -> Vec<Value> {
    let value = |term: &Term| match term {
        Term::Const(value) => Some(value.clone()),
        _ => None,
    };
    one.values.iter().filter_map(value).collect()
}

/// Tells what is known of an attribute.
enum Told {
    Is(Value),
    /// It is there: an input is always something.
    There,
}

/// Returns what a term tells of the attribute that it is the value of.
fn told_by(term: &Term) -> Option<Told> {
    match term {
        Term::Const(value) => Some(Told::Is(value.clone())),
        Term::Param(_) => Some(Told::There),
        _ => None,
    }
}

/// Returns what is told of an attribute of a new tuple.
fn new_value(model: &Model, effect: &Effect, at: usize) -> Option<Told> {
    match effect.key.iter().find(|(column, _)| *column == at) {
        Some((_, term)) => told_by(term),
        None => Some(Told::Is(Value::Null)).filter(|_| {
            model.relation(effect.relation).columns.get(at).is_some_and(|one| one.optional)
        }),
    }
}

/// Returns what selects a tuple says of an attribute before the write.
fn old_value(effect: &Effect, at: usize) -> Option<Told> {
    let selected = effect.key.iter().find(|(column, _)| *column == at).map(|(_, term)| term);
    let asked = effect.conditions.iter().find(|one| one.path == [at]);
    let asked = asked.and_then(|one| match one.op {
        CondOp::Eq => one.values.first(),
        _ => None,
    });
    if let Some(told) = selected.or(asked).and_then(told_by) {
        return Some(told);
    }
    let asks = |op| effect.conditions.iter().any(|one| one.path == [at] && one.op == op);
    match (asks(CondOp::Absent), asks(CondOp::Present)) {
        (true, _) => Some(Told::Is(Value::Null)),
        (false, true) => Some(Told::There),
        (false, false) => None,
    }
}
