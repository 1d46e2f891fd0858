//! Constructs ranges of an ordered table.

use std::ops::RangeBounds;

use shelfmark_model::SortCondition;

use super::{OrderedTable, Range, span};
use crate::error::Result;
use crate::key::{KeyPrefix, OrderedKey};
use crate::reach::Reach;
use crate::record::Record;

impl<K: OrderedKey, V: Record, R: Reach> OrderedTable<K, V, R> {
    /// Returns everything, in table order.
    pub fn to_stream(&self) -> Range<K, V, R> {
        Range::new(self.clone(), vec![SortCondition::all()])
    }

    /// Returns the entries whose keys lie in `bounds`, in table order. Any mix of included, excluded
    /// and open bounds will do; the first bound is the one that comes first in the table, which for
    /// a descending part is the larger value.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the first bound comes after the second.
    pub fn range(&self, bounds: impl RangeBounds<K>) -> Result<Range<K, V, R>> {
        let lower = bounds.start_bound().map(OrderedKey::to_values);
        let upper = bounds.end_bound().map(OrderedKey::to_values);
        let conditions = span::conditions(&K::columns(), lower, upper)?;
        Ok(Range::new(self.clone(), conditions))
    }

    /// Works as [`OrderedTable::range`], over leading parts of the key: an included bound includes
    /// every key that begins with it.
    ///
    /// # Errors
    ///
    /// * As [`OrderedTable::range`].
    pub fn range_prefix<P: KeyPrefix<K>>(
        &self,
        bounds: impl RangeBounds<P>,
    ) -> Result<Range<K, V, R>> {
        let lower = bounds.start_bound().map(KeyPrefix::to_prefix);
        let upper = bounds.end_bound().map(KeyPrefix::to_prefix);
        let conditions = span::conditions(&K::columns(), lower, upper)?;
        Ok(Range::new(self.clone(), conditions))
    }

    /// Returns the entries from `lower` to `upper`, both included.
    ///
    /// # Errors
    ///
    /// * As [`OrderedTable::range`].
    pub fn range_closed(&self, lower: K, upper: K) -> Result<Range<K, V, R>> {
        self.range(lower..=upper)
    }

    /// Returns the entries whose keys begin with these parts.
    ///
    /// # Errors
    ///
    /// * Never; kept for symmetry with the other ranges.
    pub fn prefix<P: KeyPrefix<K>>(&self, parts: P) -> Result<Range<K, V, R>> {
        let condition = SortCondition::Equal(parts.to_prefix());
        Ok(Range::new(self.clone(), vec![condition]))
    }

    /// Returns the entries from `lower`, included, to the end of the table.
    ///
    /// # Errors
    ///
    /// * As [`OrderedTable::range`].
    pub fn from(&self, lower: K) -> Result<Range<K, V, R>> {
        self.range(lower..)
    }

    /// Returns the entries from the first key that begins with these parts, or follows them, to the
    /// end of the table.
    ///
    /// # Errors
    ///
    /// * As [`OrderedTable::range`].
    pub fn from_prefix<P: KeyPrefix<K>>(&self, parts: P) -> Result<Range<K, V, R>> {
        self.range_prefix(parts..)
    }

    /// Returns the entries whose first part, a text, begins with `text`.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the first part is no text.
    pub fn begins_with(&self, text: &str) -> Result<Range<K, V, R>> {
        span::begins_with(&K::columns(), Vec::new(), text)
            .map(|condition| Range::new(self.clone(), vec![condition]))
    }

    /// Returns the entries whose key begins with these parts and then with a text part that begins
    /// with `text`.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the part after them is no text.
    pub fn prefix_begins_with<P: KeyPrefix<K>>(
        &self,
        parts: P,
        text: &str,
    ) -> Result<Range<K, V, R>> {
        span::begins_with(&K::columns(), parts.to_prefix(), text)
            .map(|condition| Range::new(self.clone(), vec![condition]))
    }
}
