//! One row: read by its key, and written in the forms that people read, edit and copy.
//!
//! * the document: DynamoDB's JSON of an item, CQL's JSON of a row; what is edited here;
//! * DynamoDB's JSON; an `INSERT` of PartiQL or CQL; Rust for the client of the row's face.

use bytes::Bytes;
use serde_json::{Map, Value as Json, json};
use shelfmark_admin::http::Request;
use shelfmark_cql as cql;
use shelfmark_cql_types::{
    Json as CqlJson, maybe_quote, parse_json, put_json_name, to_json, to_literal,
};
use shelfmark_engine::{AttributesText as _, Get, Owner};
use shelfmark_model::{Item, Key};

use super::read::cells_of;

use crate::Console;
use crate::fault::{Fault, Result};
use crate::tables::Found;

/// The forms of a row.
pub(super) struct Forms {
    /// For reading and editing: JSON with a line for each attribute.
    pub(super) document: String,
    pub(super) dynamodb: String,
    pub(super) insert: String,
    pub(super) rust: String,
}

/// Returns true if rows of a table can be written here.
pub(super) fn is_writable(found: &Found) -> bool {
    match found.owner {
        Owner::DynamoDb => true,
        Owner::Cql => {
            found.cql.as_ref().is_some_and(|table| !table.is_view() && !table.flags.counter)
        }
        Owner::Engine | Owner::Typed => false,
    }
}

/// Reads a row, as it is now.
pub(super) fn forms(
    console: &Console,
    found: &Found,
    key: &Json,
    request: &Request,
) -> Result<Option<Forms>> {
    match &found.cql {
        Some(table) => {
            let cells = cells_of(console, table, &cell_key(table, key)?, request)?;
            Ok(cells.map(|cells| cell_forms(table, &cells)))
        }
        None => {
            let item = console.engine.get(&found.table, &Get::new(item_key(found, key)?))?.item;
            Ok(item.map(|item| item_forms(found, &item)))
        }
    }
}

/// Returns the key of an item from DynamoDB's JSON of it.
fn item_key(found: &Found, key: &Json) -> Result<Key> {
    let item = item_of(&key.to_string())?;
    let schema = &found.table.schema;
    let value = |name: &str| {
        let value = item.get(name).cloned();
        value.ok_or_else(|| Fault::bad(format!("the key lacks {name}")))
    };
    let partition = schema.partition.iter().map(|own| value(&own.name)).collect::<Result<_>>()?;
    let sort = schema.sort.iter().map(|own| value(&own.name)).collect::<Result<_>>()?;
    Ok(Key { partition, sort })
}

/// Parses DynamoDB's JSON of an item.
pub(super) fn item_of(text: &str) -> Result<Item> {
    let parsed = shelfmark_dynamo::AttributesJson.attributes(text);
    parsed.map_err(|why| Fault::bad(format!("this is no item in DynamoDB's JSON: {why}")))
}

/// Returns the bytes of a row's key columns.
pub(super) fn cell_key(table: &cql::Table, key: &Json) -> Result<Vec<Bytes>> {
    let wrong =
        || Fault::bad("this is no key of a row: the statics of a partition without rows have none");
    let parts = key.as_array().ok_or_else(wrong)?;
    if parts.len() != table.partition_count + table.clustering_count {
        return Err(wrong());
    }
    let part = |part: &Json| {
        let digits = part.as_str().ok_or_else(wrong)?;
        hex::decode(digits).map(Bytes::from).map_err(|_| wrong())
    };
    parts.iter().map(part).collect()
}

fn pretty(text: &str) -> String {
    let parsed: Json = serde_json::from_str(text).unwrap_or(Json::Null);
    match &parsed {
        // One line for each attribute reads better than five.
        Json::Object(fields) => {
            let lines: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("  {}: {value}", Json::from(name.as_str())))
                .collect();
            if lines.is_empty() {
                "{}".to_owned()
            } else {
                format!("{{\n{}\n}}", lines.join(",\n"))
            }
        }
        other => other.to_string(),
    }
}

fn item_forms(found: &Found, item: &Item) -> Forms {
    let text = shelfmark_dynamo::AttributesJson.text(item);
    let parsed: Map<String, Json> = serde_json::from_str(&text).unwrap_or_default();
    let name = &found.table.schema.name.name;
    let lines = parsed
        .iter()
        .map(|(name, value)| format!("    .item({name:?}, {})\n", rust_attribute(value)));
    Forms {
        document: pretty(&text),
        insert: format!(
            "INSERT INTO \"{}\" VALUE {}",
            name.replace('"', "\"\""),
            partiql_map(&parsed)
        ),
        rust: format!(
            "client.put_item()\n    .table_name({name:?})\n{}    .send().await?;",
            lines.collect::<String>()
        ),
        dynamodb: text,
    }
}

fn typed(value: &Json) -> Option<(&str, &Json)> {
    value.as_object()?.iter().next().map(|(kind, value)| (kind.as_str(), value))
}

fn partiql_map(fields: &Map<String, Json>) -> String {
    let fields: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{}: {}", partiql_text(name), partiql(value)))
        .collect();
    format!("{{{}}}", fields.join(", "))
}

fn partiql_text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn partiql(value: &Json) -> String {
    let list = |members: &[Json], one: &dyn Fn(&Json) -> String| {
        members.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let bare = |own: &Json| own.as_str().unwrap_or("").to_owned();
    match typed(value) {
        Some(("S", Json::String(text))) => partiql_text(text),
        Some(("N", Json::String(digits))) => digits.clone(),
        Some(("BOOL", Json::Bool(value))) => value.to_string(),
        Some(("NULL", _)) => "null".to_owned(),
        Some(("L", Json::Array(members))) => format!("[{}]", list(members, &partiql)),
        Some(("M", Json::Object(fields))) => partiql_map(fields),
        Some(("SS", Json::Array(members))) => {
            format!("<<{}>>", list(members, &|own| partiql_text(own.as_str().unwrap_or(""))))
        }
        Some(("NS", Json::Array(members))) => format!("<<{}>>", list(members, &bare)),
        // PartiQL writes no bytes: they are the value of a parameter.
        _ => "?".to_owned(),
    }
}

fn rust_attribute(value: &Json) -> String {
    let texts = |members: &[Json]| {
        let texts: Vec<String> = members
            .iter()
            .map(|own| format!("{:?}.to_owned()", own.as_str().unwrap_or("")))
            .collect();
        format!("vec![{}]", texts.join(", "))
    };
    let blob = |own: &Json| format!("Blob::new(decode({:?}))", own.as_str().unwrap_or(""));
    let inner = match typed(value) {
        Some((kind @ ("S" | "N"), Json::String(text))) => {
            return format!("AttributeValue::{kind}({text:?}.to_owned())");
        }
        Some(("BOOL", value)) => return format!("AttributeValue::Bool({value})"),
        Some(("NULL", _)) => return "AttributeValue::Null(true)".to_owned(),
        Some((kind @ ("SS" | "NS"), Json::Array(members))) => {
            let kind = if kind == "SS" { "Ss" } else { "Ns" };
            return format!("AttributeValue::{kind}({})", texts(members));
        }
        Some(("B", own)) => return format!("AttributeValue::B({})", blob(own)),
        Some(("BS", Json::Array(members))) => {
            let members: Vec<String> = members.iter().map(blob).collect();
            return format!("AttributeValue::Bs(vec![{}])", members.join(", "));
        }
        Some(("L", Json::Array(members))) => {
            let members: Vec<String> = members.iter().map(rust_attribute).collect();
            format!("L(vec![{}])", members.join(", "))
        }
        Some(("M", Json::Object(fields))) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("({name:?}.to_owned(), {})", rust_attribute(value)))
                .collect();
            format!("M(HashMap::from([{}]))", fields.join(", "))
        }
        _ => "Null(true)".to_owned(),
    };
    format!("AttributeValue::{inner}")
}

fn cell_forms(table: &cql::Table, cells: &[Option<Bytes>]) -> Forms {
    let set: Vec<(&cql::Column, &Bytes)> = table
        .columns
        .iter()
        .zip(cells)
        .filter_map(|(column, cell)| Some((column, cell.as_ref()?)))
        .collect();
    let lines: Vec<String> = set
        .iter()
        .map(|(column, cell)| {
            let mut name = String::new();
            put_json_name(&column.name, &mut name);
            format!("  {name}: {}", to_json(&column.kind, Some(cell.as_ref())))
        })
        .collect();
    let names: Vec<_> = set.iter().map(|(column, _)| maybe_quote(&column.name)).collect();
    let literals: Vec<String> =
        set.iter().map(|(column, cell)| to_literal(&column.kind, Some(cell.as_ref()))).collect();
    let place = format!("{} ({})", table.full_name(), names.join(", "));
    let marks = vec!["?"; set.len()].join(", ");
    let values: Vec<String> =
        set.iter().map(|(column, cell)| rust_value(&parsed(column, cell))).collect();
    let attributes: Map<String, Json> = set
        .iter()
        .map(|(column, cell)| (column.name.to_string(), attribute(&parsed(column, cell))))
        .collect();
    Forms {
        document: format!("{{\n{}\n}}", lines.join(",\n")),
        dynamodb: Json::Object(attributes).to_string(),
        insert: format!("INSERT INTO {place} VALUES ({})", literals.join(", ")),
        rust: format!(
            "session.query_unpaged(\n    {:?},\n    ({},),\n).await?;",
            format!("INSERT INTO {place} VALUES ({marks})"),
            values.join(", ")
        ),
    }
}

/// Returns a cell as JSON, whose numbers keep all their digits.
fn parsed(column: &cql::Column, cell: &Bytes) -> CqlJson {
    parse_json(&to_json(&column.kind, Some(cell.as_ref()))).unwrap_or(CqlJson::Null)
}

/// Returns the nearest attribute of DynamoDB to a value of CQL.
fn attribute(value: &CqlJson) -> Json {
    match value {
        CqlJson::Null => json!({ "NULL": true }),
        CqlJson::Bool(value) => json!({ "BOOL": value }),
        CqlJson::Number(digits) => json!({ "N": digits }),
        CqlJson::String(text) => json!({ "S": text }),
        CqlJson::Array(members) => {
            json!({ "L": members.iter().map(attribute).collect::<Vec<_>>() })
        }
        CqlJson::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| (name.clone(), attribute(value)));
            json!({ "M": fields.collect::<Map<String, Json>>() })
        }
    }
}

fn rust_value(value: &CqlJson) -> String {
    match value {
        CqlJson::Null => "None::<String>".to_owned(),
        CqlJson::Bool(value) => value.to_string(),
        CqlJson::Number(digits) => digits.clone(),
        CqlJson::String(text) => format!("{text:?}"),
        CqlJson::Array(members) => {
            let members: Vec<String> = members.iter().map(rust_value).collect();
            format!("vec![{}]", members.join(", "))
        }
        CqlJson::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("({name:?}, {})", rust_value(value)))
                .collect();
            format!("HashMap::from([{}])", fields.join(", "))
        }
    }
}
