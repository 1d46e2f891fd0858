//! Restrictions tested on rows, where keys alone do not decide.

use bytes::Bytes;
use shelfmark_cql_protocol::{BoundValue, CqlError, Result};
use shelfmark_cql_types::term::{EvalContext, Expr};
use shelfmark_cql_types::{CqlType, compare, elements, entries, fields};
use shelfmark_model::TextFold;

use super::keys::{bound_elements, in_values, key_value};
use super::relation::{InList, Multi, MultiTest, Restrictions, Test, TupleValue};
use crate::schema::{Column, ColumnKind, Index, IndexTarget, Table};

/// A restriction with its values; those of `In` in their order.
#[derive(Debug, Clone)]
enum Check {
    Equal(Bytes),
    In(Vec<Bytes>),
    Lower(Bytes, bool),
    Upper(Bytes, bool),
    Contains(Bytes),
    ContainsKey(Bytes),
    Entry(Bytes, Bytes),
    /// A test of texts as an index folds them.
    Folded(TextFold, Folded, Bytes),
}

/// The values of a column that are compared after folding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Folded {
    Value,
    Values,
    Keys,
}

/// Tuples of clustering columns compared one by one.
#[derive(Debug, Clone)]
enum TupleCheck {
    /// True if they are sorted.
    In(Vec<Vec<Bytes>>, bool),
    Lower(Vec<Bytes>, bool),
    Upper(Vec<Bytes>, bool),
}

/// Restrictions evaluated for one execution.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowFilter {
    checks: Vec<(usize, CqlType, Check)>,
    tuples: Vec<(usize, Vec<CqlType>, TupleCheck)>,
}

fn value(expr: &Expr, what: &str, table: &Table, at: usize, env: EvalContext<'_>) -> Result<Bytes> {
    let name = table.columns.get(at).map_or("", |own| &*own.name);
    match expr.eval(env)? {
        BoundValue::Bytes(bytes) => Ok(bytes),
        BoundValue::Null => {
            Err(CqlError::invalid(format!("Unsupported null {what} for column {name}")))
        }
        BoundValue::Unset => {
            Err(CqlError::invalid(format!("Unsupported unset {what} for column {name}")))
        }
    }
}

/// Evaluates the values of an `IN`, in order. Nulls are left out, for no row equals them; a list that
/// is written with one value is that value.
fn listed(
    list: &InList,
    table: &Table,
    at: usize,
    column: &Column,
    env: EvalContext<'_>,
) -> Result<Vec<Bytes>> {
    let mut all = match list {
        InList::Values(exprs) => match exprs.as_slice() {
            [only] => vec![value(only, "value", table, at, env)?],
            several => {
                let mut found = Vec::with_capacity(several.len());
                for expr in several {
                    if !matches!(expr.eval(env)?, BoundValue::Null) {
                        found.push(key_value(expr, column, env)?);
                    }
                }
                found
            }
        },
        InList::Marker(expr) => match expr.bound(env) {
            BoundValue::Bytes(bytes) => {
                bound_elements(&bytes, &column.kind)?.into_iter().flatten().collect()
            }
            BoundValue::Null | BoundValue::Unset => in_values(list, column, env)?,
        },
    };
    all.sort_by(|a, b| compare(&column.kind, a, b));
    Ok(all)
}

impl RowFilter {
    /// Evaluates all restrictions of columns; those of the token are left out.
    pub(crate) fn of(own: &Restrictions, table: &Table, env: EvalContext<'_>) -> Result<Self> {
        let mut filter = Self::default();
        // The first clustering columns are taken as a key is, also where no partition is named.
        let mut next_of_key = table.partition_count;
        for (at, tests) in &own.single {
            let Some(column) = table.columns.get(*at) else { continue };
            let is_indexed = table.indexes.iter().any(|index| index.column == column.name);
            let is_key = *at == next_of_key && column.role == ColumnKind::Clustering && !is_indexed;
            next_of_key += usize::from(is_key && !tests.iter().any(Test::is_slice));
            for test in tests {
                let get = |expr: &Expr| match is_key {
                    true => key_value(expr, column, env),
                    false => value(expr, "value", table, *at, env),
                };
                let check = match test {
                    Test::Equal(expr) => Check::Equal(get(expr)?),
                    Test::In(list) => Check::In(listed(list, table, *at, column, env)?),
                    Test::Lower(expr, included) => Check::Lower(get(expr)?, *included),
                    Test::Upper(expr, included) => Check::Upper(get(expr)?, *included),
                    Test::Contains(expr) => Check::Contains(get(expr)?),
                    Test::ContainsKey(expr) => Check::ContainsKey(get(expr)?),
                    Test::Entry(key, wanted) => Check::Entry(
                        value(key, "map key", table, *at, env)?,
                        value(wanted, "map value", table, *at, env)?,
                    ),
                };
                let check = folded(check, table, &column.name);
                filter.checks.push((*at, column.kind.clone(), check));
            }
        }
        for multi in &own.multi {
            filter.tuples.push(tuples(multi, table, env)?);
        }
        Ok(filter)
    }

    /// Returns true if a row passes; `get` gives its values by the columns' places.
    pub(crate) fn accepts(&self, get: &dyn Fn(usize) -> Option<Bytes>) -> bool {
        self.checks
            .iter()
            .all(|(at, ty, check)| get(*at).is_some_and(|own| passes(ty, check, &own)))
            && self.tuples.iter().all(|(at, types, check)| {
                let own: Option<Vec<Bytes>> = (0..types.len()).map(|n| get(at + n)).collect();
                own.is_some_and(|own| passes_tuple(types, check, &own))
            })
    }
}

/// Evaluates a restriction of several clustering columns at once.
fn tuples(
    multi: &Multi,
    table: &Table,
    env: EvalContext<'_>,
) -> Result<(usize, Vec<CqlType>, TupleCheck)> {
    let columns = table.clustering_columns();
    let columns = columns.get(multi.start..multi.start + multi.count).unwrap_or_default();
    let types: Vec<CqlType> = columns.iter().map(|own| own.kind.clone()).collect();
    let at = table.partition_count + multi.start;
    let parts = |own: &TupleValue| -> Result<Vec<Bytes>> {
        match own {
            TupleValue::Parts(exprs) => {
                exprs.iter().map(|expr| value(expr, "value", table, at, env)).collect()
            }
            TupleValue::Marker(expr) => {
                let bytes = value(expr, "value", table, at, env)?;
                Ok(fields(&bytes).flatten().flatten().map(|part| bytes.slice_ref(part)).collect())
            }
        }
    };
    let mut check = match &multi.test {
        MultiTest::Equal(own) => TupleCheck::In(vec![parts(own)?], false),
        MultiTest::In(all) => TupleCheck::In(all.iter().map(parts).collect::<Result<_>>()?, false),
        MultiTest::InMarker(expr) => {
            let bytes = value(expr, "value", table, at, env)?;
            let all = elements(&bytes)?.flatten().flatten();
            TupleCheck::In(
                all.map(|own| {
                    fields(own).flatten().flatten().map(Bytes::copy_from_slice).collect()
                })
                .collect(),
                false,
            )
        }
        MultiTest::Lower(own, included) => TupleCheck::Lower(parts(own)?, *included),
        MultiTest::Upper(own, included) => TupleCheck::Upper(parts(own)?, *included),
    };
    // Tuples that lack parts equal all that begin so, which is no order.
    if let TupleCheck::In(all, is_sorted) = &mut check
        && all.iter().all(|own| own.len() == types.len())
    {
        all.sort_by(|a, b| compare_tuples(&types, a, b));
        *is_sorted = true;
    }
    Ok((at, types, check))
}

/// Returns the tests of columns whose index folds texts.
fn folded(check: Check, table: &Table, column: &str) -> Check {
    let (what, wanted) = match &check {
        Check::Equal(value) => (Folded::Value, value),
        Check::Contains(value) => (Folded::Values, value),
        Check::ContainsKey(value) => (Folded::Keys, value),
        _ => return check,
    };
    let serves = |index: &&Index| {
        *index.column == *column
            && !index.fold().is_none()
            && match index.target {
                IndexTarget::Value | IndexTarget::Values => what != Folded::Keys,
                IndexTarget::Keys => what == Folded::Keys,
                IndexTarget::Entries | IndexTarget::Full => false,
            }
    };
    match table.indexes.iter().find(serves).map(Index::fold) {
        Some(fold) => Check::Folded(fold, what, fold.apply(wanted).into_owned().into()),
        None => check,
    }
}

fn passes(ty: &CqlType, check: &Check, own: &Bytes) -> bool {
    let order = |other: &Bytes| compare(ty, own, other);
    // Empty values of types that have none of their own are in no range.
    match check {
        Check::Equal(other) => order(other).is_eq(),
        Check::In(all) => all.binary_search_by(|other| order(other).reverse()).is_ok(),
        Check::Lower(other, included) => {
            order(other).is_gt() || (*included && order(other).is_eq())
        }
        Check::Upper(other, included) => {
            order(other).is_lt() || (*included && order(other).is_eq())
        }
        Check::Contains(wanted) => match ty {
            CqlType::List { element, .. } | CqlType::Set { element, .. } => elements(own)
                .into_iter()
                .flatten()
                .flatten()
                .flatten()
                .any(|value| compare(element, value, wanted).is_eq()),
            CqlType::Map { value: inner, .. } => {
                entries(own).into_iter().flatten().flatten().any(|(_, value)| {
                    value.is_some_and(|value| compare(inner, value, wanted).is_eq())
                })
            }
            _ => false,
        },
        Check::ContainsKey(wanted) => match ty {
            CqlType::Map { key, .. } => entries(own)
                .into_iter()
                .flatten()
                .flatten()
                .any(|(own, _)| own.is_some_and(|own| compare(key, own, wanted).is_eq())),
            _ => false,
        },
        Check::Folded(fold, what, wanted) => {
            let same = |value: &[u8]| *fold.apply(value) == **wanted;
            match (what, ty) {
                (Folded::Value, _) => same(own),
                (Folded::Values, CqlType::List { .. } | CqlType::Set { .. }) => {
                    elements(own).into_iter().flatten().flatten().flatten().any(same)
                }
                (_, CqlType::Map { .. }) => {
                    let mut parts = entries(own).into_iter().flatten().flatten();
                    let keys = *what == Folded::Keys;
                    parts.any(|(key, value)| (if keys { key } else { value }).is_some_and(same))
                }
                _ => false,
            }
        }
        Check::Entry(key, wanted) => match ty {
            CqlType::Map { key: key_type, value: inner, .. } => {
                entries(own).into_iter().flatten().flatten().any(|(k, v)| {
                    k.is_some_and(|k| compare(key_type, k, key).is_eq())
                        && v.is_some_and(|v| compare(inner, v, wanted).is_eq())
                })
            }
            _ => false,
        },
    }
}

/// Compares tuples of clustering columns as far as both have parts.
fn compare_tuples(types: &[CqlType], a: &[Bytes], b: &[Bytes]) -> std::cmp::Ordering {
    types
        .iter()
        .zip(a.iter().zip(b))
        .map(|(ty, (a, b))| compare(ty, a, b))
        .find(|order| order.is_ne())
        .unwrap_or(std::cmp::Ordering::Equal)
}

fn passes_tuple(types: &[CqlType], check: &TupleCheck, own: &[Bytes]) -> bool {
    let order = |other: &[Bytes]| compare_tuples(types, own, other);
    match check {
        TupleCheck::In(all, true) => all.binary_search_by(|other| order(other).reverse()).is_ok(),
        TupleCheck::In(all, false) => all.iter().any(|other| order(other).is_eq()),
        TupleCheck::Lower(other, included) => {
            order(other).is_gt() || (*included && order(other).is_eq())
        }
        TupleCheck::Upper(other, included) => {
            order(other).is_lt() || (*included && order(other).is_eq())
        }
    }
}
