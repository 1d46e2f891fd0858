//! Items as they are stored, for whoever checks or repairs a store.

use bytes::Bytes;
use shelfmark_model::{IndexKind, IndexState, Item, Key};
use shelfmark_records::items::Head;

use super::derive::{due_key_of, entry_record};
use crate::catalogue::Table;
use crate::error::{Error, Result};
use crate::rows::{Entry, IndexRange, RawRow, RowKind};

/// The items of one table.
pub struct Items<'t> {
    /// The table.
    pub table: &'t Table,
    /// Second since the Unix epoch.
    pub now: u64,
}

/// An item that could be read.
pub struct StoredItem {
    pub(crate) item: Item,
    /// Its key.
    pub key: Key,
    pub(crate) expires_at: Option<u64>,
}

impl RowKind for Items<'_> {
    type Row = StoredItem;

    fn table(&self) -> &Table {
        self.table
    }

    fn rows_prefix(&self) -> Bytes {
        self.table.key.prefix.clone()
    }

    fn read(&self, raw: &RawRow) -> Result<StoredItem> {
        let item = self.table.decode_whole(raw)?;
        let key = self.table.key_of(&item)?;
        if self.table.key.row_key(&key)? != *raw.key {
            return Err(Error::corrupt("a row lies at another key than its own"));
        }
        let expires_at = Head::parse(&raw.head)?.expires_at;
        Ok(StoredItem { item, key, expires_at })
    }

    fn is_row(&self, _: &StoredItem) -> bool {
        true
    }

    fn indexes(&self) -> Vec<IndexRange<'_>> {
        let indexes = self.table.indexes.iter().map(|index| IndexRange {
            name: &index.schema.name,
            prefix: index.key.prefix.clone(),
            is_complete: index.schema.state == IndexState::Public,
        });
        indexes.collect()
    }

    fn entries(&self, row: &StoredItem, at: usize) -> Result<Vec<Entry>> {
        let Some(index) = self.table.indexes.get(at) else { return Ok(Vec::new()) };
        let key = index.entry_key(self.table, &row.key, &row.item)?;
        let is_free =
            index.schema.kind == IndexKind::Unique && self.table.hides(row.expires_at, self.now);
        // Whether entries tell the expiry depended on the table's settings when it was written.
        let records = || {
            let of = |expires_at| entry_record(self.table, index, &row.item, expires_at);
            vec![of(row.expires_at), of(None)]
        };
        let entry = key.map(|key| Entry { key, records: records(), is_required: !is_free });
        Ok(entry.into_iter().collect())
    }

    fn entry_leads_to(&self, at: usize, entry: &RawRow) -> Result<Vec<u8>> {
        let index = self.table.indexes.get(at);
        let index = index.ok_or_else(|| Error::corrupt("an entry of no index"))?;
        Ok(self.table.key.row_key(&self.table.key_of(&index.entry_item(entry)?)?)?)
    }

    fn due(&self, raw: &RawRow, row: &StoredItem) -> Option<(u64, Bytes)> {
        self.table.schema.options.ttl.as_ref()?;
        let second = row.expires_at?;
        Some((second, due_key_of(self.table, &raw.key, second)))
    }
}
