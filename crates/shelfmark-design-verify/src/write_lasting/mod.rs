//! Verifies that what never changes is looked at before a tuple is replaced.
//!
//! Invariant: says by itself what is wrong; nothing of the prover is asked.

use super::shelf::{short, shown};
use super::write_families::key_paths;
use super::write_reads::holds_all;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Family, Schema, WriteStep, WriteStepKind};
use shelfmark_design_language::model::{ColumnPath, Model, Term, Write};
use shelfmark_design_language::syntax::tree::Existing;

/// Checks that a read by its key shows what never changes of each tuple that a write may replace, before
/// anything else happens.
pub(super) fn kept_as_it_was(
    model: &Model,
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
) -> Result<(), String> {
    if steps.iter().all(|step| step.kind.is_read()) {
        return Ok(());
    }
    for effect in write.effects.iter().filter(|one| one.kind == EffectKind::Insert) {
        let lasting = lasting(model, schema, effect);
        if lasting.is_empty() || effect.existing != Existing::Replace {
            continue;
        }
        let mut others = write.effects.iter().filter(|other| !std::ptr::eq(*other, effect));
        let alone = effect.each.is_none() && others.all(|one| one.relation != effect.relation);
        let before = || steps.iter().take_while(|step| step.kind.is_read());
        if !alone || !before().any(|step| tells(model, schema, step, effect, &lasting)) {
            let name = &model.relation(effect.relation).name.text;
            return Err(format!(
                "O4: nothing tells what never changes of the {name} that is replaced"
            ));
        }
    }
    Ok(())
}

/// Returns the attributes that never change and that some row shows.
fn lasting(model: &Model, schema: &Schema, effect: &Effect) -> Vec<ColumnPath> {
    let relation = model.relation(effect.relation);
    let of = |family: &&Family| family.source == effect.relation;
    let columns = relation.columns.iter().enumerate();
    columns
        .filter(|(at, column)| column.lasts() && !relation.key().contains(at))
        .map(|(at, _)| vec![at])
        .filter(|path| {
            schema.families.iter().filter(of).any(|family| {
                let keyed = key_paths(family);
                let keyed = keyed.iter().any(|one| short(model, family.source, one) == *path);
                let asked = family.when.iter().any(|one| one.path == *path);
                keyed || asked || shown(model, family).contains(path)
            })
        })
        .collect()
}

/// Returns true if a read asks for the tuple by its key, and its row shows some attributes.
fn tells(
    model: &Model,
    schema: &Schema,
    step: &WriteStep,
    effect: &Effect,
    wanted: &[ColumnPath],
) -> bool {
    let WriteStepKind::Read { bindings, .. } = &step.kind else { return false };
    let key = model.relation(effect.relation).key();
    let given = |column: &usize| effect.key.iter().find(|(at, _)| at == column).map(|(_, by)| by);
    let own = |(path, term): &(ColumnPath, Term)| match path.as_slice() {
        [column] => key.contains(column) && given(column) == Some(term),
        _ => false,
    };
    let whole = key.iter().all(|at| bindings.iter().any(|(path, _)| path.as_slice() == [*at]));
    let by_key = bindings.is_empty() || whole && bindings.iter().all(own);
    let mut read = step.families.iter().filter_map(|id| schema.families.get(*id));
    by_key
        && read.any(|family| {
            let there = shown(model, family);
            family.source == effect.relation
                && holds_all(model, family)
                && wanted.iter().all(|path| there.contains(path))
        })
}

#[cfg(test)]
mod tests;
