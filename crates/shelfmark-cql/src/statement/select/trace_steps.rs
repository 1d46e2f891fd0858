//! The steps that a trace shows for the reads of a `SELECT`, in the terms of the table.

use std::ops::Bound;

use bytes::Bytes;
use shelfmark_cql_types::{CqlType, maybe_quote, partition_parts, to_literal};
use shelfmark_engine::{Span, SpanBound};

use super::Select;
use super::source::Unit;
use crate::schema::{Column, IndexTarget, Table};

/// Says what is about to be read.
pub(super) fn told(select: &Select, unit: &Unit) -> String {
    let table = &select.table;
    let name = &table.name;
    let what = if table.is_view() { "view " } else { "" };
    match unit {
        Unit::Get(partition, clustering) => {
            let row = Span { equal: clustering.clone(), ..Span::default() };
            let key = [of_partition(table, partition), of_span(table.clustering_columns(), &row)];
            format!("Executing single-row query on {what}{name}: {}", joined(&key.concat()))
        }
        Unit::Span(partition, span) => {
            let key = [of_partition(table, partition), of_span(table.clustering_columns(), span)];
            let order = if select.reversed { ", in reverse" } else { "" };
            format!(
                "Executing single-partition query on {what}{name}: {}{order}",
                joined(&key.concat())
            )
        }
        Unit::Scan(lower, upper) => {
            format!("Executing seq scan of {what}{name}: {}", of_tokens(table, *lower, *upper))
        }
        Unit::Index { index, terms, partition, tokens } => {
            let mut conditions = of_terms(table, index, terms);
            conditions.extend(partition.iter().flat_map(|own| of_partition(table, own)));
            if *tokens != (Bound::Unbounded, Bound::Unbounded) {
                conditions.push(of_tokens(table, tokens.0, tokens.1));
            }
            format!(
                "Executing read on {} using index {index}: {}",
                table.full_name(),
                joined(&conditions)
            )
        }
    }
}

fn joined(conditions: &[String]) -> String {
    if conditions.is_empty() { "all rows".to_owned() } else { conditions.join(" AND ") }
}

fn condition(name: &str, operator: &str, kind: &CqlType, value: Option<&Bytes>) -> String {
    format!("{} {operator} {}", maybe_quote(name), to_literal(kind, value.map(|own| &own[..])))
}

fn of_partition(table: &Table, partition: &Bytes) -> Vec<String> {
    let parts = partition_parts(partition, table.partition_count);
    let columns = table.partition_columns().iter().zip(&parts);
    columns.map(|(own, value)| condition(&own.name, "=", &own.kind, Some(value))).collect()
}

fn of_span(columns: &[Column], span: &Span) -> Vec<String> {
    let equal = columns.iter().zip(&span.equal);
    let mut out: Vec<String> =
        equal.map(|(own, value)| condition(&own.name, "=", &own.kind, value.as_ref())).collect();
    let rest = columns.get(span.equal.len()..).unwrap_or_default();
    let mut bound = |operator: &str, bound: &SpanBound| {
        let operator = format!("{operator}{}", if bound.included { "=" } else { "" });
        match (rest, bound.values.as_slice()) {
            ([own, ..], [value]) => {
                out.push(condition(&own.name, &operator, &own.kind, value.as_ref()));
            }
            (_, values) => {
                let pairs = rest.iter().zip(values);
                let (names, values): (Vec<String>, Vec<String>) = pairs
                    .map(|(own, value)| {
                        (maybe_quote(&own.name), to_literal(&own.kind, value.as_deref()))
                    })
                    .unzip();
                out.push(format!("({}) {operator} ({})", names.join(", "), values.join(", ")));
            }
        }
    };
    span.lower.iter().for_each(|own| bound(">", own));
    span.upper.iter().for_each(|own| bound("<", own));
    out
}

fn of_tokens(table: &Table, lower: Bound<i64>, upper: Bound<i64>) -> String {
    let names: Vec<String> =
        table.partition_columns().iter().map(|own| maybe_quote(&own.name)).collect();
    let token = format!("token({})", names.join(", "));
    let lower = match lower {
        Bound::Unbounded => None,
        Bound::Included(own) => Some(format!("{token} >= {own}")),
        Bound::Excluded(own) => Some(format!("{token} > {own}")),
    };
    let upper = match upper {
        Bound::Unbounded => None,
        Bound::Included(own) => Some(format!("{token} <= {own}")),
        Bound::Excluded(own) => Some(format!("{token} < {own}")),
    };
    joined(&lower.into_iter().chain(upper).collect::<Vec<_>>())
}

fn of_terms(table: &Table, index: &str, terms: &Span) -> Vec<String> {
    let Some(own) = table.indexes.iter().find(|own| own.name == index) else { return Vec::new() };
    let Some(column) = table.column(&own.column) else { return Vec::new() };
    let shown = |name: &str, kind: &CqlType| Column {
        name: name.into(),
        kind: kind.clone(),
        ..column.clone()
    };
    let columns = match (&column.kind, own.target) {
        (CqlType::Map { key, .. }, IndexTarget::Keys) => vec![shown(&column.name, key)],
        (CqlType::Map { value, .. }, IndexTarget::Values) => vec![shown(&column.name, value)],
        (CqlType::Map { key, value, .. }, IndexTarget::Entries) => {
            vec![shown(&column.name, key), shown(&column.name, value)]
        }
        (CqlType::List { element, .. } | CqlType::Set { element, .. }, IndexTarget::Values) => {
            vec![shown(&column.name, element)]
        }
        _ => vec![column.clone()],
    };
    of_span(&columns, terms)
}
