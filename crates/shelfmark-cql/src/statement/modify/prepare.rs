//! The three statements prepared as one kind of plan.

use std::collections::HashSet;
use std::sync::Arc;

use shelfmark_cql_protocol::{Result, invalid};
use shelfmark_cql_syntax::ast::{
    Attributes, Conditions as Written, Delete, Deletion, Insert, InsertValues, IntegerValue,
    JsonDefault, JsonValue, Name, Relation, Update,
};
use shelfmark_cql_types::term::{EvalContext, Expr, Receiver, Scope, prepare, prepare_marker};
use shelfmark_cql_types::{CqlType, from_text};

use super::condition::Conditions;
use super::operation::Operation;
use super::role_rows::{is_of_roles, not_modifiable};
use super::{Kind, Modify};
use crate::schema::{Column, ColumnKind, Table};
use crate::statement::relation::{
    InList, Multi, MultiTest, Purpose, Restrictions, Test, restrictions, undefined_column,
};

/// Prepares a whole number that may be a marker.
pub(crate) fn integer(
    value: &IntegerValue,
    to: Receiver<'_>,
    scope: &mut Scope<'_>,
) -> Result<Expr> {
    match value {
        IntegerValue::Marker(marker) => Ok(prepare_marker(marker.index, to, scope)),
        IntegerValue::Integer(digits) => Ok(Expr::Constant(Some(from_text(to.ty, digits)?.into()))),
    }
}

struct Parts {
    timestamp: Option<Expr>,
    ttl: Option<Expr>,
}

fn attributes(written: &Attributes, scope: &mut Scope<'_>) -> Result<Parts> {
    let timestamp = written.timestamp.as_ref();
    let to = Receiver { name: "[timestamp]", ty: &CqlType::Bigint };
    let timestamp = timestamp.map(|own| integer(own, to, scope)).transpose()?;
    let to = Receiver { name: "[ttl]", ty: &CqlType::Int };
    let ttl = written.ttl.as_ref().map(|own| integer(own, to, scope)).transpose()?;
    Ok(Parts { timestamp, ttl })
}

fn check_writable(table: &Table) -> Result<()> {
    if table.is_view() {
        return invalid("Cannot directly modify a materialized view");
    }
    if table.stored.is_none() && !is_of_roles(table) {
        if crate::schema::is_virtual(&table.keyspace) {
            return invalid(format!(
                "Modification is not supported by table {}",
                table.full_name()
            ));
        }
        return Err(not_modifiable(table));
    }
    Ok(())
}

/// Refuses what no counter takes; said last, and of a batch's statements after what is said of it.
pub(crate) fn check_counters(modify: &Modify) -> Result<()> {
    if !modify.table.flags.counter {
        return Ok(());
    }
    if modify.conditions.is_some() {
        return invalid("Conditional updates are not supported on counter tables");
    }
    if modify.timestamp.is_some() {
        return invalid("Cannot provide custom timestamp for counter updates");
    }
    if modify.ttl.is_some() {
        return invalid("Cannot provide custom TTL for counter updates");
    }
    Ok(())
}

fn check_conditions(modify: &Modify) -> Result<()> {
    if !modify.conditions.is_some() {
        return Ok(());
    }
    if modify.timestamp.is_some() {
        return invalid("Cannot provide custom timestamp for conditional updates");
    }
    Ok(())
}

/// Refuses a timestamp beside conditions on columns, before these are looked at.
fn check_timestamp(conditions: &Written, has_timestamp: bool) -> Result<()> {
    if has_timestamp && matches!(conditions, Written::All(_)) {
        return invalid("Cannot provide custom timestamp for conditional updates");
    }
    Ok(())
}

/// Refuses conditions on what `IN` names; said when the keys are known.
pub(crate) fn check_named(modify: &Modify, partitions: usize) -> Result<()> {
    let what = if modify.kind == Kind::Delete { "deletions" } else { "updates" };
    let table = &modify.table;
    // Values that are written down count, the same ones too.
    let written = (0..table.partition_count)
        .flat_map(|at| modify.restrictions.of(at))
        .any(|test| matches!(test, Test::In(InList::Values(values)) if values.len() > 1));
    if written || partitions > 1 {
        return invalid(format!(
            "IN on the partition key is not supported with conditional {what}"
        ));
    }
    check_clustering_in(modify)
}

/// Refuses `IN` on clustering columns, which no statement of a conditional request may have.
pub(crate) fn check_clustering_in(modify: &Modify) -> Result<()> {
    let what = if modify.kind == Kind::Delete { "deletions" } else { "updates" };
    let table = &modify.table;
    let mut clustering = table.partition_count..table.partition_count + table.clustering_count;
    let has_in = clustering
        .any(|at| modify.restrictions.of(at).iter().any(|test| matches!(test, Test::In(_))));
    let is_in = |test: &MultiTest| matches!(test, MultiTest::In(_) | MultiTest::InMarker(_));
    let multi_in = modify.restrictions.multi.iter().any(|own| is_in(&own.test));
    if has_in || multi_in {
        return invalid(format!(
            "IN on the clustering key columns is not supported with conditional {what}"
        ));
    }
    Ok(())
}

/// Prepares an `INSERT`.
pub(crate) fn prepare_insert(
    insert: &Insert,
    table: &Arc<Table>,
    scope: &mut Scope<'_>,
) -> Result<Modify> {
    if table.flags.counter {
        return invalid("INSERT statements are not allowed on counter tables, use UPDATE instead");
    }
    let mut modify = Modify {
        kind: Kind::Insert,
        table: Arc::clone(table),
        restrictions: Restrictions::default(),
        regular: Vec::new(),
        statics: Vec::new(),
        only_statics: false,
        json: None,
        timestamp: None,
        ttl: None,
        conditions: if insert.if_not_exists { Conditions::NotExists } else { Conditions::None },
    };
    match &insert.values {
        InsertValues::Json { value, default } => {
            let to = Receiver { name: "[json]", ty: &CqlType::Text };
            let text = match value {
                JsonValue::Text(text) => {
                    Expr::Constant(Some(bytes::Bytes::copy_from_slice(text.as_bytes())))
                }
                JsonValue::Marker(marker) => prepare_marker(marker.index, to, scope),
            };
            let keep = *default == JsonDefault::Unset;
            if matches!(text, Expr::Constant(_)) {
                // What is there already is read at once.
                let env = EvalContext { context: None, values: &[], row: None };
                super::json_values(table, &text, keep, env)?;
            }
            modify.json = Some((text, keep));
        }
        InsertValues::Columns { columns, values } => {
            insert_columns(&mut modify, columns, values, scope)?;
        }
    }
    let parts = attributes(&insert.attributes, scope)?;
    modify.timestamp = parts.timestamp;
    modify.ttl = parts.ttl;
    check_writable(table)?;
    check_conditions(&modify)?;
    Ok(modify)
}

fn insert_columns(
    modify: &mut Modify,
    columns: &[Name],
    values: &[shelfmark_cql_syntax::ast::Term],
    scope: &mut Scope<'_>,
) -> Result<()> {
    let table = Arc::clone(&modify.table);
    if columns.len() != values.len() {
        return invalid("Unmatched column names/values");
    }
    if columns.is_empty() {
        return invalid("No columns provided to INSERT");
    }
    let mut known = HashSet::with_capacity(columns.len());
    if !columns.iter().all(|name| known.insert(name.as_str())) {
        return invalid("The column names contains duplicates");
    }
    let mut has_clustering = false;
    // Keys come last, as the original's `WHERE` of an insertion.
    for of_key in [false, true] {
        for (name, term) in columns.iter().zip(values) {
            let (place, column) =
                table.find(name.as_str()).ok_or_else(|| undefined_column(name.as_str(), &table))?;
            if column.role.is_key() != of_key {
                continue;
            }
            let to = Receiver { name: &column.name, ty: &column.kind };
            let expr = prepare(term, to, scope)?;
            match column.role {
                ColumnKind::PartitionKey | ColumnKind::Clustering => {
                    has_clustering |= column.role == ColumnKind::Clustering;
                    modify.restrictions.single.insert(place, vec![Test::Equal(expr)]);
                }
                ColumnKind::Static => modify.statics.push(Operation::assign(column, expr)),
                ColumnKind::Regular => modify.regular.push(Operation::assign(column, expr)),
            }
        }
    }
    // A compact table without a value column keeps its rows by an empty value.
    if let Some(column) = table.other_columns().iter().find(|own| table.hides(own)) {
        let value = Expr::Constant(Some(bytes::Bytes::new()));
        modify.regular.push(Operation::assign(column, value));
    }
    if table.flags.compact && modify.regular.is_empty() && table.clustering_count == 0 {
        return invalid("Some clustering keys are missing: column1");
    }
    modify.only_statics =
        !has_clustering && modify.regular.is_empty() && !modify.statics.is_empty();
    check_partition(modify)?;
    if !modify.only_statics {
        check_all_clustering(modify)?;
    }
    Ok(())
}

fn missing(columns: &[Column], from: usize, own: &Restrictions) -> Vec<String> {
    columns
        .iter()
        .enumerate()
        .filter(|(at, _)| {
            let covered = own.multi.iter().any(|multi: &Multi| {
                columns.first().is_some_and(|first| first.role == ColumnKind::Clustering)
                    && (multi.start..multi.start + multi.count).contains(at)
            });
            own.of(from + at).is_empty() && !covered
        })
        .map(|(_, column)| column.name.to_string())
        .collect()
}

fn check_partition(modify: &Modify) -> Result<()> {
    let missing = missing(modify.table.partition_columns(), 0, &modify.restrictions);
    if !missing.is_empty() {
        return invalid(format!("Some partition key parts are missing: {}", missing.join(", ")));
    }
    Ok(())
}

fn check_all_clustering(modify: &Modify) -> Result<()> {
    let table = &modify.table;
    let columns = table.clustering_columns();
    let missing = missing(columns, table.partition_count, &modify.restrictions);
    if !missing.is_empty() {
        let given = columns.len() - missing.len();
        if table.flags.compact && given > 0 {
            // Of a compact table the last ones may be left out.
            let is_missing = |column: &Column| missing.iter().any(|name| **name == *column.name);
            let Some(gap) = columns.iter().take(given).position(is_missing) else { return Ok(()) };
            let behind = columns.iter().skip(gap).find(|column| !is_missing(column));
            return invalid(format!(
                "PRIMARY KEY column \"{}\" cannot be restricted as preceding column \"{}\" is not restricted",
                behind.map_or("", |column| &*column.name),
                columns.get(gap).map_or("", |column| &*column.name),
            ));
        }
        return invalid(format!("Some clustering keys are missing: {}", missing.join(", ")));
    }
    Ok(())
}

/// Checks what a `WHERE` of a modification may say, and prepares it.
fn where_of(
    kind: Kind,
    relations: &[Relation],
    table: &Table,
    scope: &mut Scope<'_>,
) -> Result<Restrictions> {
    let own = restrictions(relations, table, false, Purpose::Write(kind.name()), scope)?;
    if !own.token.is_empty() {
        return invalid(format!(
            "The token function cannot be used in WHERE clauses for {} statements",
            kind.name()
        ));
    }
    Ok(own)
}

fn check_where(modify: &Modify) -> Result<()> {
    let (table, own) = (&modify.table, &modify.restrictions);
    check_partition(modify)?;
    for at in 0..table.partition_count {
        if own.of(at).iter().any(Test::is_slice) {
            return invalid(format!(
                "Only EQ and IN relation are supported on the partition key (unless you use the token() function) for {} statements",
                modify.kind.name()
            ));
        }
    }
    if modify.only_statics && own.restricts_clustering(table) {
        return invalid(format!(
            "Invalid restrictions on clustering columns since the {} statement modifies only static columns",
            modify.kind.name()
        ));
    }
    let clustering = table.partition_count..table.partition_count + table.clustering_count;
    let has_slice = clustering.clone().any(|at| own.of(at).iter().any(Test::is_slice))
        || own
            .multi
            .iter()
            .any(|multi| matches!(multi.test, MultiTest::Lower(..) | MultiTest::Upper(..)));
    if modify.kind == Kind::Update && has_slice {
        return invalid(
            "Slice restrictions are not supported on the clustering columns in UPDATE statements",
        );
    }
    // That no columns are deleted from a range is said when it is known.
    match modify.kind {
        _ if modify.only_statics => {}
        Kind::Delete => check_prefix(modify)?,
        _ => check_all_clustering(modify)?,
    }
    let others = own.other_columns(table);
    if !others.is_empty() {
        return invalid(format!(
            "Non PRIMARY KEY columns found in where clause: {} ",
            others.join(", ")
        ));
    }
    Ok(())
}

/// Checks that the restricted clustering columns begin the key.
fn check_prefix(modify: &Modify) -> Result<()> {
    let (table, own) = (&modify.table, &modify.restrictions);
    let mut gap: Option<&Column> = None;
    for (at, column) in table.clustering_columns().iter().enumerate() {
        let restricted = !own.of(table.partition_count + at).is_empty()
            || own.multi.iter().any(|multi| (multi.start..multi.start + multi.count).contains(&at));
        match gap {
            Some(gap) if restricted => {
                return invalid(format!(
                    "PRIMARY KEY column \"{}\" cannot be restricted as preceding column \"{}\" is not restricted",
                    column.name, gap.name
                ));
            }
            None if !restricted => gap = Some(column),
            _ => {}
        }
    }
    Ok(())
}

/// Prepares an `UPDATE`.
pub(crate) fn prepare_update(
    update: &Update,
    table: &Arc<Table>,
    scope: &mut Scope<'_>,
) -> Result<Modify> {
    let parts = attributes(&update.attributes, scope)?;
    check_timestamp(&update.conditions, parts.timestamp.is_some())?;
    let conditions = Conditions::prepare(&update.conditions, table, scope)?;
    // Which settings of one column go together, the grammar has said.
    let (mut regular, mut statics) = (Vec::new(), Vec::new());
    for assignment in &update.assignments {
        let name = assignment.column.as_str();
        let column = table.column(name).ok_or_else(|| undefined_column(name, table))?;
        if column.role.is_key() {
            return invalid(format!("PRIMARY KEY part {name} found in SET part"));
        }
        let reads = conditions.is_some();
        let operation = Operation::of_update(column, &assignment.operation, reads, scope)?;
        if column.role == ColumnKind::Static {
            statics.push(operation)
        } else {
            regular.push(operation)
        }
    }
    let own = where_of(Kind::Update, &update.relations, table, scope)?;
    let only_statics = regular.is_empty() && !statics.is_empty() && !conditions.has_regular(table);
    let modify = Modify {
        kind: Kind::Update,
        table: Arc::clone(table),
        restrictions: own,
        regular,
        statics,
        only_statics,
        json: None,
        timestamp: parts.timestamp,
        ttl: parts.ttl,
        conditions,
    };
    check_where(&modify)?;
    check_writable(table)?;
    check_conditions(&modify)?;
    Ok(modify)
}

/// Prepares a `DELETE`.
pub(crate) fn prepare_delete(
    delete: &Delete,
    table: &Arc<Table>,
    scope: &mut Scope<'_>,
) -> Result<Modify> {
    check_timestamp(&delete.conditions, delete.attributes.timestamp.is_some())?;
    let conditions = Conditions::prepare(&delete.conditions, table, scope)?;
    let (mut regular, mut statics) = (Vec::new(), Vec::new());
    for deletion in &delete.deletions {
        let (Deletion::Column(name)
        | Deletion::Element { column: name, .. }
        | Deletion::Field { column: name, .. }) = deletion;
        let name = name.as_str();
        let column = table.column(name).ok_or_else(|| undefined_column(name, table))?;
        if column.role.is_key() {
            return invalid(format!(
                "Invalid identifier {name} for deletion (should not be a PRIMARY KEY part)"
            ));
        }
        let operation = Operation::of_delete(column, deletion, scope)?;
        if column.role == ColumnKind::Static {
            statics.push(operation)
        } else {
            regular.push(operation)
        }
    }
    let parts = attributes(&delete.attributes, scope)?;
    let own = where_of(Kind::Delete, &delete.relations, table, scope)?;
    let only_statics = regular.is_empty() && !statics.is_empty() && !conditions.has_regular(table);
    let modify = Modify {
        kind: Kind::Delete,
        table: Arc::clone(table),
        restrictions: own,
        regular,
        statics,
        only_statics,
        json: None,
        timestamp: parts.timestamp,
        ttl: None,
        conditions,
    };
    check_where(&modify)?;
    check_writable(table)?;
    check_conditions(&modify)?;
    check_conditional_delete(&modify)?;
    Ok(modify)
}

fn check_conditional_delete(modify: &Modify) -> Result<()> {
    if !modify.conditions.is_some() || modify.only_statics {
        return Ok(());
    }
    let table = &modify.table;
    let unnamed = missing(table.clustering_columns(), table.partition_count, &modify.restrictions);
    let sliced = modify.restrictions.single.values().flatten().any(Test::is_slice)
        || modify
            .restrictions
            .multi
            .iter()
            .any(|own| matches!(own.test, MultiTest::Lower(..) | MultiTest::Upper(..)));
    if unnamed.is_empty() && !sliced {
        return Ok(());
    }
    if !modify.regular.is_empty() || modify.statics.is_empty() {
        return invalid(
            "DELETE statements must restrict all PRIMARY KEY columns with equality relations in order to delete non static columns",
        );
    }
    if modify.conditions.has_regular(table) {
        return invalid(
            "DELETE statements must restrict all PRIMARY KEY columns with equality relations in order to use IF condition on non static columns",
        );
    }
    invalid(
        "DELETE statements must restrict all PRIMARY KEY columns with equality relations in order to use IF conditions",
    )
}
