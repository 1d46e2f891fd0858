//! Verifies what each step of a write's plan changes, and that its keys are known.
//!
//! What it is not: what must have been read before is asked in `write_reads`, what parts of a write
//! do to each other in `write_parts`.
//!
//! Invariant: says by itself what is wrong; nothing of the prover is asked.

use std::collections::BTreeSet;

use super::rules::keyed_alone;
use super::shelf::{short, shown};
use super::write_families::{concerned, concerned_by, key_paths, left_out};
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Family, Schema, Stored, WriteStep, WriteStepKind};
use shelfmark_design_language::model::{ColumnPath, Model, Term, Value, Write};
use shelfmark_design_language::syntax::tree::CondOp;

/// Checks that a step changes only rows that some effect can concern.
pub(super) fn concerns(
    model: &Model,
    schema: &Schema,
    write: &Write,
    step: &WriteStep,
) -> Result<(), String> {
    if matches!(step.kind, WriteStepKind::Read { .. } | WriteStepKind::Patch { .. }) {
        return Ok(());
    }
    let mut families = step.families.iter().filter_map(|id| schema.families.get(*id));
    match families.find(|family| !concerned(model, write, family)) {
        Some(family) => Err(format!("the plan changes {}, the write does not", family.name.text)),
        None => Ok(()),
    }
}

/// Checks that an update deletes without a put only rows whose key or condition it sets.
pub(super) fn taken_away(
    model: &Model,
    schema: &Schema,
    write: &Write,
    (steps, at): (&[WriteStep], usize),
) -> Result<(), String> {
    let Some(step) = steps.get(at).filter(|step| step.kind.is_delete()) else { return Ok(()) };
    for id in &step.families {
        let Some(family) = schema.families.get(*id) else { continue };
        let again = steps.iter().skip(at).any(|put| put.kind.is_put() && put.families.contains(id));
        let guards = family.when.iter().map(|one| one.path.clone());
        let held: Vec<ColumnPath> = key_paths(family).into_iter().chain(guards).collect();
        let takes = |effect: &Effect| {
            let updates = matches!(effect.kind, EffectKind::Update | EffectKind::Increment);
            let own = |column: &usize| held.iter().any(|path| path.first() == Some(column));
            concerned_by(model, effect, family)
                && (!updates
                    || effect.relation != family.source
                    || effect.set.iter().any(|(column, _)| own(column)))
        };
        if !again && !write.effects.iter().any(takes) {
            let name = &family.name.text;
            return Err(format!("O4: {name} loses rows that the write leaves where they are"));
        }
    }
    Ok(())
}

/// Checks that a row that an update moves is deleted under its old key, which the update's new
/// values do not tell.
pub(super) fn old_known(
    model: &Model,
    schema: &Schema,
    write: &Write,
    (steps, at): (&[WriteStep], usize),
) -> Result<(), String> {
    let Some(step) = steps.get(at).filter(|step| step.kind.is_delete()) else { return Ok(()) };
    for family in step.families.iter().filter_map(|id| schema.families.get(*id)) {
        let mut wanted = key_paths(family);
        if !keyed_alone(model, family) {
            wanted.extend(family.when.iter().map(|one| one.path.clone()));
        }
        let updates = write.effects.iter().filter(|effect| {
            effect.relation == family.source
                && matches!(effect.kind, EffectKind::Update | EffectKind::Increment)
        });
        for effect in updates {
            let mut old: BTreeSet<ColumnPath> =
                effect.key.iter().map(|(column, _)| vec![*column]).collect();
            for read in steps.iter().take(at) {
                let WriteStepKind::Read { bindings, .. } = &read.kind else { continue };
                let own = read.families.iter().filter_map(|id| schema.families.get(*id));
                for other in own.filter(|other| other.source == family.source) {
                    let guards = other.when.iter().filter(|one| one.op == CondOp::Eq);
                    let asked = bindings.iter().map(|(path, _)| path);
                    let fixed = asked.chain(guards.map(|one| &one.path));
                    old.extend(fixed.map(|path| short(model, family.source, path)));
                    old.extend(shown(model, other));
                }
            }
            let unknown = |path: &&ColumnPath| {
                let set = effect.set.iter().any(|(column, _)| path.first() == Some(column));
                let head = path.get(..1).unwrap_or(&[]).to_vec();
                set && !old.contains(&short(model, family.source, path)) && !old.contains(&head)
            };
            if let Some(path) = wanted.iter().find(unknown) {
                let name = model.path_text(family.source, path);
                return Err(format!("O1: what {name} of {} was is not known", family.name.text));
            }
        }
    }
    Ok(())
}

/// Returns true if the keys of a step can be computed from inputs and from what was read before.
pub(super) fn computable(
    model: &Model,
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
    at: usize,
) -> Result<(), String> {
    let Some(step) = steps.get(at) else { return Ok(()) };
    let (puts, looped) = match &step.kind {
        WriteStepKind::Read { .. } => return Ok(()),
        WriteStepKind::Put { each } => (true, each),
        WriteStepKind::Delete { each } | WriteStepKind::Patch { each } => (false, each),
    };
    if let Some(alias) = looped {
        let read = |step: &WriteStep| matches!(&step.kind, WriteStepKind::Read { alias: Some(name), .. } if name == alias);
        if !steps.iter().take(at).any(read) {
            return Err(format!("O1: nothing is read as {alias} before the loop over it"));
        }
    }
    let families = step.families.iter().filter_map(|id| schema.families.get(*id));
    for family in
        families.filter(|family| concerned(model, write, family) && !left_out(model, write, family))
    {
        let mut known = BTreeSet::new();
        for effect in &write.effects {
            known.extend(given(model, family, effect, write));
        }
        for read in steps.iter().take(at) {
            let WriteStepKind::Read { .. } = &read.kind else { continue };
            for other in read.families.iter().filter_map(|id| schema.families.get(*id)) {
                known.extend(seen(model, family, other));
            }
        }
        let mut wanted: Vec<ColumnPath> =
            key_paths(family).iter().map(|path| short(model, family.source, path)).collect();
        if puts {
            wanted.extend(shown(model, family));
        } else if !family.when.is_empty() && !keyed_alone(model, family) {
            // Another's row may lie under the key of a tuple that the family does not hold.
            let guards = family.when.iter();
            wanted.extend(guards.map(|one| short(model, family.source, &one.path)));
        }
        // A list or count of the parent is found by what the child refers to.
        let parents = family.stored.iter().any(|stored| !matches!(stored, Stored::Path(_)));
        if let Some(path) = wanted.iter().find(|path| !known.contains(*path) && !parents) {
            let name = model.path_text(family.source, path);
            return Err(format!("O1: {name} of {} is not known", family.name.text));
        }
    }
    Ok(())
}

/// Returns the attributes of a family that an effect gives.
fn given(model: &Model, family: &Family, effect: &Effect, write: &Write) -> Vec<ColumnPath> {
    let mut known = Vec::new();
    let columns = &model.relation(family.source).columns;
    if effect.relation == family.source {
        known.extend(effect.key.iter().map(|(column, _)| vec![*column]));
        // A sum is known only where what was there is.
        if effect.kind != EffectKind::Increment {
            known.extend(effect.set.iter().map(|(column, _)| vec![*column]));
        }
        if effect.kind == EffectKind::Insert {
            let optional = columns.iter().enumerate().filter(|(_, column)| column.optional);
            known.extend(optional.map(|(at, _)| vec![at]));
        }
        // Behind a reference that is left out or taken away everything is absent.
        let terms = || effect.key.iter().chain(&effect.set);
        for (at, column) in columns.iter().enumerate() {
            let mut given = terms().filter(|(column, _)| *column == at).peekable();
            let left_out = effect.kind == EffectKind::Insert && given.peek().is_none();
            let taken = given.any(|(_, term)| *term == Term::Const(Value::Null));
            if let (true, Some(target)) = (left_out || taken, column.refers) {
                let inner = 0..model.relation(target).columns.len();
                known.extend(inner.map(|inner| short(model, family.source, &[at, inner])));
            }
        }
        for (column, term) in &effect.key {
            let target = columns.get(*column).and_then(|column| column.refers);
            let made = write.effects.iter().filter(|other| {
                other.kind == EffectKind::Insert
                    && Some(other.relation) == target
                    && other.key.iter().any(|(_, value)| value == term)
            });
            for other in made {
                let inner = 0..model.relation(other.relation).columns.len();
                known.extend(inner.map(|at| short(model, family.source, &[*column, at])));
            }
        }
    }
    // What is set on the far side of a reference.
    for (via, column) in columns.iter().enumerate() {
        if column.refers == Some(effect.relation) {
            known.extend(effect.set.iter().map(|(at, _)| short(model, family.source, &[via, *at])));
        }
    }
    known
}

/// Returns the attributes of a family that a row that was read shows.
fn seen(model: &Model, family: &Family, other: &Family) -> Vec<ColumnPath> {
    let paths = shown(model, other);
    let mut known = Vec::new();
    if other.source == family.source {
        known.extend(paths.iter().cloned());
    }
    for (via, column) in model.relation(family.source).columns.iter().enumerate() {
        if column.refers == Some(other.source) {
            let whole = paths.iter().map(|path| {
                let path: ColumnPath = std::iter::once(via).chain(path.iter().copied()).collect();
                short(model, family.source, &path)
            });
            known.extend(whole);
        }
    }
    known
}
