//! Writes requests as calls of CanDB, of the canister that holds a partition.
//!
//! What it is not: no code of an actor. What stands under `if` an actor asks by `skExists` in the same
//! message, which nothing comes between; what is set and added stands in the function that `update`
//! takes.
//!
//! Source: CanDB's interface, version 1.0.3, read 2026-11; each rule that refuses is in the target's
//! profile.

use serde_json::{Map, Value as Json};

use super::Calls;
use super::expr::{Expr, Piece, plain_text};
use super::request::{Ask, Change, ChangeKind, End, Refusal, Request};
use super::typed::{changed, inputs, one_of_several};
use shelfmark_design_language::model::Value;
use shelfmark_design_language::model::schema::{Codec, ColumnKind, TableId};
use shelfmark_design_language::model::types::Type;
use shelfmark_design_language::syntax::tree::BoundKind;

/// Entities of one scan where nobody asks for fewer.
///
/// Ours: a scan takes a limit, since an answer is one message of at most 2 MB.
const SCANNED_MAX: i64 = 1_000;

/// Number of the last sign of Unicode, which is no character, behind which nothing is taken to lie.
///
/// Ours: a scan has no open end, and texts have no last one.
const LAST_SIGNS: usize = 16;

/// Returns a line for each table.
pub(super) fn create(calls: &Calls<'_>) -> Result<Vec<Json>, Refusal> {
    for (id, _) in calls.schema.tables.iter().enumerate() {
        check(calls, id)?;
    }
    Ok(super::typed::create(calls))
}

/// Refuses what is no partition key and sort key of texts.
fn check(calls: &Calls<'_>, id: TableId) -> Result<(), Refusal> {
    let Some(table) = calls.schema.tables.get(id) else { return Ok(()) };
    let name = &table.name.text;
    if table.is_index {
        return Err(calls.refuse("index", format!("{name} is an index")));
    }
    let text = |kind: &ColumnKind| match kind {
        ColumnKind::Text => true,
        ColumnKind::Typed(ty) => ty.is_text() || matches!(ty, Type::Uuid | Type::Ulid),
    };
    // Without a sort key the empty text is it.
    let columns = table.kinds.len();
    if table.partition != 1 || !(1..=2).contains(&columns) || !table.kinds.iter().all(text) {
        let why = format!("the key of {name} is no pair of texts");
        return Err(calls.refuse("keys", why));
    }
    Ok(())
}

/// Writes a request: the call, its arguments, and its inputs.
pub(super) fn say(
    calls: &Calls<'_>,
    request: &Request,
) -> Result<(String, Json, Vec<String>), Refusal> {
    let inputs = inputs(request);
    let (operation, body) = match request {
        Request::Read { ask, .. } => read(calls, ask)?,
        Request::Write { changes, .. } => match changes.as_slice() {
            [only] => change(calls, only)?,
            several => message(calls, several)?,
        },
    };
    Ok((operation.to_owned(), body, inputs))
}

fn read(calls: &Calls<'_>, ask: &Ask) -> Result<(&'static str, Json), Refusal> {
    check(calls, ask.table)?;
    let mut equal = ask.equal.iter();
    let Some(pk) = equal.next() else {
        return Err(calls.refuse("partition", "no partition is told"));
    };
    let mut body = Map::from_iter([("pk".to_owned(), pk.json())]);
    if ask.point {
        let sk = equal.next().map_or(Json::from(""), Expr::json);
        body.insert("sk".to_owned(), sk);
        return Ok(("get", Json::Object(body)));
    }
    let (low, high) = both(calls, &ask.ends)?;
    body.insert("skLowerBound".to_owned(), low.json());
    body.insert("skUpperBound".to_owned(), high.json());
    let limit = ask.limit.as_ref().map_or(Json::from(SCANNED_MAX), Expr::json);
    body.insert("limit".to_owned(), limit);
    if ask.desc {
        body.insert("ascending".to_owned(), Json::Bool(false));
    }
    Ok(("scan", Json::Object(body)))
}

/// Returns both ends of a scan, which includes them; an open end is the empty text, or what lies behind
/// all texts.
fn both(calls: &Calls<'_>, ends: &[End]) -> Result<(Expr, Expr), Refusal> {
    let text = |text: String| Expr::Const(Value::Text(text), plain_text());
    let last = || char::MAX.to_string().repeat(LAST_SIGNS);
    let (mut low, mut high) = (text(String::new()), text(last()));
    let behind = |value: &Expr| {
        let begins = Piece::Hole(value.clone(), Codec::Plain);
        Expr::text(vec![begins, Piece::Literal(last())])
    };
    for end in ends {
        match (end.kind, end.whole) {
            (BoundKind::Begins, _) => {
                (low, high) = (end.value.clone(), behind(&end.value));
            }
            (BoundKind::From, _) => low = end.value.clone(),
            (BoundKind::To, _) | (BoundKind::Through, true) => high = end.value.clone(),
            (BoundKind::Through, false) => high = behind(&end.value),
            (BoundKind::After | BoundKind::Before, _) => {
                let why = "an end of the range does not belong to it";
                return Err(calls.refuse("bounds", why));
            }
        }
    }
    Ok((low, high))
}

fn change(calls: &Calls<'_>, change: &Change) -> Result<(&'static str, Json), Refusal> {
    check(calls, change.table)?;
    if !change.conditions.is_empty() {
        return Err(calls.refuse("condition", "the write compares"));
    }
    let mut body = Map::new();
    body.insert("sk".to_owned(), Json::from(""));
    for (name, value) in ["pk", "sk"].into_iter().zip(&change.key) {
        body.insert(name.to_owned(), value.json());
    }
    changed(change, &mut body);
    if let Some(values) = body.remove("values") {
        body.insert("attributes".to_owned(), values);
    }
    let operation = match &change.kind {
        ChangeKind::Put { .. } => "put",
        ChangeKind::Update { .. } | ChangeKind::Extend { .. } => "update",
        ChangeKind::Delete { .. } => "delete",
    };
    Ok((operation, Json::Object(body)))
}

/// Writes changes that happen together: in one message to one canister.
fn message(calls: &Calls<'_>, changes: &[Change]) -> Result<(&'static str, Json), Refusal> {
    let first = changes.first().and_then(|one| one.key.first());
    if changes.iter().any(|one| one.key.first() != first) {
        return Err(calls.refuse("one_partition", "the changes may lie in several partitions"));
    }
    let all = changes.iter().map(|one| Ok(one_of_several(one, change(calls, one)?)));
    Ok(("message", all.collect::<Result<Json, Refusal>>()?))
}
