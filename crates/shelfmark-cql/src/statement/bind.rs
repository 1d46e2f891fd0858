//! Bound values put into the places of their markers; which markers make the partition key.

use crate::error::CqlError;
use crate::outcome::{BoundValue, ColumnSpec, Values};
use crate::schema::Table;
use crate::term::Expr;

use super::relation::{Restrictions, Test};

/// Returns one value for each marker.
///
/// # Errors
///
/// * `Invalid`: their number differs, or a name is missing.
pub(super) fn bind(markers: &[ColumnSpec], values: &Values) -> Result<Vec<BoundValue>, CqlError> {
    match values {
        Values::Positional(values) => {
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
    let indices: Option<Vec<u16>> = (0..table.partition_count)
        .map(|at| match own.of(at) {
            [Test::Equal(Expr::Marker { index, .. })] => u16::try_from(*index).ok(),
            _ => None,
        })
        .collect();
    indices.unwrap_or_default()
}
