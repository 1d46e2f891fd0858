//! Reads `ModelSchema`, which Dynobase and OneTable's designer write beside a table: row types with
//! templates of their attributes, and named queries.
//!
//! What it is not: an error where something is unknown; such members are told.

use serde_json::Value as Json;

use crate::json::At;
use crate::names::comment;
use crate::observed::{Attribute, Declared, Table};

/// Reads row types and queries into the table; returns remarks.
pub(super) fn schema(at: &At<'_>, table: &mut Table) -> Vec<String> {
    let mut remarks = Vec::new();
    let params = at.member("params");
    let said = params.and_then(|params| params.member("typeField"));
    let said = said.and_then(|field| field.json.as_str()).map(str::to_owned);
    let models = at.member("models").map(|models| models.members()).unwrap_or_default();
    for (name, model) in models {
        if name.starts_with('~') {
            continue;
        }
        let attributes =
            model.members().into_iter().map(|(name, one)| declared(name, &one)).collect();
        table.declared.push(Declared { name: name.to_owned(), attributes });
    }
    let usual = ["type", "_type"].into_iter().find(|name| {
        !table.declared.is_empty()
            && table
                .declared
                .iter()
                .all(|one| one.attributes.iter().any(|(own, _)| own.name == **name))
    });
    table.type_attribute = said.or_else(|| usual.map(str::to_owned));
    super::queries::named(at, table);
    let known = ["indexes", "models", "queries", "version", "params", "format", "process"];
    let others: Vec<String> = at
        .members()
        .into_iter()
        .filter(|(name, _)| !known.contains(name))
        .map(|(name, _)| comment(name))
        .collect();
    if !others.is_empty() {
        remarks.push(format!(
            "? Members of ModelSchema of {} that are not read: {}. Do they matter?",
            comment(&table.name),
            others.join(", ")
        ));
    }
    remarks
}

fn declared(name: &str, at: &At<'_>) -> (Attribute, Option<String>) {
    let word = at.member("type").and_then(|ty| ty.json.as_str()).unwrap_or("string");
    let letter = match word.to_ascii_lowercase().as_str() {
        "number" => "N",
        "boolean" => "BOOL",
        "object" => "M",
        "array" => "L",
        "set" => "SS",
        "binary" | "buffer" => "B",
        _ => "S",
    };
    let template = at.member("value").and_then(|value| value.json.as_str()).filter(|text| {
        // A template without holes is the value of a constant.
        !text.is_empty()
    });
    let attribute = Attribute { name: name.to_owned(), letter: letter.to_owned() };
    (attribute, template.map(str::to_owned))
}

/// Returns a text or a number as text.
pub(super) fn plain(json: &Json) -> Option<String> {
    match json {
        Json::String(text) => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
