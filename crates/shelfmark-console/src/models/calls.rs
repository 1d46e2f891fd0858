//! The requests of each pattern, filled with values of the sample, ready to run in Ask.

use maud::{Markup, html};
use serde_json::Value as Json;
use shelfmark_design::trial::{Trial, Value};
use shelfmark_design::{Call, Document};
use shelfmark_design_language::model::types::Type;

use super::one_schema;
use crate::fault::{Fault, Result};
use crate::fields::Fields;
use crate::response::Response;

/// The seed of the sample, and of the values that fill requests.
pub(super) const SEED: u64 = 1;
/// About how many entities and links of each kind the sample has unless said otherwise.
pub(super) const SCALE: usize = 12;
/// The keyspace that tables of CQL are created in unless said otherwise.
pub(super) const KEYSPACE: &str = "model";

/// Answers with the requests of a schema.
pub(super) fn shown(document: &Document, schema: Option<&str>) -> Result<Response> {
    let schema = one_schema(document, schema)?;
    let requests = document.calls(&schema, None).map_err(Fault::bad)?;
    let trials = document.trials();
    let trial = trials.iter().find(|own| own.schema() == schema);
    let trial = trial.ok_or_else(|| Fault::bad("the schema cannot be laid out as tables"))?;
    let can_run = matches!(requests.target.as_str(), "dynamodb" | "cql");
    let markup = html! {
        (form(&requests.target, can_run))
        details {
            summary { "What creates the tables" }
            @for one in &requests.create { pre class="code" tabindex="0" { (text_of(one)) } }
        }
        @for call in &requests.calls {
            article class="finding" {
                h3 { (call.pattern) " " span class="soft" { "step " (call.step) ", " (call.operation) } }
                (request(trial, &requests.target, call))
                @for (name, value) in &call.beside {
                    p class="soft" { (name) ": " code { (value.to_string()) } }
                }
            }
        }
        @if !requests.left_out.is_empty() {
            h3 { "Not asked" }
            ul { @for (pattern, why) in &requests.left_out { li { strong { (pattern) } ": " (why) } } }
        }
    };
    Ok(super::shown(&markup))
}

fn form(target: &str, can_run: bool) -> Markup {
    html! {
        @if can_run {
            div class="bar" {
                @if target == "cql" {
                    label { "Keyspace " input data-field="keyspace" value=(KEYSPACE) maxlength="48"; }
                }
                label { "Entities of each kind " input data-field="scale" type="number" min="0" max="200" value=(SCALE); }
                button type="button" class="primary" data-do="apply" { "Apply: create the tables, load a sample" }
            }
            div id="applied" role="status" aria-live="polite" {}
        } @else {
            p class="note" { "Target " (target) " has no requests to run here: derive a schema for dynamodb or cql under Plan." }
        }
    }
}

fn request(trial: &Trial<'_>, target: &str, call: &Call) -> Markup {
    let filled = filled(trial, target, call);
    let text = filled.clone().unwrap_or_else(|| text_of(&call.request));
    let fields = Fields::default().with("text", &text);
    let fields = match target {
        "cql" => fields.with("language", "cql").with("keyspace", KEYSPACE),
        _ => fields.with("language", "dynamodb").with("operation", &call.operation),
    };
    html! {
        pre class="code" tabindex="0" { (text) }
        @if filled.is_some() {
            p { a data-ask="" href=(format!("/ask?{}", fields.query())) { "Run it in Ask" } }
        } @else {
            p class="soft" { "It takes what an earlier step returned." }
        }
    }
}

fn text_of(request: &Json) -> String {
    match request.get("statement").unwrap_or(request) {
        Json::String(statement) => statement.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

/// Returns a request with its inputs filled in; `None` if it takes more than inputs.
fn filled(trial: &Trial<'_>, target: &str, call: &Call) -> Option<String> {
    let pattern = trial.certificates().position(|own| own.pattern == call.pattern)?;
    let scene = trial.scene(SEED, SCALE);
    let inputs = trial.call(pattern, &scene, SEED);
    match target {
        "cql" => {
            if call.request.get("values").is_some() {
                return None;
            }
            let inputs = trial.inputs(pattern, &inputs);
            let literals: Vec<(String, String)> =
                inputs.iter().map(|(name, value, ty)| (name.clone(), literal(value, ty))).collect();
            statement(call.request.get("statement")?.as_str()?, &literals)
        }
        _ => {
            let body = shelfmark_confirm::filled(trial, pattern, &inputs, &call.request).ok()?;
            serde_json::to_string_pretty(&body).ok()
        }
    }
}

/// Writes an input as a constant of CQL.
fn literal(value: &Value, ty: &Type) -> String {
    let text = value.text(ty);
    match (value, ty) {
        (Value::Null, _) => "null".to_owned(),
        (Value::List(values), Type::List(element, _)) => {
            let members: Vec<String> = values.iter().map(|own| literal(own, element)).collect();
            format!("[{}]", members.join(", "))
        }
        (_, Type::Uuid | Type::Bool | Type::Int(_) | Type::Decimal(_)) => text,
        (_, Type::Timestamp) if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') => {
            text
        }
        (_, Type::Bytes(_)) => format!("0x{text}"),
        _ => format!("'{}'", text.replace('\'', "''")),
    }
}

/// Puts literals in the place of a statement's markers; `None` if one is of something else.
fn statement(text: &str, literals: &[(String, String)]) -> Option<String> {
    let (mut out, mut rest) = (String::new(), text);
    loop {
        let at = rest.find([':', '\'']);
        let Some((head, tail)) = at.and_then(|at| rest.split_at_checked(at)) else {
            out.push_str(rest);
            return Some(out);
        };
        out.push_str(head);
        if let Some(inner) = tail.strip_prefix('\'') {
            // A constant is no marker, whatever stands in it.
            let end = inner.find('\'')? + 2;
            let (constant, behind) = tail.split_at_checked(end)?;
            out.push_str(constant);
            rest = behind;
            continue;
        }
        let name = tail.get(1..)?;
        let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
        let (name, behind) = name.split_at_checked(end)?;
        let (_, literal) = literals.iter().find(|(own, _)| own == name)?;
        out.push_str(literal);
        rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::statement;

    #[test]
    fn markers_become_literals_and_constants_stay() {
        let literals = [("u".to_owned(), "'a:b'".to_owned()), ("n".to_owned(), "3".to_owned())];
        let text = "SELECT * FROM t WHERE u = :u AND k = 'x:u' LIMIT :n";
        let filled = "SELECT * FROM t WHERE u = 'a:b' AND k = 'x:u' LIMIT 3";
        assert_eq!(statement(text, &literals).as_deref(), Some(filled));
        assert_eq!(statement("SELECT :row1_id", &literals), None);
    }
}
