//! Computes what a plan may leave where its write is not defined.
//!
//! A write is not defined where it inserts what is there, where what it changes or deletes is not there,
//! and where its result is no state. The plan then changes nothing. What no row shows is the caller's
//! word: that a key or a unique value is new which no row lies under, that what a reference names is
//! there, that no number is exceeded. There a plan may also do all that was asked.
//!
//! What it is not: it runs no plan, and asks nothing of the prover.
//!
//! Invariant: the state as it was is always among the outcomes.

use std::collections::BTreeSet;

use super::super::state::{State, Tuple};
use super::{apply, change_all, holds, names_nothing};
use crate::defined::is_counter;
use crate::lasting::lasting;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{
    Family, Part, Schema, WritePlan, WriteStep, WriteStepKind,
};
use shelfmark_design_language::model::{Model, RelationId, Term, Value, Write};

/// Returns the states whose rows a plan may leave where the write is not defined, or changes nothing;
/// `None` where it is defined, or where nothing is said of what it leaves.
///
/// They need not be states of the model: numbers may be exceeded in them.
pub fn outcomes(
    model: &Model,
    schema: &Schema,
    write: &Write,
    plan: &WritePlan,
    state: &State,
    inputs: &[Value],
) -> Option<Vec<State>> {
    if !write.inputs_differ(inputs) {
        return Some(vec![state.clone()]);
    }
    if apply(model, write, state, inputs).is_some() {
        // It is a change of nothing where it names nothing, or its condition does not hold. Of several
        // parts one may name what another makes.
        let alone = write.effects.len() == 1;
        let mut effects = write.effects.iter();
        let nothing = effects.any(|effect| {
            alone && names_nothing(effect, [state, state], inputs) || !holds(effect, state, inputs)
        });
        return nothing.then(|| vec![state.clone()]);
    }
    // Of the tuples of a loop each is found out about by its own request.
    if write.effects.iter().any(|effect| effect.each.is_some()) && !is_whole(write, plan) {
        return None;
    }
    let mut found = vec![state.clone()];
    let effects: Vec<&Effect> = write.effects.iter().collect();
    let Some(changed) = change_all(model, &effects, state, inputs) else {
        // What never changes is given another value, and some row shows it.
        let shown = effects.iter().any(|effect| !lasting(model, schema, effect).is_empty());
        return shown.then_some(found);
    };
    if effects.iter().any(|effect| names_nothing(effect, [state, &changed], inputs)) {
        return Some(found);
    }
    match shown(model, schema, (write, plan), &effects, &changed) {
        Shown::Surely => {}
        Shown::Perhaps => return None,
        Shown::Nothing if found.contains(&changed) => {}
        Shown::Nothing => found.push(changed),
    }
    Some(found)
}

/// Returns true if all that a plan changes is one request.
fn is_whole(write: &Write, plan: &WritePlan) -> bool {
    let mut steps = plan.steps.iter().filter(|step| !step.kind.is_read());
    let Some(first) = steps.next() else { return true };
    let rest: Vec<&WriteStep> = steps.collect();
    match first.transaction {
        Some(_) => rest.iter().all(|step| step.transaction == first.transaction),
        None => {
            let alone = rest.is_empty() && first.families.len() == 1;
            alone && write.effects.len() == 1 && first.kind.each().is_none()
        }
    }
}

/// The evidence that rows give of a change whose result is no state.
enum Shown {
    /// A row lies where one is to be put, or none where the plan looks for one.
    Surely,
    /// That is the caller's word.
    Perhaps,
    /// No key has what is wrong.
    Nothing,
}

fn shown(
    model: &Model,
    schema: &Schema,
    (write, plan): (&Write, &WritePlan),
    effects: &[&Effect],
    changed: &State,
) -> Shown {
    let mut perhaps = false;
    let relations: BTreeSet<RelationId> = effects.iter().map(|effect| effect.relation).collect();
    for id in relations {
        let relation = model.relation(id);
        for key in relation.keys.iter().filter(|key| twice(changed.tuples(id), key)) {
            if schema.of_source(id).any(|(_, family)| lies_under(schema, family, key)) {
                return Shown::Surely;
            }
            perhaps = true;
        }
        perhaps |= !relation.dependencies.is_empty() && !changed.is_valid_in(model, id);
    }
    if !refers(model, changed) {
        if effects.iter().any(|effect| looks(model, schema, (write, plan), effect)) {
            return Shown::Surely;
        }
        perhaps = true;
    }
    if perhaps { Shown::Perhaps } else { Shown::Nothing }
}

/// Returns true if two tuples are equal in a key.
fn twice(tuples: &[Tuple], key: &[usize]) -> bool {
    let mut seen = BTreeSet::new();
    tuples.iter().any(|tuple| {
        let values: Vec<Option<&Value>> = key.iter().map(|at| tuple.get(*at)).collect();
        !values.contains(&Some(&Value::Null)) && !seen.insert(values)
    })
}

/// Returns true if every tuple has a row of a family, under nothing but this key, that tells of it.
pub(crate) fn lies_under(schema: &Schema, family: &Family, key: &[usize]) -> bool {
    let mut own = true;
    for part in family.key.iter().flat_map(|column| &column.parts) {
        if let Part::Hole { term, .. } = part {
            term.columns(&mut |path| {
                own &= matches!(path.as_slice(), [only] if key.contains(only))
            });
        }
    }
    let whole = family.base.is_none() && family.when.is_empty() && family.follows.is_none();
    own && whole && !is_counter(schema, family)
}

/// Returns true if all that tuples refer to is there.
fn refers(model: &Model, state: &State) -> bool {
    (0..model.relations.len()).all(|id| {
        let columns = model.relation(id).columns.iter().enumerate();
        let mut references = columns.filter_map(|(at, column)| Some((at, column.refers?)));
        references.all(|(at, target)| {
            let key = model.relation(target).key().first().copied().unwrap_or(0);
            let there: BTreeSet<Option<&Value>> =
                state.tuples(target).iter().map(|tuple| tuple.get(key)).collect();
            let mut own = state.tuples(id).iter().map(|tuple| tuple.get(at));
            own.all(|value| value == Some(&Value::Null) || there.contains(&value))
        })
    })
}

/// Returns true if a plan looks for all that an effect newly refers to, before anything else.
fn looks(
    model: &Model,
    schema: &Schema,
    (write, plan): (&Write, &WritePlan),
    effect: &Effect,
) -> bool {
    let columns = &model.relation(effect.relation).columns;
    let given = match effect.kind {
        EffectKind::Insert => &effect.key,
        EffectKind::Update => &effect.set,
        EffectKind::Delete | EffectKind::Increment => return false,
    };
    let there = given.iter().filter(|(_, term)| *term != Term::Const(Value::Null));
    let references = there.filter_map(|(at, term)| Some((columns.get(*at)?.refers?, term)));
    let references: Vec<(RelationId, &Term)> = references.collect();
    let reads = || plan.steps.iter().take_while(|step| step.kind.is_read());
    let finds = |step: &WriteStep, target: RelationId, term: &Term| {
        let WriteStepKind::Read { bindings, .. } = &step.kind else { return false };
        let key = model.relation(target).key();
        let of =
            |id: &usize| schema.families.get(*id).is_some_and(|family| family.source == target);
        step.families.iter().any(of)
            && matches!(bindings.as_slice(), [(path, by)] if path == key && by == term)
    };
    let looked = |(target, term): &(RelationId, &Term)| {
        *target != effect.relation && reads().any(|step| finds(step, *target, term))
    };
    write.effects.len() == 1 && !references.is_empty() && references.iter().all(looked)
}
