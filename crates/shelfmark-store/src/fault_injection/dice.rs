//! Draws every injected fault from the seed.
//!
//! Invariant: a call draws the same number of times whatever comes out, so one fault more or less
//! does not shift the ones after it. Commits and reads have streams of their own: a read more does
//! not shift the faults of the commits.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::options::FaultOptions;
use crate::locks::lock;
use crate::random::SplitMix;

/// The faults of one commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fate {
    pub(super) is_busy: bool,
    pub(super) is_conflict: bool,
    /// True if it ends as undetermined; the value says if it was applied.
    pub(super) undetermined: Option<bool>,
    pub(super) is_late: bool,
    /// Selects one of the validated keys.
    pub(super) pick: u64,
}

/// The faults of one page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PageFate {
    pub(super) rows_max: usize,
    pub(super) is_empty: bool,
    /// True if the last page is followed by an empty one.
    pub(super) is_followed: bool,
}

/// Counters of injected faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Injected {
    /// Commits refused with `Conflict` although nobody wrote their keys.
    pub conflicts: u64,
    /// Commits refused with `Busy`.
    pub busy: u64,
    /// Commits that ended as `Undetermined` and were applied.
    pub undetermined_applied: u64,
    /// Commits that ended as `Undetermined` and left nothing.
    pub undetermined_lost: u64,
    /// Snapshots that were too old at once.
    pub too_old: u64,
    /// Commits acknowledged from another thread.
    pub late: u64,
    /// Empty pages of a range that goes on.
    pub empty_pages: u64,
    /// Times that `latest` returned the published state.
    pub behind: u64,
}

pub(super) struct Dice {
    options: FaultOptions,
    commits: Mutex<SplitMix>,
    reads: Mutex<SplitMix>,
    has_faults: AtomicBool,
    counts: Counts,
}

#[derive(Default)]
pub(super) struct Counts {
    pub(super) conflicts: AtomicU64,
    pub(super) busy: AtomicU64,
    pub(super) undetermined_applied: AtomicU64,
    pub(super) undetermined_lost: AtomicU64,
    pub(super) too_old: AtomicU64,
    pub(super) late: AtomicU64,
    pub(super) empty_pages: AtomicU64,
    pub(super) behind: AtomicU64,
}

impl Dice {
    pub(super) fn new(options: FaultOptions) -> Self {
        let mut seeds = SplitMix::new(options.seed);
        Self {
            commits: Mutex::new(seeds.fork()),
            reads: Mutex::new(seeds.fork()),
            has_faults: AtomicBool::new(true),
            counts: Counts::default(),
            options,
        }
    }

    pub(super) fn options(&self) -> &FaultOptions {
        &self.options
    }

    pub(super) fn set_faults(&self, are_on: bool) {
        self.has_faults.store(are_on, Ordering::SeqCst);
    }

    /// Draws the faults of a commit.
    pub(super) fn commit(&self) -> Fate {
        let faults = self.has_faults.load(Ordering::SeqCst);
        let mut stream = lock(&self.commits);
        let is_busy = stream.chance(self.options.busy) && faults;
        let is_conflict = stream.chance(self.options.conflict) && faults;
        let is_undetermined = stream.chance(self.options.undetermined) && faults;
        let is_applied = stream.chance(500);
        let is_late = stream.chance(self.options.late);
        let pick = stream.next_u64();
        let undetermined = is_undetermined.then_some(is_applied);
        Fate { is_busy, is_conflict, undetermined, is_late, pick }
    }

    /// Draws the faults of a page that may have `rows_max` rows.
    pub(super) fn page(&self, rows_max: usize) -> PageFate {
        let mut stream = lock(&self.reads);
        let rows = self.options.page_rows_max.min(rows_max).max(1);
        PageFate {
            rows_max: 1 + stream.index(rows),
            // A page in ten at least goes on, whatever was asked for: a scan must end.
            is_empty: stream.chance(self.options.empty_page.min(900)),
            is_followed: stream.chance(self.options.empty_page.min(900)),
        }
    }

    /// Draws if a new snapshot is too old at once.
    pub(super) fn is_too_old(&self) -> bool {
        let faults = self.has_faults.load(Ordering::SeqCst);
        lock(&self.reads).chance(self.options.too_old) && faults
    }

    /// Draws if `latest` returns only the published state.
    pub(super) fn is_behind(&self) -> bool {
        lock(&self.reads).chance(self.options.behind)
    }

    /// Returns a random stream for one call, which may draw any number of times.
    pub(super) fn fork_reads(&self) -> SplitMix {
        lock(&self.reads).fork()
    }

    pub(super) fn count(&self, which: impl FnOnce(&Counts) -> &AtomicU64) {
        which(&self.counts).fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn injected(&self) -> Injected {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Injected {
            conflicts: of(&self.counts.conflicts),
            busy: of(&self.counts.busy),
            undetermined_applied: of(&self.counts.undetermined_applied),
            undetermined_lost: of(&self.counts.undetermined_lost),
            too_old: of(&self.counts.too_old),
            late: of(&self.counts.late),
            empty_pages: of(&self.counts.empty_pages),
            behind: of(&self.counts.behind),
        }
    }
}
