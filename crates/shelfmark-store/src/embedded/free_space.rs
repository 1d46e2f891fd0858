//! Free disk space: commits are refused while there is little, and accepted again when it returns.
//!
//! There are two thresholds, so that those who are refused can make room: below the higher one only
//! deletions are taken, below the reserve nothing is.
//!
//! What it is not: a promise. Others fill the disk too; a write that still finds no room fails like
//! any other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::Clock;
use crate::contract::{Error, ErrorKind, Result};

/// A function that returns how many bytes may still be written, if the system knows.
pub(super) type Probe = Box<dyn Fn() -> Option<u64> + Send + Sync>;

/// Asks the system again after this many bytes were written …
const ASK_EVERY_BYTES: u64 = 1024 * 1024;
/// … and after this long while commits are refused.
const ASK_EVERY: Duration = Duration::from_millis(100);

/// Monitors the free space of the file system that holds the store.
pub(super) struct FreeSpace {
    probe: Probe,
    /// Free bytes below which puts are refused.
    min: u64,
    /// Free bytes below which everything is refused.
    reserve: u64,
    clock: Arc<dyn Clock>,
    low: AtomicBool,
    gone: AtomicBool,
    /// Bytes written since the system was last asked.
    spent: AtomicU64,
    /// Time of the last check, in microseconds of the clock.
    asked_at: AtomicU64,
}

impl FreeSpace {
    /// Creates a monitor with two thresholds of free bytes: the first for puts, the second for
    /// everything.
    pub(super) fn new(probe: Probe, (min, reserve): (u64, u64), clock: Arc<dyn Clock>) -> Self {
        let space = Self {
            probe,
            min,
            reserve: reserve.min(min),
            clock,
            low: AtomicBool::new(false),
            gone: AtomicBool::new(false),
            spent: AtomicU64::new(0),
            asked_at: AtomicU64::new(0),
        };
        space.ask();
        space
    }

    /// Returns the free bytes, if the system knows.
    pub(super) fn free(&self) -> Option<u64> {
        (self.probe)()
    }

    /// Checks the free space now, and returns true if it is too little for puts.
    pub(super) fn ask(&self) -> bool {
        let free = self.free();
        let low = free.is_some_and(|free| free < self.min);
        self.low.store(low, Ordering::Relaxed);
        self.gone.store(free.is_some_and(|free| free < self.reserve), Ordering::Relaxed);
        self.spent.store(0, Ordering::Relaxed);
        self.asked_at.store(self.now(), Ordering::Relaxed);
        low
    }

    /// Notes that `bytes` were written.
    pub(super) fn spend(&self, bytes: u64) {
        if self.spent.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) >= ASK_EVERY_BYTES {
            self.ask();
        }
    }

    /// Returns true if so little is left that even merging files must wait.
    pub(super) fn is_nearly_gone(&self) -> bool {
        self.free().is_some_and(|free| free < self.reserve)
    }

    /// Refuses a commit while there is too little free space for it.
    pub(super) fn check(&self, is_deletion: bool) -> Result<()> {
        let short = if is_deletion { &self.gone } else { &self.low };
        if !short.load(Ordering::Relaxed) {
            return Ok(());
        }
        let waited = self.now().saturating_sub(self.asked_at.load(Ordering::Relaxed));
        if u128::from(waited) >= ASK_EVERY.as_micros() {
            self.ask();
            if !short.load(Ordering::Relaxed) {
                return Ok(());
            }
        }
        let text = if is_deletion {
            format!(
                "fewer than {} MiB are free on the disk, too few for deletions as well; writes go on \
                 once there is room",
                self.reserve >> 20
            )
        } else {
            format!(
                "fewer than {} MiB are free on the disk; writes go on once there is room, deletions \
                 do already",
                self.min >> 20
            )
        };
        Err(Error::new(ErrorKind::ReadOnly, text))
    }

    fn now(&self) -> u64 {
        u64::try_from(self.clock.monotonic().as_micros()).unwrap_or(u64::MAX)
    }
}
