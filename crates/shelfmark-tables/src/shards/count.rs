//! Counts items and bytes of a shard with each write to it, and says how much larger the shard has
//! become.

use std::cell::RefCell;

use shelfmark_model::{Key, Value};
use shelfmark_store::txn::Transaction as Buffer;

use super::growth::{ShardGrowth, SizeChange};
use crate::catalogue::Table;
use crate::commit::Writer;
use crate::error::Result;
use crate::rows::View as _;
use shelfmark_records::shards::{Place, ShardMap};

/// Counts a change of a row in its shard. Returns by how much the shard grew, if it did.
///
/// The shard map is read through the writer's buffer, so it is validated at commit. It is not read
/// by a write that changes neither the number of items nor, where they count, their bytes, nor where
/// no partition of the table was ever split.
pub(crate) fn count(
    writer: &Writer,
    table: &Table,
    key: &Key,
    row_key: &[u8],
    change: SizeChange,
) -> Result<Option<ShardGrowth>> {
    let bytes = if table.counts_bytes() { change.bytes } else { 0 };
    if !table.has_shards() || (change.items == 0 && bytes == 0) {
        return Ok(None);
    }
    let place = Place::of(table.id, &table.key, &key.partition)?;
    let unsplit = &table.shared.unsplit;
    let is_whole =
        writer.is_gated && unsplit.is_sure(table.id, &**writer.buffer.borrow().base())?;
    let map = if is_whole { None } else { writer.buffer.get(&place.map_key())? };
    let mut buffer = writer.buffer.borrow_mut();
    let shard = match map {
        // One shard: its count is the partition's.
        None => 0,
        Some(map) => {
            let shard = ShardMap::decode(&map)?.counted_in(place.sort_of(row_key));
            if change.items != 0 {
                buffer.add(place.counter_key(shard), change.items);
            }
            shard
        }
    };
    if bytes != 0 {
        buffer.add(place.bytes_key(shard), bytes);
    }
    drop(buffer);
    let (items, bytes) = (change.items.max(0).unsigned_abs(), bytes.max(0).unsigned_abs());
    if items == 0 && bytes == 0 {
        return Ok(None);
    }
    let growth = ShardGrowth { shard, items, bytes };
    table.shared.shards.planned(&place.partition, &key.partition, growth);
    Ok(Some(growth))
}

/// Counts that the bytes of a row change by so many, beside a [`Writer`]. The shard map is read
/// through the buffer, so it is validated at commit.
pub(crate) fn add_bytes(
    buffer: &RefCell<Buffer>,
    table: &Table,
    partition: &[Value],
    row_key: &[u8],
    delta: i64,
) -> Result<()> {
    if !table.counts_bytes() || delta == 0 {
        return Ok(());
    }
    let place = Place::of(table.id, &table.key, partition)?;
    let shard = match buffer.get(&place.map_key())? {
        Some(map) => ShardMap::decode(&map)?.counted_in(place.sort_of(row_key)),
        None => 0,
    };
    buffer.borrow_mut().add(place.bytes_key(shard), delta);
    Ok(())
}
