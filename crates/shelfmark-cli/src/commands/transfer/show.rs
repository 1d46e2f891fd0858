//! The progress of a transfer on a terminal, and Ctrl-C, which ends it in good order.

use std::io::IsTerminal as _;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};
use shelfmark_store::clock::SystemClock;
use shelfmark_store::sleep::ThreadSleeper;
use shelfmark_transfer::{Control, Progress, Rate};

use crate::connect::Listening;

/// A progress report that is shown on a terminal alone.
pub(super) struct Shown {
    bar: ProgressBar,
    verb: Mutex<String>,
}

impl Shown {
    /// Begins to show; `verb` says what is done.
    pub(super) fn begin(verb: impl Into<String>) -> Self {
        let verb = verb.into();
        if !std::io::stderr().is_terminal() {
            return Self { bar: ProgressBar::hidden(), verb: Mutex::new(verb) };
        }
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        bar.set_message(verb.clone());
        Self { bar, verb: Mutex::new(verb) }
    }

    /// Says what is done from now on.
    pub(super) fn set_verb(&self, verb: String) {
        self.bar.reset_elapsed();
        self.bar.set_message(verb.clone());
        *self.verb.lock().unwrap_or_else(PoisonError::into_inner) = verb;
    }

    fn tell(&self, progress: Progress) {
        let seconds = self.bar.elapsed().as_secs().max(1);
        let bytes = match progress.bytes {
            0 => String::new(),
            bytes => format!(", {}", HumanBytes(bytes)),
        };
        self.bar.set_message(format!(
            "{}: {} rows{bytes}, {} rows/s",
            self.verb.lock().unwrap_or_else(PoisonError::into_inner),
            HumanCount(progress.rows),
            HumanCount(progress.rows / seconds)
        ));
    }

    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// The time, the waiting and the interruption of this process.
pub(super) struct SystemControl {
    clock: SystemClock,
    listening: Listening,
}

impl SystemControl {
    pub(super) fn start() -> anyhow::Result<Self> {
        Ok(Self { clock: SystemClock::new(), listening: Listening::start()? })
    }

    fn stop(&self) -> &AtomicBool {
        self.listening.interrupt.flag()
    }

    /// Runs a transfer that is shown meanwhile.
    pub(super) fn run<T>(
        &self,
        rate: Option<u64>,
        shown: &Shown,
        transfer: impl FnOnce(&Control<'_>) -> shelfmark_transfer::Result<T>,
    ) -> anyhow::Result<T> {
        let progress = |progress| shown.tell(progress);
        let control = Control {
            clock: &self.clock,
            sleeper: &ThreadSleeper,
            stop: self.stop(),
            progress: &progress,
            rate: Rate::new(rate),
        };
        let outcome = transfer(&control);
        shown.end();
        Ok(outcome?)
    }
}
