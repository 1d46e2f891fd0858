//! Calls the DynamoDB face: JSON in, JSON out.

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use shelfmark_dynamo::{Face, RequestHead};

use crate::tour::asker::Answer;
use crate::tour::outcome::Rows;

/// Calls an operation that must succeed.
pub(super) fn call(face: &Face, operation: &str, body: &Value) -> anyhow::Result<Value> {
    let target = format!("DynamoDB_20120810.{operation}");
    let reply = face.call(&RequestHead::target(&target), body.to_string().as_bytes());
    if reply.status != 200 {
        bail!("{operation} answered {}: {}", reply.status, String::from_utf8_lossy(&reply.body));
    }
    serde_json::from_slice(&reply.body).context("the answer is no JSON")
}

/// Calls an operation and reads all of its pages.
pub(super) fn query(face: &Face, mut body: Value) -> anyhow::Result<Answer> {
    let (mut values, mut rows) = (Vec::new(), Rows::default());
    loop {
        let page = call(face, "Query", &body)?;
        let count = |name: &str| page.get(name).and_then(Value::as_u64).unwrap_or(0);
        rows.read += count("ScannedCount");
        rows.returned += count("Count");
        let items = page.get("Items").and_then(Value::as_array);
        values.extend(items.into_iter().flatten().map(|item| text(item, "SK")));
        let Some(key) = page.get("LastEvaluatedKey") else { break };
        let key = key.clone();
        if let Some(body) = body.as_object_mut() {
            body.insert("ExclusiveStartKey".to_owned(), key);
        }
    }
    Ok(Answer::new(values, rows))
}

/// Calls an operation that the face may refuse: then its message is the answer's.
pub(super) fn try_query(face: &Face, body: Value) -> anyhow::Result<Answer> {
    let head = RequestHead::target("DynamoDB_20120810.Query");
    let reply = face.call(&head, body.to_string().as_bytes());
    if reply.status == 200 {
        return query(face, body);
    }
    let error: Value = serde_json::from_slice(&reply.body).context("the answer is no JSON")?;
    let message = error.get("message").or_else(|| error.get("Message")).and_then(Value::as_str);
    Ok(Answer { refusal: Some(message.unwrap_or_default().to_owned()), ..Answer::default() })
}

/// Reads one item by its key.
pub(super) fn get(face: &Face, table: &str, pk: &str, sk: &str) -> anyhow::Result<Answer> {
    let body = json!({"TableName": table, "Key": {"PK": {"S": pk}, "SK": {"S": sk}}});
    let answer = call(face, "GetItem", &body)?;
    let values: Vec<String> = answer.get("Item").map(|item| text(item, "SK")).into_iter().collect();
    let found = values.len() as u64;
    Ok(Answer::new(values, Rows { read: found, returned: found }))
}

fn text(item: &Value, name: &str) -> String {
    let value = item.get(name).and_then(|value| value.get("S")).and_then(Value::as_str);
    value.unwrap_or_default().to_owned()
}

/// Returns the request for sort keys beginning with `prefix` without a partition.
pub(super) fn sort_key_only(table: &str, prefix: &str) -> Value {
    json!({
        "TableName": table,
        "KeyConditionExpression": "begins_with(SK, :sk)",
        "ExpressionAttributeValues": {":sk": {"S": prefix}},
    })
}

/// Returns the request for sort keys beginning with `prefix` in the partition `pk`.
pub(super) fn begins_with(table: &str, pk: &str, prefix: &str) -> Value {
    json!({
        "TableName": table,
        "KeyConditionExpression": "PK = :pk AND begins_with(SK, :sk)",
        "ExpressionAttributeValues": {":pk": {"S": pk}, ":sk": {"S": prefix}},
    })
}
