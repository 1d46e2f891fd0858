//! Removes what has expired: items by their due times, tokens by theirs.
//!
//! A sweep reads the queue of due times from where the last one stopped, not from its front, so
//! that the tombstones of what was removed are not read again and again; also when that was its
//! end. What was put into the queue behind that place (an item that had expired before it was
//! written) is found by a sweep from the front, which there is once a minute. What cannot be handled
//! is set aside: the sweep goes on behind it, and comes back to it from the front. It deletes by
//! ordinary writes, which maintain indexes, counts and the change log and look again whether the
//! item is still due.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_keycode::take_ordered_varint;
use shelfmark_model::TtlSource;
use shelfmark_records::catalogue::keys::take_table_name;
use shelfmark_records::keys::{Tree, tree_key};
use shelfmark_store::{
    Commit, Direction, ErrorKind as StoreErrorKind, KeyRange, Row, ScanLimits, Snapshot,
    Write as StoreWrite,
};
use shelfmark_tables::items::Due;
use shelfmark_tables::{Error, ErrorKind, Result};

use super::status::{Work, guarded};
use crate::engine::Engine;

/// Source: DynamoDB Developer Guide, "Time to Live": values older than five years are ignored,
/// read 2026-11.
const IGNORED_PAST_SECONDS: u64 = 5 * 366 * 86_400;

/// Tokens looked at per sweep: most of them are not due.
const TOKENS_PER_SWEEP: usize = 4096;

/// Seconds after which a sweep begins at the front of the queue again.
const FRONT_EVERY_SECONDS: u64 = 60;

/// The position at which the last sweep stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepPosition {
    due: Option<Bytes>,
    /// Everything that was due by then has been looked at.
    at_end: bool,
    /// Second since the Unix epoch at which a sweep last began at the front; 0 if the next one must.
    front_at: u64,
    token: Option<Bytes>,
}

impl SweepPosition {
    /// Returns where a sweep begins now.
    fn begin(&mut self, now: u64) -> Bytes {
        // A clock that steps back makes it begin anew, too.
        let is_over = now.checked_sub(self.front_at).is_none_or(|age| age >= FRONT_EVERY_SECONDS);
        match &self.due {
            Some(due) if !(self.at_end && is_over) => due.clone(),
            _ => {
                self.front_at = now;
                Bytes::from_static(&[Tree::Due as u8])
            }
        }
    }
}

impl Engine {
    /// Removes up to `limit` expired items and forgotten tokens. Returns how many went; fewer than
    /// `limit` means that nothing more is due for now, as far as one call looks.
    ///
    /// A due time whose item cannot be read or removed is set aside ([`Engine::background`]), and
    /// tried again about once a minute; the others are swept all the same.
    ///
    /// # Errors
    ///
    /// * Those of the store as a whole; call again later, the position stays good.
    pub fn sweep(&self, position: &mut SweepPosition, limit: usize) -> Result<usize> {
        let items = self.sweep_items(position, limit);
        // Neither keeps the other.
        let left = limit.saturating_sub(*items.as_ref().unwrap_or(&0));
        let tokens = self.sweep_tokens(position, left);
        Ok(items? + tokens?)
    }

    fn sweep_items(&self, position: &mut SweepPosition, limit: usize) -> Result<usize> {
        let now = self.now();
        let mut end = vec![Tree::Due as u8];
        end.extend_from_slice(&(now + 1).to_be_bytes());
        let mut range = KeyRange::new(position.begin(now), end);
        position.at_end = range.is_empty();
        if position.at_end {
            return Ok(0);
        }
        let snapshot = self.inner.store.snapshot()?;
        let mut removed = 0;
        while removed < limit {
            let limits = ScanLimits { rows_max: limit - removed, ..Default::default() };
            let page = Snapshot::scan(&*snapshot, &range, Direction::Ascending, limits)?;
            for row in &page.rows {
                match self.expire_or_set_aside(row, now)? {
                    Some(is_removed) => removed += usize::from(is_removed),
                    None => position.front_at = 0,
                }
                position.due = Some(range.after(&row.key, Direction::Ascending).start);
            }
            let Some(rest) = page.next else {
                position.due = range.end;
                position.at_end = true;
                break;
            };
            range = rest;
        }
        Ok(removed)
    }

    /// Expires as [`Engine::expire`] does; what cannot be handled is set aside and counts as not
    /// removed.
    fn expire_or_set_aside(&self, due: &Row, now: u64) -> Result<Option<bool>> {
        let state = &self.inner.background;
        let error = match guarded(|| self.expire(due, now)) {
            Ok(outcome) => {
                state.handled(&due.key);
                return Ok(outcome);
            }
            Err(error) => error,
        };
        // Others would end the same way, or the caller has to hear of it.
        let is_the_records = match error.kind() {
            ErrorKind::Corrupt
            | ErrorKind::Io
            | ErrorKind::Internal
            | ErrorKind::Invalid
            | ErrorKind::LimitExceeded
            | ErrorKind::NotFound
            | ErrorKind::AlreadyExists
            | ErrorKind::ConditionFailed => true,
            ErrorKind::Busy
            | ErrorKind::Closed
            | ErrorKind::Conflict
            | ErrorKind::ReadOnly
            | ErrorKind::TooOld
            | ErrorKind::Unavailable
            | ErrorKind::Undetermined => false,
        };
        if is_the_records && state.set_aside(Work::Expiry, &due.key, now, &error) {
            return Ok(Some(false));
        }
        Err(error)
    }

    /// Removes the item of one due time, if it is still due, and tells whether it was; `None` if it
    /// is to be tried again.
    fn expire(&self, due: &Row, now: u64) -> Result<Option<bool>> {
        let damaged = || Error::corrupt("a due time is damaged");
        let (second, mut rest) =
            due.key.get(1..).and_then(|rest| rest.split_first_chunk::<8>()).ok_or_else(damaged)?;
        let id = take_ordered_varint(&mut rest).map_err(|_| damaged())?;
        let name = take_table_name(&due.value)?;
        let table = match self.inner.catalogue.table(&name) {
            Ok(table) if table.id == id => Some(table),
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => None,
        };
        let Some(table) = table else {
            // The table is gone, and its id is never used again.
            let key = due.key.clone();
            self.inner.store.commit(Commit::of(vec![StoreWrite::Delete { key }]))?;
            return Ok(Some(false));
        };
        if table.cells.is_some() {
            return self.inner.sweep_cells(&table, &due.key, rest);
        }
        let mut row_key = tree_key(Tree::Rows, id);
        row_key.extend_from_slice(rest);
        let second = u64::from_be_bytes(*second);
        let is_ignored = table.schema.options.ttl != Some(TtlSource::PerItem)
            && second + IGNORED_PAST_SECONDS < now;
        let due = Due { key: &due.key, row_key: &row_key, second, is_ignored };
        self.inner.expire_row(&table, &due)
    }

    fn sweep_tokens(&self, position: &mut SweepPosition, limit: usize) -> Result<usize> {
        let now = self.now();
        let mut range = KeyRange::prefix(tree_key(Tree::Tokens, 0));
        if let Some(start) = &position.token {
            range.start = start.clone();
        }
        let (mut removed, mut looked) = (0, 0);
        while removed < limit && looked < TOKENS_PER_SWEEP {
            let snapshot = self.inner.store.snapshot()?;
            let limits = ScanLimits { rows_max: limit - removed, ..Default::default() };
            let page = Snapshot::scan(&*snapshot, &range, Direction::Ascending, limits)?;
            looked += page.rows.len();
            match self.forget_tokens(snapshot, &page.rows, now)? {
                Some(forgotten) => removed += forgotten,
                // One of them is used just now: look again.
                None => continue,
            }
            position.token = page.next.as_ref().map(|next| next.start.clone());
            let Some(rest) = page.next else { break };
            range = rest;
        }
        Ok(removed)
    }

    /// Removes those of some tokens whose time is over; `None` after a conflict.
    fn forget_tokens(
        &self,
        snapshot: Arc<dyn Snapshot>,
        tokens: &[Row],
        now: u64,
    ) -> Result<Option<usize>> {
        let is_over = |row: &&Row| {
            let expiry = row.value.get(8..16).and_then(|bytes| <[u8; 8]>::try_from(bytes).ok());
            expiry.is_none_or(|expiry| u64::from_be_bytes(expiry) <= now)
        };
        let validate: Vec<Bytes> =
            tokens.iter().filter(is_over).map(|row| row.key.clone()).collect();
        let removed = validate.len();
        if removed == 0 {
            return Ok(Some(0));
        }
        let writes = validate.iter().map(|key| StoreWrite::Delete { key: key.clone() }).collect();
        match self.inner.store.commit(Commit {
            base: Some(snapshot),
            validate,
            writes,
            ..Commit::default()
        }) {
            Ok(_) => Ok(Some(removed)),
            Err(error) => match error.kind() {
                StoreErrorKind::Conflict | StoreErrorKind::TooOld => Ok(None),
                _ => Err(error.into()),
            },
        }
    }
}
