//! The driver that a case runs on, and the place of its one store.

use std::sync::Arc;
use std::time::Duration;

use shelfmark_store::Store;
use shelfmark_store::clock::ManualClock;

/// The time for which a snapshot lives in every lane.
pub const SNAPSHOT_AGE_MAX: Duration = Duration::from_secs(60);
/// The bytes that may be written under a snapshot in every lane, if its driver has such a limit.
pub const SNAPSHOT_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// A driver and an empty place for a store.
///
/// Stores are opened with [`SNAPSHOT_AGE_MAX`], and with [`SNAPSHOT_BYTES_MAX`] where the driver limits
/// bytes at all.
pub trait Lane: Send + Sync {
    /// Opens the store; for a driver that keeps something, as it was left.
    ///
    /// # Panics
    ///
    /// * The driver does not open it: the case fails.
    fn open(&self) -> Arc<dyn Store>;

    /// Returns the clock that the stores of this lane have.
    fn clock(&self) -> &ManualClock;

    /// Returns true if the driver keeps what was committed when it is closed.
    fn keeps(&self) -> bool;

    /// Returns true if [`Store::latest`] may show less than what is queued.
    fn is_behind(&self) -> bool {
        false
    }

    /// Returns true if stores that are open at the same time are one, as servers on a cluster are.
    fn is_shared(&self) -> bool {
        false
    }

    /// Closes `store` and opens it again, where the driver keeps anything; else returns it.
    ///
    /// # Panics
    ///
    /// * The store does not close, or does not open again: the case fails.
    #[expect(clippy::expect_used, reason = "a case fails by a panic, at the first surprise")]
    fn reopen(&self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        if !self.keeps() {
            return store;
        }
        store.close().expect("the store closes");
        drop(store);
        self.open()
    }

    /// Drops `store` without closing it and opens it again, where the driver keeps anything.
    fn crash(&self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        if !self.keeps() {
            return store;
        }
        drop(store);
        self.open()
    }
}
