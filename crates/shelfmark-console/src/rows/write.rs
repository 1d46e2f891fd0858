//! Opens, adds, changes and deletes a row, and tells beforehand what that does to indexes.
//!
//! Invariant: a row that changed since it was opened is not overwritten.

use maud::html;
use serde_json::{Map, Value as Json, json};
use shelfmark_admin::http::Request;
use shelfmark_cql_types::{Json as CqlJson, from_json, json_column_name, parse_json};
use shelfmark_dynamo::RequestHead;
use shelfmark_model::{IndexSchema, Projected};

use super::read::observed;
use super::row::{cell_key, forms, is_writable, item_of};
use super::value::value_text;

use crate::Console;
use crate::fault::{Fault, Result};
use crate::request::{object_of, text_of};
use crate::response::Response;
use crate::tables::Found;

/// Most attributes that a condition compares; of larger items the others are compared by reading them.
const COMPARED_MAX: usize = 60;

/// Answers a POST to `/tables/NAMESPACE/NAME/row/WHAT`.
pub(crate) fn act(
    console: &Console,
    name: (&str, &str),
    what: &str,
    request: &Request,
) -> Result<Response> {
    let found = Found::of(console, name)?;
    let body = object_of(request)?;
    let key = body.get("key").unwrap_or(&Json::Null);
    let (text, was) = (text_of(&body, "text"), text_of(&body, "was"));
    match what {
        "forms" => open(console, &found, key, request),
        "effects" => {
            let after = if text.is_empty() { None } else { Some(document(&found, text)?) };
            let before = if was.is_empty() { None } else { Some(document(&found, was)?) };
            Ok(Response::html(
                200,
                shown_effects(&effects(&found, before.as_ref(), after.as_ref())),
            ))
        }
        "put" | "delete" if !is_writable(&found) => {
            Err(Fault::bad("rows of this table are read only here"))
        }
        "put" => put(console, &found, (text, was), request),
        "delete" => delete(console, &found, key, was, request),
        _ => Err(Fault::absent(format!("a row is not {what:?}"))),
    }
}

fn open(console: &Console, found: &Found, key: &Json, request: &Request) -> Result<Response> {
    let Some(forms) = forms(console, found, key, request)? else {
        return Err(Fault::absent("the row is not there any more; it may have expired"));
    };
    if forms.document.len() > crate::limits::DOCUMENT_CHARS_MAX {
        return Err(Fault::too_large(format!(
            "the row has {} bytes of JSON, more than are shown here; read it with a client",
            forms.document.len()
        )));
    }
    Ok(Response::json(
        200,
        &json!({
            "document": forms.document,
            "dynamodb": forms.dynamodb,
            "insert": forms.insert,
            "rust": forms.rust,
            "writable": is_writable(found),
        }),
    ))
}

/// Parses a row as it is edited: attribute or column, and its text.
fn document(found: &Found, text: &str) -> Result<Map<String, Json>> {
    if found.cql.is_none() {
        let item = item_of(text)?;
        let texts =
            item.iter().map(|(name, value)| (name.to_string(), Json::from(value_text(value))));
        return Ok(texts.collect());
    }
    match serde_json::from_str(text) {
        Ok(Json::Object(fields)) => {
            let named = fields.into_iter().map(|(name, value)| (json_column_name(&name), value));
            Ok(named.collect())
        }
        Ok(_) => Err(Fault::bad("a row is a JSON object with a field for each column")),
        Err(error) => Err(Fault::bad(format!("this is no JSON: {error}"))),
    }
}

/// Returns what a change of a row does beside it, in a sentence each.
fn effects(
    found: &Found,
    before: Option<&Map<String, Json>>,
    after: Option<&Map<String, Json>>,
) -> Vec<String> {
    let schema = &found.table.schema;
    let mut told = Vec::new();
    let key = |row: &Map<String, Json>| -> Vec<Json> {
        schema.key_names().map(|name| row.get(name).cloned().unwrap_or(Json::Null)).collect()
    };
    match (before, after) {
        (Some(before), Some(after)) if key(before) != key(after) => {
            told.push("The key is another: this adds a row, and the old one stays.".to_owned());
            told.extend(effects(found, None, Some(after)));
            return told;
        }
        (None, Some(_)) => told.push("Adds a row.".to_owned()),
        (Some(_), None) => told.push("Deletes the row.".to_owned()),
        (Some(before), Some(after)) if before == after => {
            told.push("Changes nothing.".to_owned());
            return told;
        }
        _ => told.push("Changes the row.".to_owned()),
    }
    for index in &schema.indexes {
        told.push(item_index(index, before, after));
    }
    for index in found.cql.iter().flat_map(|table| &table.indexes) {
        let value =
            |row: Option<&Map<String, Json>>| row.and_then(|row| row.get(&*index.column)).cloned();
        told.push(moved(&index.name, value(before), value(after)));
    }
    for view in schema.cells.iter().flat_map(|cells| &cells.views) {
        told.push(format!("View {view} follows in the same commit."));
    }
    if schema.options.stream.is_some() {
        told.push("The change goes into the table's stream.".to_owned());
    }
    told
}

fn item_index(
    index: &IndexSchema,
    before: Option<&Map<String, Json>>,
    after: Option<&Map<String, Json>>,
) -> String {
    let names = || {
        let partition = index.partition.iter().map(|own| &own.name);
        partition.chain(index.sort.iter().map(|own| &own.name))
    };
    // An item without all of an index's attributes has no entry in it.
    let entry = |row: Option<&Map<String, Json>>| -> Option<Json> {
        let values: Option<Vec<Json>> = names().map(|name| row?.get(name).cloned()).collect();
        values.map(|values| {
            let texts: Vec<String> = values.iter().map(plain).collect();
            Json::from(texts.join(" / "))
        })
    };
    let (old, new) = (entry(before), entry(after));
    if old.is_some() && old == new {
        let held = |row: Option<&Map<String, Json>>| match &index.projected {
            Projected::All => row.cloned(),
            Projected::KeysOnly => None,
            Projected::Include(names) => row.map(|row| {
                row.iter()
                    .filter(|(own, _)| names.contains(own))
                    .map(|(a, b)| (a.clone(), b.clone()))
                    .collect()
            }),
        };
        if held(before) != held(after) {
            return format!(
                "Index {}: the entry stays, with what it holds of the row.",
                index.name
            );
        }
    }
    moved(&index.name, old, new)
}

fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn moved(index: &str, old: Option<Json>, new: Option<Json>) -> String {
    match (old, new) {
        (None, None) => format!("Index {index}: the row has no entry in it."),
        (None, Some(new)) => format!("Index {index}: an entry is added under {}.", plain(&new)),
        (Some(old), None) => format!("Index {index}: the entry under {} is deleted.", plain(&old)),
        (Some(old), Some(new)) if old == new => format!("Index {index}: untouched."),
        (Some(old), Some(new)) => {
            format!("Index {index}: the entry moves from {} to {}.", plain(&old), plain(&new))
        }
    }
}

fn shown_effects(effects: &[String]) -> maud::Markup {
    html! { ul class="effects" { @for effect in effects { li { (effect) } } } }
}

/// Returns the error of a row that somebody else changed meanwhile.
fn changed() -> Fault {
    Fault {
        status: 409,
        message: "The row changed since it was opened. Close it, and open it again.".to_owned(),
    }
}

fn put(
    console: &Console,
    found: &Found,
    (text, was): (&str, &str),
    request: &Request,
) -> Result<Response> {
    let name = &found.table.schema.name.name;
    if let Some(table) = &found.cql {
        // A column that was taken out of the text is deleted: that is how CQL reads such JSON.
        let after = document(found, text)?;
        if was.is_empty() {
            return insert_json(console, table, text, " IF NOT EXISTS", request);
        }
        unchanged_cells(console, found, was, request)?;
        let before = document(found, was)?;
        let differs = |name: &str| before.get(name) != after.get(name);
        let condition =
            if found.table.schema.key_names().any(differs) { " IF NOT EXISTS" } else { "" };
        return insert_json(console, table, text, condition, request);
    }
    let item: Json = serde_json::from_str(text)
        .map_err(|error| Fault::bad(format!("this is no JSON: {error}")))?;
    let mut body = json!({ "TableName": name, "Item": item });
    match was {
        "" => absent_before(found, &mut body),
        was => same_as(was, found, &item, &mut body)?,
    }
    write_item(console, "PutItem", &body, was.is_empty())
}

fn insert_json(
    console: &Console,
    table: &shelfmark_cql::Table,
    row: &str,
    condition: &str,
    request: &Request,
) -> Result<Response> {
    let text = format!("INSERT INTO {} JSON ?{condition}", table.full_name());
    let (options, _) = observed(console, vec![row.to_owned().into()], request);
    let answered = console.cql.ask(&text, options)?;
    if let shelfmark_cql::Outcome::Rows(rows) = &answered.outcome {
        let first = super::read::wire_rows(rows.rows.bytes(), rows.columns.len()).next();
        let applied = first.and_then(|row| row.into_iter().next().flatten());
        if applied.is_some_and(|applied| applied.as_ref() == [0]) {
            return Err(Fault {
                status: 409,
                message: "There is a row with this key already.".to_owned(),
            });
        }
    }
    Ok(done())
}

fn done() -> Response {
    Response::json(200, &json!({ "done": true }))
}

/// Has a write of an item refused where there is one with its key.
fn absent_before(found: &Found, body: &mut Json) {
    let Some(first) = found.table.schema.partition.first() else { return };
    if let Some(fields) = body.as_object_mut() {
        fields.insert("ConditionExpression".to_owned(), "attribute_not_exists(#k)".into());
        fields.insert("ExpressionAttributeNames".to_owned(), json!({ "#k": first.name }));
    }
}

/// Has a write of an item refused where the one with its key is not what it was.
fn same_as(was: &str, found: &Found, item: &Json, body: &mut Json) -> Result<()> {
    let wrong = |_| Fault::bad("the row as it was is no JSON");
    let old: Map<String, Json> = serde_json::from_str(was).map_err(wrong)?;
    let differs = |name: &str| item.get(name) != old.get(name);
    if found.table.schema.key_names().any(differs) && !item.is_null() {
        absent_before(found, body);
        return Ok(());
    }
    let (mut names, mut values, mut tests) = (Map::new(), Map::new(), Vec::new());
    for (at, (name, value)) in old.iter().take(COMPARED_MAX).enumerate() {
        names.insert(format!("#a{at}"), name.clone().into());
        values.insert(format!(":v{at}"), value.clone());
        tests.push(format!("#a{at} = :v{at}"));
    }
    if let Some(fields) = body.as_object_mut() {
        fields.insert("ConditionExpression".to_owned(), tests.join(" AND ").into());
        fields.insert("ExpressionAttributeNames".to_owned(), names.into());
        fields.insert("ExpressionAttributeValues".to_owned(), values.into());
    }
    Ok(())
}

fn write_item(console: &Console, operation: &str, body: &Json, is_new: bool) -> Result<Response> {
    let reply =
        console.dynamodb.call(&RequestHead::operation(operation), body.to_string().as_bytes());
    if reply.status == 200 {
        return Ok(done());
    }
    let answer: Json = serde_json::from_slice(&reply.body).unwrap_or(Json::Null);
    let kind = answer.get("__type").and_then(Json::as_str).unwrap_or("");
    if kind.ends_with("ConditionalCheckFailedException") {
        let taken =
            || Fault { status: 409, message: "There is a row with this key already.".to_owned() };
        return Err(if is_new { taken() } else { changed() });
    }
    let message = answer.get("message").or(answer.get("Message")).and_then(Json::as_str);
    Err(Fault {
        status: reply.status,
        message: message.unwrap_or("the face gave no reason").to_owned(),
    })
}

/// Fails if a row of cells is not what it was. A moment passes until it is written; CQL has the last
/// write win, and so does this.
fn unchanged_cells(console: &Console, found: &Found, was: &str, request: &Request) -> Result<()> {
    let Some(table) = &found.cql else { return Ok(()) };
    let wrong = |error: shelfmark_cql_types::MarshalError| Fault::bad(error.to_string());
    let CqlJson::Object(old) = parse_json(was).map_err(wrong)? else {
        return Err(Fault::bad("the row as it was is no object"));
    };
    let mut parts = Vec::new();
    for column in table.columns.iter().take(table.partition_count + table.clustering_count) {
        let value = old.iter().find(|(name, _)| json_column_name(name) == *column.name);
        let value = value.map_or(&CqlJson::Null, |(_, value)| value);
        let bytes = from_json(&column.kind, value).map_err(wrong)?;
        parts.push(Json::from(hex::encode(bytes.unwrap_or_default())));
    }
    let now = forms(console, found, &Json::Array(parts), request)?;
    if now.is_some_and(|now| now.document == was) { Ok(()) } else { Err(changed()) }
}

fn delete(
    console: &Console,
    found: &Found,
    key: &Json,
    was: &str,
    request: &Request,
) -> Result<Response> {
    let Some(table) = &found.cql else {
        let mut body = json!({ "TableName": found.table.schema.name.name, "Key": key });
        same_as(was, found, &Json::Null, &mut body)?;
        return write_item(console, "DeleteItem", &body, false);
    };
    let parts = cell_key(table, key)?;
    let now = forms(console, found, key, request)?;
    if now.is_none_or(|now| now.document != was) {
        return Err(changed());
    }
    let columns = table.columns.iter().take(parts.len());
    let tests: Vec<String> = columns
        .map(|column| format!("{} = ?", shelfmark_cql_types::maybe_quote(&column.name)))
        .collect();
    let text = format!("DELETE FROM {} WHERE {}", table.full_name(), tests.join(" AND "));
    let (options, _) = observed(console, parts, request);
    console.cql.ask(&text, options)?;
    Ok(done())
}
