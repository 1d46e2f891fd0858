//! Keeps the keys that the newest groups wrote, to validate ranges against.
//!
//! A published group stays here as long as a reader holds a moment from before it, so every base
//! that a commit may name finds all groups since. Values are dropped soon after; keys and commit
//! numbers stay. What it is not: an index of the store. Queued groups are in the queue's layers.
//!
//! Invariant: every write of a published commit above `complete_above` is here.

use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use crate::contract::{CommitNumber, KeyRange};

use super::pending::Layer;

/// Groups that a validation examines per acquisition of the lock.
const GROUPS_PER_LOCK: usize = 64;

/// The keys of the groups that were published since the oldest pinned state.
#[derive(Default)]
pub(super) struct RecentWrites(Mutex<State>);

#[derive(Default)]
struct State {
    complete_above: CommitNumber,
    groups: VecDeque<Group>,
}

#[derive(Clone)]
struct Group {
    last_commit: CommitNumber,
    keys: Keys,
}

#[derive(Clone)]
enum Keys {
    /// The layer as it was published.
    Layer(Arc<Layer>),
    /// The keys, ascending, with the last commit that wrote each.
    Listed(Arc<[(Bytes, CommitNumber)]>),
}

impl Group {
    fn written_since(&self, range: &KeyRange, base: CommitNumber) -> Option<Bytes> {
        match &self.keys {
            Keys::Layer(layer) => layer.written_since(range, base),
            Keys::Listed(keys) => {
                let from = keys.partition_point(|(key, _)| *key < range.start);
                let mut within = keys.iter().skip(from).take_while(|(key, _)| range.contains(key));
                within.find(|(_, commit)| *commit > base).map(|(key, _)| key.clone())
            }
        }
    }
}

/// The result of validating ranges against the published groups.
pub(super) enum Found {
    /// No write since the base, up to and including this commit.
    Nothing {
        /// The last commit that was examined.
        upto: CommitNumber,
    },
    /// This key was written since the base.
    Key(Bytes),
    /// The base is older than the groups that are kept.
    TooOld,
}

impl RecentWrites {
    /// Creates an empty list after `commit`: no base can be older.
    pub(super) fn new(commit: CommitNumber) -> Self {
        Self(Mutex::new(State { complete_above: commit, groups: VecDeque::new() }))
    }

    /// Adds a group that is published now and ended with `last_commit`; `oldest` is the newest
    /// commit that the oldest pinned state includes, if there is one.
    ///
    /// Called under the queue's lock, so that a group is at every moment in the queue or here.
    pub(super) fn push(
        &self,
        layer: &Arc<Layer>,
        last_commit: CommitNumber,
        oldest: Option<CommitNumber>,
    ) {
        let mut state = self.lock();
        let Some(oldest) = oldest else {
            state.groups.clear();
            state.complete_above = last_commit;
            return;
        };
        let gone = state.groups.partition_point(|group| group.last_commit <= oldest);
        state.groups.drain(..gone);
        state.complete_above = state.complete_above.max(oldest);
        state.groups.push_back(Group { last_commit, keys: Keys::Layer(Arc::clone(layer)) });
    }

    /// Drops the values of the newest group, keeping its keys. Called once no lock is held.
    pub(super) fn keep_keys_only(&self) {
        let newest = self.lock().groups.back().cloned();
        let Some(Group { last_commit, keys: Keys::Layer(layer) }) = newest else { return };
        let keys: Arc<[(Bytes, CommitNumber)]> = layer.written().into();
        let mut state = self.lock();
        if let Some(group) = state.groups.back_mut()
            && group.last_commit == last_commit
        {
            group.keys = Keys::Listed(keys);
        }
    }

    /// Looks for a write to one of `ranges` by a commit above `base` and above `looked_upto`.
    ///
    /// Cost: a search per range and group since the base; the lock is released in between.
    pub(super) fn find(
        &self,
        ranges: &[KeyRange],
        base: CommitNumber,
        looked_upto: CommitNumber,
    ) -> Found {
        let mut upto = base.max(looked_upto);
        loop {
            let state = self.lock();
            if base < state.complete_above {
                return Found::TooOld;
            }
            let from = state.groups.partition_point(|group| group.last_commit <= upto);
            let some: Vec<Group> =
                state.groups.iter().skip(from).take(GROUPS_PER_LOCK).cloned().collect();
            drop(state);
            let Some(last) = some.last() else { return Found::Nothing { upto } };
            upto = last.last_commit;
            for group in &some {
                let key = ranges.iter().find_map(|range| group.written_since(range, base));
                if let Some(key) = key {
                    return Found::Key(key);
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every step leaves the groups whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A range as the bounds of an ordered map.
pub(super) type Bounds<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

/// Converts `range` to the bounds of an ordered map; `None` if it is empty.
pub(super) fn bounds(range: &KeyRange) -> Option<Bounds<'_>> {
    let end = range.end.as_ref().map_or(Bound::Unbounded, |end| Bound::Excluded(end.as_ref()));
    (!range.is_empty()).then_some((Bound::Included(range.start.as_ref()), end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(commit: CommitNumber, keys: &[&'static str]) -> Arc<Layer> {
        let layer = Arc::new(Layer::default());
        for key in keys {
            layer.write().set(commit, Bytes::from_static(key.as_bytes()), None);
        }
        layer.write().add(commit, Bytes::from_static(b"sum"), 1);
        layer
    }

    fn found(writes: &RecentWrites, start: &'static str, end: &'static str, base: u64) -> String {
        match writes.find(&[KeyRange::new(start, end)], base, base) {
            Found::Nothing { upto } => format!("nothing up to {upto}"),
            Found::Key(key) => String::from_utf8_lossy(&key).into_owned(),
            Found::TooOld => "too old".to_owned(),
        }
    }

    /// Both forms of a group answer alike.
    #[test]
    fn a_group_is_searched_as_a_layer_and_as_keys() {
        for keys_only in [false, true] {
            let writes = RecentWrites::new(10);
            for (commit, keys) in [(11, ["b", "d"]), (12, ["d", "f"])] {
                writes.push(&layer(commit, &keys), commit, Some(10));
                if keys_only {
                    writes.keep_keys_only();
                }
            }
            let all = [("b", "c", 10), ("a", "b", 10), ("c", "e", 10), ("c", "e", 11)];
            let told = all.map(|(start, end, base)| found(&writes, start, end, base));
            assert_eq!(told, ["b", "nothing up to 12", "d", "d"], "keys only: {keys_only}");
            assert_eq!(found(&writes, "c", "e", 12), "nothing up to 12");
            assert_eq!(found(&writes, "f", "g", 10), "f");
            assert_eq!(found(&writes, "su", "sun", 11), "sum");
            assert_eq!(found(&writes, "f0", "g", 9), "too old");
        }
    }

    #[test]
    fn groups_go_with_the_oldest_reader() {
        let writes = RecentWrites::new(0);
        for commit in 1..=200 {
            writes.push(&layer(commit, &["a"]), commit, Some(0));
        }
        assert_eq!(found(&writes, "b", "c", 0), "nothing up to 200");
        writes.push(&layer(201, &["b"]), 201, Some(150));
        assert_eq!(
            (found(&writes, "b", "c", 149), found(&writes, "b", "c", 150)),
            ("too old".into(), "b".into())
        );
        writes.push(&layer(202, &["b"]), 202, None);
        assert_eq!(found(&writes, "a", "z", 202), "nothing up to 202");
        assert_eq!(found(&writes, "a", "z", 201), "too old");
    }
}
