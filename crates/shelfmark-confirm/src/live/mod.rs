//! Describes the tables of a live server as a text that an importer of models takes: of DynamoDB a data
//! model of NoSQL Workbench with a sample of items, of CQL its statements, with what a sample of rows says
//! in comments.
//!
//! What it is not: no import, and no copy of data. It has no socket; who has one implements a trait.
//!
//! Invariant: nothing is written to the server, and of each table at most [`SAMPLED_ROWS`] rows are read.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use serde_json::{Map, Value as Json, json};
use shelfmark_cql_protocol::client::{Page, Query, Request};
use shelfmark_dynamo::DynamoDbEndpoint;

use crate::CqlEndpoint;

/// Most rows of one table that are looked at.
///
/// Ours: an importer finds row types in some dozens of each, and looks at 2,000 at most.
pub const SAMPLED_ROWS: usize = 1_000;

/// Most tables that are described.
///
/// Ours: no model of one application has more, and each takes some requests.
pub const DESCRIBED_TABLES_MAX: usize = 500;

/// Segments of a table of DynamoDB from whose beginnings a sample is drawn.
///
/// Ours: neighbours in a segment are of other partitions, for those lie by their hashes.
const SEGMENTS: usize = 8;

/// Returns a data model of NoSQL Workbench with the tables of a server, or with one of them, and a sample
/// of the items of each.
///
/// Cost: a description and eight scans of up to 125 items for each table.
///
/// # Errors
///
/// What the server says, or that there are more tables than are described. Name one.
pub fn describe_dynamodb(
    endpoint: &dyn DynamoDbEndpoint,
    table: Option<&str>,
) -> Result<String, String> {
    let names = match table {
        Some(one) => vec![one.to_owned()],
        None => table_names(endpoint)?,
    };
    let tables: Result<Vec<Json>, String> =
        names.iter().map(|name| dynamodb_table(endpoint, name)).collect();
    let model = json!({
        "ModelName": table.unwrap_or("a live server"),
        "ModelMetadata": { "Version": "3.0" },
        "DataModel": tables?,
    });
    Ok(model.to_string())
}

/// Sends a request of DynamoDB.
fn ask(endpoint: &dyn DynamoDbEndpoint, operation: &str, body: &Json) -> Result<Json, String> {
    let (status, reply) = endpoint.send(operation, body.to_string().as_bytes())?;
    if status != 200 {
        return Err(format!("{operation}: {}", String::from_utf8_lossy(&reply)));
    }
    serde_json::from_slice(&reply).map_err(|error| format!("{operation}: {error}"))
}

fn table_names(endpoint: &dyn DynamoDbEndpoint) -> Result<Vec<String>, String> {
    let mut names: Vec<String> = Vec::new();
    let mut body = json!({});
    loop {
        let page = ask(endpoint, "ListTables", &body)?;
        let listed = page.get("TableNames").and_then(Json::as_array);
        let listed = listed.into_iter().flatten().filter_map(Json::as_str);
        names.extend(listed.map(str::to_owned));
        if names.len() > DESCRIBED_TABLES_MAX {
            let most = DESCRIBED_TABLES_MAX;
            return Err(format!("there are more than {most} tables; name one behind the address"));
        }
        match page.get("LastEvaluatedTableName") {
            Some(last) => body = json!({ "ExclusiveStartTableName": last }),
            None => return Ok(names),
        }
    }
}

fn dynamodb_table(endpoint: &dyn DynamoDbEndpoint, name: &str) -> Result<Json, String> {
    let said = ask(endpoint, "DescribeTable", &json!({ "TableName": name }))?;
    let table = said.get("Table").ok_or("DescribeTable: it describes no table")?;
    let items = sample(endpoint, name)?;
    let types: BTreeMap<&str, &str> = list(table, "AttributeDefinitions")
        .filter_map(|one| Some((text(one, "AttributeName")?, text(one, "AttributeType")?)))
        .collect();
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, value) in items.iter().filter_map(Json::as_object).flatten() {
        let letter = value.as_object().and_then(|one| one.keys().next());
        seen.entry(name).or_insert(letter.map_or("S", String::as_str));
    }
    let key: BTreeSet<&str> =
        list(table, "KeySchema").filter_map(|one| text(one, "AttributeName")).collect();
    let attribute =
        |(name, letter): (&&str, &&str)| json!({ "AttributeName": name, "AttributeType": letter });
    let others: Vec<Json> = types
        .iter()
        .chain(seen.iter().filter(|(name, _)| !types.contains_key(**name)))
        .filter(|(name, _)| !key.contains(**name))
        .map(attribute)
        .collect();
    let indexes = |member: &str| -> Vec<Json> {
        list(table, member)
            .map(|index| {
                json!({
                    "IndexName": index.get("IndexName"),
                    "KeyAttributes": key_of(index, &types),
                    "Projection": index.get("Projection"),
                })
            })
            .collect()
    };
    Ok(json!({
        "TableName": name,
        "KeyAttributes": key_of(table, &types),
        "NonKeyAttributes": others,
        "GlobalSecondaryIndexes": indexes("GlobalSecondaryIndexes"),
        "LocalSecondaryIndexes": indexes("LocalSecondaryIndexes"),
        "TableData": items,
    }))
}

fn list<'j>(json: &'j Json, member: &str) -> impl Iterator<Item = &'j Json> {
    json.get(member).and_then(Json::as_array).into_iter().flatten()
}

fn text<'j>(json: &'j Json, member: &str) -> Option<&'j str> {
    json.get(member)?.as_str()
}

/// Returns a key in the form of data models: one attribute, or a list where an index has several.
fn key_of(described: &Json, types: &BTreeMap<&str, &str>) -> Json {
    let part = |kind: &str| -> Option<Json> {
        let own = list(described, "KeySchema").filter(|one| text(one, "KeyType") == Some(kind));
        let mut named: Vec<Json> = own
            .filter_map(|one| {
                let name = text(one, "AttributeName")?;
                let letter = types.get(name).copied().unwrap_or("S");
                Some(json!({ "AttributeName": name, "AttributeType": letter }))
            })
            .collect();
        match named.len() {
            0 => None,
            1 => named.pop(),
            _ => Some(Json::Array(named)),
        }
    };
    let halves = [("PartitionKey", part("HASH")), ("SortKey", part("RANGE"))];
    let present = halves.into_iter().filter_map(|(name, part)| Some((name.to_owned(), part?)));
    Json::Object(Map::from_iter(present))
}

/// Reads items from the beginnings of some segments.
fn sample(endpoint: &dyn DynamoDbEndpoint, table: &str) -> Result<Vec<Json>, String> {
    let mut items = Vec::new();
    for segment in 0..SEGMENTS {
        let body = json!({
            "TableName": table,
            "Segment": segment,
            "TotalSegments": SEGMENTS,
            "Limit": SAMPLED_ROWS / SEGMENTS,
        });
        let page = ask(endpoint, "Scan", &body)?;
        items.extend(list(&page, "Items").cloned());
    }
    Ok(items)
}

/// Returns the statements that make the tables of a server, or of one keyspace, each table below what a
/// sample of its rows says.
///
/// Cost: a description of the schema, and one page of rows for each table.
///
/// # Errors
///
/// What the server says, or that there are more tables than are described. Name a keyspace.
pub fn describe_cql(endpoint: &dyn CqlEndpoint, keyspace: Option<&str>) -> Result<String, String> {
    let described = match keyspace {
        Some(name) => format!("DESCRIBE KEYSPACE {}", quoted(name)),
        None => "DESCRIBE SCHEMA".to_owned(),
    };
    let page = run(endpoint, &described)?;
    let mut out = String::new();
    let mut tables = 0;
    for row in &page.rows {
        let cell = |name: &str| cell_of(&page, row, name).unwrap_or_default();
        let described = cell("create_statement");
        let statement = shelfmark_cql_syntax::recreating(&described);
        if cell("type") == "table" {
            tables += 1;
            if tables > DESCRIBED_TABLES_MAX {
                let most = DESCRIBED_TABLES_MAX;
                return Err(format!(
                    "there are more than {most} tables; name a keyspace behind the address"
                ));
            }
            let said = sampled(endpoint, &cell("keyspace_name"), &cell("name"))?;
            out.push_str(&format!("-- {said}\n"));
        }
        out.push_str(statement.trim_end());
        out.push_str(if statement.trim_end().ends_with(';') { "\n\n" } else { ";\n\n" });
    }
    Ok(out)
}

fn run(endpoint: &dyn CqlEndpoint, text: &str) -> Result<Page, String> {
    let rows = i32::try_from(SAMPLED_ROWS).unwrap_or(i32::MAX);
    let mut query = Query { text, page_size: Some(rows), ..Query::default() };
    let mut whole = Page::default();
    loop {
        let answer = endpoint.run(&Request::Query(query.clone()));
        let page = answer.map_err(|why| format!("{text}: {why}"))?.page.unwrap_or_default();
        whole.columns = page.columns;
        whole.rows.extend(page.rows);
        match page.paging {
            Some(next) => query.paging = Some(next),
            None => return Ok(whole),
        }
    }
}

fn cell_of(page: &Page, row: &[Option<Bytes>], name: &str) -> Option<String> {
    let at = page.columns.iter().position(|column| &*column.name == name)?;
    row.get(at)?.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns a name without its quotes.
fn bare(name: &str) -> String {
    match name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\""),
        None => name.to_owned(),
    }
}

/// Returns what a sample of a table's rows says; names stand as statements write them: how many share a partition, and which columns some lack.
fn sampled(endpoint: &dyn CqlEndpoint, keyspace: &str, table: &str) -> Result<String, String> {
    let columns = run(
        endpoint,
        &format!(
            "SELECT column_name, kind FROM system_schema.columns WHERE keyspace_name = '{}' AND \
             table_name = '{}'",
            bare(keyspace).replace('\'', "''"),
            bare(table).replace('\'', "''")
        ),
    )?;
    let partition: BTreeSet<String> = columns
        .rows
        .iter()
        .filter(|row| cell_of(&columns, row, "kind").as_deref() == Some("partition_key"))
        .filter_map(|row| cell_of(&columns, row, "column_name"))
        .collect();
    let text = format!("SELECT * FROM {keyspace}.{table} LIMIT {SAMPLED_ROWS}");
    let page = run(endpoint, &text)?;
    if page.rows.is_empty() {
        return Ok("No row was there when it was looked at.".to_owned());
    }
    let in_key =
        |at: &usize| page.columns.get(*at).is_some_and(|column| partition.contains(&*column.name));
    let key: Vec<usize> = (0..page.columns.len()).filter(in_key).collect();
    let mut counts: Vec<usize> = Vec::new();
    let mut before: Option<Vec<&Option<Bytes>>> = None;
    for row in &page.rows {
        let own: Vec<&Option<Bytes>> = key.iter().filter_map(|at| row.get(*at)).collect();
        match counts.last_mut() {
            Some(count) if before.as_ref() == Some(&own) => *count += 1,
            _ => counts.push(1),
        }
        before = Some(own);
    }
    // The last partition may go on behind the sample.
    let cut = page.rows.len() == SAMPLED_ROWS && counts.len() > 1;
    let whole = counts.get(..counts.len() - usize::from(cut)).unwrap_or_default();
    let (rows, most) = (whole.iter().sum::<usize>(), whole.iter().max().copied().unwrap_or(0));
    let lacking: Vec<String> = (0..page.columns.len())
        .filter_map(|at| {
            let none = page.rows.iter().filter(|row| row.get(at).is_some_and(Option::is_none));
            let count = none.count();
            let name = &page.columns.get(at)?.name;
            (count > 0).then(|| format!("{name} in {count}"))
        })
        .collect();
    let mut said = format!(
        "Of {rows} rows in {} partitions: {:.1} share one, at most {most}.",
        whole.len(),
        rows as f64 / whole.len().max(1) as f64
    );
    if !lacking.is_empty() {
        said.push_str(&format!(" Absent: {} of {}.", lacking.join(", "), page.rows.len()));
    }
    Ok(said)
}

#[cfg(test)]
mod tests;
