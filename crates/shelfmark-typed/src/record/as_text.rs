//! Serializes types without serde support as text, field by field.

use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize as _, Deserializer, Serializer};

/// Serializes a field as its text. For `#[serde(with = "…::as_text")]` on fields whose type has
/// `Display` and `FromStr` but no serde, such as [`crate::Ulid`].
///
/// # Errors
///
/// * Those of the serializer.
pub fn serialize<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// Deserializes such a field.
///
/// # Errors
///
/// * The text is not of the type.
pub fn deserialize<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
}
