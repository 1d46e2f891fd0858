//! Tells an observer what a write of cells read, once the write is durable.
//!
//! Invariant: where nobody observes, nothing is counted.

use std::sync::{Arc, Mutex};

use shelfmark_store::locks::lock;

use crate::error::Result;
use crate::report::{AccessReport, AccessStep, Observer};

/// The report of one write, filled while it is planned.
pub(crate) struct Told {
    wanted: Option<(Observer, Arc<Mutex<AccessReport>>)>,
}

impl Told {
    pub(crate) fn new(observer: Option<&Observer>) -> Self {
        Self { wanted: observer.map(|observer| (Arc::clone(observer), Arc::default())) }
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted.is_some()
    }

    /// Takes the steps of a plan in place of those of an earlier one.
    pub(crate) fn note(&self, steps: impl IntoIterator<Item = AccessStep>) {
        if let Some((_, report)) = &self.wanted {
            lock(report).steps = steps.into_iter().collect();
        }
    }

    /// Returns `done` with the telling before it.
    pub(crate) fn before<T: 'static>(
        &self,
        done: Box<dyn FnOnce(Result<T>) + Send>,
    ) -> Box<dyn FnOnce(Result<T>) + Send> {
        let Some((observer, report)) = &self.wanted else { return done };
        let (observer, report) = (Arc::clone(observer), Arc::clone(report));
        Box::new(move |outcome| {
            if outcome.is_ok() {
                observer(&lock(&report));
            }
            done(outcome);
        })
    }
}
