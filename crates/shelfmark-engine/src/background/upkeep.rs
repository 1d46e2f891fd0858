//! A thread that does the upkeep of an engine: building what a stop interrupted, purging, sweeping,
//! splitting.
//!
//! The engine starts none by itself; whoever runs it decides whether there is one.
//!
//! Invariant: neither an error nor a panic ends the thread. Work that fails is left out for a while,
//! longer each time up to [`BACK_OFF_MAX`], and the other work goes on.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use shelfmark_store::threads;
use shelfmark_tables::{Error, ErrorKind, Result};

use super::status::{BackgroundEvent, Work, guarded};
use super::sweep::SweepPosition;
use crate::backups::BackupKeeper;
use crate::engine::Engine;
use crate::streams::StreamKeeper;

/// Items removed per sweep before the thread looks whether it should stop.
const SWEEP_ITEMS_MAX: usize = 256;

/// Bytes that are copied for backups before the other work has its turn.
const BACKUP_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Longest time for which work that fails is left out.
const BACK_OFF_MAX: Duration = Duration::from_secs(60);

/// A listener that is told of troubles and recoveries, each once.
type Listener = Box<dyn Fn(&BackgroundEvent) + Send>;

/// Upkeep that goes on until it is stopped or dropped.
pub struct Upkeep {
    stop: Arc<Stop>,
    /// The thread and its engine; gone once it was stopped, so that the store can be opened again.
    thread: Option<(JoinHandle<()>, Engine)>,
}

#[derive(Default)]
struct Stop {
    asked: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    fn is_asked(&self) -> bool {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Upkeep {
    /// Starts a thread that purges and sweeps every `period`.
    ///
    /// What fails is tried again after the next period, later if it goes on failing; nothing is lost
    /// meanwhile. [`Engine::background`] shows it.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Io`]: the system has no thread to give.
    pub fn start(engine: &Engine, period: Duration) -> Result<Self> {
        Self::start_told(engine, period, |_| {})
    }

    /// Starts a thread as [`Upkeep::start`] does, and tells `listener` of failures, for logs: once
    /// when work begins to fail, once when it works again, and of records that are set aside.
    ///
    /// # Errors
    ///
    /// * As [`Upkeep::start`].
    pub fn start_told(
        engine: &Engine,
        period: Duration,
        listener: impl Fn(&BackgroundEvent) + Send + 'static,
    ) -> Result<Self> {
        let stop = Arc::new(Stop::default());
        let upkeep = Running {
            engine: engine.clone(),
            period,
            stop: Arc::clone(&stop),
            listener: Box::new(listener),
            position: SweepPosition::default(),
            streams: StreamKeeper::default(),
            backups: BackupKeeper::default(),
            left_out: BTreeMap::new(),
            store_work_seen: 0,
            leads: false,
        };
        // Once from the start: a stop may have interrupted a build.
        engine.inner.builds.are_due();
        let thread = threads::spawn("shelfmark-upkeep", move || upkeep.run())
            .map_err(|error| Error::new(ErrorKind::Io, error.to_string()))?;
        Ok(Self { stop, thread: Some((thread, engine.clone())) })
    }

    /// Stops the thread and waits for it: at most one bounded piece of work.
    ///
    /// Until it has ended no index is built further, also for others: they get [`ErrorKind::Closed`].
    pub fn stop(&mut self) {
        *self.stop.asked.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.changed.notify_all();
        let Some((thread, engine)) = self.thread.take() else { return };
        let builds = &engine.inner.builds;
        builds.set_stopping(true);
        // A panic of the thread has been reported by its hook; stopping goes on.
        let _ = thread.join();
        builds.set_stopping(false);
    }
}

impl Drop for Upkeep {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The state of the upkeep thread.
struct Running {
    engine: Engine,
    period: Duration,
    stop: Arc<Stop>,
    listener: Listener,
    position: SweepPosition,
    streams: StreamKeeper,
    backups: BackupKeeper,
    /// The number of periods for which work that failed is left out.
    left_out: BTreeMap<Work, u32>,
    /// Flushes and merges of the store at the last look.
    store_work_seen: u64,
    /// This server does what one server does for all.
    leads: bool,
}

impl Running {
    fn run(mut self) {
        loop {
            // A large backup or restore goes on as soon as the other work had its turn.
            let has_more = self.leads && self.backups.has_more();
            let pause = if has_more { Duration::ZERO } else { self.period };
            let asked = self.stop.asked.lock().unwrap_or_else(PoisonError::into_inner);
            let (asked, _) = self
                .stop
                .changed
                .wait_timeout_while(asked, pause, |asked| !*asked)
                .unwrap_or_else(PoisonError::into_inner);
            if *asked {
                return;
            }
            drop(asked);
            self.look_who_leads();
            for work in Work::ALL {
                if self.leads || !work.is_of_all_servers() {
                    self.turn(work);
                }
            }
        }
    }

    /// Looks whether this server does the work of all servers on the store.
    fn look_who_leads(&mut self) {
        let inner = &self.engine.inner;
        // Whoever cannot ask leaves the work to others.
        let leads = inner.leads().unwrap_or(false);
        if leads && !self.leads {
            // The one before may have left a build.
            inner.builds.are_due();
        }
        self.leads = leads;
    }

    /// Does one kind of work, unless it failed a short time ago.
    fn turn(&mut self, work: Work) {
        if let Some(periods) = self.left_out.get_mut(&work).filter(|periods| **periods > 0) {
            *periods -= 1;
            return;
        }
        let outcome = guarded(|| self.work(work));
        let state = &self.engine.inner.background;
        if self.stop.is_asked() && is_closed(&outcome) {
            // It was cut off; that is no trouble to tell of.
            return;
        }
        state.ran(work, self.engine.now(), &outcome);
        // A look at the store costs nothing, and its recovery is to be told at once.
        if work != Work::Store {
            self.left_out.insert(work, back_off(state.failures_in_a_row(work), self.period));
        }
        for event in state.take_events() {
            // A listener that panics has said so; the work goes on.
            let _ = guarded(|| {
                (self.listener)(&event);
                Ok(())
            });
        }
    }

    /// Returns how much was done.
    fn work(&mut self, work: Work) -> Result<u64> {
        let engine = &self.engine;
        let done = match work {
            Work::Indexes => return resume(engine),
            Work::Purge => engine.purge_counted()?.0,
            Work::Splits => engine.split_all_due()?,
            Work::DeletedCells => engine.purge_deleted_cells().map(|_| 0)?,
            Work::Expiry => return self.sweep(),
            Work::Streams => engine.keep_streams(&mut self.streams)?,
            Work::Backups => {
                let stop = Arc::clone(&self.stop);
                let should_stop = || stop.is_asked();
                let kept = engine.keep_backups(&mut self.backups, BACKUP_BYTES_MAX, &should_stop);
                // What fails of one does not keep the other.
                let beside = engine.run_beside_backups(&should_stop)?;
                if beside > 0 {
                    self.backups.has_more_beside();
                }
                return Ok(kept? + beside);
            }
            Work::Store => return self.look_at_store(),
        };
        Ok(done as u64)
    }

    /// Returns how many flushes and merges there were since the last look.
    fn look_at_store(&mut self) -> Result<u64> {
        let store = &self.engine.inner.store;
        if let Some(refusal) = store.refusal() {
            return Err(refusal.into());
        }
        let stats = store.stats();
        let seen = stats.flushes + stats.compactions;
        Ok(seen.saturating_sub(std::mem::replace(&mut self.store_work_seen, seen)))
    }

    fn sweep(&mut self) -> Result<u64> {
        let mut done = 0;
        loop {
            let swept = self.engine.sweep(&mut self.position, SWEEP_ITEMS_MAX)?;
            done += swept as u64;
            if swept < SWEEP_ITEMS_MAX || self.stop.is_asked() {
                return Ok(done);
            }
        }
    }
}

/// Goes on building indexes, at the start and after a build has failed.
fn resume(engine: &Engine) -> Result<u64> {
    let builds = &engine.inner.builds;
    if !builds.take_due() {
        return Ok(0);
    }
    let resumed = guarded(|| engine.resume_all_indexes());
    if resumed.is_err() {
        builds.are_due();
    }
    resumed.map(|()| 1)
}

/// Tells whether work ended because the engine is being stopped.
fn is_closed(outcome: &Result<u64>) -> bool {
    outcome.as_ref().is_err_and(|error| error.kind() == ErrorKind::Closed)
}

/// Returns for how many periods work is left out that has failed so often in a row: none after the
/// first time, then twice as many each time.
fn back_off(failures: u32, period: Duration) -> u32 {
    if failures < 2 {
        return 0;
    }
    let most = BACK_OFF_MAX.as_millis() / period.as_millis().max(1);
    let most = u32::try_from(most).unwrap_or(u32::MAX);
    2_u32.saturating_pow(failures - 2).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_is_tried_less_and_less_often_but_once_a_minute() {
        let period = Duration::from_secs(1);
        let all = [0, 1, 2, 3, 4, 7, 8, 9, 1000, u32::MAX];
        let left_out = all.map(|failures| back_off(failures, period));
        assert_eq!(left_out, [0, 0, 1, 2, 4, 32, 60, 60, 60, 60]);
        assert_eq!(back_off(9, Duration::ZERO), 128, "no division by nothing");
    }
}
