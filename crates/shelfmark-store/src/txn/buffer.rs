//! The write buffer of a transaction, with savepoints.
//!
//! Invariant: rolling back to a savepoint restores the buffer to what it was when the savepoint was set,
//! without reading anything: each change of a key notes what it replaced.

use std::collections::BTreeMap;
use std::ops::Bound;

use bytes::Bytes;

use crate::contract::{AddWithin, Error, ErrorKind, KeyRange, Result, Write};

/// Bytes of a counter and of a stamp.
const NUMBER_BYTES: usize = 8;

/// The pending change of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// True if the transaction put the key on condition that it is absent in the store.
    pub(super) was_absent: bool,
    /// The new value; `None` for a deletion.
    pub(super) value: Option<Bytes>,
}

impl Change {
    fn bytes(&self, key: &Bytes) -> usize {
        key.len() + self.value.as_ref().map_or(0, Bytes::len)
    }
}

/// A savepoint, set by [`super::Transaction::savepoint`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Savepoint {
    serial: u64,
}

#[derive(Debug)]
struct SavepointState {
    serial: u64,
    undo_at: usize,
    passed_at: usize,
    additions_at: usize,
}

#[derive(Debug, Default)]
pub(super) struct Buffer {
    changes: BTreeMap<Bytes, Change>,
    /// Stamped puts and additions, in order; the transaction does not read them back.
    passed: Vec<Write>,
    /// Additions within values; the transaction does not read them back.
    additions: Vec<AddWithin>,
    /// The changes replaced since the first savepoint, newest last.
    undo: Vec<(Bytes, Option<Change>)>,
    savepoints: Vec<SavepointState>,
    serial: u64,
    bytes: usize,
}

impl Buffer {
    /// Returns the transaction's change of `key`, if there is one.
    pub(super) fn get(&self, key: &[u8]) -> Option<&Change> {
        self.changes.get(key)
    }

    /// Returns the changes of keys in `range`, ascending.
    pub(super) fn range(
        &self,
        range: &KeyRange,
    ) -> impl DoubleEndedIterator<Item = (&Bytes, &Change)> {
        let end = range.end.as_ref().map_or(Bound::Unbounded, |end| Bound::Excluded(end.as_ref()));
        // A map refuses a range that ends before it starts.
        let bounds = (!range.is_empty()).then_some((Bound::Included(range.start.as_ref()), end));
        bounds.into_iter().flat_map(|bounds| self.changes.range::<[u8], _>(bounds))
    }

    /// Puts or deletes a key unconditionally.
    pub(super) fn set(&mut self, key: Bytes, value: Option<Bytes>) {
        let was_absent = self.changes.get(&key).is_some_and(|change| change.was_absent);
        self.replace(key, Change { was_absent, value });
    }

    /// Puts a key that must be absent.
    pub(super) fn set_if_absent(&mut self, key: Bytes, value: Bytes) -> Result<()> {
        let was_absent = match self.changes.get(&key) {
            Some(Change { value: Some(_), .. }) => return Err(Error::exists(key)),
            // The transaction itself made it absent, so there is nothing to ask the store.
            Some(Change { was_absent, value: None }) => *was_absent,
            None => true,
        };
        self.replace(key, Change { was_absent, value: Some(value) });
        Ok(())
    }

    fn replace(&mut self, key: Bytes, change: Change) {
        self.bytes += change.bytes(&key);
        let before = self.changes.insert(key.clone(), change);
        self.bytes -= before.as_ref().map_or(0, |before| before.bytes(&key));
        if !self.savepoints.is_empty() {
            self.undo.push((key, before));
        }
    }

    /// Adds a write that the transaction does not read back.
    pub(super) fn pass(&mut self, write: Write) {
        self.bytes += passed_bytes(&write);
        self.passed.push(write);
    }

    /// Adds an addition within a value, which the transaction does not read back.
    pub(super) fn add_within(&mut self, addition: AddWithin) {
        self.bytes += added_bytes(&addition);
        self.additions.push(addition);
    }

    /// Sets a savepoint.
    pub(super) fn savepoint(&mut self) -> Savepoint {
        self.serial += 1;
        let serial = self.serial;
        let (undo_at, passed_at) = (self.undo.len(), self.passed.len());
        let additions_at = self.additions.len();
        self.savepoints.push(SavepointState { serial, undo_at, passed_at, additions_at });
        Savepoint { serial }
    }

    /// Undoes what was written since `savepoint`, and removes the savepoints set since.
    pub(super) fn rollback_to(&mut self, savepoint: Savepoint) -> Result<()> {
        let at = self.savepoints.binary_search_by_key(&savepoint.serial, |saved| saved.serial);
        let Some(saved) = at.ok().and_then(|at| self.savepoints.get(at)) else {
            return Err(Error::new(ErrorKind::Invalid, "the savepoint was rolled back over"));
        };
        let (undo_at, passed_at) = (saved.undo_at, saved.passed_at);
        let additions_at = saved.additions_at;
        self.savepoints.retain(|saved| saved.serial <= savepoint.serial);
        while self.undo.len() > undo_at {
            let Some((key, before)) = self.undo.pop() else { break };
            self.bytes += before.as_ref().map_or(0, |before| before.bytes(&key));
            let undone = match before {
                Some(before) => self.changes.insert(key.clone(), before),
                None => self.changes.remove(&key),
            };
            self.bytes -= undone.map_or(0, |undone| undone.bytes(&key));
        }
        self.bytes -=
            self.passed.drain(passed_at..).map(|write| passed_bytes(&write)).sum::<usize>();
        self.bytes -=
            self.additions.drain(additions_at..).map(|own| added_bytes(&own)).sum::<usize>();
        Ok(())
    }

    /// Returns the bytes of all keys and values.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns true if nothing was written.
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.passed.is_empty() && self.additions.is_empty()
    }

    /// Returns the writes: keys ascending, then those that are not read back, in their order; and the
    /// additions within values.
    pub(super) fn into_writes(self) -> (Vec<Write>, Vec<AddWithin>) {
        let mut writes = Vec::with_capacity(self.changes.len() + self.passed.len());
        for (key, change) in self.changes {
            match change {
                Change { was_absent: false, value: Some(value) } => {
                    writes.push(Write::Put { key, value });
                }
                Change { was_absent: false, value: None } => writes.push(Write::Delete { key }),
                Change { was_absent: true, value: Some(value) } => {
                    writes.push(Write::PutIfAbsent { key, value });
                }
                Change { was_absent: true, value: None } => {
                    // Put and deleted again: nothing stays, but the transaction went on because
                    // the key was absent, and that must still be so.
                    let value = Bytes::from_static(&[0]);
                    writes.push(Write::PutIfAbsent { key: key.clone(), value });
                    writes.push(Write::Delete { key });
                }
            }
        }
        writes.extend(self.passed);
        (writes, self.additions)
    }
}

fn added_bytes(addition: &AddWithin) -> usize {
    addition.key.len() + addition.seen.len()
}

fn passed_bytes(write: &Write) -> usize {
    match write {
        Write::PutStamped { prefix, suffix, value } => {
            prefix.len() + NUMBER_BYTES + suffix.len() + value.len()
        }
        Write::Add { key, .. } => key.len() + NUMBER_BYTES,
        Write::Put { key, value } | Write::PutIfAbsent { key, value } => key.len() + value.len(),
        Write::Delete { key } => key.len(),
    }
}
