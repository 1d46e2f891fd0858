//! Watch: requests as they come beside the model that is open: patterns, what none covers, findings.
//!
//! What it is not: the comparison, which is the server's ([`ModelWatch`]); the page asks for its report
//! and opens, resets and closes its model.
//!
//! Invariant: the page shows what `shelfmark watch` prints.

mod report;

use std::sync::Arc;

use maud::{Markup, html};
use serde_json::json;
use shelfmark_admin::http::Request;
use shelfmark_admin::{ErrorKind, ModelFile, ModelWatch, WatchReport};

use crate::Console;
use crate::fault::{Fault, Result};
use crate::layout::Page;
use crate::request::{object_of, text_of};
use crate::response::Response;

/// The time between two looks of the page, in milliseconds.
const EVERY_MS: &str = "3000";

fn model(console: &Console) -> Result<&Arc<dyn ModelWatch>> {
    let none = "this server does not compare requests with models: run one with --console";
    console.watch.as_ref().and_then(|watch| watch.model()).ok_or_else(|| Fault::absent(none))
}

/// Answers `/watch`.
pub(crate) fn page(console: &Console) -> Result<Response> {
    let report = model(console)?.report();
    let content = html! {
        h1 { "Watch" }
        form id="watch" class="bar" {
            label { "Open a model " input type="file" name="file" accept=".shelf,.json,text/plain" data-focus="filter"; }
            label { "Schema " input name="schema" maxlength="64" size="12" autocomplete="off" placeholder="the only one"; }
            button type="button" data-do="reset" { "Begin anew" }
            button type="button" data-do="close" { "Close the model" }
            a href="/watch/report" download="watch.json" { "Report as JSON" }
            a href="/watch/report.txt" download="watch.txt" { "as text" }
        }
        p id="watch-refusal" class="fault" role="alert" hidden {}
        div id="watch-part" data-every=(EVERY_MS) { (part_of(report.as_ref())) }
    };
    Ok(Page { title: "Watch", part: "/watch", script: Some("watch.js") }.around(content))
}

/// Answers `/watch/part`: what is in the page, as it is now.
pub(crate) fn part(console: &Console) -> Result<Response> {
    let report = model(console)?.report();
    Ok(Response::json(200, &json!({ "html": part_of(report.as_ref()).0 })))
}

/// Answers `/watch/report`, or with `as_text` `/watch/report.txt`.
pub(crate) fn download(console: &Console, as_text: bool) -> Result<Response> {
    let none = || Fault::absent("no model is open: there is nothing to report");
    let report = model(console)?.report().ok_or_else(none)?;
    if as_text {
        return Ok(Response::text(report.text()));
    }
    let json = serde_json::to_value(&report).map_err(|error| Fault::failed(error.to_string()))?;
    Ok(Response::json(200, &json))
}

/// Answers a POST to `/watch/WHAT`.
pub(crate) fn act(console: &Console, what: &str, request: &Request) -> Result<Response> {
    let model = model(console)?;
    match what {
        "open" => {
            let body = object_of(request)?;
            let schema = Some(text_of(&body, "schema")).filter(|name| !name.is_empty());
            let file = ModelFile {
                name: text_of(&body, "name").to_owned(),
                text: text_of(&body, "text").to_owned(),
                schema: schema.map(str::to_owned),
            };
            // A model is proven before it is watched: one long computation at a time.
            let _one = console.workbench.take();
            model.open(&file).map_err(|error| match error.kind {
                ErrorKind::Invalid => Fault::bad(error.message),
                _ => Fault::failed(error.message),
            })?;
        }
        "reset" => model.reset(),
        "close" => model.close(),
        _ => return Err(Fault::absent(format!("a watch is not {what:?}"))),
    }
    part(console)
}

fn part_of(report: Option<&WatchReport>) -> Markup {
    match report {
        Some(report) => report::shown(report),
        None => html! {
            p class="empty" {
                "No model is open. Open a file above, or start the server with "
                code { "--model FILE" } ": its requests are then compared with the patterns of the model. "
                "No value of a request or row is kept."
            }
        },
    }
}
