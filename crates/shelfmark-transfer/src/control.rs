//! The caller's hand on a running transfer: pace, progress, a stop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use shelfmark_store::clock::Clock;
use shelfmark_store::sleep::Sleeper;

use crate::error::{Error, ErrorKind, Result};

/// Longest wait between two looks at the stop.
const SLICE: Duration = Duration::from_millis(100);

/// The way that a transfer has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Rows that are done, those of earlier calls included.
    pub rows: u64,
    /// Bytes of files that were written or read.
    pub bytes: u64,
}

/// The settings of a running transfer.
pub struct Control<'c> {
    /// The time.
    pub clock: &'c dyn Clock,
    /// The way to wait.
    pub sleeper: &'c dyn Sleeper,
    /// Set by the caller to stop the transfer at its next page.
    pub stop: &'c AtomicBool,
    /// Told of the progress, from one thread.
    pub progress: &'c (dyn Fn(Progress) + Sync),
    /// The pace of all threads together.
    pub rate: Rate,
}

impl Control<'_> {
    /// Fails if the caller asked to stop.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Stopped`].
    pub fn go_on(&self) -> Result<()> {
        match self.stop.load(Ordering::Relaxed) {
            false => Ok(()),
            true => Err(Error::new(ErrorKind::Stopped, "the transfer was stopped")),
        }
    }

    /// Waits until the pace allows so many more rows.
    pub(crate) fn pace(&self, rows: usize) -> Result<()> {
        let Some(until) = self.rate.take(self.clock.monotonic(), rows) else { return Ok(()) };
        self.wait_until(until)
    }

    /// Waits, unless the caller asks to stop.
    pub(crate) fn wait(&self, wait: Duration) -> Result<()> {
        self.wait_until(self.clock.monotonic() + wait)
    }

    fn wait_until(&self, until: Duration) -> Result<()> {
        loop {
            self.go_on()?;
            let now = self.clock.monotonic();
            if now >= until {
                return Ok(());
            }
            self.sleeper.sleep((until - now).min(SLICE));
        }
    }
}

/// A pace in rows per second, shared by threads.
///
/// Invariant: over any span of time no more rows pass than the rate allows, plus one page of each thread.
#[derive(Debug, Default)]
pub struct Rate {
    per_second: Option<f64>,
    /// The time at which all rows up to now have passed.
    free_at: Mutex<Duration>,
}

impl Rate {
    /// Creates a pace; none is no limit.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a pace above 2^53 rows is no pace")]
    pub fn new(rows_per_second: Option<u64>) -> Self {
        Self { per_second: rows_per_second.map(|rows| rows.max(1) as f64), ..Self::default() }
    }

    /// Takes rows, and returns the time at which they may pass.
    #[expect(clippy::cast_precision_loss, reason = "a page has fewer rows than 2^53")]
    fn take(&self, now: Duration, rows: usize) -> Option<Duration> {
        let per_second = self.per_second?;
        let mut free_at = self.free_at.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = now.max(*free_at);
        *free_at = begin + Duration::from_secs_f64(rows as f64 / per_second);
        Some(begin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_pass_at_their_rate_and_idle_time_is_not_saved_up() {
        let rate = Rate::new(Some(100));
        let second = Duration::from_secs(1);
        assert_eq!(rate.take(second, 50), Some(second));
        assert_eq!(rate.take(second, 100), Some(second + second / 2));
        assert_eq!(rate.take(second, 1), Some(second * 5 / 2));
        assert_eq!(rate.take(second * 60, 1), Some(second * 60));
        assert_eq!(Rate::new(None).take(second, 1_000_000), None);
    }
}
