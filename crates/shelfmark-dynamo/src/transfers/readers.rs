//! The imports that have an object open: so many at once, by turns.
//!
//! An object that is packed can be read on only from where it was left, or unpacked again up to there. So an
//! import keeps what it reads open between two slices, until its turn is over and another one waits.
//!
//! Invariant: a turn reads at least as much as was skipped to begin it, so going back and forth at most doubles
//! the reading.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::import::Walk;
use super::source::Compression;
use super::zstd::WINDOW_BYTES_MAX;

/// Imports that have an object open, in a slice or between two.
const PLACES_MAX: usize = 8;

/// Bytes, unpacked, that an import reads at least before another one has its turn.
const TURN_BYTES_MIN: u64 = 64 * 1024 * 1024;

/// The imports that read, and those that wait for them.
pub(super) struct Readers {
    state: Mutex<State>,
    /// Objects packed with Zstandard that may be open at once.
    windows_max: usize,
}

#[derive(Default)]
struct State {
    places: BTreeMap<String, Place>,
    /// The ids of imports that found no place since they last had one.
    waiting: BTreeSet<String>,
}

struct Place {
    has_window: bool,
    /// The objects that are being read, between two slices.
    walk: Option<Walk>,
}

impl Readers {
    /// Creates the places; the windows of Zstandard may take `window_bytes` together, and one is always
    /// allowed.
    pub(super) fn new(window_bytes: usize) -> Self {
        let window = usize::try_from(WINDOW_BYTES_MAX).unwrap_or(usize::MAX);
        Self { state: Mutex::default(), windows_max: (window_bytes / window).max(1) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives an import a place, unless it has one. Returns false if there is none.
    pub(super) fn enter(&self, id: &str, compression: Compression) -> bool {
        let mut state = self.lock();
        if state.places.contains_key(id) {
            return true;
        }
        let has_window = compression == Compression::Zstd;
        let windows = state.places.values().filter(|place| place.has_window).count();
        if state.places.len() >= PLACES_MAX || has_window && windows >= self.windows_max {
            state.waiting.insert(id.to_owned());
            return false;
        }
        state.waiting.remove(id);
        state.places.insert(id.to_owned(), Place { has_window, walk: None });
        true
    }

    /// Takes what an import was reading.
    pub(super) fn take(&self, id: &str) -> Option<Walk> {
        self.lock().places.get_mut(id)?.walk.take()
    }

    /// Ends a slice: keeps what is being read for the next one, or gives the place to others.
    pub(super) fn leave(&self, id: &str, walk: Option<Walk>) {
        let mut state = self.lock();
        let others_wait = !state.waiting.is_empty();
        match walk.filter(|walk| !(others_wait && walk.turn.is_over())) {
            Some(walk) => {
                if let Some(place) = state.places.get_mut(id) {
                    place.walk = Some(walk);
                }
            }
            None => drop(state.places.remove(id)),
        }
    }

    /// Forgets imports that are not in progress: another server may have ended them.
    pub(super) fn retain(&self, is_running: impl Fn(&String) -> bool) {
        let mut state = self.lock();
        state.places.retain(|id, _| is_running(id));
        state.waiting.retain(is_running);
    }
}

/// The bytes that an import read since it has its place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Turn {
    /// Those that were read before, and are skipped to go on.
    pub(super) skipped: u64,
    pub(super) read: u64,
}

impl Turn {
    fn is_over(self) -> bool {
        self.read >= self.skipped.max(TURN_BYTES_MIN)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    const WINDOW: usize = 128 * 1024 * 1024;

    fn walk(skipped: u64, read: u64) -> Option<Walk> {
        Some(Walk { objects: VecDeque::new(), open: None, turn: Turn { skipped, read } })
    }

    /// Lets so many imports in, and returns their ids.
    fn full(readers: &Readers) -> Vec<String> {
        let ids: Vec<String> = (0..PLACES_MAX).map(|id| id.to_string()).collect();
        assert!(ids.iter().all(|id| readers.enter(id, Compression::Gzip)));
        ids
    }

    #[test]
    fn who_has_read_enough_makes_room_for_who_waits() {
        let readers = Readers::new(WINDOW);
        let ids = full(&readers);
        // Nobody waits: all go on.
        readers.leave(&ids[0], walk(0, u64::MAX));
        assert!(readers.take(&ids[0]).is_some());
        assert!(!readers.enter("late", Compression::None));
        // Too little was read in this turn.
        readers.leave(&ids[0], walk(0, TURN_BYTES_MIN - 1));
        readers.leave(&ids[1], walk(2 * TURN_BYTES_MIN, 2 * TURN_BYTES_MIN - 1));
        assert!(!readers.enter("late", Compression::None));
        readers.leave(&ids[1], walk(2 * TURN_BYTES_MIN, 2 * TURN_BYTES_MIN));
        assert!(readers.enter("late", Compression::None));
        // The next one waits in its turn.
        assert!(!readers.enter(&ids[1], Compression::Gzip));
        readers.leave(&ids[2], walk(0, TURN_BYTES_MIN));
        assert!(readers.enter(&ids[1], Compression::Gzip));
        readers.leave(&ids[3], walk(0, TURN_BYTES_MIN));
        assert!(readers.take(&ids[3]).is_some(), "nobody waits any more");
    }

    #[test]
    fn windows_take_no_more_than_they_may() {
        let readers = Readers::new(2 * WINDOW);
        assert!(readers.enter("a", Compression::Zstd) && readers.enter("b", Compression::Zstd));
        assert!(!readers.enter("c", Compression::Zstd), "a third window");
        assert!(readers.enter("c", Compression::Gzip), "no window");
        readers.leave("a", None);
        assert!(readers.enter("d", Compression::Zstd));
        // However little memory there is, something can be imported.
        let little = Readers::new(0);
        assert!(little.enter("a", Compression::Zstd) && !little.enter("b", Compression::Zstd));
    }

    #[test]
    fn who_ended_elsewhere_holds_nobody_up() {
        let readers = Readers::new(WINDOW);
        let ids = full(&readers);
        assert!(!readers.enter("gone", Compression::None));
        readers.retain(|id| *id != ids[0] && id != "gone");
        assert!(readers.enter("late", Compression::None));
        readers.leave(&ids[1], walk(0, u64::MAX));
        assert!(readers.take(&ids[1]).is_some(), "nobody who is in progress waits");
    }
}
