//! Tracks the published state and the older states that snapshots still pin.
//!
//! A [`Pin`] is one moment that readers share. It holds a view of the tree, which holds memory
//! tables and table files, so it is bounded: past its age or past the bytes written since, the view
//! is taken out of it and its readers get `TooOld`. A read holds the view itself while it runs, so
//! taking the view out never hurts a read in flight.
//!
//! Invariant: positions and commit numbers of successive moments never fall.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;

use crate::clock::Clock;
use crate::contract::{
    CommitNumber, Direction, Error, ErrorKind, KeyRange, Page, Result, Row, ScanLimits, Snapshot,
    SnapshotId,
};
use crate::locks::lock;

use super::fault;
use super::tombstone_gaps::{self, TombstoneGaps};
use super::tree::{View, page_of};
use super::written::{Found, RecentWrites};

/// Snapshots opened at most this far apart share a pin, so the age of each is known with this
/// precision.
const PIN_SHARED_FOR: Duration = Duration::from_millis(100);

/// Longest life of a state that is pinned for a copy; bytes written meanwhile do not end it.
///
/// Source: ours; a copy of terabytes, and an end for one that was forgotten.
const COPY_AGE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Limits of snapshots, shared by all of them.
pub(super) struct Bounds {
    clock: Arc<dyn Clock>,
    age_max: Duration,
    bytes_max: u64,
    /// Bytes written since open.
    written: AtomicU64,
    closed: AtomicBool,
    /// Ranges of tombstones that scans skip.
    gaps: Arc<TombstoneGaps>,
    /// The keys that recent groups wrote.
    written_keys: Arc<RecentWrites>,
}

/// A pinned state of the store; it stays readable while somebody holds it.
pub(super) struct Pin {
    id: SnapshotId,
    opened: Duration,
    written_at: u64,
    view: Mutex<Option<Arc<View>>>,
    bounds: Arc<Bounds>,
    /// True if it is for a copy, whose bounds are wider.
    is_for_copy: bool,
}

/// The published state and the older pinned ones.
pub(super) struct SnapshotTracker {
    bounds: Arc<Bounds>,
    state: Mutex<State>,
}

struct State {
    current: Arc<Pin>,
    view: Arc<View>,
    held: VecDeque<Arc<Pin>>,
    /// Those for copies; they are apart because they do not age in the order of `held`.
    copied: Vec<Arc<Pin>>,
}

impl Pin {
    fn is_over(&self) -> bool {
        if self.is_for_copy {
            return self.age() > COPY_AGE_MAX;
        }
        let written = self.bounds.written.load(Ordering::Relaxed).saturating_sub(self.written_at);
        written > self.bounds.bytes_max || self.age() > self.bounds.age_max
    }

    fn age(&self) -> Duration {
        self.bounds.clock.monotonic().saturating_sub(self.opened)
    }

    /// Returns the view, if this state may still be read.
    pub(super) fn view(&self) -> Result<Arc<View>> {
        if self.bounds.closed.load(Ordering::Acquire) {
            return Err(fault::closed());
        }
        let too_old = || {
            Error::new(
                ErrorKind::TooOld,
                "the snapshot was held too long; take a new one and begin again",
            )
        };
        if self.is_over() {
            self.expire();
            return Err(too_old());
        }
        lock(&self.view).clone().ok_or_else(too_old)
    }

    /// Iterates over the rows of `range`, skipping a known gap in front.
    pub(super) fn rows(
        &self,
        view: &View,
        range: &KeyRange,
        direction: Direction,
    ) -> impl Iterator<Item = Result<Row>> + use<> {
        let Bounds { clock, gaps, .. } = &*self.bounds;
        let rest = gaps.step_over(range, direction, self.id.position);
        let range = rest.as_ref().unwrap_or(range);
        let mut rows = view.rows(range, direction, self.id.position).peekable();
        if self.is_for_copy {
            // The keys that were written since are not kept for it, so it cannot tell of gaps.
            return rows;
        }
        let began = clock.monotonic();
        let first = rows.peek();
        if clock.monotonic().saturating_sub(began) >= tombstone_gaps::SLOW {
            match first {
                Some(Ok(row)) => self.note_gap(range, direction, Some(&row.key)),
                Some(Err(_)) => {}
                None => self.note_gap(range, direction, None),
            }
        }
        rows
    }

    /// Remembers a gap in front of the first row of a range.
    fn note_gap(&self, range: &KeyRange, direction: Direction, first: Option<&Bytes>) {
        let Bounds { gaps, written_keys, .. } = &*self.bounds;
        let stretch = match (first, direction) {
            (None, _) => range.clone(),
            (Some(first), Direction::Ascending) => {
                KeyRange { start: range.start.clone(), end: Some(first.clone()) }
            }
            (Some(first), Direction::Descending) => range.after(first, Direction::Ascending),
        };
        let is_clean = gaps.enter(&stretch)
            && matches!(
                // This moment is held, so every group that was published since is there.
                written_keys.find(std::slice::from_ref(&stretch), self.id.commit, self.id.commit),
                Found::Nothing { .. }
            );
        match is_clean {
            true => gaps.allow(&stretch, self.id.position),
            false => gaps.forget(&stretch),
        }
    }

    fn expire(&self) {
        lock(&self.view).take();
    }

    fn is_expired(&self) -> bool {
        lock(&self.view).is_none()
    }

    /// Returns the sequence number that reads of this state stay below.
    pub(super) fn position(&self) -> u64 {
        self.id.position
    }
}

impl Snapshot for Pin {
    fn id(&self) -> SnapshotId {
        self.id
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        self.view()?.get(key, self.id.position)
    }

    fn get_many(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        let view = self.view()?;
        keys.iter().map(|key| view.get(key, self.id.position)).collect()
    }

    fn scan(&self, range: &KeyRange, direction: Direction, limits: ScanLimits) -> Result<Page> {
        let view = self.view()?;
        page_of(self.rows(&view, range, direction), range, direction, limits)
    }

    fn time_left(&self) -> Option<Duration> {
        if self.is_over() || self.is_expired() {
            return Some(Duration::ZERO);
        }
        let most = if self.is_for_copy { COPY_AGE_MAX } else { self.bounds.age_max };
        Some(most.saturating_sub(self.age()))
    }
}

impl SnapshotTracker {
    /// Creates the tracker with the state `id`, read through `view`.
    pub(super) fn new(
        clock: Arc<dyn Clock>,
        age_max: Duration,
        bytes_max: u64,
        id: SnapshotId,
        view: Arc<View>,
        (gaps, written_keys): (Arc<TombstoneGaps>, Arc<RecentWrites>),
    ) -> Self {
        let bounds = Arc::new(Bounds {
            clock,
            age_max,
            bytes_max,
            written: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            gaps,
            written_keys,
        });
        let current = pin(&bounds, id, &view);
        let (held, copied) = (VecDeque::new(), Vec::new());
        Self { bounds, state: Mutex::new(State { current, view, held, copied }) }
    }

    /// Returns the published state, pinned.
    pub(super) fn pin(&self) -> Arc<Pin> {
        let mut state = lock(&self.state);
        let age = self.bounds.clock.monotonic().saturating_sub(state.current.opened);
        let written = self.bounds.written.load(Ordering::Relaxed);
        if age > PIN_SHARED_FOR || written != state.current.written_at {
            let id = state.current.id;
            self.replace(&mut state, id);
        }
        state.current.clone()
    }

    /// Returns the published state, pinned for a copy.
    pub(super) fn pin_for_copy(&self) -> Arc<Pin> {
        let state = lock(&self.state);
        let (id, view) = (state.current.id, Arc::clone(&state.view));
        drop(state);
        // What is written from now on is not stepped over by who reads for hours.
        let view = Arc::new(view.frozen(id.position));
        let pinned = Arc::new(Pin { is_for_copy: true, ..pin_of(&self.bounds, id, &view) });
        lock(&self.state).copied.push(Arc::clone(&pinned));
        pinned
    }

    /// Returns the id of the published state.
    pub(super) fn current(&self) -> SnapshotId {
        lock(&self.state).current.id
    }

    /// Returns the view that new readers use.
    pub(super) fn view(&self) -> Arc<View> {
        lock(&self.state).view.clone()
    }

    /// Publishes the state `id`, for which `written` bytes were written since the last one. Returns
    /// the newest commit that the oldest pinned state includes, if an older one is read.
    pub(super) fn publish(&self, id: SnapshotId, written: u64) -> Option<CommitNumber> {
        self.bounds.written.fetch_add(written, Ordering::Relaxed);
        let mut state = lock(&self.state);
        self.replace(&mut state, id);
        // The oldest are in front, and the first that is within its bounds ends the search.
        while let Some(oldest) = state.held.front() {
            if Arc::strong_count(oldest) > 1 {
                if !oldest.is_expired() && !oldest.is_over() {
                    break;
                }
                oldest.expire();
            }
            state.held.pop_front();
        }
        state.held.front().map(|oldest| oldest.id.commit)
    }

    /// Replaces the view that new readers use; the published state stays.
    pub(super) fn install(&self, view: Arc<View>) {
        let mut state = lock(&self.state);
        state.view = view;
        let id = state.current.id;
        self.replace(&mut state, id);
    }

    fn replace(&self, state: &mut State, id: SnapshotId) {
        let next = pin(&self.bounds, id, &state.view);
        let old = std::mem::replace(&mut state.current, next);
        if Arc::strong_count(&old) > 1 {
            state.held.push_back(old);
        }
    }

    /// Forgets states that nobody pins and drops the views of expired ones.
    pub(super) fn sweep(&self) {
        let mut gone = Vec::new();
        let mut state = lock(&self.state);
        let held = std::mem::take(&mut state.held);
        for old in held {
            if Arc::strong_count(&old) == 1 {
                gone.push(old);
            } else {
                if old.is_over() {
                    old.expire();
                }
                state.held.push_back(old);
            }
        }
        for copied in std::mem::take(&mut state.copied) {
            if Arc::strong_count(&copied) == 1 || copied.is_over() {
                copied.expire();
                gone.push(copied);
            } else {
                state.copied.push(copied);
            }
        }
        drop(state);
        // Dropped outside the lock: with a view may go a memory table of many megabytes.
        drop(gone);
    }

    /// Returns how many older states are pinned and still readable, and the newest commit that the
    /// oldest of them includes.
    pub(super) fn held(&self) -> (u64, Option<u64>) {
        let state = lock(&self.state);
        let mut count = 0;
        let mut oldest: Option<u64> = None;
        let current = (Arc::strong_count(&state.current) > 1).then_some(&state.current);
        for pin in state.held.iter().chain(&state.copied).chain(current) {
            let readers = Arc::strong_count(pin) - 1;
            if readers > 0 && !pin.is_over() && !pin.is_expired() {
                count += u64::try_from(readers).unwrap_or(u64::MAX);
                let commit = pin.id.commit;
                oldest = Some(oldest.map_or(commit, |oldest| oldest.min(commit)));
            }
        }
        (count, oldest)
    }

    /// Returns true if [`SnapshotTracker::close`] was called.
    pub(super) fn is_closed(&self) -> bool {
        self.bounds.closed.load(Ordering::Acquire)
    }

    /// Ends all reads.
    pub(super) fn close(&self) {
        self.bounds.closed.store(true, Ordering::Release);
        let mut state = lock(&self.state);
        state.copied.drain(..).for_each(|pin| pin.expire());
        for pin in state.held.drain(..) {
            pin.expire();
        }
        state.current.expire();
        state.view = Arc::new(View::nothing());
    }
}

fn pin(bounds: &Arc<Bounds>, id: SnapshotId, view: &Arc<View>) -> Arc<Pin> {
    Arc::new(pin_of(bounds, id, view))
}

fn pin_of(bounds: &Arc<Bounds>, id: SnapshotId, view: &Arc<View>) -> Pin {
    Pin {
        id,
        opened: bounds.clock.monotonic(),
        written_at: bounds.written.load(Ordering::Relaxed),
        view: Mutex::new(Some(view.clone())),
        bounds: bounds.clone(),
        is_for_copy: false,
    }
}
