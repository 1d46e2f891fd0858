//! Verifies that a write which is not defined stops before it changes anything it could not check.
//!
//! Invariant: says by itself what is wrong; nothing of the prover is asked.

use super::write_families::{concerned, key_paths};
use super::write_reads::holds_all;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Family, Schema, WriteStep};
use shelfmark_design_language::model::{Model, Write};
use shelfmark_design_language::syntax::tree::Existing;

/// Checks that whatever changes before an effect's own row checks itself in the same way.
pub(super) fn checked_first(
    model: &Model,
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
) -> Result<(), String> {
    let changed = changes(model, schema, write, steps);
    for effect in write.effects.iter().filter(|effect| asks(effect)) {
        let first = changed.first().map_or(0, |change| change.step);
        if effect.kind != EffectKind::Insert && was_read(schema, effect, steps, first) {
            continue;
        }
        let own = |change: &&Change<'_>| is_own_row(model, change.family, effect);
        let any = |change: &&Change<'_>| change.family.source == effect.relation;
        let Some(check) = changed.iter().find(own).or_else(|| changed.iter().find(any)) else {
            continue;
        };
        for change in changed.iter().take_while(|change| change.request != check.request) {
            let mut effects = write.effects.iter().filter(|effect| effect.each.is_none());
            if !effects.any(|effect| is_own_row(model, change.family, effect)) {
                return Err(format!(
                    "O10: {} changes before {} tells whether its tuple is there",
                    change.family.name.text, check.family.name.text
                ));
            }
        }
    }
    Ok(())
}

/// A change of the rows of one family, with the number of the request that it belongs to.
pub(super) struct Change<'a> {
    pub(super) request: usize,
    pub(super) step: usize,
    pub(super) family: &'a Family,
}

/// Returns the changes of a plan in their order.
pub(super) fn changes<'a>(
    model: &Model,
    schema: &'a Schema,
    write: &Write,
    steps: &[WriteStep],
) -> Vec<Change<'a>> {
    let (mut found, mut request, mut open) = (Vec::new(), 0, None);
    for (step, one) in steps.iter().enumerate().filter(|(_, one)| !one.kind.is_read()) {
        let families = one.families.iter().filter_map(|id| schema.families.get(*id));
        for family in families.filter(|family| concerned(model, write, family)) {
            if one.transaction.is_none() || one.transaction != open {
                request += 1;
            }
            open = one.transaction;
            found.push(Change { request, step, family });
        }
    }
    found
}

/// Returns true if a write is not defined where the effect's tuple is not as the effect asks.
fn asks(effect: &Effect) -> bool {
    effect.each.is_none() && effect.existing == Existing::Fresh
}

fn was_read(schema: &Schema, effect: &Effect, steps: &[WriteStep], before: usize) -> bool {
    let of = |id: &usize| schema.families.get(*id).is_some_and(|one| one.source == effect.relation);
    steps.iter().take(before).any(|step| step.kind.is_read() && step.families.iter().any(of))
}

/// Returns true if every tuple has one row of the family, under nothing but its own key.
fn is_own_row(model: &Model, family: &Family, effect: &Effect) -> bool {
    let key = model.relation(effect.relation).key();
    family.source == effect.relation
        && family.base.is_none()
        && holds_all(model, family)
        && key_paths(family)
            .iter()
            .all(|path| matches!(path.as_slice(), [only] if key.contains(only)))
}

#[cfg(test)]
mod tests;
