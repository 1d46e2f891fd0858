//! Entering the rows that were there before an index was, piece by piece.
//!
//! Each piece is one commit, bounded in rows and bytes, that validates every row it read. What it is
//! not: the only one who enters. Writers keep the index from its first moment, so a row that is
//! written meanwhile is theirs, and the piece that read it before is entered again.
//!
//! Invariant: nothing is entered once the table or the index was dropped, so a purge leaves nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_model::IndexKind;
use shelfmark_store::txn::Transaction as Buffer;
use shelfmark_store::{Commit, Direction, KeyRange, Snapshot};

use super::enter;
use crate::catalogue::{Index, Table};
use crate::codec::{Head, Stored};
use crate::engine::Inner;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::after_row;
use crate::read::{RawRow, RowScan, chunk_key, read_row};
use crate::write::{entry_record, put_stored};

/// Rows entered per commit.
const ROWS_PER_COMMIT: usize = 256;

/// A piece ends with the row whose entry reaches this many bytes.
const BYTES_PER_COMMIT: usize = 1024 * 1024;

struct Builder<'a> {
    inner: &'a Inner,
    table: &'a Table,
    index: &'a Index,
    /// Second since the Unix epoch at which it began.
    now: u64,
}

/// Some rows' entries.
struct Piece {
    /// Keys without chunk, with the chunks that they replace.
    entries: BTreeMap<Vec<u8>, (Stored, Vec<Bytes>)>,
    validate: Vec<Bytes>,
    bytes: usize,
    /// Key of the last row, without chunk.
    last: Bytes,
}

/// Enters all rows of the table. Returns once every row has its entry.
///
/// # Errors
///
/// * [`ErrorKind::AlreadyExists`]: two items have one key in a unique index.
/// * [`ErrorKind::NotFound`]: the table or the index was dropped.
pub(super) fn build(inner: &Inner, table: &Table, index: &str) -> Result<()> {
    let index = table
        .index(index)
        .ok_or_else(|| Error::new(ErrorKind::Internal, "the index being built is not there"))?;
    let now = inner.environment.clock.now_seconds();
    let builder = Builder { inner, table, index, now };
    let mut rest = KeyRange::prefix(table.key.prefix.clone());
    loop {
        let snapshot = inner.store.snapshot()?;
        let piece = match builder.read(&snapshot, &rest) {
            Err(error) if error.kind() == ErrorKind::TooOld => continue,
            piece => piece?,
        };
        let Some(piece) = piece else { return Ok(()) };
        let last = piece.last.clone();
        if builder.enter(snapshot, piece)? {
            rest = after_row(&rest, &last, false);
        }
    }
}

impl Builder<'_> {
    /// Reads the first rows of a range; `None` if it has none.
    fn read(&self, snapshot: &Arc<dyn Snapshot>, range: &KeyRange) -> Result<Option<Piece>> {
        let bytes_max = (self.inner.store.caps().commit_size_bytes_max / 2).min(BYTES_PER_COMMIT);
        let view = &**snapshot;
        let mut rows = RowScan::new(&view, range.clone(), Direction::Ascending, ROWS_PER_COMMIT);
        let mut piece =
            Piece { entries: BTreeMap::new(), validate: Vec::new(), bytes: 0, last: Bytes::new() };
        for _ in 0..ROWS_PER_COMMIT {
            let Some(row) = rows.next_row()? else { break };
            self.add(view, &row, &mut piece)?;
            piece.last = row.key.to_bytes();
            if piece.bytes >= bytes_max {
                break;
            }
        }
        Ok((!piece.last.is_empty()).then_some(piece))
    }

    /// Adds the entry of a row to a piece, if it has one.
    fn add(&self, snapshot: &dyn Snapshot, row: &RawRow, piece: &mut Piece) -> Result<()> {
        piece.validate.push(chunk_key(&row.key, 0).into());
        let expires_at = Head::parse(&row.head)?.expires_at;
        let is_unique = self.index.schema.kind == IndexKind::Unique;
        if is_unique && self.table.hides(expires_at, self.now) {
            // The unique key of an expired item is free, and may have been taken.
            return Ok(());
        }
        let item = self.table.decode_whole(row)?;
        let key = self.table.key_of(&item)?;
        let Some(entry_key) = self.index.entry_key(self.table, &key, &item)? else {
            return Ok(());
        };
        let mut replaced = Vec::new();
        if is_unique {
            if piece.entries.contains_key(&entry_key) {
                return Err(self.duplicate());
            }
            replaced = self.taken_over(snapshot, &row.key, &entry_key)?;
            piece.validate.push(chunk_key(&entry_key, 0).into());
        }
        let shown = expires_at.filter(|_| self.table.hides(expires_at, u64::MAX));
        let stored = entry_record(self.table, self.index, &item, shown);
        let chunks: usize = stored.chunks.iter().map(|chunk| entry_key.len() + chunk.len()).sum();
        piece.bytes += entry_key.len() + stored.head.len() + chunks;
        piece.entries.insert(entry_key, (stored, replaced));
        Ok(())
    }

    /// Returns the chunks of the entry that is at a unique key already: a writer may have entered the
    /// item of `row_key`, or one that has expired.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::AlreadyExists`]: the entry leads to another item.
    fn taken_over(
        &self,
        snapshot: &dyn Snapshot,
        row_key: &[u8],
        entry_key: &[u8],
    ) -> Result<Vec<Bytes>> {
        let Some(entry) = read_row(&snapshot, entry_key)? else { return Ok(Vec::new()) };
        if Head::parse(&entry.head)?.expires_at.is_some_and(|second| second <= self.now) {
            return Ok(entry.chunks);
        }
        let item = self.index.entry_item(&entry)?;
        if self.table.key.row_key(&self.table.key_of(&item)?)? == row_key {
            return Ok(entry.chunks);
        }
        Err(self.duplicate())
    }

    fn duplicate(&self) -> Error {
        let name = &self.index.schema.name;
        Error::new(
            ErrorKind::AlreadyExists,
            format!("two items have one key in the unique index {name}"),
        )
    }

    /// Commits a piece; `false` if it must be read and entered again.
    fn enter(&self, snapshot: Arc<dyn Snapshot>, piece: Piece) -> Result<bool> {
        let mut buffer = Buffer::new(Arc::clone(&snapshot));
        for (key, (stored, replaced)) in piece.entries {
            put_stored(&mut buffer, &key, &replaced, Some(stored), true);
        }
        let writes = buffer.into_commit().writes;
        let commit =
            Commit { base: Some(snapshot), validate: piece.validate, writes, ..Commit::default() };
        enter(self.inner, commit, || self.current())
    }

    /// Returns the current form of the table, which has the index.
    fn current(&self) -> Result<Arc<Table>> {
        let name = &self.table.schema.name;
        let current = self.inner.catalogue.table(name)?;
        let is_there = current.indexes.iter().any(|own| own.id == self.index.id);
        if current.id == self.table.id && is_there {
            return Ok(current);
        }
        Err(Error::new(
            ErrorKind::NotFound,
            format!("index {} of table {name} was dropped", self.index.schema.name),
        ))
    }
}
