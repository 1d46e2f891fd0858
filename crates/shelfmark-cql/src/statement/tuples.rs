//! Relations of several clustering columns at once, prepared.
//!
//! What it is not: whether they go together with others, which is `relation`'s.

use shelfmark_cql_protocol::{Result, invalid};
use shelfmark_cql_syntax::ast::{InValues, Name, Operator, Term};
use shelfmark_cql_types::CqlType;
use shelfmark_cql_types::term::{Expr, Receiver, Scope, prepare, prepare_marker, term_text};

use super::relation::{Multi, MultiTest, TupleValue, undefined_column};
use crate::schema::{ColumnKind, Table};

/// Returns the restriction of `(columns) operator value`.
pub(super) fn tuple_comparison(
    columns: &[Name],
    operator: Operator,
    value: &Term,
    table: &Table,
    scope: &mut Scope<'_>,
) -> Result<Multi> {
    let shown = format!("{} {} {}", names_text(columns), operator.text(), term_text(value));
    let (start, count) = tuple_columns(columns, &shown, table)?;
    let value = tuple_value(value, start, count, table, scope)?;
    let test = match operator {
        Operator::Equal => MultiTest::Equal(value),
        Operator::Less => MultiTest::Upper(value, false),
        Operator::LessOrEqual => MultiTest::Upper(value, true),
        Operator::Greater => MultiTest::Lower(value, false),
        Operator::GreaterOrEqual => MultiTest::Lower(value, true),
        _ => {
            return invalid(format!("Unsupported \"{}\" relation: {shown}", operator.text()));
        }
    };
    Ok(Multi { start, count, test })
}

/// Returns the restriction of `(columns) IN …`.
pub(super) fn tuple_in_test(
    columns: &[Name],
    values: &InValues,
    table: &Table,
    scope: &mut Scope<'_>,
) -> Result<Multi> {
    let shown = match values {
        InValues::List(values) => {
            let values: Vec<String> = values.iter().map(term_text).collect();
            format!("{} IN ({})", names_text(columns), values.join(", "))
        }
        InValues::Marker(_) => format!("{} IN ?", names_text(columns)),
    };
    let (start, count) = tuple_columns(columns, &shown, table)?;
    let test = match values {
        // An IN of one tuple is an equality.
        InValues::List(values) if values.len() == 1 => {
            let mut values = values.iter();
            let only = values.next().map(|value| tuple_value(value, start, count, table, scope));
            only.map_or(Ok(MultiTest::In(Vec::new())), |only| only.map(MultiTest::Equal))?
        }
        InValues::List(values) => {
            let values = values.iter();
            let values = values.map(|value| tuple_value(value, start, count, table, scope));
            MultiTest::In(values.collect::<Result<_>>()?)
        }
        InValues::Marker(marker) => {
            let ty = CqlType::list(tuple_type(start, count, table)).freeze();
            let name = in_name(start, count, table);
            let to = Receiver { name: &name, ty: &ty };
            MultiTest::InMarker(prepare_marker(marker.index, to, scope))
        }
    };
    Ok(Multi { start, count, test })
}

fn names_text(columns: &[Name]) -> String {
    format!("({})", columns.iter().map(Name::as_str).collect::<Vec<_>>().join(", "))
}

/// Returns the place of the first column among the clustering columns, and their number.
fn tuple_columns(columns: &[Name], shown: &str, table: &Table) -> Result<(usize, usize)> {
    let mut start = None;
    let mut next = 0;
    for name in columns {
        let (_, column) =
            table.find(name.as_str()).ok_or_else(|| undefined_column(name.as_str(), table))?;
        if column.role != ColumnKind::Clustering {
            return invalid(format!(
                "Multi-column relations can only be applied to clustering columns but was applied to: {}",
                column.name
            ));
        }
        let at = usize::try_from(column.id).unwrap_or(usize::MAX);
        match start {
            None => {
                start = Some(at);
                next = at + 1;
            }
            Some(_) if at == next => next += 1,
            Some(first) if at >= first && at < next => {
                return invalid(format!(
                    "Column \"{}\" appeared twice in a relation: {shown}",
                    column.name
                ));
            }
            Some(_) => {
                return invalid(format!(
                    "Clustering columns must appear in the PRIMARY KEY order in multi-column relations: {shown}"
                ));
            }
        }
    }
    let start = start.unwrap_or(0);
    Ok((start, next - start))
}

fn tuple_type(start: usize, count: usize, table: &Table) -> CqlType {
    let types = table.clustering_columns().iter().skip(start).take(count);
    CqlType::tuple(types.map(|column| column.kind.freeze()).collect())
}

fn in_name(start: usize, count: usize, table: &Table) -> String {
    let names: Vec<&str> =
        table.clustering_columns().iter().skip(start).take(count).map(|own| &*own.name).collect();
    format!("in({})", names.join(","))
}

fn tuple_value(
    term: &Term,
    start: usize,
    count: usize,
    table: &Table,
    scope: &mut Scope<'_>,
) -> Result<TupleValue> {
    match term {
        Term::Marker(marker) => {
            let ty = tuple_type(start, count, table);
            let names: Vec<&str> = table
                .clustering_columns()
                .iter()
                .skip(start)
                .take(count)
                .map(|own| &*own.name)
                .collect();
            let name = format!("({})", names.join(","));
            Ok(TupleValue::Marker(prepare_marker(
                marker.index,
                Receiver { name: &name, ty: &ty },
                scope,
            )))
        }
        Term::Tuple(items) => {
            if items.len() != count {
                return invalid(format!(
                    "Expected {count} elements in value tuple, but got {}: {}",
                    items.len(),
                    term_text(term)
                ));
            }
            let columns = table.clustering_columns().iter().skip(start);
            let parts: Result<Vec<Expr>> = items
                .iter()
                .zip(columns)
                .map(|(item, own)| {
                    prepare(item, Receiver { name: &own.name, ty: &own.kind }, scope)
                })
                .collect();
            parts.map(TupleValue::Parts)
        }
        other => invalid(format!("Invalid tuple {}", term_text(other))),
    }
}
