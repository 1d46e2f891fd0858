//! Walks over the logical rows of a range: heads with their chunks put together.

use std::collections::VecDeque;

use bytes::Bytes;
use shelfmark_records::cells;
use shelfmark_records::items::{Head, RecordKind, Stored, kind_of};
use shelfmark_records::keys::RowKey;
use shelfmark_records::keys::chunk_key;
use shelfmark_store::txn::Transaction as Buffer;
use shelfmark_store::{Direction, KeyRange, Row, ScanLimits};

use super::view::View;
use crate::error::{Error, Result};

/// A row as it lies in the store.
#[derive(Debug)]
pub struct RawRow {
    /// Its key without the chunk.
    pub key: RowKey,
    /// Its head.
    pub head: Bytes,
    /// Its further chunks, in order.
    pub chunks: Vec<Bytes>,
}

/// Returns how many chunks come after a head, of an item or of a row of cells.
///
/// # Errors
///
/// * [`crate::ErrorKind::Corrupt`]: the head cannot be read. Run `verify`.
pub fn chunk_count(head: &[u8]) -> Result<usize> {
    match kind_of(head)? {
        RecordKind::Item => Ok(Head::parse(head)?.chunks),
        RecordKind::Cells => Ok(cells::chunk_count(head)?),
        RecordKind::Chunk => Err(Error::corrupt("a row has no head")),
    }
}

/// Reads the row of `row_key` (without chunk): its head, and its chunks if it has any.
///
/// # Errors
///
/// * [`crate::ErrorKind::Corrupt`]: a chunk is missing. Run `verify`.
/// * Those of the store.
pub fn read_row(view: &(impl View + ?Sized), row_key: &[u8]) -> Result<Option<RawRow>> {
    let head_key = chunk_key(row_key, 0);
    let Some(head) = view.get(&head_key)? else { return Ok(None) };
    let count = chunk_count(&head)?;
    let key = RowKey::of_head(head_key.into())?;
    if count == 0 {
        return Ok(Some(RawRow { key, head, chunks: Vec::new() }));
    }
    let keys: Vec<Bytes> =
        (1..=count).map(|number| chunk_key(row_key, number as u64).into()).collect();
    let chunks = view.get_many(&keys)?.into_iter();
    let chunks = chunks
        .map(|chunk| chunk.ok_or_else(|| Error::corrupt("a row lacks chunks")))
        .collect::<Result<_>>()?;
    Ok(Some(RawRow { key, head, chunks }))
}

/// An iterator over rows, page by page, in either direction.
pub struct RowScan<'v, V: View + ?Sized> {
    view: &'v V,
    rest: Option<KeyRange>,
    direction: Direction,
    limits: ScanLimits,
    buffer: VecDeque<Row>,
}

impl<'v, V: View + ?Sized> RowScan<'v, V> {
    /// Creates the iterator; `rows_hint` is how many rows the caller expects to want.
    pub fn new(view: &'v V, range: KeyRange, direction: Direction, rows_hint: usize) -> Self {
        let limits = ScanLimits { rows_max: rows_hint.clamp(1, 1024), ..ScanLimits::default() };
        let rest = (!range.is_empty()).then_some(range);
        Self { view, rest, direction, limits, buffer: VecDeque::new() }
    }

    /// Returns the next row, or `None` at the end of the range.
    ///
    /// # Errors
    ///
    /// * As [`read_row`].
    pub fn next_row(&mut self) -> Result<Option<RawRow>> {
        match self.direction {
            Direction::Ascending => self.next_ascending(),
            Direction::Descending => self.next_descending(),
        }
    }

    fn next_ascending(&mut self) -> Result<Option<RawRow>> {
        let Some(Row { key, value: head }) = self.pop()? else { return Ok(None) };
        let key = RowKey::of_head(key)?;
        // Only a head that says so has chunks, so nothing is read beyond the row itself.
        let count = chunk_count(&head)?;
        let mut row = RawRow { key, head, chunks: Vec::with_capacity(count) };
        for _ in 0..count {
            let chunk = self.pop()?.ok_or_else(|| Error::corrupt("a row lacks chunks"))?;
            if kind_of(&chunk.value)? != RecordKind::Chunk {
                return Err(Error::corrupt("a row lacks chunks"));
            }
            row.chunks.push(chunk.value);
        }
        Ok(Some(row))
    }

    fn next_descending(&mut self) -> Result<Option<RawRow>> {
        let mut chunks = Vec::new();
        while let Some(row) = self.pop()? {
            if kind_of(&row.value)? == RecordKind::Chunk {
                chunks.push(row.value);
                continue;
            }
            chunks.reverse();
            let Row { key, value: head } = row;
            let key = RowKey::of_head(key)?;
            return Ok(Some(RawRow { key, head, chunks }));
        }
        if chunks.is_empty() { Ok(None) } else { Err(Error::corrupt("a row has no head")) }
    }

    fn pop(&mut self) -> Result<Option<Row>> {
        self.fill()?;
        Ok(self.buffer.pop_front())
    }

    fn fill(&mut self) -> Result<()> {
        while self.buffer.is_empty() {
            let Some(range) = self.rest.take() else { return Ok(()) };
            let page = self.view.scan(&range, self.direction, self.limits)?;
            self.rest = page.next;
            // It is empty, so the rows need not be moved.
            self.buffer = page.rows.into();
        }
        Ok(())
    }
}

/// Puts a record's head and those of its chunks that changed; deletes what is left over. Without a
/// record the head is deleted, if it `may_be_there`.
pub fn put_stored(
    buffer: &mut Buffer,
    row_key: &[u8],
    old_chunks: &[Bytes],
    stored: Option<Stored>,
    may_be_there: bool,
) {
    let head_key = Bytes::from(chunk_key(row_key, 0));
    let new_chunks = stored.as_ref().map_or(0, |stored| stored.chunks.len());
    match stored {
        Some(stored) => {
            buffer.put(head_key, stored.head);
            for (position, chunk) in stored.chunks.into_iter().enumerate() {
                if old_chunks.get(position) != Some(&chunk) {
                    buffer.put(chunk_key(row_key, position as u64 + 1), chunk);
                }
            }
        }
        None if may_be_there => buffer.delete(head_key),
        None => {}
    }
    for position in new_chunks..old_chunks.len() {
        buffer.delete(chunk_key(row_key, position as u64 + 1));
    }
}
