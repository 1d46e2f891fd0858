//! Short work that is shared out among the threads that serve connections: a few pieces at once, so
//! that the connections in between wait for those few and not for all that is there; clients take turns.
//!
//! What it is not: bounded in sum. Each connection hands over only a few pieces.
//!
//! Invariant: while pieces stand in line, as many are under way as may be.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use shelfmark_engine::weight::Asker;
use tokio::runtime::Handle;

use super::turns::Turns;
use crate::limits::SHARED_MAX;

type Piece = Box<dyn FnOnce() + Send>;

/// Where pieces of work are shared out.
pub(super) struct Shared {
    runtime: Handle,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    queued: Turns<Piece>,
    /// Pieces that the runtime has.
    under_way: usize,
}

impl Shared {
    /// Creates a place that shares out over `runtime`.
    pub(super) fn new(runtime: Handle) -> Arc<Self> {
        Arc::new(Self { runtime, state: Mutex::default() })
    }

    /// Runs a piece soon, on whichever thread of the runtime has time.
    pub(super) fn run(self: &Arc<Self>, asker: Asker, piece: Piece) {
        let mut state = self.state();
        if state.under_way >= SHARED_MAX {
            return state.queued.push(asker, piece);
        }
        state.under_way += 1;
        drop(state);
        self.spawn(piece);
    }

    fn spawn(self: &Arc<Self>, piece: Piece) {
        let next = Next(Arc::clone(self));
        drop(self.runtime.spawn(async move {
            let _next = next;
            piece();
        }));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has the next piece run when one has ended, be it by a panic or with the runtime.
struct Next(Arc<Shared>);

impl Drop for Next {
    fn drop(&mut self) {
        let mut state = self.0.state();
        match state.queued.pop(|_| true) {
            Some((_, piece)) => {
                drop(state);
                self.0.spawn(piece);
            }
            None => state.under_way -= 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_few_are_under_way_and_all_are_run_in_turns() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let shared = Shared::new(runtime.handle().clone());
        let (saying, said) = channel();
        let run = |port: u16, name: usize| {
            let saying = saying.clone();
            let piece = move || {
                saying.send(name).unwrap();
                assert!(name != 1, "as the test wants it");
            };
            shared.run(Some(([127, 0, 0, 1], port).into()), Box::new(piece));
        };
        let greedy = SHARED_MAX + 20;
        (0..greedy).for_each(|name| run(1, name));
        run(2, 1000);
        let state = shared.state();
        assert_eq!((state.under_way, state.queued.len()), (SHARED_MAX, 21));
        drop(state);
        while shared.state().under_way > 0 {
            runtime.block_on(tokio::task::yield_now());
        }
        let said: Vec<usize> = said.try_iter().collect();
        assert_eq!(said.len(), greedy + 1);
        assert!(said.iter().position(|name| *name == 1000).unwrap() <= SHARED_MAX + 1, "{said:?}");
    }
}
