//! Finds witnesses of refused reads: the smallest state found on which the plan is wrong or
//! wasteful.

use serde_json::{Map, Value as Json, json};

use super::answer::{Record, answer};
use super::directed;
use super::focus::Focus;
use super::generate::{Pools, inputs, state};
use super::random::Random;
use super::rows::rows;
use super::run::run;
use super::state::State;
use shelfmark_design_language::model::pattern::Param;
use shelfmark_design_language::model::schema::{Schema, Serve};
use shelfmark_design_language::model::{Model, Read, Value};

/// The harm that a witness must show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Another answer than the right one.
    Wrong,
    /// More rows read than returned.
    Excess,
}

/// Searches states from one seed; cost: at most [`Model::witness_tries`] small runs.
pub fn find(
    model: &Model,
    schema: &Schema,
    read: &Read,
    serve: &Serve,
    wanted: Wanted,
    seed: u64,
) -> Option<Json> {
    let focus = Focus::of_read(model, schema, read, serve);
    let pools = Pools::of(schema, &focus);
    let mut random = Random::new(seed);
    for attempt in 0..model.witness_tries() {
        let pool = pools.at(attempt, model.witness_tries());
        let size = 2 + attempt % 4;
        let found = state(model, pool, &mut random, size);
        let inputs = inputs(model, &found, read, pool, &mut random);
        if shows(model, schema, read, serve, &found, &inputs, wanted) {
            return Some(smallest(model, schema, (read, serve), (found, &inputs), wanted));
        }
    }
    let built = if model.is_large() { 0 } else { directed::BUILT_MAX };
    (0..built).find_map(|number| {
        let of = (number, &mut random);
        let (found, inputs) = directed::of_read(model, schema, (read, serve), &focus, of)?;
        let shows = shows(model, schema, read, serve, &found, &inputs, wanted);
        shows.then(|| smallest(model, schema, (read, serve), (found, &inputs), wanted))
    })
}

/// Returns a witness without the tuples that it can do without.
fn smallest(
    model: &Model,
    schema: &Schema,
    (read, serve): (&Read, &Serve),
    (mut state, inputs): (State, &[Value]),
    wanted: Wanted,
) -> Json {
    shrink(model, &mut state, |smaller| shows(model, schema, read, serve, smaller, inputs, wanted));
    describe(model, schema, read, serve, &state, inputs, wanted)
}

/// Returns true if plan and definition differ here, as wanted.
pub fn shows(
    model: &Model,
    schema: &Schema,
    read: &Read,
    serve: &Serve,
    state: &State,
    inputs: &[Value],
    wanted: Wanted,
) -> bool {
    let Ok(outcome) = run(model, schema, &rows(model, schema, state), read, serve, inputs) else {
        return false;
    };
    let answer = answer(model, state, read, inputs);
    match wanted {
        Wanted::Wrong => !answer.accepts(&outcome.records),
        // A follow-up read is no row too many.
        Wanted::Excess => outcome.rows_first > answer.length(),
    }
}

/// Removes tuples one by one while the harm still shows.
pub fn shrink(model: &Model, state: &mut State, shows: impl Fn(&State) -> bool) {
    let mut relation = 0;
    while relation < state.relations.len() {
        let mut at = 0;
        while at < state.tuples(relation).len() {
            let mut smaller = state.clone();
            if let Some(tuples) = smaller.relations.get_mut(relation) {
                tuples.remove(at);
            }
            if smaller.is_valid(model) && shows(&smaller) {
                *state = smaller;
            } else {
                at += 1;
            }
        }
        relation += 1;
    }
}

/// Writes a state as JSON.
pub fn state_json(model: &Model, state: &State) -> Json {
    let mut out = Map::new();
    for (id, relation) in model.relations.iter().enumerate() {
        let tuples: Vec<Json> = state
            .tuples(id)
            .iter()
            .map(|tuple| {
                let fields = relation.columns.iter().zip(tuple);
                fields
                    .map(|(column, value)| (column.name.clone(), value.json(&column.ty)))
                    .collect::<Map<_, _>>()
            })
            .map(Json::Object)
            .collect();
        if !tuples.is_empty() {
            out.insert(relation.name.text.clone(), Json::Array(tuples));
        }
    }
    Json::Object(out)
}

/// Writes inputs as JSON.
pub fn inputs_json(params: &[Param], inputs: &[Value]) -> Json {
    let named = params.iter().zip(inputs);
    Json::Object(named.map(|(param, value)| (param.name.clone(), value.json(&param.ty))).collect())
}

/// Writes records as JSON.
pub fn records_json(model: &Model, read: &Read, records: &[Record]) -> Json {
    let rows = records.iter().map(|record| {
        let relation = model.relation(record.relation);
        let source = read.sources.iter().find(|source| source.relation == record.relation);
        let mut fields = Map::new();
        if read.sources.len() > 1 || source.is_none() {
            fields.insert("kind".to_owned(), Json::from(relation.name.text.clone()));
        }
        for (index, (name, value)) in read.outputs.iter().zip(&record.values).enumerate() {
            if read.aggregate.is_some() {
                break;
            }
            let path = source.and_then(|source| source.outputs.get(index)).and_then(Option::as_ref);
            let ty = path.map_or(shelfmark_design_language::model::Type::Uuid, |path| {
                model.path_type(record.relation, path)
            });
            if *value != Value::Null {
                fields.insert(name.clone(), value.json(&ty));
            }
        }
        if let (true, Some(value)) = (read.aggregate.is_some(), record.values.first()) {
            fields.insert(
                "value".to_owned(),
                value.json(&shelfmark_design_language::model::Type::Int(None)),
            );
        }
        Json::Object(fields)
    });
    Json::Array(rows.collect())
}

fn describe(
    model: &Model,
    schema: &Schema,
    read: &Read,
    serve: &Serve,
    state: &State,
    inputs: &[Value],
    wanted: Wanted,
) -> Json {
    let answer = answer(model, state, read, inputs);
    let outcome =
        run(model, schema, &rows(model, schema, state), read, serve, inputs).unwrap_or_default();
    let kind = if wanted == Wanted::Wrong { "state" } else { "excess" };
    let mut out = json!({
        "kind": kind,
        "state": state_json(model, state),
        "call": inputs_json(&read.params, inputs),
        "right": records_json(model, read, &answer.records()),
        "plan": records_json(model, read, &outcome.records),
    });
    if wanted == Wanted::Excess
        && let Some(fields) = out.as_object_mut()
    {
        fields.insert("rows_read".to_owned(), Json::from(outcome.rows_read));
        fields.insert("rows_returned".to_owned(), Json::from(outcome.records.len()));
    }
    out
}
