//! Striped latches: short mutual exclusion between a read and the write that builds on it.
//!
//! A latch is held while a write reads, merges and is queued; never across a sync and never across
//! an await. It is an optimisation of conflicts away, not the source of correctness: validation at
//! commit decides. Keys of one call are latched in stripe order, so two calls never wait for each
//! other in a circle.
//!
//! A *reservation* is what a caller takes that runs code of others before it is queued: latches wait
//! for it, but not longer than [`RESERVATION_WAIT_MAX`]. So it lets its holder win a contended key,
//! and whoever waits inside of it for somebody outside is delayed, never stopped for good.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64;

use crate::sleep::{Sleeper as _, ThreadSleeper};

const STRIPES: usize = 4096;

/// Bounds how long a latch waits for a reservation of the same stripe.
pub const RESERVATION_WAIT_MAX: Duration = Duration::from_millis(100);

/// Counts how often a reservation is polled while a latch waits for it.
const RESERVATION_LOOKS: u32 = 400;

/// A table of striped latches.
pub struct Latches {
    stripes: Vec<Stripe>,
}

#[derive(Default)]
struct Stripe {
    latch: Mutex<()>,
    /// Counts the reservations that this stripe is part of.
    reserved: AtomicU32,
}

impl Stripe {
    /// Waits until no reservation holds the stripe, or a bounded time.
    fn wait(&self) {
        for _ in 0..RESERVATION_LOOKS {
            if self.reserved.load(Ordering::Acquire) == 0 {
                return;
            }
            ThreadSleeper.sleep(RESERVATION_WAIT_MAX / RESERVATION_LOOKS);
        }
    }
}

/// A reservation of stripes; dropping it releases them.
pub struct Reserved<'a> {
    stripes: Vec<&'a Stripe>,
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        for stripe in &self.stripes {
            stripe.reserved.fetch_sub(1, Ordering::Release);
        }
    }
}

/// A guard of held latches; dropping it releases them.
pub struct Latched<'a> {
    _guards: Vec<MutexGuard<'a, ()>>,
}

impl Latches {
    /// Creates the table of latches.
    #[must_use]
    pub fn new() -> Self {
        Self { stripes: (0..STRIPES).map(|_| Stripe::default()).collect() }
    }

    /// Latches every key of `keys`; waits for those that others hold, and a bounded time for those
    /// that others have reserved.
    pub fn lock<'a, 'k>(&'a self, keys: impl IntoIterator<Item = &'k [u8]>) -> Latched<'a> {
        let guards = self
            .stripes_of(keys)
            // A panic under a latch leaves no shared state behind: the latch guards nothing itself.
            .map(|stripe| {
                stripe.wait();
                stripe.latch.lock().unwrap_or_else(PoisonError::into_inner)
            })
            .collect();
        Latched { _guards: guards }
    }

    /// Reserves every key of `keys` before latches of others, once those that hold one have let go
    /// and other reservations have ended or lasted [`RESERVATION_WAIT_MAX`].
    pub fn reserve<'a, 'k>(&'a self, keys: impl IntoIterator<Item = &'k [u8]>) -> Reserved<'a> {
        let mut reserved = Reserved { stripes: Vec::new() };
        for stripe in self.stripes_of(keys) {
            stripe.wait();
            stripe.reserved.fetch_add(1, Ordering::AcqRel);
            reserved.stripes.push(stripe);
            // Who came before is let through; who comes now sees the reservation.
            drop(stripe.latch.lock().unwrap_or_else(PoisonError::into_inner));
        }
        reserved
    }

    /// Returns the stripes of `keys`, each once, in order.
    fn stripes_of<'a, 'k>(
        &'a self,
        keys: impl IntoIterator<Item = &'k [u8]>,
    ) -> impl Iterator<Item = &'a Stripe> {
        let mut wanted: Vec<usize> = keys.into_iter().map(stripe_of).collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted.into_iter().filter_map(|stripe| self.stripes.get(stripe))
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
