//! Bodies of DynamoDB's operations.
//!
//! Placeholders of the model's requests (`{"$text": …}`) stand for values; a text in which they are has
//! [`HOLE`] in their places.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};
use shelfmark_design_language::codec::hex_of_base64;
use shelfmark_dynamo::{
    AskedBound as Bound, AskedKind, AskedStatement, AskedValue, AskedValues, asked_changes,
    asked_keys, asked_statement,
};

use super::{Asked, AskedBound, AskedOrder, Reading, Text};
use crate::shape::Kind;
use crate::template::HOLE;

type Fields = Map<String, Json>;

/// Reads a body.
#[must_use]
pub fn operation(name: &str, body: &Json) -> Reading {
    let Some(fields) = body.as_object() else { return Reading::Unread };
    let one = |asked: Option<Asked>| match asked {
        Some(asked) => Reading::Asks(vec![asked]),
        None => Reading::Unread,
    };
    match name {
        "GetItem" => one(keyed(Kind::Read, fields)),
        "Query" | "Scan" => one(ranged(fields)),
        "PutItem" => one(put(fields)),
        "UpdateItem" => one(update(fields)),
        "DeleteItem" => one(keyed(Kind::Delete, fields)),
        "BatchGetItem" | "BatchWriteItem" => all(of_batch(fields)),
        "TransactGetItems" | "TransactWriteItems" => all(of_transaction(fields)),
        "ExecuteStatement" => one(statement(fields)),
        "BatchExecuteStatement" => all(of_statements(fields, "Statements")),
        "ExecuteTransaction" => all(of_statements(fields, "TransactStatements")),
        _ => Reading::Asks(Vec::new()),
    }
}

fn all(asked: Option<Vec<Asked>>) -> Reading {
    asked.map_or(Reading::Unread, Reading::Asks)
}

fn table(fields: &Fields) -> Option<&str> {
    fields.get("TableName").and_then(Json::as_str).map(short)
}

/// Returns the name of a table that may be an ARN.
fn short(name: &str) -> &str {
    name.rsplit_once("table/").map_or(name, |(_, name)| name)
}

fn keyed(kind: Kind, fields: &Fields) -> Option<Asked> {
    by_key(kind, table(fields)?, fields.get("Key")?.as_object()?)
}

fn by_key(kind: Kind, table: &str, key: &Fields) -> Option<Asked> {
    let bound = key.iter().map(|(name, value)| (name.clone(), AskedBound::Equal(text(value))));
    Some(Asked { bound: bound.collect(), ..Asked::new(kind, table) })
}

fn put(fields: &Fields) -> Option<Asked> {
    item(table(fields)?, fields.get("Item")?.as_object()?)
}

fn item(table: &str, item: &Fields) -> Option<Asked> {
    let asked = by_key(Kind::Put, table, item)?;
    let plain = item.iter().map(|(name, value)| (name.clone(), plain(value)));
    Some(Asked { item: Some(plain.collect()), ..asked })
}

fn update(fields: &Fields) -> Option<Asked> {
    let changes = match fields.get("UpdateExpression").and_then(Json::as_str) {
        Some(expression) => asked_changes(expression, names(fields))?,
        None => {
            let legacy = fields.get("AttributeUpdates").and_then(Json::as_object);
            let mut names: Vec<String> = legacy.into_iter().flat_map(Map::keys).cloned().collect();
            names.sort();
            names
        }
    };
    Some(Asked { changes, ..keyed(Kind::Update, fields)? })
}

fn ranged(fields: &Fields) -> Option<Asked> {
    // Conditions of the old form are not read.
    if fields.contains_key("KeyConditions") {
        return None;
    }
    let values = fields.get("ExpressionAttributeValues").and_then(Json::as_object);
    let value = |name: &String| values.and_then(|values| values.get(name)).and_then(text);
    let mut bound = Vec::new();
    if let Some(expression) = fields.get("KeyConditionExpression").and_then(Json::as_str) {
        let given = values.into_iter().flat_map(Map::keys).map(String::as_str);
        for own in asked_keys(expression, names(fields), given)? {
            let asked = match own.bound {
                Bound::Equal(name) => AskedBound::Equal(value(&name)),
                Bound::Prefix(name) => AskedBound::Prefix(value(&name)),
                Bound::Range(from, to) => {
                    AskedBound::Range(from.as_ref().map(value), to.as_ref().map(value))
                }
            };
            bound.push((own.attribute, asked));
        }
    }
    let given = |name: &str| fields.get(name).is_some_and(|own| !own.is_null());
    let backward = fields.get("ScanIndexForward").and_then(Json::as_bool) == Some(false);
    Some(Asked {
        index: fields.get("IndexName").and_then(Json::as_str).map(str::to_owned),
        bound,
        order: AskedOrder::Key { backward },
        limited: given("Limit"),
        filtered: given("FilterExpression") || given("QueryFilter") || given("ScanFilter"),
        goes_on: given("ExclusiveStartKey"),
        ..Asked::new(Kind::Read, table(fields)?)
    })
}

fn names(fields: &Fields) -> BTreeMap<String, String> {
    let names = fields.get("ExpressionAttributeNames").and_then(Json::as_object);
    let text = |(name, own): (&String, &Json)| Some((name.clone(), own.as_str()?.to_owned()));
    names.into_iter().flatten().filter_map(text).collect()
}

fn of_batch(fields: &Fields) -> Option<Vec<Asked>> {
    let mut found = Vec::new();
    for (name, asked) in fields.get("RequestItems")?.as_object()? {
        let name = short(name);
        if let Some(keys) = asked.get("Keys").and_then(Json::as_array) {
            for key in keys {
                found.push(by_key(Kind::Read, name, key.as_object()?)?);
            }
        }
        for write in asked.as_array().into_iter().flatten() {
            let object = |kind: &str, member: &str| {
                write.get(kind).and_then(|own| own.get(member)).and_then(Json::as_object)
            };
            found.push(match (object("PutRequest", "Item"), object("DeleteRequest", "Key")) {
                (Some(own), _) => item(name, own)?,
                (None, Some(key)) => by_key(Kind::Delete, name, key)?,
                (None, None) => return None,
            });
        }
    }
    Some(found)
}

fn of_transaction(fields: &Fields) -> Option<Vec<Asked>> {
    let mut found = Vec::new();
    for action in fields.get("TransactItems")?.as_array()? {
        let object = |name: &str| action.get(name).and_then(Json::as_object);
        let asked = match (object("Put"), object("Update"), object("Delete"), object("Get")) {
            (Some(own), ..) => put(own)?,
            (_, Some(own), ..) => update(own)?,
            (_, _, Some(own), _) => keyed(Kind::Delete, own)?,
            (.., Some(own)) => keyed(Kind::Read, own)?,
            // A check reads no row for anybody.
            _ if object("ConditionCheck").is_some() => continue,
            _ => return None,
        };
        found.push(asked);
    }
    Some(found)
}

fn of_statements(fields: &Fields, member: &str) -> Option<Vec<Asked>> {
    let mut found = Vec::new();
    for own in fields.get(member)?.as_array()? {
        let own = own.as_object()?;
        let asked = asked_statement(own.get("Statement")?.as_str()?)?;
        // A check reads no row for anybody.
        if asked.kind != AskedKind::Exists {
            found.push(of_statement(own, asked));
        }
    }
    Some(found)
}

fn statement(fields: &Fields) -> Option<Asked> {
    let asked = asked_statement(fields.get("Statement")?.as_str()?)?;
    Some(of_statement(fields, asked))
}

/// Returns a statement of PartiQL as what it asks; its parameters are those of the request.
fn of_statement(fields: &Fields, statement: AskedStatement) -> Asked {
    let parameters = fields.get("Parameters").and_then(Json::as_array);
    let value = |value: AskedValue| match value {
        AskedValue::Text(text) => Some(text),
        AskedValue::Parameter(at) => parameters.and_then(|own| own.get(at)).and_then(text),
        AskedValue::Other => None,
    };
    let bound = statement.bound.into_iter().map(|(name, own)| {
        let bound = match own {
            AskedValues::Equal(own) => AskedBound::Equal(value(own)),
            AskedValues::Prefix(own) => AskedBound::Prefix(value(own)),
            AskedValues::Range(from, to) => AskedBound::Range(from.map(value), to.map(value)),
        };
        (name, bound)
    });
    let kind = match statement.kind {
        AskedKind::Select | AskedKind::Exists => Kind::Read,
        AskedKind::Insert => Kind::Put,
        AskedKind::Update => Kind::Update,
        AskedKind::Delete => Kind::Delete,
    };
    let order =
        statement.order.map_or(AskedOrder::Key { backward: false }, |(name, descending)| {
            AskedOrder::Column { name, descending }
        });
    let given = |name: &str| fields.get(name).is_some_and(|own| !own.is_null());
    Asked {
        index: statement.index,
        bound: bound.collect(),
        changes: statement.changes,
        order,
        limited: given("Limit"),
        filtered: statement.filtered && kind == Kind::Read,
        goes_on: given("NextToken"),
        ..Asked::new(kind, short(&statement.table))
    }
}

/// Returns the text of an attribute, if it is one.
fn text(attribute: &Json) -> Text {
    match attribute.get("S")? {
        Json::String(text) => Some(text.clone()),
        Json::Object(of) => Some(match of.get("$text").and_then(Json::as_array) {
            Some(pieces) => pieces.iter().map(piece).collect(),
            None => HOLE.to_string(),
        }),
        _ => None,
    }
}

fn piece(piece: &Json) -> String {
    piece.as_str().map_or_else(|| HOLE.to_string(), str::to_owned)
}

/// Returns an attribute as plain JSON. Numbers that JSON's reader would change stay texts of digits.
fn plain(attribute: &Json) -> Json {
    let Some((letter, value)) = attribute.as_object().and_then(|own| own.iter().next()) else {
        return Json::Null;
    };
    match (letter.as_str(), value) {
        ("NULL", _) => Json::Null,
        ("N", Json::String(digits)) => digits.parse().map_or_else(|_| value.clone(), Json::Number),
        // Bytes are written as the operations of whoever runs a server write them.
        ("B", Json::String(text)) => {
            hex_of_base64(text).map_or(Json::Null, |hex| Json::String(format!("0x{hex}")))
        }
        ("L", Json::Array(values)) => values.iter().map(plain).collect(),
        ("M", Json::Object(fields)) => {
            fields.iter().map(|(name, own)| (name.clone(), plain(own))).collect()
        }
        ("NS", Json::Array(values)) => {
            values.iter().map(|own| plain(&serde_json::json!({ "N": own }))).collect()
        }
        _ => value.clone(),
    }
}
