//! The bridge from the contract's blocking calls to the client's futures.
//!
//! What it is not: a pool. A caller's own thread waits; the futures run on a few threads of the
//! driver.
//!
//! Invariant: a panic in a future, the client's included, ends as an error of that one call.

use std::future::Future;
use std::sync::mpsc;

use shelfmark_store::{Error, ErrorKind, Result};
use tokio::runtime::{Builder, Runtime};

/// Threads that drive the connections.
const THREADS: usize = 2;

/// The threads on which futures run.
pub(crate) struct Bridge {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
}

impl Bridge {
    pub(crate) fn new() -> Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("shelfmark-tikv")
            .enable_all()
            .build()
            .map_err(|error| {
                Error::new(ErrorKind::Io, "the driver's threads do not start").with_source(error)
            })?;
        Ok(Self { runtime: Some(runtime) })
    }

    /// Runs `future` and waits for it. May be called from any thread, also from one that runs
    /// futures of others, which it then holds up.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Undetermined`]: the future panicked; what it was about to do may be done.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.spawn(async move {
            // The receiver waits until the sender is gone.
            let _ = sender.send(future.await);
        });
        receiver.recv().unwrap_or_else(|_| {
            Err(Error::new(ErrorKind::Undetermined, "the client of the cluster failed in itself"))
        })
    }

    /// Runs `future` beside everything else.
    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = &self.runtime {
            runtime.spawn(future);
        }
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        // Waiting for the threads is not allowed where futures of others run.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
