//! Imports data models of NoSQL Workbench for DynamoDB, versions 1 to 3, and of Dynobase.
//!
//! What the file declares is handed over as it is: tables, facets, sample rows, the templates of
//! `ModelSchema` and the queries that it names. Row types are found by `observed`.
//!
//! Source of the form: the developer guide's page on importing models, and Amazon's published
//! samples of versions 1.0, 2.0 and 3.0, read 2026-11. Unknown members are told: later versions of
//! the tool write more.

mod queries;
mod rows;
mod schema;

use serde_json::Value as Json;

use crate::draft::Draft;
use crate::json::{At, parsed};
use crate::names::comment;
use crate::observed::{self, Attribute, Facet, Index, Table};
use crate::{IMPORT_ATTRIBUTES_MAX, IMPORT_TABLES_MAX, ImportError};

pub(super) fn import(name: &str, text: &str) -> Result<String, ImportError> {
    let json = parsed(text)?;
    let model = At::top(&json);
    if !json.is_object() {
        return Err(ImportError::new("1:1", "a data model is a JSON object"));
    }
    let version = model.member("ModelMetadata").and_then(|metadata| metadata.member("Version"));
    if let Some(version) = &version {
        let number = version.text()?;
        if !matches!(number.split('.').next(), Some("1" | "2" | "3")) {
            let message = format!("version {} is not known; 1 to 3 are read", comment(number));
            return Err(version.error(&message));
        }
    }
    let title = model.member("ModelName").and_then(|at| at.json.as_str()).unwrap_or(name);
    let mut draft =
        Draft { source: format!("NoSQL Workbench: {}", comment(title)), ..Draft::default() };
    draft.remarks.push(
        "Attributes outside the key are optional: a table of DynamoDB does not ask for them."
            .to_owned(),
    );
    draft.remarks.extend(unread(&model, "", &MODEL_MEMBERS));
    if version.is_none() {
        draft
            .remarks
            .push("? It does not say its version, and was read as 3.0: is it one?".to_owned());
    }
    let mut tables: Vec<Table> = Vec::new();
    let found = model.wanted("DataModel")?;
    for at in found.items()? {
        if tables.len() >= IMPORT_TABLES_MAX {
            return Err(at.error(&format!("at most {IMPORT_TABLES_MAX} tables are imported")));
        }
        let mut table = table(&at)?;
        let of = format!(" of {}", comment(&table.name));
        draft.remarks.extend(unread(&at, &of, &TABLE_MEMBERS));
        draft.remarks.extend(rows::rows(&at, &mut table)?);
        // The schema of another tool stands in the table, or beside all tables.
        if let Some(schema) = at.member("ModelSchema").or_else(|| model.member("ModelSchema")) {
            draft.remarks.extend(schema::schema(&schema, &mut table));
        }
        for member in queries::MEMBERS {
            let own = at.member(member).into_iter();
            let beside = (tables.is_empty()).then(|| model.member(member)).flatten();
            for list in own.chain(beside) {
                queries::access_patterns(&list, &mut table);
            }
        }
        draft.remarks.extend(undeclared(&table, &of));
        tables.push(table);
    }
    if tables.is_empty() {
        return Err(found.error("has no table"));
    }
    observed::write(&mut draft, &tables);
    Ok(draft.text())
}

/// Members of a model that are read, or say nothing of its data.
const MODEL_MEMBERS: [&str; 9] = [
    "ModelName",
    "ModelMetadata",
    "DataModel",
    "ModelSchema",
    "AccessPatterns",
    "accessPatterns",
    "Queries",
    "queries",
    "Operations",
];

/// Members of a table that are read, or that say nothing of its rows: `DataAccess` names another
/// database, and capacity is bought, not modelled.
const TABLE_MEMBERS: [&str; 16] = [
    "TableName",
    "KeyAttributes",
    "NonKeyAttributes",
    "GlobalSecondaryIndexes",
    "LocalSecondaryIndexes",
    "TableFacets",
    "TableData",
    "DataAccess",
    "BillingMode",
    "ProvisionedCapacitySettings",
    "ModelSchema",
    "AccessPatterns",
    "accessPatterns",
    "Queries",
    "queries",
    "Operations",
];

/// Returns a remark on unknown members of later versions and other tools.
fn unread(at: &At<'_>, of: &str, known: &[&str]) -> Option<String> {
    let members = at.json.as_object()?;
    let is_empty = |json: &Json| {
        json.is_null()
            || json.as_array().is_some_and(Vec::is_empty)
            || json.as_object().is_some_and(serde_json::Map::is_empty)
    };
    let mut names: Vec<String> = members
        .iter()
        .filter(|(name, json)| !known.contains(&name.as_str()) && !is_empty(json))
        .map(|(name, _)| comment(name))
        .collect();
    names.sort();
    let place = if of.is_empty() { " of the model" } else { of };
    (!names.is_empty()).then(|| {
        format!(
            "? Members{place} that are not read: {}. Do they matter?",
            comment(&names.join(", "))
        )
    })
}

/// Returns a remark on attributes that a facet or a projection names, and the table does not
/// declare.
fn undeclared(table: &Table, of: &str) -> Option<String> {
    let facets = table.facets.iter().filter_map(|facet| facet.others.as_ref());
    let shown = table.indexes.iter().filter_map(|index| index.shown.as_ref());
    let declared =
        |name: &String| table.others.iter().chain(&table.key).any(|one| one.name == *name);
    let mut names: Vec<String> = facets
        .chain(shown)
        .flatten()
        .filter(|name| !declared(name))
        .map(|name| comment(name))
        .collect();
    names.sort();
    names.dedup();
    (!names.is_empty()).then(|| {
        let names = comment(&names.join(", "));
        format!("? Attributes{of} that a facet or an index names and the table does not: {names}.")
    })
}

fn table(at: &At<'_>) -> Result<Table, ImportError> {
    let name = at.wanted("TableName")?.text()?.to_owned();
    let key = key(at)?;
    let mut others: Vec<Attribute> = Vec::new();
    for item in at.list("NonKeyAttributes")? {
        let found = attribute(&item)?;
        let known = |one: &Attribute| one.name == found.name;
        if !others.iter().any(known) && !key.iter().any(known) {
            others.push(found);
        }
    }
    if others.len() > IMPORT_ATTRIBUTES_MAX {
        let message = format!("at most {IMPORT_ATTRIBUTES_MAX} attributes are imported");
        return Err(at.error(&message));
    }
    let mut indexes = Vec::new();
    for list in ["GlobalSecondaryIndexes", "LocalSecondaryIndexes"] {
        for item in at.list(list)? {
            let local = list == "LocalSecondaryIndexes";
            indexes.push(Index { local, ..index(&item, &key)? });
        }
    }
    // Key attributes of indexes need not be listed.
    for part in indexes.iter().flat_map(|index: &Index| &index.parts) {
        let known = |one: &Attribute| one.name == part.name;
        if !others.iter().any(known) && !key.iter().any(known) {
            others.push(part.clone());
        }
    }
    let mut facets = Vec::new();
    for item in at.list("TableFacets")? {
        facets.push(facet(&item)?);
    }
    Ok(Table { name, key, others, indexes, facets, ..Table::default() })
}

fn key(at: &At<'_>) -> Result<Vec<Attribute>, ImportError> {
    let key = at.wanted("KeyAttributes")?;
    let partition = attribute(&key.wanted("PartitionKey")?)?;
    let sort = key.member("SortKey").map(|sort| attribute(&sort)).transpose()?;
    if sort.as_ref().is_some_and(|sort| sort.name == partition.name) {
        return Err(key.error("names one attribute twice"));
    }
    Ok(std::iter::once(partition).chain(sort).collect())
}

/// Returns one attribute, or a list of them: indexes have up to four and four since November 2025.
fn several(at: &At<'_>) -> Result<Vec<Attribute>, ImportError> {
    if !at.json.is_array() {
        return Ok(vec![attribute(at)?]);
    }
    let found = at.items()?.iter().map(attribute).collect::<Result<Vec<_>, _>>()?;
    if found.is_empty() {
        return Err(at.error("names no attribute"));
    }
    Ok(found)
}

fn attribute(at: &At<'_>) -> Result<Attribute, ImportError> {
    let name = at.wanted("AttributeName")?.text()?.to_owned();
    let letter = at.member("AttributeType").map_or(Ok("S"), |letter| letter.text())?.to_owned();
    let known = ["S", "N", "B", "BOOL", "M", "L", "SS", "NS", "BS", "NULL"];
    if !known.contains(&letter.as_str()) {
        return Err(at.error(&format!("{} is no type of an attribute", comment(&letter))));
    }
    Ok(Attribute { name, letter })
}

fn index(at: &At<'_>, table: &[Attribute]) -> Result<Index, ImportError> {
    let name = at.wanted("IndexName")?.text()?.to_owned();
    let key = at.wanted("KeyAttributes")?;
    let mut parts = match key.member("PartitionKey") {
        Some(partition) => several(&partition)?,
        // A local index has the partition key of its table.
        None => table.first().cloned().into_iter().collect(),
    };
    let partition = parts.len();
    if let Some(sort) = key.member("SortKey") {
        parts.extend(several(&sort)?);
    }
    for (at, part) in parts.iter().enumerate() {
        if parts.iter().take(at).any(|one| one.name == part.name) {
            return Err(key.error("names one attribute twice"));
        }
    }
    let projection = at.member("Projection");
    let kind = projection.as_ref().and_then(|one| one.member("ProjectionType"));
    let shown = match kind.map(|kind| kind.text()).transpose()? {
        None | Some("ALL") => None,
        Some("KEYS_ONLY") => Some(Vec::new()),
        Some("INCLUDE") => {
            let mut names = Vec::new();
            for item in projection.map_or(Ok(Vec::new()), |one| one.list("NonKeyAttributes"))? {
                names.push(item.text()?.to_owned());
            }
            Some(names)
        }
        Some(other) => {
            return Err(at.error(&format!("{} is no projection", comment(other))));
        }
    };
    Ok(Index { name, local: false, parts, partition, shown })
}

fn facet(at: &At<'_>) -> Result<Facet, ImportError> {
    let name = at.wanted("FacetName")?.text()?.to_owned();
    let alias = |member: &str| -> Result<Option<String>, ImportError> {
        let found = at.member("KeyAttributeAlias").and_then(|one| one.member(member));
        found.map(|found| found.text().map(str::to_owned)).transpose()
    };
    let aliases = vec![alias("PartitionKeyAlias")?, alias("SortKeyAlias")?];
    let mut others = Vec::new();
    for item in at.list("NonKeyAttributes")? {
        // The guide's samples list names; some tools write objects.
        others.push(match item.json.as_str() {
            Some(name) => name.to_owned(),
            None => attribute(&item)?.name,
        });
    }
    let others = at.member("NonKeyAttributes").map(|_| others);
    Ok(Facet { name, aliases, others })
}
