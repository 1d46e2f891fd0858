//! Rows of one partition by their clustering columns.

use super::clustering::ClusteringValue;

/// Rows of one partition: equal leading clustering columns, then at most one range. Always one
/// contiguous range of keys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Span {
    /// Values of the leading columns.
    pub equal: Vec<ClusteringValue>,
    /// Smallest values of the following columns, in the order of the values (not of the store).
    pub lower: Option<SpanBound>,
    /// Largest values of the following columns.
    pub upper: Option<SpanBound>,
}

/// The end of a [`Span`] on one side. Several values are compared as a tuple; their columns must
/// lie in one direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpanBound {
    /// Values of the columns after the equal ones; fewer than the columns take in all that begin so.
    pub values: Vec<ClusteringValue>,
    /// True if they belong to the span.
    pub included: bool,
}

impl Span {
    /// Returns the whole partition.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// Returns the rows whose leading columns have these values.
    #[must_use]
    pub fn equal(values: Vec<ClusteringValue>) -> Self {
        Self { equal: values, ..Self::default() }
    }

    /// Returns true if nothing is restricted.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.equal.is_empty() && self.lower.is_none() && self.upper.is_none()
    }
}
