//! The ranges that a transaction has read, merged into as few as possible.
//!
//! A range is read page by page, so most insertions lengthen a range that is there.
//!
//! Invariant: the ranges are disjoint and do not touch each other.

use std::collections::BTreeMap;
use std::ops::Bound;

use bytes::Bytes;

use crate::contract::KeyRange;

/// A set of keys, stored as disjoint ranges.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(inserted: &[(&'static str, Option<&'static str>)], expected: &[&str]) {
        let mut set = RangeSet::default();
        for (start, end) in inserted {
            set.insert(KeyRange { start: (*start).into(), end: end.map(Into::into) });
        }
        let text = |bytes: &Bytes| String::from_utf8_lossy(bytes).into_owned();
        let told: Vec<String> = set
            .into_ranges()
            .iter()
            .map(|range| {
                format!(
                    "{}..{}",
                    text(&range.start),
                    range.end.as_ref().map_or_else(String::new, text)
                )
            })
            .collect();
        assert_eq!(told, expected, "{inserted:?}");
    }

    #[test]
    fn ranges_that_touch_become_one() {
        check(&[("a", Some("c")), ("c", Some("e"))], &["a..e"]);
        check(&[("c", Some("e")), ("a", Some("c"))], &["a..e"]);
        check(&[("a", Some("c")), ("d", Some("e"))], &["a..c", "d..e"]);
        check(&[("a", Some("f")), ("b", Some("c"))], &["a..f"]);
        check(&[("b", Some("c")), ("d", Some("e")), ("a", Some("f"))], &["a..f"]);
        check(&[("b", Some("d")), ("a", Some("c")), ("f", Some("g"))], &["a..d", "f..g"]);
        check(&[("m", None), ("a", Some("c")), ("z", Some("zz"))], &["a..c", "m.."]);
        check(&[("m", Some("n")), ("b", None)], &["b.."]);
        check(&[("c", Some("c")), ("d", Some("b"))], &[]);
    }
}
