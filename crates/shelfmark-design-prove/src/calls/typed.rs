//! Writes requests as calls of Shelfmark's typed tables, with their arguments.
//!
//! What it is not: no code. The operations are named as `shelfmark-typed` names them; `if` says what a
//! function handed to the call looks at first.
//!
//! Invariant: an end of a range is included or excluded as the call takes it; texts that begin with
//! something are ended by the smallest text behind them.

use serde_json::{Map, Value as Json, json};

use super::Calls;
use super::dynamo::{change_inputs, own_columns};
use super::expr::Expr;
use super::request::{Ask, Change, ChangeKind, End, Request, sign};
use shelfmark_design_language::model::schema::TableId;
use shelfmark_design_language::syntax::tree::BoundKind;

/// Returns a line for each table and index: its name and the columns of its key.
pub(super) fn create(calls: &Calls<'_>) -> Vec<Json> {
    (0..calls.schema.tables.len()).map(|id| table(calls, id)).collect()
}

/// Returns a table or an index: its name and the columns of its key.
fn table(calls: &Calls<'_>, id: TableId) -> Json {
    let Some(table) = calls.schema.tables.get(id) else { return Json::Null };
    let names: Vec<&str> =
        calls.columns.key(id).iter().map(|column| column.name.as_str()).collect();
    let (partition, rest) = names.split_at(table.partition.min(names.len()));
    // An index ends with the key of its table; what it has of it already says nothing new.
    let mut sort: Vec<&str> = Vec::with_capacity(rest.len());
    for name in rest {
        if !partition.contains(name) && !sort.contains(name) {
            sort.push(name);
        }
    }
    let mut out = json!({ "table": table.name.text, "partition": partition, "sort": sort });
    if let (true, Some(fields)) = (table.is_index, out.as_object_mut()) {
        fields.insert("index_of".to_owned(), Json::from(calls.table_name(calls.base_of(id))));
    }
    out
}

/// Writes a request: the call, its arguments, and its inputs.
pub(super) fn say(calls: &Calls<'_>, request: &Request) -> (String, Json, Vec<String>) {
    let inputs = inputs(request);
    match request {
        Request::Read { ask, .. } => {
            let (operation, body) = read(calls, ask);
            (operation.to_owned(), body, inputs)
        }
        Request::Write { changes, .. } => {
            if let [only] = changes.as_slice() {
                let (operation, body) = change(calls, only);
                return (operation.to_owned(), body, inputs);
            }
            let all = changes.iter().map(|one| one_of_several(one, change(calls, one)));
            ("transact".to_owned(), Json::Array(all.collect()), inputs)
        }
    }
}

/// Returns the inputs of a request, in order.
pub(super) fn inputs(request: &Request) -> Vec<String> {
    let mut inputs = Vec::new();
    match request {
        Request::Read { ask, .. } => {
            ask.equal.iter().for_each(|value| value.inputs(&mut inputs));
            ask.ends.iter().for_each(|end| end.value.inputs(&mut inputs));
            ask.limit.iter().for_each(|limit| limit.inputs(&mut inputs));
        }
        Request::Write { changes, .. } => {
            changes.iter().for_each(|change| change_inputs(change, &mut inputs));
        }
    }
    inputs
}

/// Returns a change among others: the operation with its arguments, and what stands beside it.
pub(super) fn one_of_several(change: &Change, (operation, body): (&str, Json)) -> Json {
    let mut item = Map::from_iter([(operation.to_owned(), body)]);
    item.extend(change.beside().into_iter().map(|(name, value)| (name.to_owned(), value)));
    Json::Object(item)
}

fn read(calls: &Calls<'_>, ask: &Ask) -> (&'static str, Json) {
    let base = calls.base_of(ask.table);
    let mut body = Map::from_iter([("table".to_owned(), Json::from(calls.table_name(base)))]);
    if base != ask.table {
        body.insert("index".to_owned(), Json::from(calls.table_name(ask.table)));
    }
    if !ask.equal.is_empty() {
        let own = own_columns(calls, ask.table);
        let known = if ask.point { ask.equal.len() } else { own.max(ask.equal.len()) };
        let equal = ask.equal.get(..known.min(ask.equal.len())).unwrap_or_default();
        body.insert(
            if ask.point { "key" } else { "parts" }.to_owned(),
            key(calls, ask.table, equal),
        );
    }
    let begins = matches!(ask.ends.as_slice(), [only] if only.kind == BoundKind::Begins);
    for end in &ask.ends {
        let (word, value) = bound(end);
        body.insert(word.to_owned(), value.json());
    }
    if ask.desc {
        body.insert("descending".to_owned(), Json::Bool(true));
    }
    body.extend(ask.limit.as_ref().map(|limit| ("limit".to_owned(), limit.json())));
    let operation = match (ask.point, ask.equal.is_empty(), ask.ends.is_empty()) {
        (true, ..) => "get",
        (_, true, true) => "to_stream",
        (_, false, true) => "prefix",
        (_, true, false) if begins => "begins_with",
        (_, false, false) if begins => "prefix_begins_with",
        _ => "range_prefix",
    };
    (operation, Json::Object(body))
}

/// Returns an end as an included or excluded bound.
pub(super) fn bound(end: &End) -> (&'static str, Expr) {
    let value = end.value.clone();
    match (end.kind, end.whole) {
        (BoundKind::Begins, _) => ("begins", value),
        (BoundKind::From, _) => ("from", value),
        (BoundKind::After, true) => ("after", value),
        (BoundKind::After, false) => ("from", value.next()),
        (BoundKind::To, _) | (BoundKind::Through, true) => ("to", value),
        (BoundKind::Before, _) => ("before", value),
        (BoundKind::Through, false) => ("before", value.next()),
    }
}

/// Returns columns of a key with their values.
pub(super) fn key(calls: &Calls<'_>, table: TableId, values: &[Expr]) -> Json {
    let columns = calls.columns.key(table).iter();
    Json::Object(
        columns.zip(values).map(|(column, value)| (column.name.clone(), value.json())).collect(),
    )
}

fn change(calls: &Calls<'_>, change: &Change) -> (&'static str, Json) {
    let mut body = Map::new();
    body.insert("table".to_owned(), Json::from(calls.table_name(change.table)));
    body.insert("key".to_owned(), key(calls, change.table, &change.key));
    let operation = match &change.kind {
        ChangeKind::Put { fresh: true, .. } => "write_if_absent",
        ChangeKind::Put { .. } => "write",
        ChangeKind::Update { .. } | ChangeKind::Extend { .. } => "update",
        ChangeKind::Delete { .. } => "delete",
    };
    changed(change, &mut body);
    (operation, Json::Object(body))
}

/// Adds what a change puts, sets and adds, and what it asks for first.
pub(super) fn changed(change: &Change, body: &mut Map<String, Json>) {
    let mut put = |name: &str, values: &[(String, Expr)]| {
        if !values.is_empty() {
            let fields = values.iter().map(|(name, value)| (name.clone(), value.json()));
            body.insert(name.to_owned(), Json::Object(fields.collect()));
        }
    };
    let condition = match &change.kind {
        ChangeKind::Put { values, fresh, .. } => {
            put("values", values);
            fresh.then_some("absent")
        }
        ChangeKind::Update { set, add, push, there } => {
            put("set", set);
            put("add", add);
            put("append", push);
            there.then_some("present")
        }
        ChangeKind::Extend { name, value, largest } => {
            let word = if *largest { "raise" } else { "lower" };
            put(word, &[(name.clone(), value.clone())]);
            Some("present")
        }
        ChangeKind::Delete { there } => there.then_some("present"),
    };
    body.extend(condition.map(|condition| ("if".to_owned(), Json::from(condition))));
    if !change.conditions.is_empty() {
        let compared = change.conditions.iter().map(|one| {
            let mut out = vec![Json::from(one.name.as_str())];
            out.extend(sign(one.op).map(Json::from));
            out.extend(one.value.iter().map(Expr::json));
            Json::Array(out)
        });
        body.insert("where".to_owned(), compared.collect());
    }
}
