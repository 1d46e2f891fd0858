//! Remembers ranges that hold nothing but tombstones, so that scans skip them.
//!
//! A deletion stays in the tree until tables are merged, and a scan that begins in front of a million
//! of them steps over each: the head of a queue would become slower with every entry that is taken.
//! A scan that took long to find its first row leaves the stretch that it crossed here. What it is
//! not: a cache of rows; nothing here is needed for a right answer.
//!
//! Invariant: a usable gap holds no row at any moment from `since` on. The commit thread cuts a gap
//! off at a key that it writes, before the write is published. A gap becomes usable only when no group
//! is between these two steps and none of those that were published since the scan wrote into it.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;

use crate::contract::{Direction, KeyRange};

/// The time without a row after which a scan remembers the range that it crossed as a gap.
pub(super) const SLOW: Duration = Duration::from_micros(200);

/// Limits how many gaps are remembered; a forgotten one is found again by the next slow scan.
const GAPS_MAX: usize = 256;

/// The known gaps of one store.
#[derive(Default)]
pub(super) struct TombstoneGaps {
    /// Number of gaps, readable without the lock.
    count: AtomicUsize,
    /// True while a group is inserted into the tree and not yet published.
    inserting: AtomicBool,
    /// The gaps by first key; disjoint.
    gaps: Mutex<BTreeMap<Bytes, TombstoneGap>>,
}

struct TombstoneGap {
    /// The first key behind it; `None` at the end of the store.
    end: Option<Bytes>,
    /// The first read position that may use the gap; `None` until that was checked.
    since: Option<u64>,
}

impl TombstoneGap {
    fn reaches(&self, key: &[u8]) -> bool {
        self.end.as_ref().is_none_or(|end| key < end.as_ref())
    }
}

impl TombstoneGaps {
    /// Returns the rest of `range` behind the gap that it begins in, for a scan at `position`.
    pub(super) fn step_over(
        &self,
        range: &KeyRange,
        direction: Direction,
        position: u64,
    ) -> Option<KeyRange> {
        if self.count.load(Ordering::Acquire) == 0 || range.is_empty() {
            return None;
        }
        let gaps = self.lock();
        let (start, gap) = match direction {
            Direction::Ascending => last_upto(&gaps, Bound::Included(&range.start))?,
            Direction::Descending => match &range.end {
                Some(end) => last_upto(&gaps, Bound::Excluded(end))?,
                None => gaps.last_key_value()?,
            },
        };
        if gap.since.is_none_or(|since| position < since) {
            return None;
        }
        match direction {
            Direction::Ascending if gap.reaches(&range.start) => {
                let rest = gap.end.clone().map(|start| KeyRange { start, end: range.end.clone() });
                Some(rest.unwrap_or_else(|| nothing(range)))
            }
            Direction::Descending if ends_within(range, gap) => {
                let end = start.clone().max(range.start.clone());
                Some(KeyRange { start: range.start.clone(), end: Some(end) })
            }
            Direction::Ascending | Direction::Descending => None,
        }
    }

    /// Adds a range in which a scan found no row. It is not used before [`TombstoneGaps::allow`],
    /// which may be called if this returns true; otherwise a group was just being inserted.
    pub(super) fn enter(&self, stretch: &KeyRange) -> bool {
        if stretch.is_empty() {
            return false;
        }
        let mut gaps = self.lock();
        if gaps.len() >= GAPS_MAX {
            gaps.pop_first();
        }
        remove_within(&mut gaps, stretch);
        gaps.insert(stretch.start.clone(), TombstoneGap { end: stretch.end.clone(), since: None });
        // In this order, and the commit thread the other way round: one of the two sees the other.
        self.count.store(gaps.len(), Ordering::SeqCst);
        !self.inserting.load(Ordering::SeqCst)
    }

    /// Allows readers at `position` and later to use a range that was added, if nothing was written
    /// into it meanwhile, and joins it with usable neighbours.
    pub(super) fn allow(&self, stretch: &KeyRange, position: u64) {
        let mut gaps = self.lock();
        match gaps.get_mut(&stretch.start) {
            Some(gap) if gap.end == stretch.end => gap.since = Some(position),
            _ => return,
        }
        let before = last_upto(&gaps, Bound::Excluded(&stretch.start));
        if let Some((start, gap)) = before
            && gap.end.as_ref() == Some(&stretch.start)
            && let Some(since) = gap.since
        {
            let (start, since) = (start.clone(), since.max(position));
            gaps.remove(&stretch.start);
            gaps.insert(start, TombstoneGap { end: stretch.end.clone(), since: Some(since) });
        }
        self.count.store(gaps.len(), Ordering::Release);
    }

    /// Notes that a group is about to be inserted.
    pub(super) fn begin_insert(&self) {
        self.inserting.store(true, Ordering::SeqCst);
    }

    /// Notes that the group is published.
    pub(super) fn end_insert(&self) {
        self.inserting.store(false, Ordering::SeqCst);
    }

    /// Removes a range that was added and must not be used.
    pub(super) fn forget(&self, stretch: &KeyRange) {
        let mut gaps = self.lock();
        remove_within(&mut gaps, stretch);
        self.count.store(gaps.len(), Ordering::Release);
    }

    /// Shortens the gap that contains `key`, which is about to be written, so that it ends before
    /// the key.
    pub(super) fn written(&self, key: &[u8]) {
        if self.count.load(Ordering::SeqCst) == 0 {
            return;
        }
        let mut gaps = self.lock();
        let found = last_upto(&gaps, Bound::Included(key));
        if let Some((start, _)) = found.filter(|(_, gap)| gap.reaches(key)) {
            let start = start.clone();
            let gap = gaps.remove(&start);
            if let Some(TombstoneGap { since: since @ Some(_), .. }) = gap
                && start.as_ref() < key
            {
                gaps.insert(start, TombstoneGap { end: Some(Bytes::copy_from_slice(key)), since });
            }
            self.count.store(gaps.len(), Ordering::Release);
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Bytes, TombstoneGap>> {
        // A gap is entered or removed in one step.
        self.gaps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the last gap that begins at or before a key.
fn last_upto(
    gaps: &BTreeMap<Bytes, TombstoneGap>,
    upto: Bound<impl AsRef<[u8]>>,
) -> Option<(&Bytes, &TombstoneGap)> {
    let upto = upto.as_ref().map(AsRef::as_ref);
    gaps.range::<[u8], _>((Bound::Unbounded, upto)).next_back()
}

/// Removes the gaps that overlap a range.
fn remove_within(gaps: &mut BTreeMap<Bytes, TombstoneGap>, stretch: &KeyRange) {
    if let Some((start, gap)) = last_upto(gaps, Bound::Included(&stretch.start))
        && gap.reaches(&stretch.start)
    {
        let start = start.clone();
        gaps.remove(&start);
    }
    gaps.retain(|start, _| !stretch.contains(start));
}

/// Returns true if the last key of `range` lies in a gap that begins before the range's end.
fn ends_within(range: &KeyRange, gap: &TombstoneGap) -> bool {
    match (&range.end, &gap.end) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(end), Some(gap_end)) => end <= gap_end,
    }
}

fn nothing(range: &KeyRange) -> KeyRange {
    KeyRange { start: range.start.clone(), end: Some(range.start.clone()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: &'static str, end: &'static str) -> KeyRange {
        KeyRange::new(start, end)
    }

    fn stepped(gaps: &TombstoneGaps, range: &KeyRange, direction: Direction, at: u64) -> String {
        let text = |bytes: &Bytes| String::from_utf8_lossy(bytes).into_owned();
        match gaps.step_over(range, direction, at) {
            None => "as it was".to_owned(),
            Some(left) if left.is_empty() => "nothing".to_owned(),
            Some(KeyRange { start, end }) => {
                format!("{}..{}", text(&start), end.as_ref().map_or_else(String::new, text))
            }
        }
    }

    #[test]
    fn a_gap_is_used_once_it_is_allowed_and_until_it_is_written_into() {
        let (gaps, up) = (TombstoneGaps::default(), Direction::Ascending);
        assert!(gaps.enter(&range("b", "m")));
        assert_eq!(stepped(&gaps, &range("b", "z"), up, 10), "as it was");
        gaps.allow(&range("b", "m"), 7);
        assert_eq!(stepped(&gaps, &range("b", "z"), up, 6), "as it was", "an older moment");
        assert_eq!(stepped(&gaps, &range("b", "z"), up, 7), "m..z");
        assert_eq!(stepped(&gaps, &range("c", "z"), up, 7), "m..z");
        assert_eq!(stepped(&gaps, &range("c", "d"), up, 7), "nothing");
        assert_eq!(stepped(&gaps, &range("a", "z"), up, 7), "as it was", "it begins before");
        assert_eq!(stepped(&gaps, &range("m", "z"), up, 7), "as it was", "it begins behind");
        gaps.written(b"a");
        gaps.written(b"m");
        assert_eq!(stepped(&gaps, &range("b", "z"), up, 7), "m..z");
        gaps.written(b"f");
        assert_eq!(stepped(&gaps, &range("b", "z"), up, 7), "f..z");
        gaps.written(b"b");
        assert_eq!(stepped(&gaps, &range("b", "z"), up, 7), "as it was");
        assert!(gaps.enter(&range("b", "m")));
        gaps.written(b"c");
        gaps.allow(&range("b", "m"), 7);
        assert_eq!(stepped(&gaps, &range("b", "z"), up, 9), "as it was", "written into meanwhile");
        gaps.begin_insert();
        assert!(!gaps.enter(&range("b", "m")), "a group is between cutting and publishing");
        gaps.end_insert();
        assert!(gaps.enter(&range("b", "m")));
    }

    #[test]
    fn descending_scans_step_over_the_gap_at_their_end() {
        let (gaps, down) = (TombstoneGaps::default(), Direction::Descending);
        gaps.enter(&range("m", "t"));
        gaps.allow(&range("m", "t"), 1);
        assert_eq!(stepped(&gaps, &range("a", "t"), down, 1), "a..m");
        assert_eq!(stepped(&gaps, &range("a", "p"), down, 1), "a..m");
        assert_eq!(stepped(&gaps, &range("n", "p"), down, 1), "nothing");
        assert_eq!(stepped(&gaps, &range("a", "u"), down, 1), "as it was");
        assert_eq!(stepped(&gaps, &range("a", "m"), down, 1), "as it was");
        assert_eq!(stepped(&gaps, &KeyRange::from("a"), down, 1), "as it was");
        gaps.enter(&KeyRange::from("x"));
        gaps.allow(&KeyRange::from("x"), 1);
        assert_eq!(stepped(&gaps, &KeyRange::from("a"), down, 1), "a..x");
        assert_eq!(stepped(&gaps, &KeyRange::from("y"), Direction::Ascending, 1), "nothing");
    }

    #[test]
    fn gaps_grow_and_are_limited() {
        let (gaps, up) = (TombstoneGaps::default(), Direction::Ascending);
        for (stretch, position) in [(range("b", "f"), 3), (range("f", "k"), 5)] {
            gaps.enter(&stretch);
            gaps.allow(&stretch, position);
        }
        assert_eq!(stepped(&gaps, &range("b", "z"), up, 5), "k..z");
        assert_eq!(stepped(&gaps, &range("b", "z"), up, 4), "as it was");
        for n in 0..1_000 {
            let start = format!("x{n:04}");
            gaps.enter(&KeyRange::new(start.clone(), format!("{start}+")));
        }
        assert!(gaps.lock().len() <= GAPS_MAX);
        gaps.enter(&range("a", "zz"));
        assert_eq!(gaps.lock().len(), 1, "what is within goes");
    }
}
