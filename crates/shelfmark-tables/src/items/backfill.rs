//! The backfill of an index of items: which entry a row gets, and whom a unique key belongs to.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_model::IndexKind;
use shelfmark_records::items::Head;

use super::derive::entry_record;
use crate::catalogue::{Index, Table};
use crate::error::{Error, ErrorKind, Result};
use crate::rows::{Backfill, Chunk, RawRow, backfill, put_stored, read_row};
use crate::tables::Tables;

struct IndexBackfill<'a> {
    tables: &'a Tables,
    table: &'a Table,
    index: &'a Index,
    /// Second since the Unix epoch at which it began.
    now: u64,
}

/// Enters all rows of the table. Returns once every row has its entry.
///
/// # Errors
///
/// * [`ErrorKind::AlreadyExists`]: two items have one key in a unique index.
/// * [`ErrorKind::NotFound`]: the table or the index was dropped.
pub(crate) fn build(tables: &Tables, table: &Table, index: &str) -> Result<()> {
    let index = table
        .index(index)
        .ok_or_else(|| Error::new(ErrorKind::Internal, "the index being built is not there"))?;
    let now = tables.environment.clock.now_seconds();
    backfill(tables, &IndexBackfill { tables, table, index, now })
}

impl Backfill for IndexBackfill<'_> {
    fn rows_prefix(&self) -> Bytes {
        self.table.key.prefix.clone()
    }

    fn enter(&self, chunk: &Chunk, row: &RawRow) -> Result<()> {
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
        chunk.validate(row);
        let replaced =
            if is_unique { self.taken_over(chunk, &row.key, &entry_key)? } else { Vec::new() };
        let shown = expires_at.filter(|_| self.table.hides(expires_at, u64::MAX));
        let stored = entry_record(self.table, self.index, &item, shown);
        put_stored(&mut chunk.buffer.borrow_mut(), &entry_key, &replaced, Some(stored), true);
        Ok(())
    }

    fn current(&self) -> Result<Arc<Table>> {
        let name = &self.table.schema.name;
        let current = self.tables.catalogue.table(name)?;
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

impl IndexBackfill<'_> {
    /// Returns the chunks of the entry that is at a unique key already: a writer may have entered the
    /// item of `row_key`, or one that has expired. The look is validated.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::AlreadyExists`]: the entry leads to another item.
    fn taken_over(&self, chunk: &Chunk, row_key: &[u8], entry_key: &[u8]) -> Result<Vec<Bytes>> {
        let Some(entry) = read_row(&chunk.buffer, entry_key)? else { return Ok(Vec::new()) };
        if Head::parse(&entry.head)?.expires_at.is_some_and(|second| second <= self.now) {
            return Ok(entry.chunks);
        }
        let item = self.index.entry_item(&entry)?;
        if self.table.key.row_key(&self.table.key_of(&item)?)? == row_key {
            return Ok(entry.chunks);
        }
        let name = &self.index.schema.name;
        Err(Error::new(
            ErrorKind::AlreadyExists,
            format!("two items have one key in the unique index {name}"),
        ))
    }
}
