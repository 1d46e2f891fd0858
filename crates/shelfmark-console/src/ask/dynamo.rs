//! Runs an operation of DynamoDB, or a statement of PartiQL by the operation for statements.

use serde_json::{Map, Value as Json, json};
use shelfmark_dynamo::RequestHead;

use super::answer::{Answer, Refusal};
use crate::Console;
use crate::limits::{ANSWER_ROWS_MAX, DOCUMENT_CHARS_MAX};
use crate::rows::item_text;

/// Runs an operation whose body is typed.
pub(super) fn operation(console: &Console, operation: &str, text: &str) -> Answer {
    if !shelfmark_dynamo::OPERATIONS.contains(&operation) {
        return Answer::refused("operation", format!("there is no operation {operation:?}"));
    }
    // The face's own words for bad JSON name no place.
    if let Err(error) = serde_json::from_str::<Json>(text) {
        let refusal = Refusal {
            kind: "JSON".to_owned(),
            message: error.to_string(),
            place: Some((error.line(), error.column().max(1))),
        };
        return Answer { refusal: Some(refusal), ..Answer::default() };
    }
    send(console, operation, text)
}

/// Runs a statement; a read gives one page, which begins at `page`.
pub(super) fn partiql(console: &Console, text: &str, page: &str) -> Answer {
    let text = text.trim().trim_end_matches(';');
    let mut body = json!({ "Statement": text, "Limit": ANSWER_ROWS_MAX });
    let is_read = text.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("select"));
    if let Some(fields) = body.as_object_mut() {
        if !is_read {
            fields.remove("Limit");
        }
        if !page.is_empty() {
            fields.insert("NextToken".to_owned(), page.into());
        }
    }
    send(console, "ExecuteStatement", &body.to_string())
}

fn send(console: &Console, operation: &str, body: &str) -> Answer {
    let reply = console.dynamodb.call(&RequestHead::operation(operation), body.as_bytes());
    let parsed: Json = serde_json::from_slice(&reply.body).unwrap_or(Json::Null);
    let mut answer = match reply.status {
        200 => shown(&parsed),
        _ => refusal(&parsed),
    };
    answer.report = reply.report;
    answer
}

fn refusal(answer: &Json) -> Answer {
    let text = |name: &str| answer.get(name).and_then(Json::as_str);
    let kind = text("__type").unwrap_or("error");
    let kind = kind.rsplit('#').next().unwrap_or(kind);
    let message = text("message").or(text("Message")).unwrap_or("the face gave no reason");
    Answer::refused(kind, message)
}

/// Shows items as rows, and what else there is as a document.
fn shown(answer: &Json) -> Answer {
    let Some(fields) = answer.as_object() else { return Answer::default() };
    let one = fields.get("Item").and_then(Json::as_object);
    let items: Vec<&Map<String, Json>> = match fields.get("Items").and_then(Json::as_array) {
        Some(items) => items.iter().filter_map(Json::as_object).collect(),
        None => one.into_iter().collect(),
    };
    let is_item = |name: &str| name == "Items" || name == "Item";
    let rest: Map<String, Json> = fields
        .iter()
        .filter(|(name, _)| !is_item(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let has_items = fields.keys().any(|name| is_item(name));
    let document = (!rest.is_empty() || !has_items).then(|| limited(&Json::Object(rest)));
    let columns = columns(&items);
    let rows = items.iter().take(ANSWER_ROWS_MAX).map(|item| {
        let cell = |name: &String| item.get(name).map(item_text).unwrap_or_default();
        columns.iter().map(cell).collect()
    });
    let mut notes = Vec::new();
    if has_items && items.is_empty() {
        notes.push("No items.".to_owned());
    }
    Answer {
        rows: rows.collect(),
        left_out: items.len().saturating_sub(ANSWER_ROWS_MAX),
        page: fields.get("NextToken").and_then(Json::as_str).map(str::to_owned),
        document,
        notes,
        columns,
        ..Answer::default()
    }
}

/// Returns the names of the items' attributes, those of the first item first.
fn columns(items: &[&Map<String, Json>]) -> Vec<String> {
    const COLUMNS_MAX: usize = 30;
    let mut names: Vec<String> = Vec::new();
    for name in items.iter().flat_map(|item| item.keys()) {
        if names.len() < COLUMNS_MAX && !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

fn limited(document: &Json) -> String {
    let mut text = serde_json::to_string_pretty(document).unwrap_or_default();
    if text.len() > DOCUMENT_CHARS_MAX {
        text.truncate(text.floor_char_boundary(DOCUMENT_CHARS_MAX));
        text.push_str("\n… (the rest is not shown)");
    }
    text
}
