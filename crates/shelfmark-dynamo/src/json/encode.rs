//! Encodes items and values as DynamoDB's JSON.
//!
//! DynamoDB knows ten types; the engine's tables can hold more, written by other faces. Those come
//! out as the nearest of the ten, so that every item can be read here.

use std::fmt::Display;

use shelfmark_model::{Item, Value};

use super::{Writer, blob};

/// Writes an item or a key as a map of attribute values.
pub(crate) fn put_item(out: &mut Writer, item: &Item) {
    out.object(|out| {
        for (name, value) in item {
            out.name(name);
            put_value(out, value);
        }
    });
}

/// Writes an attribute value.
pub(crate) fn put_value(out: &mut Writer, value: &Value) {
    out.object(|out| put_typed(out, value));
}

fn put_typed(out: &mut Writer, value: &Value) {
    let number = |out: &mut Writer, number: &dyn Display| out.plain_name("N").plain_text(number);
    let text = |out: &mut Writer, text: &str| out.plain_name("S").text(text);
    match value {
        Value::Null => out.plain_name("NULL").boolean(true),
        Value::Bool(value) => out.plain_name("BOOL").boolean(*value),
        Value::Number(value) => number(out, value),
        Value::Int(value) | Value::Timestamp(value) | Value::Time(value) => {
            number(out, value);
        }
        Value::BigInt(value) => number(out, value),
        Value::Float32(value) => number(out, value),
        Value::Float(value) => number(out, value),
        Value::Date(value) => number(out, value),
        Value::Text(value) => text(out, value),
        Value::Inet(value) => text(out, &value.to_string()),
        Value::Duration { months, days, nanos } => {
            text(out, &format!("{months}mo{days}d{nanos}ns"));
        }
        Value::Bytes(bytes) => {
            out.plain_name("B");
            put_blob(out, bytes);
        }
        Value::Uuid(bytes) => {
            out.plain_name("B");
            put_blob(out, bytes);
        }
        Value::List(list) => put_list(out, list.iter()),
        Value::Tuple(fields) => {
            put_list(out, fields.iter().map(|field| field.as_ref().unwrap_or(&Value::Null)));
        }
        Value::Set(members) => put_set(out, members),
        Value::Map(map) => {
            out.plain_name("M").object(|out| {
                for (name, value) in map {
                    out.name(name);
                    put_value(out, value);
                }
            });
        }
        Value::Pairs(pairs) => {
            out.plain_name("L").list(|out| {
                for (key, value) in pairs {
                    out.object(|out| put_list(out, [key, value].into_iter()));
                }
            });
        }
    }
}

fn put_list<'v>(out: &mut Writer, values: impl Iterator<Item = &'v Value>) {
    out.plain_name("L").list(|out| {
        for value in values {
            put_value(out, value);
        }
    });
}

/// Writes a set as one of DynamoDB's three, or as a list if its members are of another type.
fn put_set(out: &mut Writer, members: &[Value]) {
    match members.first() {
        Some(Value::Text(_)) => {
            out.plain_name("SS").list(|out| {
                members.iter().filter_map(Value::as_text).for_each(|member| out.text(member));
            });
        }
        Some(Value::Number(_)) => {
            out.plain_name("NS").list(|out| {
                let numbers = members.iter().filter_map(Value::as_number);
                numbers.for_each(|member| out.plain_text(member));
            });
        }
        Some(Value::Bytes(_)) => {
            out.plain_name("BS").list(|out| {
                for member in members {
                    if let Value::Bytes(bytes) = member {
                        put_blob(out, bytes);
                    }
                }
            });
        }
        Some(_) | None => put_list(out, members.iter()),
    }
}

fn put_blob(out: &mut Writer, bytes: &[u8]) {
    out.separate();
    out.out.push(b'"');
    blob::put(&mut out.out, bytes);
    out.out.push(b'"');
}
