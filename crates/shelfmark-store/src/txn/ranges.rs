//! The ranges that a transaction has read, as few as they can be said with.
//!
//! A range is read page by page, so most insertions lengthen a range that is there.
//!
//! Invariant: the ranges are disjoint and do not touch each other.

use std::collections::BTreeMap;
use std::ops::Bound;

use bytes::Bytes;

use crate::contract::KeyRange;

/// A set of keys, made of ranges.
#[derive(Debug, Default)]
pub(super) struct RangeSet {
    /// Ends by starts; no end is the end of the store.
    ends: BTreeMap<Bytes, Option<Bytes>>,
}

impl RangeSet {
    /// Adds the keys of `range`.
    pub(super) fn insert(&mut self, range: KeyRange) {
        if range.is_empty() {
            return;
        }
        let KeyRange { mut start, mut end } = range;
        // The one that begins before, if it reaches this one, and all that begin inside.
        let before = self.ends.range::<Bytes, _>((Bound::Unbounded, Bound::Included(&start)));
        if let Some((first, reach)) = before.last()
            && reach.as_ref().is_none_or(|reach| *reach >= start)
        {
            start = first.clone();
        }
        loop {
            let next = self.ends.range::<Bytes, _>((Bound::Included(&start), Bound::Unbounded));
            let Some((first, reach)) =
                next.map(|(first, reach)| (first.clone(), reach.clone())).next()
            else {
                break;
            };
            if end.as_ref().is_some_and(|end| first > *end) {
                break;
            }
            self.ends.remove(&first);
            end = match (end, reach) {
                (Some(end), Some(reach)) => Some(end.max(reach)),
                _ => None,
            };
        }
        self.ends.insert(start, end);
    }

    /// Returns true if no key is in the set.
    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the ranges, ascending.
    pub(super) fn into_ranges(self) -> Vec<KeyRange> {
        self.ends.into_iter().map(|(start, end)| KeyRange { start, end }).collect()
    }
}
