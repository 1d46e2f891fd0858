//! Verifies attributes of a tuple that rows of others hold: copies, and lists or counts of what
//! refers to it.
//!
//! What it is not: whether the copies' keys can be computed is asked in `write_steps`.
//!
//! Invariant: says by itself what is wrong; nothing of the prover is asked.

use super::shelf::{short, shown};
use super::write_families::{key_paths, reaches};
use super::write_parts::apart;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Family, Schema, Stored, WriteStep, WriteStepKind};
use shelfmark_design_language::model::{ColumnPath, Model, RelationId, Write};
use shelfmark_design_language::syntax::tree::Existing;

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

/// Checks that deleting and recreating a tuple leaves no copies, lists or counts unchanged.
pub(super) fn made_again(model: &Model, schema: &Schema, write: &Write) -> Result<(), String> {
    for (at, first) in write.effects.iter().enumerate() {
        let again = |second: &&Effect| {
            first.kind == EffectKind::Delete
                && second.kind == EffectKind::Insert
                && second.relation == first.relation
                && !apart(model, first, second)
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
        let copied = |effect: &&Effect| {
            paths.iter().any(|path| path.len() > 1 && reaches(model, family, path, effect))
        };
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
