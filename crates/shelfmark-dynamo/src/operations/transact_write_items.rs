//! TransactWriteItems: up to 100 writes, all or none, at most once per client request token.

use std::sync::Arc;

use shelfmark_engine::{Change, Once, Returns, Table, Token, Write, Written};
use shelfmark_model::Key;

use super::collections::{Collections, Wanted};
use super::fingerprint::Fingerprint;
use super::write_request::{Prepared, Verb, WriteRequest, reports};
use crate::capacity::{Consumed, ConsumedByTable, Detail};
use crate::errors::{Error, Exception, Result, cancelled_at, texts, transaction_error};
use crate::face::{Done, Face};
use crate::json::{Reader, Writer};
use crate::limits::{
    REQUEST_TOKEN_CHARS_MAX, REQUEST_TOKEN_SECONDS, TRANSACTION_ITEMS_MAX,
    TRANSACTION_SIZE_BYTES_MAX,
};
use crate::reply::Answered;
use crate::shape::Shape;
use crate::table;

#[derive(Debug, Default)]
struct Request {
    items: Option<Vec<Vec<(Verb, WriteRequest)>>>,
    token: Option<String>,
    wanted: Wanted,
}

struct Planned {
    writes: Vec<Write>,
    token: Option<Token>,
    detail: Detail,
    collections: Collections,
}

/// The prefix of this face's tokens among those of the engine.
const TOKEN_PREFIX: &[u8] = b"dynamodb/";

/// Plans and queues the writes; calls `done` when they are durable.
pub(super) fn start(face: &Face, body: &[u8], done: Done) {
    let planned = parse(body).and_then(|request| plan(face, request));
    let Planned { writes, token, detail, collections } = match planned {
        Ok(planned) => planned,
        Err(error) => return done.answer(Err(error)),
    };
    let tables: Vec<Arc<Table>> = writes.iter().map(|write| Arc::clone(&write.table)).collect();
    let engine = done.engine(face);
    let finish = move |outcome: std::result::Result<Once, shelfmark_engine::Error>| {
        done.answer(match outcome {
            Ok(Once::Written(written)) => Ok(encode(&tables, Some(&written), detail, &collections)),
            Ok(Once::Repeated) => Ok(encode(&tables, None, detail, &collections)),
            Ok(Once::Mismatch) => {
                Err(Error::new(Exception::IdempotentParameterMismatch, texts::TOKEN_MISMATCH))
            }
            Err(error) => Err(transaction_error(error, &tables)),
        });
    };
    match token {
        Some(token) => engine.submit_all_once(token, writes, Box::new(finish)),
        None => {
            engine.submit_all(writes, Box::new(move |outcome| finish(outcome.map(Once::Written))));
        }
    }
}

fn parse(body: &[u8]) -> Result<Request> {
    let mut request = Request::default();
    Reader::older_body(body, |reader, name| {
        match name {
            "TransactItems" => request.items = reader.list(parse_item)?,
            "ClientRequestToken" => request.token = reader.text()?,
            _ if request.wanted.member(reader, name)? => {}
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    shape.required("TransactItems", request.items.is_some());
    if let Some(items) = &request.items {
        shape.length("TransactItems", items.len(), 1, TRANSACTION_ITEMS_MAX);
    }
    for (position, actions) in request.items.iter().flatten().enumerate() {
        for (verb, write) in actions {
            let path = format!("TransactItems.{}.member.{}.", position + 1, verb.member());
            write.shape(*verb, &path, &mut shape);
            if *verb == Verb::Update {
                write.update_required(&path, &mut shape);
            }
        }
    }
    if let Some(token) = &request.token {
        shape.text("ClientRequestToken", token, 1, REQUEST_TOKEN_CHARS_MAX);
    }
    request.wanted.shape(&mut shape);
    shape.check()?;
    Ok(request)
}

fn parse_item(reader: &mut Reader<'_>) -> Result<Option<Vec<(Verb, WriteRequest)>>> {
    let mut actions = Vec::new();
    let present =
        reader.structure(|reader, name| {
            let Some(verb) = Verb::ALL.into_iter().find(|verb| verb.member() == name) else {
                return reader.skip();
            };
            let mut write = WriteRequest::default();
            let present = reader.structure(|reader, name| {
                if write.member(reader, name)? { Ok(()) } else { reader.skip() }
            })?;
            actions.retain(|(other, _)| *other != verb);
            if present {
                actions.push((verb, write.in_transaction()));
            }
            Ok(())
        })?;
    Ok(present.then_some(actions))
}

fn plan(face: &Face, request: Request) -> Result<Planned> {
    let mut prepared = Vec::new();
    let mut fingerprint = Fingerprint::new();
    for actions in request.items.unwrap_or_default() {
        if actions.is_empty() {
            return Err(Error::validation(texts::NO_ACTION));
        }
        let mut actions = actions.into_iter();
        let (Some((verb, write)), None) = (actions.next(), actions.next()) else {
            return Err(Error::validation(texts::ONE_ACTION));
        };
        if request.token.is_some() {
            fingerprint.add(verb, &write);
        }
        prepared.push((write.table.clone().unwrap_or_default(), write.prepare(verb)?));
    }
    let size: usize = prepared.iter().map(|(_, write)| write.size_bytes()).sum();
    if size > TRANSACTION_SIZE_BYTES_MAX {
        return Err(Error::validation(texts::TRANSACTION_TOO_LARGE));
    }
    let detail = request.wanted.detail();
    let writes = bind(face, prepared, detail)?;
    let now = face.environment.clock.now_seconds();
    let token = request.token.map(|token| Token {
        token: face.engine.token(TOKEN_PREFIX, &token),
        request_hash: fingerprint.digest(),
        expires_at: now + REQUEST_TOKEN_SECONDS,
    });
    let collections = request.wanted.collections(face, &writes)?;
    Ok(Planned { writes, token, detail, collections })
}

/// Fits the writes to their tables. The first one that does not fit cancels the transaction; those
/// behind it are not looked at.
fn bind(face: &Face, prepared: Vec<(String, Prepared)>, detail: Detail) -> Result<Vec<Write>> {
    let returns = Returns { old: detail.is_wanted(), new: detail.is_wanted() };
    let mut writes: Vec<Write> = Vec::with_capacity(prepared.len());
    let mut keys: Vec<(u64, Key)> = Vec::with_capacity(prepared.len());
    let count = prepared.len();
    for (name, write) in prepared {
        let table = table::find(&face.engine, &name)?;
        match write.bind(&table) {
            Ok(write) => {
                let key = match &write.change {
                    Change::Put(item) => table.key_of(item)?,
                    Change::Patch { key, .. } | Change::Delete(key) | Change::Check(key) => {
                        key.clone()
                    }
                };
                let key = (table.id, key);
                if keys.contains(&key) {
                    return Err(Error::validation(texts::ITEM_TWICE));
                }
                keys.push(key);
                writes.push(Write { returns, ..write });
            }
            Err(error) if error.whole => return Err(error),
            Err(error) => return Err(cancelled_at(writes.len(), count, error)),
        }
    }
    Ok(writes)
}

/// Writes the answer. One of a repeated request shows what reading the items would have cost.
fn encode(
    tables: &[Arc<Table>],
    written: Option<&[Written]>,
    detail: Detail,
    collections: &Collections,
) -> Answered {
    let mut consumed = ConsumedByTable::default();
    if detail.is_wanted() {
        for (position, table) in tables.iter().enumerate() {
            let units = match written {
                None => Consumed::transaction_read(0),
                Some(written) => {
                    let images = written.get(position);
                    let old = images.and_then(|written| written.old.as_ref());
                    let new = images.and_then(|written| written.new.as_ref());
                    Consumed::write(table, old, new).in_transaction()
                }
            };
            consumed.add(&table.schema.name.name, units);
        }
    }
    Writer::answer(|out| {
        consumed.put(out, detail);
        collections.put_all(out);
    })
    .reporting(reports(written.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::{Fingerprint, parse};

    fn hash(body: &str) -> u64 {
        let mut fingerprint = Fingerprint::new();
        for (verb, write) in parse(body.as_bytes()).unwrap().items.unwrap().into_iter().flatten() {
            fingerprint.add(verb, &write);
        }
        fingerprint.digest()
    }

    /// Checks hashes that the first build stored: they must stay as they are.
    #[test]
    fn the_hash_of_a_request_stays_over_builds() {
        let put = r##"{"TransactItems": [{"Put": {"TableName": "t", "Item": {"id": {"N": "1.50"},
            "a": {"L": [{"NULL": true}, {"B": "AAE="}, {"M": {"b": {"BOOL": false}}}]}},
            "ConditionExpression": "#a = :b", "ExpressionAttributeNames": {"#a": "a"},
            "ExpressionAttributeValues": {":b": {"NS": ["2", "1"]}},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}}]}"##;
        assert_eq!(format!("{:016x}", hash(put)), "8d4787a0cb1b7cff");
        let others = r#"{"TransactItems": [
            {"Update": {"TableName": "t", "Key": {"id": {"S": "x"}}, "UpdateExpression": "SET a = b"}},
            {"Delete": {"TableName": "t", "Key": {"id": {"S": "y"}},
             "Expected": {"a": {"Value": {"S": "1"}, "Exists": true}}, "ConditionalOperator": "AND"}},
            {"ConditionCheck": {"TableName": "t", "Key": {"id": {"S": "z"}},
             "ConditionExpression": "attribute_exists(a)"}}]}"#;
        assert_eq!(format!("{:016x}", hash(others)), "a332e4f4743f8c0c");
    }

    #[test]
    fn what_differs_in_one_member_has_another_hash() {
        let of = |verb: &str, table: &str, member: &str, value: &str| {
            hash(&format!(
                r#"{{"TransactItems": [{{"{verb}": {{"TableName": "{table}",
                    "Key": {{"id": {{"S": "x"}}}}, "{member}": "{value}"}}}}]}}"#
            ))
        };
        let one = of("Delete", "t", "ConditionExpression", "attribute_exists(a)");
        assert_ne!(one, of("ConditionCheck", "t", "ConditionExpression", "attribute_exists(a)"));
        assert_ne!(one, of("Delete", "u", "ConditionExpression", "attribute_exists(a)"));
        assert_ne!(one, of("Delete", "t", "ConditionExpression", "attribute_exists(b)"));
        assert_ne!(one, of("Delete", "t", "UpdateExpression", "attribute_exists(a)"));
        assert_eq!(one, of("Delete", "t", "ConditionExpression", "attribute_exists(a)"));
    }
}
