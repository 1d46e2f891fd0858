//! The ordered map of version chains, and its garbage collection.
//!
//! What it is not: locked. The store wraps it; every method here runs under that lock and is short:
//! a page, a commit, or a bounded number of keys.
//!
//! Invariant: a reader at [`Versions::watermark`] or later sees exactly its moment. Readers below it
//! are refused, because what they would see may be gone.
//!
//! How it forgets: a write prunes the key it touches. A key that still holds something old when
//! its commit ends (an older version that a snapshot may read, or a deletion that a validation may
//! need) is queued, and the queue is worked off as snapshots close, a bounded number of keys per
//! commit and always more than a commit can add.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

use bytes::Bytes;

use super::chain::{Chain, Version};
use super::snapshot_tracker::Readers;
use crate::contract::{CommitNumber, Direction, KeyRange, Page, Row, ScanLimits};

/// Keys that a page examines before it ends short, so that deleted ranges do not hold the lock.
const KEYS_LOOKED_AT_MAX: usize = 8192;

/// A key and its new value; `None` deletes it.
pub(super) type Effect = (Bytes, Option<Bytes>);

#[derive(Debug, Default)]
pub(super) struct Versions {
    rows: BTreeMap<Bytes, Chain>,
    /// Keys with garbage, by the commit from which on it may be removed.
    garbage: VecDeque<(CommitNumber, Bytes)>,
    watermark: CommitNumber,
    held_bytes: usize,
    written_bytes: u64,
    is_closed: bool,
}

impl Versions {
    /// Returns the watermark: the oldest commit that can still be read.
    pub(super) fn watermark(&self) -> CommitNumber {
        self.watermark
    }

    /// Returns the bytes of all keys and of all versions of their values.
    pub(super) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// Returns the bytes written by all commits.
    pub(super) fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// Returns the value of `key` as of `commit`.
    pub(super) fn at(&self, key: &[u8], commit: CommitNumber) -> Option<&Bytes> {
        self.rows.get(key)?.at(commit)
    }

    /// Returns the newest value of `key`.
    pub(super) fn newest(&self, key: &[u8]) -> Option<&Bytes> {
        self.rows.get(key)?.newest()
    }

    /// Returns true if `key` was written after `commit`, which is not below the watermark.
    pub(super) fn is_written_since(&self, key: &[u8], commit: CommitNumber) -> bool {
        self.rows.get(key).is_some_and(|chain| chain.written_at() > commit)
    }

    /// Returns a key of `range` that was written after `commit`, which is not below the watermark.
    ///
    /// Cost: looks at every key of the range.
    pub(super) fn written_since(&self, range: &KeyRange, commit: CommitNumber) -> Option<Bytes> {
        if range.is_empty() {
            return None;
        }
        let mut rows = self.rows.range::<[u8], _>(bounds(range));
        rows.find(|(_, chain)| chain.written_at() > commit).map(|(key, _)| key.clone())
    }

    /// Returns rows of `range` as of `commit`, until a limit is met.
    pub(super) fn page(
        &self,
        commit: CommitNumber,
        range: &KeyRange,
        direction: Direction,
        limits: ScanLimits,
    ) -> Page {
        if range.is_empty() {
            return Page::default();
        }
        let rows = self.rows.range::<[u8], _>(bounds(range));
        match direction {
            Direction::Ascending => fill(rows, commit, range, direction, limits),
            Direction::Descending => fill(rows.rev(), commit, range, direction, limits),
        }
    }

    /// Writes the effects of the newest commit, `bytes` long, and removes the versions of its keys
    /// that none of `readers` can see.
    pub(super) fn apply(&mut self, effects: Vec<Effect>, bytes: u64, readers: &Readers) {
        self.watermark = self.watermark.max(readers.watermark());
        self.written_bytes = self.written_bytes.saturating_add(bytes);
        // More than the commit can add, so the queue shrinks once snapshots close.
        let work = effects.len() * 2 + 16;
        for (key, value) in effects {
            self.write(key, value, readers);
        }
        self.collect_garbage(readers, work);
    }

    fn write(&mut self, key: Bytes, value: Option<Bytes>, readers: &Readers) {
        let number = readers.published();
        let added = value.as_ref().map_or(0, Bytes::len);
        let version = Version { commit: number, value };
        let Some(chain) = self.rows.get_mut(key.as_ref()) else {
            let mut chain = Chain::new(version);
            if !chain.is_absent(readers.watermark()) {
                if !chain.has_no_garbage() {
                    chain.is_queued = true;
                    self.garbage.push_back((number, key.clone()));
                }
                self.held_bytes += added + key.len();
                self.rows.insert(key, chain);
            }
            return;
        };
        let freed = chain.push(version) + chain.prune(readers);
        self.held_bytes = (self.held_bytes + added).saturating_sub(freed);
        if chain.is_absent(readers.watermark()) {
            self.held_bytes = self.held_bytes.saturating_sub(key.len());
            self.rows.remove(key.as_ref());
        } else if !chain.has_no_garbage() && !chain.is_queued {
            chain.is_queued = true;
            self.garbage.push_back((number, key));
        }
    }

    /// Removes the versions that none of `readers` can see, for at most `keys_max` keys of the
    /// queue, and returns true if more can be removed now.
    pub(super) fn collect_garbage(&mut self, readers: &Readers, keys_max: usize) -> bool {
        let watermark = readers.watermark();
        self.watermark = self.watermark.max(watermark);
        for _ in 0..keys_max {
            if self.garbage.front().is_none_or(|(number, _)| *number > watermark) {
                break;
            }
            let Some((_, key)) = self.garbage.pop_front() else { break };
            // A key may have been removed since; then there is nothing to forget.
            let Some(chain) = self.rows.get_mut(key.as_ref()) else { continue };
            self.held_bytes = self.held_bytes.saturating_sub(chain.prune(readers));
            chain.is_queued = !chain.has_no_garbage();
            if chain.is_absent(watermark) {
                self.held_bytes = self.held_bytes.saturating_sub(key.len());
                self.rows.remove(key.as_ref());
            } else if chain.is_queued {
                self.garbage.push_back((readers.published(), key));
            }
        }
        self.garbage.front().is_some_and(|(number, _)| *number <= watermark)
    }

    /// Removes up to `keys_max` keys of `range` with all their versions, and returns them for the
    /// caller to drop outside the lock; `None` when the range is empty.
    pub(super) fn remove_range(
        &mut self,
        range: &KeyRange,
        keys_max: usize,
    ) -> Vec<(Bytes, Chain)> {
        if range.is_empty() {
            return Vec::new();
        }
        let rows = self.rows.range::<[u8], _>(bounds(range));
        let keys: Vec<Bytes> = rows.take(keys_max).map(|(key, _)| key.clone()).collect();
        let removed: Vec<(Bytes, Chain)> =
            keys.iter().filter_map(|key| self.rows.remove_entry(key.as_ref())).collect();
        let bytes: usize = removed.iter().map(|(key, chain)| key.len() + chain.bytes()).sum();
        self.held_bytes = self.held_bytes.saturating_sub(bytes);
        removed
    }

    /// Calls `visit` with up to `keys_max` keys of `range`, ascending, visible or not, and returns
    /// the rest of the range, or `None` when it is done.
    pub(super) fn visit_keys(
        &self,
        range: &KeyRange,
        keys_max: usize,
        mut visit: impl FnMut(&Bytes),
    ) -> Option<KeyRange> {
        if range.is_empty() {
            return None;
        }
        let mut last = None;
        for (key, _) in self.rows.range::<[u8], _>(bounds(range)).take(keys_max) {
            visit(key);
            last = Some(key);
        }
        last.map(|key| range.after(key, Direction::Ascending))
    }

    /// Removes everything and returns it, for the caller to drop outside the lock; later calls
    /// answer nothing.
    pub(super) fn close(&mut self) -> Self {
        std::mem::replace(self, Self { is_closed: true, ..Self::default() })
    }

    /// Returns true if [`Versions::close`] was called.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }
}

fn bounds(range: &KeyRange) -> (Bound<&[u8]>, Bound<&[u8]>) {
    let end = range.end.as_ref().map_or(Bound::Unbounded, |end| Bound::Excluded(end.as_ref()));
    (Bound::Included(range.start.as_ref()), end)
}

fn fill<'a>(
    chains: impl Iterator<Item = (&'a Bytes, &'a Chain)>,
    commit: CommitNumber,
    range: &KeyRange,
    direction: Direction,
    limits: ScanLimits,
) -> Page {
    let mut page = Page::default();
    let mut bytes = 0;
    let mut chains = chains.peekable();
    let mut looked_at = 0;
    while let Some((key, chain)) = chains.next() {
        looked_at += 1;
        if let Some(value) = chain.at(commit) {
            let value = if limits.keys_only { Bytes::new() } else { value.clone() };
            bytes += key.len() + value.len();
            page.rows.push(Row { key: key.clone(), value });
        }
        let full = page.rows.len() >= limits.rows_max.max(1) || bytes >= limits.bytes_max;
        let met = full && !page.rows.is_empty();
        if (met || looked_at >= KEYS_LOOKED_AT_MAX) && chains.peek().is_some() {
            page.next = Some(range.after(key, direction));
            return page;
        }
        if met {
            return page;
        }
    }
    page
}
