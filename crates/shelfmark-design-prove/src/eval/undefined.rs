//! Draws calls of writes where these are not defined: inserts of what is there, changes of what is not,
//! unique values of others, references to nothing.
//!
//! What it is not: it judges nothing. Some of what it draws is defined after all.

use super::generate::{Pool, write_inputs};
use super::random::Random;
use super::state::State;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::relation::Column;
use shelfmark_design_language::model::{Model, Term, Value, Write};

/// Draws of a value until one is found that no tuple has; ours.
const DRAWS_MAX: usize = 8;

/// Returns inputs of a write that go past the state in one of its effects.
pub fn undefined_inputs(
    model: &Model,
    state: &State,
    write: &Write,
    pool: &Pool,
    random: &mut Random,
) -> Vec<Value> {
    let mut inputs = write_inputs(model, state, write, pool, random);
    let Some(effect) = random.pick(&write.effects) else { return inputs };
    let drawn = match (effect.kind, random.below(3)) {
        (EffectKind::Insert, 0) => {
            missing(model, state, effect, &references(model, effect), pool, random)
        }
        (EffectKind::Insert, _) => taken(model, state, effect, &effect.key, random),
        (EffectKind::Update | EffectKind::Increment, 0) => {
            taken(model, state, effect, &effect.set, random)
        }
        _ => missing(model, state, effect, &effect.key, pool, random),
    };
    for (at, value) in drawn {
        let fits = write.params.get(at).is_some_and(|param| param.ty.holds(&value));
        if let (true, Some(input)) = (fits, inputs.get_mut(at)) {
            *input = value;
        }
    }
    inputs
}

/// Returns the terms by which an effect names what its tuple refers to.
fn references(model: &Model, effect: &Effect) -> Vec<(usize, Term)> {
    let columns = &model.relation(effect.relation).columns;
    let refers = |(at, _): &&(usize, Term)| {
        columns.get(*at).is_some_and(|column: &Column| column.refers.is_some())
    };
    effect.key.iter().filter(refers).cloned().collect()
}

/// Returns inputs that give a tuple the key, or another unique value, of one that is there.
fn taken(
    model: &Model,
    state: &State,
    effect: &Effect,
    terms: &[(usize, Term)],
    random: &mut Random,
) -> Vec<(usize, Value)> {
    let Some(tuple) = random.pick(state.tuples(effect.relation)) else { return Vec::new() };
    let Some(key) = random.pick(&model.relation(effect.relation).keys) else { return Vec::new() };
    let own = terms.iter().filter(|(column, _)| key.contains(column));
    let told = own.filter_map(|(column, term)| match term {
        Term::Param(at) => Some((*at, tuple.get(*column)?.clone())),
        _ => None,
    });
    told.collect()
}

/// Returns one input that no tuple has where it is named.
fn missing(
    model: &Model,
    state: &State,
    effect: &Effect,
    terms: &[(usize, Term)],
    pool: &Pool,
    random: &mut Random,
) -> Vec<(usize, Value)> {
    let Some((column, Term::Param(at))) = random.pick(terms) else { return Vec::new() };
    let relation = model.relation(effect.relation);
    let Some(found) = relation.columns.get(*column) else { return Vec::new() };
    let (of, place) = match found.refers {
        Some(target) => (target, model.relation(target).key().first().copied().unwrap_or(0)),
        None => (effect.relation, *column),
    };
    let there = |value: &Value| state.tuples(of).iter().any(|one| one.get(place) == Some(value));
    for _ in 0..DRAWS_MAX {
        let value = pool.value(&found.ty, random);
        if !there(&value) {
            return vec![(*at, value)];
        }
    }
    Vec::new()
}
