//! Verifies what each step of a write's plan changes, and that its keys are known.
//!
//! What it is not: what must have been read before is asked in `write_reads`, what parts of a write
//! do to each other in `write_parts`.
//!
//! Invariant: says by itself what is wrong; nothing of the prover is asked.

use std::collections::BTreeSet;

use super::rules::{keyed, keyed_alone};
use super::shelf::{short, shown};
use super::write_families::{concerned, concerned_by, key_paths, left_out, left_out_by, touches};
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Family, Schema, Stored, WriteStep, WriteStepKind};
use shelfmark_design_language::model::{ColumnPath, Model, Term, Value, Write};
use shelfmark_design_language::syntax::tree::{CondOp, Existing};

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

/// Checks that rows that are put or deleted are of one tuple each: another one's would go with them.
pub(super) fn told_apart(
    model: &Model,
    schema: &Schema,
    write: &Write,
    step: &WriteStep,
) -> Result<(), String> {
    if !(step.kind.is_put() || step.kind.is_delete()) {
        return Ok(());
    }
    let own = |family: &&Family| write.effects.iter().any(|one| one.relation == family.source);
    let mut families = step.families.iter().filter_map(|id| schema.families.get(*id)).filter(own);
    match families.find(|family| !keyed(model, schema, family)) {
        Some(family) => Err(format!("O4: two rows of {} may be one", family.name.text)),
        None => Ok(()),
    }
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

/// Checks that a row that an insert replaces is deleted under its old key, of which the insert tells only
/// what never changes.
pub(super) fn replaced_known(
    model: &Model,
    schema: &Schema,
    write: &Write,
    (steps, at): (&[WriteStep], usize),
) -> Result<(), String> {
    let Some(step) = steps.get(at).filter(|step| step.kind.is_delete()) else { return Ok(()) };
    for family in step.families.iter().filter_map(|id| schema.families.get(*id)) {
        let relation = model.relation(family.source);
        let replaces = write.effects.iter().filter(|effect| {
            effect.relation == family.source
                && effect.kind == EffectKind::Insert
                && effect.existing == Existing::Replace
                && effect.each.is_some() == step.kind.each().is_some()
        });
        for effect in replaces {
            let lasts = |at: usize| {
                let column = relation.columns.get(at);
                relation.key().contains(&at) || column.is_some_and(|column| column.lasts())
            };
            let lasting = (0..relation.columns.len()).filter(|at| lasts(*at));
            let mut old: BTreeSet<ColumnPath> = lasting.map(|at| vec![at]).collect();
            for read in steps.iter().take(at) {
                let WriteStepKind::Read { bindings, .. } = &read.kind else { continue };
                let own = read.families.iter().filter_map(|id| schema.families.get(*id));
                for other in own.filter(|other| other.source == family.source) {
                    if finds_own(model, effect, bindings) {
                        old.extend(shown(model, other));
                    }
                }
            }
            let mut wanted = key_paths(family);
            wanted.retain(|path| path.len() == 1);
            if let Some(path) = wanted.iter().find(|path| !old.contains(*path)) {
                let name = model.path_text(family.source, path);
                return Err(format!("O1: what {name} of {} was is not known", family.name.text));
            }
        }
    }
    Ok(())
}

/// Checks that an update that gives a row to tuples that had none finds them: a family that asks for the
/// attribute, or has it in its key, holds none of those that were without.
pub(super) fn newly_held(
    model: &Model,
    schema: &Schema,
    write: &Write,
    (steps, at): (&[WriteStep], usize),
) -> Result<(), String> {
    let Some(step) = steps.get(at).filter(|step| step.kind.is_put()) else { return Ok(()) };
    for family in step.families.iter().filter_map(|id| schema.families.get(*id)) {
        let holds = |family: &Family, column: usize| {
            let guards = family.when.iter().map(|one| one.path.clone());
            key_paths(family).into_iter().chain(guards).any(|path| path == [column])
        };
        let optional = |column: usize| {
            model.relation(family.source).columns.get(column).is_some_and(|own| own.optional)
        };
        for effect in write.effects.iter().filter(|effect| effect.relation == family.source) {
            if effect.kind != EffectKind::Update {
                continue;
            }
            for (column, _) in &effect.set {
                let reads = steps.iter().take(at).filter(|read| read.kind.is_read());
                let families = reads.flat_map(|read| &read.families);
                let own = families.filter_map(|id| schema.families.get(*id));
                let mut own = own.filter(|other| other.source == family.source).peekable();
                // Who is selected by it has it.
                let by_loop = effect.each.as_ref().is_some_and(|each| {
                    each.relation == family.source
                        && each
                            .predicates
                            .iter()
                            .any(|one| one.op == CondOp::Eq && one.path.as_slice() == [*column])
                });
                if optional(*column)
                    && !by_loop
                    && holds(family, *column)
                    && own.peek().is_some()
                    && own.all(|other| holds(other, *column))
                {
                    let name = &family.name.text;
                    return Err(format!("O4: who had no row of {name} before is not found"));
                }
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
    let earlier = steps.get(..at).unwrap_or_default();
    let families = step.families.iter().filter_map(|id| schema.families.get(*id));
    for family in
        families.filter(|family| concerned(model, write, family) && !left_out(model, write, family))
    {
        // A list or count of the parent is found by what the child refers to.
        let lists = family.stored.iter().any(|stored| !matches!(stored, Stored::Path(_)));
        let changes = |effect: &Effect| {
            matches!(effect.kind, EffectKind::Update | EffectKind::Increment)
                && effect.relation == family.source
                && touches(model, schema, family, effect)
        };
        if lists && step.kind.is_patch() && !write.effects.iter().any(changes) {
            continue;
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
        for known in all_known(model, schema, write, (earlier, step), family) {
            if let Some(path) = wanted.iter().find(|path| !known.contains(*path)) {
                let name = model.path_text(family.source, path);
                return Err(format!("O1: {name} of {} is not known", family.name.text));
            }
        }
    }
    Ok(())
}

/// Returns what is known of a family's rows: for each effect that a step alone can be for, by itself;
/// where there is none, by all effects together.
fn all_known(
    model: &Model,
    schema: &Schema,
    write: &Write,
    (earlier, step): (&[WriteStep], &WriteStep),
    family: &Family,
) -> Vec<BTreeSet<ColumnPath>> {
    let alone = |effect: &&Effect| {
        effect.relation == family.source
            && effect.each.is_some() == step.kind.each().is_some()
            && !left_out_by(model, effect, family)
            && match effect.kind {
                EffectKind::Insert => step.kind.is_put(),
                EffectKind::Delete => step.kind.is_delete(),
                EffectKind::Update | EffectKind::Increment => step.kind.is_patch(),
            }
    };
    let known =
        |effects: &[&Effect]| known_by(model, schema, write, (earlier, step), family, effects);
    let own: Vec<&Effect> = write.effects.iter().filter(alone).collect();
    if own.is_empty() {
        return vec![known(&write.effects.iter().collect::<Vec<_>>())];
    }
    own.into_iter().map(|effect| known(&[effect])).collect()
}

/// Returns what effects and the reads before a step tell of a family's rows.
pub(super) fn known_by(
    model: &Model,
    schema: &Schema,
    write: &Write,
    (earlier, step): (&[WriteStep], &WriteStep),
    family: &Family,
    effects: &[&Effect],
) -> BTreeSet<ColumnPath> {
    let reads = || {
        let read = |read: &&WriteStep| read.kind.is_read();
        earlier.iter().filter(read).flat_map(|read| {
            read.families
                .iter()
                .filter_map(|id| schema.families.get(*id))
                .map(move |other| (read, other))
        })
    };
    let looked = |effect: &Effect| reads().any(|(_, other)| other.source == effect.relation);
    let own = effects.iter().flat_map(|effect| {
        // What an update sets tells no key that a patch is made under.
        let selects = step.kind.is_patch() && effect.relation == family.source;
        let given = given(model, family, effect, write, &looked);
        let selected = |path: &ColumnPath| effect.key.iter().any(|(at, _)| *path == [*at]);
        given.into_iter().filter(move |path| !selects || path.len() > 1 || selected(path))
    });
    let mut known: BTreeSet<ColumnPath> = own.collect();
    for (read, other) in reads() {
        known.extend(seen(model, family, other, read, effects));
    }
    known
}

/// Returns the attributes of a family that an effect gives.
fn given(
    model: &Model,
    family: &Family,
    effect: &Effect,
    write: &Write,
    looked: &dyn Fn(&Effect) -> bool,
) -> Vec<ColumnPath> {
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
                // What is made unless it is there is as it was, where it was: only who looked knows.
                other.kind == EffectKind::Insert
                    && (other.existing != Existing::Unless || looked(other))
                    && Some(other.relation) == target
                    && other.key.iter().any(|(at, value)| {
                        model.relation(other.relation).key() == [*at] && value == term
                    })
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

/// Returns true if a read that asks for some values surely finds the tuple of an effect, if it is there:
/// it asks for nothing but what selects the tuple, or it finds those that the effect goes through.
fn finds_own(model: &Model, effect: &Effect, asked: &[(ColumnPath, Term)]) -> bool {
    let alike = |(path, term): &(ColumnPath, Term)| {
        let path = short(model, effect.relation, path);
        effect.key.iter().any(|(column, own)| path == [*column] && own == term)
    };
    let itself = |column: &usize| {
        let own = effect.key.iter().find(|(given, _)| given == column);
        own.is_some_and(|(_, term)| *term == Term::Prior(vec![*column]))
    };
    let through = effect.each.as_ref().is_some_and(|each| {
        each.relation == effect.relation && model.relation(each.relation).key().iter().all(itself)
    });
    through || asked.iter().all(alike)
}

/// Returns the attributes of a family that a row that was read shows. What was asked for by another
/// input than the one that the only effect refers by is another tuple.
fn seen(
    model: &Model,
    family: &Family,
    other: &Family,
    read: &WriteStep,
    effects: &[&Effect],
) -> Vec<ColumnPath> {
    let paths = shown(model, other);
    let asked = match &read.kind {
        WriteStepKind::Read { bindings, .. } => bindings.as_slice(),
        _ => &[],
    };
    let plain = |term: &Term| matches!(term, Term::Param(_) | Term::Const(_));
    let terms = |column: usize| {
        let [effect] = effects else { return Vec::new() };
        let given = effect.key.iter().chain(&effect.set).filter(|(given, _)| *given == column);
        given.map(|(_, term)| term).filter(|term| plain(term)).collect::<Vec<_>>()
    };
    let elsewhere = |via: usize| {
        let key = model.relation(other.source).key();
        let told = asked.iter().filter(|(path, _)| path == key).map(|(_, term)| term);
        let told: Vec<&Term> = told.collect();
        terms(via).iter().any(|term| told.iter().any(|asked| asked != term))
    };
    let mut known = Vec::new();
    let found = match effects {
        [effect] if effect.relation == other.source => finds_own(model, effect, asked),
        _ => true,
    };
    // A tuple without an optional attribute has no row where the attribute stands in the key.
    let keys = key_paths(family);
    let whole = key_paths(other).iter().all(|path| {
        let [column] = path.as_slice() else { return true };
        let optional = model.relation(other.source).columns.get(*column);
        !optional.is_some_and(|column| column.optional) || keys.contains(path)
    });
    if other.source == family.source && found && whole {
        known.extend(paths.iter().cloned());
    }
    for (via, column) in model.relation(family.source).columns.iter().enumerate() {
        // What a sparse family does not hold, a read of it does not tell.
        if column.refers == Some(other.source) && !elsewhere(via) && other.when.is_empty() {
            let whole = paths.iter().map(|path| {
                let path: ColumnPath = std::iter::once(via).chain(path.iter().copied()).collect();
                short(model, family.source, &path)
            });
            // A row of what may be referred to does not tell that it is.
            let whole = whole.filter(|path| path.len() > 1);
            known.extend(whole);
        }
    }
    known
}

#[cfg(test)]
mod tests;
