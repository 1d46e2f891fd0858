//! Properties of values that lie inside of a cell: those of the cell, if the value is there.
//!
//! What it is not: a function that a client can call.
//!
//! Source: Cassandra 5.0's answers, recorded 2026-11 (`asked_seams.txt`).

use super::scalar::Scalar;
use crate::value::{CqlType, elements};

/// Returns the function of a cell's property and of a value inside of it, whose value is the property
/// where the value is neither null nor an empty collection. `name` is that of the property.
#[must_use]
pub fn property_inside(name: &str, property: &CqlType, inside: &CqlType) -> Scalar {
    let of = inside.clone();
    let arguments = vec![property.clone(), inside.clone()];
    Scalar::strict(name, arguments, property.clone(), move |values| {
        let &[property, inside] = values else { return Ok(None) };
        let is_collection =
            matches!(of, CqlType::Map { .. } | CqlType::List { .. } | CqlType::Set { .. });
        let is_empty = is_collection && elements(inside).is_ok_and(|mut all| all.next().is_none());
        Ok((!is_empty).then(|| property.to_vec()))
    })
}
