//! Reads and writes tables for faces: the calls of [`Engine`](crate::Engine) on rows.
//!
//! Each call says what it costs, when it is durable and what its errors ask for; how it is done is in
//! `shelfmark-tables`. What they add is the owner that calls, and the observer that is told.

mod cells;
mod reads;
mod shards;
mod sharing;
mod writes;

pub use reads::View;

use std::sync::mpsc;

use shelfmark_store::Store;
use shelfmark_tables::Result;
use shelfmark_tables::commit::lost;

/// Waits for a call on a store that tells its end once.
fn awaited<T: Send + 'static>(
    store: &dyn Store,
    submit: impl FnOnce(Box<dyn FnOnce(Result<T>) + Send>),
) -> Result<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    submit(Box::new(move |outcome| {
        // The receiver waits until it is told.
        let _ = sender.send(outcome);
    }));
    store.lead();
    receiver.recv().unwrap_or_else(|_| Err(lost()))
}
