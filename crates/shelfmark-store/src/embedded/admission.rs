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

/// Sealed memory tables, in sizes of one, at which nothing is let in; the first is free.
const SEALED_SIZES_MAX: u64 = 4;
/// A memory table counts as at least this large: many small ones do no harm to memory.
const SIZE_MIN: u64 = 8 * 1024 * 1024;
/// Sealed memory tables at which nothing is let in, because a read looks into each …
const SEALED_MAX: usize = 16;
/// … and up to which nobody is slowed down.
const SEALED_FREE: usize = 6;
/// Runs that are not merged at which nothing is let in, because a read looks into each …
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

/// What is behind.
#[derive(Debug, Clone, Copy)]
struct Behind {
    /// Size of a memory table.
    table_bytes: u64,
    /// Bytes of the sealed ones.
    sealed_bytes: u64,
    /// How many these are.
    sealed: usize,
    /// Runs of table files that are not merged.
    runs: usize,
}

impl Behind {
    fn pressure(self) -> usize {
        let size = self.table_bytes.max(SIZE_MIN);
        let over = self.sealed_bytes.saturating_sub(size);
        let by_bytes = over.saturating_mul(wide(PRESSURE_MAX)) / ((SEALED_SIZES_MAX - 1) * size);
        let by_bytes = usize::try_from(by_bytes).unwrap_or(PRESSURE_MAX);
        let by_count = |count: usize, free: usize, max: usize| {
            count.saturating_sub(free) * PRESSURE_MAX / (max - free)
        };
        by_bytes
            .max(by_count(self.sealed, SEALED_FREE, SEALED_MAX))
            .max(by_count(self.runs, RUNS_FREE, RUNS_MAX))
            .min(PRESSURE_MAX)
    }
}

impl Inner {
    /// Measures how far the background work is behind. Called whenever that may have changed.
    pub(super) fn feel_pressure(&self) {
        let (sealed, sealed_bytes) = self.tree.sealed();
        let behind = Behind {
            table_bytes: self.options.memory_table_bytes,
            sealed_bytes,
            sealed,
            runs: self.moments.view().files().fresh_runs,
        };
        self.pressure.store(behind.pressure(), Ordering::Relaxed);
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
    use super::{Behind, PRESSURE_MAX};

    fn pressures(behind: impl Fn(usize) -> Behind, counts: std::ops::Range<usize>) -> Vec<usize> {
        counts.map(|count| behind(count).pressure()).collect()
    }

    #[test]
    fn pressure_rises_step_by_step_and_ends_in_a_stop() {
        let none = Behind { table_bytes: 64 << 20, sealed_bytes: 0, sealed: 0, runs: 0 };
        let by_bytes = |count| Behind { sealed_bytes: (count as u64) * (64 << 20), ..none };
        assert_eq!(pressures(by_bytes, 0..6), [0, 0, 2, 5, PRESSURE_MAX, PRESSURE_MAX]);
        let by_count = pressures(|sealed| Behind { sealed, ..none }, 5..18);
        assert!(by_count.is_sorted());
        assert_eq!(by_count[..3], [0, 0, 0]);
        assert_eq!(by_count[10..], [7, PRESSURE_MAX, PRESSURE_MAX]);
        let by_runs = pressures(|runs| Behind { runs, ..none }, 10..26);
        assert!(by_runs.is_sorted());
        assert_eq!(by_runs[1..3], [0, 1]);
        assert_eq!(by_runs[13..], [7, PRESSURE_MAX, PRESSURE_MAX]);
    }

    #[test]
    fn small_memory_tables_are_no_reason_to_wait() {
        let small = Behind { table_bytes: 4096, sealed_bytes: 6 * 4096, sealed: 6, runs: 4 };
        assert_eq!(small.pressure(), 0);
    }
}
