//! Finds shards that are too large, how much room a shard has, and where one is cut.
//!
//! A shard of one item cannot be cut, however large the item is: it has room for any bytes, and none
//! for a second item, so that nothing is looked at again before there is something to cut.

use bytes::Bytes;
use shelfmark_model::Value;
use shelfmark_store::{KeyRange, Snapshot};

use super::counters::{bytes, items};
use super::rooms::Space;
use super::rows::{row_at, row_at_half};
use crate::catalogue::Table;
use crate::error::Result;
use shelfmark_records::shards::{Place, ShardMap};

/// The size above which the shards of a table are split.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    items_max: u64,
    /// No limit while the bytes of items from before are still being counted.
    bytes_max: u64,
}

/// The items and bytes that a shard holds, by its counters.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Held {
    items: u64,
    bytes: u64,
}

impl Held {
    pub(super) fn read(
        snapshot: &dyn Snapshot,
        table: &Table,
        place: &Place,
        partition: &[Value],
        map: &ShardMap,
        number: usize,
    ) -> Result<Self> {
        let items = items(snapshot, table, place, partition, map, number)?;
        let bytes = if table.knows_bytes() { bytes(snapshot, place, map, number)? } else { 0 };
        Ok(Self { items, bytes })
    }
}

impl Limits {
    pub(super) fn of(table: &Table) -> Self {
        let options = &table.schema.options;
        let bytes_max = options.shard_bytes_max.filter(|_| table.knows_bytes());
        Self {
            items_max: options.shard_items_max.unwrap_or(u64::MAX),
            bytes_max: bytes_max.unwrap_or(u64::MAX),
        }
    }

    /// Returns the key (without chunk) of the row that a shard is cut before, if it is too large and
    /// has two rows: half of the bytes lie on either side where these are too many, else half of the
    /// items.
    pub(super) fn cut(
        self,
        snapshot: &dyn Snapshot,
        table: &Table,
        range: KeyRange,
        held: Held,
    ) -> Result<Option<Bytes>> {
        if held.items < 2 {
            return Ok(None);
        }
        if held.bytes > self.bytes_max {
            return row_at_half(snapshot, table, range, held.bytes);
        }
        if held.items > self.items_max {
            return row_at(snapshot, table, range, held.items / 2);
        }
        Ok(None)
    }

    /// Returns the room of a shard that is not cut.
    pub(super) fn room(self, held: Held) -> Space {
        let items = self.items_max.saturating_sub(held.items);
        if held.bytes > self.bytes_max {
            // It has one item; with the next one it can be cut.
            return Space { items: 0, bytes: u64::MAX };
        }
        Space { items, bytes: self.bytes_max - held.bytes }
    }
}
