//! Writes requests of the targets without a language of their own: calls of an ordered map or of
//! typed tables, with their arguments.

use serde_json::{Map, Value as Json, json};

use super::Calls;
use super::dynamo::change_inputs;
use super::expr::Expr;
use super::request::{Ask, Change, ChangeKind, Request, sign};
use shelfmark_design_language::model::schema::TableId;

/// Returns a line for each table and index: its name and the columns of its key.
pub(super) fn create(calls: &Calls<'_>) -> Vec<Json> {
    let tables = calls.schema.tables.iter().enumerate();
    tables
        .map(|(id, table)| {
            let names: Vec<&str> =
                calls.columns.key(id).iter().map(|column| column.name.as_str()).collect();
            let (partition, sort) = names.split_at(table.partition.min(names.len()));
            let mut out = json!({ "table": table.name.text, "partition": partition, "sort": sort });
            if let (true, Some(fields)) = (table.is_index, out.as_object_mut()) {
                fields
                    .insert("index_of".to_owned(), Json::from(calls.table_name(calls.base_of(id))));
            }
            out
        })
        .collect()
}

/// Writes a request: the call, its arguments, and its inputs.
pub(super) fn say(calls: &Calls<'_>, request: &Request) -> (String, Json, Vec<String>) {
    let mut inputs = Vec::new();
    match request {
        Request::Read { ask, .. } => {
            ask.equal.iter().for_each(|value| value.inputs(&mut inputs));
            ask.ends.iter().for_each(|end| end.value.inputs(&mut inputs));
            ask.limit.iter().for_each(|limit| limit.inputs(&mut inputs));
            let (operation, body) = read(calls, ask);
            (operation.to_owned(), body, inputs)
        }
        Request::Write { changes, .. } => {
            changes.iter().for_each(|change| change_inputs(change, &mut inputs));
            if let [only] = changes.as_slice() {
                let (operation, body) = change(calls, only);
                return (operation.to_owned(), body, inputs);
            }
            let all = changes.iter().map(|one| {
                let (operation, body) = change(calls, one);
                let mut item = Map::from_iter([(operation.to_owned(), body)]);
                item.extend(one.beside().into_iter().map(|(name, value)| (name.to_owned(), value)));
                Json::Object(item)
            });
            ("transaction".to_owned(), Json::Array(all.collect()), inputs)
        }
    }
}

fn read(calls: &Calls<'_>, ask: &Ask) -> (&'static str, Json) {
    let mut body = Map::new();
    body.insert("table".to_owned(), Json::from(calls.table_name(ask.table)));
    body.insert("key".to_owned(), key(calls, ask.table, &ask.equal));
    for end in &ask.ends {
        let word = serde_json::to_value(end.kind).unwrap_or(Json::Null);
        let word = word.as_str().unwrap_or("range").to_owned();
        body.insert(word, end.value.json());
    }
    if ask.desc {
        body.insert("descending".to_owned(), Json::Bool(true));
    }
    body.extend(ask.limit.as_ref().map(|limit| ("limit".to_owned(), limit.json())));
    let operation = if ask.point {
        "get"
    } else if ask.equal.is_empty() && ask.ends.is_empty() {
        "scan"
    } else {
        "range"
    };
    (operation, Json::Object(body))
}

fn key(calls: &Calls<'_>, table: TableId, values: &[Expr]) -> Json {
    let columns = calls.columns.key(table).iter();
    Json::Object(
        columns.zip(values).map(|(column, value)| (column.name.clone(), value.json())).collect(),
    )
}

fn change(calls: &Calls<'_>, change: &Change) -> (&'static str, Json) {
    let mut body = Map::new();
    body.insert("table".to_owned(), Json::from(calls.table_name(change.table)));
    body.insert("key".to_owned(), key(calls, change.table, &change.key));
    let mut put = |name: &str, values: &[(String, Expr)]| {
        if !values.is_empty() {
            let fields = values.iter().map(|(name, value)| (name.clone(), value.json()));
            body.insert(name.to_owned(), Json::Object(fields.collect()));
        }
    };
    let (operation, condition) = match &change.kind {
        ChangeKind::Put { values, fresh } => {
            put("values", values);
            ("put", fresh.then_some("absent"))
        }
        ChangeKind::Update { set, add, push, there } => {
            put("set", set);
            put("add", add);
            put("append", push);
            ("update", there.then_some("present"))
        }
        ChangeKind::Delete { there } => ("delete", there.then_some("present")),
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
    (operation, Json::Object(body))
}
