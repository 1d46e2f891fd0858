//! The `WHERE` of a view: which rows of its base are in it.
//!
//! Columns of the base's key may be restricted by values, others by `IS NOT NULL` alone.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_cql_protocol::{BoundValue, CqlError, Result, invalid};
use shelfmark_cql_syntax::ast::{CreateView, Name, Relation, Statement};
use shelfmark_cql_types::term::{BindMarkers, EvalContext, Expr, KeyedTable, Scope};
use shelfmark_engine::Environment;
use shelfmark_model::{ViewComparison, ViewPart, ViewTest};

use crate::function_context::EngineContext;
use crate::schema::{Column, ColumnKind, Schema, Table};
use crate::statement::relation::{
    InList, MultiTest, Purpose, Restrictions, Test, TupleValue, restrictions, undefined_column,
};

/// A view's `WHERE`, as text and as the engine has it.
pub(super) struct Filter {
    pub(super) where_clause: String,
    pub(super) tests: Vec<ViewTest>,
}

/// Checks the `WHERE` of a new view.
pub(super) fn filter(
    own: &CreateView,
    base: &Arc<Table>,
    schema: &Schema,
    environment: &Environment,
) -> Result<Filter> {
    for relation in &own.relations {
        match relation {
            Relation::Token { .. } => {
                return invalid("Cannot use token relation when defining a materialized view");
            }
            Relation::Custom { .. } => {
                return invalid(format!(
                    "WHERE clause for materialized view '{}' cannot contain custom index expressions",
                    own.name.name.as_str()
                ));
            }
            _ => {}
        }
    }
    let mut markers = BindMarkers::default();
    let table: Option<&dyn KeyedTable> = Some(&**base);
    let mut scope = Scope { schema, keyspace: &base.keyspace, table, markers: &mut markers };
    let restricted = restrictions(&own.relations, base, true, Purpose::View, &mut scope)?;
    check_columns(own, base)?;
    let context = EngineContext::new(environment);
    let env = EvalContext { context: Some(&context), values: &[], row: None };
    let shown: Vec<String> = own.relations.iter().map(ToString::to_string).collect();
    Ok(Filter { where_clause: shown.join(" AND "), tests: tests(&restricted, base, env)? })
}

/// Checks that every column of the view's key is restricted, and no other but by `IS NOT NULL`.
fn check_columns(own: &CreateView, base: &Table) -> Result<()> {
    let mut known: Vec<&str> = Vec::new();
    let mut illegal: Vec<&str> = Vec::new();
    for relation in &own.relations {
        match relation {
            Relation::IsNotNull { column } => known.push(column.as_str()),
            Relation::Column { column, .. }
            | Relation::In { column, .. }
            | Relation::Element { column, .. } => {
                let found = base.column(column.as_str());
                let found = found.ok_or_else(|| undefined_column(column.as_str(), base))?;
                known.push(column.as_str());
                if !found.role.is_key() {
                    illegal.push(column.as_str());
                }
            }
            Relation::Tuple { columns, .. } | Relation::TupleIn { columns, .. } => {
                known.extend(columns.iter().map(Name::as_str));
            }
            Relation::Token { .. } | Relation::Custom { .. } => {}
        }
    }
    let keys = own.primary_key.partition.iter().chain(&own.primary_key.clustering);
    let open: Vec<&str> = keys.map(Name::as_str).filter(|name| !known.contains(name)).collect();
    if !open.is_empty() {
        return invalid(format!(
            "Primary key columns {} must be restricted with 'IS NOT NULL' or otherwise",
            open.join(", ")
        ));
    }
    if !illegal.is_empty() {
        return invalid(format!(
            "Non-primary key columns can only be restricted with 'IS NOT NULL' (got: {} restricted illegally)",
            illegal.join(",")
        ));
    }
    Ok(())
}

fn tests(own: &Restrictions, base: &Table, env: EvalContext<'_>) -> Result<Vec<ViewTest>> {
    let mut out = Vec::new();
    for (at, restricted) in &own.single {
        let Some(column) = base.columns.get(*at) else { continue };
        for test in restricted {
            let one = |expr: &Expr| tuple(std::slice::from_ref(expr), env);
            let (comparison, values) = match test {
                Test::Equal(expr) => (ViewComparison::Among, one(expr)?.into_iter().collect()),
                Test::In(InList::Values(exprs)) => {
                    let values = exprs.iter().filter_map(|expr| one(expr).transpose());
                    (ViewComparison::Among, values.collect::<Result<_>>()?)
                }
                Test::Lower(expr, included) => bound(one(expr)?, *included, true),
                Test::Upper(expr, included) => bound(one(expr)?, *included, false),
                _ => return not_supported(),
            };
            out.push(ViewTest { parts: vec![part(column)], comparison, values });
        }
    }
    for multi in &own.multi {
        let columns = base.clustering_columns().get(multi.start..multi.start + multi.count);
        let parts = columns.unwrap_or_default().iter().map(part).collect();
        let (comparison, values) = match &multi.test {
            MultiTest::Equal(own) => {
                (ViewComparison::Among, parts_of(own, env)?.into_iter().collect())
            }
            MultiTest::In(all) => {
                let values = all.iter().filter_map(|own| parts_of(own, env).transpose());
                (ViewComparison::Among, values.collect::<Result<_>>()?)
            }
            MultiTest::Lower(own, included) => bound(parts_of(own, env)?, *included, true),
            MultiTest::Upper(own, included) => bound(parts_of(own, env)?, *included, false),
            MultiTest::InMarker(_) => return not_supported(),
        };
        out.push(ViewTest { parts, comparison, values });
    }
    Ok(out)
}

fn not_supported<T>() -> Result<T> {
    invalid(
        "Restrictions of primary key columns of materialized views by CONTAINS are not supported by this server",
    )
}

fn part(column: &Column) -> ViewPart {
    match column.role {
        ColumnKind::PartitionKey => ViewPart::PartitionColumn(column.id),
        ColumnKind::Clustering => ViewPart::SortColumn(column.id),
        ColumnKind::Static | ColumnKind::Regular => ViewPart::Column(column.id),
    }
}

/// Returns the values of a tuple; `None` if one is null, which nothing is equal to.
fn tuple(exprs: &[Expr], env: EvalContext<'_>) -> Result<Option<Vec<Bytes>>> {
    let mut out = Vec::with_capacity(exprs.len());
    for expr in exprs {
        match expr.eval(env)? {
            BoundValue::Bytes(bytes) => out.push(bytes),
            BoundValue::Null | BoundValue::Unset => return Ok(None),
        }
    }
    Ok(Some(out))
}

fn parts_of(own: &TupleValue, env: EvalContext<'_>) -> Result<Option<Vec<Bytes>>> {
    match own {
        TupleValue::Parts(exprs) => tuple(exprs, env),
        TupleValue::Marker(_) => not_supported(),
    }
}

fn bound(
    value: Option<Vec<Bytes>>,
    included: bool,
    lower: bool,
) -> (ViewComparison, Vec<Vec<Bytes>>) {
    let comparison = match (lower, included) {
        (true, true) => ViewComparison::From,
        (true, false) => ViewComparison::Above,
        (false, true) => ViewComparison::UpTo,
        (false, false) => ViewComparison::Below,
    };
    (comparison, value.into_iter().collect())
}

/// Writes a view's `WHERE` with another name of a column.
///
/// # Errors
///
/// * `Server`: what is stored is no `WHERE`.
pub(super) fn renamed(where_clause: &str, from: &Name, to: &Name) -> Result<String> {
    let damaged = || {
        CqlError::new(
            shelfmark_cql_protocol::ErrorCode::Server,
            "what is stored about a materialized view cannot be read",
        )
    };
    let parsed = shelfmark_cql_syntax::parse(&format!("SELECT * FROM v WHERE {where_clause}"));
    let Statement::Select(mut select) = parsed.map_err(|_| damaged())?.statement else {
        return Err(damaged());
    };
    for relation in &mut select.relations {
        let names: Vec<&mut Name> = match relation {
            Relation::Column { column, .. }
            | Relation::In { column, .. }
            | Relation::IsNotNull { column }
            | Relation::Element { column, .. } => vec![column],
            Relation::Token { columns, .. }
            | Relation::Tuple { columns, .. }
            | Relation::TupleIn { columns, .. } => columns.iter_mut().collect(),
            Relation::Custom { .. } => Vec::new(),
        };
        for name in names.into_iter().filter(|name| **name == *from) {
            *name = to.clone();
        }
    }
    let shown: Vec<String> = select.relations.iter().map(ToString::to_string).collect();
    Ok(shown.join(" AND "))
}
