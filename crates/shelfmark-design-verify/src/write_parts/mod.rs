//! Verifies that the parts of one write do not disturb each other: one item changed twice, or a
//! tuple selected by what was changed before.
//!
//! What it is not: each step for itself is looked at in `write_steps`.
//!
//! Invariant: says by itself what is wrong; nothing of the prover is asked.

use std::collections::BTreeMap;

use super::write_families::{concerned_by, key_paths, left_out_by};
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Family, Schema, WriteStep, WriteStepKind};
use shelfmark_design_language::model::{Model, Term, Value, Write};
use shelfmark_design_language::syntax::tree::Existing;
use shelfmark_design_language::target::profile;

/// Checks that no item is put and patched in one transaction, where that takes one operation for an
/// item.
pub(super) fn once_each(
    model: &Model,
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
) -> Result<(), String> {
    if !profile(&schema.target).is_some_and(|target| target.one_operation_per_item) {
        return Ok(());
    }
    let mut changed: BTreeMap<(usize, usize), Vec<&WriteStepKind>> = BTreeMap::new();
    for step in steps.iter().filter(|step| !step.kind.is_read()) {
        let Some(transaction) = step.transaction else { continue };
        for id in &step.families {
            changed.entry((transaction, *id)).or_default().push(&step.kind);
        }
    }
    let fine = changed.iter().all(|((_, id), kinds)| {
        let source = schema.families.get(*id).map(|family| family.source);
        // Two puts of what is new never meet.
        let mut own = write.effects.iter().filter(|effect| Some(effect.relation) == source);
        let new = own
            .all(|effect| effect.kind == EffectKind::Insert && effect.existing == Existing::Fresh);
        new && kinds.iter().all(|kind| kind.is_put())
            || schema.families.get(*id).is_some_and(|family| one_each(model, family, write))
                && !is_served_twice(write, kinds)
            || matches!(
                kinds.as_slice(),
                [_] | [WriteStepKind::Delete { .. }, WriteStepKind::Put { .. }]
            )
    });
    if fine { Ok(()) } else { Err("O1: one transaction changes one item twice".to_owned()) }
}

/// Checks that no effect selects by what an earlier one changes of a tuple that may be the same:
/// reads before both show how it was.
pub(super) fn selected_once(model: &Model, schema: &Schema, write: &Write) -> Result<(), String> {
    for (at, first) in write.effects.iter().enumerate() {
        let relation = model.relation(first.relation);
        let changes = |column: &usize| match (first.kind, first.existing) {
            (EffectKind::Insert, Existing::Replace) => !relation.key().contains(column),
            (EffectKind::Update | EffectKind::Increment, _) => {
                first.set.iter().any(|(set, _)| set == column)
            }
            _ => false,
        };
        for second in write.effects.iter().skip(at + 1) {
            let two = told_by(model, write, (first, second), |column| !changes(&column));
            let mut selected = second.key.iter().map(|(column, _)| column);
            // What is in no row is selected in vain, whatever by.
            let kept = schema.families.iter().any(|family| concerned_by(model, second, family));
            if kept
                && second.relation == first.relation
                && second.kind != EffectKind::Insert
                && !two
                && selected.any(changes)
            {
                let name = &relation.name.text;
                return Err(format!("O4: a {name} is selected by what was changed before"));
            }
        }
    }
    Ok(())
}

/// Checks that no put asks for a tuple that an earlier part makes or deletes: it would see how it was
/// before.
pub(super) fn unless_deleted(model: &Model, schema: &Schema, write: &Write) -> Result<(), String> {
    for (at, first) in write.effects.iter().enumerate() {
        let lost = |second: &Effect| {
            matches!(first.kind, EffectKind::Delete | EffectKind::Insert)
                && second.kind == EffectKind::Insert
                && second.existing == Existing::Unless
                && second.relation == first.relation
                && !apart(model, write, first, second)
                && schema.families.iter().any(|family| family.source == second.relation)
        };
        if write.effects.iter().skip(at + 1).any(lost) {
            let name = &model.relation(first.relation).name.text;
            return Err(format!(
                "O4: a {name} is put unless it was there, which an earlier part decides"
            ));
        }
    }
    Ok(())
}

/// Checks that an update puts no row of a tuple that an earlier part deletes: it knows the row from a
/// read before both.
pub(super) fn not_revived(
    model: &Model,
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
) -> Result<(), String> {
    let updates = |kind| matches!(kind, EffectKind::Update | EffectKind::Increment);
    for (at, first) in write.effects.iter().enumerate() {
        let revived = |second: &Effect| {
            first.kind == EffectKind::Delete
                && updates(second.kind)
                && second.relation == first.relation
                && !apart(model, write, first, second)
        };
        let inserts = |effect: &Effect| {
            effect.kind == EffectKind::Insert && effect.relation == first.relation
        };
        if !write.effects.iter().skip(at + 1).any(revived) || write.effects.iter().any(inserts) {
            continue;
        }
        let puts = steps.iter().filter(|step| step.kind.is_put()).flat_map(|step| &step.families);
        let mut families = puts.filter_map(|id| schema.families.get(*id));
        if let Some(family) = families.find(|family| family.source == first.relation) {
            let name = &family.name.text;
            return Err(format!("O4: {name} is put again after what it is of was deleted"));
        }
    }
    Ok(())
}

/// Checks that no loop replaces one tuple again and again where its row moves: reads before the loop
/// show the first place only.
pub(super) fn once_replaced(
    model: &Model,
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
) -> Result<(), String> {
    let looped = write.effects.iter().filter(|effect| effect.each.is_some());
    for effect in looped.filter(|effect| effect.existing == Existing::Replace) {
        let of_loop = |term: &Term| {
            let value =
                |leaf: &Term| (!matches!(leaf, Term::Prior(_))).then_some(Value::Bool(true));
            term.compute(&value).is_none()
        };
        let relation = model.relation(effect.relation);
        let mut key = effect.key.iter().filter(|(column, _)| relation.key().contains(column));
        let deletes = steps.iter().filter(|step| step.kind.is_delete());
        let mut deleted = deletes.flat_map(|step| &step.families);
        let held = deleted.any(|id| {
            schema.families.get(*id).is_some_and(|family| family.source == effect.relation)
        });
        if held && !key.any(|(_, term)| of_loop(term)) {
            let name = &relation.name.text;
            return Err(format!("O4: a loop replaces one {name} again and again"));
        }
    }
    Ok(())
}

/// Checks that what one part makes and a later one deletes is not looked for before both: it is not
/// found then, and stays.
pub(super) fn gone_again(
    model: &Model,
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
) -> Result<(), String> {
    let made = write.effects.iter().enumerate();
    let made = made.filter(|(_, effect)| effect.kind == EffectKind::Insert);
    for (at, first) in made {
        let again = |second: &Effect| {
            second.kind == EffectKind::Delete
                && second.relation == first.relation
                && !apart(model, write, first, second)
        };
        if !write.effects.iter().skip(at + 1).any(again) {
            continue;
        }
        let own = |step: &WriteStep| {
            let mut families = step.families.iter().filter_map(|id| schema.families.get(*id));
            families.any(|family| family.source == first.relation)
        };
        let read = steps.iter().position(|step| step.kind.is_read() && own(step));
        let delete = steps.iter().position(|step| step.kind.is_delete() && own(step));
        if read.is_some() && read < delete {
            let name = &model.relation(first.relation).name.text;
            return Err(format!("O4: a {name} that is made and deleted is looked for before"));
        }
    }
    Ok(())
}

/// Checks that what the write makes or deletes in a loop is put or deleted by a step that goes through
/// it, and what it makes or deletes once by one that does not.
pub(super) fn each_its_own(
    model: &Model,
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
) -> Result<(), String> {
    for effect in &write.effects {
        let fits = |kind: &WriteStepKind| match effect.kind {
            EffectKind::Insert => kind.is_put(),
            EffectKind::Delete => kind.is_delete(),
            EffectKind::Update | EffectKind::Increment => true,
        };
        if matches!(effect.kind, EffectKind::Update | EffectKind::Increment) {
            continue;
        }
        for (id, family) in schema.families.iter().enumerate() {
            let whole = family.source == effect.relation && family.base.is_none();
            if !whole || left_out_by(model, effect, family) {
                continue;
            }
            let own = steps.iter().filter(|step| step.families.contains(&id) && fits(&step.kind));
            let mut own = own.map(|step| step.kind.each().is_some()).peekable();
            // Where there is no step at all, states tell whether one is missing.
            if own.peek().is_some() && own.all(|loops| loops != effect.each.is_some()) {
                let name = &family.name.text;
                return Err(format!("O4: one part of the write changes no row of {name}"));
            }
        }
    }
    Ok(())
}

/// Returns true if the key distinguishes the tuples of two effects: by constants, or by inputs that the
/// write says to differ.
pub(super) fn apart(model: &Model, write: &Write, first: &Effect, second: &Effect) -> bool {
    told_by(model, write, (first, second), |_| true)
}

/// Returns true if attributes of the key that are `meant` distinguish the tuples of two effects.
pub(super) fn told_by(
    model: &Model,
    write: &Write,
    (first, second): (&Effect, &Effect),
    meant: impl Fn(usize) -> bool,
) -> bool {
    let given = |effect: &Effect, column: usize| {
        effect.key.iter().find(|(at, _)| *at == column).map(|(_, term)| term.clone())
    };
    let mut inputs: Vec<(usize, usize)> = Vec::new();
    for column in model.relation(first.relation).key().iter().filter(|at| meant(**at)) {
        match (given(first, *column), given(second, *column)) {
            (Some(Term::Const(a)), Some(Term::Const(b))) if a != b => return true,
            (Some(Term::Param(a)), Some(Term::Param(b))) => inputs.extend([(a, b), (b, a)]),
            _ => {}
        }
    }
    write.differ.iter().any(|pairs| pairs.iter().all(|pair| inputs.contains(pair)))
}

/// Returns true if every effect of a write that can concern a family's rows names another of them
/// by a constant, and moves none.
fn one_each(model: &Model, family: &Family, write: &Write) -> bool {
    let own: Vec<&Effect> = write.effects.iter().collect();
    let keys = key_paths(family);
    let plain = |effect: &&Effect| {
        effect.relation == family.source
            && effect.each.is_none()
            && effect.existing != Existing::Replace
            && !effect.set.iter().any(|(at, _)| {
                keys.iter()
                    .chain(family.when.iter().map(|one| &one.path))
                    .any(|path| path.first() == Some(at))
            })
    };
    let told = |a: &Effect, b: &Effect| {
        told_by(model, write, (a, b), |column| keys.contains(&vec![column]))
    };
    let pairs = own.iter().enumerate();
    own.iter().all(plain)
        && pairs.clone().all(|(at, a)| own.iter().skip(at + 1).all(|b| told(a, b)))
}

/// Returns true if two steps are for one of the effects of a write, which all concern one row type: there
/// are more steps than effects, or an update's patch stands beside what no other effect asks for.
fn is_served_twice(write: &Write, kinds: &[&WriteStepKind]) -> bool {
    let asked = |wanted| write.effects.iter().any(|effect| effect.kind == wanted);
    let patches = kinds.iter().any(|kind| kind.is_patch());
    let puts = kinds.iter().any(|kind| kind.is_put()) && !asked(EffectKind::Insert);
    let deletes = kinds.iter().any(|kind| kind.is_delete()) && !asked(EffectKind::Delete);
    kinds.len() > write.effects.len() || patches && (puts || deletes)
}

#[cfg(test)]
mod tests;
