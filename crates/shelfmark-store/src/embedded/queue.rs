//! The queue between writers and the commit thread.
//!
//! Queue order is commit order: a commit gets its number, its place in the newest layer and its
//! stripes under one lock. The layers of the queue are the pending table.
//!
//! What it is not: it validates nothing and writes nothing.
//!
//! Invariant: commit numbers of the slots are consecutive, and only the oldest slot can be in the
//! commit thread's hands.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::contract::{CommitNumber, Committed, Completion, Error, ErrorKind, Result};

use super::fault;
use super::options::{GROUP_BYTES_MAX, GROUP_COMMITS_MAX};
use super::pending::Layer;

/// A group that is being filled, waits, or is being written.
pub(super) struct Slot {
    /// What it writes.
    pub(super) layer: Arc<Layer>,
    /// Number of its first commit.
    pub(super) first_commit: CommitNumber,
    /// How many commits it holds.
    pub(super) commits: u32,
    /// About how many bytes its body will have.
    pub(super) bytes: usize,
    done: Vec<(CommitNumber, Completion)>,
}

/// Whether commits are taken.
pub(super) enum Phase {
    /// Yes.
    Open,
    /// No: the store is being closed or was.
    Closed,
    /// No: a write failed; this says how.
    Broken(Error),
}

/// What the queue's lock guards.
pub(super) struct QueueState {
    slots: VecDeque<Slot>,
    in_flight: bool,
    last_commit: CommitNumber,
    bytes: usize,
    /// The commit thread sleeps and must be woken.
    sleeping: bool,
    /// Whether commits are taken.
    pub(super) phase: Phase,
    /// Bytes that may be queued now while the background work is behind; negative is debt.
    pub(super) allowance: i64,
    /// When the allowance was last raised.
    pub(super) allowed_at: Duration,
    /// Somebody wants the memory table sealed, however small.
    seal_wanted: bool,
    stop: bool,
}

/// The queue.
pub(super) struct Queue {
    state: Mutex<QueueState>,
    wake: Condvar,
}

/// What the commit thread should do next.
pub(super) enum Work {
    /// Write this group. It stays in the queue until [`Queue::finish`].
    Group {
        /// Its writes.
        layer: Arc<Layer>,
        /// Number of its first commit.
        first_commit: CommitNumber,
        /// How many commits it holds.
        commits: u32,
    },
    /// Seal the memory table.
    Seal,
    /// Nothing came for the time given.
    Idle,
    /// End: nothing is queued, and nothing will be.
    Stop,
}

/// Completions to be run once no lock is held.
#[must_use]
pub(super) struct Told(Vec<(CommitNumber, Completion)>);

impl Told {
    /// Tells everybody that their commit is durable and visible.
    pub(super) fn committed(self) {
        for (number, done) in self.0 {
            tell(done, Ok(Committed { number }));
        }
    }

    /// Tells everybody that their commit ended with `error`.
    pub(super) fn failed(self, error: &Error) {
        for (_, done) in self.0 {
            tell(done, Err(error.clone()));
        }
    }
}

fn tell(done: Completion, outcome: Result<Committed>) {
    // A panic in somebody's completion must not stop the commits of others.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| done(outcome)));
}

impl QueueState {
    /// Fails if commits are not taken.
    pub(super) fn check_open(&self) -> Result<()> {
        match &self.phase {
            Phase::Open => Ok(()),
            Phase::Closed => Err(fault::closed()),
            Phase::Broken(cause) => Err(Error::new(
                ErrorKind::ReadOnly,
                format!("no more writes until the store is reopened, because earlier {cause}"),
            )
            .with_source(cause.clone())),
        }
    }

    /// Returns the number of the newest queued commit.
    pub(super) fn last_commit(&self) -> CommitNumber {
        self.last_commit
    }

    /// Returns how many bytes are queued.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns how many commits wait.
    pub(super) fn commits(&self) -> u64 {
        self.slots.iter().map(|slot| u64::from(slot.commits)).sum()
    }

    /// Returns the layers, the newest first.
    pub(super) fn layers(&self) -> impl Iterator<Item = &Arc<Layer>> {
        self.slots.iter().rev().map(|slot| &slot.layer)
    }

    /// Makes room for a commit of `bytes` bytes: returns its number and the layer to fill.
    pub(super) fn admit(&mut self, bytes: usize, done: Completion) -> (CommitNumber, Arc<Layer>) {
        let number = self.last_commit + 1;
        self.last_commit = number;
        self.bytes += bytes;
        let taken = usize::from(self.in_flight);
        let fits = self.slots.len() > taken
            && self.slots.back().is_some_and(|slot| {
                slot.bytes.saturating_add(bytes) <= GROUP_BYTES_MAX
                    && usize::try_from(slot.commits).unwrap_or(usize::MAX) < GROUP_COMMITS_MAX
            });
        if !fits {
            self.slots.push_back(Slot {
                layer: Arc::default(),
                first_commit: number,
                commits: 0,
                bytes: 0,
                done: Vec::new(),
            });
        }
        match self.slots.back_mut() {
            Some(slot) => {
                slot.commits += 1;
                slot.bytes += bytes;
                slot.done.push((number, done));
                (number, slot.layer.clone())
            }
            // There is a last slot: either it fitted or it was pushed.
            None => (number, Arc::default()),
        }
    }

    /// Lets `done` wait for everything queued; gives it back if nothing is.
    pub(super) fn wait_for_all(&mut self, done: Completion) -> Option<Completion> {
        match self.slots.back_mut() {
            Some(slot) => {
                slot.done.push((self.last_commit, done));
                None
            }
            None => Some(done),
        }
    }
}

impl Queue {
    /// Creates an open queue whose next commit follows `last_commit`.
    pub(super) fn new(last_commit: CommitNumber) -> Self {
        Self {
            state: Mutex::new(QueueState {
                slots: VecDeque::new(),
                in_flight: false,
                last_commit,
                bytes: 0,
                sleeping: false,
                phase: Phase::Open,
                allowance: 0,
                allowed_at: Duration::ZERO,
                seal_wanted: false,
                stop: false,
            }),
            wake: Condvar::new(),
        }
    }

    /// Takes the lock.
    pub(super) fn lock(&self) -> MutexGuard<'_, QueueState> {
        // Nothing under this lock panics half-way through a change that others rely on.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Releases the lock and wakes the commit thread if it sleeps.
    pub(super) fn release(&self, mut state: MutexGuard<'_, QueueState>) {
        let wake = std::mem::replace(&mut state.sleeping, false);
        drop(state);
        if wake {
            self.wake.notify_all();
        }
    }

    /// Asks the commit thread to seal the memory table.
    pub(super) fn want_seal(&self) {
        let mut state = self.lock();
        state.seal_wanted = true;
        self.release(state);
    }

    /// Takes no more commits and lets the commit thread end once the queue is empty.
    pub(super) fn stop(&self) {
        let mut state = self.lock();
        if matches!(state.phase, Phase::Open) {
            state.phase = Phase::Closed;
        }
        state.stop = true;
        self.release(state);
    }

    /// Waits up to `patience` for something to do. Only the commit thread calls this.
    pub(super) fn next(&self, patience: Option<Duration>) -> Work {
        let mut state = self.lock();
        let mut waited = false;
        loop {
            // First, or a busy queue would put it off for ever.
            if std::mem::replace(&mut state.seal_wanted, false) {
                return Work::Seal;
            }
            if let Some(slot) = state.slots.front() {
                let work = Work::Group {
                    layer: slot.layer.clone(),
                    first_commit: slot.first_commit,
                    commits: slot.commits,
                };
                state.in_flight = true;
                return work;
            }
            if state.stop {
                return Work::Stop;
            }
            if waited {
                return Work::Idle;
            }
            state.sleeping = true;
            state = match patience {
                Some(patience) => {
                    let (guard, timeout) = self
                        .wake
                        .wait_timeout(state, patience)
                        .unwrap_or_else(PoisonError::into_inner);
                    waited = timeout.timed_out();
                    guard
                }
                None => self.wake.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
            state.sleeping = false;
        }
    }

    /// Takes the group in flight out of the queue, once `publish` has made it visible under the
    /// queue's lock. Returns who waits for it.
    pub(super) fn finish(&self, publish: impl FnOnce()) -> Told {
        let mut state = self.lock();
        publish();
        state.in_flight = false;
        let done = match state.slots.pop_front() {
            Some(slot) => {
                state.bytes = state.bytes.saturating_sub(slot.bytes);
                slot.done
            }
            None => Vec::new(),
        };
        drop(state);
        Told(done)
    }

    /// Takes no more commits because of `cause`. Returns everybody who waits.
    pub(super) fn break_off(&self, cause: Error) -> Told {
        let mut state = self.lock();
        if matches!(state.phase, Phase::Open) {
            state.phase = Phase::Broken(cause);
        }
        state.in_flight = false;
        state.bytes = 0;
        let done = std::mem::take(&mut state.slots).into_iter().flat_map(|slot| slot.done);
        let told = Told(done.collect());
        drop(state);
        told
    }
}
