//! Schemas: which columns make a table's keys, how rows are kept, which tables are derived.
//!
//! What it is not: the catalogue. Ids, versions and states of online changes are the engine's.

mod cells;
mod fold;
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
    /// Which way its values lie in the store.
    pub direction: Direction,
}

impl SortColumn {
    /// Creates a column.
    #[must_use]
    pub fn new(name: impl Into<String>, key_type: KeyType, direction: Direction) -> Self {
        Self { name: name.into(), key_type, direction }
    }
}

/// Where partitions lie in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Placement {
    /// By the Murmur3 token of the partition key: load spreads, partitions have no order.
    #[default]
    Hashed,
    /// By the partition key itself: partitions lie in key order and can be ranged over.
    Ordered,
}

/// What a row consists of.
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
    /// One value for the whole partition.
    pub is_static: bool,
}

/// What a derived table promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum IndexKind {
    /// Entries in the index's key order, any number per key.
    #[default]
    Secondary,
    /// At most one item per index key: a second one is refused.
    Unique,
}

/// What of an item an index entry holds beside the keys of both.
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

/// How far an online change of an index has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum IndexState {
    /// Writes keep it, older rows are being added, reads are refused.
    Building,
    /// Complete.
    #[default]
    Public,
    /// It goes away; nobody reads or keeps it.
    Dropping,
}

/// A derived table: the same items under another key, kept in the same commit.
///
/// Sparse: an item without all key attributes of the index has no entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexSchema {
    /// Its name, unique in the table.
    pub name: String,
    /// What it promises.
    pub kind: IndexKind,
    /// Its partition key: attributes of the item.
    pub partition: Vec<KeyColumn>,
    /// Its sort key: attributes of the item.
    pub sort: Vec<SortColumn>,
    /// What entries hold.
    pub projected: Projected,
    /// How far it is.
    pub state: IndexState,
}

/// Where an item's expiry comes from.
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
    /// Keep exact counts of items per partition and for the table. Puts read first.
    pub exact_counts: bool,
    /// Keep a change log with old and new images.
    pub change_log: bool,
    /// Where expiries come from, if items expire.
    pub ttl: Option<TtlSource>,
    /// Items that were there before `ttl` was set are still being looked through; the engine sets
    /// this to the number of its pass over them, and takes it away at the end.
    pub ttl_pass: Option<u64>,
    /// Split a partition's shard above this many items, at least 1; implies exact counts.
    pub shard_items_max: Option<u64>,
    /// Split a partition's shard above this many bytes, at least 1; implies exact counts. Bytes are
    /// those of keys and records as they are stored, before files are compressed.
    pub shard_bytes_max: Option<u64>,
    /// The bytes of items that were there before `shard_bytes_max` was set are still being counted;
    /// the engine sets this to the number of its pass over them, and takes it away at the end.
    pub shard_pass: Option<u64>,
    /// Refuse a write whose index key attribute is of another type, empty, or longer than
    /// [`crate::limits::STRICT_PARTITION_COLUMN_BYTES_MAX`] or
    /// [`crate::limits::STRICT_SORT_COLUMN_BYTES_MAX`], instead of leaving the item out of the index.
    /// Items that were there before an index are left out of it all the same.
    pub strict_index_keys: bool,
    /// Largest item, by the rule of [`crate::item_size_bytes`]; `None` leaves the general limit.
    pub item_size_bytes_max: Option<u64>,
    /// How long deletions of cells are remembered, in seconds.
    pub gc_grace_seconds: u32,
    /// What a face remembers about the table; the engine keeps it and does not look inside.
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
    /// Where partitions lie.
    pub placement: Placement,
    /// What a row consists of.
    pub rows: RowKind,
    /// Declared columns that are no keys. Items may have undeclared attributes all the same.
    pub columns: Vec<Column>,
    /// Derived tables.
    pub indexes: Vec<IndexSchema>,
    /// Settings.
    pub options: TableOptions,
    /// What only tables of cells have; `None` for tables of items.
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

    /// Creates a table of cells; its key and its columns are to be filled in.
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

    /// Walks over the names of the key columns, partition first.
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
