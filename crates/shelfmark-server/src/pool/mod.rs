//! The thread pool of heavy and waiting requests, so that the threads that serve connections never
//! block.
//!
//! Heavy requests compute: few of them run at once, clients take turns ([`turns`]), and a long one
//! lets others have theirs between two of its pages ([`Pool::pause`]); it keeps its thread there, so
//! there is a limit of those that have begun. Work that writes to a disk gives its turn away meanwhile
//! ([`Pool::beside`]). The threads have a low priority: where the processors are taken, the threads that
//! serve connections come first. Requests that wait, and logins, have threads of their own beside them.
//! What finds the queue full, or its client's part of it, is refused at once.
//!
//! What it is not: part of the runtime. Its threads hold up neither the runtime's end nor the
//! process's, so that a server stops although a request hangs ([`Pool::stop`]).
//!
//! Invariant: work that was handed over is told exactly once that it is admitted or refused.

mod shared;
mod turns;

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use shelfmark_engine::weight::{self, Asker, Refused, Weight, Work};
use shelfmark_store::{Caps, threads};
use tokio::runtime::Handle;

use crate::limits::{
    HEAVY_NICENESS, POOL_BEGUN_TIMES, POOL_IDLE_TIME_MAX, POOL_LOGINS_MAX, POOL_QUEUE_MAX,
    POOL_SHORT_TURNS_MAX, POOL_WAITING_MAX,
};
use shared::Shared;
use turns::{Address, Turns, address};

/// The limits of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolSize {
    /// Most heavy requests that compute at once.
    pub computing: usize,
    /// Most heavy requests that have begun, whether they compute or pause: each keeps a thread.
    pub begun: usize,
    /// Most waiting requests: each keeps a thread.
    pub waiting: usize,
    /// Most logins that are checked at once.
    pub logins: usize,
    /// Most requests of each kind that have not begun; more are refused.
    pub queued: usize,
}

impl PoolSize {
    /// Returns the limits for a store with these capabilities, on a machine with so many
    /// processors, where the embedded store is to have about so many `threads` that do something. Those
    /// that stand in line for their next turn come beside.
    #[must_use]
    pub fn of(caps: &Caps, processors: usize, threads: usize) -> Self {
        let half = (threads / 2).max(1);
        let waiting = if caps.reads_may_wait { POOL_WAITING_MAX } else { (threads - half).max(1) };
        Self {
            computing: processors.clamp(1, half),
            begun: threads * POOL_BEGUN_TIMES,
            waiting,
            logins: POOL_LOGINS_MAX,
            queued: POOL_QUEUE_MAX,
        }
    }
}

/// The thread pool; clones share its threads.
#[derive(Clone)]
pub struct Pool {
    inner: Arc<Inner>,
    shared: Arc<Shared>,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("size", &self.inner.size).finish_non_exhaustive()
    }
}

struct Inner {
    size: PoolSize,
    state: Mutex<State>,
    /// A thread for heavy requests has something to do.
    heavy: Condvar,
    /// A thread for requests that wait has something to do.
    waiting: Condvar,
    /// A thread for logins has something to do.
    logins: Condvar,
    /// A thread has nothing to do any more.
    ended: Condvar,
    /// Heavy requests that want to compute, to be read without the lock.
    ready: AtomicUsize,
}

#[derive(Default)]
struct State {
    heavy: Lane,
    waiting: Lane,
    logins: Lane,
    /// Heavy requests that have begun and want to go on; whoever calls one wakes its thread.
    paused: Turns<Arc<Turn>>,
    /// Those of them that have had many turns: short ones do not wait for one turn of each of these.
    paused_long: Turns<Arc<Turn>>,
    computing: usize,
    /// The line from which a heavy request was let in last.
    last: Line,
    is_stopped: bool,
}

/// A line in which heavy requests stand; the lines take turns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Line {
    /// Those that have not begun.
    #[default]
    New,
    /// Those that have had a few turns.
    Short,
    /// Those that have had many.
    Long,
}

impl Line {
    /// Returns the lines in the order in which they come behind this one.
    fn behind(self) -> [Self; 3] {
        match self {
            Self::New => [Self::Short, Self::Long, Self::New],
            Self::Short => [Self::Long, Self::New, Self::Short],
            Self::Long => [Self::New, Self::Short, Self::Long],
        }
    }
}

/// Requests of one kind, and the threads for them.
#[derive(Default)]
struct Lane {
    /// They have not begun.
    queued: Turns<Work>,
    /// Number of requests of each address that have begun and not ended.
    begun: HashMap<Address, usize>,
    begun_of_all: usize,
    /// Work that a thread is to take, and does so at once.
    assigned: VecDeque<(Asker, Work)>,
    threads: usize,
    idle: usize,
    /// Threads that are about to look for work.
    coming: usize,
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
    /// Identifies the pool whose heavy work this thread runs while it computes, by the address of its
    /// state, and for whom; 0 for none.
    static COMPUTES_FOR: std::cell::Cell<(usize, Asker)> = const { std::cell::Cell::new((0, None)) };
    /// The number of turns that the request of this thread has had.
    static TURNS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl Pool {
    /// Creates a pool, whose threads are started when there is work for them. `runtime` is where
    /// short work of connections is shared out.
    #[must_use]
    pub fn new(size: PoolSize, runtime: Handle) -> Self {
        let inner = Inner {
            size,
            state: Mutex::default(),
            heavy: Condvar::new(),
            waiting: Condvar::new(),
            logins: Condvar::new(),
            ended: Condvar::new(),
            ready: AtomicUsize::new(0),
        };
        Self { inner: Arc::new(inner), shared: Shared::new(runtime) }
    }

    /// Refuses all work from now on, what has not begun included, and waits for what has begun, for
    /// at most `time`. `false` if something runs on: it ends with the process.
    #[must_use]
    pub fn stop(&self, time: Duration) -> bool {
        let mut state = self.inner.state();
        state.is_stopped = true;
        let mut refused: Vec<Work> = state.waiting.queued.drain();
        refused.extend(state.heavy.queued.drain());
        refused.extend(state.logins.queued.drain());
        self.inner.note_ready(&state);
        drop(state);
        refused.into_iter().for_each(|work| work(Err(Refused)));
        self.inner.heavy.notify_all();
        self.inner.waiting.notify_all();
        self.inner.logins.notify_all();
        let state = self.inner.state();
        let is_busy = |state: &mut State| {
            state.heavy.begun_of_all + state.waiting.begun_of_all + state.logins.begun_of_all > 0
        };
        let waited = self.inner.ended.wait_timeout_while(state, time, is_busy);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

impl weight::Pool for Pool {
    fn run(&self, asker: Asker, weight: Weight, work: Work) {
        let queued_max = self.inner.size.queued;
        let mut state = self.inner.state();
        let queued = &mut state.lane(Kind::of(weight)).queued;
        // The other half is for clients elsewhere.
        let is_full = queued.len() >= queued_max
            || queued.len() >= queued_max / 2
                && queued.len_of(address(asker)) >= queued_max.div_ceil(2);
        if state.is_stopped || is_full {
            drop(state);
            return work(Err(Refused));
        }
        state.lane(Kind::of(weight)).queued.push(asker, work);
        self.inner.dispatch(state);
    }

    fn share(&self, asker: Asker, work: Box<dyn FnOnce() + Send>) {
        self.shared.run(asker, work);
    }

    fn forget(&self, asker: Asker) {
        let mut state = self.inner.state();
        let mut lost = state.heavy.queued.take_of(asker);
        lost.extend(state.waiting.queued.take_of(asker));
        lost.extend(state.logins.queued.take_of(asker));
        self.inner.note_ready(&state);
        drop(state);
        lost.into_iter().for_each(|work| work(Err(Refused)));
    }

    fn pause(&self) {
        let (own, asker) = COMPUTES_FOR.get();
        let is_own = own == Arc::as_ptr(&self.inner).addr();
        if is_own && self.inner.ready.load(Ordering::Relaxed) > 0 {
            let mut state = self.inner.state();
            state.last = own_line();
            self.inner.leave(&mut state);
            self.inner.come_back(state, asker);
        }
    }

    fn beside(&self, work: &mut dyn FnMut()) {
        let (own, asker) = COMPUTES_FOR.get();
        if own != Arc::as_ptr(&self.inner).addr() {
            return work();
        }
        let mut state = self.inner.state();
        self.inner.leave(&mut state);
        self.inner.dispatch(state);
        // It comes back however the work ends: the pool counts on that.
        let _left = Left { inner: &self.inner, asker };
        COMPUTES_FOR.set((0, None));
        work();
    }
}

/// A heavy request that has given its turn away.
struct Left<'i> {
    inner: &'i Arc<Inner>,
    asker: Asker,
}

impl Drop for Left<'_> {
    fn drop(&mut self) {
        self.inner.come_back(self.inner.state(), self.asker);
        COMPUTES_FOR.set((Arc::as_ptr(self.inner).addr(), self.asker));
    }
}

/// The kind of work of a thread of the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Heavy,
    Waiting,
    Login,
}

impl Kind {
    fn of(weight: Weight) -> Self {
        match weight {
            Weight::Light | Weight::Page | Weight::Heavy => Self::Heavy,
            Weight::Waiting => Self::Waiting,
            Weight::Login => Self::Login,
        }
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_ready(&self, state: &State) {
        let paused = state.paused.len() + state.paused_long.len();
        self.ready.store(paused + state.heavy.queued.len(), Ordering::Relaxed);
    }

    fn assigned(&self, kind: Kind) -> &Condvar {
        match kind {
            Kind::Heavy => &self.heavy,
            Kind::Waiting => &self.waiting,
            Kind::Login => &self.logins,
        }
    }

    /// Gives the turn of a heavy request away that goes on later.
    fn leave(&self, state: &mut State) {
        state.computing -= 1;
    }

    /// Waits for the next turn of a heavy request that has given its own away.
    fn come_back(self: &Arc<Self>, mut state: MutexGuard<'_, State>, asker: Asker) {
        let turn = Arc::new(Turn::default());
        let line =
            if own_line() == Line::Long { &mut state.paused_long } else { &mut state.paused };
        line.push(asker, Arc::clone(&turn));
        self.dispatch(state);
        turn.wait();
        TURNS.set(TURNS.get() + 1);
    }

    /// Assigns turns and threads that are free.
    fn dispatch(self: &Arc<Self>, mut state: MutexGuard<'_, State>) {
        while state.waiting.begin(self.size.waiting) {}
        while state.logins.begin(self.size.logins) {}
        while state.computing < self.size.computing && state.compute_next(self.size.begun) {
            state.computing += 1;
        }
        self.note_ready(&state);
        let kinds = [Kind::Heavy, Kind::Waiting, Kind::Login];
        let wanted = kinds.map(|kind| (kind, state.lane(kind).want()));
        drop(state);
        for (kind, (woken, started)) in wanted {
            (0..woken).for_each(|_| self.assigned(kind).notify_one());
            (0..started).for_each(|_| self.start_thread(kind));
        }
    }

    fn start_thread(self: &Arc<Self>, kind: Kind) {
        let inner = Arc::clone(self);
        let name = match kind {
            Kind::Heavy => "shelfmark-heavy",
            Kind::Waiting => "shelfmark-wait",
            Kind::Login => "shelfmark-login",
        };
        if let Err(error) = threads::spawn(name, move || inner.serve(kind)) {
            tracing::warn!("a thread of the pool cannot be started: {error}");
            let mut state = self.state();
            let lane = state.lane(kind);
            lane.threads -= 1;
            lane.coming -= 1;
            // Where there is none at all, nobody would ever take it.
            let lost = if lane.threads == 0 { lane.assigned.pop_front() } else { None };
            if let Some((asker, _)) = &lost {
                state.end(kind, *asker);
            }
            drop(state);
            if let Some((_, work)) = lost {
                work(Err(Refused));
            }
        }
    }

    /// Runs work until there is none for a while.
    fn serve(self: &Arc<Self>, kind: Kind) {
        if kind != Kind::Waiting {
            give_way();
        }
        let mut state = self.state();
        state.lane(kind).coming -= 1;
        loop {
            if let Some((asker, work)) = state.lane(kind).assigned.pop_front() {
                drop(state);
                self.work(kind, asker, work);
                state = self.state();
                state.end(kind, asker);
                if state.is_stopped {
                    self.ended.notify_all();
                }
                // What this frees, this thread takes.
                state.lane(kind).coming += 1;
                self.dispatch(state);
                state = self.state();
                state.lane(kind).coming -= 1;
                continue;
            }
            if state.is_stopped {
                break;
            }
            state.lane(kind).idle += 1;
            let waited = self.assigned(kind).wait_timeout(state, POOL_IDLE_TIME_MAX);
            let (guard, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = guard;
            let lane = state.lane(kind);
            lane.idle -= 1;
            if timeout.timed_out() && lane.assigned.is_empty() {
                break;
            }
        }
        state.lane(kind).threads -= 1;
    }

    fn work(self: &Arc<Self>, kind: Kind, asker: Asker, work: Work) {
        let own = if kind == Kind::Heavy { Arc::as_ptr(self).addr() } else { 0 };
        COMPUTES_FOR.set((own, asker));
        TURNS.set(0);
        if catch_unwind(AssertUnwindSafe(|| work(Ok(())))).is_err() {
            // The panic has been told already; the request's client is answered by what it held.
            tracing::error!("a request ended in a panic");
        }
        COMPUTES_FOR.set((0, None));
    }
}

/// Returns the line in which the request of this thread stands for its next turn.
fn own_line() -> Line {
    if TURNS.get() < POOL_SHORT_TURNS_MAX { Line::Short } else { Line::Long }
}

/// Lowers the priority of this thread for good, where the system has one per thread.
fn give_way() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, HEAVY_NICENESS) {
        tracing::debug!("the priority of a thread cannot be lowered: {error}");
    }
}

impl State {
    fn lane(&mut self, kind: Kind) -> &mut Lane {
        match kind {
            Kind::Heavy => &mut self.heavy,
            Kind::Waiting => &mut self.waiting,
            Kind::Login => &mut self.logins,
        }
    }

    /// Lets the heavy request compute whose turn it is: one of each line in turns, and none from a line
    /// that is empty or where no more may begin. Returns false if there is none.
    fn compute_next(&mut self, begun_max: usize) -> bool {
        for line in self.last.behind() {
            let is_let_in = match line {
                Line::New => self.heavy.begin(begun_max),
                Line::Short => resume(&mut self.paused),
                Line::Long => resume(&mut self.paused_long),
            };
            if is_let_in {
                self.last = line;
                return true;
            }
        }
        false
    }

    /// Notes that work is done.
    fn end(&mut self, kind: Kind, asker: Asker) {
        self.lane(kind).end(address(asker));
        if kind == Kind::Heavy {
            self.computing -= 1;
        }
    }
}

fn resume(paused: &mut Turns<Arc<Turn>>) -> bool {
    paused.pop(|_| true).map(|(_, turn)| turn.call()).is_some()
}

impl Lane {
    /// Has the next request begin whose address may. Returns false if there is none.
    ///
    /// An address has at most three quarters of the places, so that others find one.
    fn begin(&mut self, begun_max: usize) -> bool {
        if self.begun_of_all >= begun_max {
            return false;
        }
        let begun = &self.begun;
        let most = begun_max - begun_max / 4;
        let may = |address| begun.get(&address).is_none_or(|own| *own < most);
        let Some((asker, work)) = self.queued.pop(may) else { return false };
        *self.begun.entry(address(asker)).or_default() += 1;
        self.begun_of_all += 1;
        self.assigned.push_back((asker, work));
        true
    }

    fn end(&mut self, address: Address) {
        self.begun_of_all -= 1;
        let Some(own) = self.begun.get_mut(&address) else { return };
        *own -= 1;
        if *own == 0 {
            self.begun.remove(&address);
        }
    }

    /// Returns how many threads to wake and to start for what is assigned. Those to start are counted.
    fn want(&mut self) -> (usize, usize) {
        let untaken = self.assigned.len().saturating_sub(self.coming);
        let woken = untaken.min(self.idle);
        let started = untaken - woken;
        self.threads += started;
        self.coming += started;
        (woken, started)
    }
}

#[cfg(test)]
mod tests;
