//! Gives callers the status of the engine's background work.

use super::status::BackgroundStatus;
use crate::engine::Engine;

impl Engine {
    /// Returns the status of the work that an [`crate::Upkeep`] does in the background: how often it
    /// ran and failed, the last error, and the records that were set aside.
    ///
    /// Cost: a look into memory.
    #[must_use]
    pub fn background(&self) -> BackgroundStatus {
        self.inner.background.status(self.inner.builds.is_stopping())
    }
}
