//! Handles Ctrl-C while a statement runs: it ends the statement, not the shell.
//!
//! What it is not: the prompt's Ctrl-C, which the line editor reads as a key.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;

/// A flag that the user wants running work to end; all clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Returns true if the flag was set since the last [`Interrupt::forget`].
    pub(crate) fn is_wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets the flag, where Ctrl-C was read as a key.
    pub(crate) fn want(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns the flag, for work that looks at it by itself.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.0
    }

    /// Clears the flag.
    pub(crate) fn forget(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Listens for Ctrl-C, which no longer ends the process from then on.
pub(crate) struct Listening {
    pub(crate) interrupt: Interrupt,
    /// The runtime whose one thread waits for the signal.
    _runtime: tokio::runtime::Runtime,
}

impl Listening {
    pub(crate) fn start() -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_io()
            .build()
            .context("Ctrl-C cannot be listened for")?;
        let interrupt = Interrupt::default();
        let seen = interrupt.clone();
        runtime.spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                seen.0.store(true, Ordering::Relaxed);
            }
        });
        Ok(Self { interrupt, _runtime: runtime })
    }
}
