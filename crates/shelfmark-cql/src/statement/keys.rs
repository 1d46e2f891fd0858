//! Restrictions evaluated: partition keys, and spans of clustering keys.

use bytes::Bytes;
use shelfmark_cql_protocol::{BoundValue, CqlError, Result};
use shelfmark_cql_types::term::{EvalContext, Expr};
use shelfmark_cql_types::{
    CqlType, canonical, compare, elements, fields, partition_bytes, plain_decimal, validate,
};
use shelfmark_engine::{ClusteringValue, Span, SpanBound};

use super::relation::{InList, Multi, MultiTest, Restrictions, Test, TupleValue};
use crate::limits::{COMBINATIONS_BYTES_MAX, COMBINATIONS_MAX, KEY_SIZE_BYTES_MAX};
use crate::schema::{Column, Table};

/// Evaluates a value that a key column is compared with.
pub(crate) fn key_value(expr: &Expr, column: &Column, env: EvalContext<'_>) -> Result<Bytes> {
    match expr.eval(env)? {
        BoundValue::Bytes(bytes) => Ok(bytes),
        BoundValue::Null => Err(CqlError::invalid(format!(
            "Invalid null value in condition for column {}",
            column.name
        ))),
        BoundValue::Unset => {
            Err(CqlError::invalid(format!("Invalid unset value for column {}", column.name)))
        }
    }
}

/// Splits a bound list of values of a type, each checked and in its one form; nulls may be among them.
pub(crate) fn bound_elements(bytes: &Bytes, ty: &CqlType) -> Result<Vec<Option<Bytes>>> {
    elements(bytes)?
        .map(|value| {
            let Some(value) = value? else { return Ok(None) };
            validate(ty, value)?;
            Ok(Some(canonical(ty, &bytes.slice_ref(value))))
        })
        .collect()
}

/// Evaluates the values of an `IN`, sorted by the column's order and without repetitions.
pub(crate) fn in_values(
    list: &InList,
    column: &Column,
    env: EvalContext<'_>,
) -> Result<Vec<Bytes>> {
    let mut values: Vec<Bytes> = match list {
        InList::Values(exprs) => {
            exprs.iter().map(|expr| key_value(expr, column, env)).collect::<Result<_>>()?
        }
        InList::Marker(expr) => match expr.bound(env) {
            BoundValue::Bytes(bytes) => bound_elements(&bytes, &column.kind)?
                .into_iter()
                .map(|value| {
                    value.ok_or_else(|| {
                        CqlError::invalid(format!(
                            "Invalid null value in condition for column {}",
                            column.name
                        ))
                    })
                })
                .collect::<Result<_>>()?,
            BoundValue::Null => {
                return Err(CqlError::invalid(format!(
                    "Invalid null value for column {}",
                    column.name
                )));
            }
            BoundValue::Unset => {
                return Err(CqlError::invalid(format!(
                    "Invalid unset value for column {}",
                    column.name
                )));
            }
        },
    };
    values.sort_by(|a, b| compare(&column.kind, a, b));
    values.dedup_by(|a, b| compare(&column.kind, a, b).is_eq());
    Ok(values)
}

/// Refuses `count` combinations of values of `what`, as Cassandra does where its guardrail is on.
fn check_combinations(what: &str, count: usize) -> Result<()> {
    if count <= COMBINATIONS_MAX {
        return Ok(());
    }
    Err(CqlError::invalid(format!(
        "Guardrail in_select_cartesian_product violated: Aborting query because the cartesian product of the IN restrictions on {what} produces {count} values, this exceeds fail threshold of {COMBINATIONS_MAX}."
    )))
}

/// Refuses what `partitions` partition keys and `places` spans of each come to together, before
/// anything is made of them.
///
/// # Errors
///
/// * `Invalid`: there are too many.
pub(crate) fn check_product(partitions: usize, places: usize) -> Result<()> {
    check_combinations("primary key", partitions.saturating_mul(places))
}

/// Multiplies out.
fn extend(what: &str, all: Vec<Vec<Bytes>>, values: &[Vec<Bytes>]) -> Result<Vec<Vec<Bytes>>> {
    check_combinations(what, all.len().saturating_mul(values.len()))?;
    if let ([_], [value]) = (&*all, values) {
        return Ok(all.into_iter().map(|prefix| [prefix.as_slice(), value].concat()).collect());
    }
    // Joined keys hold their own bytes, so what the values are shared by does not bound them.
    let bytes = |keys: &[Vec<Bytes>]| keys.iter().flatten().map(Bytes::len).sum::<usize>();
    let (before, behind) = (bytes(&all), bytes(values));
    let product = before.saturating_mul(values.len()) + behind.saturating_mul(all.len());
    if product > COMBINATIONS_BYTES_MAX {
        return Err(CqlError::invalid(format!(
            "The IN restrictions on {what} name keys of {product} bytes together; the limit is {COMBINATIONS_BYTES_MAX}"
        )));
    }
    Ok(all
        .iter()
        .flat_map(|prefix| {
            values.iter().map(move |value| [prefix.as_slice(), value.as_slice()].concat())
        })
        .collect())
}

/// Evaluates the partition keys that are named, in the order of their values; the parts of each.
///
/// Every column of the partition key is restricted by `=` or `IN`.
pub(crate) fn partitions(
    table: &Table,
    own: &Restrictions,
    env: EvalContext<'_>,
) -> Result<Vec<Vec<Bytes>>> {
    let mut all: Vec<Vec<Bytes>> = vec![Vec::new()];
    for (at, column) in table.partition_columns().iter().enumerate() {
        let values = match own.of(at) {
            [Test::Equal(expr)] => vec![vec![key_value(expr, column, env)?]],
            [Test::In(list)] => {
                in_values(list, column, env)?.into_iter().map(|value| vec![value]).collect()
            }
            _ => {
                return Err(CqlError::invalid(format!(
                    "Some partition key parts are missing: {}",
                    column.name
                )));
            }
        };
        all = extend("partition key", all, &values)?;
    }
    Ok(all)
}

/// Joins the partition keys that [`partitions`] found, unless one is too long or empty.
pub(crate) fn joined_partitions(table: &Table, all: &[Vec<Bytes>]) -> Result<Vec<Bytes>> {
    all.iter().map(|parts| checked_partition(table, parts)).collect()
}

/// Joins a partition key, unless it is too long or empty.
pub(crate) fn checked_partition(table: &Table, parts: &[Bytes]) -> Result<Bytes> {
    let single = table.partition_count == 1;
    if single && parts.iter().all(Bytes::is_empty) {
        return Err(CqlError::invalid("Key may not be empty"));
    }
    let columns = table.partition_columns();
    let parts: Vec<Bytes> =
        parts.iter().zip(columns).map(|(part, column)| kept(table, column, part)).collect();
    let key = partition_bytes(&parts);
    // The values alone are counted first, as there, and then what stands around them.
    let values: usize = parts.iter().map(Bytes::len).sum();
    if let Some(size) = [values, key.len()].into_iter().find(|size| *size > KEY_SIZE_BYTES_MAX) {
        return Err(CqlError::invalid(format!(
            "Key length of {size} is longer than maximum of {KEY_SIZE_BYTES_MAX}"
        )));
    }
    Ok(key)
}

/// Returns a value of a key column as the table keeps it: tables of another face have one spelling of
/// a number.
pub(crate) fn kept(table: &Table, column: &Column, value: &Bytes) -> Bytes {
    match table.is_shared() && column.kind == CqlType::Decimal {
        true => plain_decimal(value),
        false => value.clone(),
    }
}

/// Evaluates a tuple. `place` is how a null in it is spoken of.
fn tuple(
    value: &TupleValue,
    columns: &[Column],
    env: EvalContext<'_>,
    place: &str,
) -> Result<Vec<Bytes>> {
    match value {
        TupleValue::Parts(parts) => parts
            .iter()
            .zip(columns)
            .enumerate()
            .map(|(at, (part, column))| match part.eval(env)? {
                BoundValue::Bytes(bytes) => Ok(bytes),
                BoundValue::Null => Err(CqlError::invalid(format!(
                    "Invalid null value{place} for column {}",
                    column.name
                ))),
                BoundValue::Unset => Err(CqlError::invalid(format!(
                    "Invalid unset value for tuple field number {at}"
                ))),
            })
            .collect(),
        TupleValue::Marker(expr) => match expr.eval(env)? {
            BoundValue::Bytes(bytes) => split_tuple(&bytes, columns, |column| {
                format!("Invalid null value{place} for column {column}")
            }),
            BoundValue::Null => {
                let names: Vec<&str> = columns.iter().map(|own| &*own.name).collect();
                Err(CqlError::invalid(format!("Invalid null value for ({})", names.join(","))))
            }
            BoundValue::Unset => {
                let names: Vec<&str> = columns.iter().map(|own| &*own.name).collect();
                Err(CqlError::invalid(format!(
                    "Invalid unset value for tuple ({})",
                    names.join(",")
                )))
            }
        },
    }
}

/// Splits a bound tuple; `refusal` is what is said of a null for a column.
fn split_tuple(
    bytes: &Bytes,
    columns: &[Column],
    refusal: impl Fn(&str) -> String,
) -> Result<Vec<Bytes>> {
    let mut parts = fields(bytes);
    columns
        .iter()
        .map(|column| {
            let part = parts.next().transpose()?.flatten();
            let part = part.ok_or_else(|| CqlError::invalid(refusal(&column.name)))?;
            Ok(bytes.slice_ref(part))
        })
        .collect()
}

/// Returns the clustering columns that a tuple restricts.
fn columns_of<'t>(multi: &Multi, table: &'t Table) -> &'t [Column] {
    table.clustering_columns().get(multi.start..multi.start + multi.count).unwrap_or_default()
}

/// Returns true if a part of a tuple that is written part by part is null.
fn has_null(values: &[TupleValue], env: EvalContext<'_>) -> Result<bool> {
    let parts = values.iter().filter_map(|value| match value {
        TupleValue::Parts(parts) => Some(parts),
        TupleValue::Marker(_) => None,
    });
    for part in parts.flatten() {
        if matches!(part.eval(env)?, BoundValue::Null) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Evaluates the tuples of an `IN`.
fn in_tuples(multi: &Multi, table: &Table, env: EvalContext<'_>) -> Result<Vec<Vec<Bytes>>> {
    let columns = columns_of(multi, table);
    let names: Vec<&str> = columns.iter().map(|own| &*own.name).collect();
    let null_in_condition =
        || format!("Invalid null value in condition for columns: [{}]", names.join(", "));
    let mut all = match &multi.test {
        MultiTest::Equal(value) => vec![tuple(value, columns, env, "")?],
        MultiTest::In(values) if values.len() > 1 && has_null(values, env)? => {
            return Err(CqlError::invalid(null_in_condition()));
        }
        MultiTest::In(values) => {
            values.iter().map(|value| tuple(value, columns, env, "")).collect::<Result<Vec<_>>>()?
        }
        MultiTest::InMarker(expr) => match expr.eval(env)? {
            BoundValue::Bytes(bytes) => elements(&bytes)?
                .map(|value| {
                    let refusal = |_: &str| null_in_condition();
                    match value? {
                        Some(value) => split_tuple(&bytes.slice_ref(value), columns, refusal),
                        None => Err(CqlError::invalid(refusal(""))),
                    }
                })
                .collect::<Result<Vec<_>>>()?,
            BoundValue::Null => {
                return Err(CqlError::invalid("Invalid null value for IN restriction"));
            }
            BoundValue::Unset => {
                let names: Vec<&str> = columns.iter().map(|own| &*own.name).collect();
                return Err(CqlError::invalid(format!(
                    "Invalid unset value for in({})",
                    names.join(",")
                )));
            }
        },
        MultiTest::Lower(..) | MultiTest::Upper(..) => Vec::new(),
    };
    all.sort_by(|a, b| compare_tuples(columns, a, b));
    all.dedup();
    Ok(all)
}

/// Compares tuples of clustering values in the order of the values.
fn compare_tuples(columns: &[Column], a: &[Bytes], b: &[Bytes]) -> std::cmp::Ordering {
    columns
        .iter()
        .zip(a.iter().zip(b))
        .map(|(column, (a, b))| {
            let order = compare(&column.kind, a, b);
            if column.descending { order.reverse() } else { order }
        })
        .find(|order| order.is_ne())
        .unwrap_or(std::cmp::Ordering::Equal)
}

/// The spans of clustering keys that restrictions name, in clustering order.
pub(crate) struct Spans {
    pub(crate) spans: Vec<Span>,
    /// Each span is one row.
    pub(crate) are_rows: bool,
    /// The spans hold more than the restrictions let through.
    pub(crate) need_filter: bool,
    /// The restrictions behind the columns that are equal.
    rest: usize,
}

/// Evaluates the restrictions of the clustering columns as far as they make spans.
pub(crate) fn spans(table: &Table, own: &Restrictions, env: EvalContext<'_>) -> Result<Spans> {
    let columns = table.clustering_columns();
    let mut prefixes: Vec<Vec<Bytes>> = vec![Vec::new()];
    let mut place = 0;
    let mut used = 0;
    while let Some(column) = columns.get(place) {
        if let Some(multi) = own.multi.iter().find(|multi| {
            multi.start == place
                && !matches!(multi.test, MultiTest::Lower(..) | MultiTest::Upper(..))
        }) {
            prefixes = extend("clustering key", prefixes, &in_tuples(multi, table, env)?)?;
            place += multi.count;
            used += 1;
            continue;
        }
        let values = match own.of(table.partition_count + place) {
            [Test::Equal(expr)] => vec![vec![key_value(expr, column, env)?]],
            [Test::In(list)] => {
                in_values(list, column, env)?.into_iter().map(|value| vec![value]).collect()
            }
            _ => break,
        };
        prefixes = extend("clustering key", prefixes, &values)?;
        place += 1;
        used += 1;
    }
    let (lower, upper, slice_uses, exact) = slice_bounds(table, own, place, env)?;
    prefixes.sort_by(|a, b| compare_tuples(columns, a, b));
    let spans = prefixes
        .into_iter()
        .map(|prefix| Span {
            equal: prefix.iter().zip(columns).map(|(own, at)| Some(kept(table, at, own))).collect(),
            lower: lower.clone(),
            upper: upper.clone(),
        })
        .collect();
    let restricted = own.multi.len()
        + own
            .single
            .keys()
            .filter(|at| {
                (table.partition_count..table.partition_count + columns.len()).contains(*at)
            })
            .count();
    Ok(Spans {
        spans,
        are_rows: place == columns.len(),
        need_filter: !exact || used + slice_uses < restricted,
        rest: restricted.saturating_sub(used),
    })
}

/// A bound of several columns, of which the first may differ alone.
struct TupleBound {
    values: Vec<Bytes>,
    included: bool,
}

/// Values of the first columns, and bounds of the one behind them.
struct Piece {
    equal: Vec<Bytes>,
    lower: Option<(Bytes, bool)>,
    upper: Option<(Bytes, bool)>,
}

/// Works as [`spans`], cut so that they hold nothing but what is asked for: what is deleted is not
/// tested row by row. Tuples of columns that run in opposite directions make several spans.
pub(crate) fn exact_spans(
    table: &Table,
    own: &Restrictions,
    env: EvalContext<'_>,
) -> Result<Spans> {
    let found = spans(table, own, env)?;
    let Some(first) = found.spans.first().filter(|_| found.need_filter) else { return Ok(found) };
    let place = first.equal.len();
    let (mut lower, mut upper, mut uses) = (None, None, 0);
    if let Some(column) = table.clustering_columns().get(place) {
        let tests = own.of(table.partition_count + place);
        uses += usize::from(!tests.is_empty());
        for test in tests {
            let (Test::Lower(expr, included) | Test::Upper(expr, included)) = test else {
                continue;
            };
            let bound =
                TupleBound { values: vec![key_value(expr, column, env)?], included: *included };
            *(if matches!(test, Test::Lower(..)) { &mut lower } else { &mut upper }) = Some(bound);
        }
    }
    for multi in own.multi.iter().filter(|multi| multi.start == place) {
        let (MultiTest::Lower(value, included) | MultiTest::Upper(value, included)) = &multi.test
        else {
            continue;
        };
        let values = tuple(value, columns_of(multi, table), env, " in condition")?;
        let bound = TupleBound { values, included: *included };
        let is_lower = matches!(multi.test, MultiTest::Lower(..));
        *(if is_lower { &mut lower } else { &mut upper }) = Some(bound);
        uses += 1;
    }
    if uses != found.rest {
        return Err(CqlError::invalid("These restrictions name no range of rows"));
    }
    let columns = table.clustering_columns().get(place..).unwrap_or_default();
    let pieces = pieces(lower.as_ref(), upper.as_ref(), columns);
    check_combinations("clustering key", found.spans.len().saturating_mul(pieces.len()))?;
    let bound = |(value, included): &(Bytes, bool)| SpanBound {
        values: vec![Some(value.clone())],
        included: *included,
    };
    let cut = found.spans.iter().flat_map(|span| {
        pieces.iter().map(|piece| {
            let mut equal = span.equal.clone();
            equal.extend(piece.equal.iter().cloned().map(Some));
            Span {
                equal,
                lower: piece.lower.as_ref().map(bound),
                upper: piece.upper.as_ref().map(bound),
            }
        })
    });
    Ok(Spans { spans: cut.collect(), are_rows: false, need_filter: false, rest: 0 })
}

/// Returns what lies between two bounds, piece by piece: `(a, b) > (1, 2)` is `a > 1`, and `b > 2`
/// where `a` is 1.
fn pieces(
    lower: Option<&TupleBound>,
    upper: Option<&TupleBound>,
    columns: &[Column],
) -> Vec<Piece> {
    let lowers = lower.map(|bound| sides(bound, true));
    let uppers = upper.map(|bound| sides(bound, false));
    let (lowers, uppers) = match (lowers, uppers) {
        (Some(lowers), Some(uppers)) => (lowers, uppers),
        (one, other) => return one.or(other).unwrap_or_default(),
    };
    let order = |at: usize, a: &Bytes, b: &Bytes| {
        columns.get(at).map_or(std::cmp::Ordering::Equal, |own| compare(&own.kind, a, b))
    };
    // Whether the values that `inner` names lie in what `outer` bounds.
    let holds = |outer: &Piece, inner: &Piece| {
        let at = outer.equal.len();
        let same = outer
            .equal
            .iter()
            .zip(&inner.equal)
            .enumerate()
            .all(|(at, (a, b))| order(at, a, b).is_eq());
        same && inner.equal.get(at).is_none_or(|value| {
            let above = outer.lower.as_ref().is_none_or(|(bound, included)| {
                let order = order(at, value, bound);
                order.is_gt() || (*included && order.is_eq())
            });
            let below = outer.upper.as_ref().is_none_or(|(bound, included)| {
                let order = order(at, value, bound);
                order.is_lt() || (*included && order.is_eq())
            });
            above && below
        })
    };
    let mut out = Vec::new();
    for low in &lowers {
        for high in &uppers {
            let (equal, lower, upper) = match low.equal.len().cmp(&high.equal.len()) {
                std::cmp::Ordering::Equal if holds(low, high) => {
                    (&low.equal, low.lower.clone(), high.upper.clone())
                }
                std::cmp::Ordering::Less if holds(low, high) => {
                    (&high.equal, None, high.upper.clone())
                }
                std::cmp::Ordering::Greater if holds(high, low) => {
                    (&low.equal, low.lower.clone(), None)
                }
                _ => continue,
            };
            out.push(Piece { equal: equal.clone(), lower, upper });
        }
    }
    out
}

/// Returns the pieces of what one bound leaves.
fn sides(bound: &TupleBound, is_lower: bool) -> Vec<Piece> {
    let last = bound.values.len().saturating_sub(1);
    let pieces = bound.values.iter().enumerate().map(|(at, value)| {
        let own = Some((value.clone(), bound.included && at == last));
        let equal = bound.values.iter().take(at).cloned().collect();
        let (lower, upper) = if is_lower { (own, None) } else { (None, own) };
        Piece { equal, lower, upper }
    });
    pieces.collect()
}

type Bounds = (Option<SpanBound>, Option<SpanBound>, usize, bool);

/// Returns the range on the column at `place`, how many restrictions it stands for, and whether it
/// is all that they say.
fn slice_bounds(
    table: &Table,
    own: &Restrictions,
    place: usize,
    env: EvalContext<'_>,
) -> Result<Bounds> {
    let Some(column) = table.clustering_columns().get(place) else {
        return Ok((None, None, 0, true));
    };
    let (mut lower, mut upper) = (None, None);
    let tests = own.of(table.partition_count + place);
    if !tests.is_empty() {
        let mut exact = true;
        for test in tests {
            match test {
                Test::Lower(expr, included) => {
                    let values: Vec<ClusteringValue> = vec![Some(key_value(expr, column, env)?)];
                    lower = Some(SpanBound { values, included: *included });
                }
                Test::Upper(expr, included) => {
                    let values: Vec<ClusteringValue> = vec![Some(key_value(expr, column, env)?)];
                    upper = Some(SpanBound { values, included: *included });
                }
                _ => exact = false,
            }
        }
        return Ok((lower, upper, 1, exact));
    }
    let mut uses = 0;
    let mut exact = true;
    for multi in own.multi.iter().filter(|multi| multi.start == place) {
        let columns = columns_of(multi, table);
        let one_way = columns.iter().all(|own| own.descending == column.descending);
        let (value, included, is_lower) = match &multi.test {
            MultiTest::Lower(value, included) => (value, *included, true),
            MultiTest::Upper(value, included) => (value, *included, false),
            _ => continue,
        };
        let mut values: Vec<ClusteringValue> =
            tuple(value, columns, env, " in condition")?.into_iter().map(Some).collect();
        let mut included = included;
        if !one_way {
            // Only the first column bounds the range; the rest is compared row by row.
            values.truncate(1);
            included = true;
            exact = false;
        }
        let bound = Some(SpanBound { values, included });
        if is_lower {
            lower = bound;
        } else {
            upper = bound;
        }
        uses += 1;
    }
    Ok((lower, upper, uses, exact))
}
