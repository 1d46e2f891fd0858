//! Admission control: commits are refused while the queue is full or background work falls behind.
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

/// Refuses every commit at this many sealed memory tables, in sizes of one; the first is free.
const SEALED_SIZES_MAX: u64 = 4;
/// Counts a memory table as at least this large: many small ones do no harm to memory.
const SIZE_MIN: u64 = 8 * 1024 * 1024;
/// Refuses every commit at this many sealed memory tables, because a read looks into each …
const SEALED_MAX: usize = 16;
/// … and slows no commit down up to this many.
const SEALED_FREE: usize = 6;
/// Refuses every commit at this many unmerged runs, because a read looks into each …
const RUNS_MAX: usize = 24;
/// … and slows no commit down up to this many.
const RUNS_FREE: usize = 10;
/// Admission rates, in mebibytes a second, per step of pressure; the last step admits nothing.
const MEBIBYTES_PER_SECOND: [i64; 8] = [0, 64, 48, 32, 24, 16, 8, 4];
/// The pressure at which every commit is refused.
const PRESSURE_MAX: usize = MEBIBYTES_PER_SECOND.len();
/// Bounds how long unused allowance accumulates.
const BURST_MAX: Duration = Duration::from_millis(50);
/// The time after which to retry if nothing is admitted.
const RETRY_AFTER: Duration = Duration::from_millis(20);

/// A measurement of how much background work is waiting.
#[derive(Debug, Clone, Copy)]
struct Backlog {
    /// Size of a memory table, in bytes.
    table_bytes: u64,
    /// Bytes of the sealed memory tables.
    sealed_bytes: u64,
    /// Number of sealed memory tables.
    sealed: usize,
    /// Number of unmerged runs of table files.
    runs: usize,
}

impl Backlog {
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
    /// Measures how far background work is behind. Called whenever that may have changed.
    pub(super) fn measure_backlog(&self) {
        let (sealed, sealed_bytes) = self.tree.sealed();
        let behind = Backlog {
            table_bytes: self.options.memory_table_bytes,
            sealed_bytes,
            sealed,
            runs: self.snapshots.view().files().fresh_runs,
        };
        self.pressure.store(behind.pressure(), Ordering::Relaxed);
    }

    /// Refuses what adds a run of table files while merges are behind.
    pub(super) fn check_backlog(&self) -> Result<()> {
        match self.pressure.load(Ordering::Relaxed) {
            0 => Ok(()),
            _ => Err(Error::busy("background work is behind", RETRY_AFTER)),
        }
    }

    /// Decides if a commit of `bytes` bytes may be queued.
    pub(super) fn admission(&self, state: &mut QueueState, bytes: usize) -> Result<()> {
        if state.bytes() > 0 && state.bytes().saturating_add(bytes) > QUEUE_BYTES_MAX {
            return Err(Error::busy("too much is queued", Duration::from_millis(5)));
        }
        let pressure = self.pressure.load(Ordering::Relaxed);
        if pressure == 0 {
            return Ok(());
        }
        let Some(rate) = MEBIBYTES_PER_SECOND.get(pressure).map(|rate| rate << 20) else {
            return Err(Error::busy("memory is not written to disk fast enough", RETRY_AFTER));
        };
        let now = self.clock.monotonic();
        let since = now.saturating_sub(state.allowed_at);
        state.allowed_at = now;
        state.allowance =
            state.allowance.saturating_add(earned(rate, since)).min(earned(rate, BURST_MAX));
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

/// Returns how many bytes a rate of `rate` bytes a second admits in `time`.
fn earned(rate: i64, time: Duration) -> i64 {
    let micros = i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
    // In steps of microseconds, and never so long that the product overflows.
    rate.saturating_mul(micros.min(10_000_000)) / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::{Backlog, PRESSURE_MAX};

    fn pressures(behind: impl Fn(usize) -> Backlog, counts: std::ops::Range<usize>) -> Vec<usize> {
        counts.map(|count| behind(count).pressure()).collect()
    }

    #[test]
    fn pressure_rises_step_by_step_and_ends_in_a_stop() {
        let none = Backlog { table_bytes: 64 << 20, sealed_bytes: 0, sealed: 0, runs: 0 };
        let by_bytes = |count| Backlog { sealed_bytes: (count as u64) * (64 << 20), ..none };
        assert_eq!(pressures(by_bytes, 0..6), [0, 0, 2, 5, PRESSURE_MAX, PRESSURE_MAX]);
        let by_count = pressures(|sealed| Backlog { sealed, ..none }, 5..18);
        assert!(by_count.is_sorted());
        assert_eq!(by_count[..3], [0, 0, 0]);
        assert_eq!(by_count[10..], [7, PRESSURE_MAX, PRESSURE_MAX]);
        let by_runs = pressures(|runs| Backlog { runs, ..none }, 10..26);
        assert!(by_runs.is_sorted());
        assert_eq!(by_runs[1..3], [0, 1]);
        assert_eq!(by_runs[13..], [7, PRESSURE_MAX, PRESSURE_MAX]);
    }

    #[test]
    fn small_memory_tables_are_no_reason_to_wait() {
        let small = Backlog { table_bytes: 4096, sealed_bytes: 6 * 4096, sealed: 6, runs: 4 };
        assert_eq!(small.pressure(), 0);
    }
}
