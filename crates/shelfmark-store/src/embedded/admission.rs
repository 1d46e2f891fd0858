//! Admission control: commits wait in the queue while background work falls behind, and are refused
//! once the queue is full or background work is too far behind.
//!
//! When flushes or compactions fall behind, fewer and fewer bytes a second are let into memory tables,
//! long before memory or reads would suffer; so writers slow down early and a little instead of late
//! and altogether. The commit thread keeps the [`Pace`]; callers wait for their commits as ever, and the
//! queue is short meanwhile.
//!
//! Invariant: no caller waits for admission. Who is refused is told when to come again.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::contract::{Error, Result};

use super::bytes::wide;
use super::inner::Inner;
use super::options::QUEUE_BYTES_MAX;
use super::queue::QueueState;
use crate::sleep::{Sleeper as _, ThreadSleeper};

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
/// Most bytes queued while commits are slowed down: as much as a memory table holds, but within these.
const SLOWED_QUEUE_BYTES: std::ops::RangeInclusive<u64> = 8 * 1024 * 1024..=64 * 1024 * 1024;
/// The longest time after which the pace is looked at again.
const PACE_LOOK_PERIOD: Duration = Duration::from_millis(5);
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
    pub(super) fn admission(&self, state: &QueueState, bytes: usize) -> Result<()> {
        let pressure = self.pressure.load(Ordering::Relaxed);
        if pressure >= PRESSURE_MAX {
            return Err(Error::busy("memory is not written to disk fast enough", RETRY_AFTER));
        }
        let queued = state.bytes();
        // One commit always gets in.
        if queued == 0 {
            return Ok(());
        }
        let whole = queued.saturating_add(bytes);
        if pressure == 0 {
            return match whole > QUEUE_BYTES_MAX {
                true => Err(Error::busy("too much is queued", Duration::from_millis(5))),
                false => Ok(()),
            };
        }
        let (least, most) = SLOWED_QUEUE_BYTES.into_inner();
        let most = self.options.memory_table_bytes.clamp(least, most);
        if wide(whole) <= most {
            return Ok(());
        }
        let wait = rate(pressure).map_or(RETRY_AFTER, |rate| time_for(wide(whole) - most, rate));
        Err(Error::busy(
            "background work is behind",
            wait.clamp(Duration::from_millis(1), Duration::from_millis(200)),
        ))
    }

    /// Waits until a group of `bytes` bytes may be written, as far as background work is behind. Only the
    /// commit thread calls this.
    pub(super) fn keep_pace(&self, pace: &mut Pace, bytes: usize) {
        loop {
            let rate = rate(self.pressure.load(Ordering::Relaxed));
            let Some(wait) = pace.wait(rate, self.clock.monotonic()) else { break };
            if self.queue.is_ending() {
                break;
            }
            ThreadSleeper.sleep(wait.min(PACE_LOOK_PERIOD));
        }
        pace.spend(bytes);
    }
}

/// Returns the bytes a second that are let in at a pressure; `None` for as many as there are. Where nothing
/// is admitted, what is queued already is written at the lowest rate.
fn rate(pressure: usize) -> Option<i64> {
    let rates = MEBIBYTES_PER_SECOND.get(pressure).or(MEBIBYTES_PER_SECOND.last());
    rates.filter(|_| pressure > 0).map(|rate| rate << 20)
}

/// Returns how long a rate takes for so many bytes.
fn time_for(bytes: u64, rate: i64) -> Duration {
    let rate = rate.max(1).unsigned_abs();
    Duration::from_micros(bytes.saturating_mul(1_000_000) / rate + 1)
}

/// The pace at which groups are written while background work is behind.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Bytes that may be written now; negative is debt.
    allowance: i64,
    /// The time at which the allowance was last raised.
    raised_at: Duration,
}

impl Pace {
    /// Returns how long to wait before the next group is written; `None` if it may be now.
    fn wait(&mut self, rate: Option<i64>, now: Duration) -> Option<Duration> {
        let since = now.saturating_sub(self.raised_at);
        self.raised_at = now;
        let Some(rate) = rate else {
            self.allowance = 0;
            return None;
        };
        self.allowance =
            self.allowance.saturating_add(earned(rate, since)).min(earned(rate, BURST_MAX));
        (self.allowance < 0).then(|| time_for(self.allowance.unsigned_abs(), rate))
    }

    fn spend(&mut self, bytes: usize) {
        let bytes = i64::try_from(wide(bytes)).unwrap_or(i64::MAX);
        self.allowance = self.allowance.saturating_sub(bytes);
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
    use super::{Backlog, Duration, PRESSURE_MAX, Pace, rate};

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
    fn a_group_is_paid_for_before_the_next_one() {
        let mut pace = Pace::default();
        let at = Duration::from_millis;
        assert_eq!(pace.wait(rate(3), at(0)), None);
        pace.spend(1 << 20);
        // 32 MiB a second.
        let wait = pace.wait(rate(3), at(0)).unwrap();
        assert!(wait > at(20) && wait < at(60), "{wait:?}");
        assert!(pace.wait(rate(3), at(10)).is_some());
        assert_eq!(pace.wait(rate(3), at(10) + wait), None);
        pace.spend(100 << 20);
        assert_eq!(pace.wait(rate(0), at(100)), None, "nothing is behind any more");
        assert_eq!(pace.wait(rate(7), at(100)), None, "and its debt is forgotten");
        pace.spend(4 << 20);
        assert_eq!(rate(PRESSURE_MAX), rate(7));
        assert!(pace.wait(rate(PRESSURE_MAX), at(900)).is_some());
        assert_eq!(pace.wait(rate(PRESSURE_MAX), at(1_101)), None);
    }

    #[test]
    fn small_memory_tables_are_no_reason_to_wait() {
        let small = Backlog { table_bytes: 4096, sealed_bytes: 6 * 4096, sealed: 6, runs: 4 };
        assert_eq!(small.pressure(), 0);
    }
}
