//! Applies a schema of a model: creates its tables, and loads a drawn sample.
//!
//! Invariant: nothing that is there is changed or dropped; a table that exists ends it before anything
//! is created.

use maud::html;
use serde_json::{Map, Value as Json, json};
use shelfmark_admin::http::Request;
use shelfmark_cql_types::{maybe_quote, put_json_name};
use shelfmark_design::Document;
use shelfmark_design::trial::Trial;
use shelfmark_dynamo::RequestHead;
use shelfmark_model::TableName;

use super::calls::{KEYSPACE, SCALE, SEED};
use super::{number, one_schema};

use crate::Console;
use crate::fault::{Fault, Result};
use crate::figures::{counted, length};
use crate::limits::SAMPLE_SCALE_MAX;
use crate::request::text_of;
use crate::response::Response;
use crate::rows::observed;
use crate::tables::address;

/// Applies a schema.
pub(super) fn apply(
    console: &Console,
    document: &Document,
    schema: Option<&str>,
    body: &Map<String, Json>,
    request: &Request,
) -> Result<Response> {
    let schema = one_schema(document, schema)?;
    let trials = document.trials();
    let trial = trials.iter().find(|own| own.schema() == schema);
    let trial = trial.ok_or_else(|| Fault::bad("the schema cannot be laid out as tables"))?;
    let scale = number(body, "scale", SCALE as u64, SAMPLE_SCALE_MAX as u64);
    let scale = usize::try_from(scale).unwrap_or(SCALE);
    let (tables, rows, notes) = match trial.target() {
        "dynamodb" => items(console, trial, scale)?,
        "cql" => {
            let keyspace = Some(text_of(body, "keyspace")).filter(|name| !name.is_empty());
            cells(console, trial, scale, keyspace.unwrap_or(KEYSPACE), request)?
        }
        other => {
            return Err(Fault::bad(format!(
                "target {other} has no requests to run here; derive a schema for dynamodb or cql under \
                 Plan"
            )));
        }
    };
    let markup = html! {
        p class="good" { "Created " (counted(length(tables.len()), "table")) " and loaded " (counted(length(rows), "row")) "." }
        ul { @for name in &tables { li { a href=(address(name)) { (name) } } } }
        @for note in &notes { p class="note" { (note) } }
    };
    Ok(super::shown(&markup))
}

/// The tables that were created, the number of rows that were loaded, and remarks.
type Applied = (Vec<TableName>, usize, Vec<String>);

fn refuse_existing(console: &Console, names: &[TableName]) -> Result<()> {
    let taken = names.iter().find(|name| console.engine.table(name).is_ok());
    match taken {
        Some(name) => Err(Fault {
            status: 409,
            message: format!(
                "there is a table {name} already, and nothing was created: drop it, or name the \
                 model's otherwise"
            ),
        }),
        None => Ok(()),
    }
}

fn items(console: &Console, trial: &Trial<'_>, scale: usize) -> Result<Applied> {
    let create = trial.create().map_err(Fault::bad)?;
    let scene = trial.scene(SEED, scale);
    let rows = trial.items(&scene).map_err(Fault::bad)?;
    let name = |body: &Json| {
        let name = body.get("TableName").and_then(Json::as_str);
        name.map(|name| TableName::new("dynamodb", name))
    };
    let names: Vec<TableName> = create.iter().filter_map(name).collect();
    refuse_existing(console, &names)?;
    for body in &create {
        send(console, "CreateTable", body)?;
    }
    for (table, item) in &rows {
        send(console, "PutItem", &json!({ "TableName": table, "Item": item }))?;
    }
    Ok((names, rows.len(), Vec::new()))
}

fn send(console: &Console, operation: &str, body: &Json) -> Result<()> {
    let reply =
        console.dynamodb.call(&RequestHead::operation(operation), body.to_string().as_bytes());
    if reply.status == 200 {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&reply.body).into_owned();
    Err(Fault::bad(format!("{operation} was refused: {text}")))
}

fn cells(
    console: &Console,
    trial: &Trial<'_>,
    scale: usize,
    keyspace: &str,
    request: &Request,
) -> Result<Applied> {
    let create = trial.create().map_err(Fault::bad)?;
    let layout = trial.layout().map_err(Fault::bad)?;
    let names: Vec<TableName> =
        layout.tables.iter().map(|own| TableName::new(keyspace, own.name.as_str())).collect();
    refuse_existing(console, &names)?;
    let scene = trial.scene(SEED, scale);
    let rows = trial.items(&scene);
    statement(
        console,
        &format!(
            "CREATE KEYSPACE IF NOT EXISTS {} WITH replication = {{'class': 'SimpleStrategy', \
         'replication_factor': 1}}",
            maybe_quote(keyspace)
        ),
        keyspace,
        request,
    )?;
    for own in create.iter().filter_map(Json::as_str) {
        statement(console, own, keyspace, request)?;
    }
    let mut notes = Vec::new();
    let rows = match rows {
        Ok(rows) => rows,
        Err(why) => {
            notes.push(format!("No sample was loaded: {why}."));
            Vec::new()
        }
    };
    let mut loaded = 0;
    for (table, item) in &rows {
        let text = format!("INSERT INTO {} JSON ?", maybe_quote(table));
        let row = plain_item(item);
        let (mut options, _) = observed(console, vec![row.into()], request);
        options.keyspace = Some(keyspace.into());
        if let Err(error) = console.cql.ask(&text, options) {
            notes.push(format!("The sample ended at a row of {table}: {}", error.message));
            break;
        }
        loaded += 1;
    }
    Ok((names, loaded, notes))
}

/// Writes an item as the JSON that CQL inserts.
fn plain_item(item: &Json) -> String {
    let mut out = String::from("{");
    for (at, (name, value)) in item.as_object().into_iter().flatten().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        put_json_name(name, &mut out);
        out.push_str(": ");
        out.push_str(&plain(value));
    }
    out.push('}');
    out
}

fn plain(value: &Json) -> String {
    let Some((kind, inner)) = value.as_object().and_then(|own| own.iter().next()) else {
        return "null".to_owned();
    };
    match (kind.as_str(), inner) {
        ("N", Json::String(digits)) => digits.clone(),
        ("L", Json::Array(members)) => {
            let members: Vec<String> = members.iter().map(plain).collect();
            format!("[{}]", members.join(", "))
        }
        ("B", Json::String(text)) => Json::from(bytes_text(text)).to_string(),
        (_, inner) => inner.to_string(),
    }
}

/// Turns base64 into the hexadecimal digits that CQL takes for bytes.
fn bytes_text(base64: &str) -> String {
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::STANDARD.decode(base64).unwrap_or_default();
    format!("0x{}", hex::encode(bytes))
}

fn statement(console: &Console, text: &str, keyspace: &str, request: &Request) -> Result<()> {
    let (mut options, _) = observed(console, Vec::new(), request);
    options.keyspace = Some(keyspace.into());
    let asked = console.cql.ask(text, options);
    asked.map(drop).map_err(|error| Fault::bad(format!("{text} was refused: {}", error.message)))
}
