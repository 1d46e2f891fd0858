//! Whether a commit may be queued now: room in the queue, and on the disk.

use std::time::Duration;

use crate::contract::{Error, Result};

use super::inner::Inner;
use super::options::QUEUE_BYTES_MAX;
use super::queue::QueueState;

impl Inner {
    /// Decides whether a commit of `bytes` bytes may be queued.
    pub(super) fn admission(&self, state: &mut QueueState, bytes: usize) -> Result<()> {
        if state.bytes() > 0 && state.bytes().saturating_add(bytes) > QUEUE_BYTES_MAX {
            return Err(Error::busy("too much is queued", Duration::from_millis(5)));
        }
        Ok(())
    }
}
