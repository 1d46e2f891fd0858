//! Writes requests as JSON bodies of DynamoDB.
//!
//! Source: DynamoDB Developer Guide and API Reference, read 2026-11; each rule that refuses is in the
//! target's profile.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};

use super::Calls;
use super::expr::Expr;
use super::names::is_dynamo;
use super::request::{Ask, Change, ChangeKind, Condition, End, Guard, Refusal, Request, sign};
use crate::unique::available;
use shelfmark_design_language::codec::base64_of_hex;
use shelfmark_design_language::model::Value;
use shelfmark_design_language::model::schema::{Family, Stored, Table, TableId};
use shelfmark_design_language::model::types::Type;
use shelfmark_design_language::syntax::tree::{BoundKind, CondOp};

/// Returns the CreateTable body of each table.
pub(super) fn create(calls: &Calls<'_>) -> Result<Vec<Json>, Refusal> {
    let tables = calls.schema.tables.iter().enumerate();
    tables.filter(|(_, table)| !table.is_index).map(|(id, table)| body(calls, id, table)).collect()
}

fn body(calls: &Calls<'_>, id: TableId, table: &Table) -> Result<Json, Refusal> {
    calls.creatable(id)?;
    let key = calls.columns.key(id);
    let mut defined: Vec<(String, &'static str)> = Vec::new();
    let mut define = |name: &str, ty: &Type| {
        if !defined.iter().any(|(other, _)| other == name) {
            defined.push((name.to_owned(), letter(ty)));
        }
    };
    key.iter().for_each(|column| define(&column.name, &column.ty));
    let (mut indexes, mut local) = (Vec::new(), Vec::new());
    for (index, form) in calls.schema.tables.iter().enumerate() {
        if !form.is_index || calls.base_of(index) != id {
            continue;
        }
        let own = own_columns(calls, index);
        let columns = calls.columns.key(index).get(..own).unwrap_or(&[]);
        columns.iter().for_each(|column| define(&column.name, &column.ty));
        let names = columns.iter().map(|column| column.name.as_str());
        let list = if form.is_local { &mut local } else { &mut indexes };
        list.push(json!({
            "IndexName": form.name.text,
            "KeySchema": schema(names, form.partition),
            "Projection": projection(calls, index, id),
        }));
    }
    let attributes =
        defined.iter().map(|(name, ty)| json!({ "AttributeName": name, "AttributeType": ty }));
    let mut out = json!({
        "TableName": table.name.text,
        "AttributeDefinitions": attributes.collect::<Vec<_>>(),
        "KeySchema": schema(key.iter().map(|column| column.name.as_str()), table.partition),
        "BillingMode": "PAY_PER_REQUEST",
    });
    for (member, list) in [("GlobalSecondaryIndexes", indexes), ("LocalSecondaryIndexes", local)] {
        if let (false, Some(fields)) = (list.is_empty(), out.as_object_mut()) {
            fields.insert(member.to_owned(), Json::Array(list));
        }
    }
    Ok(out)
}

fn schema<'n>(names: impl Iterator<Item = &'n str>, partition: usize) -> Json {
    let column = |(at, name): (usize, &str)| json!({ "AttributeName": name, "KeyType": if at < partition { "HASH" } else { "RANGE" } });
    names.enumerate().map(column).collect()
}

/// Returns the projection of an index.
fn projection(calls: &Calls<'_>, index: TableId, base: TableId) -> Json {
    match included(calls, index, base) {
        None => json!({ "ProjectionType": "ALL" }),
        Some(names) if names.is_empty() => json!({ "ProjectionType": "KEYS_ONLY" }),
        Some(names) => json!({ "ProjectionType": "INCLUDE", "NonKeyAttributes": names }),
    }
}

/// Returns the attributes that an index includes by name; `None` where it shows all that its rows hold.
fn included(calls: &Calls<'_>, index: TableId, base: TableId) -> Option<Vec<String>> {
    let mut whole = true;
    let mut names: Vec<String> = Vec::new();
    for (_, family) in calls.schema.of_table(index) {
        let below = family.base.and_then(|id| calls.schema.families.get(id));
        whole &= below.is_some_and(|below| shows_all(calls, family, below));
        for path in available(calls.model, family) {
            let name = calls.columns.attribute(base, family.source, path);
            names.extend(
                name.filter(|name| !names.iter().any(|one| one == name)).map(str::to_owned),
            );
        }
    }
    if whole {
        return None;
    }
    names.extend(calls.columns.row_type(base).map(str::to_owned));
    let own = own_columns(calls, index);
    let keys = calls.columns.key(index).iter().take(own).chain(calls.columns.key(base));
    let keys: Vec<&str> = keys.map(|column| column.name.as_str()).collect();
    names.retain(|name| !keys.contains(&name.as_str()));
    Some(names)
}

/// Returns true if entries show all that the rows below them hold.
fn shows_all(calls: &Calls<'_>, entry: &Family, below: &Family) -> bool {
    let plain = |stored: &Stored| matches!(stored, Stored::Path(_));
    let shown = available(calls.model, entry);
    entry.stored == below.stored
        || below.stored.iter().all(plain) && available(calls.model, below).is_subset(shown)
}

/// Refuses indexes that include more attributes by name than DynamoDB takes.
fn nameable(calls: &Calls<'_>, base: TableId, all: &[(TableId, &Table)]) -> Result<(), Refusal> {
    let Some(most) = calls.target.included else { return Ok(()) };
    let indexes = || all.iter().filter(|(id, _)| *id != base);
    let at_most = |id: TableId| {
        let families = calls.schema.of_table(id);
        families.map(|(_, family)| available(calls.model, family).len()).sum::<usize>() + 1
    };
    let few = indexes().all(|(id, _)| at_most(*id) <= most.index_max);
    if few && indexes().map(|(id, _)| at_most(*id)).sum::<usize>() <= most.table_max {
        return Ok(());
    }
    let mut sum = 0;
    for (id, _) in indexes() {
        let count = included(calls, *id, base).map_or(0, |names| names.len());
        if count > most.index_max {
            let why = format!("{} includes {count} attributes by name", calls.table_name(*id));
            return Err(calls.refuse("projections", why));
        }
        sum += count;
    }
    if sum > most.table_max {
        let table = calls.table_name(base);
        let why = format!("the indexes of {table} include {sum} attributes by name");
        return Err(calls.refuse("projections", why));
    }
    Ok(())
}

/// Returns how many columns of an index's key are its own.
pub(super) fn own_columns(calls: &Calls<'_>, table: TableId) -> usize {
    let all = calls.schema.tables.get(table).map_or(0, |table| table.kinds.len());
    let base = calls.base_of(table);
    if base == table { all } else { all.saturating_sub(calls.columns.key(base).len()) }
}

/// Refuses a table that DynamoDB cannot create with all its indexes.
pub(super) fn creatable(
    calls: &Calls<'_>,
    base: TableId,
    all: &[(TableId, &Table)],
) -> Result<(), Refusal> {
    for (id, table) in all {
        check(calls, *id)?;
        let own = table.desc.get(..own_columns(calls, *id)).unwrap_or(&table.desc);
        let descends = calls.target.key_shape.as_ref().is_some_and(|shape| !shape.descending);
        if descends && own.contains(&true) {
            let why = format!("a column in the key of {} descends", table.name.text);
            return Err(calls.refuse("key_order", why));
        }
    }
    let count = |local: bool| {
        let own = |(id, table): &&(TableId, &Table)| *id != base && table.is_local == local;
        all.iter().filter(own).count()
    };
    let most = calls.setting("indexes.max", calls.target.indexes_max);
    let most_local = calls.target.local_indexes_max;
    for (count, most, what) in [(count(false), most, "global"), (count(true), most_local, "local")]
    {
        if count as f64 > most {
            let why = format!("{} has {count} {what} indexes", calls.table_name(base));
            return Err(calls.refuse("indexes", why));
        }
    }
    nameable(calls, base, all)
}

/// Refuses a table or index that DynamoDB cannot create.
fn check(calls: &Calls<'_>, id: TableId) -> Result<(), Refusal> {
    let Some(table) = calls.schema.tables.get(id) else { return Ok(()) };
    let name = &table.name.text;
    if !is_dynamo(name) {
        return Err(calls.refuse("names", format!("{name} is no name of a table or index")));
    }
    let own = own_columns(calls, id);
    let sort = own.saturating_sub(table.partition);
    let shape = calls.target.key_shape.as_ref();
    let (most, most_sort) = shape.map_or((1, 1), |shape| match table.is_index {
        true => (shape.index_partition_columns_max, shape.index_sort_columns_max),
        false => (shape.partition_columns_max, shape.sort_columns_max),
    });
    if table.partition > most || sort > most_sort {
        let why = format!("the key of {name} has {} and {sort} columns", table.partition);
        return Err(calls.refuse("key_columns", why));
    }
    let columns = calls.columns.key(id).iter().take(own);
    for column in columns {
        if !matches!(letter(&column.ty), "S" | "N" | "B") {
            let why = format!("{} in the key of {name} is {}", column.name, column.ty.a_name());
            return Err(calls.refuse("key_types", why));
        }
    }
    Ok(())
}

/// Returns the letter of a type in bodies.
pub(super) fn letter(ty: &Type) -> &'static str {
    match ty {
        Type::Int(_) | Type::Decimal(_) | Type::Timestamp => "N",
        Type::Bool => "BOOL",
        Type::Bytes(_) => "B",
        Type::List(..) => "L",
        Type::Uuid | Type::Ulid | Type::Date | Type::Text(_) | Type::Enum(_) => "S",
    }
}

/// Returns a value in the form of bodies.
pub(super) fn attribute(value: &Expr) -> Json {
    match value {
        Expr::Const(value, ty) => constant(value, ty),
        other => match other.ty() {
            Type::List(element, _) => {
                json!({ "L": { "$list": other.json(), "of": letter(&element) } })
            }
            ty => single(letter(&ty), other.json()),
        },
    }
}

fn constant(value: &Value, ty: &Type) -> Json {
    match (value, ty) {
        (Value::Null, _) => json!({ "NULL": true }),
        (Value::Bool(bit), _) => json!({ "BOOL": bit }),
        (Value::List(items), Type::List(element, _)) => {
            json!({ "L": items.iter().map(|item| constant(item, element)).collect::<Vec<_>>() })
        }
        (Value::Text(hex), Type::Bytes(_)) => single("B", Json::from(base64_of_hex(hex))),
        (value, ty) => single(letter(ty), Json::from(value.text(ty))),
    }
}

fn single(letter: &str, value: Json) -> Json {
    Json::Object(Map::from_iter([(letter.to_owned(), value)]))
}

/// Writes a request: the operation, its body, and its inputs.
pub(super) fn say(
    calls: &Calls<'_>,
    request: &Request,
) -> Result<(String, Json, Vec<String>), Refusal> {
    let mut inputs = Vec::new();
    match request {
        Request::Read { ask, .. } => {
            ask.equal.iter().for_each(|value| value.inputs(&mut inputs));
            ask.ends.iter().for_each(|end| end.value.inputs(&mut inputs));
            ask.limit.iter().for_each(|limit| limit.inputs(&mut inputs));
            let (operation, body) = read(calls, ask)?;
            Ok((operation, body, inputs))
        }
        Request::Write { changes, .. } => {
            for change in changes {
                change_inputs(change, &mut inputs);
            }
            let mut items = Vec::new();
            for change in changes {
                items.push((change, write(calls, change)?));
            }
            if let [(change, (operation, body))] = items.as_slice() {
                let _ = change;
                return Ok((format!("{operation}Item"), body.clone(), inputs));
            }
            let items = items.into_iter().map(|(change, (operation, body))| {
                let mut item = Map::from_iter([(operation, body)]);
                item.extend(
                    change.beside().into_iter().map(|(name, value)| (name.to_owned(), value)),
                );
                Json::Object(item)
            });
            let body = json!({ "TransactItems": items.collect::<Vec<_>>() });
            Ok(("TransactWriteItems".to_owned(), body, inputs))
        }
    }
}

/// Adds the inputs of a change.
pub(super) fn change_inputs(change: &Change, inputs: &mut Vec<String>) {
    change.values().into_iter().for_each(|value| value.inputs(inputs));
    change.conditions.iter().flat_map(|one| &one.value).for_each(|value| value.inputs(inputs));
}

fn read(calls: &Calls<'_>, ask: &Ask) -> Result<(String, Json), Refusal> {
    check(calls, ask.table)?;
    let base = calls.base_of(ask.table);
    check(calls, base)?;
    let key = calls.columns.key(ask.table);
    let mut body = Map::new();
    body.insert("TableName".to_owned(), Json::from(calls.table_name(base)));
    if base != ask.table {
        body.insert("IndexName".to_owned(), Json::from(calls.table_name(ask.table)));
    }
    for (value, column) in ask.equal.iter().zip(key) {
        if value.may_be_empty() {
            let why = format!("{} may be empty{}", column.name, value.filled());
            return Err(calls.refuse("empty_key", why));
        }
    }
    if ask.point {
        body.insert("Key".to_owned(), item_key(calls, base, &ask.equal));
        if ask.fresh {
            body.insert("ConsistentRead".to_owned(), Json::Bool(true));
        }
        return Ok(("GetItem".to_owned(), Json::Object(body)));
    }
    let partition = calls.schema.tables.get(ask.table).map_or(1, |table| table.partition);
    let scans = ask.equal.is_empty() && ask.ends.is_empty();
    if !scans {
        if ask.equal.len() < partition {
            let why = format!("{} of {partition} partition columns are told", ask.equal.len());
            return Err(calls.refuse("partition", why));
        }
        condition(calls, ask, &mut body)?;
        if ask.desc != descends(calls, ask)? {
            body.insert("ScanIndexForward".to_owned(), Json::Bool(false));
        }
    }
    if let Some(limit) = &ask.limit {
        body.insert("Limit".to_owned(), limit.json());
    }
    if ask.fresh {
        body.insert("ConsistentRead".to_owned(), Json::Bool(true));
    }
    let operation = if scans { "Scan" } else { "Query" };
    Ok((operation.to_owned(), Json::Object(body)))
}

/// Returns true if the open columns descend in the key; all or none of them may.
fn descends(calls: &Calls<'_>, ask: &Ask) -> Result<bool, Refusal> {
    let own = own_columns(calls, ask.table);
    let Some(table) = calls.schema.tables.get(ask.table) else { return Ok(false) };
    let open = table.desc.get(ask.equal.len()..own).unwrap_or(&[]);
    if open.contains(&true) && open.contains(&false) {
        let why = format!("the sort columns of {} go both ways", table.name.text);
        return Err(calls.refuse("directions", why));
    }
    Ok(open.contains(&true))
}

/// Writes the condition on the key: equalities, and at most one comparison on the column after
/// them.
fn condition(calls: &Calls<'_>, ask: &Ask, body: &mut Map<String, Json>) -> Result<(), Refusal> {
    let key = calls.columns.key(ask.table);
    let mut names = Map::new();
    let mut values = Map::new();
    let mut parts = Vec::new();
    for (at, (value, column)) in ask.equal.iter().zip(key).enumerate() {
        names.insert(format!("#k{at}"), Json::from(column.name.as_str()));
        values.insert(format!(":k{at}"), attribute(value));
        parts.push(format!("#k{at} = :k{at}"));
    }
    if let (false, Some(column)) = (ask.ends.is_empty(), key.get(ask.equal.len())) {
        names.insert("#s".to_owned(), Json::from(column.name.as_str()));
        parts.push(comparison(calls, &ask.ends, &mut values)?);
    }
    body.insert("KeyConditionExpression".to_owned(), Json::from(parts.join(" AND ")));
    body.insert("ExpressionAttributeNames".to_owned(), Json::Object(names));
    body.insert("ExpressionAttributeValues".to_owned(), Json::Object(values));
    Ok(())
}

/// Returns the one comparison that a sort column takes.
fn comparison(
    calls: &Calls<'_>,
    ends: &[End],
    values: &mut Map<String, Json>,
) -> Result<String, Refusal> {
    let mut put = |name: &str, value: &Expr| {
        values.insert(name.to_owned(), attribute(value));
    };
    match ends {
        [one] => {
            let next = || one.value.clone().next();
            let (text, value) = match (one.kind, one.whole) {
                (BoundKind::Begins, _) => {
                    if one.value.may_be_empty() {
                        let why = "what the sort key begins with may be empty";
                        let why = format!("{why}{}", one.value.filled());
                        return Err(calls.refuse("begins_empty", why));
                    }
                    ("begins_with(#s, :s)", one.value.clone())
                }
                (BoundKind::From, _) => ("#s >= :s", one.value.clone()),
                (BoundKind::After, true) => ("#s > :s", one.value.clone()),
                (BoundKind::After, false) => ("#s >= :s", next()),
                (BoundKind::To, _) | (BoundKind::Through, true) => ("#s <= :s", one.value.clone()),
                (BoundKind::Before, _) => ("#s < :s", one.value.clone()),
                (BoundKind::Through, false) => ("#s < :s", next()),
            };
            if value.may_be_empty() {
                let why = format!("an end of the range may be empty{}", value.filled());
                return Err(calls.refuse("empty_key", why));
            }
            put(":s", &value);
            Ok(text.to_owned())
        }
        [a, b] => {
            let (low, high) = if a.kind == BoundKind::From { (a, b) } else { (b, a) };
            let closed =
                high.kind == BoundKind::To || high.kind == BoundKind::Through && high.whole;
            if low.kind != BoundKind::From || !closed {
                let why = "the range has two ends, and not both of them belong to it";
                return Err(calls.refuse("one_condition", why));
            }
            if let Some(empty) = [low, high].into_iter().find(|end| end.value.may_be_empty()) {
                let why = format!("an end of the range may be empty{}", empty.value.filled());
                return Err(calls.refuse("empty_key", why));
            }
            put(":low", &low.value);
            put(":high", &high.value);
            Ok("#s BETWEEN :low AND :high".to_owned())
        }
        _ => Err(calls.refuse("one_condition", "the sort column has more than two conditions")),
    }
}

/// Returns the guard of a read on a target that does not accept crossed ends: BETWEEN, and ranges of
/// typed tables.
pub(super) fn crossed(ask: &Ask) -> Option<Guard> {
    let [a, b] = ask.ends.as_slice() else { return None };
    let is_low = matches!(a.kind, BoundKind::From | BoundKind::After);
    let (low, high) = if is_low { (a, b) } else { (b, a) };
    if let Some(guard) = super::stepped::guard(low, high) {
        return Some(guard);
    }
    if let (Expr::Const(..), Expr::Const(..)) = (&low.value, &high.value) {
        return None;
    }
    Some(Guard { left: low.value.clone(), op: CondOp::Le, right: vec![high.value.clone()] })
}

fn item_key(calls: &Calls<'_>, base: TableId, key: &[Expr]) -> Json {
    let columns = calls.columns.key(base).iter();
    Json::Object(
        columns.zip(key).map(|(column, value)| (column.name.clone(), attribute(value))).collect(),
    )
}

/// Returns a change as one operation: `Put`, `Update` or `Delete`, with its body.
pub(super) fn write(calls: &Calls<'_>, change: &Change) -> Result<(String, Json), Refusal> {
    check(calls, change.table)?;
    let columns = calls.columns.key(change.table);
    for (value, column) in change.key.iter().zip(columns) {
        if value.may_be_empty() {
            let why = format!("{} may be empty{}", column.name, value.filled());
            return Err(calls.refuse("empty_key", why));
        }
    }
    let mut body = Map::new();
    body.insert("TableName".to_owned(), Json::from(calls.table_name(change.table)));
    let first = columns.first().map_or("", |column| column.name.as_str());
    let mut names = Map::new();
    let mut condition = None;
    let mut beyond = None;
    let operation = match &change.kind {
        ChangeKind::Put { values, fresh, there } => {
            indexed(calls, change.table, values)?;
            let mut item = item_key(calls, change.table, &change.key);
            if let Some(fields) = item.as_object_mut() {
                fields.extend(values.iter().map(|(name, value)| (name.clone(), attribute(value))));
            }
            body.insert("Item".to_owned(), item);
            condition = match (fresh, there) {
                (true, _) => Some("attribute_not_exists(#key)"),
                (false, true) => Some("attribute_exists(#key)"),
                (false, false) => None,
            };
            "Put"
        }
        ChangeKind::Update { set, add, push, there } => {
            indexed(calls, change.table, set)?;
            body.insert("Key".to_owned(), item_key(calls, change.table, &change.key));
            update(set, add, push, &mut names, &mut body);
            condition = there.then_some("attribute_exists(#key)").or(condition);
            "Update"
        }
        ChangeKind::Extend { name, value, largest } => {
            body.insert("Key".to_owned(), item_key(calls, change.table, &change.key));
            let set = [(name.clone(), value.clone())];
            update(&set, &[], &[], &mut names, &mut body);
            let sign = if *largest { '<' } else { '>' };
            beyond = Some(format!("(attribute_not_exists(#s0) OR #s0 {sign} :s0)"));
            condition = Some("attribute_exists(#key)");
            "Update"
        }
        ChangeKind::Delete { there } => {
            body.insert("Key".to_owned(), item_key(calls, change.table, &change.key));
            condition = there.then_some("attribute_exists(#key)");
            "Delete"
        }
    };
    let mut parts: Vec<String> = condition.map(str::to_owned).into_iter().collect();
    if condition.is_some() {
        names.insert("#key".to_owned(), Json::from(first));
    }
    parts.extend(beyond);
    conditions(&change.conditions, &mut parts, &mut names, &mut body);
    if !parts.is_empty() {
        body.insert("ConditionExpression".to_owned(), Json::from(parts.join(" AND ")));
    }
    if !names.is_empty() {
        body.insert("ExpressionAttributeNames".to_owned(), Json::Object(names));
    }
    Ok((operation.to_owned(), Json::Object(body)))
}

/// Adds the comparisons with attributes of the item, with their names and values.
fn conditions(
    all: &[Condition],
    parts: &mut Vec<String>,
    names: &mut Map<String, Json>,
    body: &mut Map<String, Json>,
) {
    let mut values = Map::new();
    for (at, one) in all.iter().enumerate() {
        names.insert(format!("#c{at}"), Json::from(one.name.as_str()));
        match (one.op, &one.value) {
            (CondOp::Absent, _) => parts.push(format!("attribute_not_exists(#c{at})")),
            (op, Some(value)) => {
                values.insert(format!(":c{at}"), attribute(value));
                parts.push(format!("#c{at} {} :c{at}", sign(op).unwrap_or("=")));
            }
            (_, None) => parts.push(format!("attribute_exists(#c{at})")),
        }
    }
    if !values.is_empty() {
        let old = body.entry("ExpressionAttributeValues").or_insert_with(|| json!({}));
        if let Some(fields) = old.as_object_mut() {
            fields.extend(values);
        }
    }
}

/// Refuses empty texts in the keys of indexes.
fn indexed(calls: &Calls<'_>, base: TableId, values: &[(String, Expr)]) -> Result<(), Refusal> {
    let families = calls.schema.of_table(base).map(|(id, _)| id);
    let indexes = families.flat_map(|id| calls.schema.entries(id)).map(|(_, entry)| entry.table);
    for index in indexes.collect::<BTreeSet<TableId>>() {
        let own = own_columns(calls, index);
        for column in calls.columns.key(index).iter().take(own) {
            let empty =
                |(name, value): &&(String, Expr)| *name == column.name && value.may_be_empty();
            if values.iter().any(|one| empty(&one)) {
                let why = format!(
                    "{} in the key of {} may be empty",
                    column.name,
                    calls.table_name(index)
                );
                return Err(calls.refuse("empty_key", why));
            }
        }
    }
    Ok(())
}

/// Writes the update expression with its names and values.
fn update(
    set: &[(String, Expr)],
    add: &[(String, Expr)],
    push: &[(String, Expr)],
    names: &mut Map<String, Json>,
    body: &mut Map<String, Json>,
) {
    let mut values = Map::new();
    let (mut sets, mut removes, mut adds) = (Vec::new(), Vec::new(), Vec::new());
    for (at, (name, value)) in set.iter().enumerate() {
        names.insert(format!("#s{at}"), Json::from(name.as_str()));
        if value.is_null() {
            removes.push(format!("#s{at}"));
            continue;
        }
        values.insert(format!(":s{at}"), attribute(value));
        sets.push(format!("#s{at} = :s{at}"));
    }
    for (at, (name, value)) in push.iter().enumerate() {
        names.insert(format!("#p{at}"), Json::from(name.as_str()));
        values.insert(format!(":p{at}"), json!({ "L": [attribute(value)] }));
        sets.push(format!("#p{at} = list_append(#p{at}, :p{at})"));
    }
    for (at, (name, value)) in add.iter().enumerate() {
        names.insert(format!("#a{at}"), Json::from(name.as_str()));
        values.insert(format!(":a{at}"), attribute(value));
        adds.push(format!("#a{at} :a{at}"));
    }
    let clauses = [("SET", sets), ("REMOVE", removes), ("ADD", adds)];
    let clauses = clauses.into_iter().filter(|(_, parts)| !parts.is_empty());
    let text: Vec<String> =
        clauses.map(|(word, parts)| format!("{word} {}", parts.join(", "))).collect();
    body.insert("UpdateExpression".to_owned(), Json::from(text.join(" ")));
    if !values.is_empty() {
        body.insert("ExpressionAttributeValues".to_owned(), Json::Object(values));
    }
}
