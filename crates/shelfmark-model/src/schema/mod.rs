//! Schemas of tables: key columns, kind of rows, derived tables, options.
//!
//! What it is not: the catalogue. Ids, versions and states of online changes are the engine's.

mod cells;
mod fold;
mod history;
mod streams;
mod validate;

use std::collections::BTreeMap;
use std::fmt;

use shelfmark_keycode::{Direction, KeyType};

use crate::value::Value;

pub use cells::{
    CellIndex, CellIndexTarget, CellsSchema, Revived, ViewComparison, ViewPart, ViewSchema,
    ViewTest,
};
pub use fold::TextFold;
pub use history::History;
pub use streams::{ChangeImages, ChangeStream, OpenShard, StreamShard};

/// Name of a table: a namespace (CQL's keyspace, a database, or `dynamodb`) and a name in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableName {
    /// The namespace.
    pub namespace: String,
    /// The name in the namespace.
    pub name: String,
}

impl TableName {
    /// Creates a name.
    #[must_use]
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.namespace, self.name)
    }
}

/// A column of a partition key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyColumn {
    /// The attribute's name.
    pub name: String,
    /// Its type.
    pub key_type: KeyType,
}

impl KeyColumn {
    /// Creates a column.
    #[must_use]
    pub fn new(name: impl Into<String>, key_type: KeyType) -> Self {
        Self { name: name.into(), key_type }
    }
}

/// A column of a sort key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortColumn {
    /// The attribute's name.
    pub name: String,
    /// Its type.
    pub key_type: KeyType,
    /// The order of its values in the store.
    pub direction: Direction,
}

impl SortColumn {
    /// Creates a column.
    #[must_use]
    pub fn new(name: impl Into<String>, key_type: KeyType, direction: Direction) -> Self {
        Self { name: name.into(), key_type, direction }
    }
}

/// The placement of partitions in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Placement {
    /// Ordered by the Murmur3 token of the partition key: load spreads, partitions have no order.
    #[default]
    Hashed,
    /// Ordered by the partition key itself: partitions lie in key order and can be read as a range.
    Ordered,
}

/// The kind of a table's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RowKind {
    /// Attributes without metadata, declared or not.
    #[default]
    Items,
    /// Declared columns whose cells carry write timestamps and expiries, as CQL has them.
    Cells,
}

/// The type of a declared column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnType {
    /// One value, replaced as a whole.
    Value(KeyType),
    /// A list whose elements are cells of their own.
    List(KeyType),
    /// A set whose members are cells of their own.
    Set(KeyType),
    /// A map whose entries are cells of their own.
    Map(KeyType, KeyType),
    /// A counter.
    Counter,
}

/// A declared column that is no key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its number, which cells are stored under; never reused in one table.
    pub id: u32,
    /// Its type.
    pub column_type: ColumnType,
    /// True if the partition has one value of it for all its rows.
    pub is_static: bool,
}

/// The kind of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum IndexKind {
    /// Entries in the index's key order, any number per key.
    #[default]
    Secondary,
    /// At most one item per index key: a second one is refused.
    Unique,
}

/// The attributes that an index entry holds beside the keys of both.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Projected {
    /// Everything.
    #[default]
    All,
    /// Nothing.
    KeysOnly,
    /// These attributes.
    Include(Vec<String>),
}

/// The state of an index during an online change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum IndexState {
    /// Backfill is running: writes maintain the index, reads are refused.
    Building,
    /// The index is complete and readable.
    #[default]
    Public,
    /// The index is being removed; it is neither read nor maintained.
    Dropping,
}

/// A derived table: the same items under another key, kept in the same commit.
///
/// Sparse: an item without all key attributes of the index has no entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexSchema {
    /// Its name, unique in the table.
    pub name: String,
    /// Its kind.
    pub kind: IndexKind,
    /// Its partition key: attributes of the item.
    pub partition: Vec<KeyColumn>,
    /// Its sort key: attributes of the item.
    pub sort: Vec<SortColumn>,
    /// The attributes that entries hold.
    pub projected: Projected,
    /// The state of its building.
    pub state: IndexState,
}

/// The source of an item's expiry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TtlSource {
    /// The attribute of this name holds the second of expiry since the Unix epoch, as a number.
    /// Expired items are still returned until the sweep removes them (DynamoDB's rule).
    Attribute(String),
    /// Each write may give an expiry; an expired item is never returned (CQL's rule).
    PerItem,
}

/// Settings of a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TableOptions {
    /// Keeps exact counts of items per partition and for the table. Puts read first.
    pub exact_counts: bool,
    /// Keeps a change log with old and new images.
    pub change_log: bool,
    /// The change stream that writes go to; the engine sets and removes it.
    pub stream: Option<Box<ChangeStream>>,
    /// The shard of a change stream whose log the table holds, in place of rows; the engine sets it.
    pub stream_shard: Option<Box<StreamShard>>,
    /// The history that changes go to while backups need it; the engine sets and removes it.
    pub history: Option<Box<History>>,
    /// True if nobody reads or writes the rows: the table is a backup, or is being filled. Its indexes
    /// have no entries and its items no due times. The engine sets and removes it.
    pub dormant: bool,
    /// The source of expiries, if items expire.
    pub ttl: Option<TtlSource>,
    /// The pass over the items that existed before `ttl` was set, while it runs; the engine sets
    /// and removes its number.
    pub ttl_pass: Option<u64>,
    /// Splits a partition's shard above this many items, at least 1; implies exact counts.
    pub shard_items_max: Option<u64>,
    /// Splits a partition's shard above this many bytes, at least 1; implies exact counts. Bytes
    /// are those of keys and records as they are stored, before files are compressed.
    pub shard_bytes_max: Option<u64>,
    /// The pass that counts the bytes of items that existed before `shard_bytes_max` was set, while
    /// it runs; the engine sets and removes its number.
    pub shard_pass: Option<u64>,
    /// Refuses a write whose index key attribute is of another type, empty, or longer than
    /// [`crate::limits::STRICT_PARTITION_COLUMN_BYTES_MAX`] or
    /// [`crate::limits::STRICT_SORT_COLUMN_BYTES_MAX`], instead of leaving the item out of the index.
    /// Items that were there before an index are left out of it all the same.
    pub strict_index_keys: bool,
    /// Largest item, by the rule of [`crate::item_size_bytes`]; `None` leaves the general limit.
    pub item_size_bytes_max: Option<u64>,
    /// Deepest nesting of an attribute, by the rule of [`crate::Value::depth`]; `None` leaves the general
    /// limit.
    pub value_depth_max: Option<u64>,
    /// Grace period: time for which deletions of cells are remembered, in seconds.
    pub gc_grace_seconds: u32,
    /// Opaque data of a face about the table.
    pub face: BTreeMap<String, Value>,
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableSchema {
    /// Its name.
    pub name: TableName,
    /// Columns of the partition key; at least one.
    pub partition: Vec<KeyColumn>,
    /// Columns of the sort key; may be empty.
    pub sort: Vec<SortColumn>,
    /// The placement of its partitions.
    pub placement: Placement,
    /// The kind of its rows.
    pub rows: RowKind,
    /// Declared columns that are no keys. Items may have undeclared attributes all the same.
    pub columns: Vec<Column>,
    /// Derived tables.
    pub indexes: Vec<IndexSchema>,
    /// Settings.
    pub options: TableOptions,
    /// The part that only tables of cells have; `None` for tables of items.
    pub cells: Option<Box<CellsSchema>>,
}

impl TableSchema {
    /// Creates a hashed table of items with one partition key column.
    #[must_use]
    pub fn new(name: TableName, partition: KeyColumn) -> Self {
        Self {
            name,
            partition: vec![partition],
            sort: Vec::new(),
            placement: Placement::Hashed,
            rows: RowKind::Items,
            columns: Vec::new(),
            indexes: Vec::new(),
            options: TableOptions::default(),
            cells: None,
        }
    }

    /// Creates a table of cells, without sort key and columns.
    #[must_use]
    pub fn of_cells(name: TableName, partition: Vec<KeyColumn>) -> Self {
        Self {
            name,
            partition,
            sort: Vec::new(),
            placement: Placement::Hashed,
            rows: RowKind::Cells,
            columns: Vec::new(),
            indexes: Vec::new(),
            options: TableOptions::default(),
            cells: Some(Box::default()),
        }
    }

    /// Adds an ascending sort key column.
    #[must_use]
    pub fn with_sort(mut self, name: impl Into<String>, key_type: KeyType) -> Self {
        self.sort.push(SortColumn::new(name, key_type, Direction::Ascending));
        self
    }

    /// Adds an index.
    #[must_use]
    pub fn with_index(mut self, index: IndexSchema) -> Self {
        self.indexes.push(index);
        self
    }

    /// Returns the index called `name`.
    #[must_use]
    pub fn index(&self, name: &str) -> Option<&IndexSchema> {
        self.indexes.iter().find(|index| index.name == name)
    }

    /// Iterates over the names of the key columns, partition first.
    pub fn key_names(&self) -> impl Iterator<Item = &str> {
        self.partition
            .iter()
            .map(|column| column.name.as_str())
            .chain(self.sort.iter().map(|column| column.name.as_str()))
    }

    /// Returns true if `name` is a column of the primary key.
    #[must_use]
    pub fn is_key(&self, name: &str) -> bool {
        self.key_names().any(|key| key == name)
    }
}

#[cfg(test)]
mod tests;
