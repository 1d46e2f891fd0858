//! A view of the newest queued state: the pending layers merged over the published state.
//!
//! Invariant: the layers and the moment were taken together, so nothing between them is missing or
//! twice; and commits above `commit` are left out, so it is one moment although the newest layer
//! goes on being filled.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::contract::{
    CommitNumber, Direction, KeyRange, Page, Result, Row, ScanLimits, Snapshot, SnapshotId,
};

use super::pending::Layer;
use super::snapshot_tracker::Pin;

/// A view of the newest queued commit.
pub(super) struct Latest {
    pin: Arc<Pin>,
    /// The pending layers, newest first.
    layers: Vec<Arc<Layer>>,
    commit: CommitNumber,
}

impl Latest {
    /// Creates a view of `layers`, the newest first, over `pin`, up to `commit`.
    pub(super) fn new(pin: Arc<Pin>, layers: Vec<Arc<Layer>>, commit: CommitNumber) -> Self {
        Self { pin, layers, commit }
    }

    fn pending(&self, key: &[u8]) -> Option<Option<Bytes>> {
        self.layers.iter().find_map(|layer| layer.get(key, self.commit))
    }
}

impl Snapshot for Latest {
    fn id(&self) -> SnapshotId {
        SnapshotId { commit: self.commit, position: self.pin.position() }
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        match self.pending(key) {
            Some(value) => Ok(value),
            None => self.pin.get(key),
        }
    }

    fn scan(&self, range: &KeyRange, direction: Direction, limits: ScanLimits) -> Result<Page> {
        let mut pending = BTreeMap::new();
        // The oldest first, so that newer layers replace what older ones say.
        for layer in self.layers.iter().rev() {
            layer.collect(range, self.commit, &mut pending);
        }
        let view = self.pin.view()?;
        let stored = self.pin.rows(&view, range, direction);
        merge(stored, pending, range, direction, limits)
    }

    fn time_left(&self) -> Option<Duration> {
        self.pin.time_left()
    }
}

/// Merges stored rows with pending writes, which win; both run in `direction`.
fn merge(
    stored: impl Iterator<Item = Result<Row>>,
    pending: BTreeMap<Bytes, Option<Bytes>>,
    range: &KeyRange,
    direction: Direction,
    limits: ScanLimits,
) -> Result<Page> {
    let ascending = direction == Direction::Ascending;
    let mut stored = stored.peekable();
    let mut pending: Vec<(Bytes, Option<Bytes>)> = pending.into_iter().collect();
    // The next one is always the last of the vector.
    if ascending {
        pending.reverse();
    }
    let mut page = Page::default();
    let mut bytes = 0;
    loop {
        let stored_is_next = match (stored.peek(), pending.last()) {
            (None, None) => break,
            (Some(Err(_)), _) | (Some(Ok(_)), None) => true,
            (None, Some(_)) => false,
            (Some(Ok(row)), Some((key, _))) => row.key != *key && (row.key < *key) == ascending,
        };
        let mut row = if stored_is_next {
            match stored.next() {
                Some(row) => row?,
                None => break,
            }
        } else {
            let Some((key, value)) = pending.pop() else { break };
            if let Some(Ok(row)) = stored.peek()
                && row.key == key
            {
                stored.next();
            }
            let Some(value) = value else { continue };
            Row { key, value }
        };
        if limits.keys_only {
            row.value = Bytes::new();
        }
        bytes += row.key.len() + row.value.len();
        page.rows.push(row);
        if page.rows.len() >= limits.rows_max || bytes >= limits.bytes_max {
            page.next = page.rows.last().map(|last| range.after(&last.key, direction));
            break;
        }
    }
    Ok(page)
}
