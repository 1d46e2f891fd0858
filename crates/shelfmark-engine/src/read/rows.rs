//! Walking over the logical rows of a range: heads with their chunks put together.

use std::collections::VecDeque;

use bytes::Bytes;
use shelfmark_store::{Direction, KeyRange, Row, ScanLimits};

use super::view::View;
use crate::codec::{Head, RecordKind, kind_of};
use crate::error::{Error, Result};
use crate::layout::RowKey;

/// A row as it lies in the store.
#[derive(Debug)]
pub(crate) struct RawRow {
    /// Its key without the chunk.
    pub(crate) key: RowKey,
    /// Its head.
    pub(crate) head: Bytes,
    /// Its further chunks, in order.
    pub(crate) chunks: Vec<Bytes>,
}

/// Returns how many chunks come after a head, of an item or of a row of cells.
pub(crate) fn chunk_count(head: &[u8]) -> Result<usize> {
    match kind_of(head)? {
        RecordKind::Item => Ok(Head::parse(head)?.chunks),
        RecordKind::Cells => crate::cells::chunk_count(head),
        RecordKind::Chunk => Err(Error::corrupt("a row has no head")),
    }
}

/// An iterator over rows, page by page, in either direction.
pub(crate) struct RowScan<'v, V: View + ?Sized> {
    view: &'v V,
    rest: Option<KeyRange>,
    direction: Direction,
    limits: ScanLimits,
    buffer: VecDeque<Row>,
}

impl<'v, V: View + ?Sized> RowScan<'v, V> {
    /// Creates the iterator; `rows_hint` is how many rows the caller expects to want.
    pub(crate) fn new(
        view: &'v V,
        range: KeyRange,
        direction: Direction,
        rows_hint: usize,
    ) -> Self {
        let limits = ScanLimits { rows_max: rows_hint.clamp(1, 1024), ..ScanLimits::default() };
        let rest = (!range.is_empty()).then_some(range);
        Self { view, rest, direction, limits, buffer: VecDeque::new() }
    }

    /// Returns the next row, or `None` at the end of the range.
    pub(crate) fn next_row(&mut self) -> Result<Option<RawRow>> {
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
