//! Scalar types that the standard library lacks: bytes, dates, UUIDs, floats with a total order.
//!
//! Each is a key part and, by serde, a value. In a value they keep their kind: a [`Date`] is stored as a
//! date, not as a number, so other faces show it as one.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};
use shelfmark_model::{KeyType, Value};

use super::KeyPart;
use super::part::wrong;
use crate::error::Result;
use crate::record::newtype;

/// Bytes, in unsigned order.
///
/// A `Vec<u8>` in a value is stored as a list of numbers; this is stored as bytes.
///
/// # Examples
///
/// ```
/// use shelfmark_typed::{Blob, Value, to_value};
///
/// let bytes = to_value(&Blob(vec![0, 255]))?;
/// assert_eq!(bytes, Value::Bytes(vec![0, 255].into()));
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Blob(pub Vec<u8>);

/// Days since 1970-01-01.
///
/// # Examples
///
/// ```
/// use shelfmark_typed::{Date, Value, to_value};
///
/// assert_eq!(to_value(&Date(20_000))?, Value::Date(20_000));
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename = "shelfmark::Date")]
pub struct Date(pub i32);

/// Nanoseconds since midnight.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::{OrderedTable, TimeOfDay};
///
/// # let database = registry.environment("default")?.database("default")?;
/// let opens: OrderedTable<TimeOfDay, String> = OrderedTable::named(&database, "opens")?;
/// opens.write(&TimeOfDay(9 * 3_600_000_000_000), &"the library".into())?;
/// assert_eq!(opens.min()?.map(|(_, what)| what).as_deref(), Some("the library"));
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename = "shelfmark::TimeOfDay")]
pub struct TimeOfDay(pub i64);

/// A UUID of any version, in the order of its bytes.
///
/// # Examples
///
/// ```
/// use shelfmark_typed::{Uuid, Value, to_value};
///
/// assert_eq!(to_value(&Uuid([7; 16]))?, Value::Uuid([7; 16]));
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Uuid(pub [u8; 16]);

/// A 64-bit float in the order of [`f64::total_cmp`]: -NaN, -∞, …, -0, 0, …, ∞, NaN.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::{OrderedTable, TotalF64};
///
/// # let database = registry.environment("default")?.database("default")?;
/// let scores: OrderedTable<(TotalF64, String), u8> = OrderedTable::named(&database, "scores")?;
/// for (score, player) in [(2.5, "a"), (f64::NEG_INFINITY, "b"), (-0.5, "c")] {
///     scores.write(&(TotalF64(score), player.into()), &0)?;
/// }
/// assert_eq!(scores.max_key()?, Some((TotalF64(2.5), "a".into())));
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TotalF64(pub f64);

/// A 32-bit float in the order of [`f32::total_cmp`].
///
/// # Examples
///
/// ```
/// use shelfmark_typed::TotalF32;
///
/// assert!(TotalF32(-0.0) < TotalF32(0.0) && TotalF32(0.0) < TotalF32(f32::NAN));
/// ```
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TotalF32(pub f32);

macro_rules! total {
    ($type:ident, $key_type:ident, $value:ident) => {
        impl Ord for $type {
            fn cmp(&self, other: &Self) -> Ordering {
                self.0.total_cmp(&other.0)
            }
        }

        impl PartialOrd for $type {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                self.cmp(other).is_eq()
            }
        }

        impl Eq for $type {}

        impl Hash for $type {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.0.to_bits().hash(state);
            }
        }

        part!($type, $key_type, $value);
    };
}

macro_rules! part {
    ($type:ident, $key_type:ident, $value:ident) => {
        impl KeyPart for $type {
            fn key_type() -> KeyType {
                KeyType::$key_type
            }

            fn to_value(&self) -> Value {
                Value::$value(self.0)
            }

            fn from_value(value: Value) -> Result<Self> {
                match value {
                    Value::$value(inner) => Ok(Self(inner)),
                    other => Err(wrong(stringify!($type), &other)),
                }
            }
        }
    };
}

total!(TotalF64, F64, Float);
total!(TotalF32, F32, Float32);
part!(Date, Date, Date);
part!(TimeOfDay, Time, Time);
part!(Uuid, Uuid, Uuid);

impl KeyPart for Blob {
    fn key_type() -> KeyType {
        KeyType::Bytes
    }

    fn to_value(&self) -> Value {
        Value::Bytes(self.0.clone().into())
    }

    fn from_value(value: Value) -> Result<Self> {
        match value {
            Value::Bytes(bytes) => Ok(Self(bytes.into())),
            other => Err(wrong("bytes", &other)),
        }
    }
}

impl Serialize for Blob {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_byte_buf(newtype::BlobVisitor).map(Self)
    }
}

impl Serialize for Uuid {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        let inner = newtype::AsBytes(&self.0);
        serializer.serialize_newtype_struct(newtype::UUID, &inner)
    }
}

impl<'de> Deserialize<'de> for Uuid {
    fn deserialize<D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Self, D::Error> {
        /// Deserializes the bytes within the newtype that says what they are.
        struct Inner;

        impl<'de> serde::de::Visitor<'de> for Inner {
            type Value = Vec<u8>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a UUID")
            }

            fn visit_newtype_struct<D: serde::Deserializer<'de>>(
                self,
                deserializer: D,
            ) -> std::result::Result<Vec<u8>, D::Error> {
                deserializer.deserialize_byte_buf(newtype::BlobVisitor)
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> std::result::Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }
        }

        let bytes = deserializer.deserialize_newtype_struct(newtype::UUID, Inner)?;
        let bytes = <[u8; 16]>::try_from(bytes)
            .map_err(|_| serde::de::Error::custom("a UUID has 16 bytes"))?;
        Ok(Self(bytes))
    }
}
