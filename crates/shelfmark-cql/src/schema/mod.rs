//! Keyspaces, tables and types as statements see them: one immutable picture per schema version.
//!
//! What it is not: the catalogue, which is the engine's. The picture is built from the engine's
//! tables and from what this face attached to them.
//!
//! Invariant: a table's columns lie in the order of `SELECT *`: partition key, clustering key,
//! statics by name, the others by name.

mod column_checks;
mod indexed_values;
mod load;
mod options;
mod own_keyspaces;
mod record;
mod shared;
mod stored;
mod virtual_table;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use shelfmark_cql_types::term::{ColumnMask, KeyedTable};
use shelfmark_cql_types::{CqlType, UserType, UserTypes};
use shelfmark_model::{IndexState, Revived, TextFold};

pub use crate::user_function::{UserAggregate, UserFunction};
pub use column_checks::ColumnTypes;
pub(crate) use indexed_values::{check_indexed_size, element_size_bytes};
pub(crate) use load::load;
pub use options::TableOptions;
pub(crate) use own_keyspaces::{is_system, is_virtual};
pub(crate) use record::{
    AggregateRecord, FunctionRecord, damaged, decode_keyspace, decode_table, encode_keyspace,
};
pub(crate) use shared::{declare, is_of_dynamodb, with_changed, with_shared};
pub(crate) use stored::{keeps_up, stored_index, stored_name, stored_schema, update_stored};
pub use virtual_table::{VirtualRow, VirtualTable};
pub(crate) use virtual_table::{is_costly, keyspaces as virtual_keyspaces};

/// A table's id, as `system_schema.tables.id` shows it.
pub type TableId = [u8; 16];

/// Everything there is, at one schema version.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    /// The version: a UUID that changes with every change of the schema and with nothing else.
    pub version: [u8; 16],
    /// The keyspaces by name, the system's too.
    pub keyspaces: BTreeMap<String, Arc<Keyspace>>,
    /// The version of all that is CQL's own.
    own_version: [u8; 16],
    /// The version of the tables of another face; `None` until they were read.
    shared_version: Option<[u8; 16]>,
}

impl UserTypes for Schema {
    fn user_type(&self, keyspace: &str, name: &str) -> Option<&Arc<UserType>> {
        self.keyspace(keyspace)?.types.get(name)
    }

    fn user_functions(
        &self,
        keyspace: &str,
        name: &str,
    ) -> Vec<shelfmark_cql_types::function::Resolved> {
        crate::user_function::found(self, keyspace, name)
    }
}

impl Schema {
    /// Returns true if the tables of another face were read.
    pub(crate) const fn knows_shared(&self) -> bool {
        self.shared_version.is_some()
    }

    /// Returns the keyspace of this name if its tables are another face's. Stores of earlier builds may
    /// have a keyspace of CQL's own under such a name, which is not it.
    pub(crate) fn shared_keyspace(&self, name: &str) -> Option<&Arc<Keyspace>> {
        self.keyspace(name).filter(|own| own.is_shared())
    }

    /// Returns the keyspace of this name.
    #[must_use]
    pub fn keyspace(&self, name: &str) -> Option<&Arc<Keyspace>> {
        self.keyspaces.get(name)
    }

    /// Returns the table or view of this name.
    #[must_use]
    pub fn table(&self, keyspace: &str, name: &str) -> Option<&Arc<Table>> {
        self.keyspace(keyspace)?.tables.get(name)
    }
}

/// A keyspace.
#[derive(Debug, Clone)]
pub struct Keyspace {
    /// The name.
    pub name: Arc<str>,
    /// True if the statement asked for a commit log; ours always writes one.
    pub durable_writes: bool,
    /// The replication map, `class` among it, by name.
    pub replication: Vec<(String, String)>,
    /// True if it is virtual: computed, with nothing stored.
    pub is_virtual: bool,
    /// Tables and views by name.
    pub tables: BTreeMap<String, Arc<Table>>,
    /// User types by name.
    pub types: BTreeMap<String, Arc<UserType>>,
    /// Functions of users, by name and types of arguments.
    pub functions: Vec<Arc<UserFunction>>,
    /// Aggregates of users, by name and types of arguments.
    pub aggregates: Vec<Arc<UserAggregate>>,
    /// The records of the keyspace that cannot be read.
    pub damage: Damage,
}

impl Keyspace {
    /// Returns true if its tables are another face's.
    pub(crate) fn is_shared(&self) -> bool {
        self.tables.values().any(|table| table.is_shared())
    }
}

/// The records of a keyspace that are stored and cannot be read: everything else of it works.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Damage {
    /// The keyspace's own record: nothing is known of its types, so its tables cannot be read either.
    pub record: bool,
    /// Tables and views, by name. They can be dropped.
    pub tables: BTreeSet<String>,
    /// User types: names and classes of their fields, as they are stored.
    pub types: BTreeMap<String, Vec<(String, String)>>,
    /// Functions and aggregates whose types cannot be read, as they are stored.
    pub(crate) functions: (Vec<FunctionRecord>, Vec<AggregateRecord>),
}

/// The kind of a column: the part of a row that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ColumnKind {
    /// A column of the partition key.
    PartitionKey,
    /// A column of the clustering key.
    Clustering,
    /// A static column: one value per partition.
    Static,
    /// Everything else.
    Regular,
}

impl ColumnKind {
    /// Returns the word of `system_schema.columns`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PartitionKey => "partition_key",
            Self::Clustering => "clustering",
            Self::Static => "static",
            Self::Regular => "regular",
        }
    }

    /// Returns true if it is part of the primary key.
    #[must_use]
    pub const fn is_key(self) -> bool {
        matches!(self, Self::PartitionKey | Self::Clustering)
    }
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The name.
    pub name: Arc<str>,
    /// The type.
    pub kind: CqlType,
    /// The kind of the column.
    pub role: ColumnKind,
    /// True if its clustering order is descending.
    pub descending: bool,
    /// The number of the column: of a key column its place in its part of the key; of others the
    /// number that the engine stores its cells under.
    pub id: u32,
    /// The mask that its values are shown through to roles without `UNMASK`.
    pub mask: Option<Arc<ColumnMask>>,
}

impl Column {
    /// Creates a column of a virtual table; [`Table::new_virtual`] fills in its number.
    #[must_use]
    pub fn new(name: &str, kind: CqlType, role: ColumnKind) -> Self {
        Self { name: name.into(), kind, role, descending: false, id: 0, mask: None }
    }

    /// Returns the position of `system_schema.columns`: −1 outside of keys.
    #[must_use]
    pub fn position(&self) -> i32 {
        if self.role.is_key() { i32::try_from(self.id).unwrap_or(i32::MAX) } else { -1 }
    }

    /// Returns true if the column's value is kept in several cells.
    #[must_use]
    pub const fn is_multi_cell(&self) -> bool {
        self.kind.is_multi_cell()
    }
}

/// The flags of a table, as `system_schema.tables.flags` shows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TableFlags {
    /// True if the table holds counters.
    pub counter: bool,
    /// Made `WITH COMPACT STORAGE`.
    pub compact: bool,
    /// Compact: every clustering column stands for a column name; there is one value.
    pub dense: bool,
    /// True if the clustering key has more than one component, or the table is not compact.
    pub compound: bool,
    /// A super column family of the 2012 tools.
    pub super_columns: bool,
}

impl TableFlags {
    /// Returns the words of `system_schema.tables.flags`, sorted.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        let pairs = [
            (self.compound, "compound"),
            (self.counter, "counter"),
            (self.dense, "dense"),
            (self.super_columns, "super"),
        ];
        pairs.into_iter().filter(|(set, _)| *set).map(|(_, name)| name).collect()
    }
}

/// A table or view.
#[derive(Debug, Clone)]
pub struct Table {
    /// The keyspace.
    pub keyspace: Arc<str>,
    /// The name.
    pub name: Arc<str>,
    /// The id.
    pub id: TableId,
    /// The columns: partition key in order, clustering key in order, statics by name, the others by
    /// name.
    pub columns: Vec<Column>,
    /// The number of columns of the partition key.
    pub partition_count: usize,
    /// The number of clustering columns behind them.
    pub clustering_count: usize,
    /// The number of the next column that is no key; none is used twice.
    pub next_column: u32,
    /// The options that `WITH` set.
    pub options: TableOptions,
    /// The flags of the table.
    pub flags: TableFlags,
    /// The indexes by name.
    pub indexes: Vec<Index>,
    /// Columns that are no more.
    pub dropped: Vec<DroppedColumn>,
    /// Columns that are back under their numbers.
    pub revived: Vec<Revived>,
    /// The definition of the view, if the table is one.
    pub view: Option<View>,
    /// The engine's table that holds the rows; `None` for a virtual table.
    pub stored: Option<Arc<shelfmark_engine::Table>>,
}

impl KeyedTable for Table {
    fn keyspace(&self) -> &Arc<str> {
        &self.keyspace
    }

    fn name(&self) -> &Arc<str> {
        &self.name
    }

    fn partition_key(&self) -> Vec<(&str, &CqlType)> {
        let columns = self.partition_columns().iter();
        columns.map(|column| (&*column.name, &column.kind)).collect()
    }

    fn has_plain_numbers(&self) -> bool {
        self.is_shared()
    }
}

impl Table {
    /// Creates a virtual table; the columns in the order of `SELECT *`.
    #[must_use]
    pub fn new_virtual(
        keyspace: &str,
        name: &str,
        id: TableId,
        mut columns: Vec<Column>,
        comment: &str,
    ) -> Self {
        let count = |columns: &[Column], role| {
            columns.iter().filter(|column: &&Column| column.role == role).count()
        };
        let partition_count = count(&columns, ColumnKind::PartitionKey);
        let clustering_count = count(&columns, ColumnKind::Clustering);
        for (at, column) in (0_u32..).zip(&mut columns) {
            column.id = match column.role {
                ColumnKind::Clustering => {
                    at.saturating_sub(u32::try_from(partition_count).unwrap_or(0))
                }
                _ => at,
            };
        }
        Self {
            keyspace: keyspace.into(),
            name: name.into(),
            id,
            columns,
            partition_count,
            clustering_count,
            next_column: 0,
            options: TableOptions { comment: comment.to_owned(), ..TableOptions::default() },
            flags: TableFlags { compound: true, ..TableFlags::default() },
            indexes: Vec::new(),
            dropped: Vec::new(),
            revived: Vec::new(),
            view: None,
            stored: None,
        }
    }

    /// Puts the columns into the order of `SELECT *` and counts those of the key.
    pub(crate) fn arrange(&mut self) {
        self.columns.sort_by(|a, b| {
            let place = |column: &Column| if column.role.is_key() { column.id } else { 0 };
            let name = |column: &Column| match column.role.is_key() {
                true => Arc::from(""),
                false => Arc::clone(&column.name),
            };
            (a.role, place(a), name(a)).cmp(&(b.role, place(b), name(b)))
        });
        let count = |role| self.columns.iter().filter(|column| column.role == role).count();
        self.partition_count = count(ColumnKind::PartitionKey);
        self.clustering_count = count(ColumnKind::Clustering);
    }

    /// Returns the name as messages show it.
    #[must_use]
    pub fn full_name(&self) -> String {
        format!(
            "{}.{}",
            shelfmark_cql_types::maybe_quote(&self.keyspace),
            shelfmark_cql_types::maybe_quote(&self.name)
        )
    }

    /// Returns true if no statement can name a column: the value of a compact table without one, which
    /// its rows are kept by.
    #[must_use]
    pub fn hides(&self, column: &Column) -> bool {
        self.flags.compact && column.kind == CqlType::Empty
    }

    /// Returns the column of this name and its place among [`Table::columns`], unless it is hidden.
    ///
    /// Cost: a few comparisons where the columns that are no key are in the order of their names, as
    /// they are once they are arranged; one for each column of another table, and for a wrong name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<(usize, &Column)> {
        let is_it = |(_, column): &(usize, &Column)| &*column.name == name;
        let keys = self.partition_count + self.clustering_count;
        let mut all = self.columns.iter().enumerate();
        let found = all.by_ref().take(keys).find(is_it).or_else(|| {
            let rest = self.columns.get(keys..).unwrap_or_default();
            let statics = rest.partition_point(|column| column.role == ColumnKind::Static);
            let (statics, regular) = rest.split_at(statics);
            let within = |part: &[Column]| part.binary_search_by(|own| (*own.name).cmp(name)).ok();
            let at = within(regular).map(|at| keys + statics.len() + at);
            let at = at.or_else(|| within(statics).map(|at| keys + at));
            match at {
                Some(at) => Some((at, self.columns.get(at)?)),
                None => all.find(is_it),
            }
        });
        found.filter(|(_, column)| !self.hides(column))
    }

    /// Returns the column of this name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.find(name).map(|(_, column)| column)
    }

    /// Returns the columns of the partition key.
    #[must_use]
    pub fn partition_columns(&self) -> &[Column] {
        self.columns.get(..self.partition_count).unwrap_or_default()
    }

    /// Returns the columns of the clustering key.
    #[must_use]
    pub fn clustering_columns(&self) -> &[Column] {
        let end = self.partition_count + self.clustering_count;
        self.columns.get(self.partition_count..end).unwrap_or_default()
    }

    /// Returns the columns that are no key: statics, then regular ones.
    #[must_use]
    pub fn other_columns(&self) -> &[Column] {
        self.columns.get(self.partition_count + self.clustering_count..).unwrap_or_default()
    }

    /// Returns true if any column is static.
    #[must_use]
    pub fn has_statics(&self) -> bool {
        self.other_columns().iter().any(|column| column.role == ColumnKind::Static)
    }

    /// Returns true if it is a table of another face.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.stored.as_ref().is_some_and(|stored| stored.is_shared())
    }

    /// Returns true if values of any column are masked by a function of a user's.
    pub(crate) fn is_masked_by_user(&self) -> bool {
        let by_user = |own: &ColumnMask| own.keyspace.is_some();
        self.columns.iter().any(|column| column.mask.as_deref().is_some_and(by_user))
    }

    /// Returns true if values of any column are masked.
    #[must_use]
    pub fn has_masks(&self) -> bool {
        self.columns.iter().any(|column| column.mask.is_some())
    }

    /// Returns true if it is a typed table of a program, which lies in the order of its keys.
    #[must_use]
    pub fn is_typed(&self) -> bool {
        self.stored.as_ref().is_some_and(|stored| stored.is_in_key_order())
    }

    /// Returns true if it is a view whose rows are not all there yet: its building was cut off, or failed.
    pub(crate) fn is_unbuilt_view(&self) -> bool {
        let cells = self.stored.as_ref().and_then(|stored| stored.schema.cells.as_deref());
        let declared = cells.and_then(|cells| cells.view_of.as_ref());
        declared.is_some_and(|declared| declared.state != IndexState::Public)
    }

    /// Returns true if it is a view.
    #[must_use]
    pub const fn is_view(&self) -> bool {
        self.view.is_some()
    }
}

/// The part of a column that an index covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexTarget {
    /// A plain value.
    Value,
    /// The values of a list or map, or the members of a set.
    Values,
    /// The keys of a map.
    Keys,
    /// The entries of a map.
    Entries,
    /// A frozen collection as a whole.
    Full,
}

/// A secondary index.
#[derive(Debug, Clone, PartialEq)]
pub struct Index {
    /// The name.
    pub name: String,
    /// The column.
    pub column: Arc<str>,
    /// The part of the column that is indexed.
    pub target: IndexTarget,
    /// The class of a custom index as it was written; ours is the same for all.
    pub class: Option<String>,
    /// Options of a custom index.
    pub options: Vec<(String, String)>,
    /// True if it can be read: older rows have been added.
    pub is_public: bool,
    /// Set for an index of another face's table.
    pub shared: Option<SharedIndex>,
}

/// The properties of an index of another face's table.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedIndex {
    /// True if it orders each partition by itself, so that it is read in a named one alone.
    pub in_partition: bool,
    /// The columns by which entries of one value are ordered.
    pub order: Vec<Arc<str>>,
    /// The number of these that belong to the partition key, too: an entry is found by values of all.
    pub looked_up: usize,
}

impl Index {
    /// Returns the word of `system_schema.indexes.kind`.
    #[must_use]
    pub const fn kind_name(&self) -> &'static str {
        if self.class.is_some() { "CUSTOM" } else { "COMPOSITES" }
    }

    /// Returns the `target` of `system_schema.indexes.options`: `v`, `keys(m)`, `"Odd"`.
    #[must_use]
    pub fn target_text(&self) -> String {
        let column = shelfmark_cql_types::maybe_quote(&self.column);
        match self.target {
            IndexTarget::Value => column,
            IndexTarget::Values => format!("values({column})"),
            IndexTarget::Keys => format!("keys({column})"),
            IndexTarget::Entries => format!("entries({column})"),
            IndexTarget::Full => format!("full({column})"),
        }
    }

    /// Returns the folding of texts that an index does not tell apart.
    #[must_use]
    pub fn fold(&self) -> TextFold {
        let is = |wanted: &str, value: &str| {
            let found = self.options.iter().find(|(name, _)| name == wanted);
            found.is_some_and(|(_, own)| own.eq_ignore_ascii_case(value))
        };
        TextFold {
            lower_case: is("case_sensitive", "false"),
            normalize: is("normalize", "true"),
            ascii: is("ascii", "true"),
        }
    }

    /// Returns true if it was made as one of the kinds that serve ranges.
    #[must_use]
    pub fn is_sai(&self) -> bool {
        self.class.as_deref().is_some_and(|class| {
            let short = class.rsplit('.').next().unwrap_or(class).to_ascii_lowercase();
            matches!(short.as_str(), "sai" | "storageattachedindex")
        })
    }
}

/// A column that was dropped.
#[derive(Debug, Clone, PartialEq)]
pub struct DroppedColumn {
    /// The name.
    pub name: Arc<str>,
    /// The type.
    pub kind: CqlType,
    /// Static or regular.
    pub role: ColumnKind,
    /// The time of the drop, in microseconds since the Unix epoch.
    pub dropped_at: i64,
    /// The number that the engine stores its cells under, if what is later than `dropped_at` comes
    /// back with the column.
    pub id: Option<u32>,
}

/// The definition of a materialized view.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// The base table's name, in the same keyspace.
    pub base: Arc<str>,
    /// The base table's id.
    pub base_id: TableId,
    /// True if it was made with `SELECT *`.
    pub include_all_columns: bool,
    /// Its `WHERE`, as CQL text.
    pub where_clause: String,
}
