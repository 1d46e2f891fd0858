//! Values of attributes and columns.
//!
//! One type serves every face. It is not a wire form: what DynamoDB writes as `{"N": "1"}` and what
//! CQL sends as four bytes are both translated into it.
//!
//! Invariant: a [`Value::Set`] is sorted and has no duplicates; a [`Value::Number`] is in minimal
//! scale unless a face keeps the spelling on purpose.

mod arithmetic;
mod order;

use std::collections::BTreeMap;
use std::net::IpAddr;

use bytes::Bytes;
use num_bigint::BigInt;
use shelfmark_keycode::Decimal;

pub(crate) use arithmetic::Arithmetic;

/// A text that is read much more often than changed: up to 23 bytes are stored inline, and clones
/// of longer ones share memory.
pub type Text = smol_str::SmolStr;

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Present, and nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A 64-bit signed integer.
    Int(i64),
    /// An integer of any size.
    BigInt(BigInt),
    /// A decimal number of any precision.
    Number(Decimal),
    /// A 32-bit float.
    Float32(f32),
    /// A 64-bit float.
    Float(f64),
    /// Text.
    Text(Text),
    /// Bytes.
    Bytes(Bytes),
    /// A UUID of any version.
    Uuid([u8; 16]),
    /// Milliseconds since the Unix epoch.
    Timestamp(i64),
    /// Days since the Unix epoch.
    Date(i32),
    /// Nanoseconds since midnight.
    Time(i64),
    /// An internet address.
    Inet(IpAddr),
    /// Months, days and nanoseconds, which do not add up to each other.
    Duration {
        /// Months.
        months: i32,
        /// Days.
        days: i32,
        /// Nanoseconds.
        nanos: i64,
    },
    /// Values in order.
    List(Vec<Value>),
    /// Distinct values, sorted. Create with [`Value::set`].
    Set(Vec<Value>),
    /// Values by name.
    Map(BTreeMap<String, Value>),
    /// Values by value, sorted by key.
    Pairs(Vec<(Value, Value)>),
    /// A fixed number of fields, each of which may be absent.
    Tuple(Vec<Option<Value>>),
}

/// The variant of a [`Value`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "each is the variant of Value with that name")]
pub enum ValueKind {
    Null,
    Bool,
    Int,
    BigInt,
    Number,
    Float32,
    Float,
    Text,
    Bytes,
    Uuid,
    Timestamp,
    Date,
    Time,
    Inet,
    Duration,
    List,
    Set,
    Map,
    Pairs,
    Tuple,
}

impl Value {
    /// Creates text.
    #[must_use]
    pub fn text(text: impl Into<Text>) -> Self {
        Self::Text(text.into())
    }

    /// Creates a number from an integer.
    #[must_use]
    pub fn number(integer: i64) -> Self {
        Self::Number(Decimal::from(integer))
    }

    /// Creates a set: sorts the members and leaves duplicates out.
    #[must_use]
    pub fn set(mut members: Vec<Self>) -> Self {
        members.sort_by(|a, b| a.total_cmp(b));
        members.dedup_by(|a, b| a.total_cmp(b).is_eq());
        Self::Set(members)
    }

    /// Returns the variant.
    #[must_use]
    pub fn kind(&self) -> ValueKind {
        match self {
            Self::Null => ValueKind::Null,
            Self::Bool(_) => ValueKind::Bool,
            Self::Int(_) => ValueKind::Int,
            Self::BigInt(_) => ValueKind::BigInt,
            Self::Number(_) => ValueKind::Number,
            Self::Float32(_) => ValueKind::Float32,
            Self::Float(_) => ValueKind::Float,
            Self::Text(_) => ValueKind::Text,
            Self::Bytes(_) => ValueKind::Bytes,
            Self::Uuid(_) => ValueKind::Uuid,
            Self::Timestamp(_) => ValueKind::Timestamp,
            Self::Date(_) => ValueKind::Date,
            Self::Time(_) => ValueKind::Time,
            Self::Inet(_) => ValueKind::Inet,
            Self::Duration { .. } => ValueKind::Duration,
            Self::List(_) => ValueKind::List,
            Self::Set(_) => ValueKind::Set,
            Self::Map(_) => ValueKind::Map,
            Self::Pairs(_) => ValueKind::Pairs,
            Self::Tuple(_) => ValueKind::Tuple,
        }
    }

    /// Returns the text, if this is text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the number, if this is one.
    #[must_use]
    pub fn as_number(&self) -> Option<&Decimal> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the levels of nesting: 1 for a scalar, 2 for a list of scalars.
    ///
    /// Stops counting at `max + 1`, so it is safe on hostile data.
    #[must_use]
    pub fn depth(&self, max: usize) -> usize {
        if max == 0 {
            return 1;
        }
        let below = |values: &mut dyn Iterator<Item = &Self>| {
            values.map(|value| value.depth(max - 1)).max().unwrap_or(0)
        };
        1 + match self {
            Self::List(values) | Self::Set(values) => below(&mut values.iter()),
            Self::Map(map) => below(&mut map.values()),
            Self::Pairs(pairs) => below(&mut pairs.iter().flat_map(|(key, value)| [key, value])),
            Self::Tuple(fields) => below(&mut fields.iter().flatten()),
            _ => 0,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<Text> for Value {
    fn from(text: Text) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Value {
    fn from(integer: i64) -> Self {
        Self::Int(integer)
    }
}

impl From<bool> for Value {
    fn from(bool: bool) -> Self {
        Self::Bool(bool)
    }
}

#[cfg(test)]
mod tests;
