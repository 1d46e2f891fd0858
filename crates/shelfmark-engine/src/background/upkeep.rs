//! A thread that does the upkeep of an engine: building what a stop interrupted, purging, sweeping,
//! splitting.
//!
//! The engine starts none by itself; whoever runs it decides whether there is one.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use shelfmark_store::threads;

use super::sweep::SweepPosition;
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};

/// Items removed per sweep before the thread looks whether it should stop.
const SWEEP_ITEMS_MAX: usize = 256;

/// Upkeep that goes on until it is stopped or dropped.
pub struct Upkeep {
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Stop {
    asked: Mutex<bool>,
    changed: Condvar,
}

impl Upkeep {
    /// Starts a thread that purges and sweeps every `period`.
    ///
    /// What fails is tried again after the next period; nothing is lost meanwhile.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Io`]: the system has no thread to give.
    pub fn start(engine: &Engine, period: Duration) -> Result<Self> {
        let stop = Arc::new(Stop::default());
        let (engine, asked) = (engine.clone(), Arc::clone(&stop));
        let thread = threads::spawn("shelfmark-upkeep", move || run(&engine, period, &asked))
            .map_err(|error| Error::new(ErrorKind::Io, error.to_string()))?;
        Ok(Self { stop, thread: Some(thread) })
    }

    /// Stops the thread and waits for it: at most one bounded piece of work.
    pub fn stop(&mut self) {
        *self.stop.asked.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported by its hook; stopping goes on.
            let _ = thread.join();
        }
    }
}

impl Drop for Upkeep {
    fn drop(&mut self) {
        self.stop();
    }
}

fn run(engine: &Engine, period: Duration, stop: &Stop) {
    let mut position = SweepPosition::default();
    let mut is_resumed = false;
    loop {
        let asked = stop.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let (asked, _) = stop
            .changed
            .wait_timeout_while(asked, period, |asked| !*asked)
            .unwrap_or_else(PoisonError::into_inner);
        if *asked {
            return;
        }
        drop(asked);
        // Each says itself when nothing is due; an error waits for the next period.
        is_resumed = is_resumed || engine.resume_all_indexes().is_ok();
        let _ = engine.purge();
        let _ = engine.split_all_due();
        let _ = engine.purge_deleted_cells();
        while engine
            .sweep(&mut position, SWEEP_ITEMS_MAX)
            .is_ok_and(|swept| swept == SWEEP_ITEMS_MAX)
        {
            if *stop.asked.lock().unwrap_or_else(PoisonError::into_inner) {
                return;
            }
        }
    }
}
