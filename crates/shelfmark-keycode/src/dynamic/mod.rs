//! Lists the key types ([`KeyType`]) and encodes components whose type is known only at run time.
//!
//! A new key type touches, besides its codec in `component` and the table in `docs/format.md`,
//! section "Keys":
//!
//! * here [`KeyType`], its `SCALARS` and [`KeyValue`]; `encode`, `decode`, `skip` and `compare`,
//!   and `canonical` if one value has several forms;
//! * in `shelfmark-records` `catalogue/key_type.rs`, its name in the catalogue, and
//!   `keys/component.rs`, its values;
//! * in `shelfmark-model` `serial.rs`, the plain serialisation of its values;
//! * where users are to have it: `value/key.rs` of `shelfmark-cql-types`, `key/part.rs` of
//!   `shelfmark-typed`, `shared/value.rs` of `shelfmark-engine`, `json.rs` of `shelfmark-cli`.
//!
//! What it is not: not for hot paths (values are owned) and no schema; a key of several columns is
//! several calls, each with its own direction.
//!
//! Invariant: for values of the type, [`compare`] is the order and [`encode`] keeps it.

mod canonical;
mod compare;
mod decode;
mod encode;
mod skip;

use std::net::IpAddr;

use num_bigint::BigInt;

use crate::decimal::Decimal;
use crate::error::{KeyError, KeyErrorKind, Result};

pub use canonical::canonicalize;
pub use compare::compare;
pub use decode::decode;
pub use encode::encode;
pub use skip::skip;

/// Deepest nesting of types, the outermost included. A kinded type is as deep as what it holds.
///
/// As deep as a DynamoDB document; CQL states no limit, and frozen types in keys are shallow.
/// Source: DynamoDB Developer Guide, "Quotas", read 2026-11.
pub const KEY_DEPTH_MAX: usize = 32;

/// The list of key types; each names the order of a key component.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum KeyType {
    /// Code point order.
    Text,
    /// Unsigned lexicographic order.
    Bytes,
    /// False before true.
    Bool,
    /// Numeric order.
    I8,
    /// Numeric order.
    I16,
    /// Numeric order.
    I32,
    /// Numeric order.
    I64,
    /// Numeric order.
    I128,
    /// Numeric order.
    U8,
    /// Numeric order.
    U16,
    /// Numeric order.
    U32,
    /// Numeric order.
    U64,
    /// Numeric order.
    U128,
    /// Numeric order, any size.
    Integer,
    /// Numeric order, any precision; the scale makes no difference.
    Decimal,
    /// The order of [`f32::total_cmp`].
    F32,
    /// The order of [`f64::total_cmp`].
    F64,
    /// Days, with 2^31 standing for 1970-01-01.
    Date,
    /// Nanoseconds since midnight.
    Time,
    /// Milliseconds since 1970-01-01T00:00:00Z.
    Timestamp,
    /// The order of the bytes, a shorter address before the longer ones it begins.
    Inet,
    /// Unsigned bytes.
    Uuid,
    /// Version, then time for version 1, then unsigned bytes: CQL's `uuid`.
    CqlUuid,
    /// Time, then the low half as signed bytes: CQL's `timeuuid`.
    CqlTimeUuid,
    /// Field by field.
    Tuple(Vec<KeyType>),
    /// Field by field, each kinded; fields that are null at the end are left out. Unlike a tuple it may
    /// get more fields at its end: keys that were written before keep their bytes and their order.
    Record(Vec<KeyType>),
    /// Element by element, then the shorter first.
    List(Box<KeyType>),
    /// As a list; elements are ascending and unique.
    Set(Box<KeyType>),
    /// Entry by entry, key before value, then the shorter first; keys are ascending and unique.
    Map(Box<KeyType>, Box<KeyType>),
    /// Null, then empty, then the values of the type.
    ///
    /// Empty is CQL's value of zero bytes. Text and bytes have such a value themselves, so for
    /// them it is `KeyValue::Text("")` or `KeyValue::Bytes([])`, and `KeyValue::Empty` is refused.
    Kinded(Box<KeyType>),
}

impl KeyType {
    /// Every type that is not composed of others, for tables and tests that must know them all.
    pub const SCALARS: [Self; 24] = [
        Self::Text,
        Self::Bytes,
        Self::Bool,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::I128,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::U128,
        Self::Integer,
        Self::Decimal,
        Self::F32,
        Self::F64,
        Self::Date,
        Self::Time,
        Self::Timestamp,
        Self::Inet,
        Self::Uuid,
        Self::CqlUuid,
        Self::CqlTimeUuid,
    ];
}

/// The value of a key component.
///
/// `==` compares as the inner types do (so `-0.0 == 0.0` and NaN is unequal to itself); for the
/// order of keys use [`compare`].
#[derive(Debug, Clone, PartialEq)]
pub enum KeyValue {
    /// Of [`KeyType::Text`].
    Text(String),
    /// Of [`KeyType::Bytes`].
    Bytes(Vec<u8>),
    /// Of [`KeyType::Bool`].
    Bool(bool),
    /// Of [`KeyType::I8`].
    I8(i8),
    /// Of [`KeyType::I16`].
    I16(i16),
    /// Of [`KeyType::I32`].
    I32(i32),
    /// Of [`KeyType::I64`].
    I64(i64),
    /// Of [`KeyType::I128`].
    I128(i128),
    /// Of [`KeyType::U8`].
    U8(u8),
    /// Of [`KeyType::U16`].
    U16(u16),
    /// Of [`KeyType::U32`].
    U32(u32),
    /// Of [`KeyType::U64`].
    U64(u64),
    /// Of [`KeyType::U128`].
    U128(u128),
    /// Of [`KeyType::Integer`].
    Integer(BigInt),
    /// Of [`KeyType::Decimal`].
    Decimal(Decimal),
    /// Of [`KeyType::F32`].
    F32(f32),
    /// Of [`KeyType::F64`].
    F64(f64),
    /// Of [`KeyType::Date`].
    Date(u32),
    /// Of [`KeyType::Time`].
    Time(i64),
    /// Of [`KeyType::Timestamp`].
    Timestamp(i64),
    /// Of [`KeyType::Inet`].
    Inet(IpAddr),
    /// Of [`KeyType::Uuid`], [`KeyType::CqlUuid`] and [`KeyType::CqlTimeUuid`].
    Uuid([u8; 16]),
    /// Of [`KeyType::Tuple`] and [`KeyType::Record`]: one value per field.
    Tuple(Vec<KeyValue>),
    /// Of [`KeyType::List`].
    List(Vec<KeyValue>),
    /// Of [`KeyType::Set`]: ascending and unique (see [`canonicalize`]).
    Set(Vec<KeyValue>),
    /// Of [`KeyType::Map`]: keys ascending and unique (see [`canonicalize`]).
    Map(Vec<(KeyValue, KeyValue)>),
    /// Of [`KeyType::Kinded`]: null.
    Null,
    /// Of [`KeyType::Kinded`]: zero bytes.
    Empty,
}

impl KeyType {
    /// Checks the rules of this type that [`encode`] and [`decode`] rely on.
    ///
    /// # Errors
    ///
    /// * [`KeyErrorKind::TooDeep`]: nested deeper than [`KEY_DEPTH_MAX`]. Flatten the type.
    /// * [`KeyErrorKind::WrongType`]: a kinded type directly in a kinded type, or a record whose field
    ///   is not kinded. Drop one of them, or make it kinded.
    pub fn check(&self) -> Result<()> {
        self.check_at(0)
    }

    fn check_at(&self, depth: usize) -> Result<()> {
        check_depth(depth)?;
        match self {
            Self::Tuple(fields) => fields.iter().try_for_each(|field| field.check_at(depth + 1)),
            Self::Record(fields) => {
                check_record(fields)?;
                fields.iter().try_for_each(|field| field.check_at(depth + 1))
            }
            Self::List(element) | Self::Set(element) => element.check_at(depth + 1),
            Self::Map(key, value) => {
                key.check_at(depth + 1)?;
                value.check_at(depth + 1)
            }
            Self::Kinded(inner) => {
                check_kinded(inner)?;
                inner.check_at(depth)
            }
            _ => Ok(()),
        }
    }

    /// Returns true if zero bytes are a value of the type itself, so that CQL's empty value is no
    /// kind.
    const fn has_zero_length_value(&self) -> bool {
        matches!(self, Self::Text | Self::Bytes)
    }
}

fn check_depth(depth: usize) -> Result<()> {
    if depth < KEY_DEPTH_MAX {
        return Ok(());
    }
    Err(KeyError::new(KeyErrorKind::TooDeep, "key types are nested deeper than 32"))
}

/// Checks that the fields of a record are kinded: a field that is left out is null.
fn check_record(fields: &[KeyType]) -> Result<()> {
    if fields.iter().any(|field| !matches!(field, KeyType::Kinded(_))) {
        let message = "a field of a record is not kinded";
        return Err(KeyError::new(KeyErrorKind::WrongType, message));
    }
    Ok(())
}

/// Refuses nested kinds: a null would have two forms.
fn check_kinded(inner: &KeyType) -> Result<()> {
    if matches!(inner, KeyType::Kinded(_)) {
        let message = "a kinded type stands directly in a kinded type";
        return Err(KeyError::new(KeyErrorKind::WrongType, message));
    }
    Ok(())
}
