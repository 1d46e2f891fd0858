//! Finds witnesses of refused writes: a small state and a call after which the plan leaves other
//! rows than the changed state has.
//!
//! Invariant: what is returned was run, and differed.

use serde_json::{Value as Json, json};

use super::SEED;
use super::needs::needs;
use super::write_case::WriteCase;
use crate::eval::change::{apply, outcomes, run};
use crate::eval::directed;
use crate::eval::focus::Focus;
use crate::eval::generate::{Pools, state, write_inputs};
use crate::eval::random::Random;
use crate::eval::rows::{Rows, present, rows, rows_after};
use crate::eval::state::State;
use crate::eval::undefined::undefined_inputs;
use crate::eval::witness::{inputs_json, shrink, state_json};
use shelfmark_design_language::certificate::text;
use shelfmark_design_language::model::schema::{Schema, WritePlan};
use shelfmark_design_language::model::{Model, Value};

/// Searches a state and inputs where the plan leaves other rows than the changed state has.
pub(crate) fn find(case: WriteCase<'_>, plan: &WritePlan) -> Option<Json> {
    let WriteCase { model, schema, write, .. } = case;
    let focus = Focus::of_write(model, schema, write, plan);
    let pools = Pools::of(schema, &focus);
    let mut random = Random::new(SEED);
    for attempt in 0..model.witness_tries() {
        let pool = pools.at(attempt, model.witness_tries());
        let mut found = state(model, pool, &mut random, 2 + attempt % 4);
        let inputs = write_inputs(model, &found, write, pool, &mut random);
        if differs(case, plan, &found, &inputs) {
            shrink(model, &mut found, |smaller| differs(case, plan, smaller, &inputs));
            return Some(describe(case, plan, &found, &inputs));
        }
    }
    if model.is_large() {
        return None;
    }
    let mut built = (0..directed::BUILT_MAX).filter_map(|_| {
        let (mut found, inputs) = directed::of_write(model, schema, write, &focus, &mut random)?;
        differs(case, plan, &found, &inputs).then(|| {
            shrink(model, &mut found, |smaller| differs(case, plan, smaller, &inputs));
            describe(case, plan, &found, &inputs)
        })
    });
    built.next().or_else(|| undefined(case, plan, &pools))
}

/// Searches a state and inputs where the write is not defined, and its plan changes rows.
fn undefined(case: WriteCase<'_>, plan: &WritePlan, pools: &Pools) -> Option<Json> {
    let WriteCase { model, write, .. } = case;
    let mut random = Random::new(SEED);
    (0..model.witness_tries()).find_map(|attempt| {
        let pool = pools.at(attempt, model.witness_tries());
        let mut found = state(model, pool, &mut random, 2 + attempt % 4);
        let inputs = undefined_inputs(model, &found, write, pool, &mut random);
        changes_undefined(case, plan, &found, &inputs).then(|| {
            shrink(model, &mut found, |smaller| changes_undefined(case, plan, smaller, &inputs));
            describe(case, plan, &found, &inputs)
        })
    })
}

/// Returns true if plan and definition leave different rows.
pub(crate) fn differs(
    case: WriteCase<'_>,
    plan: &WritePlan,
    state: &State,
    inputs: &[Value],
) -> bool {
    let WriteCase { model, schema, write, .. } = case;
    let Some(changed) = apply(model, write, state, inputs) else { return false };
    let right = rows_after(model, schema, state, &changed);
    if loses(case, &changed, &right) {
        return true;
    }
    match run(model, schema, write, plan, &rows(model, schema, state), inputs) {
        Err(_) => true,
        Ok(found) => keyed(schema, &found) != keyed(schema, &right),
    }
}

/// Returns true if a plan changes rows where its write is not defined, otherwise than it may.
pub(crate) fn changes_undefined(
    case: WriteCase<'_>,
    plan: &WritePlan,
    state: &State,
    inputs: &[Value],
) -> bool {
    let WriteCase { model, schema, write, .. } = case;
    let Some(states) = outcomes(model, schema, write, plan, state, inputs) else { return false };
    let found = run(model, schema, write, plan, &rows(model, schema, state), inputs);
    let found = found.map(|rows| keyed(schema, &rows));
    !states
        .iter()
        .any(|one| found.as_ref() == Ok(&keyed(schema, &rows_after(model, schema, state, one))))
}

/// Returns true if two sources of a family that the write concerns share one row: one of them is
/// lost.
fn loses(case: WriteCase<'_>, state: &State, rows: &Rows) -> bool {
    let WriteCase { model, schema, write, .. } = case;
    present(schema, state).into_iter().any(|(id, family)| {
        let concerned = family.base.is_none()
            && write.effects.iter().any(|effect| !needs(model, schema, id, effect).is_empty());
        if !concerned {
            return false;
        }
        let tuples = state.tuples(family.source).iter();
        let made = tuples
            .filter(|tuple| crate::eval::rows::row_of(model, state, id, family, tuple).is_some())
            .count();
        let there = rows.tables.get(&family.table);
        let kept = there.map_or(0, |rows| rows.values().filter(|row| row.family == id).count());
        kept < made
    })
}

/// Returns base rows in a comparable form: table, key, values.
fn keyed(schema: &Schema, rows: &Rows) -> Vec<String> {
    let mut out = Vec::new();
    for (table, rows) in &rows.tables {
        if schema.tables.get(*table).is_some_and(|table| table.is_index) {
            continue;
        }
        for (key, row) in rows {
            out.push(format!("{table} {key:?} {} {:?} {:?}", row.family, row.values, row.kept));
        }
    }
    out
}

fn describe(case: WriteCase<'_>, plan: &WritePlan, state: &State, inputs: &[Value]) -> Json {
    let WriteCase { model, schema, write, .. } = case;
    let before = rows(model, schema, state);
    // Where it is not defined the rows stay as they were.
    let changed = apply(model, write, state, inputs);
    let right = rows_after(model, schema, state, changed.as_ref().unwrap_or(state));
    let (found, error) = match run(model, schema, write, plan, &before, inputs) {
        Ok(found) => (found, None),
        Err(error) => (before.clone(), Some(error)),
    };
    let mut out = json!({
        "kind": "state",
        "state": state_json(model, state),
        "call": inputs_json(&write.params, inputs),
        "right": rows_json(model, schema, &right),
        "plan": rows_json(model, schema, &found),
    });
    if let (None, Some(fields)) = (&changed, out.as_object_mut()) {
        fields.insert("defined".to_owned(), Json::from(false));
    }
    if let (Some(error), Some(fields)) = (error, out.as_object_mut()) {
        fields.insert("error".to_owned(), Json::from(error));
    }
    out
}

fn rows_json(model: &Model, schema: &Schema, rows: &Rows) -> Json {
    let mut out = Vec::new();
    for (table, rows) in &rows.tables {
        let Some(table) = schema.tables.get(*table).filter(|table| !table.is_index) else {
            continue;
        };
        for (key, row) in rows {
            let key = key
                .iter()
                .map(|value| value.text(&shelfmark_design_language::model::Type::Int(None)));
            let source = schema.families.get(row.family).map_or(0, |family| family.source);
            let values =
                row.values.iter().map(|(path, value)| (model.path_text(source, path), value));
            let kept = row.kept.iter().map(|(name, value)| (name.clone(), value));
            out.push(text::row(&table.name.text, key, values.chain(kept)));
        }
    }
    Json::Array(out)
}
