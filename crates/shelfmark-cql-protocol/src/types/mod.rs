//! CQL's types, and what can be done with their serialised values.
//!
//! Values travel through this crate as the bytes of the native protocol: validated once where they
//! enter, compared, turned into key components, text or JSON here. There is no enum of values;
//! a read hands bytes on without looking into them.
//!
//! What it is not: no schema (user types are resolved before they come here), no terms or
//! functions.
//!
//! Invariant: functions of this module never panic on bytes that do not fit their type; those that
//! need valid bytes treat others as unsigned bytes or answer with an error.
//!
//! Source: Apache Cassandra 5.0, packages `db.marshal` and `serializers`, and the native protocol
//! specification v5, read 2026-11.

mod class_name;
mod error;
mod limit;
mod name;
mod option;
mod wire;

use std::sync::Arc;

pub use class_name::{class_name, parse_class_name};
pub use error::{MarshalError, Result};
pub use limit::{
    TYPE_DEPTH_MAX, TYPE_PARTS_MAX, VECTOR_DIMENSION_MAX, check_limits, check_limits_within,
    too_deep,
};
pub use name::{maybe_quote, native_by_name};
pub use option::{put_type_option, take_type_option};
pub use wire::{
    Elements, Entries, Fields, elements, entries, fields, put_cell, put_collection, put_field,
    put_tuple, take_vint, unsigned_vint, vector_elements,
};

/// The type of a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CqlType {
    /// A type without parameters.
    Native(Native),
    /// A list; live ones have a cell per element.
    List {
        /// Type of its elements.
        element: Arc<CqlType>,
        /// Written and read as one value.
        frozen: bool,
    },
    /// A set; live ones have a cell per member.
    Set {
        /// Type of its members.
        element: Arc<CqlType>,
        /// Written and read as one value.
        frozen: bool,
    },
    /// A map; live ones have a cell per entry.
    Map {
        /// Type of its keys.
        key: Arc<CqlType>,
        /// Type of its values.
        value: Arc<CqlType>,
        /// Written and read as one value.
        frozen: bool,
    },
    /// A tuple; always one value.
    Tuple(Arc<[CqlType]>),
    /// A user type; live ones have a cell per field.
    User {
        /// The definition when the type was resolved.
        definition: Arc<UserType>,
        /// Written and read as one value.
        frozen: bool,
    },
    /// A fixed number of elements, none of them null; always one value.
    Vector {
        /// Type of its elements.
        element: Arc<CqlType>,
        /// The number of elements.
        dimension: u32,
    },
    /// A class that has no other form here; its values are bytes.
    Custom(Arc<str>),
}

/// The types without parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Native {
    /// Text of bytes below 128.
    Ascii,
    /// 64 bits, signed.
    Bigint,
    /// Bytes.
    Blob,
    /// One byte.
    Boolean,
    /// 64 bits, added to.
    Counter,
    /// Days, 2^31 standing for 1970-01-01.
    Date,
    /// Scale and unscaled integer.
    Decimal,
    /// 64 bits, IEEE.
    Double,
    /// Months, days and nanoseconds.
    Duration,
    /// No bytes at all (compact tables without a value column).
    Empty,
    /// 32 bits, IEEE.
    Float,
    /// 4 or 16 bytes.
    Inet,
    /// 32 bits, signed.
    Int,
    /// 16 bits, signed.
    Smallint,
    /// UTF-8.
    Text,
    /// Nanoseconds since midnight.
    Time,
    /// Milliseconds since the Unix epoch.
    Timestamp,
    /// A UUID of version 1.
    Timeuuid,
    /// 8 bits, signed.
    Tinyint,
    /// 16 bytes.
    Uuid,
    /// An integer of any size.
    Varint,
}

/// A user type's definition.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UserType {
    /// The keyspace it belongs to.
    pub keyspace: Arc<str>,
    /// The name.
    pub name: Arc<str>,
    /// Names and types of its fields, in order.
    pub fields: Vec<(Arc<str>, CqlType)>,
}

impl UserType {
    /// Returns the place and type of the field called `name`.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<(usize, &CqlType)> {
        self.fields
            .iter()
            .enumerate()
            .find(|(_, (own, _))| &**own == name)
            .map(|(at, (_, field))| (at, field))
    }
}

/// Shorthands for the types that this crate names often.
#[allow(non_upper_case_globals, missing_docs, reason = "they read as the variants they stand for")]
impl CqlType {
    pub const Ascii: Self = Self::Native(Native::Ascii);
    pub const Bigint: Self = Self::Native(Native::Bigint);
    pub const Blob: Self = Self::Native(Native::Blob);
    pub const Boolean: Self = Self::Native(Native::Boolean);
    pub const Counter: Self = Self::Native(Native::Counter);
    pub const Date: Self = Self::Native(Native::Date);
    pub const Decimal: Self = Self::Native(Native::Decimal);
    pub const Double: Self = Self::Native(Native::Double);
    pub const Duration: Self = Self::Native(Native::Duration);
    pub const Empty: Self = Self::Native(Native::Empty);
    pub const Float: Self = Self::Native(Native::Float);
    pub const Inet: Self = Self::Native(Native::Inet);
    pub const Int: Self = Self::Native(Native::Int);
    pub const Smallint: Self = Self::Native(Native::Smallint);
    pub const Text: Self = Self::Native(Native::Text);
    pub const Time: Self = Self::Native(Native::Time);
    pub const Timestamp: Self = Self::Native(Native::Timestamp);
    pub const Timeuuid: Self = Self::Native(Native::Timeuuid);
    pub const Tinyint: Self = Self::Native(Native::Tinyint);
    pub const Uuid: Self = Self::Native(Native::Uuid);
    pub const Varint: Self = Self::Native(Native::Varint);
}

impl CqlType {
    /// Creates a live list.
    #[must_use]
    pub fn list(element: Self) -> Self {
        Self::List { element: Arc::new(element), frozen: false }
    }

    /// Creates a live set.
    #[must_use]
    pub fn set(element: Self) -> Self {
        Self::Set { element: Arc::new(element), frozen: false }
    }

    /// Creates a live map.
    #[must_use]
    pub fn map(key: Self, value: Self) -> Self {
        Self::Map { key: Arc::new(key), value: Arc::new(value), frozen: false }
    }

    /// Creates a tuple of these fields.
    #[must_use]
    pub fn tuple(fields: Vec<Self>) -> Self {
        Self::Tuple(fields.into())
    }

    /// Creates a vector.
    #[must_use]
    pub fn vector(element: Self, dimension: u32) -> Self {
        Self::Vector { element: Arc::new(element), dimension }
    }

    /// Returns the type with itself and everything in it frozen.
    #[must_use]
    pub fn freeze(&self) -> Self {
        let inner = |inner: &Arc<Self>| Arc::new(inner.freeze());
        match self {
            Self::Native(_) | Self::Custom(_) => self.clone(),
            Self::List { element, .. } => Self::List { element: inner(element), frozen: true },
            Self::Set { element, .. } => Self::Set { element: inner(element), frozen: true },
            Self::Map { key, value, .. } => {
                Self::Map { key: inner(key), value: inner(value), frozen: true }
            }
            Self::Tuple(fields) => Self::Tuple(fields.iter().map(Self::freeze).collect()),
            Self::User { definition: udt, .. } => {
                let fields =
                    udt.fields.iter().map(|(name, field)| (name.clone(), field.freeze())).collect();
                let udt = UserType { fields, ..UserType::clone(udt) };
                Self::User { definition: Arc::new(udt), frozen: true }
            }
            Self::Vector { element, dimension } => {
                Self::Vector { element: inner(element), dimension: *dimension }
            }
        }
    }

    /// Returns true if it is a list, set or map, frozen or not.
    #[must_use]
    pub const fn is_collection(&self) -> bool {
        matches!(self, Self::List { .. } | Self::Set { .. } | Self::Map { .. })
    }

    /// Returns true if it is a user type, frozen or not.
    #[must_use]
    pub const fn is_udt(&self) -> bool {
        matches!(self, Self::User { .. })
    }

    /// Returns true if its values are kept in several cells.
    #[must_use]
    pub const fn is_multi_cell(&self) -> bool {
        matches!(
            self,
            Self::List { frozen: false, .. }
                | Self::Set { frozen: false, .. }
                | Self::Map { frozen: false, .. }
                | Self::User { frozen: false, .. }
        )
    }

    /// Returns true if it is a collection kept as one value.
    #[must_use]
    pub const fn is_frozen_collection(&self) -> bool {
        self.is_collection() && !self.is_multi_cell()
    }

    /// Returns true if it is a counter.
    #[must_use]
    pub const fn is_counter(&self) -> bool {
        matches!(self, Self::Native(Native::Counter))
    }

    /// Returns true if it is text of any kind.
    #[must_use]
    pub const fn is_string(&self) -> bool {
        matches!(self, Self::Native(Native::Ascii | Native::Text))
    }

    /// Returns true if it or a type in it is the user type `name` of `keyspace`.
    #[must_use]
    pub fn references(&self, keyspace: &str, name: &str) -> bool {
        self.any(&|inner| match inner {
            Self::User { definition: udt, .. } => &*udt.keyspace == keyspace && &*udt.name == name,
            _ => false,
        })
    }

    /// Returns true if it is or contains a duration.
    #[must_use]
    pub fn references_duration(&self) -> bool {
        match self {
            // As in the original, which does not look into vectors.
            Self::Vector { .. } => false,
            Self::Native(native) => *native == Native::Duration,
            Self::Custom(_) => false,
            Self::List { element, .. } | Self::Set { element, .. } => element.references_duration(),
            Self::Map { key, value, .. } => {
                key.references_duration() || value.references_duration()
            }
            Self::Tuple(fields) => fields.iter().any(Self::references_duration),
            Self::User { definition: udt, .. } => {
                udt.fields.iter().any(|(_, field)| field.references_duration())
            }
        }
    }

    /// Returns true if it is or contains a counter.
    #[must_use]
    pub fn references_counter(&self) -> bool {
        self.any(&Self::is_counter)
    }

    /// Returns true if it or any type in it satisfies `test`.
    pub fn any(&self, test: &dyn Fn(&Self) -> bool) -> bool {
        test(self)
            || match self {
                Self::Native(_) | Self::Custom(_) => false,
                Self::List { element, .. }
                | Self::Set { element, .. }
                | Self::Vector { element, .. } => element.any(test),
                Self::Map { key, value, .. } => key.any(test) || value.any(test),
                Self::Tuple(fields) => fields.iter().any(|field| field.any(test)),
                Self::User { definition: udt, .. } => {
                    udt.fields.iter().any(|(_, field)| field.any(test))
                }
            }
    }

    /// Returns how many bytes each value has that is neither null nor empty, where all have the
    /// same.
    ///
    /// These are the types whose vectors carry no lengths.
    #[must_use]
    pub fn fixed_size(&self) -> Option<usize> {
        match self {
            Self::Native(native) => native.fixed_size(),
            Self::Vector { element, dimension } => {
                let dimension = usize::try_from(*dimension).ok()?;
                element.fixed_size()?.checked_mul(dimension)
            }
            _ => None,
        }
    }

    /// Returns true if zero bytes are a value of the type, beside null.
    #[must_use]
    pub const fn allows_empty(&self) -> bool {
        !matches!(
            self,
            Self::Native(
                Native::Date | Native::Duration | Native::Smallint | Native::Time | Native::Tinyint
            ) | Self::Vector { .. }
        )
    }

    /// Returns true if zero bytes stand for no value (they read as null in functions and
    /// conditions), rather than being a value as in text.
    #[must_use]
    pub const fn empty_is_meaningless(&self) -> bool {
        !matches!(
            self,
            Self::Native(Native::Ascii | Native::Text | Native::Blob | Native::Empty)
                | Self::Custom(_)
                | Self::Tuple(_)
                | Self::User { .. }
                | Self::List { .. }
                | Self::Set { .. }
                | Self::Map { .. }
        )
    }

    /// Returns true if a value of type `other` may stand where this type is asked for as it is: the
    /// bytes mean the same.
    #[must_use]
    pub fn is_value_compatible_with(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        match (self, other) {
            (Self::Native(a), Self::Native(b)) => a.is_value_compatible_with(*b),
            (Self::Native(Native::Blob), _) => true,
            (Self::List { element: a, .. }, Self::List { element: b, .. })
            | (Self::Set { element: a, .. }, Self::Set { element: b, .. }) => {
                a.is_value_compatible_with(b)
            }
            (Self::Map { key: a, value: v, .. }, Self::Map { key: b, value: w, .. }) => {
                a == b && v.is_value_compatible_with(w)
            }
            (Self::Tuple(a), Self::Tuple(b)) => {
                a.len() >= b.len()
                    && a.iter().zip(b.iter()).all(|(a, b)| a.is_value_compatible_with(b))
            }
            (Self::Tuple(a), Self::User { definition, .. }) => {
                let fields = definition.fields.iter().map(|(_, field)| field);
                a.len() >= fields.len()
                    && a.iter().zip(fields).all(|(a, b)| a.is_value_compatible_with(b))
            }
            (Self::User { definition: a, .. }, Self::User { definition: b, .. }) => {
                a.keyspace == b.keyspace && a.name == b.name
            }
            (
                Self::Vector { element: a, dimension: n },
                Self::Vector { element: b, dimension: m },
            ) => n == m && a.is_value_compatible_with(b),
            _ => false,
        }
    }
}

impl Native {
    /// Works as [`CqlType::fixed_size`].
    const fn fixed_size(self) -> Option<usize> {
        match self {
            Self::Boolean => Some(1),
            Self::Int | Self::Float => Some(4),
            Self::Bigint | Self::Double | Self::Timestamp => Some(8),
            Self::Uuid | Self::Timeuuid => Some(16),
            _ => None,
        }
    }

    const fn is_value_compatible_with(self, other: Self) -> bool {
        matches!(
            (self, other),
            (Self::Blob, _)
                | (Self::Text, Self::Ascii)
                | (Self::Bigint, Self::Timestamp)
                | (Self::Timestamp, Self::Bigint)
                | (Self::Varint, Self::Int | Self::Bigint | Self::Timestamp)
                | (Self::Uuid, Self::Timeuuid)
                | (Self::Date | Self::Int, Self::Int)
                | (Self::Time | Self::Bigint, Self::Bigint)
        )
    }
}

impl From<Native> for CqlType {
    fn from(native: Native) -> Self {
        Self::Native(native)
    }
}
