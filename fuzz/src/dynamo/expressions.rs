//! Expressions from nowhere, and what their answers must have in common.
//!
//! Input: a byte for what is tried, two bytes that choose the values of placeholders, then the
//! expression: a byte for each word of it. Placeholders that the expression names are declared.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use shelfmark_dynamo::Face;

use super::{TABLE, asked, call, expect_fine, face, items, items_of, scan};
use crate::input::Input;

/// What expressions are made of, by number; bytes above stand for pieces of raw text.
const WORDS: [&str; 64] = [
    "a",
    "h",
    "r",
    "n",
    "s",
    "l",
    "m",
    "z",
    "#a",
    "#b",
    ":a",
    ":b",
    ":c",
    "=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "AND",
    "OR",
    "NOT",
    "(",
    ")",
    ",",
    ".",
    "[0]",
    "[1]",
    "[",
    "]",
    "+",
    "-",
    "BETWEEN",
    "IN",
    "begins_with(",
    "contains(",
    "attribute_exists(",
    "attribute_not_exists(",
    "attribute_type(",
    "size(",
    "if_not_exists(",
    "list_append(",
    "SET",
    "REMOVE",
    "ADD",
    "DELETE",
    "not",
    "between",
    "set",
    "0",
    "4294967296",
    "#",
    ":",
    "é",
    "\u{0}",
    "'",
    "a.b",
    "m.a",
    "l[0]",
    "m.l[0]",
    ":a)",
    "a = :a",
    "h = :a",
    "r",
];

/// Values that a placeholder may have.
fn value(number: usize) -> Value {
    let values = [
        json!({"S": "b"}),
        json!({"S": "a"}),
        json!({"N": "1"}),
        json!({"N": "-0.5"}),
        json!({"SS": ["c", "b"]}),
        json!({"NS": ["1"]}),
        json!({"L": [{"N": "1"}]}),
        json!({"M": {"a": {"N": "1"}}}),
        json!({"NULL": true}),
        json!({"BOOL": true}),
        json!({"B": "YmM="}),
        json!({"S": ""}),
        json!({"S": "SS"}),
        json!({"BS": ["AA=="]}),
        json!({"S": "1"}),
        json!({"N": "9.9999999999999999999999999999999999999E+125"}),
    ];
    values[number % values.len()].clone()
}

/// An expression and its placeholders.
struct Expression {
    text: String,
    names: Map<String, Value>,
    values: Map<String, Value>,
}

impl Expression {
    fn read(input: &mut Input<'_>) -> Self {
        let chosen = usize::from(input.u16());
        let mut text = String::new();
        while !input.is_empty() {
            match WORDS.get(usize::from(input.byte())) {
                Some(word) => {
                    text.push_str(word);
                    text.push(' ');
                }
                None => text.push_str(&input.text()),
            }
        }
        let declared = |sign: char| -> BTreeSet<String> {
            let pieces =
                text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != sign);
            let named = |piece: &&str| piece.starts_with(sign) && piece.len() > 1;
            pieces.filter(named).map(str::to_owned).collect()
        };
        let names = declared('#').into_iter().map(|name| {
            let attribute = if name == "#a" { "a" } else { "m" };
            (name, json!(attribute))
        });
        let numbered = declared(':').into_iter().enumerate();
        let values = numbered.map(|(at, name)| (name, value(chosen >> (4 * at.min(3)))));
        Self { names: names.collect(), values: values.collect(), text }
    }

    /// Adds the expression to a request.
    fn put_into(&self, mut request: Value, member: &str) -> Value {
        self.put_text_into(&mut request, member, &self.text);
        request
    }

    fn put_text_into(&self, request: &mut Value, member: &str, text: &str) {
        request[member] = json!(text);
        if !self.names.is_empty() {
            request["ExpressionAttributeNames"] = Value::Object(self.names.clone());
        }
        if !self.values.is_empty() {
            request["ExpressionAttributeValues"] = Value::Object(self.values.clone());
        }
    }
}

/// Runs one input: 0 filters, 1 updates, 2 projections, 3 keys of queries, 4 conditions of puts,
/// 5 the text as it is in every operation.
pub fn run(data: &[u8]) {
    let face = face();
    let mut input = Input::new(data);
    let kind = input.below(6);
    let expression = Expression::read(&mut input);
    match kind {
        0 => filter(&face, &expression),
        1 => update(&face, &expression),
        2 => projection(&face, &expression),
        3 => key_condition(&face, &expression),
        4 => put_condition(&face, &expression),
        _ => everywhere(&face, &expression),
    }
    // Whatever was asked, the table is there and can be read.
    scan(&face, TABLE);
}

fn key_of(item: &Value) -> Value {
    json!({"h": item["h"], "r": item["r"]})
}

/// A filter keeps what its negation drops, and agrees with the same condition on each item.
fn filter(face: &Face, expression: &Expression) {
    let all = scan(face, TABLE);
    let request = expression.put_into(json!({"TableName": TABLE}), "FilterExpression");
    let Some(answer) = asked(face, "Scan", &request) else { return };
    assert_eq!(answer.get("ScannedCount"), Some(&json!(all.len())));
    let kept = items_of(answer);
    assert!(kept.iter().all(|item| all.contains(item)), "{request}");
    let mut negated = json!({"TableName": TABLE});
    expression.put_text_into(
        &mut negated,
        "FilterExpression",
        &format!("NOT ({})", expression.text),
    );
    // The negation may be one operator too many, or have a pair of parentheses too many.
    if let Some(answer) = asked(face, "Scan", &negated) {
        let dropped = items_of(answer);
        for item in &all {
            let places = (kept.contains(item), dropped.contains(item));
            assert!(places.0 != places.1, "{request}: {item} is in {places:?}");
        }
    }
    for item in &all {
        let check = json!({"TableName": TABLE, "Key": key_of(item)});
        let check = expression.put_into(check, "ConditionExpression");
        let body = json!({"TransactItems": [{"ConditionCheck": check}]});
        let holds = asked(face, "TransactWriteItems", &body).is_some();
        assert_eq!(holds, kept.contains(item), "{request} on {item}");
    }
    let mut query = json!({"TableName": TABLE, "KeyConditionExpression": "h = :h"});
    expression.put_text_into(&mut query, "FilterExpression", &expression.text);
    query["ExpressionAttributeValues"][":h"] = json!({"S": "a"});
    if let Some(answer) = asked(face, "Query", &query) {
        let of_partition = kept.iter().filter(|item| item["h"] == json!({"S": "a"}));
        assert_eq!(items_of(answer), of_partition.cloned().collect::<Vec<_>>(), "{query}");
    }
}

/// An update answers what is there afterwards, and leaves everything else alone.
fn update(face: &Face, expression: &Expression) {
    let targets = items()
        .into_iter()
        .map(|item| key_of(&item))
        .chain([json!({"h": {"S": "new"}, "r": {"S": "1"}})]);
    for key in targets {
        let before = scan(face, TABLE);
        let get = json!({"TableName": TABLE, "Key": key});
        let old = expect_fine(face, "GetItem", &get).remove("Item");
        let request = json!({"TableName": TABLE, "Key": key, "ReturnValues": "ALL_NEW"});
        let request = expression.put_into(request, "UpdateExpression");
        let answer = asked(face, "UpdateItem", &request);
        let new = expect_fine(face, "GetItem", &get).remove("Item");
        let Some(mut answer) = answer else {
            assert_eq!(new, old, "{request} was refused");
            continue;
        };
        assert_eq!(answer.remove("Attributes"), new, "{request}");
        // What only takes away creates nothing.
        let Some(new) = new else { continue };
        assert_eq!(key_of(&new), key, "{request}");
        let others = |items: Vec<Value>| -> Vec<Value> {
            items.into_iter().filter(|item| key_of(item) != key).collect()
        };
        assert_eq!(others(scan(face, TABLE)), others(before), "{request}");
        // What an update made can be put as it is.
        expect_fine(face, "PutItem", &json!({"TableName": TABLE, "Item": new}));
        let again = expect_fine(face, "GetItem", &get).remove("Item");
        assert_eq!(again, Some(new), "{request}");
    }
}

/// A projection answers pieces of the item, in a read of one item as in one of many.
fn projection(face: &Face, expression: &Expression) {
    for item in items() {
        let key = key_of(&item);
        let get = json!({"TableName": TABLE, "Key": key});
        let get = expression.put_into(get, "ProjectionExpression");
        let Some(mut answer) = asked(face, "GetItem", &get) else { return };
        let stored = expect_fine(face, "GetItem", &json!({"TableName": TABLE, "Key": key}));
        let part = answer.remove("Item").unwrap_or_else(|| json!({}));
        assert!(is_part(&part, &stored["Item"]), "{get}: {part} of {}", stored["Item"]);
        let keys = expression.put_into(json!({"Keys": [key]}), "ProjectionExpression");
        let batch = json!({"RequestItems": {TABLE: keys}});
        let answer = expect_fine(face, "BatchGetItem", &batch);
        assert_eq!(answer["Responses"][TABLE], json!([part]), "{batch}");
    }
}

/// Tells whether everything in `part` is in `whole`: members by name, elements in order.
fn is_part(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part
            .iter()
            .all(|(name, value)| whole.get(name).is_some_and(|whole| is_part(value, whole))),
        (Value::Array(part), Value::Array(whole)) => {
            let mut rest = whole.iter();
            part.iter().all(|value| rest.any(|whole| is_part(value, whole)))
        }
        _ => part == whole,
    }
}

/// A query's answer is of one partition and in order; the other direction is its mirror.
fn key_condition(face: &Face, expression: &Expression) {
    for index in [None, Some("local_n"), Some("global_s")] {
        let mut request = json!({"TableName": TABLE});
        if let Some(index) = index {
            request["IndexName"] = json!(index);
        }
        let mut request = expression.put_into(request, "KeyConditionExpression");
        let Some(answer) = asked(face, "Query", &request) else { continue };
        let mut found = items_of(answer);
        let partition = if index == Some("global_s") { "s" } else { "h" };
        assert!(found.windows(2).all(|two| two[0][partition] == two[1][partition]), "{request}");
        request["ScanIndexForward"] = json!(false);
        let mut mirrored = items_of(expect_fine(face, "Query", &request));
        mirrored.reverse();
        assert_eq!(mirrored, found, "{request}");
        // One item a page, and the pages together.
        request["ScanIndexForward"] = json!(true);
        request["Limit"] = json!(1);
        let mut pages = Vec::new();
        for _ in 0..=found.len() {
            let mut answer = expect_fine(face, "Query", &request);
            let next = answer.remove("LastEvaluatedKey");
            pages.append(&mut items_of(answer));
            match next {
                Some(next) => request["ExclusiveStartKey"] = next,
                None => break,
            }
        }
        found.truncate(pages.len().max(found.len()));
        assert_eq!(pages, found, "{request}");
    }
}

/// A put whose condition fails changes nothing; one whose condition holds, holds on the item.
fn put_condition(face: &Face, expression: &Expression) {
    for item in items() {
        let get = json!({"TableName": TABLE, "Key": key_of(&item)});
        let old = expect_fine(face, "GetItem", &get);
        let mut other = key_of(&item);
        other["put"] = json!({"BOOL": true});
        let put = json!({"TableName": TABLE, "Item": other, "ReturnValues": "ALL_OLD"});
        let put = expression.put_into(put, "ConditionExpression");
        let new = asked(face, "PutItem", &put);
        let after = expect_fine(face, "GetItem", &get);
        match new {
            Some(answer) => {
                assert_eq!(answer.get("Attributes"), old.get("Item"), "{put}");
                assert_eq!(after.get("Item"), Some(&other), "{put}");
            }
            None => assert_eq!(after, old, "{put}"),
        }
    }
}

/// The text in every place that takes an expression: refused or not, nothing breaks.
fn everywhere(face: &Face, expression: &Expression) {
    let key = key_of(&items()[0]);
    let places = [
        ("PutItem", "ConditionExpression", json!({"Item": key})),
        ("DeleteItem", "ConditionExpression", json!({"Key": key})),
        ("UpdateItem", "UpdateExpression", json!({"Key": key})),
        ("UpdateItem", "ConditionExpression", json!({"Key": key})),
        ("GetItem", "ProjectionExpression", json!({"Key": key})),
        ("Query", "KeyConditionExpression", json!({})),
        ("Query", "FilterExpression", json!({"KeyConditionExpression": "h = :a"})),
        ("Scan", "FilterExpression", json!({"IndexName": "global_s"})),
        ("Scan", "ProjectionExpression", json!({"IndexName": "local_n"})),
    ];
    for (operation, member, mut request) in places {
        request["TableName"] = json!(TABLE);
        let request = expression.put_into(request, member);
        call(face, operation, request.to_string().as_bytes());
    }
}
