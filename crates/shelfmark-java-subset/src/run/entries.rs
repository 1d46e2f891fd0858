//! The entries of maps and the members of sets.
//!
//! What it is not: a hash table of Java: entries come in the order in which they were put in, or in the
//! order of their keys.
//!
//! Invariant: two keys that are equal are one entry.

use std::collections::BTreeMap;

use super::show;
use crate::value::Value;

/// Entries by key.
#[derive(Debug, Clone, Default)]
pub struct Entries {
    order: BTreeMap<u64, (Value, Value)>,
    places: BTreeMap<Vec<u8>, u64>,
    next: u64,
    /// True if they come in the order of their keys.
    pub(crate) is_sorted: bool,
    /// True if nothing may be changed.
    pub(crate) is_fixed: bool,
}

impl Entries {
    /// Creates none; those put in come in the order of their keys if `is_sorted`.
    pub(crate) fn new(is_sorted: bool) -> Self {
        Self { is_sorted, ..Self::default() }
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Returns true if there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Returns the keys and values, in their order.
    #[must_use]
    pub fn pairs(&self) -> Vec<(Value, Value)> {
        let mut all: Vec<(Value, Value)> = self.order.values().cloned().collect();
        if self.is_sorted {
            all.sort_by(|(a, _), (b, _)| show::order(a, b).unwrap_or(std::cmp::Ordering::Equal));
        }
        all
    }

    /// Returns the keys and values in no order.
    pub(crate) fn unordered(&self) -> impl Iterator<Item = (&Value, &Value)> {
        self.order.values().map(|(key, value)| (key, value))
    }

    /// Returns the value of the key with these bytes.
    pub(crate) fn get(&self, key: &[u8]) -> Option<&Value> {
        let place = self.places.get(key)?;
        self.order.get(place).map(|(_, value)| value)
    }

    /// Puts an entry in; returns the value that the key had.
    pub(crate) fn put(&mut self, key: Value, value: Value) -> Option<Value> {
        let bytes = show::key(&key);
        self.put_at(bytes, key, value)
    }

    /// Puts an entry in whose key has these bytes.
    pub(crate) fn put_at(&mut self, bytes: Vec<u8>, key: Value, value: Value) -> Option<Value> {
        if let Some(entry) = self.places.get(&bytes).and_then(|place| self.order.get_mut(place)) {
            return Some(std::mem::replace(&mut entry.1, value));
        }
        self.places.insert(bytes, self.next);
        self.order.insert(self.next, (key, value));
        self.next += 1;
        None
    }

    pub(crate) fn remove(&mut self, key: &[u8]) -> Option<Value> {
        let place = self.places.remove(key)?;
        self.order.remove(&place).map(|(_, value)| value)
    }

    pub(crate) fn clear(&mut self) {
        self.order.clear();
        self.places.clear();
    }
}
