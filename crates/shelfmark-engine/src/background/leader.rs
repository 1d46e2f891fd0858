//! Decides which of several servers on one store does the work behind the scenes.
//!
//! The one that has been there longest does it: the live one with the least id. What it is not: needed
//! for an answer. Where two do the same work for a while, one of their commits is refused.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use shelfmark_tables::Result;

use crate::inner::Inner;

/// The time by which keys of dropped tables outlive every snapshot of every server.
const AFTER_SNAPSHOTS: Duration = Duration::from_secs(30);

/// The time since which this server knows that ids were dropped.
#[derive(Debug, Default)]
pub(crate) struct DroppedSince {
    seen: Mutex<BTreeMap<u64, Duration>>,
}

impl Inner {
    /// Tells whether this server does the work that one server does for all.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub(crate) fn leads(&self) -> Result<bool> {
        let Some(peers) = self.store.peers() else { return Ok(true) };
        let least = peers.live()?.iter().map(|peer| peer.id).min();
        Ok(least.is_none_or(|least| least == peers.id()))
    }

    /// Tells whether a snapshot of another server may still read the keys of a dropped id.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub(super) fn others_may_read(&self, id: u64) -> Result<bool> {
        let Some(peers) = self.store.peers() else { return Ok(false) };
        if peers.live()?.iter().all(|peer| peer.id == peers.id()) {
            return Ok(false);
        }
        let now = self.environment.clock.monotonic();
        let mut seen =
            self.background.dropped_since.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let since = *seen.entry(id).or_insert(now);
        let is_over =
            now.saturating_sub(since) > self.store.caps().snapshot_age_max + AFTER_SNAPSHOTS;
        if is_over {
            seen.remove(&id);
        }
        Ok(!is_over)
    }
}
