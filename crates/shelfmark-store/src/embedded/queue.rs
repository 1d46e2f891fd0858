//! The queue between writers and the commit thread.
//!
//! Queue order is commit order: a commit gets its number, its place in the newest layer and its
//! stripes under one lock. The layers of the queue are the pending table.
//!
//! What it is not: it validates nothing and writes nothing.
//!
//! Invariant: commit numbers of the slots are consecutive, and only the oldest slot can be in the
//! hands of the commit thread or of a caller that leads.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::contract::{CommitNumber, Committed, Completion, Error, ErrorKind, Result};

use super::fault;
use super::options::{GROUP_BYTES_MAX, GROUP_COMMITS_MAX};
use super::pending::Layer;

/// A group that is open, waiting, or being written.
pub(super) struct Slot {
    /// Its writes.
    pub(super) layer: Arc<Layer>,
    /// Number of its first commit.
    pub(super) first_commit: CommitNumber,
    /// Number of commits that it holds.
    pub(super) commits: u32,
    /// The approximate size of its body in bytes.
    pub(super) bytes: usize,
    done: Vec<(CommitNumber, Completion)>,
}

/// The state of the queue.
pub(super) enum Phase {
    /// Commits are accepted.
    Open,
    /// Commits are refused: the store is closed or closing.
    Closed,
    /// Commits are refused: a write failed with this error.
    Poisoned(Error),
}

/// The state that the queue's lock guards.
pub(super) struct QueueState {
    slots: VecDeque<Slot>,
    in_flight: bool,
    last_commit: CommitNumber,
    bytes: usize,
    /// True while the commit thread sleeps and must be woken.
    sleeping: bool,
    /// True if it sleeps until it is woken.
    sleeping_untimed: bool,
    /// Commits of the group that was written last.
    last_group_commits: u32,
    /// The phase: open, closed or poisoned.
    pub(super) phase: Phase,
    /// True if the memory table is to be sealed, however small it is.
    seal_requested: bool,
    /// True if a caller that led found work that is due between groups.
    due_requested: bool,
    stop: bool,
    /// True once a group failed.
    is_broken: bool,
}

/// The queue of groups.
pub(super) struct Queue {
    state: Mutex<QueueState>,
    wake: Condvar,
}

/// The next task of the commit thread.
pub(super) enum Work {
    /// Write this group, which stays in the queue until [`Queue::finish`].
    Group {
        /// Its writes.
        layer: Arc<Layer>,
        /// Number of its first commit.
        first_commit: CommitNumber,
        /// Number of commits that it holds.
        commits: u32,
        /// Bytes of their writes.
        bytes: usize,
    },
    /// Seal the memory table.
    Seal,
    /// Do what is due between groups.
    Due,
    /// Nothing was queued in the given time.
    Idle,
    /// Ask again: when to do what is due by time may be another.
    Again,
    /// Stop: the queue is empty and closed.
    Stop,
    /// Stop at once: a write failed.
    Broken,
}

/// Completions to be called once no lock is held.
#[must_use]
pub(super) struct Completions(Vec<(CommitNumber, Completion)>);

impl Completions {
    /// Completes every commit as durable and visible.
    pub(super) fn committed(self) {
        for (number, done) in self.0 {
            tell(done, Ok(Committed { number }));
        }
    }

    /// Completes every commit with `error`.
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
    /// Fails if commits are refused.
    pub(super) fn check_open(&self) -> Result<()> {
        match &self.phase {
            Phase::Open => Ok(()),
            Phase::Closed => Err(fault::closed()),
            Phase::Poisoned(cause) => Err(Error::new(
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

    /// Returns the slot of the one commit that is queued, if nobody writes it yet.
    fn lone(&self) -> Option<&Slot> {
        let first = self.slots.front().filter(|slot| slot.commits == 1 && !self.in_flight);
        first.filter(|_| self.slots.len() == 1)
    }

    /// Returns true if the commit thread has something to do at once.
    pub(super) fn is_due(&self) -> bool {
        !self.slots.is_empty() || self.seal_requested || self.due_requested || self.stop
    }

    /// Reserves a commit number and returns it with the layer to fill.
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

    /// Registers `done` to be called after everything queued; returns it if nothing is queued.
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
                sleeping_untimed: false,
                last_group_commits: 1,
                phase: Phase::Open,
                seal_requested: false,
                due_requested: false,
                stop: false,
                is_broken: false,
            }),
            wake: Condvar::new(),
        }
    }

    /// Locks the queue.
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

    /// Takes the lone commit before the commit thread does: its writes and its number. Nothing if others
    /// commit as well.
    pub(super) fn take_lone(&self) -> Option<(Arc<Layer>, CommitNumber)> {
        let mut state = self.lock();
        let lone = state.lone().filter(|_| state.last_group_commits == 1)?;
        let lone = (lone.layer.clone(), lone.first_commit);
        state.in_flight = true;
        Some(lone)
    }

    /// Asks the commit thread to seal the memory table.
    pub(super) fn request_seal(&self) {
        let mut state = self.lock();
        state.seal_requested = true;
        self.release(state);
    }

    /// Closes the queue to commits and lets the commit thread end once it is empty.
    pub(super) fn stop(&self) {
        let mut state = self.lock();
        if matches!(state.phase, Phase::Open) {
            state.phase = Phase::Closed;
        }
        state.stop = true;
        self.release(state);
    }

    /// Returns true if the commit thread is to end soon.
    pub(super) fn is_ending(&self) -> bool {
        let state = self.lock();
        state.stop || state.is_broken
    }

    /// Asks the commit thread to do what is due between groups.
    pub(super) fn request_due_work(&self) {
        let mut state = self.lock();
        state.due_requested = true;
        self.release(state);
    }

    /// Ends the commit thread after a failed group, whoever wrote it.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        state.is_broken = true;
        self.release(state);
    }

    /// Waits up to `idle_timeout` for a task. Only the commit thread calls this.
    pub(super) fn next(&self, idle_timeout: Option<Duration>) -> Work {
        let mut state = self.lock();
        let mut waited = false;
        loop {
            if state.is_broken {
                return Work::Broken;
            }
            // First, or a busy queue would put it off for ever.
            if std::mem::replace(&mut state.seal_requested, false) {
                return Work::Seal;
            }
            if std::mem::replace(&mut state.due_requested, false) {
                return Work::Due;
            }
            if let Some(slot) = state.slots.front().filter(|_| !state.in_flight) {
                let work = Work::Group {
                    layer: slot.layer.clone(),
                    first_commit: slot.first_commit,
                    commits: slot.commits,
                    bytes: slot.bytes,
                };
                state.in_flight = true;
                return work;
            }
            if state.stop && state.slots.is_empty() {
                return Work::Stop;
            }
            if waited {
                return if idle_timeout.is_some() { Work::Idle } else { Work::Again };
            }
            state.sleeping = true;
            state.sleeping_untimed = idle_timeout.is_none();
            state = match idle_timeout {
                Some(idle_timeout) => {
                    let (guard, timeout) = self
                        .wake
                        .wait_timeout(state, idle_timeout)
                        .unwrap_or_else(PoisonError::into_inner);
                    waited = timeout.timed_out();
                    guard
                }
                None => {
                    waited = true;
                    self.wake.wait(state).unwrap_or_else(PoisonError::into_inner)
                }
            };
            state.sleeping = false;
        }
    }

    /// Removes the group in flight from the queue, after `publish` made it visible under the
    /// queue's lock, and returns its completions.
    pub(super) fn finish(&self, publish: impl FnOnce()) -> Completions {
        let mut state = self.lock();
        publish();
        state.in_flight = false;
        let done = match state.slots.pop_front() {
            Some(slot) => {
                state.bytes = state.bytes.saturating_sub(slot.bytes);
                state.last_group_commits = slot.commits;
                slot.done
            }
            None => Vec::new(),
        };
        // It sleeps where a caller led; then it has what came meanwhile, and its clock to set.
        if state.sleeping && (state.is_due() || state.sleeping_untimed) {
            self.release(state);
        }
        Completions(done)
    }

    /// Poisons the queue with `cause` and returns the completions of all queued commits.
    pub(super) fn poison(&self, cause: Error) -> Completions {
        let mut state = self.lock();
        if matches!(state.phase, Phase::Open) {
            state.phase = Phase::Poisoned(cause);
        }
        state.in_flight = false;
        state.bytes = 0;
        let done = std::mem::take(&mut state.slots).into_iter().flat_map(|slot| slot.done);
        let told = Completions(done.collect());
        drop(state);
        told
    }
}
