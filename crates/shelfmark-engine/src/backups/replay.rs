//! Applies changes of a history to the rows of a copy, in the order of their commits.
//!
//! Invariant: a commit of the table is applied whole or not at all up to the end that is asked for.

use std::collections::BTreeMap;
use std::sync::Arc;

use shelfmark_model::Item;
use shelfmark_store::txn::Transaction as Buffer;
use shelfmark_store::{CommitNumber, Direction, Snapshot};
use shelfmark_tables::catalogue::Table;
use shelfmark_tables::items::{
    ChangePosition, ItemChange, LogPage, LogStart, encode, log_end, log_keys, read_log,
};
use shelfmark_tables::rows::{commit_chunk, put_stored, read_row};
use shelfmark_tables::{Error, ErrorKind, Result};

use super::fill::Until;
use crate::inner::Inner;

/// Changes that are applied by one commit, and their bytes.
const PAGE_CHANGES_MAX: usize = 512;
const PAGE_BYTES_MAX: usize = 1024 * 1024;

/// The outcome of applying some changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Replayed {
    /// The last change that was applied.
    pub(super) last: Option<ChangePosition>,
    /// Nothing before the end is left, and nothing will appear.
    pub(super) is_done: bool,
    /// More can be applied at once.
    pub(super) has_more: bool,
    /// Bytes of items that were written.
    pub(super) bytes: u64,
}

impl Inner {
    /// Applies the next changes of the log of this id, up to an end, to the table that `current` returns.
    /// With `moves` they are taken out of the log by the same commit.
    pub(super) fn replay_page(
        &self,
        log: u64,
        after: Option<ChangePosition>,
        until: Until,
        moves: bool,
        current: impl Fn() -> Result<Arc<Table>>,
    ) -> Result<Replayed> {
        loop {
            match self.replay_page_once(log, after, until, moves, &current) {
                Ok(None) => {}
                Err(error) if error.kind() == ErrorKind::TooOld => {}
                Ok(Some(replayed)) => return Ok(replayed),
                Err(error) => return Err(error),
            }
        }
    }

    fn replay_page_once(
        &self,
        log: u64,
        after: Option<ChangePosition>,
        until: Until,
        moves: bool,
        current: &impl Fn() -> Result<Arc<Table>>,
    ) -> Result<Option<Replayed>> {
        let target = current()?;
        let snapshot = self.store.snapshot()?;
        let view: &dyn Snapshot = &*snapshot;
        let through = view.stamped_through()?;
        let start = after.map_or(LogStart::Front, LogStart::After);
        let bytes_max = (self.store.caps().commit_size_bytes_max / 8).min(PAGE_BYTES_MAX);
        let LogPage { changes, is_end } = read_log(view, log, start, PAGE_CHANGES_MAX, bytes_max)?;
        let wanted = until.among(&changes, after);
        let is_cut = wanted.len() < changes.len();
        let is_done = is_cut || (is_end && through >= until.commit);
        let last = wanted.last().map(|change| change.position);
        let mut replayed = Replayed { last, is_done, has_more: !is_done && !is_end, bytes: 0 };
        if wanted.is_empty() {
            return Ok(Some(replayed));
        }
        let mut buffer = Buffer::new(Arc::clone(&snapshot));
        replayed.bytes = self.put_latest(&mut buffer, view, &target, wanted)?;
        if moves && let Some(last) = last {
            for key in log_keys(view, log, after, last)? {
                buffer.delete(key);
            }
        }
        let is_written = commit_chunk(self, buffer.into_commit(), current)?;
        Ok(is_written.then_some(replayed))
    }

    /// Puts what some changes leave of the items that they concern. Returns its bytes.
    fn put_latest(
        &self,
        buffer: &mut Buffer,
        view: &dyn Snapshot,
        target: &Arc<Table>,
        changes: &[ItemChange],
    ) -> Result<u64> {
        let mut latest: BTreeMap<Vec<u8>, Option<&Item>> = BTreeMap::new();
        for change in changes {
            let of_key = change.new.as_ref().or(change.old.as_ref());
            let damaged = || Error::corrupt("a change in a history is of no item");
            let row_key = target.key.row_key_of(of_key.ok_or_else(damaged)?)?;
            latest.insert(row_key, change.new.as_ref());
        }
        let mut bytes = 0;
        for (row_key, item) in latest {
            let stored = item.map(|item| encode(target, item, None));
            if stored.as_ref().is_some_and(|stored| !stored.chunks.is_empty()) {
                self.catalogue.set_chunked(target)?;
            }
            let old = match target.has_chunks() {
                true => read_row(&view, &row_key)?.map(|old| old.chunks).unwrap_or_default(),
                false => Vec::new(),
            };
            bytes += stored.as_ref().map_or(0, |stored| stored.head.len() as u64);
            put_stored(buffer, &row_key, &old, stored, true);
        }
        Ok(bytes)
    }

    /// Tells whether the log of this id has a change up to an end.
    pub(super) fn has_change_before(&self, log: u64, until: Until) -> Result<bool> {
        let snapshot = self.store.snapshot()?;
        let first = log_end(&*snapshot, log, LogStart::Front, Direction::Ascending)?;
        Ok(first.is_some_and(|(_, at_micros)| at_micros <= until.micros))
    }

    /// Returns the moment behind which a log that is read now may get changes: everything at or before
    /// it is in each snapshot from now on.
    pub(super) fn settled(&self) -> Result<ChangePosition> {
        let commit: CommitNumber = self.store.snapshot()?.stamped_through()?;
        Ok(ChangePosition { commit, position: u32::MAX })
    }
}
