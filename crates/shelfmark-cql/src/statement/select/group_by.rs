//! `GROUP BY`: columns of the primary key in their order, and one function of the last of them that
//! keeps the order of its rows.
//!
//! What it is not: the grouping itself; that is `aggregate`'s.
//!
//! Invariant: rows of one group come one behind the other.
//!
//! Source: Cassandra 5.0, `SelectStatement.getAggregationSpecFactory`, read 2026-11; texts and their
//! order from a running one.

use shelfmark_cql_protocol::{CqlError, Result, invalid};
use shelfmark_cql_syntax::ast::{self, Selector};
use shelfmark_cql_types::maybe_quote;
use shelfmark_cql_types::term::{Expr, Scope};

use super::prepare::is_equal;
use super::selection::{Selection, selection};
use crate::schema::{Column, ColumnKind, Table};
use crate::statement::relation::{Restrictions, undefined_column};

/// Functions whose values rise with their first argument, in both spellings.
const MONOTONIC: [&str; 7] = [
    "floor",
    "to_date",
    "todate",
    "to_timestamp",
    "totimestamp",
    "to_unix_timestamp",
    "tounixtimestamp",
];

/// Returns the values by which rows are grouped.
pub(super) fn group_by(
    select: &ast::Select,
    table: &Table,
    own: &Restrictions,
    scope: &mut Scope<'_>,
) -> Result<Vec<Expr>> {
    let mut out = Vec::new();
    let key_count = table.partition_count + table.clustering_count;
    let mut next = 0;
    let mut called = None;
    for selector in &select.group_by {
        let (at, column, expr) = match selector {
            Selector::Column(name) => plain(name.as_str(), table, called.is_some())?,
            Selector::Function { .. } | Selector::Arithmetic { .. } | Selector::Negate(_) => {
                let (at, column, expr) = function(selector, table, scope)?;
                called = Some(expr.clone());
                (at, column, expr)
            }
            _ => return invalid("GROUP BY is only supported on columns and functions of them"),
        };
        // Columns that are fixed by an equality may be left out.
        while next < at && next < key_count && is_equal(own, next) {
            next += 1;
        }
        if at != next {
            return invalid(
                "Group by currently only support groups of columns following their declared order in the PRIMARY KEY",
            );
        }
        if select.distinct && column.role == ColumnKind::Clustering {
            return invalid(
                "Grouping on clustering columns is not allowed for SELECT DISTINCT queries",
            );
        }
        next += 1;
        out.push(expr);
    }
    if !out.is_empty() && next < table.partition_count {
        return invalid(format!(
            "Group by is not supported on only a part of the partition key{}",
            if called.is_some() { " with functions" } else { "" }
        ));
    }
    match called.as_ref().and_then(not_monotonic) {
        Some(shown) => invalid(format!(
            "Only monotonic functions are supported in the GROUP BY clause. Got: {shown} "
        )),
        None => Ok(out),
    }
}

/// Returns the column of a name, with its place.
fn plain<'t>(name: &str, table: &'t Table, is_behind: bool) -> Result<(usize, &'t Column, Expr)> {
    let (at, column) = table.find(name).ok_or_else(|| undefined_column(name, table))?;
    if !column.role.is_key() {
        return invalid(format!(
            "Group by is currently only supported on the columns of the PRIMARY KEY, got {name}"
        ));
    }
    if is_behind {
        return invalid("Functions are only supported on the last element of the GROUP BY clause");
    }
    Ok((at, column, Expr::Column(at)))
}

/// Returns what a function is of, and the function.
fn function<'t>(
    selector: &Selector,
    table: &'t Table,
    scope: &mut Scope<'_>,
) -> Result<(usize, &'t Column, Expr)> {
    let clause = ast::SelectClause::Items(vec![ast::SelectedItem {
        selector: selector.clone(),
        alias: None,
    }]);
    let chosen = match selection(&clause, table, scope) {
        Err(error) => return Err(native_aggregate(selector).unwrap_or(error)),
        Ok(chosen) => chosen,
    };
    if let Some((aggregate, _)) = chosen.aggregates.first() {
        return Err(aggregated(&aggregate.full_name()));
    }
    let at = only_column(&chosen, table)?;
    let Some(column) = table.columns.get(at) else { return Err(CqlError::invalid("")) };
    if column.role != ColumnKind::Clustering {
        return invalid(format!(
            "Group by functions are only supported on clustering columns, got {}",
            column.name
        ));
    }
    Ok((at, column, chosen.items.into_iter().next().unwrap_or(Expr::Constant(None))))
}

fn aggregated(name: &str) -> CqlError {
    CqlError::invalid(format!(
        "Aggregate functions are not supported within the GROUP BY clause, got: {name}"
    ))
}

/// Returns the refusal of a native aggregate, whatever else is wrong with it.
fn native_aggregate(selector: &Selector) -> Option<CqlError> {
    let Selector::Function { name, .. } = selector else { return None };
    let name = name.name.as_str();
    let is_one = ["sum", "avg", "min", "max", "count"].contains(&name);
    is_one.then(|| aggregated(&format!("system.{name}")))
}

fn only_column(chosen: &Selection, table: &Table) -> Result<usize> {
    let mut places: Vec<usize> = Vec::new();
    chosen.items.iter().for_each(|own| columns(own, &mut places));
    match places.as_slice() {
        [] => invalid("GROUP BY functions must have one clustering column name as parameter"),
        [only] => Ok(*only),
        several => {
            let names: Vec<&str> = several
                .iter()
                .filter_map(|at| table.columns.get(*at).map(|own| &*own.name))
                .collect();
            invalid(format!(
                "GROUP BY functions accept only one clustering column as parameter, got: {}",
                names.join(",")
            ))
        }
    }
}

/// Notes the columns that a value is computed from, in their order and each time.
fn columns(expr: &Expr, out: &mut Vec<usize>) {
    match expr {
        Expr::Column(at) => out.push(*at),
        Expr::Call { arguments, .. } | Expr::Token(arguments) => {
            arguments.iter().for_each(|own| columns(own, out));
        }
        Expr::Elements { items, .. } => items.iter().for_each(|own| columns(own, out)),
        Expr::Entries { items, .. } => items.iter().for_each(|(key, value)| {
            columns(key, out);
            columns(value, out);
        }),
        Expr::Fields { items, .. } => items.iter().flatten().for_each(|own| columns(own, out)),
        Expr::Element { of, .. } | Expr::Slice { of, .. } | Expr::Field { of, .. } => {
            columns(of, out);
        }
        Expr::Plain(of) => columns(of, out),
        Expr::Constant(_) | Expr::Marker { .. } | Expr::Aggregate(_) | Expr::Metadata { .. } => {}
    }
}

/// Returns how the function that does not keep the order of rows is shown, if there is one.
fn not_monotonic(expr: &Expr) -> Option<String> {
    let Expr::Call { function, arguments } = expr else {
        return match expr {
            Expr::Token(_) => Some("system.token".to_owned()),
            _ => None,
        };
    };
    let is_native = &*function.keyspace == "system";
    if is_native && MONOTONIC.contains(&function.name.as_str()) {
        return arguments.iter().find_map(not_monotonic);
    }
    let types: Vec<String> = function
        .arguments
        .iter()
        .zip(arguments)
        .map(|(ty, own)| match own {
            Expr::Constant(_) => format!("{ty}(constant)"),
            _ => ty.to_string(),
        })
        .collect();
    Some(format!(
        "{}.{} : ({}) -> {}",
        function.keyspace,
        maybe_quote(&function.name),
        types.join(", "),
        function.returns
    ))
}
