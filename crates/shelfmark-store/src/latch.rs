//! Striped latches: short exclusion between a read and the write that builds on it.
//!
//! A latch is held while a write reads, merges and is queued; never across a sync and never across
//! an await. It is an optimisation of conflicts away, not the source of correctness: validation at
//! commit decides. Keys of one call are latched in stripe order, so two calls never wait for each
//! other in a circle.

use std::sync::{Mutex, MutexGuard, PoisonError};

use xxhash_rust::xxh3::xxh3_64;

const STRIPES: usize = 4096;

/// A table of striped latches.
pub struct Latches {
    stripes: Vec<Mutex<()>>,
}

/// Held latches; dropping releases them.
pub struct Latched<'a> {
    _guards: Vec<MutexGuard<'a, ()>>,
}

impl Latches {
    /// Creates the table.
    #[must_use]
    pub fn new() -> Self {
        Self { stripes: (0..STRIPES).map(|_| Mutex::new(())).collect() }
    }

    /// Latches every key of `keys`; waits for those that others hold.
    pub fn lock<'a, 'k>(&'a self, keys: impl IntoIterator<Item = &'k [u8]>) -> Latched<'a> {
        let mut wanted: Vec<usize> = keys.into_iter().map(stripe_of).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let guards = wanted
            .into_iter()
            .filter_map(|stripe| self.stripes.get(stripe))
            // A panic under a latch leaves no shared state behind: the latch guards nothing itself.
            .map(|stripe| stripe.lock().unwrap_or_else(PoisonError::into_inner))
            .collect();
        Latched { _guards: guards }
    }
}

impl Default for Latches {
    fn default() -> Self {
        Self::new()
    }
}

fn stripe_of(key: &[u8]) -> usize {
    usize::try_from(xxh3_64(key) % (STRIPES as u64)).unwrap_or(0)
}
