//! Reads the queries that a file names: those of Dynobase, and the access patterns of newer
//! Workbenches.
//!
//! The form of access patterns (version 3.20, February 2026) is not published. So members are looked
//! for by the names that DynamoDB's requests have; what is not found is told with its description.
//!
//! What it is not: a parser of expressions. Of a key condition the attribute, the operator and the
//! value are read, nothing else.

use serde_json::Value as Json;

use super::schema::plain;
use crate::json::At;
use crate::observed::{Query, SortCondition, Table};

/// Members of a model or a table that list access patterns.
pub(super) const MEMBERS: [&str; 5] =
    ["AccessPatterns", "accessPatterns", "Queries", "queries", "Operations"];

/// Reads the named queries of `ModelSchema`.
pub(super) fn named(at: &At<'_>, table: &mut Table) {
    let Some(queries) = at.member("queries") else { return };
    for (name, one) in queries.members() {
        let text = |member: &str| one.member(member).and_then(|found| plain(found.json));
        let mut query =
            Query { name: name.to_owned(), partition: text("hash"), ..Query::default() };
        let primary = primary(at);
        query.index = text("index").filter(|index| *index != primary && !index.is_empty());
        let sort = text("sort").filter(|sort| !sort.is_empty());
        if let Some(sort) = sort {
            match condition(&text("operation").unwrap_or_default()) {
                Some(condition) => query.sort = Some((condition, sort)),
                None => query.other = Some("its condition on the sort key is not known".to_owned()),
            }
        }
        if text("type").is_some_and(|kind| kind.eq_ignore_ascii_case("scan")) {
            query.other = Some("it scans the whole table".to_owned());
        }
        for filter in one.list("filters").unwrap_or_default() {
            let part = |member: &str| filter.member(member).and_then(|found| plain(found.json));
            let Some(field) = part("field") else { continue };
            let operation = part("operation").unwrap_or_default();
            match condition(&operation) {
                Some(SortCondition::Equal) => query.filters.push(field),
                _ => query.filters.push(format!(
                    "? its filter is left out: {} {}",
                    crate::names::comment(&field),
                    crate::names::comment(&operation)
                )),
            }
        }
        table.queries.push(query);
    }
}

/// Returns the name that the schema gives the table's own key.
fn primary(at: &At<'_>) -> String {
    let indexes = at.member("indexes").map(|indexes| indexes.members()).unwrap_or_default();
    let first = indexes.first().map(|(name, _)| (*name).to_owned());
    let known = indexes.iter().any(|(name, _)| *name == "primary");
    if known { "primary".to_owned() } else { first.unwrap_or_else(|| "primary".to_owned()) }
}

/// Returns the condition that a tool's word stands for.
fn condition(word: &str) -> Option<SortCondition> {
    let plain: String =
        word.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()).collect();
    Some(match (plain.as_str(), word.trim()) {
        ("equal" | "equals" | "equalto" | "eq" | "is", _) | (_, "" | "=" | "==") => {
            SortCondition::Equal
        }
        ("beginswith" | "begins" | "startswith", _) => SortCondition::Begins,
        ("lessthan" | "less" | "lt", _) | (_, "<") => SortCondition::Less,
        ("lessthanorequal" | "lessthanorequalto" | "le" | "lte", _) | (_, "<=") => {
            SortCondition::AtMost
        }
        ("greaterthan" | "greater" | "gt", _) | (_, ">") => SortCondition::More,
        ("greaterthanorequal" | "greaterthanorequalto" | "ge" | "gte", _) | (_, ">=") => {
            SortCondition::AtLeast
        }
        ("between", _) => SortCondition::Between,
        _ => return None,
    })
}

/// Reads a list of access patterns, or an object of them by name.
pub(super) fn access_patterns(at: &At<'_>, table: &mut Table) {
    if at.json.is_array() {
        for one in at.items().unwrap_or_default() {
            let name =
                first(&one, &["Name", "AccessPatternName", "PatternName", "name", "Id", "id"]);
            access_pattern(
                &one,
                name.unwrap_or_else(|| "a pattern without a name".to_owned()),
                table,
            );
        }
        return;
    }
    for (name, one) in at.members() {
        access_pattern(&one, name.to_owned(), table);
    }
}

fn access_pattern(at: &At<'_>, name: String, table: &mut Table) {
    let of = first(at, &["TableName", "tableName", "Table", "table"]);
    if of.is_some_and(|of| of != table.name) {
        return;
    }
    let mut query = Query { name, ..Query::default() };
    query.description = first(at, &["Description", "description"]).unwrap_or_default();
    let index = first(at, &["IndexName", "indexName", "Index", "index"]);
    query.index = index.filter(|index| table.indexes.iter().any(|one| one.name == *index));
    let operation =
        first(at, &["OperationType", "operationType", "Operation", "operation", "Type", "type"]);
    let operation = operation.unwrap_or_default().to_ascii_lowercase();
    if !matches!(operation.as_str(), "" | "query" | "getitem" | "get" | "read") {
        query.other = Some(format!("it is no query but {}", crate::names::comment(&operation)));
    }
    let parts: Vec<String> = match &query.index {
        None => table.key.iter().map(|part| part.name.clone()).collect(),
        Some(index) => table
            .indexes
            .iter()
            .filter(|one| one.name == *index)
            .flat_map(|one| one.parts.iter().map(|part| part.name.clone()))
            .collect(),
    };
    let values = parts.iter().map(|part| known(at, part));
    let mut values = values.collect::<Vec<_>>().into_iter();
    query.partition = values.next().flatten().map(|(_, value)| value).or_else(|| {
        first(at, &["PartitionKeyValue", "partitionKeyValue", "PartitionKey", "partitionKey"])
    });
    let sort = values.next().flatten().or_else(|| {
        let value = first(at, &["SortKeyValue", "sortKeyValue", "SortKey", "sortKey"])?;
        let word = first(at, &["SortKeyCondition", "sortKeyCondition", "SortKeyOperator"]);
        Some((condition(&word.unwrap_or_default())?, value))
    });
    query.sort = sort.filter(|(_, value)| !value.is_empty());
    query.limit =
        at.member("Limit").or_else(|| at.member("limit")).and_then(|one| one.json.as_u64());
    let forward = at.member("ScanIndexForward").or_else(|| at.member("scanIndexForward"));
    query.backwards = forward.is_some_and(|one| one.json == &Json::Bool(false));
    table.queries.push(query);
}

/// Returns the first of several members that is a text.
fn first(at: &At<'_>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| at.member(name)).and_then(|found| plain(found.json))
}

/// Returns the condition on an attribute of a key, as `Key`, `KeyConditions` or
/// `KeyConditionExpression` with its values says it.
fn known(at: &At<'_>, name: &str) -> Option<(SortCondition, String)> {
    let value = |json: &Json| -> Option<String> {
        plain(json).or_else(|| json.get("S").or_else(|| json.get("N")).and_then(plain))
    };
    if let Some(found) =
        at.member("Key").or_else(|| at.member("key")).and_then(|key| key.member(name))
    {
        return value(found.json).map(|text| (SortCondition::Equal, text));
    }
    if let Some(found) = at.member("KeyConditions").and_then(|conditions| conditions.member(name)) {
        let word = found.member("ComparisonOperator").and_then(|word| plain(word.json));
        let list = found.list("AttributeValueList").ok()?;
        let word = word.unwrap_or_default().replace('_', "");
        return Some((condition(&word)?, value(list.first()?.json)?));
    }
    let expression = first(at, &["KeyConditionExpression", "keyConditionExpression"])?;
    let values = at.member("ExpressionAttributeValues")?;
    let aliases = at.member("ExpressionAttributeNames");
    let alias = aliases.into_iter().flat_map(|aliases| aliases.members());
    let alias = alias.into_iter().find(|(_, one)| one.json.as_str() == Some(name));
    let spelt = alias.map_or(name, |(short, _)| short);
    let valued = |marker: &str| {
        let marker: String = marker
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, ':' | '_'))
            .collect();
        value(values.member(&marker)?.json)
    };
    for part in expression.split(" AND ").flat_map(|part| part.split(" and ")) {
        let part = part.trim();
        if let Some(inside) = part.strip_prefix("begins_with(") {
            let (own, marker) = inside.split_once(',')?;
            if own.trim() == spelt {
                return Some((SortCondition::Begins, valued(marker.trim())?));
            }
            continue;
        }
        let Some(rest) = part.strip_prefix(spelt).map(str::trim_start) else { continue };
        let end = rest.find(':').unwrap_or(rest.len());
        let (operator, marker) = rest.split_at(end);
        return Some((condition(operator.trim())?, valued(marker)?));
    }
    None
}
