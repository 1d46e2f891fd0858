//! Keys of items, and conditions on the sort key that are one contiguous range.

use crate::value::Value;

/// The primary key of an item: values of the partition key's and the sort key's columns, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// Partition key columns.
    pub partition: Vec<Value>,
    /// Sort key columns; empty in a table without a sort key.
    pub sort: Vec<Value>,
}

impl Key {
    /// Creates a key of one partition column and no sort key.
    #[must_use]
    pub fn partition(value: impl Into<Value>) -> Self {
        Self { partition: vec![value.into()], sort: Vec::new() }
    }

    /// Creates a key of one partition and one sort column.
    #[must_use]
    pub fn pair(partition: impl Into<Value>, sort: impl Into<Value>) -> Self {
        Self { partition: vec![partition.into()], sort: vec![sort.into()] }
    }
}

/// One end of a range.
#[derive(Debug, Clone, PartialEq)]
pub enum SortBound {
    /// The range is open at this end.
    Unbounded,
    /// The value belongs to the range.
    Included(Value),
    /// The value does not belong to the range.
    Excluded(Value),
}

/// A condition on the sort key: equal leading columns, then at most one range on the next column.
///
/// Always one contiguous range of the partition, whatever the directions of the columns.
#[derive(Debug, Clone, PartialEq)]
pub enum SortCondition {
    /// The leading columns equal these values (none: the whole partition).
    Equal(Vec<Value>),
    /// The leading columns equal `equal`, and the next column lies between two bounds.
    Range {
        /// Leading columns.
        equal: Vec<Value>,
        /// Smallest values of the next column.
        lower: SortBound,
        /// Largest values of the next column.
        upper: SortBound,
    },
    /// The leading columns equal `equal`, and the next column (text or bytes) begins with `prefix`.
    BeginsWith {
        /// Leading columns.
        equal: Vec<Value>,
        /// Text or bytes.
        prefix: Value,
    },
    /// The leading columns, as a tuple, lie between two bounds given as leading values.
    ///
    /// A bound of *n* values compares only the first *n* columns: including it includes every key
    /// that begins with it. The columns concerned must share one direction.
    TupleRange {
        /// Smallest tuples: values, and true if they belong to the range.
        lower: Option<(Vec<Value>, bool)>,
        /// Largest tuples: values, and true if they belong to the range.
        upper: Option<(Vec<Value>, bool)>,
    },
}

impl SortCondition {
    /// Creates the condition that every sort key meets.
    #[must_use]
    pub fn all() -> Self {
        Self::Equal(Vec::new())
    }

    /// Creates the condition that the sort column begins with this text.
    #[must_use]
    pub fn begins_with(prefix: impl Into<Value>) -> Self {
        Self::BeginsWith { equal: Vec::new(), prefix: prefix.into() }
    }

    /// Creates the condition that the sort column lies between these values, both included.
    #[must_use]
    pub fn between(lower: impl Into<Value>, upper: impl Into<Value>) -> Self {
        Self::Range {
            equal: Vec::new(),
            lower: SortBound::Included(lower.into()),
            upper: SortBound::Included(upper.into()),
        }
    }
}
