//! Writes requests as calls of OrderedTable, within transactions where they change something.
//!
//! What it is not: no code. `if` and `where` say what `tryRead` is asked first in the same transaction;
//! a stream's end beyond `search` is where its reader stops.
//!
//! Source: Unison Cloud's library, OrderedTable and Storage, read 2026-11; each rule that refuses is in
//! the target's profile.

use serde_json::{Map, Value as Json, json};

use super::Calls;
use super::expr::Expr;
use super::request::{Ask, Change, ChangeKind, Refusal, Request};
use super::typed::{bound, changed, inputs, key, one_of_several};
use shelfmark_design_language::model::Value;
use shelfmark_design_language::syntax::tree::BoundKind;

/// Writes a request: the call, its arguments, and its inputs.
pub(super) fn say(
    calls: &Calls<'_>,
    request: &Request,
) -> Result<(String, Json, Vec<String>), Refusal> {
    let inputs = inputs(request);
    match request {
        Request::Read { ask, .. } => {
            let (operation, body) = read(calls, ask)?;
            Ok((operation.to_owned(), body, inputs))
        }
        Request::Write { changes, .. } => {
            // A write alone is a transaction by itself; one that looks first is written as one.
            if let [only] = changes.as_slice()
                && let (operation, body) = change(calls, only)
                && matches!(operation, "write" | "delete")
                && body.get("if").is_none()
                && body.get("where").is_none()
            {
                return Ok((operation.to_owned(), body, inputs));
            }
            let all = changes.iter().map(|one| match changes.len() {
                // What stands beside a request is not repeated within it.
                1 => json!({ change(calls, one).0: change(calls, one).1 }),
                _ => one_of_several(one, change(calls, one)),
            });
            Ok(("transact".to_owned(), Json::Array(all.collect()), inputs))
        }
    }
}

fn read(calls: &Calls<'_>, ask: &Ask) -> Result<(&'static str, Json), Refusal> {
    if calls.schema.tables.get(ask.table).is_some_and(|table| table.is_index) {
        let why = format!("{} is an index", calls.table_name(ask.table));
        return Err(calls.refuse("index", why));
    }
    let mut body = Map::from_iter([("table".to_owned(), Json::from(calls.table_name(ask.table)))]);
    if ask.point {
        body.insert("key".to_owned(), key(calls, ask.table, &ask.equal));
        return Ok(("tryRead", Json::Object(body)));
    }
    let whole = ask.equal.is_empty() && ask.ends.is_empty();
    if ask.desc {
        let one = matches!(ask.limit, Some(Expr::Const(Value::Int(1), _)));
        if whole && one {
            return Ok(("max", Json::Object(body)));
        }
        return Err(calls.refuse("upwards", "rows are wanted backwards"));
    }
    body.extend(ask.limit.as_ref().map(|limit| ("take".to_owned(), limit.json())));
    if whole {
        return Ok(("toStream", Json::Object(body)));
    }
    let equal = key(calls, ask.table, &ask.equal);
    let column = calls.columns.key(ask.table).get(ask.equal.len());
    let column = column.map_or("", |column| column.name.as_str());
    let mut ends = Map::new();
    for end in &ask.ends {
        let more = match end.kind {
            // Everything that begins so lies between it and the smallest text behind.
            BoundKind::Begins => {
                vec![("from", end.value.clone()), ("before", end.value.clone().next())]
            }
            _ => vec![bound(end)],
        };
        ends.extend(more.into_iter().map(|(word, value)| (word.to_owned(), value.json())));
    }
    let with = |value: Option<&Json>| {
        let mut prefix = equal.as_object().cloned().unwrap_or_default();
        prefix.extend(value.map(|value| (column.to_owned(), value.clone())));
        Json::Object(prefix)
    };
    let (low, high) = (ends.get("from"), ends.get("to"));
    let closed = ends.len() == usize::from(low.is_some()) + usize::from(high.is_some());
    match (low, high) {
        // Both are of one type: as many columns of the key.
        (Some(_), Some(_)) | (None, None) if closed => {
            body.insert("lo".to_owned(), with(low));
            body.insert("hi".to_owned(), with(high));
            return Ok(("rangeClosed.prefix", Json::Object(body)));
        }
        (Some(_), None) if closed && ask.equal.is_empty() => {
            body.insert("lo".to_owned(), with(low));
            return Ok(("from.prefix", Json::Object(body)));
        }
        _ => {}
    }
    body.insert("prefix".to_owned(), equal);
    body.extend(ends);
    Ok(("search", Json::Object(body)))
}

fn change(calls: &Calls<'_>, change: &Change) -> (&'static str, Json) {
    let mut body = Map::new();
    body.insert("table".to_owned(), Json::from(calls.table_name(change.table)));
    body.insert("key".to_owned(), key(calls, change.table, &change.key));
    changed(change, &mut body);
    let operation = match &change.kind {
        ChangeKind::Put { .. } => "write",
        // Read, changed and written again.
        ChangeKind::Update { .. } | ChangeKind::Extend { .. } => "modify",
        ChangeKind::Delete { .. } => "delete",
    };
    (operation, Json::Object(body))
}
