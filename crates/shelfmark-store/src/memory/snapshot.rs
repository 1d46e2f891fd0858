//! A snapshot of a memory store.
//!
//! Invariant: as long as a read answers `Ok`, it answers what was there at the moment the snapshot
//! was taken. Whether that is still known is decided under the same lock as the read.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::Shared;
use super::snapshot_tracker::{Opened, Ticket};
use super::versions::Versions;
use crate::contract::{
    Direction, Error, ErrorKind, KeyRange, Page, Result, ScanLimits, Snapshot, SnapshotId,
};

pub(super) struct MemorySnapshot {
    shared: Arc<Shared>,
    ticket: Ticket,
    opened: Opened,
}

impl MemorySnapshot {
    pub(super) fn new(shared: Arc<Shared>, ticket: Ticket, opened: Opened) -> Self {
        Self { shared, ticket, opened }
    }

    fn read<T>(&self, look: impl FnOnce(&Versions) -> T) -> Result<T> {
        let at = self.shared.clock.monotonic();
        let versions = self.shared.read()?;
        let now = Opened { at, written_bytes: versions.written_bytes() };
        let is_too_old = self.opened.is_too_old(now, self.shared.bounds());
        // The watermark decides for a snapshot that looked young enough a moment ago.
        if is_too_old || self.ticket.0 < versions.watermark() {
            return Err(too_old());
        }
        Ok(look(&versions))
    }
}

pub(super) fn too_old() -> Error {
    Error::new(ErrorKind::TooOld, "the snapshot was held too long, or too much was written since")
}

impl Snapshot for MemorySnapshot {
    fn id(&self) -> SnapshotId {
        SnapshotId { commit: self.ticket.0, position: self.opened.written_bytes }
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        self.read(|versions| versions.at(key, self.ticket.0).cloned())
    }

    fn get_many(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        self.read(|versions| {
            keys.iter().map(|key| versions.at(key, self.ticket.0).cloned()).collect()
        })
    }

    fn scan(&self, range: &KeyRange, direction: Direction, limits: ScanLimits) -> Result<Page> {
        self.read(|versions| versions.page(self.ticket.0, range, direction, limits))
    }

    fn time_left(&self) -> Option<Duration> {
        let age = self.shared.clock.monotonic().saturating_sub(self.opened.at);
        Some(self.shared.caps.snapshot_age_max.saturating_sub(age))
    }
}

impl Drop for MemorySnapshot {
    fn drop(&mut self) {
        self.shared.moments().release(self.ticket);
    }
}
