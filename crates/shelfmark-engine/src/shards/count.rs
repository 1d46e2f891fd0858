//! What a write of a sharded table does for its shard: it counts, and says when the shard may have
//! become too large.

use shelfmark_model::Key;

use super::map::{Place, ShardMap};
use crate::catalogue::Table;
use crate::error::Result;
use crate::read::View as _;
use crate::write::Writer;

/// Counts an item that was created (`delta` 1) or removed (-1) in its shard. Returns the shard that
/// an item was created in.
///
/// The shard map is read through the writer's buffer, so it is validated at commit.
pub(crate) fn count(
    writer: &Writer,
    table: &Table,
    key: &Key,
    row_key: &[u8],
    delta: i64,
) -> Result<Option<u64>> {
    if table.schema.options.shard_items_max.is_none() {
        return Ok(None);
    }
    let place = Place::of(table, &key.partition)?;
    let shard = match writer.buffer.get(&place.map_key())? {
        // One shard: its count is the partition's.
        None => 0,
        Some(map) => {
            let shard = ShardMap::decode(&map)?.counted_in(place.sort_of(row_key));
            writer.buffer.borrow_mut().add(place.counter_key(shard), delta);
            shard
        }
    };
    if delta < 0 {
        return Ok(None);
    }
    table.shared.shards.planned(&place.partition, &key.partition, shard);
    Ok(Some(shard))
}
