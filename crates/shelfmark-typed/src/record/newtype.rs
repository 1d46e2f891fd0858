//! Marks the kinds of a few of our types for the serializer, by the names of their newtypes.

use std::fmt;

use serde::de::Visitor;
use shelfmark_engine::FieldKind;
use shelfmark_model::Value;

pub(crate) const TIMESTAMP: &str = "shelfmark::Timestamp";
pub(crate) const DATE: &str = "shelfmark::Date";
pub(crate) const TIME_OF_DAY: &str = "shelfmark::TimeOfDay";
pub(crate) const UUID: &str = "shelfmark::Uuid";

/// Converts the content of such a newtype to its kind; returns anything else unchanged.
pub(super) fn kind_of(name: &str, inner: Value) -> Value {
    match (name, inner) {
        (TIMESTAMP, Value::Int(n)) => Value::Timestamp(n),
        (TIME_OF_DAY, Value::Int(n)) => Value::Time(n),
        (DATE, Value::Int(n)) => i32::try_from(n).map_or(Value::Int(n), Value::Date),
        (UUID, Value::Bytes(bytes)) => match <[u8; 16]>::try_from(bytes.as_ref()) {
            Ok(uuid) => Value::Uuid(uuid),
            Err(_) => Value::Bytes(bytes),
        },
        (_, inner) => inner,
    }
}

/// Returns the kind of a field of such a newtype, and how many bytes it has where it holds bytes.
pub(super) fn kind_named(name: &str) -> Option<(FieldKind, usize)> {
    match name {
        TIMESTAMP => Some((FieldKind::Timestamp, 0)),
        TIME_OF_DAY => Some((FieldKind::Time, 0)),
        DATE => Some((FieldKind::Date, 0)),
        UUID => Some((FieldKind::Uuid, 16)),
        _ => None,
    }
}

/// Serializes a slice as bytes.
pub(crate) struct AsBytes<'a>(pub(crate) &'a [u8]);

impl serde::Serialize for AsBytes<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

/// Deserializes bytes, also from formats that have only lists of numbers.
pub(crate) struct BlobVisitor;

impl<'de> Visitor<'de> for BlobVisitor {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(bytes.to_vec())
    }

    fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Self::Value, E> {
        Ok(bytes)
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = seq.next_element()? {
            bytes.push(byte);
        }
        Ok(bytes)
    }
}
