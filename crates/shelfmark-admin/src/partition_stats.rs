//! `partition-stats`: the size of one partition, and where it lies.

use serde::{Deserialize, Serialize};
use shelfmark_engine::{Engine, Shard, Table};
use shelfmark_keycode::token_from_bytes;
use shelfmark_model::serial::serialise_partition;
use shelfmark_model::{Placement, RowKind, Value};
use shelfmark_store::{KeyRange, PlaceKind, StoredPlace};

use crate::admin::Admin;
use crate::error::Result;
use crate::key_line::{Effort, StoredKeys, measure};
use crate::key_text::value_text;
use crate::named;
use crate::operation::Operation;
use crate::report::Range;
use crate::table_stats::Extent;

/// Places that are told. Source: ours; a partition of so many table files or regions is tens of gigabytes.
const PLACES_MAX: usize = 128;

/// Asks for the size and the place of a partition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartitionStats {
    /// The table: `NAME` (a DynamoDB table) or `NAMESPACE.NAME`.
    pub table: String,
    /// Values of the partition key's columns, as people type them.
    pub partition: Vec<String>,
}

/// The size and the place of a partition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionStatsAnswer {
    /// The table, `NAMESPACE.NAME`.
    pub table: String,
    /// The values of its partition key.
    pub partition: Vec<String>,
    /// Its rows; no partition if there are none.
    pub extent: Extent,
    /// Its token, where partitions are hashed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<i64>,
    /// Its keys, as bytes of the store.
    pub range: Range,
    /// The table files or regions in which keys of it lie; none where it is in memory alone.
    pub places: Vec<PlaceEntry>,
    /// True if there may be more places than those told.
    #[serde(default)]
    pub places_more: bool,
    /// Its shards, where the table counts exactly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shards: Vec<ShardEntry>,
}

/// A table file or region.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceEntry {
    /// `table file` or `region`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The keys that may lie in it, as bytes of the store.
    pub range: Range,
}

/// A shard of a partition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardEntry {
    /// Its number in the partition.
    pub id: u64,
    /// The sort key that it begins with; none for the first shard.
    pub from: Option<Vec<String>>,
    /// Items in it, exactly.
    pub items: u64,
    /// Their bytes, exactly, where the table counts them.
    pub bytes: Option<u64>,
    /// True while it is being split.
    pub splitting: bool,
}

impl Operation for PartitionStats {
    const NAME: &'static str = "partition-stats";
    type Answer = PartitionStatsAnswer;

    fn run(self, admin: &Admin) -> Result<PartitionStatsAnswer> {
        let engine = admin.engine();
        let table = named::stored_table(engine, &self.table)?;
        let values = named::partition(&table.schema.partition, &self.partition)?;
        let keys = StoredKeys::of_table(&table);
        let prefix = prefix(&table, &keys, &values)?;
        let range = KeyRange::prefix(prefix.clone());
        let line = measure(&**engine.store(), &keys, &range, Effort::PICTURE)?;
        // A partition that was cut into stretches is one.
        let extent = Extent { partitions: line.partitions().min(1), ..Extent::of(&line) };
        let mut places = engine.store().places(&range, PLACES_MAX + 1)?;
        let places_more = places.len() > PLACES_MAX;
        places.truncate(PLACES_MAX);
        Ok(PartitionStatsAnswer {
            table: table.schema.name.to_string(),
            partition: values.iter().map(value_text).collect(),
            extent,
            token: token(&table, &keys, &prefix),
            range: Range::from(&range),
            places: places.iter().map(place_entry).collect(),
            places_more,
            shards: shards(engine, &table, &values)?,
        })
    }
}

/// Returns the bytes that all keys of a partition begin with.
fn prefix(table: &Table, keys: &StoredKeys, values: &[Value]) -> Result<Vec<u8>> {
    let failed = |error: shelfmark_records::Error| shelfmark_engine::Error::from(error);
    match keys {
        StoredKeys::Items(spec) => Ok(spec.partition_key(values).map_err(failed)?),
        StoredKeys::Cells(cells) => {
            let types = table.schema.partition.iter().map(|column| &column.key_type);
            let mut raw = Vec::new();
            serialise_partition(types, values, &mut raw).map_err(shelfmark_engine::Error::from)?;
            Ok(cells.partition(&raw).map_err(failed)?)
        }
        StoredKeys::Other(prefix) => Ok(prefix.to_vec()),
    }
}

fn token(table: &Table, keys: &StoredKeys, prefix: &[u8]) -> Option<i64> {
    let is_hashed =
        table.schema.rows == RowKind::Cells || table.schema.placement == Placement::Hashed;
    let own = prefix.get(keys.prefix().len()..)?;
    is_hashed.then_some(token_from_bytes(*own.first_chunk()?))
}

fn place_entry(place: &StoredPlace) -> PlaceEntry {
    let kind = match place.kind {
        PlaceKind::TableFile => "table file",
        PlaceKind::Region => "region",
    };
    PlaceEntry { kind: kind.to_owned(), name: place.name.clone(), range: Range::from(&place.range) }
}

fn shards(engine: &Engine, table: &Table, values: &[Value]) -> Result<Vec<ShardEntry>> {
    let options = &table.schema.options;
    if options.shard_items_max.is_none() && options.shard_bytes_max.is_none() {
        return Ok(Vec::new());
    }
    let entry = |own: Shard| ShardEntry {
        id: own.id,
        from: own.lower.map(|values| values.iter().map(value_text).collect()),
        items: own.items,
        bytes: own.bytes,
        splitting: own.splitting,
    };
    Ok(engine.shards(table, values)?.into_iter().map(entry).collect())
}
