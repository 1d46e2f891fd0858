//! The pending table: writes that are queued and not yet published, in one layer per group.
//!
//! A layer is a group before it is written: its newest value per key, its sums of counters, and who
//! waits for it. The newest layer is filled by writers; the oldest is the one that the commit
//! thread writes. A reader of the newest state holds the layers that were pending when it began, so
//! it keeps seeing its moment after they are published and leave the table.
//!
//! Invariant: within a layer, a key is either in `values` or in `sums`, never in both; and the
//! values of a key carry rising commit numbers.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use bytes::Bytes;

use crate::contract::{CommitNumber, KeyRange, Write};

use super::written::bounds;

/// The values of one key within a layer.
pub(super) struct Values {
    /// The newest value and its commit; `None` is a deletion.
    pub(super) newest: (CommitNumber, Option<Bytes>),
    /// Older values, ascending. Only readers that began between two commits need them.
    older: Vec<(CommitNumber, Option<Bytes>)>,
}

impl Values {
    fn at(&self, upto: CommitNumber) -> Option<&Option<Bytes>> {
        if self.newest.0 <= upto {
            return Some(&self.newest.1);
        }
        self.older.iter().rev().find(|(commit, _)| *commit <= upto).map(|(_, value)| value)
    }
}

/// The writes of a layer.
#[derive(Default)]
pub(super) struct Writes {
    /// Values by key.
    pub(super) values: BTreeMap<Bytes, Values>,
    /// Deltas of counters, and the last commit that added to each.
    pub(super) sums: BTreeMap<Bytes, (CommitNumber, i64)>,
}

impl Writes {
    /// Adds the write of `key` by `commit`.
    pub(super) fn set(&mut self, commit: CommitNumber, key: Bytes, value: Option<Bytes>) {
        if !self.sums.is_empty() {
            self.sums.remove(&key);
        }
        match self.values.entry(key) {
            std::collections::btree_map::Entry::Vacant(place) => {
                place.insert(Values { newest: (commit, value), older: Vec::new() });
            }
            std::collections::btree_map::Entry::Occupied(mut place) => {
                let values = place.get_mut();
                let old = std::mem::replace(&mut values.newest, (commit, value));
                if old.0 < commit {
                    values.older.push(old);
                }
            }
        }
    }

    /// Adds `delta` to the counter at `key`, whose value was checked to be a counter.
    pub(super) fn add(&mut self, commit: CommitNumber, key: Bytes, delta: i64) {
        if let Some(values) = self.values.get(&key) {
            let old = values.newest.1.as_deref();
            let count = old.and_then(|value| Write::counter(value).ok()).unwrap_or(0);
            self.set(commit, key, Some(Write::counter_value(count.wrapping_add(delta))));
            return;
        }
        let sum = self.sums.entry(key).or_insert((commit, 0));
        *sum = (commit, sum.1.wrapping_add(delta));
    }

    /// Returns the last commit that wrote `key` in this layer and the kind of its write.
    pub(super) fn last(&self, key: &[u8]) -> Option<(CommitNumber, Last<'_>)> {
        if let Some(values) = self.values.get(key) {
            let last = match &values.newest.1 {
                Some(value) => Last::Value(value),
                None => Last::Deleted,
            };
            return Some((values.newest.0, last));
        }
        self.sums.get(key).map(|(commit, _)| (*commit, Last::Added))
    }
}

/// The result of a key's last write in a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Last<'a> {
    /// A put of this value.
    Value(&'a Bytes),
    /// A deletion.
    Deleted,
    /// An addition to a counter; its value is computed when the group is written.
    Added,
}

/// The pending writes of one group.
#[derive(Default)]
pub(super) struct Layer {
    writes: RwLock<Writes>,
}

impl Layer {
    /// Locks the layer for reading.
    pub(super) fn read(&self) -> RwLockReadGuard<'_, Writes> {
        // A panic between two steps of one commit can only leave a commit that nobody was told of.
        self.writes.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the layer for writing; done under the queue's lock, in commit order.
    pub(super) fn write(&self) -> RwLockWriteGuard<'_, Writes> {
        self.writes.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the newest write of `key` by commits up to `upto`: `None` if there is none in this
    /// layer, else a value or a deletion.
    pub(super) fn get(&self, key: &[u8], upto: CommitNumber) -> Option<Option<Bytes>> {
        self.read().values.get(key)?.at(upto).cloned()
    }

    /// Returns a key of `range` that a commit above `base` wrote or added to in this layer.
    pub(super) fn written_since(&self, range: &KeyRange, base: CommitNumber) -> Option<Bytes> {
        let bounds = bounds(range)?;
        let writes = self.read();
        let mut values = writes.values.range::<[u8], _>(bounds);
        if let Some((key, _)) = values.find(|(_, values)| values.newest.0 > base) {
            return Some(key.clone());
        }
        let mut sums = writes.sums.range::<[u8], _>(bounds);
        sums.find(|(_, (commit, _))| *commit > base).map(|(key, _)| key.clone())
    }

    /// Returns every key that was written or added to in this layer, ascending, with the last
    /// commit that did.
    pub(super) fn written(&self) -> Vec<(Bytes, CommitNumber)> {
        let writes = self.read();
        let values = writes.values.iter().map(|(key, values)| (key.clone(), values.newest.0));
        let mut keys: Vec<(Bytes, CommitNumber)> = values.collect();
        if !writes.sums.is_empty() {
            keys.extend(writes.sums.iter().map(|(key, (commit, _))| (key.clone(), *commit)));
            keys.sort_unstable();
        }
        keys
    }

    /// Adds to `rows` the newest writes of the keys of `range` by commits up to `upto`.
    pub(super) fn collect(
        &self,
        range: &KeyRange,
        upto: CommitNumber,
        rows: &mut BTreeMap<Bytes, Option<Bytes>>,
    ) {
        let Some(bounds) = bounds(range) else { return };
        let writes = self.read();
        for (key, values) in writes.values.range::<[u8], _>(bounds) {
            if let Some(value) = values.at(upto) {
                rows.insert(key.clone(), value.clone());
            }
        }
    }
}
