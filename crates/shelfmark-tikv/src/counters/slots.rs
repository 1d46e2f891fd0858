//! Chooses the slot of each addition of this process, so that two of them do not meet.
//!
//! Each process takes the slots of a counter in an order of its own and puts one where it met another
//! process behind all others, so that processes part after a few conflicts.
//!
//! What it is not: needed for a sum to be right. The cluster refuses a commit that meets another.
//!
//! Invariant: a slot is given to one commit at a time, and only to one that began after whatever this
//! process committed there.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use shelfmark_store::random::SplitMix;

use crate::keys::{SLOTS_MAX, Spread};

/// Counters that are remembered. Beyond that, those that nobody adds to now are forgotten.
const COUNTERS_MAX: usize = 4096;

/// The counters at which commits of this process met others.
#[derive(Default)]
pub(crate) struct Slots {
    counters: Mutex<HashMap<Bytes, Counter>>,
}

struct Counter {
    /// The slots by which it was spread when this process last looked.
    spread: Option<Spread>,
    slots: Vec<Slot>,
}

struct Slot {
    number: u8,
    is_held: bool,
    /// The timestamp of this process's last commit there.
    committed: u64,
}

/// A slot that one commit adds to.
pub(crate) struct Held {
    all: Arc<Slots>,
    key: Bytes,
    pub(crate) slot: u8,
}

impl Slots {
    /// Notes that a commit met another at a counter that is one key.
    pub(crate) fn met(&self, key: &Bytes, id: u64) {
        let mut counters = self.counters();
        if counters.len() >= COUNTERS_MAX {
            counters.retain(|_, counter| counter.slots.iter().any(|slot| slot.is_held));
        }
        counters.entry(key.clone()).or_insert_with(|| Counter::new(key, id));
    }

    /// Returns true if commits met at a counter.
    pub(crate) fn is_contended(&self, key: &Bytes) -> bool {
        self.counters().contains_key(key)
    }

    /// Returns the slots by which a counter was spread when this process last looked.
    pub(crate) fn believed(&self, key: &Bytes) -> Option<Spread> {
        self.counters().get(key)?.spread
    }

    /// Notes by which slots a counter is spread. One that is one key again is forgotten.
    pub(crate) fn saw(&self, key: &Bytes, id: u64, spread: Option<Spread>) {
        let mut counters = self.counters();
        match spread {
            Some(_) => {
                counters.entry(key.clone()).or_insert_with(|| Counter::new(key, id)).spread =
                    spread;
            }
            None => {
                if counters.get(key).is_some_and(|counter| counter.spread.is_some()) {
                    counters.remove(key);
                }
            }
        }
    }

    /// Takes a slot for a commit that begins at `start`; `None` if all are in use.
    pub(crate) fn take(self: &Arc<Self>, key: &Bytes, id: u64, start: u64) -> Option<Held> {
        let mut counters = self.counters();
        let counter = counters.entry(key.clone()).or_insert_with(|| Counter::new(key, id));
        let slot = counter.slots.iter_mut().find(|slot| !slot.is_held && slot.committed < start)?;
        slot.is_held = true;
        let slot = slot.number;
        drop(counters);
        Some(Held { all: Arc::clone(self), key: key.clone(), slot })
    }

    fn counters(&self) -> MutexGuard<'_, HashMap<Bytes, Counter>> {
        // What is remembered only saves conflicts, whatever panicked.
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counter {
    /// Creates what process `id` remembers of a counter.
    fn new(key: &[u8], id: u64) -> Self {
        let salt = key
            .iter()
            .fold(id, |salt, byte| salt.wrapping_mul(0x0100_0000_01B3) ^ u64::from(*byte));
        let mut random = SplitMix::new(salt);
        let mut numbers: Vec<u8> = (0..SLOTS_MAX).collect();
        for last in (1..numbers.len()).rev() {
            numbers.swap(last, random.index(last + 1));
        }
        let slot = |number| Slot { number, is_held: false, committed: 0 };
        Self { spread: None, slots: numbers.into_iter().map(slot).collect() }
    }
}

impl Held {
    /// Notes that the commit happened at `at`.
    pub(crate) fn committed(&self, at: u64) {
        self.change(|counter, place| {
            if let Some(slot) = counter.slots.get_mut(place) {
                slot.committed = at;
            }
        });
    }

    /// Notes that another process adds to the slot.
    pub(crate) fn met(&self) {
        self.change(|counter, place| {
            let slot = counter.slots.remove(place);
            counter.slots.push(slot);
        });
    }

    fn change(&self, change: impl FnOnce(&mut Counter, usize)) {
        let mut counters = self.all.counters();
        let Some(counter) = counters.get_mut(&self.key) else { return };
        let place = counter.slots.iter().position(|slot| slot.number == self.slot);
        if let Some(place) = place {
            change(counter, place);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.change(|counter, place| {
            if let Some(slot) = counter.slots.get_mut(place) {
                slot.is_held = false;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Bytes = Bytes::from_static(b"n");

    #[test]
    fn commits_side_by_side_get_different_slots_until_there_are_none() {
        let slots = Arc::new(Slots::default());
        let held: Vec<Held> = (0..SLOTS_MAX).map(|_| slots.take(&KEY, 1, 10).unwrap()).collect();
        let mut numbers: Vec<u8> = held.iter().map(|held| held.slot).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..SLOTS_MAX).collect::<Vec<u8>>());
        assert!(slots.take(&KEY, 1, 10).is_none());
        drop(held);
        assert!(slots.take(&KEY, 1, 10).is_some());
    }

    #[test]
    fn a_slot_is_not_given_to_a_commit_that_began_before_the_last_one_there() {
        let slots = Arc::new(Slots::default());
        let first = slots.take(&KEY, 1, 10).unwrap();
        first.committed(20);
        let number = first.slot;
        drop(first);
        assert_ne!(slots.take(&KEY, 1, 15).unwrap().slot, number);
        assert_eq!(slots.take(&KEY, 1, 21).unwrap().slot, number);
    }

    #[test]
    fn a_slot_of_another_process_is_taken_last() {
        let slots = Arc::new(Slots::default());
        let first = slots.take(&KEY, 1, 10).unwrap();
        first.met();
        let number = first.slot;
        drop(first);
        let held: Vec<Held> = (0..SLOTS_MAX).map(|_| slots.take(&KEY, 1, 10).unwrap()).collect();
        assert_eq!(held.last().unwrap().slot, number);
    }

    #[test]
    fn processes_take_slots_in_different_orders_and_forget_what_is_one_key_again() {
        let (one, other) = (Arc::new(Slots::default()), Arc::new(Slots::default()));
        let order = |slots: &Arc<Slots>, id| {
            let held: Vec<Held> =
                (0..SLOTS_MAX).map(|_| slots.take(&KEY, id, 1).unwrap()).collect();
            held.iter().map(|held| held.slot).collect::<Vec<u8>>()
        };
        assert_ne!(order(&one, 1), order(&other, 2));
        let spread = Some(Spread { at: 5, number: 0 });
        one.saw(&KEY, 1, spread);
        assert_eq!(one.believed(&KEY), spread);
        one.saw(&KEY, 1, None);
        assert!(!one.is_contended(&KEY));
        one.met(&KEY, 1);
        one.saw(&KEY, 1, None);
        assert!(one.is_contended(&KEY), "it is to be spread by the next commit");
    }
}
