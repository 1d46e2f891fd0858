//! Copies rows as they lie from one table to another one of the same key, page by page.
//!
//! What it is not: a copy as of one moment, unless its source holds one. Each page shows its own; what
//! changed since the first one is in the history of the table ([`super::replay`]).
//!
//! Invariant: a row is copied whole, with its chunks, from one moment, in one commit.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_records::items::{Head, RecordKind, Stored, kind_of, with_expiry};
use shelfmark_records::keys::{Tree, after_row, tree_key};
use shelfmark_store::txn::Transaction as Buffer;
use shelfmark_store::{Direction, KeyRange, Snapshot};
use shelfmark_tables::Result;
use shelfmark_tables::catalogue::Table;
use shelfmark_tables::rows::{
    Moment, QueuedChunk, RowScan, Walk, put_stored, queue_chunk, read_row,
};
use shelfmark_tables::shards::stored_bytes;

use super::source::Source;
use crate::inner::Inner;

/// A page ends with the row that reaches this many bytes.
pub(super) const PAGE_BYTES_MAX: usize = 1024 * 1024;

/// Rows that are asked for at once.
const PAGE_ROWS: usize = 1024;

/// A page of a copy that is being committed.
pub(super) struct QueuedPage {
    pub(super) page: CopiedPage,
    /// Nothing where there are no rows.
    chunk: Option<QueuedChunk>,
}

impl QueuedPage {
    /// Waits for the end of the commit; `None` if the page must be copied again.
    pub(super) fn wait(self) -> Result<Option<CopiedPage>> {
        let is_done = self.chunk.map_or(Ok(true), QueuedChunk::wait)?;
        Ok(is_done.then_some(self.page))
    }
}

/// A page of a copy.
pub(super) struct CopiedPage {
    /// The place behind which the next page begins: the key of the last row without the table's part;
    /// `None` at the end.
    pub(super) next: Option<Bytes>,
    pub(super) items: u64,
    /// Bytes of keys and values.
    pub(super) bytes: u64,
}

impl Inner {
    /// Begins to copy rows of the source that lie behind a place, at least one and no more after those that
    /// reach `bytes_max` bytes. `current` returns the current form of the target, and fails once
    /// it is gone.
    pub(super) fn queue_page(
        &self,
        source: &Source,
        behind: Option<&Bytes>,
        bytes_max: u64,
        current: impl Fn() -> Result<Arc<Table>>,
    ) -> Result<QueuedPage> {
        let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX).min(PAGE_BYTES_MAX);
        let bytes_max = bytes_max.min(self.store.caps().commit_size_bytes_max / 4);
        loop {
            match self.queue_page_once(source, behind, bytes_max, &current) {
                Err(error) if source.goes_on_after(&error) => {}
                queued => return queued,
            }
        }
    }

    fn queue_page_once(
        &self,
        source: &Source,
        behind: Option<&Bytes>,
        bytes_max: usize,
        current: &impl Fn() -> Result<Arc<Table>>,
    ) -> Result<QueuedPage> {
        let target = current()?;
        let snapshot = self.store.snapshot()?;
        let view: &dyn Snapshot = &*snapshot;
        let moment = source.moment(&snapshot);
        let prefix = tree_key(Tree::Rows, source.table);
        let all = KeyRange::prefix(prefix.clone());
        let range = match behind {
            Some(rest) => after_row(&all, &[prefix.as_slice(), rest].concat(), false),
            None => all,
        };
        let mut rows = RowScan::new(&moment, range, Direction::Ascending, PAGE_ROWS);
        let mut buffer = Buffer::new(Arc::clone(&snapshot));
        let mut page = CopiedPage { next: None, items: 0, bytes: 0 };
        while let Some(row) = rows.next_row()? {
            let rest = row.key.get(prefix.len()..).unwrap_or_default();
            let row_key = [target.key.prefix.as_ref(), rest].concat();
            if !row.chunks.is_empty() {
                self.catalogue.set_chunked(&target)?;
            }
            // A copy that was interrupted may have left other chunks of the row.
            let old = match target.has_chunks() {
                true => read_row(&view, &row_key)?.map(|old| old.chunks).unwrap_or_default(),
                false => Vec::new(),
            };
            let head = match Head::parse(&row.head)?.expires_at {
                Some(_) => with_expiry(&row.head, None)?,
                None => row.head,
            };
            let bytes = stored_bytes(&row_key, &head, &row.chunks);
            page.bytes += bytes.unsigned_abs();
            page.items += 1;
            put_stored(
                &mut buffer,
                &row_key,
                &old,
                Some(Stored { head, chunks: row.chunks }),
                true,
            );
            if buffer.written_bytes() >= bytes_max || page.items >= PAGE_ROWS as u64 {
                page.next = Some(Bytes::copy_from_slice(rest));
                break;
            }
        }
        let has_rows = page.items > 0;
        let queue = || queue_chunk(self, buffer.into_commit(), current);
        Ok(QueuedPage { page, chunk: has_rows.then(queue).transpose()? })
    }
}

impl Inner {
    /// Counts the rows of the table of this id, and the bytes of their keys and values. Returns `None` if
    /// `is_enough` says so of the bytes before the end.
    pub(super) fn rows_size(
        &self,
        id: u64,
        is_enough: impl Fn(u64) -> bool,
    ) -> Result<Option<(u64, u64)>> {
        let walked = Moment::take(&self.store)?;
        let mut walk = Walk::over(KeyRange::prefix(tree_key(Tree::Rows, id)));
        let (mut items, mut bytes) = (0, 0);
        while let Some(row) = walk.next(&walked)? {
            items += u64::from(!matches!(kind_of(&row.value), Ok(RecordKind::Chunk)));
            bytes += (row.key.len() + row.value.len()) as u64;
            if is_enough(bytes) {
                return Ok(None);
            }
        }
        Ok(Some((items, bytes)))
    }
}
