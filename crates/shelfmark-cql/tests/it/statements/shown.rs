//! Answers of CQL as scripts show them, and values as scripts give them.
//!
//! Also used by the scripts of `shelfmark-server`, which speak CQL beside DynamoDB.

use goldenscript::{Argument, Command};
use shelfmark_cql::{Answered, BoundValue, ChangeKind, ColumnSpec, CqlType, Outcome, ResultRows};
use shelfmark_cql_types::{from_text, to_literal};

/// Returns an answer as text, with its warnings where there is nothing else to see.
pub(crate) fn shown(answered: &Answered) -> String {
    match &answered.outcome {
        Outcome::Void => with_warnings("ok".to_owned(), answered),
        Outcome::SetKeyspace(name) => format!("using {name}"),
        Outcome::SchemaChange(change) => {
            let kind = match change.kind {
                ChangeKind::Created => "created",
                ChangeKind::Updated => "updated",
                ChangeKind::Dropped => "dropped",
            };
            format!("{kind} {:?} {} {}", change.target, change.keyspace, change.name)
        }
        Outcome::Rows(rows) => shown_rows(rows),
    }
}

/// Puts the warnings of an answer behind what is shown of it.
pub(crate) fn with_warnings(shown: String, answered: &Answered) -> String {
    [vec![shown], answered.warnings.clone()].concat().join("\nwarning: ")
}

/// Returns rows as text: the names of the columns, then a line for each row.
pub(crate) fn shown_rows(rows: &ResultRows) -> String {
    let names: Vec<&str> = rows.columns.iter().map(|own| &*own.name).collect();
    let all = literals(rows).into_iter().map(|row| row.join(" | "));
    std::iter::once(names.join(" | ")).chain(all).collect::<Vec<_>>().join("\n")
}

/// Returns the values of each row as constants of CQL.
pub(crate) fn literals(rows: &ResultRows) -> Vec<Vec<String>> {
    let mut rest = rows.rows.bytes();
    let mut take = |kind: &CqlType| {
        let (length, after) = rest.split_first_chunk::<4>().unwrap();
        let length = usize::try_from(i32::from_be_bytes(*length)).ok();
        let (value, after) = match length {
            Some(length) => (Some(&after[..length]), &after[length..]),
            None => (None, after),
        };
        rest = after;
        let is_empty = value.is_some_and(<[u8]>::is_empty) && !kind.is_string();
        if is_empty { "(empty)".to_owned() } else { to_literal(kind, value) }
    };
    let row = |_| rows.columns.iter().map(|own| take(&own.kind)).collect();
    let all = (0..rows.rows.rows()).map(row).collect();
    assert!(rest.is_empty(), "bytes behind the last row");
    all
}

/// Returns the values of bind markers, given as text, `null` or `unset`.
pub(crate) fn bound(markers: &[ColumnSpec], given: &[String]) -> Vec<BoundValue> {
    let value = |(marker, value): (&ColumnSpec, &String)| match value.as_str() {
        "null" => BoundValue::Null,
        "unset" => BoundValue::Unset,
        text => BoundValue::Bytes(bytes_of(&marker.kind, text).into()),
    };
    markers.iter().zip(given).map(value).collect()
}

/// Serialises a value given as text; lists as `a,b`, blobs and others as hex with `0x`.
fn bytes_of(ty: &CqlType, text: &str) -> Vec<u8> {
    if let Some(digits) = text.strip_prefix("0x") {
        return from_text(&CqlType::Blob, digits).unwrap();
    }
    match ty {
        CqlType::List { element, .. } | CqlType::Set { element, .. } => {
            let parts: Vec<Vec<u8>> =
                text.split(',').map(|part| from_text(element, part).unwrap()).collect();
            shelfmark_cql_types::put_collection(parts.len(), parts.iter().map(Vec::as_slice))
        }
        ty => from_text(ty, text).unwrap(),
    }
}

/// Returns the argument of a command that is called `name`.
pub(crate) fn named(command: &Command, name: &str) -> Option<String> {
    command.args.iter().find_map(|argument| match argument {
        Argument::KeyValue(own, value) if own == name => Some(value.clone()),
        _ => None,
    })
}

/// Returns the arguments of a command that have no name.
pub(crate) fn positional(command: &Command) -> Vec<String> {
    let value = |argument: &Argument| match argument {
        Argument::Positional(value) => Some(value.clone()),
        _ => None,
    };
    command.args.iter().filter_map(value).collect()
}
