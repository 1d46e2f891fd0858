//! Ask: requests of DynamoDB, PartiQL and CQL in one editor, each answer beside its picture.
//!
//! What it is not: a client. A request runs as its face runs it, in this process; writes wait until
//! they are durable.

mod answer;
mod complete;
mod cql;
mod dynamo;
mod picture;
mod why;

use maud::html;
use serde_json::json;

pub(crate) use complete::names;
pub(crate) use cql::text_of_statement as cql_text;
use shelfmark_admin::http::Request;

use crate::Console;
use crate::fault::{Fault, Result};
use crate::layout::Page;
use crate::request::{fields_of, object_of, text_of};
use crate::response::Response;
use answer::Answer;

/// The languages, as the page names them.
const LANGUAGES: [(&str, &str); 3] =
    [("cql", "CQL"), ("partiql", "PartiQL"), ("dynamodb", "DynamoDB")];

/// Answers `/ask`.
pub(crate) fn page(console: &Console, request: &Request) -> Result<Response> {
    let fields = fields_of(request)?;
    let language = LANGUAGES.iter().find(|(word, _)| *word == fields.get("language"));
    let language = language.map_or("cql", |(word, _)| *word);
    let keyspaces: Vec<String> = console
        .engine
        .namespaces()?
        .into_iter()
        .filter(|own| own.owner == shelfmark_engine::Owner::Cql)
        .map(|own| own.name)
        .collect();
    let content = html! {
        h1 { "Ask" }
        form id="ask" class="ask" {
            div class="bar" {
                label { "Language "
                    select name="language" {
                        @for (word, text) in LANGUAGES { option value=(word) selected[word == language] { (text) } }
                    }
                }
                label data-for="cql" { "Keyspace "
                    select name="keyspace" {
                        option value="" { "none" }
                        @for name in &keyspaces { option value=(name) { (name) } }
                    }
                }
                label data-for="dynamodb" { "Operation "
                    select name="operation" {
                        @for name in shelfmark_dynamo::OPERATIONS { option value=(name) selected[name == "Query"] { (name) } }
                    }
                }
            }
            label for="ask-text" class="hidden" { "The request" }
            div class="editor" {
                textarea id="ask-text" name="text" rows="7" spellcheck="false" autocomplete="off"
                    aria-autocomplete="list" aria-haspopup="listbox"
                    aria-controls="ask-names" data-focus="filter" { (fields.get("text")) }
                ul id="ask-names" role="listbox" aria-label="Names" hidden {}
            }
            div class="buttons" {
                button class="primary" { "Run " kbd { "Ctrl Enter" } }
                button type="button" id="ask-history" aria-expanded="false" aria-controls="ask-past" { "History" }
            }
        }
        section id="ask-past" aria-label="History" hidden {}
        section id="ask-answer" aria-label="Answer" aria-live="polite" {
            p class="soft" { "The answer stands here, beside the ranges of keys that it read." }
        }
    };
    Ok(Page { title: "Ask", part: "/ask", script: Some("ask.js") }.around(content))
}

/// Answers a POST to `/ask/run`: the answer as HTML, and the place of an error.
pub(crate) fn run(console: &Console, request: &Request) -> Result<Response> {
    let body = object_of(request)?;
    let text = text_of(&body, "text").trim_end();
    if text.trim().is_empty() {
        return Err(Fault::bad("type a request first"));
    }
    let begun = console.now();
    let mut answer = match text_of(&body, "language") {
        "cql" => {
            cql::run(console, text, text_of(&body, "keyspace"), text_of(&body, "page"), request)
        }
        "partiql" => dynamo::partiql(console, text, text_of(&body, "page")),
        "dynamodb" => dynamo::operation(console, text_of(&body, "operation"), text),
        other => return Err(Fault::bad(format!("there is no language {other:?}"))),
    };
    let took = console.now().saturating_sub(begun);
    if answer.refusal.is_none() {
        answer.notes.extend(why::told(console, request, &answer.report)?);
    }
    let (status, place) = match &answer {
        Answer { refusal: Some(refusal), .. } => (400, refusal.place),
        _ => (200, None),
    };
    let place = place.map(|(line, column)| json!({ "line": line, "column": column }));
    let shown = answer.markup(console, took)?.into_string();
    Ok(Response::json(
        200,
        &json!({
            "ok": status == 200,
            "html": shown,
            "place": place,
            "page": answer.page,
        }),
    ))
}
