//! Serialises identifiers as texts of digits, since JSON numbers have fewer than 128 bits.
//!
//! What it is not: the text of a UUID or a ULID, which people read; that is the value's.
//!
//! Invariant: what is written is read as the same number.

use serde::{Deserialize as _, Deserializer, Serializer};

/// Writes an identifier as 32 hexadecimal digits.
///
/// # Errors
///
/// Those of the format.
pub(crate) fn serialize<S: Serializer>(id: &u128, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(&format!("{id:032x}"))
}

/// Parses an identifier from hexadecimal digits.
///
/// # Errors
///
/// What is no text of hexadecimal digits. Mend the JSON.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u128, D::Error> {
    let text = String::deserialize(from)?;
    u128::from_str_radix(&text, 16).map_err(serde::de::Error::custom)
}
