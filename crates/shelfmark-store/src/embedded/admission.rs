//! Whether a commit may be queued now: room in the queue, and background work that keeps up.
//!
//! When flushes or compactions fall behind, fewer and fewer bytes a second are let in, long before
//! memory or reads would suffer; so writers slow down early and a little instead of late and
//! altogether.
//!
//! Invariant: nothing here waits. Who is refused is told when to come again.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::contract::{Error, Result};

use super::bytes::wide;
use super::inner::Inner;
use super::options::QUEUE_BYTES_MAX;
use super::queue::QueueState;

/// Sealed memory tables at which nothing is let in.
const SEALED_MAX: usize = 4;
/// Runs that are not merged at which nothing is let in …
const RUNS_MAX: usize = 24;
/// … and up to which nobody is slowed down.
const RUNS_FREE: usize = 10;
/// Megabytes a second let in per step of pressure; the last step lets nothing in.
const MEBIBYTES_PER_SECOND: [i64; 8] = [0, 64, 48, 32, 24, 16, 8, 4];
/// Pressure at which nothing is let in.
const PRESSURE_MAX: usize = MEBIBYTES_PER_SECOND.len();
/// An allowance is saved up for at most this long.
const SAVED_FOR: Duration = Duration::from_millis(50);
/// When to come again if nothing is let in.
const COME_AGAIN: Duration = Duration::from_millis(20);

/// Returns the pressure of `sealed` memory tables and `runs` runs.
fn pressure_of(sealed: usize, runs: usize) -> usize {
    let of_sealed = match sealed {
        0 | 1 => 0,
        SEALED_MAX.. => PRESSURE_MAX,
        some => (some - 1) * PRESSURE_MAX / (SEALED_MAX - 1),
    };
    let of_runs = match runs {
        RUNS_MAX.. => PRESSURE_MAX,
        some => some.saturating_sub(RUNS_FREE) * PRESSURE_MAX / (RUNS_MAX - RUNS_FREE),
    };
    of_sealed.max(of_runs)
}

impl Inner {
    /// Measures how far the background work is behind. Called whenever that may have changed.
    pub(super) fn feel_pressure(&self) {
        let runs = self.moments.view().files().fresh_runs;
        let pressure = pressure_of(self.tree.sealed_count(), runs);
        self.pressure.store(pressure, Ordering::Relaxed);
    }

    /// Decides whether a commit of `bytes` bytes may be queued.
    pub(super) fn admission(&self, state: &mut QueueState, bytes: usize) -> Result<()> {
        if state.bytes() > 0 && state.bytes().saturating_add(bytes) > QUEUE_BYTES_MAX {
            return Err(Error::busy("too much is queued", Duration::from_millis(5)));
        }
        let pressure = self.pressure.load(Ordering::Relaxed);
        if pressure == 0 {
            return Ok(());
        }
        let Some(rate) = MEBIBYTES_PER_SECOND.get(pressure).map(|rate| rate << 20) else {
            return Err(Error::busy("memory is not written to disk fast enough", COME_AGAIN));
        };
        let now = self.clock.monotonic();
        let since = now.saturating_sub(state.allowed_at);
        state.allowed_at = now;
        state.allowance =
            state.allowance.saturating_add(earned(rate, since)).min(earned(rate, SAVED_FOR));
        if state.allowance < 0 {
            let owed_micros = state.allowance.saturating_neg().saturating_mul(1_000_000) / rate + 1;
            let wait = Duration::from_micros(u64::try_from(owed_micros).unwrap_or(0));
            return Err(Error::busy(
                "background work is behind",
                wait.clamp(Duration::from_millis(1), Duration::from_millis(200)),
            ));
        }
        let bytes = i64::try_from(wide(bytes)).unwrap_or(i64::MAX);
        state.allowance = state.allowance.saturating_sub(bytes);
        Ok(())
    }
}

/// Returns the bytes that `rate` bytes a second give in `time`.
fn earned(rate: i64, time: Duration) -> i64 {
    let micros = i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
    // In steps of microseconds, and never so long that the product overflows.
    rate.saturating_mul(micros.min(10_000_000)) / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::{PRESSURE_MAX, pressure_of};

    #[test]
    fn pressure_rises_step_by_step_and_ends_in_a_stop() {
        assert_eq!(pressure_of(1, 10), 0);
        let by_sealed: Vec<usize> = (0..6).map(|sealed| pressure_of(sealed, 0)).collect();
        assert_eq!(by_sealed, [0, 0, 2, 5, PRESSURE_MAX, PRESSURE_MAX]);
        let by_runs: Vec<usize> = (10..26).map(|runs| pressure_of(0, runs)).collect();
        assert!(by_runs.is_sorted());
        assert_eq!(by_runs[1..3], [0, 1]);
        assert_eq!(by_runs[13..], [7, PRESSURE_MAX, PRESSURE_MAX]);
    }
}
