//! Items out of stored rows and index entries, and the keys that items have.

use shelfmark_model::{Item, Key, Value};
use shelfmark_records::items::Head;
use shelfmark_records::keys::is_left_out;

use super::row_memo::RowMemo;
use crate::catalogue::{Index, Table};
use crate::error::{Error, ErrorKind, Result};
use crate::rows::RawRow;

impl Table {
    /// Checks that the table holds items.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: it holds cells, which have calls of their own.
    /// * [`crate::ErrorKind::NotFound`]: it is a backup, or is being filled.
    pub fn check_items(&self) -> Result<()> {
        self.check_awake()?;
        match self.cells.is_some() || self.mapped.is_some() {
            false => Ok(()),
            true => Err(Error::invalid(format!(
                "table {} holds rows of cells, not items; use the calls for cells",
                self.schema.name
            ))),
        }
    }

    /// Checks that the rows of the table may be read and written.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::NotFound`]: it is a backup, or is being filled. Wait for its end.
    pub(crate) fn check_awake(&self) -> Result<()> {
        match self.schema.options.dormant {
            false => Ok(()),
            true => Err(Error::new(
                ErrorKind::NotFound,
                format!("table {} cannot be used before it is whole", self.schema.name),
            )),
        }
    }

    /// Returns the item that has a key and nothing else.
    pub fn item_of_key(&self, key: &Key) -> Item {
        let values = key.partition.iter().chain(&key.sort).cloned();
        self.schema.key_names().map(str::to_owned).zip(values).collect()
    }

    /// Returns the primary key of an item.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: a key attribute is missing. The message names it.
    pub fn key_of(&self, item: &Item) -> Result<Key> {
        let sort = self.key.sort.iter().map(|own| pick(item, &own.name)).collect::<Result<_>>()?;
        Ok(Key { partition: self.partition_of(item)?, sort })
    }

    /// Returns the partition key of an item.
    ///
    /// # Errors
    ///
    /// * As [`Table::key_of`].
    pub fn partition_of(&self, item: &Item) -> Result<Vec<Value>> {
        self.key.partition.iter().map(|own| pick(item, &own.name)).collect()
    }

    /// Returns the key attributes that a row's key (without chunk) holds, as an item.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Corrupt`]: the key cannot be read. Run `verify`.
    pub fn key_item(&self, row_key: &[u8]) -> Result<Item> {
        let columns = self.key.decode(row_key)?.columns;
        Ok(columns.into_iter().collect())
    }

    /// Decodes a stored row into an item with its key attributes; `None` if it has expired and
    /// the table does not show expired items.
    pub(crate) fn decode_row(&self, row: &RawRow, now: u64) -> Result<Option<Item>> {
        self.decode_row_after(row, now, &mut RowMemo::default())
    }

    /// Decodes a row as [`Table::decode_row`] does, with a memo of the row before it.
    pub(crate) fn decode_row_after(
        &self,
        row: &RawRow,
        now: u64,
        memo: &mut RowMemo,
    ) -> Result<Option<Item>> {
        let head = Head::parse(&row.head)?;
        if self.hides(head.expires_at, now) {
            return Ok(None);
        }
        memo.decode(&self.key, head, row).map(Some)
    }

    /// Decodes a stored row whether it has expired or not.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Corrupt`]: the row cannot be read. Run `verify`.
    pub fn decode_whole(&self, row: &RawRow) -> Result<Item> {
        RowMemo::default().decode(&self.key, Head::parse(&row.head)?, row)
    }
}

/// Returns a key attribute of an item.
fn pick(item: &Item, name: &str) -> Result<Value> {
    let value = item.get(name).cloned();
    value.ok_or_else(|| Error::invalid(format!("the item has no key attribute {name}")))
}

impl Index {
    /// Returns the key of the entry (without chunk) that an item of this base key has; `None` if it
    /// has none: an attribute of the index's key is absent, or not fit to be in it.
    pub(crate) fn entry_key(
        &self,
        table: &Table,
        key: &Key,
        item: &Item,
    ) -> Result<Option<Vec<u8>>> {
        let is_strict = table.schema.options.strict_index_keys;
        if is_strict && is_left_out(&table.schema, &self.schema, item) {
            return Ok(None);
        }
        Ok(self.key.entry_key(&table.key, key, item)?)
    }

    /// Decodes an entry: what it projects, and the keys of both tables.
    pub(crate) fn decode_entry(
        &self,
        row: &RawRow,
        now: u64,
        memo: &mut RowMemo,
    ) -> Result<Option<Item>> {
        let head = Head::parse(&row.head)?;
        if head.expires_at.is_some_and(|second| second <= now) {
            return Ok(None);
        }
        memo.decode(&self.key, head, row).map(Some)
    }

    /// Decodes an entry whether it has expired or not.
    pub(crate) fn entry_item(&self, row: &RawRow) -> Result<Item> {
        RowMemo::default().decode(&self.key, Head::parse(&row.head)?, row)
    }
}
