//! Models: a `.shelf` text is checked while it is typed, proven, drawn, planned, asked and applied.
//!
//! What it is not: a judge. `shelfmark-design` says everything; these pages show it. Nothing of a model
//! is kept here: the text is the browser's, and comes with each request.
//!
//! Invariant: one model is worked on at a time, so that however many browsers type, clients keep their
//! processors.

mod apply;
mod calls;
mod check;
mod plan;

use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

use maud::{Markup, html};
use serde_json::{Map, Value as Json, json};
use shelfmark_admin::http::Request;
use shelfmark_design::{Document, View, limits};

use crate::Console;
use crate::fault::{Fault, Result};
use crate::layout::Page;
use crate::request::{object_of, text_of};
use crate::response::Response;

/// The name of the text in messages.
const NAME: &str = "model";

/// The place where one model is worked on at a time.
#[derive(Debug, Default)]
pub(crate) struct Workbench(Mutex<()>);

impl Workbench {
    /// Waits for the place.
    pub(crate) fn take(&self) -> MutexGuard<'_, ()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The parts of the page, each filled by a request of its own.
const PARTS: [(&str, &str); 5] = [
    ("findings", "Findings"),
    ("proofs", "Proofs"),
    ("pictures", "Pictures"),
    ("plan", "Plan"),
    ("calls", "Calls and apply"),
];

/// Answers `/models`.
pub(crate) fn page() -> Response {
    let content = html! {
        h1 { "Models" }
        form id="models" class="bar" {
            label { "Open a file " input type="file" name="file" accept=".shelf,.json,text/plain"; }
            label { "Schema " select name="schema" { option value="" { "all" } } }
            button type="button" data-do="starter" { "New from the example" }
            button type="button" data-do="save" { "Save as a file" }
            button type="button" data-do="format" { "Format" }
        }
        label for="model-text" { "The model" }
        textarea id="model-text" rows="16" spellcheck="false" autocomplete="off" wrap="off"
            data-focus="filter" aria-describedby="model-state" {}
        p id="model-state" class="figures" role="status" aria-live="polite" { "" }
        h2 class="hidden" { "What it says" }
        div class="tabs" role="tablist" aria-label="What the model says" {
            @for (word, text) in PARTS {
                button type="button" role="tab" id=(format!("tab-{word}")) data-part=(word)
                    aria-controls="model-part" aria-selected=(if word == "findings" { "true" } else { "false" }) { (text) }
            }
        }
        div id="model-part" role="tabpanel" aria-labelledby="tab-findings" tabindex="0" {}
    };
    Page { title: "Models", part: "/models", script: Some("models.js") }.around(content)
}

/// Answers a POST to `/models/WHAT`.
pub(crate) fn act(console: &Console, what: &str, request: &Request) -> Result<Response> {
    let body = object_of(request)?;
    let text = text_of(&body, "text");
    if what == "starter" {
        return Ok(Response::json(200, &json!({ "text": shelfmark_design::starter() })));
    }
    if text.len() > limits::SOURCE_BYTES_MAX {
        return Err(Fault::too_large(format!(
            "a model has at most {} bytes",
            limits::SOURCE_BYTES_MAX
        )));
    }
    let _one = console.workbench.take();
    // Somebody typed on while this waited for its turn.
    if request.has_gone.load(Ordering::Relaxed) {
        return Err(Fault::failed("nobody waits for this any more"));
    }
    if what == "format" {
        let formatted = Document::format(NAME, text).map_err(|report| Fault::bad(report.text))?;
        return Ok(Response::json(200, &json!({ "text": formatted })));
    }
    let document = match Document::parse(NAME, text) {
        Ok(document) => document,
        Err(report) if what == "check" => return Ok(check::unreadable(&report)),
        Err(_) => return Err(Fault::bad("the model has errors; see the findings")),
    };
    let schema = Some(text_of(&body, "schema")).filter(|name| !name.is_empty());
    match what {
        "check" => Ok(check::findings(&document, schema)),
        "proofs" => Ok(shown(&check::proofs(&document, schema))),
        "pictures" => pictures(&document, schema),
        "plan" => plan::planned(&document, &body),
        "calls" => calls::shown(&document, schema),
        "apply" => apply::apply(console, &document, schema, &body, request),
        _ => Err(Fault::absent(format!("a model is not {what:?}"))),
    }
}

fn shown(markup: &Markup) -> Response {
    Response::json(200, &json!({ "html": markup.0 }))
}

/// Draws every view; the browser shows each as a picture of its own.
fn pictures(document: &Document, schema: Option<&str>) -> Result<Response> {
    let mut drawn = Vec::new();
    for view in View::ALL {
        let svg = document.draw(view, schema).map_err(Fault::bad)?;
        let title = match view {
            View::Ranges => "Ranges on the key line",
            View::Aggregate => "Partitions and rows",
            View::Chebotko => "Tables and queries",
            View::Entities => "Entities and links",
        };
        drawn.push(json!({ "title": title, "svg": svg }));
    }
    Ok(Response::json(200, &json!({ "pictures": drawn })))
}

/// Returns the schema that is named, or the only one.
fn one_schema(document: &Document, schema: Option<&str>) -> Result<String> {
    let schemas = document.schemas();
    match (schema, schemas.as_slice()) {
        (Some(name), all) if all.iter().any(|own| own == name) => Ok(name.to_owned()),
        (Some(name), _) => Err(Fault::bad(format!("there is no schema {name}"))),
        (None, [only]) => Ok(only.clone()),
        (None, []) => Err(Fault::bad("the model has no schema; derive one under Plan")),
        (None, _) => Err(Fault::bad("choose one of the schemas above")),
    }
}

/// Returns a number of the body, within limits.
fn number(body: &Map<String, Json>, name: &str, usual: u64, most: u64) -> u64 {
    body.get(name).and_then(Json::as_u64).unwrap_or(usual).min(most)
}
