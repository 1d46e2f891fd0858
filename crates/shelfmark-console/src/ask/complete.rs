//! Names that fit what is being typed: tables, and the columns of tables that the text names.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;
use shelfmark_admin::http::Request;
use shelfmark_engine::{Engine, Owner, Table};
use shelfmark_model::{RowKind, TableName};

use crate::Console;
use crate::fault::{Fault, Result};
use crate::limits::{NAMES_LOOKED_MAX, NAMES_OFFERED_MAX, NAMESPACES_LOOKED_MAX, WORDS_LOOKED_MAX};
use crate::request::{object_of, text_of};
use crate::response::Response;

/// The namespace of DynamoDB's own tables.
const DYNAMODB: &str = "dynamodb";

/// Words of the languages that begin a part of a statement.
const WORDS: [&str; 24] = [
    "SELECT",
    "FROM",
    "WHERE",
    "AND",
    "ORDER BY",
    "LIMIT",
    "INSERT INTO",
    "VALUES",
    "VALUE",
    "UPDATE",
    "SET",
    "DELETE",
    "IF NOT EXISTS",
    "ALLOW FILTERING",
    "CREATE TABLE",
    "CREATE INDEX",
    "PRIMARY KEY",
    "BEGIN BATCH",
    "APPLY BATCH",
    "USING TTL",
    "REMOVE",
    "BETWEEN",
    "begins_with",
    "CREATE KEYSPACE",
];

/// Answers a POST to `/ask/names`.
pub(crate) fn names(console: &Console, request: &Request) -> Result<Response> {
    let body = object_of(request)?;
    let text = text_of(&body, "text");
    let at = body.get("at").and_then(serde_json::Value::as_u64).unwrap_or(0);
    let before: String = text.chars().take(usize::try_from(at).unwrap_or(0)).collect();
    if before.chars().count() < usize::try_from(at).unwrap_or(usize::MAX) {
        return Err(Fault::bad("the place lies behind the text"));
    }
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
    let start = before
        .rfind(|c: char| !is_name(c))
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    let typed = before.get(start..).unwrap_or("").to_lowercase();
    let offered =
        if typed.is_empty() { Vec::new() } else { offered(&console.engine, text, &typed)? };
    Ok(Response::json(200, &json!({ "typed": typed.chars().count(), "names": offered })))
}

fn offered(engine: &Engine, text: &str, typed: &str) -> Result<Vec<String>> {
    let mut found = BTreeSet::new();
    let is_taken =
        |name: &str| name.to_lowercase().starts_with(typed) && name.to_lowercase() != typed;
    let namespaces = namespaces(engine)?;
    let mut add = |name: &TableName| {
        let whole = if name.namespace == DYNAMODB { name.name.clone() } else { name.to_string() };
        if found.len() < NAMES_OFFERED_MAX && is_taken(&whole) {
            found.insert(whole);
        } else if found.len() < NAMES_OFFERED_MAX && is_taken(&name.name) {
            found.insert(name.name.clone());
        }
    };
    // Names that begin as is typed are found by their place, however many others there are; those in
    // other letters among the first.
    for namespace in &namespaces {
        let before = TableName::new(namespace.as_str(), typed);
        let names = engine.table_names(Some(namespace), Some(&before), NAMES_OFFERED_MAX)?;
        names.iter().for_each(&mut add);
    }
    for name in engine.table_names(None, None, NAMES_LOOKED_MAX)? {
        if namespaces.contains(&name.namespace) {
            add(&name);
        }
    }
    for table in named(engine, text, &namespaces) {
        found.extend(columns(&table).into_iter().filter(|own| is_taken(own)));
    }
    let mut offered: Vec<String> = found.into_iter().collect();
    offered.extend(WORDS.iter().filter(|word| is_taken(word)).map(|word| (*word).to_owned()));
    offered.truncate(NAMES_OFFERED_MAX);
    Ok(offered)
}

/// Returns the namespaces of clients' tables, DynamoDB's first.
fn namespaces(engine: &Engine) -> Result<Vec<String>> {
    let all = engine.namespaces()?.into_iter().map(|own| own.name);
    let is_internal =
        |name: &str| !matches!(Owner::of_reserved_name(name), None | Some(Owner::DynamoDb));
    let others = all.filter(|name| name != DYNAMODB && !is_internal(name));
    Ok(std::iter::once(DYNAMODB.to_owned()).chain(others).take(NAMESPACES_LOOKED_MAX).collect())
}

/// Returns the tables whose names are words of a text.
fn named(engine: &Engine, text: &str, namespaces: &[String]) -> Vec<Arc<Table>> {
    let words: BTreeSet<&str> = text
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')))
        .filter(|word| !word.is_empty())
        .take(WORDS_LOOKED_MAX)
        .collect();
    let names = words.iter().flat_map(|word| {
        namespaces.iter().map(move |namespace| TableName::new(namespace.as_str(), *word))
    });
    names.filter_map(|name| engine.table(&name).ok()).collect()
}

fn columns(table: &Table) -> Vec<String> {
    let schema = &table.schema;
    let keys = schema.key_names().map(str::to_owned);
    let of_indexes = schema.indexes.iter().flat_map(|index| {
        let partition = index.partition.iter().map(|own| own.name.clone());
        partition.chain(index.sort.iter().map(|own| own.name.clone()))
    });
    let others =
        (schema.rows == RowKind::Cells).then(|| schema.columns.iter().map(|own| own.name.clone()));
    keys.chain(of_indexes).chain(others.into_iter().flatten()).collect()
}
