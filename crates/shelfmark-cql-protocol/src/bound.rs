//! Bound values: what a client sends for the bind markers of a statement.

use bytes::Bytes;

/// A bound value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BoundValue {
    /// Deletes, or compares as null.
    Null,
    /// Leaves the column alone.
    Unset,
    /// The serialised value; may be empty.
    Bytes(Bytes),
}

/// The bound values of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Values {
    /// The values of the markers, in order.
    Positional(Vec<BoundValue>),
    /// By the markers' names.
    Named(Vec<(String, BoundValue)>),
}

impl Default for Values {
    fn default() -> Self {
        Self::Positional(Vec::new())
    }
}
