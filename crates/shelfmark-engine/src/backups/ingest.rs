//! Copies rows as they lie into a table that holds none behind them, past the store's log.
//!
//! What it is not: a way to write over rows. What a copy that was interrupted left is written over by
//! commits ([`super::copy`]).
//!
//! Invariant: rows of one call belong to one moment, and the table is not dropped while they are written.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_records::items::{Head, with_expiry};
use shelfmark_records::keys::{Tree, after_row, chunk_key, tree_key};
use shelfmark_store::{Direction, ErrorKind as StoreErrorKind, KeyRange, ScanLimits, Snapshot};
use shelfmark_tables::catalogue::Table;
use shelfmark_tables::commit::lock_gates;
use shelfmark_tables::rows::{RawRow, RowScan, wait_for};
use shelfmark_tables::shards::stored_bytes;
use shelfmark_tables::{Error, Result};

use super::copy::{CopiedPage, PAGE_BYTES_MAX};
use super::source::Source;
use crate::inner::Inner;

/// Rows of one call end with the one that reaches this many bytes: a table file's worth.
pub(super) const INGESTED_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// Rows that are asked for at once.
const PAGE_ROWS: usize = 1024;

impl Inner {
    /// Tells whether rows can be ingested into a table behind a place: the store does that, and there are
    /// none.
    pub(super) fn can_ingest(&self, target: &Table, behind: Option<&Bytes>) -> Result<bool> {
        if !self.store.caps().ingests {
            return Ok(false);
        }
        let range = rest_of(&target.key.prefix, behind);
        let limits = ScanLimits { rows_max: 1, keys_only: true, ..ScanLimits::default() };
        let page = self.store.snapshot()?.scan(&range, Direction::Ascending, limits)?;
        Ok(page.rows.is_empty())
    }

    /// Ingests rows of the source that lie behind a place, at least one and no more after those that reach
    /// `bytes_max` bytes. `goes_on` is told the bytes of about each megabyte, and ends the call if it returns
    /// false. `current` returns the current form of the target, and fails once it is gone.
    ///
    /// New snapshots show the rows once something was committed afterwards.
    pub(super) fn ingest_rows(
        &self,
        source: &Source,
        behind: Option<&Bytes>,
        bytes_max: u64,
        current: impl Fn() -> Result<Arc<Table>>,
        goes_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<CopiedPage> {
        loop {
            let target = current()?;
            let gates = lock_gates(std::slice::from_ref(&target));
            if target.is_retired() {
                continue;
            }
            let newest = self.store.snapshot()?;
            let view = source.moment(&newest);
            let prefix = tree_key(Tree::Rows, source.table);
            let range = rest_of(&prefix, behind);
            let mut rows = Rows {
                rows: RowScan::new(&view, range, Direction::Ascending, PAGE_ROWS),
                source_prefix: &prefix,
                target: &target,
                entries: VecDeque::new(),
                page: CopiedPage { next: None, items: 0, bytes: 0 },
                told_bytes: 0,
                bytes_max,
                goes_on,
                end: None,
            };
            let ingested = self.store.ingest(&mut rows);
            let Rows { page, end, .. } = rows;
            drop(gates);
            match ingested {
                Ok(()) => {}
                Err(error) if error.kind() == StoreErrorKind::Busy => {
                    wait_for(error.retry_after());
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            match end {
                // What was written before it is there.
                Some(_) if page.items > 0 => {}
                Some(End::HasChunks) => {
                    self.catalogue.set_chunked(&target)?;
                    continue;
                }
                Some(End::Failed(error)) if source.goes_on_after(&error) => continue,
                Some(End::Failed(error)) => return Err(error),
                Some(End::IsEnough) | None => {}
            }
            return Ok(page);
        }
    }
}

/// Returns the range of what lies behind a place among the keys with a prefix.
fn rest_of(prefix: &[u8], behind: Option<&Bytes>) -> KeyRange {
    let all = KeyRange::prefix(prefix.to_vec());
    match behind {
        Some(rest) => after_row(&all, &[prefix, rest].concat(), false),
        None => all,
    }
}

/// The reason why rows end before those of their table.
enum End {
    IsEnough,
    /// The next row has chunks, and the target is not marked as a table of such rows yet.
    HasChunks,
    Failed(Error),
}

/// Rows of one table as entries of another one.
struct Rows<'a> {
    rows: RowScan<'a, &'a dyn Snapshot>,
    source_prefix: &'a [u8],
    target: &'a Table,
    /// Entries of the current row that are left.
    entries: VecDeque<(Bytes, Bytes)>,
    page: CopiedPage,
    /// The part of the page's bytes that was told.
    told_bytes: u64,
    bytes_max: u64,
    goes_on: &'a mut dyn FnMut(u64) -> bool,
    end: Option<End>,
}

impl Rows<'_> {
    /// Reads the next row. Tells whether there is one.
    fn read(&mut self) -> std::result::Result<bool, End> {
        let is_enough = self.page.items > 0 && self.page.bytes >= self.bytes_max;
        let has_page = self.page.bytes - self.told_bytes >= PAGE_BYTES_MAX as u64;
        if is_enough || has_page {
            let goes_on = self.tell();
            if is_enough || !goes_on {
                return Err(End::IsEnough);
            }
        }
        let Some(row) = self.rows.next_row().map_err(End::Failed)? else {
            self.tell();
            self.page.next = None;
            return Ok(false);
        };
        if !row.chunks.is_empty() && !self.target.has_chunks() {
            return Err(End::HasChunks);
        }
        self.take(row).map_err(End::Failed)?;
        Ok(true)
    }

    /// Tells of the bytes since the last time. Returns whether to go on.
    fn tell(&mut self) -> bool {
        let bytes = self.page.bytes - self.told_bytes;
        self.told_bytes = self.page.bytes;
        (self.goes_on)(bytes)
    }

    fn take(&mut self, row: RawRow) -> Result<()> {
        let rest = row.key.get(self.source_prefix.len()..).unwrap_or_default();
        let row_key = [self.target.key.prefix.as_ref(), rest].concat();
        let head = match Head::parse(&row.head)?.expires_at {
            Some(_) => with_expiry(&row.head, None)?,
            None => row.head,
        };
        self.page.bytes += stored_bytes(&row_key, &head, &row.chunks).unsigned_abs();
        self.page.items += 1;
        self.page.next = Some(Bytes::copy_from_slice(rest));
        for (number, value) in std::iter::once(head).chain(row.chunks).enumerate() {
            self.entries.push_back((chunk_key(&row_key, number as u64).into(), value));
        }
        Ok(())
    }
}

impl Iterator for Rows<'_> {
    type Item = shelfmark_store::Result<(Bytes, Bytes)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.entries.is_empty() && self.end.is_none() {
            match self.read() {
                Ok(_) => {}
                Err(end) => self.end = Some(end),
            }
        }
        self.entries.pop_front().map(Ok)
    }
}
