//! A `SELECT` as roles without `UNMASK` have it: columns that are masked are shown through their masks.
//!
//! What it is not: the decision who sees what; that is the executor's, by permissions. Rows are found,
//! filtered, sorted and grouped by what is stored; times of cells are shown as they are.
//!
//! Invariant: no expression of the answer reads a masked column but through its mask.
//!
//! Source: Apache Cassandra 5.0, `SelectStatement.authorize` and its answers, read 2026-11.

use std::collections::BTreeSet;
use std::sync::Arc;

use shelfmark_cql_protocol::Result;
use shelfmark_cql_types::UserTypes;
use shelfmark_cql_types::term::Expr;

use super::Select;
use crate::schema::Table;
use crate::statement::relation::Multi;

/// The masked form of a read.
#[derive(Debug)]
pub(crate) struct Masked {
    pub(crate) select: Arc<Select>,
    /// The masked columns that rows are looked for by, in the order of `SELECT *`.
    pub(crate) queried: Vec<Arc<str>>,
}

/// Adds the masked form, if it differs.
///
/// # Errors
///
/// * `Invalid`: a mask does not fit its column.
pub(super) fn with_masks(mut select: Select, schema: &dyn UserTypes) -> Result<Select> {
    if !select.table.has_masks() {
        return Ok(select);
    }
    let queried = queried(&select);
    let table = Arc::clone(&select.table);
    let seen = Seen { table: &table, schema };
    let all = |items: &[Expr]| items.iter().map(|own| masked(own, seen)).collect::<Result<_>>();
    let items: Vec<Expr> = all(&select.items)?;
    let mut aggregates = Vec::with_capacity(select.aggregates.len());
    for (aggregate, arguments) in &select.aggregates {
        aggregates.push((aggregate.clone(), all(arguments)?));
    }
    let shown = super::show::shown(&items, &table).and(select.shown.clone());
    let own = Select { items, aggregates, shown, ..select.clone() };
    select.masked = Some(Arc::new(Masked { select: Arc::new(own), queried }));
    Ok(select)
}

/// Returns the masked columns that a read restricts.
fn queried(select: &Select) -> Vec<Arc<str>> {
    let own = &select.restrictions;
    let mut places: BTreeSet<usize> = own.single.keys().copied().collect();
    let first = select.table.partition_count;
    let of_multi = |own: &Multi| (first + own.start)..(first + own.start + own.count);
    places.extend(own.multi.iter().flat_map(of_multi));
    if !own.token.is_empty() {
        places.extend(0..select.table.partition_count);
    }
    places.extend(select.nearest.iter().map(|nearest| nearest.at));
    let columns = places.into_iter().filter_map(|at| select.table.columns.get(at));
    columns.filter(|own| own.mask.is_some()).map(|own| Arc::clone(&own.name)).collect()
}

/// The table that is read, and the functions of users that there are.
#[derive(Clone, Copy)]
struct Seen<'s> {
    table: &'s Table,
    schema: &'s dyn UserTypes,
}

/// Returns an expression that reads masked columns through their masks.
fn masked(expr: &Expr, seen: Seen<'_>) -> Result<Expr> {
    let all = |items: &[Expr]| items.iter().map(|own| masked(own, seen)).collect::<Result<_>>();
    let boxed = |own: &Expr| masked(own, seen).map(Box::new);
    let bound = |own: &Option<Box<Expr>>| own.as_deref().map(boxed).transpose();
    Ok(match expr {
        Expr::Column(at) => {
            let column = seen.table.columns.get(*at);
            match column.and_then(|own| Some((own.mask.as_ref()?, &own.kind))) {
                Some((mask, kind)) => mask.apply(expr.clone(), kind, seen.schema)?,
                None => expr.clone(),
            }
        }
        Expr::Constant(_) | Expr::Marker { .. } | Expr::Aggregate(_) | Expr::Metadata { .. } => {
            expr.clone()
        }
        Expr::Elements { items, ty } => Expr::Elements { items: all(items)?, ty: ty.clone() },
        Expr::Entries { items, ty } => {
            let pair = |(key, value): &(Expr, Expr)| Ok((masked(key, seen)?, masked(value, seen)?));
            Expr::Entries { items: items.iter().map(pair).collect::<Result<_>>()?, ty: ty.clone() }
        }
        Expr::Fields { items, unset } => {
            let field = |own: &Option<Expr>| own.as_ref().map(|own| masked(own, seen)).transpose();
            let items = items.iter().map(field).collect::<Result<_>>()?;
            Expr::Fields { items, unset: unset.clone() }
        }
        Expr::Call { function, arguments } => {
            Expr::Call { function: function.clone(), arguments: all(arguments)? }
        }
        Expr::Token(parts) => Expr::Token(all(parts)?),
        Expr::Plain(of) => Expr::Plain(boxed(of)?),
        Expr::Element { of, ty, key, shown } => {
            Expr::Element { of: boxed(of)?, ty: ty.clone(), key: boxed(key)?, shown: shown.clone() }
        }
        Expr::Slice { of, ty, from, to } => {
            let (from, to) = (bound(from)?, bound(to)?);
            Expr::Slice { of: boxed(of)?, ty: ty.clone(), from, to }
        }
        Expr::Field { of, at } => Expr::Field { of: boxed(of)?, at: *at },
    })
}
