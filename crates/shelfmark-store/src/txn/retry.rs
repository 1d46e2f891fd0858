//! Decides when a refused transaction is retried, and how long to wait before.
//!
//! What it is not: a judge of ends that are not known. `Undetermined` is never retried here: the
//! caller asks first, by reading a key that the commit would have put.
//!
//! Invariant: it ends, after [`RetryPolicy::attempts_max`] attempts at most.

use std::time::Duration;

use crate::contract::{Error, ErrorKind, Result};
use crate::random::SplitMix;
use crate::sleep::Sleeper;

/// A policy of attempts and waits.
///
/// # Examples
///
/// ```
/// use shelfmark_store::clock::ManualClock;
/// use shelfmark_store::random::SplitMix;
/// use shelfmark_store::txn::RetryPolicy;
/// use shelfmark_store::{Error, ErrorKind};
///
/// let (clock, mut random) = (ManualClock::at_micros(0), SplitMix::new(1));
/// let done = RetryPolicy::default().run(&clock, &mut random, |attempt| match attempt {
///     0 => Err(Error::new(ErrorKind::Conflict, "somebody was faster")),
///     _ => Ok("written"),
/// })?;
/// assert_eq!(done, "written");
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Most attempts, the first one included.
    pub attempts_max: u32,
    /// Upper bound of the wait after the first attempt; it doubles with each further one.
    pub wait_first: Duration,
    /// Upper bound of any wait, unless the store asks for a longer one.
    pub wait_max: Duration,
}

impl Default for RetryPolicy {
    /// Returns 16 attempts with waits from 0.2 to 50 ms: about half a second until a hot key is
    /// given up.
    fn default() -> Self {
        Self {
            attempts_max: 16,
            wait_first: Duration::from_micros(200),
            wait_max: Duration::from_millis(50),
        }
    }
}

impl RetryPolicy {
    /// Returns true if a transaction that failed with `kind` may be retried from its first read.
    ///
    /// * `Conflict`, `TooOld`: it may, on a new snapshot.
    /// * `Busy`: it may, after the wait that the error names.
    /// * Everything else is for the caller to decide. `Undetermined` above all: trying again could
    ///   do it twice.
    #[must_use]
    pub fn is_retryable(kind: ErrorKind) -> bool {
        match kind {
            ErrorKind::Conflict | ErrorKind::TooOld | ErrorKind::Busy => true,
            ErrorKind::Exists
            | ErrorKind::Undetermined
            | ErrorKind::LimitExceeded
            | ErrorKind::ReadOnly
            | ErrorKind::Unavailable
            | ErrorKind::Corrupt
            | ErrorKind::Io
            | ErrorKind::Closed
            | ErrorKind::Invalid
            | ErrorKind::Internal => false,
        }
    }

    /// Returns how long to wait before attempt `attempt + 1`, or `None` when `error` is final.
    ///
    /// Attempts count from 0. For callers that wait in their own way; others use
    /// [`RetryPolicy::run`].
    ///
    /// The wait is drawn evenly from zero to a bound that doubles, so that those who met once do
    /// not meet again; after `Busy` it comes on top of what the store asked for.
    #[must_use]
    pub fn wait_after(
        &self,
        attempt: u32,
        error: &Error,
        random: &mut SplitMix,
    ) -> Option<Duration> {
        if !Self::is_retryable(error.kind()) || attempt.saturating_add(1) >= self.attempts_max {
            return None;
        }
        let doubled =
            self.wait_first.saturating_mul(1_u32.checked_shl(attempt).unwrap_or(u32::MAX));
        let bound = u64::try_from(doubled.min(self.wait_max).as_nanos()).unwrap_or(u64::MAX);
        let jitter = Duration::from_nanos(random.below(bound.saturating_add(1)));
        Some(error.retry_after().unwrap_or_default().saturating_add(jitter))
    }

    /// Runs `operation` until it succeeds or may not be retried.
    ///
    /// `operation` gets the number of the attempt, from 0, and must begin anew each time: with a
    /// new snapshot and a new transaction. Waits on `sleeper`.
    ///
    /// # Errors
    ///
    /// * The error of the last attempt; after `Conflict`, `TooOld` or `Busy` the attempts are used
    ///   up, so answer that the caller may try again later.
    pub fn run<T>(
        &self,
        sleeper: &dyn Sleeper,
        random: &mut SplitMix,
        mut operation: impl FnMut(u32) -> Result<T>,
    ) -> Result<T> {
        let mut attempt = 0;
        loop {
            let error = match operation(attempt) {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            let Some(wait) = self.wait_after(attempt, &error, random) else { return Err(error) };
            if !wait.is_zero() {
                sleeper.sleep(wait);
            }
            attempt += 1;
        }
    }
}
