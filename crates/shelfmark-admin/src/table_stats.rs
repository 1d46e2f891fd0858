//! `table-stats`: keys and size of a table, its largest stretches, its indexes, and how it is split.
//!
//! What it is not: a count. A large table is sampled ([`crate::key_line`]); figures that are estimates say
//! so.
//!
//! Invariant: the cost does not grow with the table.

use serde::{Deserialize, Serialize};
use shelfmark_engine::Table;
use shelfmark_model::RowKind;
use shelfmark_store::Store;

use crate::admin::Admin;
use crate::error::Result;
use crate::key_line::{Effort, Line, StoredKeys, Stretch, measure};
use crate::key_text::{columns_text, partition_text};
use crate::named;
use crate::operation::Operation;
use crate::report::Range;
use crate::tables::{TableEntry, entry};

/// Stretches that are told. Source: ours; more than that is a picture, which the console draws.
const LARGEST_MAX: usize = 10;

/// Asks for the size of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableStats {
    /// The table: `NAME` (a DynamoDB table) or `NAMESPACE.NAME`.
    pub table: String,
}

/// The size of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableStatsAnswer {
    /// The table and its keys.
    pub table: TableEntry,
    /// Its rows together.
    pub extent: Extent,
    /// Its largest stretches of keys, the largest first.
    pub largest: Vec<StretchEntry>,
    /// The sizes of its indexes, in the order of [`TableEntry::indexes`].
    pub indexes: Vec<IndexExtent>,
    /// The limits above which its partitions are split into shards, where they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shards: Option<ShardLimits>,
}

/// The extent of some rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Partitions.
    pub partitions: u64,
    /// Rows.
    pub rows: u64,
    /// Bytes of keys and rows as they are stored, before compression.
    pub bytes: u64,
    /// True if all was read; otherwise the figures are estimates.
    pub exact: bool,
}

/// The extent of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexExtent {
    /// Its name.
    pub name: String,
    /// Its entries. Those of an index of cells are not told apart by partitions.
    pub extent: Extent,
}

/// A stretch of keys: some partitions, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StretchEntry {
    /// The first partition in it; of a part of one, the columns of its first key.
    pub from: String,
    /// Its rows.
    pub extent: Extent,
    /// Its keys, as bytes of the store.
    pub range: Range,
}

/// The limits of a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardLimits {
    /// Most items.
    pub items_max: Option<u64>,
    /// Most bytes.
    pub bytes_max: Option<u64>,
}

impl Extent {
    /// Returns the extent of a key line.
    #[must_use]
    pub fn of(line: &Line) -> Self {
        Self {
            partitions: line.partitions(),
            rows: line.rows(),
            bytes: line.bytes(),
            exact: line.is_exact(),
        }
    }
}

impl Operation for TableStats {
    const NAME: &'static str = "table-stats";
    type Answer = TableStatsAnswer;

    fn run(self, admin: &Admin) -> Result<TableStatsAnswer> {
        let engine = admin.engine();
        let table = named::stored_table(engine, &self.table)?;
        let keys = StoredKeys::of_table(&table);
        let line = measure(&**engine.store(), &keys, &keys.whole(), Effort::PICTURE)?;
        let options = &table.schema.options;
        let limits =
            ShardLimits { items_max: options.shard_items_max, bytes_max: options.shard_bytes_max };
        Ok(TableStatsAnswer {
            table: entry(&table),
            extent: Extent::of(&line),
            largest: largest(&table, &keys, &line),
            indexes: indexes(&**engine.store(), &table)?,
            shards: Some(limits).filter(|own| own.items_max.is_some() || own.bytes_max.is_some()),
        })
    }
}

fn largest(table: &Table, keys: &StoredKeys, line: &Line) -> Vec<StretchEntry> {
    let after = line.stretches.iter().skip(1).map(|own| own.goes_on).chain([false]);
    let mut stretches: Vec<(&Stretch, bool)> =
        line.stretches.iter().zip(after).map(|(own, next)| (own, own.goes_on || next)).collect();
    stretches.sort_by(|(a, _), (b, _)| b.bytes.cmp(&a.bytes).then_with(|| a.first.cmp(&b.first)));
    stretches.truncate(LARGEST_MAX);
    stretches.iter().map(|(own, is_part)| stretch_entry(table, keys, own, *is_part)).collect()
}

fn stretch_entry(table: &Table, keys: &StoredKeys, own: &Stretch, is_part: bool) -> StretchEntry {
    StretchEntry {
        from: match is_part {
            true => columns_text(table, keys, &own.first),
            false => partition_text(table, keys, &own.first),
        },
        extent: Extent {
            partitions: own.partitions,
            rows: own.rows,
            bytes: own.bytes,
            exact: own.is_exact,
        },
        range: Range::from(&own.range),
    }
}

fn indexes(store: &dyn Store, table: &Table) -> Result<Vec<IndexExtent>> {
    let of_items = table.indexes().iter().map(|index| {
        (index.schema.name.clone(), StoredKeys::of_index(table, index.id, &index.schema))
    });
    let of_cells = table.schema.cells.iter().flat_map(|cells| &cells.indexes);
    let of_cells = of_cells.filter_map(|index| {
        Some((index.name.clone(), StoredKeys::of_cell_index(table.index_id(&index.name)?)))
    });
    let all = match table.schema.rows {
        RowKind::Cells => of_cells.collect::<Vec<_>>(),
        _ => of_items.collect(),
    };
    all.into_iter()
        .map(|(name, keys)| {
            let line = measure(store, &keys, &keys.whole(), Effort::BESIDE)?;
            Ok(IndexExtent { name, extent: Extent::of(&line) })
        })
        .collect()
}
