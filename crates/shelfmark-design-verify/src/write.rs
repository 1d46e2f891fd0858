//! Verifies writes by what they must change: on drawn states the rows before and after are compared
//! row family by row family, and the plan must have a step for each change, with keys that it can
//! know, and no step for what the write does not concern.
//!
//! What it is not: it runs no plan of a write. That is done on the engine, by the confirmation.

use serde_json::Value as Json;

use super::meaning::{after, one_by_one};
use super::shelf::{Cell, Rows, rows, rows_after};
use super::world::{Dice, World, draw_inputs, words};
use super::write_claims::claimed_first;
use super::write_concurrency::claimed;
use super::write_conditions::compared;
use super::write_copies::{followed, found_whole, kept_in_place, made_again};
use super::write_defined::checked_first;
use super::write_families::{concerned, kept_somewhere};
use super::write_lasting::kept_as_it_was;
use super::write_loops::gone_through;
use super::write_parts::{
    each_its_own, gone_again, not_revived, once_each, once_replaced, selected_once, unless_deleted,
};
use super::write_reads::{asked, early, found_by_key, looked_up};
use super::write_room::has_room;
use super::write_rows::{Delta, covered, gone_to, in_order, loses, lost, lost_before};
use super::write_steps::{
    computable, concerns, newly_held, old_known, replaced_known, taken_away, told_apart,
};
use super::write_whole::set_together;
use super::{WRITE_RUNS, plan, uses_of};
use shelfmark_design_language::certificate::{Certificate, RowsMax, Status, text};
use shelfmark_design_language::model::schema::{Schema, WritePlan, WriteStep};
use shelfmark_design_language::model::{Model, Type, Write};

pub(super) fn check(
    model: &Model,
    schema: &Schema,
    index: usize,
    write: &Write,
    certificate: &Certificate,
) -> Result<String, String> {
    let named = schema.writes.iter().find(|plan| plan.write == index);
    let named = named.map(|plan| serde_json::to_value(&plan.steps).unwrap_or_default());
    if named.as_ref().is_some_and(|named| *named != certificate.plan) {
        return Err("its plan is not the one that the schema names".to_owned());
    }
    let steps: Vec<WriteStep> = plan(certificate)?;
    let families = || steps.iter().flat_map(|step| &step.families);
    if families().any(|id| *id >= schema.families.len()) {
        return Err("its plan writes no rows of the schema".to_owned());
    }
    let late = |id: &usize| schema.families.get(*id).is_some_and(|one| one.follows.is_some());
    if families().any(late) {
        return Err("O4: its plan has a step on rows that something else keeps".to_owned());
    }
    let whole = WritePlan { write: index, steps, span: write.span, derived: named.is_none() };
    if text::write_steps(schema, &whole) != certificate.steps {
        return Err("its words are not those of its plan".to_owned());
    }
    let tables = certificate.ranges.iter().map(|range| range.table.as_str());
    for table in tables {
        let touched = schema.families.iter().any(|family| {
            let name = schema.tables.get(family.table).map(|table| table.name.text.as_str());
            name == Some(table) && family.base.is_none()
        });
        if !touched {
            return Err(format!("it speaks of keys in {table}, where no rows are"));
        }
    }
    match certificate.status {
        Status::Certified => certified(model, schema, write, &whole.steps, certificate),
        Status::Refused => refused(model, schema, write, certificate),
        _ => Err("a write is certified or refused".to_owned()),
    }
}

fn certified(
    model: &Model,
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
    certificate: &Certificate,
) -> Result<String, String> {
    each_step(model, schema, write, steps)?;
    kept_somewhere(model, schema, write)?;
    once_each(model, schema, write, steps)?;
    not_revived(model, schema, write, steps)?;
    each_its_own(model, schema, write, steps)?;
    once_replaced(model, schema, write, steps)?;
    gone_again(model, schema, write, steps)?;
    super::requests::write(model, schema, write, steps)?;
    super::sizes::written(model, schema, write, steps)?;
    compared(model, schema, write, steps)?;
    checked_first(model, schema, write, steps)?;
    claimed_first(model, schema, write, steps)?;
    kept_as_it_was(model, schema, write, steps)?;
    has_room(model, schema, write, steps)?;
    set_together(model, write)?;
    selected_once(model, schema, write)?;
    unless_deleted(model, schema, write)?;
    followed(model, schema, write)?;
    made_again(model, schema, write)?;
    let mut dice = Dice::new(&certificate.model, &certificate.schema, &certificate.pattern);
    let words = words(model, schema);
    let uses = uses_of(write);
    let uses: Vec<_> = uses.iter().map(|(of, predicates)| (*of, predicates)).collect();
    let mut defined = 0;
    for attempt in 0..WRITE_RUNS {
        let world = World::draw(model, &words, &mut dice, 1 + attempt % 4);
        let inputs = draw_inputs(&world, &write.params, &uses, &[], &words, &mut dice);
        let Some(stages) = one_by_one(&world, write, &inputs) else { continue };
        let Some(changed) = stages.last() else { continue };
        defined += 1;
        in_order(schema, write, steps, &stages)
            .map_err(|why| format!("O4: state {attempt}: {why}"))?;
        gone_to(schema, write, steps, &stages)
            .map_err(|why| format!("O4: state {attempt}: {why}"))?;
        let delta = Delta::of(&rows(&world, schema), &rows_after(&world, changed, schema));
        let loses = lost(changed, schema, &delta);
        let loses = loses.or_else(|| lost_before(&world, schema, write, &delta));
        if let Some(family) = loses {
            let name = schema.families.get(family).map_or("", |one| one.name.text.as_str());
            return Err(format!("O4: state {attempt} has two sources for one row of {name}"));
        }
        covered(model, schema, write, steps, &delta)
            .map_err(|why| format!("O4: state {attempt}: {why}"))?;
        let most = certificate.rows_max.as_number();
        if most.is_some_and(|most| delta.rows(schema) as f64 > most) {
            return Err(format!("O9: state {attempt} changes more rows than stated"));
        }
    }
    if certificate.rows_max != RowsMax::Unbounded && certificate.rows_max.as_number().is_none() {
        return Err("O9: the number of rows is none".to_owned());
    }
    claimed(model, schema, write, steps, certificate)?;
    Ok(format!("steps and {defined} changes of {WRITE_RUNS} states"))
}

/// Checks each step by itself.
fn each_step(
    model: &Model,
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
) -> Result<(), String> {
    for (at, step) in steps.iter().enumerate() {
        early(schema, write, steps, at)?;
        asked(model, schema, write, (steps, at))?;
        concerns(model, schema, write, step)?;
        found_by_key(model, schema, write, (steps, at))?;
        looked_up(model, schema, write, steps, at)?;
        computable(model, schema, write, steps, at)?;
        gone_through(model, schema, write, (steps, at))?;
        taken_away(model, schema, write, (steps, at))?;
        old_known(model, schema, write, (steps, at))?;
        replaced_known(model, schema, write, (steps, at))?;
        newly_held(model, schema, write, (steps, at))?;
        found_whole(model, schema, write, (steps, at))?;
        kept_in_place(model, schema, write, step)?;
        told_apart(model, schema, write, step)?;
    }
    Ok(())
}

/// Checks the witness of a refusal, when it is a state: the rows of the changed state are computed
/// again, and what the plan left must differ.
fn refused(
    model: &Model,
    schema: &Schema,
    write: &Write,
    certificate: &Certificate,
) -> Result<String, String> {
    let witness = certificate.witness.as_ref().ok_or("a refusal without a witness")?;
    let kind = witness.get("kind").and_then(Json::as_str).unwrap_or("");
    let Some(state) = witness.get("state") else {
        if kind == "state" && witness.get("found") == Some(&Json::Bool(false)) {
            return Ok("refused, and no state was found that shows why".to_owned());
        }
        let missing = witness.get("missing").and_then(Json::as_str);
        if kind == "call" && missing == Some(certificate.reason.as_str()) {
            return Ok("its call cannot be formed".to_owned());
        }
        return Err("its witness shows nothing".to_owned());
    };
    let world = World::of_json(model, state)?;
    let call = witness.get("call").unwrap_or(&Json::Null);
    let inputs = super::witness::inputs(&write.params, call)?;
    // Where the call is not defined, and the witness says so, the rows stay as they were.
    let defined = witness.get("defined") != Some(&Json::Bool(false));
    let changed = match after(&world, write, &inputs) {
        Some(_) if !defined => return Err("the witness's call is defined".to_owned()),
        Some(changed) => changed,
        None if !defined && world.tuples.iter().any(|tuples| !tuples.is_empty()) => world.clone(),
        None => return Err("the witness's call is not defined".to_owned()),
    };
    let right = rows_after(&world, &changed, schema);
    let list = json(model, schema, &right);
    if witness.get("right") != Some(&list) {
        return Err("the changed state has other rows than the witness says".to_owned());
    }
    // A row of two sources is lost whether this change made it or an earlier one.
    let families = schema.families.iter().enumerate();
    let entries = |id: usize| schema.families.iter().filter(move |one| one.base == Some(id));
    let mut own = families.filter(|(id, family)| {
        concerned(model, write, family) || entries(*id).any(|one| concerned(model, write, one))
    });
    let collapses = own.any(|(id, _)| loses(&changed, schema, &right, id));
    let fails = witness.get("error").is_some();
    let is_empty = world.tuples.iter().all(|tuples| tuples.is_empty());
    let differs = witness.get("plan").is_some_and(|plan| {
        // Where there is nothing before, what a plan leaves is of the call.
        let known = [call, &list].map(texts_of).concat();
        *plan != list && (!is_empty || texts_of(plan).iter().all(|text| known.contains(text)))
    });
    if kind == "state" && (fails || collapses || differs) {
        return Ok("its witness is a state with a defined change".to_owned());
    }
    Err("its witness shows nothing".to_owned())
}

/// Returns the texts that values are.
fn texts_of(json: &Json) -> Vec<&str> {
    match json {
        Json::String(text) => vec![text],
        Json::Array(list) => list.iter().flat_map(texts_of).collect(),
        // A key may be made of several.
        Json::Object(members) => {
            let values = members.iter().filter(|(name, _)| *name != "key" && *name != "table");
            values.flat_map(|(_, value)| texts_of(value)).collect()
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => Vec::new(),
    }
}

/// Converts rows to the form of witnesses.
fn json(model: &Model, schema: &Schema, rows: &Rows) -> Json {
    let mut list = Vec::new();
    for ((table, key), line) in rows {
        let Some(table) = schema.tables.get(*table).filter(|table| !table.is_index) else {
            continue;
        };
        let key = key.iter().map(|cell| match cell {
            Cell::Text(text) => text.clone(),
            Cell::Typed(value) => value.text(&Type::Int(None)),
        });
        let source = schema.families.get(line.family).map_or(0, |family| family.source);
        let shown = line.shown.iter().map(|(path, value)| (model.path_text(source, path), value));
        let kept = line.kept.iter().map(|(name, value)| (name.clone(), value));
        list.push(text::row(&table.name.text, key, shown.chain(kept)));
    }
    Json::Array(list)
}
