//! Removing what has expired: items by their due times, tokens by theirs.
//!
//! A sweep reads the queue of due times from where the last one stopped, not from its front, so
//! that the tombstones of what was removed are not read again and again. It deletes by ordinary
//! writes, which maintain indexes, counts and the change log and look again whether the item is
//! still due.

use bytes::Bytes;
use shelfmark_keycode::take_ordered_varint;
use shelfmark_store::{
    Commit, Direction, KeyRange, Row, ScanLimits, Snapshot, Write as StoreWrite,
};

use crate::catalogue::take_table_name;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::layout::{Tree, tree_key};

/// Source: DynamoDB Developer Guide, "Time to Live": values older than five years are ignored,
/// read 2026-11.
const IGNORED_PAST_SECONDS: u64 = 5 * 366 * 86_400;

/// Where the last sweep stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepPosition {
    due: Option<Bytes>,
    token: Option<Bytes>,
}

impl Engine {
    /// Removes up to `limit` expired items and forgotten tokens. Returns how many went; fewer than
    /// `limit` means that nothing is due for now.
    ///
    /// # Errors
    ///
    /// * Those of the store; call again later, the position stays good.
    pub fn sweep(&self, position: &mut SweepPosition, limit: usize) -> Result<usize> {
        let removed = self.sweep_items(position, limit)?;
        Ok(removed + self.sweep_tokens(position, limit - removed.min(limit))?)
    }

    fn sweep_items(&self, position: &mut SweepPosition, limit: usize) -> Result<usize> {
        let now = self.now();
        let start = position.due.clone().unwrap_or_else(|| vec![Tree::Due as u8].into());
        let mut end = vec![Tree::Due as u8];
        end.extend_from_slice(&(now + 1).to_be_bytes());
        let range = KeyRange::new(start, end);
        let limits = ScanLimits { rows_max: limit.max(1), ..Default::default() };
        let snapshot = self.inner.store.snapshot()?;
        let page = Snapshot::scan(&*snapshot, &range, Direction::Ascending, limits)?;
        let mut removed = 0;
        for row in &page.rows {
            removed += usize::from(self.expire(row, now)?);
            position.due = Some(range.after(&row.key, Direction::Ascending).start);
        }
        // A write may be due earlier than where this stopped: look a little back next time.
        if page.next.is_none() {
            position.due = None;
        }
        Ok(removed)
    }

    /// Removes the item of one due time, if it is still due.
    fn expire(&self, due: &Row, now: u64) -> Result<bool> {
        let damaged = || Error::corrupt("a due time is damaged");
        let (second, mut rest) =
            due.key.get(1..).and_then(|rest| rest.split_first_chunk::<8>()).ok_or_else(damaged)?;
        let second = u64::from_be_bytes(*second);
        let id = take_ordered_varint(&mut rest).map_err(|_| damaged())?;
        let mut row_key = tree_key(Tree::Rows, id);
        row_key.extend_from_slice(rest);
        let ignored = second + IGNORED_PAST_SECONDS < now;
        let name = take_table_name(&due.value)?;
        if !ignored && self.inner.expire_row(&name, id, &row_key, second)? {
            return Ok(true);
        }
        // The table is gone, or the item has another expiry by now: only the entry is left.
        let key = due.key.clone();
        self.inner.store.commit(Commit::of(vec![StoreWrite::Delete { key }]))?;
        Ok(false)
    }

    fn sweep_tokens(&self, position: &mut SweepPosition, limit: usize) -> Result<usize> {
        if limit == 0 {
            return Ok(0);
        }
        let now = self.now();
        let mut range = KeyRange::prefix(tree_key(Tree::Tokens, 0));
        if let Some(start) = &position.token {
            range.start = start.clone();
        }
        let snapshot = self.inner.store.snapshot()?;
        let limits = ScanLimits { rows_max: limit, ..Default::default() };
        let page = Snapshot::scan(&*snapshot, &range, Direction::Ascending, limits)?;
        let mut validate = Vec::new();
        let mut writes = Vec::new();
        for row in &page.rows {
            let expiry = row.value.get(8..16).and_then(|bytes| <[u8; 8]>::try_from(bytes).ok());
            if expiry.is_none_or(|expiry| u64::from_be_bytes(expiry) <= now) {
                validate.push(row.key.clone());
                writes.push(StoreWrite::Delete { key: row.key.clone() });
            }
        }
        position.token = page.next.map(|next| next.start);
        let removed = writes.len();
        if removed > 0 {
            self.inner.store.commit(Commit { base: Some(snapshot), validate, writes })?;
        }
        Ok(removed)
    }
}
