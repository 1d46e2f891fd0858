//! A table: its schema, its ids, how its keys are built, and what its forms share in memory.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};

use shelfmark_model::{IndexSchema, TableSchema, TtlSource};
use shelfmark_records::catalogue::TableRecord;
use shelfmark_records::cells::CellsLayout;
use shelfmark_records::keys::KeySpec;

use crate::cells::TableState;
use crate::shared::{CellsOfItems, ItemsOfCells, ItemsOfTyped};
use crate::streams::StreamLoad;

/// One form of a table. A change of schema makes a new one; the old one is retired.
#[derive(Debug)]
pub struct Table {
    /// Its number, never used for another table.
    pub id: u64,
    /// The number that it was created with: stays when it is truncated.
    pub origin: u64,
    /// The version of its form: rises with each change.
    pub version: u64,
    /// The declared schema.
    pub schema: TableSchema,
    /// The form of its rows' keys.
    pub key: KeySpec,
    pub(crate) indexes: Vec<Index>,
    /// Ids of all derived entries, in the order of [`index_names`].
    pub index_ids: Vec<u64>,
    /// The layout of the cells, in a table of cells.
    pub cells: Option<CellsLayout>,
    /// Set for a table of cells that is used as a table of items; it has no rows of its own.
    pub(crate) mapped: Option<ItemsOfCells>,
    /// Set for a table of items that is used as a table of cells; it has no rows of its own.
    pub(crate) items: Option<CellsOfItems>,
    /// Set for a table that another face reads and does not write; it has no rows of its own.
    pub(crate) readable: Option<ItemsOfTyped>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) retired: AtomicBool,
    /// The changes written to each open shard of its change stream since the last look.
    pub(crate) stream_load: StreamLoad,
}

/// The state that all forms of one table share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Held for reading from planning a write until it is queued, for writing while the schema
    /// changes.
    pub(crate) gate: RwLock<()>,
    /// The table may hold a row of more than one chunk. Persisted before the first such row.
    pub(crate) chunked: AtomicBool,
    /// Ranges of rows may have been deleted while several servers share the store. Persisted before
    /// the first is.
    pub(crate) ranged: AtomicBool,
    /// The room left in each shard, by which shards that became too large are found.
    pub(crate) shards: crate::shards::Rooms,
    /// A flag that tells whether any partition was split.
    pub(crate) unsplit: crate::shards::Unsplit,
    /// The state that is kept in memory of a table of cells.
    pub(crate) cells: TableState,
}

/// Returns the names of a table's indexes, of items or of cells, in the order of their ids.
pub fn index_names(schema: &TableSchema) -> Vec<&str> {
    match &schema.cells {
        Some(cells) => cells.indexes.iter().map(|index| index.name.as_str()).collect(),
        None => schema.indexes.iter().map(|index| index.name.as_str()).collect(),
    }
}

/// A derived table.
#[derive(Debug)]
pub struct Index {
    /// Its number, from the same series as the tables'.
    pub id: u64,
    /// The declared schema.
    pub schema: IndexSchema,
    pub(crate) key: KeySpec,
}

impl Shared {
    /// Takes over what a record says that may only change from no to yes.
    pub(super) fn learn(&self, record: &TableRecord) {
        self.chunked.fetch_or(record.chunked, Ordering::AcqRel);
        self.ranged.fetch_or(record.ranged, Ordering::AcqRel);
    }
}

impl Table {
    pub(super) fn of(record: TableRecord) -> Self {
        let shared = Shared::default();
        shared.learn(&record);
        Self::with_shared(record, Arc::new(shared))
    }

    /// Returns the ids that the table, or an index of it, may have had before it was truncated last.
    pub(crate) fn former_ids(&self) -> Range<u64> {
        self.origin..self.id
    }

    pub(super) fn with_shared(record: TableRecord, shared: Arc<Shared>) -> Self {
        let TableRecord { id, origin, version, index_ids, schema, chunked: _, ranged: _ } = record;
        let indexes = index_ids
            .iter()
            .copied()
            .zip(&schema.indexes)
            .map(|(id, index)| Index {
                id,
                schema: index.clone(),
                key: KeySpec::of_index(id, &schema, index),
            })
            .collect();
        let key = KeySpec::of_table(id, &schema);
        let cells = CellsLayout::of(id, &index_ids, &schema);
        let retired = AtomicBool::new(false);
        let (mapped, items, readable) = (None, None, None);
        let stream_load = StreamLoad::of(&schema);
        Self {
            id,
            origin,
            version,
            key,
            indexes,
            index_ids,
            cells,
            mapped,
            items,
            readable,
            shared,
            retired,
            schema,
            stream_load,
        }
    }

    /// Returns the id of an index, of items or of cells.
    #[must_use]
    pub fn index_id(&self, name: &str) -> Option<u64> {
        let at = index_names(&self.schema).iter().position(|own| *own == name)?;
        self.index_ids.get(at).copied()
    }

    /// Returns the derived tables.
    #[must_use]
    pub fn indexes(&self) -> &[Index] {
        &self.indexes
    }

    /// Returns the index called `name`.
    #[must_use]
    pub fn index(&self, name: &str) -> Option<&Index> {
        self.indexes.iter().find(|index| index.schema.name == name)
    }

    /// Tells whether a newer form of the table has taken over.
    #[must_use]
    pub fn is_retired(&self) -> bool {
        let of_cells = self.mapped.as_ref().map(|mapping| &mapping.base);
        let base = of_cells.or(self.items.as_ref().map(|mapping| &mapping.base));
        let base = base.or(self.readable.as_ref().map(ItemsOfTyped::base));
        base.map_or(&self.retired, |base| &base.retired).load(Ordering::Acquire)
    }

    /// Tells whether this is a table of another face, seen as one of another kind of row
    /// (`Engine::shared_items`, `Engine::shared_cells`).
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.mapped.is_some() || self.items.is_some() || self.readable.is_some()
    }

    /// Tells whether counts of items are kept exactly.
    pub fn counts_exactly(&self) -> bool {
        self.schema.options.exact_counts || self.has_shards()
    }

    /// Tells whether partitions are split into shards.
    pub fn has_shards(&self) -> bool {
        self.schema.options.shard_items_max.is_some() || self.counts_bytes()
    }

    /// Tells whether writes keep the bytes of shards.
    pub fn counts_bytes(&self) -> bool {
        self.schema.options.shard_bytes_max.is_some()
    }

    /// Tells whether the bytes kept of shards are all that they hold: no items from before are still
    /// to be counted.
    pub fn knows_bytes(&self) -> bool {
        self.counts_bytes() && self.schema.options.shard_pass.is_none()
    }

    /// Tells whether a row of more than one chunk may be there. Changes from no to yes only, and
    /// never while the gate is held.
    pub fn has_chunks(&self) -> bool {
        self.shared.chunked.load(Ordering::Acquire)
    }

    /// Tells whether ranges of rows may have been deleted while several servers share the store. As
    /// [`Table::has_chunks`], it changes from no to yes only.
    pub(crate) fn has_ranges(&self) -> bool {
        self.shared.ranged.load(Ordering::Acquire)
    }

    /// Tells whether a record says what this form does.
    pub(super) fn is_of(&self, record: &TableRecord) -> bool {
        (record.id, record.origin, record.version) == (self.id, self.origin, self.version)
            && record.index_ids == self.index_ids
            && record.chunked == self.has_chunks()
            && record.ranged == self.has_ranges()
    }

    /// Tells whether an item that expires then is invisible now.
    pub(crate) fn hides(&self, expires_at: Option<u64>, now: u64) -> bool {
        self.schema.options.ttl == Some(TtlSource::PerItem)
            && expires_at.is_some_and(|second| second <= now)
    }
}
