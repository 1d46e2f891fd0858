//! Writes requests as statements of CQL, with named markers.
//!
//! An input is the marker `:u`, what a row of step 1 shows `:row1_name`, the element of a loop
//! `:each_us`; a value that the caller puts together is a marker named after its column, and stands
//! beside the statement under `values`, as does any marker that would have the name of an input: it
//! gets another. A name that CQL reserves stands in quotes: `:"from"`.
//!
//! Source: Apache Cassandra documentation, CQL, read 2026-11; each rule that refuses is in the
//! target's profile.

use serde_json::{Map, Value as Json, json};

use super::Calls;
use super::columns::KeyColumn;
use super::dynamo::{change_inputs, own_columns};
use super::expr::Expr;
use super::names::{cql as name, is_cql_table};
use super::request::{Ask, Change, ChangeKind, Condition, Refusal, Request, sign};
use crate::paths::is_optional;
use shelfmark_design_language::model::pattern::Param;
use shelfmark_design_language::model::schema::{Stored, Table, TableId};
use shelfmark_design_language::model::types::Type;
use shelfmark_design_language::model::{ColumnPath, Value};
use shelfmark_design_language::syntax::tree::{BoundKind, CondOp};

/// Returns the statements that create the tables and views.
pub(super) fn create(calls: &Calls<'_>) -> Result<Vec<Json>, Refusal> {
    let tables = calls.schema.tables.iter().enumerate();
    let (views, own): (Vec<_>, Vec<_>) = tables.partition(|(_, table)| table.is_index);
    let mut out = Vec::new();
    for (id, table) in own {
        out.push(Json::from(table_statement(calls, id, table)?));
    }
    for (id, view) in views {
        out.push(Json::from(view_statement(calls, id, view)?));
    }
    Ok(out)
}

fn table_statement(calls: &Calls<'_>, id: TableId, table: &Table) -> Result<String, Refusal> {
    check(calls, id)?;
    let key = calls.columns.key(id);
    let counts = is_counter(calls, id);
    let mut columns: Vec<String> = key
        .iter()
        .map(|column| format!("{} {}", name(&column.name), type_name(&column.ty)))
        .collect();
    for (column, ty) in calls.columns.beside(id) {
        let ty = if counts { "counter".to_owned() } else { type_name(ty) };
        columns.push(format!("{} {ty}", name(column)));
    }
    let key: Vec<&KeyColumn> = key.iter().collect();
    Ok(format!(
        "CREATE TABLE {} ({}, {}){}",
        name(&table.name.text),
        columns.join(", "),
        primary_key(&key, table.partition),
        clustering(&key, &table.desc, table.partition)
    ))
}

fn view_statement(calls: &Calls<'_>, id: TableId, view: &Table) -> Result<String, Refusal> {
    check(calls, id)?;
    let base = calls.base_of(id);
    let (key, desc) = view_key(calls, id, view);
    let texts: Vec<String> = key.iter().map(|column| name(&column.name)).collect();
    let guards: Vec<String> = texts.iter().map(|column| format!("{column} IS NOT NULL")).collect();
    let mut columns = texts.clone();
    let shown = calls.schema.of_table(id).flat_map(|(_, family)| {
        let paths = crate::unique::available(calls.model, family).iter();
        paths
            .filter_map(|path| calls.columns.attribute(base, family.source, path))
            .collect::<Vec<_>>()
    });
    for column in shown.chain(calls.columns.row_type(base)) {
        let column = name(column);
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    Ok(format!(
        "CREATE MATERIALIZED VIEW {} AS SELECT {} FROM {} WHERE {} {}{}",
        name(&view.name.text),
        columns.join(", "),
        name(calls.table_name(base)),
        guards.join(" AND "),
        primary_key(&key, view.partition),
        clustering(&key, &desc, view.partition)
    ))
}

/// Returns the key of a view: its own columns, then those of the base key that are not among them.
fn view_key<'c>(
    calls: &'c Calls<'_>,
    id: TableId,
    view: &Table,
) -> (Vec<&'c KeyColumn>, Vec<bool>) {
    let mut key: Vec<&KeyColumn> = Vec::new();
    let mut desc = Vec::new();
    for (column, descends) in calls.columns.key(id).iter().zip(&view.desc) {
        if !key.iter().any(|other| other.name == column.name) {
            key.push(column);
            desc.push(*descends);
        }
    }
    (key, desc)
}

fn primary_key(key: &[&KeyColumn], partition: usize) -> String {
    let names: Vec<String> = key.iter().map(|column| name(&column.name)).collect();
    let (head, rest) = names.split_at(partition.min(names.len()));
    let rest: String = rest.iter().map(|one| format!(", {one}")).collect();
    format!("PRIMARY KEY (({}){rest})", head.join(", "))
}

fn clustering(key: &[&KeyColumn], desc: &[bool], partition: usize) -> String {
    let sort: Vec<String> = key
        .iter()
        .zip(desc)
        .skip(partition)
        .map(|(column, desc)| {
            format!("{} {}", name(&column.name), if *desc { "DESC" } else { "ASC" })
        })
        .collect();
    if desc.iter().skip(partition).any(|desc| *desc) {
        return format!(" WITH CLUSTERING ORDER BY ({})", sort.join(", "));
    }
    String::new()
}

fn type_name(ty: &Type) -> String {
    match ty {
        Type::Uuid => "uuid".to_owned(),
        Type::Bool => "boolean".to_owned(),
        Type::Int(_) => "bigint".to_owned(),
        Type::Decimal(_) => "decimal".to_owned(),
        Type::Timestamp => "timestamp".to_owned(),
        Type::Date => "date".to_owned(),
        Type::Ulid | Type::Text(_) | Type::Enum(_) => "text".to_owned(),
        Type::Bytes(_) => "blob".to_owned(),
        Type::List(element, _) => format!("list<{}>", type_name(element)),
    }
}

/// Refuses a table or view that CQL cannot create.
pub(super) fn check(calls: &Calls<'_>, id: TableId) -> Result<(), Refusal> {
    let Some(table) = calls.schema.tables.get(id) else { return Ok(()) };
    let text = &table.name.text;
    if !is_cql_table(text) {
        return Err(calls.refuse("names", format!("{text} is no name of a table")));
    }
    for (family_id, family) in calls.schema.of_table(id) {
        let mut carried = calls.carried(family_id).into_iter();
        let list = |path: &ColumnPath| {
            matches!(calls.model.path_type(family.source, path), Type::List(..))
                && is_optional(calls.model, family.source, path)
        };
        if let Some(path) = carried.find(list) {
            let name = calls.model.path_text(family.source, &path);
            return Err(calls.refuse("empty_list", format!("{name} of {text} may be absent")));
        }
    }
    if !table.is_index {
        return Ok(());
    }
    if is_counter(calls, calls.base_of(id)) {
        return Err(calls.refuse("counter", format!("{text} is a view of counters")));
    }
    let mut entries = calls.schema.of_table(id).map(|(_, entry)| entry);
    if entries.any(|entry| !calls.schema.own_conditions(entry).is_empty()) {
        return Err(calls.refuse("view_rows", format!("{text} has only some rows of its table")));
    }
    let own = own_columns(calls, id);
    let base = calls.columns.key(calls.base_of(id));
    let columns = calls.columns.key(id).get(..own).unwrap_or(&[]);
    if let Some(column) = columns.iter().find(|column| !column.direct) {
        let why = format!("{} in the key of {text} is no column of its table", column.name);
        return Err(calls.refuse("view_columns", why));
    }
    let others: Vec<&str> = columns
        .iter()
        .map(|column| column.name.as_str())
        .filter(|name| !base.iter().any(|below| below.name == *name))
        .collect();
    if others.len() > 1 {
        let why =
            format!("the key of {text} has {} beside the key of its table", others.join(" and "));
        return Err(calls.refuse("view_columns", why));
    }
    Ok(())
}

/// Returns true if a row keeps a number that is added to.
fn counts(stored: &Stored) -> bool {
    matches!(stored, Stored::Tally { fold, .. } if !fold.is_extreme())
}

/// Returns true if a table has only counters beside its key.
pub(super) fn is_counter(calls: &Calls<'_>, id: TableId) -> bool {
    let mut families = calls.schema.of_table(id).map(|(_, family)| family);
    let (Some(only), None) = (families.next(), families.next()) else { return false };
    let tallies = only.stored.iter().filter(|stored| counts(stored)).count();
    only.adds_only || tallies > 0 && tallies == calls.columns.beside(id).count()
}

/// The markers of one statement, with the values that the caller composes.
#[derive(Default)]
struct Markers {
    values: Map<String, Json>,
    /// The inputs of the pattern: no other marker has the name of one.
    inputs: Vec<String>,
}

impl Markers {
    /// Returns a value where a statement has one.
    fn term(&mut self, value: &Expr, column: &str) -> String {
        match value {
            Expr::Const(value, ty) => literal(value, ty),
            Expr::Input(input, _) => marker(input),
            Expr::Each(input, _) => self.of_loop(format!("each_{input}"), value),
            Expr::Row { name, step, .. } => self.of_loop(format!("row{step}_{name}"), value),
            other => {
                // The text of one identifier is not the identifier.
                let json = match (other, other.json()) {
                    (Expr::Text(_), json) if json.get("$text").is_none() => {
                        json!({ "$text": [json] })
                    }
                    (_, json) => json,
                };
                self.beside(column.to_owned(), json)
            }
        }
    }

    /// Returns the marker of a row's attribute, or of a loop's element, whose name says where it is from.
    fn of_loop(&mut self, named: String, value: &Expr) -> String {
        if self.inputs.contains(&named) {
            return self.beside(named, value.json());
        }
        marker(&named)
    }

    /// Returns a marker whose value stands beside the statement, under a name that nothing else has.
    fn beside(&mut self, mut named: String, json: Json) -> String {
        let taken = |named: &String, values: &Map<String, Json>| {
            self.inputs.contains(named) || values.get(named).is_some_and(|old| *old != json)
        };
        while taken(&named, &self.values) {
            named.push('_');
        }
        self.values.insert(named.clone(), json);
        marker(&named)
    }

    fn body(self, statement: String) -> Json {
        if self.values.is_empty() {
            return json!({ "statement": statement });
        }
        json!({ "statement": statement, "values": self.values })
    }
}

/// Returns a named marker; its name takes quotes where a column of this name would.
fn marker(named: &str) -> String {
    format!(":{}", name(named))
}

/// Returns a value as statements write it.
#[must_use]
pub fn literal(value: &Value, ty: &Type) -> String {
    match (value, ty) {
        (Value::Null, _) => "null".to_owned(),
        (Value::List(items), Type::List(element, _)) => {
            let items: Vec<String> = items.iter().map(|item| literal(item, element)).collect();
            format!("[{}]", items.join(", "))
        }
        (Value::Text(hex), Type::Bytes(_)) => format!("0x{hex}"),
        (value, Type::Uuid | Type::Bool | Type::Int(_) | Type::Decimal(_) | Type::Timestamp) => {
            value.text(ty)
        }
        (value, ty) => format!("'{}'", value.text(ty).replace('\'', "''")),
    }
}

/// Writes a request: the operation, its statement, and its inputs.
pub(super) fn say(
    calls: &Calls<'_>,
    request: &Request,
    params: &[Param],
) -> Result<(String, Json, Vec<String>), Refusal> {
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
    let named = params.iter().map(|param| param.name.clone()).collect();
    let mut markers = Markers { inputs: named, ..Markers::default() };
    let statement = match request {
        Request::Read { ask, .. } => select(calls, ask, &mut markers)?,
        Request::Write { changes, .. } => match changes.as_slice() {
            [only] => change(calls, only, &mut markers)?,
            several => batch(calls, several, &mut markers)?,
        },
    };
    Ok(("statement".to_owned(), markers.body(statement), inputs))
}

fn select(calls: &Calls<'_>, ask: &Ask, markers: &mut Markers) -> Result<String, Refusal> {
    check(calls, ask.table)?;
    let table = calls.schema.tables.get(ask.table);
    let partition = table.map_or(1, |table| table.partition);
    let key = calls.columns.key(ask.table);
    if !ask.equal.is_empty() && ask.equal.len() < partition {
        return Err(calls.refuse("partition", "a part of the partition key is told"));
    }
    full_partition(calls, ask.equal.iter().take(partition), partition)?;
    let mut parts: Vec<String> = Vec::new();
    for (value, column) in ask.equal.iter().zip(key) {
        parts.push(format!("{} = {}", name(&column.name), markers.term(value, &column.name)));
    }
    range(calls, ask, markers, &mut parts)?;
    if ask.by_uuid {
        return Err(calls.refuse("uuid_order", "rows are wanted in the order of a uuid"));
    }
    let mut out = format!("SELECT * FROM {}", name(calls.table_name(ask.table)));
    if !parts.is_empty() {
        out.push_str(&format!(" WHERE {}", parts.join(" AND ")));
    }
    if let (true, Some(table)) = (ask.desc && !ask.point, table) {
        if ask.equal.len() < partition {
            return Err(calls.refuse("order", "rows of several partitions are wanted backwards"));
        }
        let (key, desc) = if table.is_index {
            view_key(calls, ask.table, table)
        } else {
            (key.iter().collect(), table.desc.clone())
        };
        let sort: Vec<String> = key
            .iter()
            .zip(&desc)
            .skip(partition)
            .map(|(column, desc)| {
                format!("{} {}", name(&column.name), if *desc { "ASC" } else { "DESC" })
            })
            .collect();
        if !sort.is_empty() {
            out.push_str(&format!(" ORDER BY {}", sort.join(", ")));
        }
    }
    if let Some(limit) = &ask.limit {
        out.push_str(&format!(" LIMIT {}", markers.term(limit, "limit")));
    }
    Ok(out)
}

/// Writes the ends of a range on the column behind the equalities.
fn range(
    calls: &Calls<'_>,
    ask: &Ask,
    markers: &mut Markers,
    parts: &mut Vec<String>,
) -> Result<(), Refusal> {
    let Some(column) = calls.columns.key(ask.table).get(ask.equal.len()) else { return Ok(()) };
    if ask.ends.is_empty() {
        return Ok(());
    }
    if column.ty == Type::Uuid {
        return Err(calls.refuse("uuid_order", format!("a range of {}", column.name)));
    }
    for end in &ask.ends {
        let mut put = |op: &str, value: &Expr, named: &str| {
            parts.push(format!("{} {op} {}", name(&column.name), markers.term(value, named)));
        };
        let next = || end.value.clone().next();
        let low = format!("{}_from", column.name);
        let high = format!("{}_to", column.name);
        match (end.kind, end.whole) {
            (BoundKind::Begins, _) => {
                if end.value.may_be_empty() {
                    let why = "what the column begins with may be empty";
                    let why = format!("{why}{}", end.value.filled());
                    return Err(calls.refuse("begins_empty", why));
                }
                put(">=", &end.value, &low);
                put("<", &next(), &high);
            }
            (BoundKind::From, _) => put(">=", &end.value, &low),
            (BoundKind::After, true) => put(">", &end.value, &low),
            (BoundKind::After, false) => put(">=", &next(), &low),
            (BoundKind::To, _) | (BoundKind::Through, true) => put("<=", &end.value, &high),
            (BoundKind::Before, _) => put("<", &end.value, &high),
            (BoundKind::Through, false) => put("<", &next(), &high),
        }
    }
    Ok(())
}

/// Refuses a partition key of one text that may be empty.
fn full_partition<'e>(
    calls: &Calls<'_>,
    mut key: impl Iterator<Item = &'e Expr>,
    partition: usize,
) -> Result<(), Refusal> {
    if partition == 1
        && let Some(empty) = key.find(|value| value.may_be_empty())
    {
        let why = format!("the partition key may be an empty text{}", empty.filled());
        return Err(calls.refuse("empty_partition", why));
    }
    Ok(())
}

fn change(calls: &Calls<'_>, change: &Change, markers: &mut Markers) -> Result<String, Refusal> {
    check(calls, change.table)?;
    let table = name(calls.table_name(change.table));
    let partition = calls.schema.tables.get(change.table).map_or(1, |table| table.partition);
    full_partition(calls, change.key.iter().take(partition), partition)?;
    let key = calls.columns.key(change.table);
    let counts = is_counter(calls, change.table);
    match &change.kind {
        ChangeKind::Put { values, fresh, .. } => {
            let own = key.iter().map(|column| column.name.as_str()).zip(&change.key);
            let mut all: Vec<(&str, &Expr)> =
                own.chain(values.iter().map(|(name, value)| (name.as_str(), value))).collect();
            // An INSERT leaves the columns that it does not name: what is replaced would stay.
            let none = Expr::Const(Value::Null, super::expr::plain_text());
            if !*fresh && !counts {
                let given: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
                let beside = calls.columns.beside(change.table).map(|(name, _)| name);
                all.extend(beside.filter(|name| !given.contains(name)).map(|name| (name, &none)));
            }
            let (columns, terms): (Vec<String>, Vec<String>) = all
                .into_iter()
                .map(|(column, value)| (name(column), markers.term(value, column)))
                .unzip();
            let condition = if *fresh { " IF NOT EXISTS" } else { "" };
            let (columns, terms) = (columns.join(", "), terms.join(", "));
            Ok(format!("INSERT INTO {table} ({columns}) VALUES ({terms}){condition}"))
        }
        ChangeKind::Update { set, add, push, there } => {
            if let (Some((column, _)), false) = (add.first(), counts) {
                let why = format!("{} of {} is no counter", column, calls.table_name(change.table));
                return Err(calls.refuse("counter", why));
            }
            let mut parts = Vec::new();
            for (column, value) in set {
                parts.push(format!("{} = {}", name(column), markers.term(value, column)));
            }
            for (column, value) in add {
                let quoted = name(column);
                parts.push(format!("{quoted} = {quoted} + {}", markers.term(value, column)));
            }
            for (column, value) in push {
                let quoted = name(column);
                parts.push(format!("{quoted} = {quoted} + [{}]", markers.term(value, column)));
            }
            let condition = condition(calls, change, *there, markers)?;
            let clause = wheres(key, &change.key, markers);
            Ok(format!("UPDATE {table} SET {} WHERE {clause}{condition}", parts.join(", ")))
        }
        ChangeKind::Extend { name, .. } => {
            let why = format!("{name} is set where it is absent or on one side of the new value");
            Err(calls.refuse("either", why))
        }
        ChangeKind::Delete { there } => {
            let condition = condition(calls, change, *there, markers)?;
            Ok(format!(
                "DELETE FROM {table} WHERE {}{condition}",
                wheres(key, &change.key, markers)
            ))
        }
    }
}

/// Returns the condition of a change: that the row is there, and comparisons with its columns.
fn condition(
    calls: &Calls<'_>,
    change: &Change,
    there: bool,
    markers: &mut Markers,
) -> Result<String, Refusal> {
    let counts = is_counter(calls, change.table);
    let key = calls.columns.key(change.table);
    let Some(first) = change.conditions.first() else {
        return Ok(if there && !counts { " IF EXISTS".to_owned() } else { String::new() });
    };
    let in_key = |one: &Condition| key.iter().any(|column| column.name == one.name);
    if counts || change.conditions.iter().any(in_key) {
        let why = format!("{} is a counter or in the key", first.name);
        return Err(calls.refuse("condition", why));
    }
    if change.conditions.iter().all(|one| one.op == CondOp::Absent) {
        let why = format!("{} is absent of a row that is not there, too", first.name);
        return Err(calls.refuse("condition", why));
    }
    let mut parts = Vec::new();
    for one in &change.conditions {
        let ordered = !matches!(one.op, CondOp::Eq | CondOp::Present | CondOp::Absent);
        if ordered && one.ty == Type::Uuid {
            return Err(calls.refuse("uuid_order", format!("{} is compared", one.name)));
        }
        let column = name(&one.name);
        parts.push(match (one.op, &one.value) {
            (CondOp::Absent, _) => format!("{column} = null"),
            (op, Some(value)) => {
                let term = markers.term(value, &format!("{}_if", one.name));
                format!("{column} {} {term}", sign(op).unwrap_or("="))
            }
            (_, None) => format!("{column} != null"),
        });
    }
    Ok(format!(" IF {}", parts.join(" AND ")))
}

fn wheres(columns: &[KeyColumn], key: &[Expr], markers: &mut Markers) -> String {
    let parts: Vec<String> = columns
        .iter()
        .zip(key)
        .map(|(column, value)| {
            format!("{} = {}", name(&column.name), markers.term(value, &column.name))
        })
        .collect();
    parts.join(" AND ")
}

/// Writes several changes as one batch: of one partition where any of them has a condition.
fn batch(calls: &Calls<'_>, changes: &[Change], markers: &mut Markers) -> Result<String, Refusal> {
    let conditional = changes.iter().any(Change::asks);
    let place = |change: &Change| {
        let partition = calls.schema.tables.get(change.table).map_or(1, |table| table.partition);
        (change.table, change.key.get(..partition).map(<[Expr]>::to_vec))
    };
    let first = changes.first().map(place);
    if conditional && changes.iter().any(|one| Some(place(one)) != first) {
        return Err(calls.refuse("condition_partition", "the changes lie in several partitions"));
    }
    if changes.iter().any(|change| change.each.is_some() || !change.guards.is_empty()) {
        return Err(calls.refuse("batch", "how many changes there are depends on rows"));
    }
    let parts: Result<Vec<String>, Refusal> =
        changes.iter().map(|one| change(calls, one, markers)).collect();
    Ok(format!("BEGIN BATCH {}; APPLY BATCH", parts?.join("; ")))
}
