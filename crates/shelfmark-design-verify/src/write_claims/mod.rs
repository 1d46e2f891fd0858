//! Verifies that a write which gives a tuple another unique value takes it from no other tuple.
//!
//! Invariant: says by itself what is wrong; nothing of the prover is asked.

use super::write_defined::{Change, changes};
use super::write_families::key_paths;
use super::write_reads::holds_all;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Family, Schema, WriteStep, WriteStepKind};
use shelfmark_design_language::model::{Model, Term, Write};
use shelfmark_design_language::syntax::tree::Existing;

/// Checks that rows under unique values are put before anything else changes, and replaced by none but
/// their own tuples.
pub(super) fn claimed_first(
    model: &Model,
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
) -> Result<(), String> {
    let changed = changes(model, schema, write, steps);
    for effect in write.effects.iter().filter(|effect| inserts(effect)) {
        let alone = comes_alone(write, effect);
        for family in &schema.families {
            let of = |change: &&Change<'_>| std::ptr::eq(change.family, family);
            let keys = unique_keys(model, family, effect);
            let Some(put) = changed.iter().find(of).filter(|_| !keys.is_empty()) else { continue };
            let first = changed.first().filter(|first| first.request != put.request);
            let asked = |before| alone && was_asked(model, schema, effect, steps, before);
            if first.is_some_and(|first| !asked(first.step)) {
                let name = &family.name.text;
                return Err(format!("O10: something changes before {name} shows a value is free"));
            }
        }
    }
    for effect in write.effects.iter().filter(|effect| replaces(effect) || updates(effect)) {
        for family in &schema.families {
            let name = &family.name.text;
            let keys = unique_keys(model, family, effect);
            if keys.is_empty() {
                continue;
            }
            if !keys.iter().any(|column| sets(model, effect, *column)) {
                if replaces(effect) {
                    return Err(format!("O10: a put of {name} may replace another's row"));
                }
                continue;
            }
            let own = |step: usize| steps.get(step).is_some_and(|step| step.kind.is_put());
            let put = changed
                .iter()
                .find(|change| std::ptr::eq(change.family, family) && own(change.step));
            let Some(put) = put else { continue };
            let alone = steps.get(put.step).is_none_or(|step| step.transaction.is_none());
            let first = changed.first().is_some_and(|first| first.request == put.request);
            if !first || alone && effect.each.is_some() {
                return Err(format!("O10: something changes before {name} shows who has a value"));
            }
        }
    }
    Ok(())
}

/// Returns true if rows of a family move from one unique value to another by requests of their own.
pub(super) fn moves_alone(
    model: &Model,
    write: &Write,
    family: &Family,
    [put, delete]: [&WriteStep; 2],
) -> bool {
    let together = put.transaction.is_some() && put.transaction == delete.transaction;
    let moves = |effect: &Effect| {
        let columns = unique_keys(model, family, effect);
        (replaces(effect) || updates(effect)) && columns.iter().any(|at| sets(model, effect, *at))
    };
    !together && write.effects.iter().any(moves)
}

/// Returns true if an effect inserts one tuple, and replaces none.
fn inserts(effect: &Effect) -> bool {
    effect.kind == EffectKind::Insert
        && effect.existing != Existing::Replace
        && effect.each.is_none()
}

/// Returns true if nothing else in the write hangs on whether an inserted tuple is there already, and no
/// other part takes a tuple away, or changes one, that may have had its values.
fn comes_alone(write: &Write, effect: &Effect) -> bool {
    let mut others = write.effects.iter().filter(|other| other.relation == effect.relation);
    let sure = effect.existing == Existing::Fresh || write.effects.len() == 1;
    sure && others.all(|other| other.kind == EffectKind::Insert)
}

/// Returns true if rows that every tuple has are read, before a step, by each unique key that an insert
/// gives.
fn was_asked(
    model: &Model,
    schema: &Schema,
    effect: &Effect,
    steps: &[WriteStep],
    before: usize,
) -> bool {
    let mut keys = model.relation(effect.relation).keys.iter().skip(1);
    keys.all(|key| {
        let given: Vec<&(usize, Term)> =
            effect.key.iter().filter(|(at, _)| key.contains(at)).collect();
        // A value that is left out is taken from nobody.
        let left_out = given.len() < key.len();
        left_out
            || steps.iter().take(before).any(|step| {
                let WriteStepKind::Read { bindings, .. } = &step.kind else { return false };
                let mut of = step.families.iter().filter_map(|id| schema.families.get(*id));
                let same = |(at, term): &&(usize, Term)| {
                    bindings.iter().any(|(path, by)| path.as_slice() == [*at] && by == term)
                };
                bindings.len() == key.len()
                    && given.iter().all(same)
                    && of.any(|one| one.source == effect.relation && holds_all(model, one))
            })
            || !schema.families.iter().any(|one| {
                let under = unique_keys(model, one, effect);
                key.iter().all(|at| under.contains(at))
            })
    })
}

fn replaces(effect: &Effect) -> bool {
    effect.kind == EffectKind::Insert && effect.existing == Existing::Replace
}

fn updates(effect: &Effect) -> bool {
    matches!(effect.kind, EffectKind::Update | EffectKind::Increment)
}

/// Returns true if an effect may change an attribute of a tuple that is there.
fn sets(model: &Model, effect: &Effect, column: usize) -> bool {
    let relation = model.relation(effect.relation);
    let lasts = relation.columns.get(column).is_some_and(|column| column.lasts());
    effect.set.iter().any(|(at, _)| *at == column)
        || replaces(effect) && !lasts && !relation.key().contains(&column)
}

/// Returns the unique attributes that the rows of an effect's tuple lie under, where they do not lie
/// under its own key.
fn unique_keys(model: &Model, family: &Family, effect: &Effect) -> Vec<usize> {
    let relation = model.relation(effect.relation);
    let plain = family.base.is_none() && family.follows.is_none();
    if family.source != effect.relation || !plain {
        return Vec::new();
    }
    let held = key_paths(family);
    let under = |key: &[usize]| key.iter().all(|at| held.iter().any(|path| path == &[*at]));
    if under(relation.key()) {
        return Vec::new();
    }
    let others = relation.keys.iter().skip(1).map(Vec::as_slice);
    others.filter(|key| under(key)).flatten().copied().collect()
}

#[cfg(test)]
mod tests;
