//! Compares values in two ways: by a total order for sets and sorting, and by the order of
//! conditions, which is undefined across kinds.

use std::cmp::Ordering;

use super::Value;

impl Value {
    /// Compares in a total order: by kind first, then by value. Floats compare as `total_cmp`.
    #[must_use]
    pub fn total_cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b))
            | (Self::Timestamp(a), Self::Timestamp(b))
            | (Self::Time(a), Self::Time(b)) => a.cmp(b),
            (Self::BigInt(a), Self::BigInt(b)) => a.cmp(b),
            (Self::Number(a), Self::Number(b)) => a.cmp(b),
            (Self::Float32(a), Self::Float32(b)) => a.total_cmp(b),
            (Self::Float(a), Self::Float(b)) => a.total_cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            (Self::Uuid(a), Self::Uuid(b)) => a.cmp(b),
            (Self::Date(a), Self::Date(b)) => a.cmp(b),
            (Self::Inet(a), Self::Inet(b)) => a.cmp(b),
            (
                Self::Duration { months, days, nanos },
                Self::Duration { months: other_months, days: other_days, nanos: other_nanos },
            ) => (months, days, nanos).cmp(&(other_months, other_days, other_nanos)),
            (Self::List(a), Self::List(b)) | (Self::Set(a), Self::Set(b)) => sequence(a, b),
            (Self::Map(a), Self::Map(b)) => a
                .iter()
                .zip(b)
                .map(|((ka, va), (kb, vb))| ka.cmp(kb).then_with(|| va.total_cmp(vb)))
                .find(|order| order.is_ne())
                .unwrap_or_else(|| a.len().cmp(&b.len())),
            (Self::Pairs(a), Self::Pairs(b)) => a
                .iter()
                .zip(b)
                .map(|((ka, va), (kb, vb))| ka.total_cmp(kb).then_with(|| va.total_cmp(vb)))
                .find(|order| order.is_ne())
                .unwrap_or_else(|| a.len().cmp(&b.len())),
            (Self::Tuple(a), Self::Tuple(b)) => a
                .iter()
                .zip(b)
                .map(|(a, b)| match (a, b) {
                    (Some(a), Some(b)) => a.total_cmp(b),
                    _ => a.is_some().cmp(&b.is_some()),
                })
                .find(|order| order.is_ne())
                .unwrap_or_else(|| a.len().cmp(&b.len())),
            _ => self.kind().cmp(&other.kind()),
        }
    }

    /// Compares two values of one ordered kind: numbers, texts, bytes, times; `None` across kinds
    /// and for kinds without an order (booleans, lists, maps, sets).
    #[must_use]
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match self {
            Self::Null
            | Self::Bool(_)
            | Self::Duration { .. }
            | Self::List(_)
            | Self::Set(_)
            | Self::Map(_)
            | Self::Pairs(_)
            | Self::Tuple(_) => None,
            _ if self.kind() == other.kind() => Some(self.total_cmp(other)),
            _ => None,
        }
    }

    /// Returns true if both are the same value: numbers by value, sets without order.
    #[must_use]
    pub fn equals(&self, other: &Self) -> bool {
        self.kind() == other.kind() && self.total_cmp(other).is_eq()
    }
}

fn sequence(a: &[Value], b: &[Value]) -> Ordering {
    a.iter()
        .zip(b)
        .map(|(a, b)| a.total_cmp(b))
        .find(|order| order.is_ne())
        .unwrap_or_else(|| a.len().cmp(&b.len()))
}
