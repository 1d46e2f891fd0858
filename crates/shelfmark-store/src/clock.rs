//! Time and randomness, handed in from outside.
//!
//! This is the one file that may read the machine's clock. Everything else takes a [`Clock`], so
//! that tests replay from a seed.

#![expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A source of time.
pub trait Clock: Send + Sync {
    /// Returns microseconds since the Unix epoch. May step back when the machine's clock does.
    fn now_micros(&self) -> u64;

    /// Returns the time since some fixed moment; never steps back.
    fn monotonic(&self) -> Duration;

    /// Returns whole milliseconds since the Unix epoch.
    fn now_millis(&self) -> u64 {
        self.now_micros() / 1_000
    }

    /// Returns whole seconds since the Unix epoch.
    fn now_seconds(&self) -> u64 {
        self.now_micros() / 1_000_000
    }
}

/// The machine's clock.
#[derive(Debug)]
pub struct SystemClock {
    started: Instant,
}

impl SystemClock {
    /// Creates the clock.
    #[must_use]
    pub fn new() -> Self {
        Self { started: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now_micros(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
    }

    fn monotonic(&self) -> Duration {
        self.started.elapsed()
    }
}

/// A clock for tests and replays that moves only when it is told to.
#[derive(Debug)]
pub struct ManualClock {
    micros: AtomicU64,
}

impl ManualClock {
    /// Creates a clock that shows `micros` since the Unix epoch.
    #[must_use]
    pub fn at_micros(micros: u64) -> Self {
        Self { micros: AtomicU64::new(micros) }
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        let micros = u64::try_from(by.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now_micros(&self) -> u64 {
        self.micros.load(Ordering::SeqCst)
    }

    fn monotonic(&self) -> Duration {
        Duration::from_micros(self.now_micros())
    }
}
