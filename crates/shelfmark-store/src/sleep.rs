//! Waiting, handed in from outside like the time itself.
//!
//! Whoever backs off takes a [`Sleeper`], so that a test of a retry takes no time and a server can
//! wait in its own way. This is the one file that may put a thread to sleep.

use std::time::Duration;

use crate::clock::ManualClock;

/// A way to let time pass, so that tests need not wait.
pub trait Sleeper: Send + Sync {
    /// Returns after at least `wait`.
    fn sleep(&self, wait: Duration);
}

/// Sleeps by blocking the calling thread.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThreadSleeper;

impl Sleeper for ThreadSleeper {
    #[expect(clippy::disallowed_methods, reason = "the one place that puts a thread to sleep")]
    fn sleep(&self, wait: Duration) {
        std::thread::sleep(wait);
    }
}

/// Moves the clock forward and returns at once.
impl Sleeper for ManualClock {
    fn sleep(&self, wait: Duration) {
        self.advance(wait);
    }
}
