//! Data models of NoSQL Workbench: tables with their keys, indexes and rows in one file.
//!
//! What it is not: the importer of designs, which looks for row types and queries in such files. Here each
//! row counts, with all its values. Facets, sample formats and code stay behind.
//!
//! Invariant: what is written is read back as it was: definition, rows, values.

use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json, json};
use shelfmark_store::vfs;

use super::definition::Definition;
use crate::error::{Error, Result};
use crate::input::{Place, Record};

/// Largest file that is read. Source: ours; it is held in memory, and the tool is for samples.
const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// A table of a model.
pub struct WorkbenchTable {
    /// Its definition.
    pub definition: Definition,
    /// Its rows, as lines of DynamoDB's JSON.
    pub rows: Vec<(Place, Record)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Model<'a> {
    #[serde(borrow)]
    data_model: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Rows<'a> {
    #[serde(borrow, default)]
    table_data: Vec<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct Table {
    table_name: String,
    key_attributes: Keys,
    non_key_attributes: Vec<Attribute>,
    global_secondary_indexes: Vec<Index>,
    local_secondary_indexes: Vec<Index>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct Keys {
    partition_key: Option<Attribute>,
    sort_key: Option<Attribute>,
}

#[derive(Deserialize, Default, Clone)]
#[serde(rename_all = "PascalCase", default)]
struct Attribute {
    attribute_name: String,
    attribute_type: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct Index {
    index_name: String,
    key_attributes: Keys,
    projection: Map<String, Json>,
}

/// Reads the tables of a model: all, or the one of this name.
///
/// # Errors
///
/// * [`crate::ErrorKind::Invalid`]: it is no data model, or has no such table.
/// * [`crate::ErrorKind::Io`]: it cannot be read.
pub fn read_workbench(path: &Path, table: Option<&str>) -> Result<Vec<WorkbenchTable>> {
    let cannot = |error: std::io::Error| Error::io("read", path, &error);
    let length = vfs::open(path).and_then(|file| file.metadata()).map_err(cannot)?.len();
    if length > FILE_BYTES_MAX {
        return Err(Error::invalid(format!(
            "{} is larger than 256 MiB, and a data model is read as a whole: use --format dynamodb-json",
            path.display()
        )));
    }
    let bytes = vfs::read(path).map_err(cannot)?;
    let none = |why: String| {
        Error::invalid(format!("{} is no data model of NoSQL Workbench: {why}", path.display()))
    };
    let text = std::str::from_utf8(&bytes).map_err(|error| none(error.to_string()))?;
    let model: Model<'_> = serde_json::from_str(text).map_err(|error| none(error.to_string()))?;
    let file: Arc<str> = path.display().to_string().into();
    let mut found = Vec::new();
    for raw in model.data_model {
        let own: Table =
            serde_json::from_str(raw.get()).map_err(|error| none(error.to_string()))?;
        if table.is_some_and(|wanted| wanted != own.table_name) {
            continue;
        }
        let rows: Rows<'_> =
            serde_json::from_str(raw.get()).map_err(|error| none(error.to_string()))?;
        let definition = definition(&own).map_err(none)?;
        let rows = placed(text, &file, &rows.table_data);
        found.push(WorkbenchTable { definition, rows });
    }
    match (table, found.is_empty()) {
        (Some(table), true) => Err(none(format!("it has no table {table}"))),
        _ => Ok(found),
    }
}

/// Returns rows with their lines in the file.
fn placed(text: &str, file: &Arc<str>, rows: &[&RawValue]) -> Vec<(Place, Record)> {
    let (mut line, mut at) = (1, 0);
    let place = |row: &&RawValue| {
        let offset = (row.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        let between = text.as_bytes().get(at..offset).unwrap_or_default();
        line += between.iter().filter(|byte| **byte == b'\n').count() as u64;
        at = offset;
        let place = Place { file: Arc::clone(file), line };
        (place, Record::Line(row.get().as_bytes().to_vec()))
    };
    rows.iter().map(place).collect()
}

fn definition(table: &Table) -> std::result::Result<Definition, String> {
    let mut types: Vec<Attribute> = Vec::new();
    let mut note = |attribute: &Attribute| {
        let typed = match attribute.attribute_type.as_str() {
            // An index may name an attribute whose type stands among the others.
            "" => table
                .non_key_attributes
                .iter()
                .find(|own| own.attribute_name == attribute.attribute_name)
                .cloned(),
            _ => Some(attribute.clone()),
        };
        let typed = typed.ok_or_else(|| format!("{} has no type", attribute.attribute_name))?;
        if !types.iter().any(|own| own.attribute_name == typed.attribute_name) {
            types.push(typed);
        }
        Ok::<_, String>(())
    };
    let mut keys = |keys: &Keys| -> std::result::Result<Json, String> {
        let partition = keys.partition_key.as_ref().ok_or("a key has no PartitionKey")?;
        let mut all = Vec::new();
        for (attribute, role) in [(Some(partition), "HASH"), (keys.sort_key.as_ref(), "RANGE")] {
            let Some(attribute) = attribute else { continue };
            note(attribute)?;
            all.push(json!({ "AttributeName": attribute.attribute_name, "KeyType": role }));
        }
        Ok(Json::Array(all))
    };
    let mut create = Map::new();
    create.insert("TableName".to_owned(), json!(table.table_name));
    create.insert("KeySchema".to_owned(), keys(&table.key_attributes)?);
    create.insert("BillingMode".to_owned(), json!("PAY_PER_REQUEST"));
    let lists = [
        ("GlobalSecondaryIndexes", &table.global_secondary_indexes),
        ("LocalSecondaryIndexes", &table.local_secondary_indexes),
    ];
    for (name, indexes) in lists.into_iter().filter(|(_, indexes)| !indexes.is_empty()) {
        let one = |index: &Index| -> std::result::Result<Json, String> {
            let projection = match index.projection.is_empty() {
                true => json!({ "ProjectionType": "ALL" }),
                false => Json::Object(index.projection.clone()),
            };
            Ok(json!({
                "IndexName": index.index_name,
                "KeySchema": keys(&index.key_attributes)?,
                "Projection": projection,
            }))
        };
        let all: Vec<Json> = indexes.iter().map(one).collect::<std::result::Result<_, _>>()?;
        create.insert(name.to_owned(), Json::Array(all));
    }
    let types: Vec<Json> = types
        .iter()
        .map(|own| {
            json!({ "AttributeName": own.attribute_name, "AttributeType": own.attribute_type })
        })
        .collect();
    create.insert("AttributeDefinitions".to_owned(), Json::Array(types));
    Definition::parse(&Json::Object(create).to_string(), &table.table_name)
        .map_err(|error| error.to_string())
}

/// Returns what stands in front of a table's rows and behind them.
pub(super) fn around(definition: &Definition) -> Result<(Vec<u8>, Vec<u8>)> {
    const ROWS: &str = "\"TableData\":[";
    let create = definition.create_table();
    let types = definition.key_types();
    let attribute = |name: &str| {
        let found = types.iter().find(|(own, _)| own == name);
        let kind = found.map_or("S", |(_, kind)| kind.as_str());
        json!({ "AttributeName": name, "AttributeType": kind })
    };
    let keys = |of: &Json| {
        let mut keys = Map::new();
        for part in of.as_array().into_iter().flatten() {
            let text = |name: &str| part.get(name).and_then(Json::as_str).unwrap_or_default();
            let role = if text("KeyType") == "HASH" { "PartitionKey" } else { "SortKey" };
            keys.insert(role.to_owned(), attribute(text("AttributeName")));
        }
        Json::Object(keys)
    };
    let own_keys = create.get("KeySchema").cloned().unwrap_or_default();
    let is_own = |name: &str| {
        let parts = own_keys.as_array().into_iter().flatten();
        parts.into_iter().any(|part| part.get("AttributeName").and_then(Json::as_str) == Some(name))
    };
    let others: Vec<Json> =
        types.iter().filter(|(name, _)| !is_own(name)).map(|(name, _)| attribute(name)).collect();
    let indexes = |name: &str| -> Vec<Json> {
        let all = create.get(name).and_then(Json::as_array).into_iter().flatten();
        all.map(|index| {
            json!({
                "IndexName": index.get("IndexName"),
                "KeyAttributes": keys(index.get("KeySchema").unwrap_or(&Json::Null)),
                "Projection": index.get("Projection"),
            })
        })
        .collect()
    };
    let table = json!({
        "TableName": definition.table(),
        "KeyAttributes": keys(&own_keys),
        "NonKeyAttributes": others,
        "TableFacets": [],
        "GlobalSecondaryIndexes": indexes("GlobalSecondaryIndexes"),
        "LocalSecondaryIndexes": indexes("LocalSecondaryIndexes"),
        "DataAccess": { "MySql": {} },
        "SampleDataFormats": {},
        "BillingMode": "PAY_PER_REQUEST",
    });
    let model = json!({
        "ModelName": definition.table(),
        "ModelMetadata": {
            "Author": "",
            "DateCreated": "",
            "DateLastModified": "",
            "Description": "",
            "AWSService": "Amazon DynamoDB",
            "Version": "3.0",
        },
    });
    let (table, model) = (table.to_string(), model.to_string());
    let inner = |text: &str| text.trim_end_matches('}').to_owned();
    // The rows come last in the table, and the table last in the model.
    let table = table.strip_suffix('}').unwrap_or(&table);
    let head = format!("{}}},\"DataModel\":[{table},{ROWS}", inner(&model));
    Ok((head.into_bytes(), b"\n]}]}\n".to_vec()))
}
