//! Bound values put into the places of their markers; which markers make the partition key.

use std::collections::HashMap;

use shelfmark_cql_protocol::{BoundValue, ColumnSpec, CqlError, Values};
use shelfmark_cql_types::term::Expr;
use shelfmark_engine::weight::INLINE_ROWS_MAX;

use super::relation::{InList, MultiTest, Restrictions, Test};
use crate::schema::Table;

/// Returns one value for each marker.
///
/// # Errors
///
/// * `Invalid`: their number differs, or a name is missing.
pub(super) fn bind(markers: &[ColumnSpec], values: &Values) -> Result<Vec<BoundValue>, CqlError> {
    match values {
        Values::Positional(values) => {
            if values.len() != markers.len() {
                return Err(miscounted(markers.len(), values.len()));
            }
            Ok(values.clone())
        }
        Values::Named(values) => {
            // Of a name that comes twice the first counts.
            let by_name: HashMap<&str, &BoundValue> =
                values.iter().rev().map(|(name, value)| (&**name, value)).collect();
            let found: Vec<BoundValue> = markers
                .iter()
                .filter_map(|marker| by_name.get(&*marker.name).map(|value| (*value).clone()))
                .collect();
            match found.len() == markers.len() {
                true => Ok(found),
                false => Err(miscounted(markers.len(), found.len())),
            }
        }
    }
}

fn miscounted(markers: usize, values: usize) -> CqlError {
    CqlError::invalid(format!(
        "there were {markers} markers(?) in CQL but {values} bound variables"
    ))
}

/// Returns how many keys the `IN` lists of a statement name at most, as far as that is known before
/// its values are: a list that is a marker counts as more than run where a request is read.
pub(super) fn listed(own: &Restrictions) -> usize {
    const UNKNOWN: usize = INLINE_ROWS_MAX + 1;
    let singles = own.single.values().flatten().map(|test| match test {
        Test::In(InList::Values(values)) => values.len(),
        Test::In(InList::Marker(_)) => UNKNOWN,
        _ => 1,
    });
    let multis = own.multi.iter().map(|multi| match &multi.test {
        MultiTest::In(values) => values.len(),
        MultiTest::InMarker(_) => UNKNOWN,
        _ => 1,
    });
    singles.chain(multis).fold(1, usize::saturating_mul)
}

/// Returns the markers that make the partition key, in its order; none if they do not make all of
/// it.
pub(super) fn pk_indices(table: &Table, own: &Restrictions) -> Vec<u16> {
    pk_indices_of_any(table, std::iter::once(own))
}

/// Works as [`pk_indices`], of the statements of a batch: the last marker of each column counts.
pub(super) fn pk_indices_of_any<'r>(
    table: &Table,
    all: impl Iterator<Item = &'r Restrictions>,
) -> Vec<u16> {
    let mut indices: Vec<Option<u16>> = vec![None; table.partition_count];
    for own in all {
        for (at, index) in indices.iter_mut().enumerate() {
            let last = own.of(at).iter().flat_map(terms_of).filter_map(|term| match term {
                Expr::Marker { index, .. } => u16::try_from(*index).ok(),
                _ => None,
            });
            *index = last.max().or(*index);
        }
    }
    indices.into_iter().collect::<Option<Vec<u16>>>().unwrap_or_default()
}

/// Returns the terms that a column is compared with, one by one; a marker of a whole list is none of
/// them.
fn terms_of(test: &Test) -> &[Expr] {
    match test {
        Test::Equal(only) | Test::Lower(only, _) | Test::Upper(only, _) => {
            std::slice::from_ref(only)
        }
        Test::In(InList::Values(all)) => all,
        _ => &[],
    }
}
