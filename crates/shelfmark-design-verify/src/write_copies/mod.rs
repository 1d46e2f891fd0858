//! Verifies attributes of a tuple that rows of others hold: copies, and lists or counts of what
//! refers to it.
//!
//! What it is not: whether the copies' keys can be computed is asked in `write_steps`.
//!
//! Invariant: says by itself what is wrong; nothing of the prover is asked.

use super::shelf::{short, shown};
use super::world::holds;
use super::write_families::{key_paths, reaches};
use super::write_parts::apart;
use shelfmark_design_language::model::pattern::{Effect, EffectKind, Predicate};
use shelfmark_design_language::model::schema::{Family, Schema, Stored, WriteStep, WriteStepKind};
use shelfmark_design_language::model::{ColumnPath, Model, RelationId, Term, Value, Write};
use shelfmark_design_language::syntax::tree::{CondOp, Existing};

/// Checks that copies change only with an update that names one tuple by its key: only then a step
/// knows which rows refer to it and what is new in them.
pub(super) fn followed(model: &Model, schema: &Schema, write: &Write) -> Result<(), String> {
    for effect in &write.effects {
        let relation = model.relation(effect.relation);
        // What is put in the place of another changes all but its key and what never changes.
        let replaced = |column: &usize| {
            let lasts = relation.columns.get(*column).is_some_and(|column| column.lasts());
            !lasts && !relation.key().contains(column)
        };
        let set = |column: &usize| effect.set.iter().any(|(set, _)| set == column);
        let named = effect.kind == EffectKind::Update
            && effect.each.is_none()
            && effect.key.iter().any(|(column, _)| relation.key() == [*column]);
        let replaces = effect.kind == EffectKind::Insert && effect.existing == Existing::Replace;
        let updates = matches!(effect.kind, EffectKind::Update | EffectKind::Increment);
        for family in &schema.families {
            if let Some(name) = collected(family, effect) {
                return Err(format!("O4: {name} of {} holds what changes", family.name.text));
            }
        }
        if named || !(updates || replaces) {
            continue;
        }
        for family in &schema.families {
            let copied = held(model, family).iter().any(|path| {
                behind(model, family, path, effect.relation)
                    .any(|column| if replaces { replaced(&column) } else { set(&column) })
            });
            if copied {
                let name = &family.name.text;
                return Err(format!("O4: copies in {name} are not followed from this change"));
            }
        }
    }
    Ok(())
}

/// Returns the name of a collected list that holds an attribute that an update sets.
fn collected<'s>(family: &'s Family, effect: &Effect) -> Option<&'s str> {
    family.stored.iter().find_map(|stored| match stored {
        Stored::Collect { relation, via, path, name } => {
            let held = |column: &usize| via == column || path.first() == Some(column);
            let set = effect.set.iter().any(|(column, _)| held(column));
            (*relation == effect.relation && set).then_some(name.as_str())
        }
        Stored::Tally { relation, name, .. } => {
            let lost = !is_settled(stored, effect) || takes_away(stored, effect);
            (lost && *relation == effect.relation).then_some(name.as_str())
        }
        Stored::Path(_) => None,
    })
}

/// Returns true if an update leaves no doubt about a count or a sum: what it sets is not asked for, or
/// is asked for by constants before and after; and what is added up is only added to.
fn is_settled(stored: &Stored, effect: &Effect) -> bool {
    let Stored::Tally { when, fold, via, .. } = stored else { return true };
    if !matches!(effect.kind, EffectKind::Update | EffectKind::Increment) {
        return true;
    }
    let sets = |at: &usize| effect.set.iter().any(|(column, _)| column == at);
    let asked = when.iter().any(|one| one.path.iter().any(sets));
    let summed = fold.column().is_some_and(|at| sets(&at));
    // What is surely not counted, before and after, may change as it likes.
    let (before, after) = (told(when, effect, false), told(when, effect, true));
    // What moves from one row to another changes in nothing else, and once.
    if sets(via) && (before, after) != (Some(false), Some(false)) {
        let plain = effect.kind == EffectKind::Update && effect.each.is_none();
        return plain && !asked && !summed;
    }
    match (asked, summed) {
        (false, false) => true,
        (false, true) => effect.kind == EffectKind::Increment || before == Some(false),
        (true, false) => before.is_some() && after.is_some(),
        (true, true) => before == Some(false) && after == Some(false),
    }
}

/// Returns true if a change may take the largest or smallest value away that a row keeps: nobody knows
/// the next one.
fn takes_away(stored: &Stored, effect: &Effect) -> bool {
    let Stored::Tally { when, fold, via, .. } = stored else { return false };
    let sets = |at: &usize| effect.set.iter().any(|(column, _)| column == at);
    let concerns = sets(via)
        || fold.column().is_some_and(|at| sets(&at))
        || when.iter().any(|one| one.path.iter().any(sets));
    let counted = told(when, effect, false) != Some(false);
    fold.is_extreme()
        && match effect.kind {
            EffectKind::Insert => effect.existing == Existing::Replace,
            EffectKind::Delete => counted,
            EffectKind::Update | EffectKind::Increment => concerns && counted,
        }
}

/// Returns whether a tuple is counted, before or after an update, by the constants that it names.
pub(super) fn told(when: &[Predicate], effect: &Effect, after: bool) -> Option<bool> {
    let constant = |term: &Term| match term {
        Term::Const(value) => Some(value.clone()),
        _ => None,
    };
    let value = |at: usize| -> Option<Value> {
        if after && let Some((_, term)) = effect.set.iter().find(|(column, _)| *column == at) {
            return constant(term).filter(|_| effect.kind == EffectKind::Update);
        }
        let selected = effect.key.iter().find(|(column, _)| *column == at);
        let asked = effect.conditions.iter().find(|one| one.path == [at]);
        match (selected, asked.map(|one| (one.op, one.values.first()))) {
            (Some((_, term)), _) | (None, Some((CondOp::Eq, Some(term)))) => constant(term),
            (None, Some((CondOp::Absent, _))) => Some(Value::Null),
            _ => None,
        }
    };
    // An input is something, whatever it is.
    let there = |at: usize| {
        let set = effect.set.iter().find(|(column, _)| after && *column == at);
        let selected = || effect.key.iter().find(|(column, _)| *column == at);
        let mut asked = effect.conditions.iter().filter(|one| one.path == [at]);
        match set {
            Some((_, term)) => effect.kind == EffectKind::Update && matches!(term, Term::Param(_)),
            None => {
                selected().is_some_and(|(_, term)| matches!(term, Term::Param(_)))
                    || asked.any(|one| one.op != CondOp::Absent)
            }
        }
    };
    let one = |one: &Predicate| {
        if let (CondOp::Present | CondOp::Absent, true) = (one.op, there(*one.path.first()?)) {
            return Some(one.op == CondOp::Present);
        }
        let found = value(*one.path.first()?)?;
        let wanted: Option<Vec<Value>> = one.values.iter().map(constant).collect();
        Some(holds(one.op, &found, &wanted?))
    };
    let all: Vec<Option<bool>> = when.iter().map(one).collect();
    if all.contains(&Some(false)) {
        return Some(false);
    }
    (!all.contains(&None)).then_some(true)
}

/// Checks that deleting and recreating a tuple leaves no copies, lists or counts unchanged.
pub(super) fn made_again(model: &Model, schema: &Schema, write: &Write) -> Result<(), String> {
    for (at, first) in write.effects.iter().enumerate() {
        let again = |second: &&Effect| {
            first.kind == EffectKind::Delete
                && second.kind == EffectKind::Insert
                && second.relation == first.relation
                && !apart(model, write, first, second)
        };
        if !write.effects.iter().skip(at + 1).any(|second| again(&second)) {
            continue;
        }
        for family in &schema.families {
            let lists = |stored: &Stored| !matches!(stored, Stored::Path(_));
            let keeps = family.source == first.relation && family.stored.iter().any(lists);
            let mut paths = held(model, family).into_iter();
            let name = &family.name.text;
            if keeps || paths.any(|path| behind(model, family, &path, first.relation).count() > 0) {
                return Err(format!("O4: {name} keeps what is deleted and made again"));
            }
        }
    }
    Ok(())
}

/// Checks that an update moves no row that keeps lists or counts: the put under the new key begins them
/// anew.
pub(super) fn kept_in_place(
    model: &Model,
    schema: &Schema,
    write: &Write,
    step: &WriteStep,
) -> Result<(), String> {
    if !step.kind.is_put() {
        return Ok(());
    }
    for family in step.families.iter().filter_map(|id| schema.families.get(*id)) {
        let lists = family.stored.iter().any(|stored| !matches!(stored, Stored::Path(_)));
        let guards = family.when.iter().map(|one| one.path.clone());
        let held: Vec<ColumnPath> = key_paths(family).into_iter().chain(guards).collect();
        let moves = |effect: &&Effect| {
            let sets = |path: &ColumnPath| {
                effect.set.iter().any(|(column, _)| path.first() == Some(column))
            };
            let replaces = effect.relation == family.source && effect.existing == Existing::Replace;
            replaces
                || matches!(effect.kind, EffectKind::Update | EffectKind::Increment)
                    && (effect.relation == family.source && held.iter().any(sets)
                        || held.iter().any(|path| reaches(model, family, path, effect)))
        };
        if lists && write.effects.iter().any(|effect| moves(&effect)) {
            let name = &family.name.text;
            return Err(format!("O4: {name} keeps lists or counts that a new key would lose"));
        }
    }
    Ok(())
}

/// Checks that a loop over rows that hold copies finds all of them: a sparse family has only its
/// own rows, and not even those that a change takes into it.
pub(super) fn found_whole(
    model: &Model,
    schema: &Schema,
    write: &Write,
    (steps, at): (&[WriteStep], usize),
) -> Result<(), String> {
    let Some(step) = steps.get(at) else { return Ok(()) };
    let Some(alias) = step.kind.each() else { return Ok(()) };
    let updates = |effect: &&Effect| effect.kind == EffectKind::Update && effect.each.is_none();
    for id in &step.families {
        let Some(family) = schema.families.get(*id) else { continue };
        let paths = held(model, family);
        let copied =
            |effect: &&Effect| paths.iter().any(|path| reaches(model, family, path, effect));
        for effect in write.effects.iter().filter(updates).filter(copied) {
            let reads = steps.iter().take(at).filter(|read| {
                matches!(&read.kind, WriteStepKind::Read { alias: Some(name), .. } if name == alias)
            });
            for other in reads.flat_map(|read| &read.families) {
                let Some(found) = schema.families.get(*other) else { continue };
                let moves = found.when.iter().any(|one| reaches(model, found, &one.path, effect));
                if !found.when.is_empty() && (other != id || moves) {
                    let name = &found.name.text;
                    return Err(format!("O4: {name} has not all rows whose copies change"));
                }
            }
        }
    }
    Ok(())
}

/// Returns every attribute that a family's rows hold or are computed from.
fn held(model: &Model, family: &Family) -> Vec<ColumnPath> {
    let mut paths = shown(model, family);
    let others =
        key_paths(family).into_iter().chain(family.when.iter().map(|one| one.path.clone()));
    paths.extend(others.map(|path| short(model, family.source, &path)));
    paths
}

/// Returns the attributes of a relation that a path goes through behind a reference.
fn behind<'a>(
    model: &'a Model,
    family: &'a Family,
    path: &'a [usize],
    relation: RelationId,
) -> impl Iterator<Item = usize> + 'a {
    let heads = (2..=path.len()).filter_map(|length| path.get(..length));
    let own = heads.filter(move |head| model.path_owner(family.source, head) == relation);
    own.filter_map(|head| head.last().copied())
}

#[cfg(test)]
mod tests;
