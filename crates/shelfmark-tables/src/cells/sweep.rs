//! Removes dead cells and tombstones whose grace period is over, and rows of large deletions.

use std::sync::{Arc, PoisonError, mpsc};

use bytes::Bytes;
use shelfmark_records::cells::due;
use shelfmark_records::cells::tombstones::RangeTombstone;
use shelfmark_records::keys::chunk_key;
use shelfmark_records::keys::{Tree, tree_key};
use shelfmark_store::{ErrorKind as StoreErrorKind, KeyRange};

use super::delete;
use super::find::Target;
use super::tombstones;
use crate::catalogue::Table;
use crate::commit::lock_gates;
use crate::error::{Error, Result};
use crate::tables::Tables;

impl Tables {
    /// Looks at what a due time of a table of cells is about. `rest` is its key behind the table's
    /// id. `None` if it is to be tried again.
    ///
    /// Not waited for: a sweep that does not find it done does it again.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Corrupt`]: the due time cannot be read. Run `verify`.
    /// * Those of the store.
    pub fn sweep_cells(
        &self,
        table: &Arc<Table>,
        due_key: &Bytes,
        rest: &[u8],
    ) -> Result<Option<bool>> {
        let damaged = || Error::corrupt("a due time of cells is damaged");
        let (kind, name) = rest.split_first().ok_or_else(damaged)?;
        self.submit_unwatched(table, || match *kind {
            due::ROW => self.plan_row(table, due_key, name),
            due::TOMBSTONE => self.plan_tombstone(table, due_key, name),
            _ => Err(damaged()),
        })
    }

    /// Plans and queues another look at one row that is due; returns `None` after a conflict.
    fn plan_row(&self, table: &Arc<Table>, due_key: &Bytes, name: &[u8]) -> Result<Option<bool>> {
        let (layout, views) = (table.cells()?, self.views_of(table)?);
        let place = layout.keys.parse_rest(name)?;
        let partition = layout.keys.partition(&place.partition)?;
        let _partition = self.partitions.lock(&[(partition, false)]);
        let head = chunk_key(&layout.keys.place(&place)?, 0);
        let _latched = self.latches.lock([head.as_slice()]);
        let writer = self.writer(self.store.latest()?);
        let target = Target::new(self, &writer, table, &views, writer.now)?;
        let found = target.find(place)?;
        writer.buffer.borrow_mut().delete(due_key.clone());
        target.look_again(&found)?;
        drop(target);
        let commit = writer.buffer.into_inner().into_commit().deleting();
        Ok(self.queue_unwatched(commit)?.then_some(true))
    }

    fn plan_tombstone(
        &self,
        table: &Arc<Table>,
        due_key: &Bytes,
        name: &[u8],
    ) -> Result<Option<bool>> {
        let mut tombstone_key = tree_key(Tree::Tombstones, table.id);
        tombstone_key.extend_from_slice(name);
        let writer = self.writer(self.store.latest()?);
        let grace = table.cells()?.grace_seconds;
        if let Some(at) = tombstones::happened_at(&writer.buffer, &tombstone_key)? {
            let over = at.saturating_add(grace).saturating_add(1);
            if over <= writer.now {
                writer.buffer.borrow_mut().delete(tombstone_key);
            } else {
                let target = Target::new(self, &writer, table, &[], writer.now)?;
                target.put_tombstone_due(&tombstone_key, at);
            }
        }
        writer.buffer.borrow_mut().delete(due_key.clone());
        let commit = writer.buffer.into_inner().into_commit().deleting();
        Ok(self.queue_unwatched(commit)?.then_some(true))
    }
}

impl Tables {
    /// Goes on removing the rows of deletions that were too large for one commit, of tables that are
    /// in use. Returns how many deletions are left. Nobody sees such rows meanwhile.
    ///
    /// # Errors
    ///
    /// * Those of the store; the other tables are seen to all the same. Call again later.
    pub fn purge_deleted_cells(&self) -> Result<usize> {
        let mut left = 0;
        let mut outcome = Ok(());
        for table in self.catalogue.loaded() {
            let is_purging = match self.is_alone {
                true => table.shared.cells.is_purging(),
                false => table.has_ranges(),
            };
            if table.cells.is_none() || !is_purging {
                continue;
            }
            match self.purge_ranges(&table) {
                Ok(purges) => left += purges,
                Err(error) => outcome = Err(error),
            }
        }
        outcome.map(|()| left)
    }

    /// Removes the rows of a table's deletions. Returns how many deletions are left.
    pub(super) fn purge_ranges(&self, table: &Arc<Table>) -> Result<usize> {
        let snapshot = self.store.snapshot()?;
        let purges = tombstones::purges(&&*snapshot, table.id)?;
        drop(snapshot);
        for tombstone in &purges {
            self.purge_range(table, tombstone)?;
        }
        self.end_purges(table)
    }

    /// Removes the rows of one deletion, piece by piece.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: it is no table of cells.
    /// * Those of the store. What was removed stays so; call again.
    pub fn purge_range(&self, table: &Arc<Table>, tombstone: &RangeTombstone) -> Result<()> {
        let keys = &table.cells()?.keys;
        let key = |rest: &[u8]| {
            let mut key = keys.prefix.to_vec();
            key.extend_from_slice(rest);
            Bytes::from(key)
        };
        let partition = key(&tombstone.start);
        let length = keys.partition_length(&partition)?;
        let partition = partition.slice(..length).to_vec();
        let mut range = KeyRange { start: key(&tombstone.start), end: Some(key(&tombstone.end)) };
        loop {
            let views = self.views_of(table)?;
            let (sender, receiver) = mpsc::sync_channel(1);
            let rest = {
                let tables = [Arc::clone(table)];
                let _gates = lock_gates(&tables);
                if table.is_retired() {
                    return Ok(());
                }
                let _partition = self.partitions.lock(&[(partition.clone(), true)]);
                let writer = self.writer(self.store.latest()?);
                let target = Target::new(self, &writer, table, &views, writer.now)?;
                let rest = delete::rows(&target, range.clone(), tombstone.deletion.timestamp)?;
                drop(target);
                if rest.is_none() {
                    tombstones::remove_purge(&mut writer.buffer.borrow_mut(), table.id, tombstone);
                }
                let commit = writer.buffer.into_inner().into_commit().deleting();
                let done = Box::new(move |outcome| {
                    // The receiver waits until it is told.
                    let _ = sender.send(outcome);
                });
                match self.store.submit(commit, done) {
                    Ok(_) => rest,
                    Err(error) => match error.kind() {
                        StoreErrorKind::Conflict | StoreErrorKind::TooOld => continue,
                        _ => return Err(error.into()),
                    },
                }
            };
            match receiver.recv() {
                Ok(outcome) => drop(outcome?),
                Err(_) => return Ok(()),
            }
            match rest {
                Some(rest) => range = rest,
                None => return Ok(()),
            }
        }
    }

    /// Has readers of a table no longer look for deletions that are being purged, if none is left.
    fn end_purges(&self, table: &Table) -> Result<usize> {
        let _gate = table.shared.gate.write().unwrap_or_else(PoisonError::into_inner);
        let oldest = self.store.stats().oldest_snapshot;
        let newest = self.store.snapshot()?.id().commit;
        let writer = self.writer(self.store.latest()?);
        let left = tombstones::purges(&writer.buffer, table.id)?.len();
        if left == 0 {
            table.shared.cells.end_purges(newest, oldest);
        }
        Ok(left)
    }
}
