//! The state of long builds: whether they are to end, and whether one is to be gone on with.
//!
//! What it is not: a queue. Which builds there are is in the catalogue.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, ErrorKind, Result};

/// The state of builds of indexes, views and due times.
#[derive(Debug, Default)]
pub struct Builds {
    /// Long work is to end at its next step.
    is_stopping: AtomicBool,
    /// A build failed and is to be resumed.
    is_due: AtomicBool,
}

impl Builds {
    /// Has long work end at its next step, or go on again.
    pub fn set_stopping(&self, is_stopping: bool) {
        self.is_stopping.store(is_stopping, Ordering::Release);
    }

    /// Tells whether long work is to end.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire)
    }

    /// Fails while long work is to end; what it has done stays, and is gone on with.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Closed`]: the upkeep is being stopped.
    pub fn check_not_stopping(&self) -> Result<()> {
        if !self.is_stopping() {
            return Ok(());
        }
        let why = "the engine is being stopped; this goes on after the next start";
        Err(Error::new(ErrorKind::Closed, why))
    }

    /// Has the indexes that are not complete built by the next run of whoever does so.
    pub fn are_due(&self) {
        self.is_due.store(true, Ordering::Release);
    }

    /// Tells whether indexes are to be built, once.
    #[must_use]
    pub fn take_due(&self) -> bool {
        self.is_due.swap(false, Ordering::AcqRel)
    }
}
