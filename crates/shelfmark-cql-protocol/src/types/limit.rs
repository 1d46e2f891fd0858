//! Limits of types: one table for whoever parses, resolves, stores or reads them.
//!
//! What it is not: limits of the text of a type, which are the parser's.
//!
//! Invariant: a type within the limits can be written as a class name and read back, can be part of a
//! key, and its values can be compared.

use super::{CqlType, MarshalError, Result};

/// The greatest depth of nested types, the outermost included. `frozen` is no level.
///
/// Source: ours; Cassandra has no number for it and ends with a stack overflow. Keys have the same.
pub const TYPE_DEPTH_MAX: usize = 32;

/// Most types that a type is made of, itself and the fields of its user types included.
///
/// Source: ours; the largest user type has 32,767 fields. User types that each hold two of the one
/// before would double with every level.
pub const TYPE_PARTS_MAX: usize = 65_536;

/// The largest dimension of a vector. Source: Cassandra 5.0's grammar takes any int; SAI indexes
/// take 2^13, which is our limit for all.
pub const VECTOR_DIMENSION_MAX: u32 = 8_192;

/// Checks that a type is within the limits.
///
/// # Errors
///
/// It is nested deeper than [`TYPE_DEPTH_MAX`], or of more parts than [`TYPE_PARTS_MAX`]. The text
/// names the limit.
pub fn check_limits(ty: &CqlType) -> Result<()> {
    check_limits_within(ty, 0, &mut 0)
}

/// Works as [`check_limits`], of a type that stands `depth` levels inside another of which `parts`
/// have been counted. Stops as soon as there are too many, however many there would be.
///
/// # Errors
///
/// * As those of [`check_limits`].
pub fn check_limits_within(ty: &CqlType, depth: usize, parts: &mut usize) -> Result<()> {
    if depth >= TYPE_DEPTH_MAX {
        return Err(too_deep());
    }
    *parts += 1;
    if *parts > TYPE_PARTS_MAX {
        return Err(MarshalError::new(format!(
            "a type is made of more than {TYPE_PARTS_MAX} types"
        )));
    }
    match ty {
        CqlType::Native(_) | CqlType::Custom(_) => Ok(()),
        CqlType::List { element, .. }
        | CqlType::Set { element, .. }
        | CqlType::Vector { element, .. } => check_limits_within(element, depth + 1, parts),
        CqlType::Map { key, value, .. } => {
            check_limits_within(key, depth + 1, parts)?;
            check_limits_within(value, depth + 1, parts)
        }
        CqlType::Tuple(fields) => {
            fields.iter().try_for_each(|field| check_limits_within(field, depth + 1, parts))
        }
        CqlType::User { definition, .. } => definition
            .fields
            .iter()
            .try_for_each(|(_, field)| check_limits_within(field, depth + 1, parts)),
    }
}

/// Returns the error for a type that is nested too deep.
#[must_use]
pub fn too_deep() -> MarshalError {
    MarshalError::new(format!("types are nested more deeply than {TYPE_DEPTH_MAX} levels"))
}
