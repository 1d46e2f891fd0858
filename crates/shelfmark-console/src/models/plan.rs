//! A schema derived from the model's patterns, with what each choice costs.

use maud::html;
use serde_json::{Map, Value as Json, json};
use shelfmark_design::Document;

use crate::fault::{Fault, Result};
use crate::request::text_of;
use crate::response::Response;

/// The stores that a schema is derived for.
const TARGETS: [&str; 5] = ["shelfmark", "dynamodb", "cql", "candb", "ordered"];
/// The name of the derived schema.
const PLANNED: &str = "planned";

/// Answers with a derived schema for the target that the body names.
pub(super) fn planned(document: &Document, body: &Map<String, Json>) -> Result<Response> {
    let target = match text_of(body, "target") {
        "" => "dynamodb",
        named => named,
    };
    if document.patterns().next().is_none() {
        return Err(Fault::bad("the model has no read and no write to plan for"));
    }
    let plan = document.plan(target, PLANNED).map_err(Fault::bad)?;
    let cost = document.plan_explained(target);
    let front = document.plan_front(target);
    let beside: Vec<(String, String)> = document
        .schemas()
        .into_iter()
        .filter_map(|name| Some((document.plan_beside(&name, PLANNED).ok()?.to_string(), name)))
        .map(|(text, name)| (name, text))
        .collect();
    let markup = html! {
        div class="bar" {
            label { "Target "
                select data-target="" {
                    @for own in TARGETS { option value=(own) selected[own == target] { (own) } }
                }
            }
            button type="button" data-do="append" { "Append to the model" }
            button type="button" data-do="replace" { "Put in place of its schemas" }
        }
        @for note in &plan.notes { p class="note" { (note) } }
        pre class="code" tabindex="0" aria-label="The derived schema" { (plan.schema) }
        @if let Ok(cost) = &cost {
            h3 { "What each choice costs" }
            pre class="code" tabindex="0" { (cost) }
        }
        @if let Ok(front) = &front {
            h3 { "What is given up for what" }
            pre class="code" tabindex="0" { (front) }
        }
        @for (name, text) in &beside {
            h3 { "Beside schema " (name) }
            pre class="code" tabindex="0" { (text) }
        }
    };
    Ok(Response::json(
        200,
        &json!({
            "html": markup.0,
            "schema": plan.schema,
            "whole": document.with_only(&plan.schema),
        }),
    ))
}
