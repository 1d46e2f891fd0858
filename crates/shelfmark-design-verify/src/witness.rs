//! Verifies witnesses: the harm that a refusal shows must be real.

use serde_json::{Map, Value as Json};

use super::meaning::{self, Item};
use super::rules;
use super::shelf;
use super::world::World;
use shelfmark_design_language::certificate::{Certificate, RowsMax};
use shelfmark_design_language::model::pattern::Param;
use shelfmark_design_language::model::schema::{EachOf, Schema, Step};
use shelfmark_design_language::model::{Consistency, Model, Read, Type, Value};
use shelfmark_design_language::target::profile;

/// Returns the inputs of a witness's call.
pub(super) fn inputs(params: &[Param], call: &Json) -> Result<Vec<Value>, String> {
    let value = |param: &Param| {
        let json = call.get(&param.name).unwrap_or(&Json::Null);
        let value = Value::of_json(json, &param.ty)?;
        (value == Value::Null || param.ty.holds(&value)).then_some(value)
    };
    let found: Option<Vec<Value>> = params.iter().map(value).collect();
    found.ok_or_else(|| "the witness's call has damaged inputs".to_owned())
}

pub(super) fn read(
    model: &Model,
    schema: &Schema,
    read: &Read,
    steps: &[Step],
    certificate: &Certificate,
) -> Result<String, String> {
    let witness = certificate.witness.as_ref().ok_or("a refusal without a witness")?;
    let kind = witness.get("kind").and_then(Json::as_str).unwrap_or("");
    let Some(state) = witness.get("state") else {
        return stated(schema, read, steps, certificate, kind);
    };
    let world = World::of_json(model, state)?;
    let inputs = inputs(&read.params, witness.get("call").unwrap_or(&Json::Null))?;
    let answer = meaning::answer(&world, read, &inputs);
    let rows = shelf::rows(&world, schema);
    let found = shelf::run(model, schema, &rows, read, steps, &inputs)?;
    let right: Vec<&Item> = answer.items().collect();
    if witness.get("right") != Some(&json(model, read, right.into_iter())) {
        return Err("the right answer is another than the witness says".to_owned());
    }
    if witness.get("plan") != Some(&json(model, read, found.items.iter())) {
        return Err("the plan's answer is another than the witness says".to_owned());
    }
    match kind {
        "state" if !answer.accepts(&found.items) => {
            Ok("its witness shows a wrong answer".to_owned())
        }
        "excess" => {
            let number = |name| witness.get(name).and_then(Json::as_u64);
            let same = number("rows_read") == u64::try_from(found.rows_read).ok()
                && number("rows_returned") == u64::try_from(found.items.len()).ok();
            if same && found.rows_read > answer.length() {
                Ok("its witness shows rows read and not returned".to_owned())
            } else {
                Err("the witness's numbers are not those of its state".to_owned())
            }
        }
        _ => Err("the witness's state shows nothing wrong".to_owned()),
    }
}

/// Checks a refusal that is shown without a state.
fn stated(
    schema: &Schema,
    read: &Read,
    steps: &[Step],
    certificate: &Certificate,
    kind: &str,
) -> Result<String, String> {
    let Some(Step::Read(step)) = steps.first() else { return Err("no plan".to_owned()) };
    match (kind, certificate.obligation.as_deref()) {
        ("call", Some("O1"))
            if rules::requests(steps).iter().any(|step| rules::bound(schema, step).is_err()) =>
        {
            Ok("its call cannot be formed".to_owned())
        }
        ("call", Some("O10")) if witness_says(certificate) == Some(certificate.reason.as_str()) => {
            Ok("the target is not asked so".to_owned())
        }
        ("excess", Some("O8")) => {
            let target = profile(&schema.target).ok_or("no such target")?;
            let requests = rules::requests(steps);
            let mut tables = requests.iter().filter_map(|step| schema.tables.get(step.table));
            let weak =
                tables.any(|table| table.is_index && !table.is_local && !target.strong_indexes);
            let now = matches!(read.consistency, Consistency::Strong | Consistency::Session);
            let said = weak && now || rules::follows_too_late(schema, read, steps);
            let no = || "the index does not lag behind, or need not".to_owned();
            said.then(|| "a read that asks for more than what lags behind".to_owned())
                .ok_or_else(no)
        }
        ("excess", Some("O9")) => {
            let open = match &step.each {
                Some(EachOf::Param(index)) => {
                    let ty = read.params.get(*index).map(|param| &param.ty);
                    !matches!(ty, Some(Type::List(_, Some(_))))
                }
                _ => false,
            };
            let follows = steps.iter().skip(1).any(|step| matches!(step, Step::Read(_)));
            if open || (follows && certificate.rows_max == RowsMax::Unbounded) {
                Ok("its cost has no bound".to_owned())
            } else {
                Err("its cost has a bound".to_owned())
            }
        }
        // Who refuses claims nothing but that he could not prove it.
        ("state", _) if witness_is_missing(certificate) => {
            Ok("refused, and no state was found that shows why".to_owned())
        }
        _ => Err("its witness shows nothing".to_owned()),
    }
}

/// Converts items to the form of witnesses.
fn json<'a>(model: &Model, read: &Read, items: impl Iterator<Item = &'a Item>) -> Json {
    let mut list = Vec::new();
    for (of, values) in items {
        let mut fields = Map::new();
        let source = read.sources.iter().find(|source| source.relation == *of);
        if read.sources.len() > 1 || source.is_none() {
            fields.insert("kind".to_owned(), Json::from(model.relation(*of).name.text.clone()));
        }
        if read.aggregate.is_some() {
            let value = values.first().unwrap_or(&Value::Null);
            fields.insert("value".to_owned(), value.json(&Type::Int(None)));
        } else {
            for (at, (name, value)) in read.outputs.iter().zip(values).enumerate() {
                let path = source.and_then(|source| source.outputs.get(at)?.as_ref());
                let ty = path.map_or(Type::Uuid, |path| model.path_type(*of, path));
                if *value != Value::Null {
                    fields.insert(name.clone(), value.json(&ty));
                }
            }
        }
        list.push(Json::Object(fields));
    }
    Json::Array(list)
}

/// Returns true if the certificate says that it searched for a state and found none.
fn witness_is_missing(certificate: &Certificate) -> bool {
    let found = certificate.witness.as_ref().and_then(|witness| witness.get("found"));
    found == Some(&Json::Bool(false))
}

/// Returns the missing part that a witness names, if it is a call.
fn witness_says(certificate: &Certificate) -> Option<&str> {
    certificate.witness.as_ref()?.get("missing")?.as_str()
}
