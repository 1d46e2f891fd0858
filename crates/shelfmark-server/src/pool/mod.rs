//! The thread pool of heavy and waiting requests, so that the threads that serve connections never
//! block.
//!
//! Heavy requests compute: few of them run at once, in the order in which they came, and a long one
//! goes to the end of the queue between two of its pages ([`Pool::pause`]); it keeps its thread there,
//! so there is a limit of those that have begun. Requests that wait have threads of their own beside
//! them. What finds the queue full is refused at once.
//!
//! What it is not: part of the runtime. Its threads hold up neither the runtime's end nor the
//! process's, so that a server stops although a request hangs ([`Pool::stop`]).
//!
//! Invariant: work that was handed over is told exactly once that it is admitted or refused.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use shelfmark_engine::weight::{self, Refused, Weight, Work};
use shelfmark_store::{Caps, threads};
use tokio::runtime::Handle;

use crate::limits::{POOL_IDLE_TIME_MAX, POOL_QUEUE_MAX, POOL_WAITING_MAX};

/// The limits of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolSize {
    /// Most heavy requests that compute at once.
    pub computing: usize,
    /// Most heavy requests that have begun, whether they compute or pause: each keeps a thread.
    pub begun: usize,
    /// Most waiting requests: each keeps a thread.
    pub waiting: usize,
    /// Most requests of either kind that have not begun; more are refused.
    pub queued: usize,
}

impl PoolSize {
    /// Returns the limits for a store with these capabilities, on a machine with so many
    /// processors, where the embedded store is to have no more than `threads`.
    #[must_use]
    pub fn of(caps: &Caps, processors: usize, threads: usize) -> Self {
        let begun = (threads / 2).max(1);
        let waiting = if caps.reads_may_wait { POOL_WAITING_MAX } else { (threads - begun).max(1) };
        Self { computing: processors.clamp(1, begun), begun, waiting, queued: POOL_QUEUE_MAX }
    }
}

/// The thread pool; clones share its threads.
#[derive(Clone)]
pub struct Pool {
    inner: Arc<Inner>,
    runtime: Handle,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("size", &self.inner.size).finish_non_exhaustive()
    }
}

struct Inner {
    size: PoolSize,
    state: Mutex<State>,
    /// Signals that a thread has work assigned.
    assigned: Condvar,
    /// Signals that a thread has ended its work.
    ended: Condvar,
    /// Length of [`State::ready`], readable without the lock.
    ready: AtomicUsize,
}

#[derive(Default)]
struct State {
    /// Heavy requests that are ready to compute, in order.
    ready: VecDeque<Ready>,
    /// Requests that wait and have not begun.
    waits: VecDeque<Work>,
    /// Work that is assigned to a thread.
    assigned: VecDeque<(Weight, Work)>,
    /// Heavy requests in `ready` that have not begun.
    unbegun: usize,
    computing: usize,
    begun: usize,
    waiting: usize,
    threads: usize,
    idle: usize,
    /// Threads that are about to look for work.
    coming: usize,
    is_stopped: bool,
}

/// A heavy request that is ready to compute.
enum Ready {
    New(Work),
    /// It has begun and is paused; calling it wakes its thread.
    Paused(Arc<Turn>),
}

/// The turn of a paused request.
#[derive(Default)]
struct Turn {
    is_mine: Mutex<bool>,
    called: Condvar,
}

impl Turn {
    fn call(&self) {
        *self.is_mine.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.called.notify_one();
    }

    fn wait(&self) {
        let mut is_mine = self.is_mine.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_mine {
            is_mine = self.called.wait(is_mine).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

thread_local! {
    /// Identifies the pool whose heavy work this thread runs, by the address of its state; 0 for
    /// none.
    static COMPUTES_FOR: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl Pool {
    /// Creates a pool, whose threads are started when there is work for them. `runtime` is where
    /// short work of connections is shared out.
    #[must_use]
    pub fn new(size: PoolSize, runtime: Handle) -> Self {
        let inner = Inner {
            size,
            state: Mutex::default(),
            assigned: Condvar::new(),
            ended: Condvar::new(),
            ready: AtomicUsize::new(0),
        };
        Self { inner: Arc::new(inner), runtime }
    }

    /// Refuses all work from now on, what has not begun included, and waits for what has begun, for
    /// at most `time`. `false` if something runs on: it ends with the process.
    #[must_use]
    pub fn stop(&self, time: Duration) -> bool {
        let mut state = self.inner.state();
        state.is_stopped = true;
        let mut refused: Vec<Work> = state.waits.drain(..).collect();
        let ready = std::mem::take(&mut state.ready);
        for own in ready {
            match own {
                Ready::New(work) => refused.push(work),
                paused @ Ready::Paused(_) => state.ready.push_back(paused),
            }
        }
        state.unbegun = 0;
        self.inner.note_ready(&state);
        drop(state);
        refused.into_iter().for_each(|work| work(Err(Refused)));
        self.inner.assigned.notify_all();
        let state = self.inner.state();
        let is_busy = |state: &mut State| state.begun + state.waiting > 0;
        let waited = self.inner.ended.wait_timeout_while(state, time, is_busy);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

impl weight::Pool for Pool {
    fn run(&self, weight: Weight, work: Work) {
        let mut state = self.inner.state();
        let queued = if weight == Weight::Waiting { state.waits.len() } else { state.unbegun };
        if state.is_stopped || queued >= self.inner.size.queued {
            drop(state);
            return work(Err(Refused));
        }
        if weight == Weight::Waiting {
            state.waits.push_back(work);
        } else {
            state.unbegun += 1;
            state.ready.push_back(Ready::New(work));
        }
        self.inner.dispatch(state);
    }

    fn share(&self, work: Box<dyn FnOnce() + Send>) {
        drop(self.runtime.spawn(async move { work() }));
    }

    fn pause(&self) {
        let own = Arc::as_ptr(&self.inner).addr();
        if COMPUTES_FOR.get() != own || self.inner.ready.load(Ordering::Relaxed) == 0 {
            return;
        }
        let turn = Arc::new(Turn::default());
        let mut state = self.inner.state();
        state.computing -= 1;
        state.ready.push_back(Ready::Paused(Arc::clone(&turn)));
        self.inner.dispatch(state);
        turn.wait();
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_ready(&self, state: &State) {
        self.ready.store(state.ready.len(), Ordering::Relaxed);
    }

    /// Assigns turns and threads that are free.
    fn dispatch(self: &Arc<Self>, mut state: MutexGuard<'_, State>) {
        while state.waiting < self.size.waiting
            && let Some(work) = state.waits.pop_front()
        {
            state.waiting += 1;
            state.assigned.push_back((Weight::Waiting, work));
        }
        while state.computing < self.size.computing
            && let Some(next) = state.next_to_compute(self.size.begun)
        {
            state.computing += 1;
            match next {
                Ready::Paused(turn) => turn.call(),
                Ready::New(work) => {
                    state.begun += 1;
                    state.assigned.push_back((Weight::Heavy, work));
                }
            }
        }
        self.note_ready(&state);
        let untaken = state.assigned.len().saturating_sub(state.coming);
        let woken = untaken.min(state.idle);
        let started = untaken - woken;
        state.threads += started;
        state.coming += started;
        drop(state);
        (0..woken).for_each(|_| self.assigned.notify_one());
        (0..started).for_each(|_| self.start_thread());
    }

    fn start_thread(self: &Arc<Self>) {
        let inner = Arc::clone(self);
        if let Err(error) = threads::spawn("shelfmark-pool", move || inner.serve()) {
            tracing::warn!("a thread of the pool cannot be started: {error}");
            let mut state = self.state();
            state.threads -= 1;
            state.coming -= 1;
            // Where there is none at all, nobody would ever take it.
            let lost = if state.threads == 0 { state.assigned.pop_front() } else { None };
            if let Some((weight, _)) = &lost {
                state.end(*weight);
            }
            drop(state);
            if let Some((_, work)) = lost {
                work(Err(Refused));
            }
        }
    }

    /// Runs work until there is none for a while.
    fn serve(self: &Arc<Self>) {
        let mut state = self.state();
        state.coming -= 1;
        loop {
            if let Some((weight, work)) = state.assigned.pop_front() {
                drop(state);
                self.work(weight, work);
                state = self.state();
                state.end(weight);
                if state.is_stopped {
                    self.ended.notify_all();
                }
                // What this frees, this thread takes.
                state.coming += 1;
                self.dispatch(state);
                state = self.state();
                state.coming -= 1;
                continue;
            }
            if state.is_stopped {
                break;
            }
            state.idle += 1;
            let waited = self.assigned.wait_timeout(state, POOL_IDLE_TIME_MAX);
            let (guard, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = guard;
            state.idle -= 1;
            if timeout.timed_out() && state.assigned.is_empty() {
                break;
            }
        }
        state.threads -= 1;
    }

    fn work(self: &Arc<Self>, weight: Weight, work: Work) {
        let own = if weight == Weight::Waiting { 0 } else { Arc::as_ptr(self).addr() };
        COMPUTES_FOR.set(own);
        if catch_unwind(AssertUnwindSafe(|| work(Ok(())))).is_err() {
            // The panic has been told already; the request's client is answered by what it held.
            tracing::error!("a request ended in a panic");
        }
        COMPUTES_FOR.set(0);
    }
}

impl State {
    /// Takes the next heavy request: the first, or the first that has begun where no more may
    /// begin.
    fn next_to_compute(&mut self, begun_max: usize) -> Option<Ready> {
        let at = if self.begun < begun_max {
            0
        } else {
            self.ready.iter().position(|own| matches!(own, Ready::Paused(_)))?
        };
        let next = self.ready.remove(at)?;
        if matches!(next, Ready::New(_)) {
            self.unbegun -= 1;
        }
        Some(next)
    }

    /// Notes that work has ended.
    fn end(&mut self, weight: Weight) {
        if weight == Weight::Waiting {
            self.waiting -= 1;
        } else {
            self.begun -= 1;
            self.computing -= 1;
        }
    }
}

#[cfg(test)]
mod tests;
