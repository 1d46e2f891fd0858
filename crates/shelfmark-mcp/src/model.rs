//! The tools on models: check, prove, plan, compare, calls, size, explain and confirm.
//!
//! Each takes the text of a model and keeps nothing between calls.

use serde_json::{Value as Json, json};
use shelfmark_confirm::{Options, confirm, confirm_through_dynamodb};
use shelfmark_design::{Certificate, Document, Status};

use crate::arguments::Arguments;

/// The language in one page, with an example that parses.
const GUIDE: &str = include_str!("guide.md");

/// Most calls of a pattern that a confirmation makes on each state.
const CALLS_MAX: u64 = 50;

/// Describes the language of models.
pub(crate) fn language() -> Json {
    json!({ "guide": GUIDE, "example": shelfmark_design::starter() })
}

/// Looks for defects.
pub(crate) fn check(arguments: &Arguments) -> Result<Json, String> {
    let document = document(arguments)?;
    let findings = document.check();
    let list: Vec<Json> = findings
        .iter()
        .map(|finding| json!({ "lint": finding.id, "shown": document.render(finding) }))
        .collect();
    let schemas = document.schemas();
    let next = match (list.is_empty(), schemas.is_empty()) {
        (_, true) => "there is no schema yet: `plan` derives one from the patterns",
        (true, false) => "nothing was found; `prove` each pattern",
        (false, false) => "`explain` a lint by its id, mend the model, check again",
    };
    Ok(json!({ "findings": list, "schemas": schemas, "next": next }))
}

/// Proves each pattern in each schema.
pub(crate) fn prove(arguments: &Arguments) -> Result<Json, String> {
    let document = document(arguments)?;
    let schema = known_schema(&document, arguments)?;
    Ok(proven(&document, schema))
}

fn proven(document: &Document, schema: Option<&str>) -> Json {
    let certificates: Vec<Certificate> = document
        .prove()
        .into_iter()
        .filter(|one| schema.is_none_or(|name| one.schema == name))
        .collect();
    let count = |status| certificates.iter().filter(|one| one.status == status).count();
    json!({
        "certified": count(Status::Certified),
        "multi": count(Status::Multi),
        "refused": count(Status::Refused),
        "unservable": count(Status::Unservable),
        "patterns": certificates.iter().map(shown).collect::<Vec<Json>>(),
    })
}

fn shown(certificate: &Certificate) -> Json {
    json!({
        "schema": certificate.schema,
        "pattern": certificate.pattern,
        "status": certificate.status.word(),
        "obligation": certificate.obligation,
        "reason": certificate.reason,
        "witness": certificate.witness,
        "shown": certificate.text(),
    })
}

/// Derives a schema from the patterns, and proves it.
pub(crate) fn plan(arguments: &Arguments) -> Result<Json, String> {
    let document = document(arguments)?;
    let target = arguments.text("target")?;
    let name = arguments.maybe_text("name")?.unwrap_or("planned");
    let plan = document.plan(target, name)?;
    let whole = document.with_only(&plan.schema);
    let planned = Document::parse("planned", &whole).map_err(|report| report.to_string())?;
    let explained = document.plan_explained(target).ok();
    Ok(json!({
        "schema": plan.schema,
        "explained": explained,
        "proof": proven(&planned, Some(name)),
    }))
}

/// Compares a schema of the model with the one that would be planned.
pub(crate) fn compare(arguments: &Arguments) -> Result<Json, String> {
    let document = document(arguments)?;
    let schema = known_schema(&document, arguments)?.ok_or("schema is missing: a text")?;
    let beside = document.plan_beside(schema, "planned")?;
    Ok(json!({ "shown": beside.to_string() }))
}

/// Returns the requests that a user of the target sends.
pub(crate) fn calls(arguments: &Arguments) -> Result<Json, String> {
    let document = document(arguments)?;
    let schemas = document.schemas();
    let schema = match (known_schema(&document, arguments)?, schemas.as_slice()) {
        (Some(schema), _) => schema,
        (None, [only]) => only,
        (None, _) => return Err(format!("name one of the schemas: {}", schemas.join(", "))),
    };
    let requests = document.calls(schema, arguments.maybe_text("pattern")?)?;
    Ok(requests.json())
}

/// Says how large tables and partitions become.
pub(crate) fn size(arguments: &Arguments) -> Result<Json, String> {
    let document = document(arguments)?;
    let mut report = document.size();
    if let Some(schema) = known_schema(&document, arguments)? {
        report.schemas.retain(|one| one.schema == schema);
    }
    Ok(json!({ "shown": report.to_string() }))
}

/// Explains a lint, or how a pattern of a model is served.
pub(crate) fn explain(arguments: &Arguments) -> Result<Json, String> {
    let what = arguments.text("what")?;
    let of_lint = || shelfmark_design::explain(&what.to_uppercase());
    let text = match arguments.maybe_text("model")? {
        Some(_) => document(arguments)?.explain(what).or_else(of_lint),
        None => of_lint(),
    };
    let known = || shelfmark_design::lints().join(", ");
    let text = text.ok_or_else(|| {
        format!("{what} is no lint (known: {}) and no pattern of the model given", known())
    })?;
    Ok(json!({ "text": text }))
}

/// Runs certified plans on an engine in memory against brute force.
pub(crate) fn run(arguments: &Arguments) -> Result<Json, String> {
    let document = document(arguments)?;
    let usual = Options::default();
    let calls = arguments.number("calls", 4, CALLS_MAX)?;
    let options = Options {
        schema: known_schema(&document, arguments)?.map(str::to_owned),
        seed: arguments.number("seed", usual.seed, u64::MAX)?,
        scales: vec![3, 12],
        calls: usize::try_from(calls).unwrap_or(usual.calls),
    };
    let report = match arguments.maybe_text("through")? {
        None => confirm(&document, &options)?,
        Some("dynamodb") => confirm_through_dynamodb(&document, &options)?,
        Some(other) => return Err(format!("through {other} is not known: dynamodb, or nothing")),
    };
    Ok(json!({ "ok": report.ok(), "report": report.json() }))
}

fn document(arguments: &Arguments) -> Result<Document, String> {
    let text = arguments.text("model")?;
    Document::parse("model.shelf", text).map_err(|report| report.to_string())
}

/// Returns the schema that a call names, if it names one.
fn known_schema<'a>(
    document: &Document,
    arguments: &'a Arguments,
) -> Result<Option<&'a str>, String> {
    let schema = arguments.maybe_text("schema")?;
    let known = document.schemas();
    match schema {
        Some(name) if !known.iter().any(|own| own == name) => {
            Err(format!("there is no schema {name}; the model has: {}", known.join(", ")))
        }
        _ => Ok(schema),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_s_model_parses_and_its_reads_are_certified() {
        let text = GUIDE.split("```shelf\n").nth(1).and_then(|rest| rest.split("```").next());
        let document = Document::parse("guide", text.unwrap()).unwrap();
        let statuses = document.prove().into_iter().map(|one| one.status).collect::<Vec<_>>();
        assert!(statuses.len() >= 4, "{statuses:?}");
        assert!(statuses.iter().all(|status| *status == Status::Certified), "{statuses:?}");
    }
}
