//! One case, and running it to an outcome.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use shelfmark_store::threads;

use crate::caught::{Panics, text_of};
use crate::lane::Lane;

/// Something that a driver must do.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// The part of the contract that it belongs to.
    pub group: &'static str,
    /// The rule that holds where it does; unique.
    pub name: &'static str,
    body: Body,
}

#[derive(Debug, Clone, Copy)]
enum Body {
    Fixed(fn(&dyn Lane)),
    Seeded(fn(&dyn Lane, u64)),
}

/// The end of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The driver did what it must.
    Held,
    /// It did not; the first thing that was wrong.
    Failed(String),
}

impl Case {
    pub(crate) const fn fixed(
        group: &'static str,
        name: &'static str,
        body: fn(&dyn Lane),
    ) -> Self {
        Self { group, name, body: Body::Fixed(body) }
    }

    pub(crate) const fn seeded(
        group: &'static str,
        name: &'static str,
        body: fn(&dyn Lane, u64),
    ) -> Self {
        Self { group, name, body: Body::Seeded(body) }
    }

    /// Runs it here.
    ///
    /// # Panics
    ///
    /// * The driver does not do what it must.
    pub fn run(&self, lane: &dyn Lane, seed: u64) {
        match self.body {
            Body::Fixed(body) => body(lane),
            Body::Seeded(body) => body(lane, seed),
        }
    }

    /// Runs it in a thread of its own, where a panic is an outcome.
    ///
    /// # Errors
    ///
    /// * The operating system's error when it has no thread to give.
    pub fn start(&self, lane: Arc<dyn Lane>, seed: u64) -> std::io::Result<Running> {
        let (sender, outcome) = mpsc::channel();
        let case = *self;
        threads::spawn(case.name, move || {
            let panics = Panics::default();
            let body = AssertUnwindSafe(|| case.run(&*lane, seed));
            let ended = panics.clone().of(|| catch_unwind(body));
            // Nobody but the case has a store of it when its outcome is told.
            drop(lane);
            let outcome = match ended {
                Ok(()) => Outcome::Held,
                Err(panic) => Outcome::Failed(panics.first().unwrap_or_else(|| text_of(&*panic))),
            };
            // Whoever gave up waiting has dropped the receiver.
            let _ = sender.send(outcome);
        })?;
        Ok(Running { outcome })
    }
}

/// A case that runs.
#[derive(Debug)]
pub struct Running {
    outcome: Receiver<Outcome>,
}

impl Running {
    /// Waits for the outcome, for at most `patience`; `None` if the case still runs.
    #[must_use]
    pub fn wait(&self, patience: Duration) -> Option<Outcome> {
        match self.outcome.recv_timeout(patience) {
            Ok(outcome) => Some(outcome),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                Some(Outcome::Failed("the case ended without an outcome".to_owned()))
            }
        }
    }
}
