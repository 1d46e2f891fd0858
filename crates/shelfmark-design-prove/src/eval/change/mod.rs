//! Evaluates writes by their definition, and runs plans of writes on rows.

mod known;
mod outside;
mod steps;
mod undo;

pub(crate) use outside::lies_under;
pub use outside::outcomes;
pub use steps::{run, run_on};

use std::collections::BTreeMap;

use super::state::{State, Tuple, compare, meets};
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::{Model, Term, Value, Write};
use shelfmark_design_language::syntax::tree::Existing;

/// Applies a write to a state; `None` where it is not defined.
pub fn apply(model: &Model, write: &Write, state: &State, inputs: &[Value]) -> Option<State> {
    if !write.inputs_differ(inputs) {
        return Some(state.clone());
    }
    if inserts_twice(model, write, state, inputs) {
        return None;
    }
    if !write.effects.iter().all(|effect| holds(effect, state, inputs)) {
        return Some(state.clone());
    }
    let mut new = state.clone();
    for effect in &write.effects {
        // A change of nothing is no change; beside others it makes the whole write none.
        if write.effects.len() > 1 && names_nothing(effect, [state, &new], inputs) {
            return None;
        }
        for tuple in loop_tuples(model, state, effect, inputs) {
            let leaf = told(model, state, effect, tuple, inputs);
            if inserts_what_is_there(model, effect, &new, &leaf) {
                return None;
            }
            apply_one(model, effect, &mut new, &leaf)?;
        }
    }
    new.is_valid(model).then_some(new)
}

/// Applies some effects to a state, whatever comes of it: what is inserted may be there twice. `None`
/// where a put gives another value to what never changes.
fn change_all(
    model: &Model,
    effects: &[&Effect],
    state: &State,
    inputs: &[Value],
) -> Option<State> {
    let mut new = state.clone();
    for effect in effects {
        for tuple in loop_tuples(model, state, effect, inputs) {
            let leaf = told(model, state, effect, tuple, inputs);
            apply_one(model, effect, &mut new, &leaf)?;
        }
    }
    Some(new)
}

/// Returns true if an effect inserts a tuple of a key that there is, and is to insert a new one.
fn inserts_what_is_there(
    model: &Model,
    effect: &Effect,
    state: &State,
    leaf: &impl Fn(&Term) -> Option<Value>,
) -> bool {
    let given = |column: &usize| {
        let term = effect.key.iter().find(|(other, _)| other == column);
        term.and_then(|(_, term)| term.compute(leaf)).unwrap_or(Value::Null)
    };
    let key: Vec<(usize, Value)> =
        model.relation(effect.relation).key().iter().map(|at| (*at, given(at))).collect();
    let same = |other: &Tuple| key.iter().all(|(at, value)| other.get(*at) == Some(value));
    effect.kind == EffectKind::Insert
        && effect.existing == Existing::Fresh
        && state.tuples(effect.relation).iter().any(same)
}

/// Returns what the terms of an effect stand for: inputs, and values of the tuple of its loop.
fn told<'a>(
    model: &'a Model,
    state: &'a State,
    effect: &'a Effect,
    tuple: Option<&'a Tuple>,
    inputs: &'a [Value],
) -> impl Fn(&Term) -> Option<Value> + 'a {
    move |term| match term {
        Term::Param(index) => inputs.get(*index).cloned(),
        Term::Prior(path) => {
            let each = effect.each.as_ref()?;
            Some(state.value(model, each.relation, tuple?, path))
        }
        _ => None,
    }
}

/// Returns true if a write inserts two tuples of one key or one unique value, by two of its parts or in a
/// loop: it is not defined, whatever its conditions say.
fn inserts_twice(model: &Model, write: &Write, state: &State, inputs: &[Value]) -> bool {
    let fresh =
        |effect: &&Effect| effect.kind == EffectKind::Insert && effect.existing == Existing::Fresh;
    let mut made: Vec<(usize, usize, Vec<Value>)> = Vec::new();
    write.effects.iter().filter(fresh).any(|effect| {
        loop_tuples(model, state, effect, inputs).into_iter().any(|tuple| {
            let leaf = told(model, state, effect, tuple, inputs);
            let given = |column: &usize| {
                let term = effect.key.iter().find(|(other, _)| other == column);
                let value = term.and_then(|(_, term)| term.compute(&leaf));
                value.filter(|value| *value != Value::Null)
            };
            let keys = model.relation(effect.relation).keys.iter().enumerate();
            let own = keys.filter_map(|(number, key)| {
                let values: Option<Vec<Value>> = key.iter().map(given).collect();
                Some((effect.relation, number, values?))
            });
            let own: Vec<_> = own.collect();
            let again = own.iter().any(|one| made.contains(one));
            made.extend(own);
            again
        })
    })
}

/// Returns true if an effect has no conditions, or its tuple is there and they hold of it.
fn holds(effect: &Effect, state: &State, inputs: &[Value]) -> bool {
    let leaf = |term: &Term| match term {
        Term::Param(index) => inputs.get(*index).cloned(),
        _ => None,
    };
    let selects = |tuple: &&Tuple| {
        let mut terms = effect.key.iter();
        terms.all(|(column, term)| tuple.get(*column) == term.compute(&leaf).as_ref())
    };
    effect.conditions.is_empty()
        || state.tuples(effect.relation).iter().find(selects).is_some_and(|tuple| {
            effect.conditions.iter().all(|one| {
                let values: Option<Vec<Value>> =
                    one.values.iter().map(|value| value.compute(&leaf)).collect();
                let found = one.path.first().and_then(|column| tuple.get(*column));
                found.zip(values).is_some_and(|(found, values)| compare(one.op, found, &values))
            })
        })
}

/// Returns true if an effect changes or deletes a tuple by its key that neither of two states has.
fn names_nothing(effect: &Effect, states: [&State; 2], inputs: &[Value]) -> bool {
    let leaf = |term: &Term| match term {
        Term::Param(index) => inputs.get(*index).cloned(),
        _ => None,
    };
    let fits = |tuple: &Tuple| {
        let mut terms = effect.key.iter();
        terms.all(|(column, term)| tuple.get(*column) == term.compute(&leaf).as_ref())
    };
    effect.kind != EffectKind::Insert
        && !effect.begins()
        && effect.each.is_none()
        && !states.iter().any(|state| state.tuples(effect.relation).iter().any(fits))
}

/// Returns true if every tuple is there that the write names in order to change or to delete it.
pub fn names_what_is_there(model: &Model, write: &Write, state: &State, inputs: &[Value]) -> bool {
    let changes = |effect: &&Effect| effect.kind != EffectKind::Insert && !effect.begins();
    write.effects.iter().filter(changes).all(|effect| {
        loop_tuples(model, state, effect, inputs).into_iter().all(|tuple| {
            let leaf = told(model, state, effect, tuple, inputs);
            let wanted: Vec<(usize, Value)> = effect
                .key
                .iter()
                .filter_map(|(column, term)| Some((*column, term.compute(&leaf)?)))
                .collect();
            let fits = |other: &Tuple| {
                wanted.iter().all(|(column, value)| other.get(*column) == Some(value))
            };
            state.tuples(effect.relation).iter().any(fits)
        })
    })
}

fn loop_tuples<'a>(
    model: &Model,
    state: &'a State,
    effect: &Effect,
    inputs: &[Value],
) -> Vec<Option<&'a Tuple>> {
    let Some(each) = &effect.each else { return vec![None] };
    let leaf = |term: &Term| match term {
        Term::Param(index) => inputs.get(*index).cloned(),
        _ => None,
    };
    let fits = |tuple: &Tuple| {
        each.predicates.iter().all(|one| meets(state, model, each.relation, tuple, one, &leaf))
    };
    state.tuples(each.relation).iter().filter(|tuple| fits(tuple)).map(Some).collect()
}

fn apply_one(
    model: &Model,
    effect: &Effect,
    state: &mut State,
    leaf: &impl Fn(&Term) -> Option<Value>,
) -> Option<()> {
    let relation = model.relation(effect.relation);
    let mut given = BTreeMap::new();
    for (column, term) in effect.key.iter() {
        given.insert(*column, term.compute(leaf)?);
    }
    let tuples = state.relations.get_mut(effect.relation)?;
    let selects =
        |tuple: &Tuple| given.iter().all(|(column, value)| tuple.get(*column) == Some(value));
    match effect.kind {
        EffectKind::Insert => {
            let tuple: Tuple = (0..relation.columns.len())
                .map(|column| given.get(&column).cloned().unwrap_or(Value::Null))
                .collect();
            let same =
                |other: &Tuple| relation.key().iter().all(|at| other.get(*at) == tuple.get(*at));
            match (tuples.iter().position(same), effect.existing) {
                (None, _) => tuples.push(tuple),
                (Some(_), Existing::Unless) => {}
                (Some(at), Existing::Replace) => {
                    let old = tuples.get_mut(at)?;
                    // What never changes is given as it is, or the call is none.
                    let mut columns = relation.columns.iter().zip(old.iter().zip(&tuple));
                    if columns.any(|(column, (old, new))| column.lasts() && old != new) {
                        return None;
                    }
                    *old = tuple;
                }
                (Some(_), Existing::Fresh | Existing::Insert) => tuples.push(tuple),
            }
        }
        EffectKind::Delete => tuples.retain(|tuple| !selects(tuple)),
        EffectKind::Update | EffectKind::Increment => {
            if effect.begins() && !tuples.iter().any(selects) {
                tuples.push(begun(relation.columns.len(), effect, &given));
            }
            for tuple in tuples.iter_mut().filter(|tuple| selects(tuple)) {
                for (column, term) in &effect.set {
                    let value = term.compute(leaf)?;
                    let Some(old) = tuple.get_mut(*column) else { continue };
                    *old = match (effect.kind, &*old, &value) {
                        (EffectKind::Increment, Value::Int(a), Value::Int(b)) => {
                            Value::Int(a.saturating_add(*b))
                        }
                        _ => value,
                    };
                }
            }
        }
    }
    Some(())
}

/// Returns the tuple that an increment makes where there is none, before it adds: numbers are 0, and what
/// else it may have is absent.
fn begun(columns: usize, effect: &Effect, given: &BTreeMap<usize, Value>) -> Tuple {
    let adds = |column: &usize| effect.set.iter().any(|(at, _)| at == column);
    let value = |column: usize| match given.get(&column) {
        Some(value) => value.clone(),
        None if adds(&column) => Value::Int(0),
        None => Value::Null,
    };
    (0..columns).map(value).collect()
}
