//! Bound values put into the places of their markers; which markers make the partition key.

use crate::error::CqlError;
use crate::outcome::{BoundValue, ColumnSpec, Values};
use crate::schema::Table;
use crate::term::Expr;

use super::relation::{InList, Restrictions, Test};

/// Returns one value for each marker.
///
/// # Errors
///
/// * `Invalid`: their number differs, or a name is missing.
pub(super) fn bind(markers: &[ColumnSpec], values: &Values) -> Result<Vec<BoundValue>, CqlError> {
    match values {
        Values::Positional(values) => {
            if values.is_empty() && !markers.is_empty() {
                return Err(CqlError::invalid("Invalid amount of bind variables"));
            }
            if values.len() != markers.len() {
                return Err(CqlError::invalid(format!(
                    "there were {} markers(?) in CQL but {} bound variables",
                    markers.len(),
                    values.len()
                )));
            }
            Ok(values.clone())
        }
        Values::Named(values) => markers
            .iter()
            .map(|marker| {
                let found = values.iter().find(|(name, _)| **name == *marker.name);
                found.map(|(_, value)| value.clone()).ok_or_else(|| {
                    CqlError::invalid(format!("Invalid unset value for column {}", marker.name))
                })
            })
            .collect(),
    }
}

/// Which markers make the partition key, in its order; none if they do not make all of it.
pub(super) fn pk_indices(table: &Table, own: &Restrictions) -> Vec<u16> {
    pk_indices_of_any(table, std::iter::once(own))
}

/// As [`pk_indices`], of the statements of a batch: the last marker of each column counts.
pub(super) fn pk_indices_of_any<'r>(
    table: &Table,
    all: impl Iterator<Item = &'r Restrictions>,
) -> Vec<u16> {
    let mut indices: Vec<Option<u16>> = vec![None; table.partition_count];
    for own in all {
        for (at, index) in indices.iter_mut().enumerate() {
            let last = match own.of(at) {
                [Test::Equal(only)] => Some(only),
                [Test::In(InList::Values(all))] => {
                    all.iter().rev().find(|own| matches!(own, Expr::Marker { .. }))
                }
                _ => None,
            };
            if let Some(Expr::Marker { index: marker, .. }) = last {
                *index = u16::try_from(*marker).ok();
            }
        }
    }
    indices.into_iter().collect::<Option<Vec<u16>>>().unwrap_or_default()
}
