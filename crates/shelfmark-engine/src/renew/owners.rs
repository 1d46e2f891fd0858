//! Tells what a key of the store belongs to, so that a lost range of keys can be described.
//!
//! Every tree and every id is a stretch of keys of its own, so what may lie between two keys is told
//! by the stretches that the two enclose.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use shelfmark_keycode::{prefix_successor, take_ordered_varint};
use shelfmark_model::TableName;
use shelfmark_records::cells::CellsLayout;
use shelfmark_records::keys::{Tree, tree_key};
use shelfmark_tables::Result;
use shelfmark_tables::catalogue::{Table, index_names};

use super::names;
use crate::engine::Engine;

/// The owner of a range of keys of the store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyOwner {
    /// The list of the tables and of what they look like.
    Catalogue,
    /// The second copy of that list.
    CatalogueCopy,
    /// Rows of a table.
    Rows(TableName),
    /// Rows of a view.
    View(TableName),
    /// Entries of an index.
    Index {
        /// The table.
        table: TableName,
        /// The index.
        index: String,
    },
    /// Records that rows of a table were deleted, so that late writes stay dead.
    Deletions(TableName),
    /// Changes in the change log of a table.
    Changes(TableName),
    /// Counts of the rows of a table and its partitions.
    Counts(TableName),
    /// The shards of a table's partitions, and their counts.
    Shards(TableName),
    /// The times at which rows expire, of all tables.
    DueTimes,
    /// Tokens of requests that are not to be done twice.
    Tokens,
    /// A table or an index that the catalogue does not know, by its number.
    Unknown(u64),
}

impl fmt::Display for KeyOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Catalogue => f.write_str("the catalogue of tables"),
            Self::CatalogueCopy => f.write_str("the second copy of the catalogue"),
            Self::Rows(table) => write!(f, "rows of {table}"),
            Self::View(view) => write!(f, "rows of view {view}"),
            Self::Index { table, index } => write!(f, "entries of index {index} of {table}"),
            Self::Deletions(table) => write!(f, "deletions in {table}"),
            Self::Changes(table) => write!(f, "the change log of {table}"),
            Self::Counts(table) => write!(f, "counts of {table}"),
            Self::Shards(table) => write!(f, "shards of {table}"),
            Self::DueTimes => f.write_str("the times at which rows expire"),
            Self::Tokens => f.write_str("request tokens"),
            Self::Unknown(id) => write!(f, "a table that is not known any more (number {id})"),
        }
    }
}

/// The owners of all keys of a store, as of one moment.
pub struct KeyOwners {
    /// Owners by the prefix of their keys.
    by_prefix: BTreeMap<Vec<u8>, KeyOwner>,
    /// The tables of rows, by what the keys of those begin with.
    tables: BTreeMap<Vec<u8>, Arc<Table>>,
    /// Dropped ones included.
    ids: BTreeSet<u64>,
}

impl Engine {
    /// Looks up whose all keys are.
    ///
    /// Cost: reads the record of every table.
    ///
    /// # Errors
    ///
    /// * Those of the store, and [`crate::ErrorKind::Corrupt`]: a record of the catalogue cannot be
    ///   read.
    pub fn key_owners(&self) -> Result<KeyOwners> {
        let mut owners = KeyOwners::without_tables();
        for name in self.inner.catalogue.names(None, None, usize::MAX)? {
            // One that cannot be read is in the findings of verifying.
            if let Ok(table) = self.inner.catalogue.table(&name) {
                owners.add(&table);
            }
        }
        owners.ids.extend(self.inner.catalogue.dropped()?.iter().map(|dropped| dropped.id));
        Ok(owners)
    }
}

impl KeyOwners {
    /// Returns the owners of the keys that are of no table.
    fn without_tables() -> Self {
        let by_prefix = [
            (Tree::Catalogue, KeyOwner::Catalogue),
            (Tree::CatalogueCopy, KeyOwner::CatalogueCopy),
            (Tree::Due, KeyOwner::DueTimes),
            (Tree::Tokens, KeyOwner::Tokens),
        ]
        .map(|(tree, owner)| (vec![tree as u8], owner));
        Self { by_prefix: by_prefix.into(), tables: BTreeMap::new(), ids: BTreeSet::new() }
    }

    /// Returns whose all keys are, of these tables and of ids of dropped ones.
    pub(super) fn of(tables: impl IntoIterator<Item = Table>, dropped: BTreeSet<u64>) -> Self {
        let mut owners = Self { ids: dropped, ..Self::without_tables() };
        tables.into_iter().for_each(|table| owners.add(&Arc::new(table)));
        owners
    }

    fn add(&mut self, table: &Arc<Table>) {
        let name = || table.schema.name.clone();
        let mut add = |tree: Tree, id: u64, owner: KeyOwner| {
            self.by_prefix.insert(tree_key(tree, id), owner);
        };
        let is_view = table.cells.as_ref().is_some_and(CellsLayout::is_view);
        let rows = if is_view { KeyOwner::View } else { KeyOwner::Rows };
        add(Tree::Rows, table.id, rows(name()));
        for (id, index) in table.index_ids.iter().zip(index_names(&table.schema)) {
            add(Tree::Index, *id, KeyOwner::Index { table: name(), index: index.to_owned() });
        }
        if table.cells.is_some() {
            add(Tree::Tombstones, table.id, KeyOwner::Deletions(name()));
        }
        // Only where a setting asks for them; what was kept when it did concerns nobody.
        if table.schema.options.change_log {
            add(Tree::Changes, table.id, KeyOwner::Changes(name()));
        }
        if table.counts_exactly() {
            add(Tree::Counts, table.id, KeyOwner::Counts(name()));
        }
        if table.has_shards() {
            add(Tree::Shards, table.id, KeyOwner::Shards(name()));
        }
        self.ids.insert(table.id);
        self.ids.extend(&table.index_ids);
        self.tables.insert(tree_key(Tree::Rows, table.id), Arc::clone(table));
    }

    /// Returns whose keys from `least` to `greatest`, both included, may be, in the order of the
    /// keys. `None` is the end of the store.
    #[must_use]
    pub fn between(&self, least: Option<&[u8]>, greatest: Option<&[u8]>) -> Vec<KeyOwner> {
        let begins_in = |prefix: &[u8]| greatest.is_none_or(|greatest| prefix <= greatest);
        let ends_in = |prefix: &[u8]| {
            let end = prefix_successor(prefix);
            least.is_none_or(|least| end.is_none_or(|end| end.as_slice() > least))
        };
        let known =
            self.by_prefix.iter().filter(|(prefix, _)| begins_in(prefix) && ends_in(prefix));
        let mut owners: Vec<KeyOwner> = known.map(|(_, owner)| owner.clone()).collect();
        for id in [least, greatest].into_iter().flatten().filter_map(id_of) {
            let owner = KeyOwner::Unknown(id);
            if !self.ids.contains(&id) && !owners.contains(&owner) {
                owners.push(owner);
            }
        }
        owners
    }

    /// Names the row that a key belongs to by the columns of its key; `None` if it is no key of a row
    /// of items or cells.
    #[must_use]
    pub fn row_name(&self, key: &[u8]) -> Option<String> {
        let (_, table) = self.table_of(key)?;
        names::row_of_chunk(table, key)
    }

    /// Tells whether both keys are of rows of one table.
    #[must_use]
    pub fn are_of_one_table(&self, one: &[u8], other: &[u8]) -> bool {
        let (one, other) = (self.table_of(one), self.table_of(other));
        one.is_some_and(|(one, _)| other.is_some_and(|(other, _)| one == other))
    }

    fn table_of(&self, key: &[u8]) -> Option<(&[u8], &Table)> {
        let (prefix, table) = self.tables.range(..=key.to_vec()).next_back()?;
        key.starts_with(prefix).then_some((prefix, table))
    }

    /// Returns the tables of which records may lack or be of an earlier time if what belonged to
    /// `owners` was lost: those that are named, all that expire if due times were lost, and all if the
    /// catalogue was.
    #[must_use]
    pub fn tables_of(&self, owners: &BTreeSet<KeyOwner>) -> BTreeSet<TableName> {
        let is_concerned = |table: &Table| {
            let options = &table.schema.options;
            let expires = options.ttl.is_some() || table.cells.is_some();
            owners.contains(&KeyOwner::Catalogue)
                || expires && owners.contains(&KeyOwner::DueTimes)
                || owners.iter().any(|owner| owner.table() == Some(&table.schema.name))
        };
        let tables = self.tables.values().filter(|table| is_concerned(table));
        tables.map(|table| table.schema.name.clone()).collect()
    }

    /// Returns all tables.
    #[must_use]
    pub fn all_tables(&self) -> BTreeSet<TableName> {
        self.tables.values().map(|table| table.schema.name.clone()).collect()
    }
}

impl KeyOwner {
    /// Returns the table or view that it is part of, if it is of one.
    #[must_use]
    pub fn table(&self) -> Option<&TableName> {
        match self {
            Self::Rows(table)
            | Self::View(table)
            | Self::Index { table, .. }
            | Self::Deletions(table)
            | Self::Changes(table)
            | Self::Counts(table)
            | Self::Shards(table) => Some(table),
            Self::Catalogue
            | Self::CatalogueCopy
            | Self::DueTimes
            | Self::Tokens
            | Self::Unknown(_) => None,
        }
    }
}

/// Returns the id that a key begins with, where keys begin with ids.
fn id_of(key: &[u8]) -> Option<u64> {
    let (tree, mut rest) = key.split_first()?;
    Tree::OF_IDS.iter().find(|own| **own as u8 == *tree)?;
    take_ordered_varint(&mut rest).ok()
}
