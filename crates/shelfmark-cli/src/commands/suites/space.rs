//! The lane of a case on a cluster: a key space of its own.
//!
//! What it is not: the end of that space, which is the run's (`ground`).
//!
//! Invariant: once it is given up, no store of it writes any more.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use shelfmark_conformance::{Lane, SNAPSHOT_AGE_MAX};
use shelfmark_store::Store;
use shelfmark_store::clock::ManualClock;
use shelfmark_tikv::{Options, TikvStore};

/// Microseconds since 1970 at which the clock of every case begins; no driver may care.
const SOME_DATE: u64 = 1_700_000_000_000_000;

/// A key space on a cluster.
pub(super) struct Space {
    options: Options,
    clock: Arc<ManualClock>,
    opened: Mutex<Opened>,
}

#[derive(Default)]
struct Opened {
    is_given_up: bool,
    stores: Vec<Weak<TikvStore>>,
}

impl Space {
    pub(super) fn new(options: Options) -> Self {
        let options = Options { snapshot_age_max: SNAPSHOT_AGE_MAX, ..options };
        Self {
            options,
            clock: Arc::new(ManualClock::at_micros(SOME_DATE)),
            opened: Mutex::default(),
        }
    }

    /// Returns the name of the space.
    pub(super) fn name(&self) -> &str {
        &self.options.space
    }

    /// Closes whatever the case has open, and lets it open nothing more.
    pub(super) fn give_up(&self) {
        let stores = {
            let mut opened = self.opened();
            opened.is_given_up = true;
            std::mem::take(&mut opened.stores)
        };
        for store in stores.iter().filter_map(Weak::upgrade) {
            // A store that does not close cleanly has lost its cluster, and writes nothing either.
            let _ = store.close();
        }
    }

    fn opened(&self) -> MutexGuard<'_, Opened> {
        // A flag and a list, whole whatever panicked.
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lane for Space {
    fn open(&self) -> Arc<dyn Store> {
        let mut opened = self.opened();
        assert!(!opened.is_given_up, "the case was given up");
        let store = match TikvStore::open(self.options.clone(), self.clock.clone()) {
            Ok(store) => Arc::new(store),
            Err(error) => panic!("the store does not open: {error}"),
        };
        opened.stores.push(Arc::downgrade(&store));
        store
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    fn keeps(&self) -> bool {
        true
    }

    fn is_shared(&self) -> bool {
        true
    }
}
