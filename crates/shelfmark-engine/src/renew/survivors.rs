//! Works out which tables a salvage would lose, from the entries that it would keep.
//!
//! A table is lost when its rows are there and neither its record nor the copy is, for nobody knows
//! then what the rows mean; or when its record is there and a part that may have held all its rows is
//! not. A schema that is given anew brings the rows of the first kind back. Of a table whose record, copy
//! and rows are all lost nothing tells; that there may have been one is told by what is lost.
//!
//! Invariant: nothing here reads or writes a store.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use bytes::Bytes;
use shelfmark_keycode::{prefix_successor, take_ordered_varint};
use shelfmark_model::{TableName, TableSchema};
use shelfmark_records::catalogue::keys::original_key;
use shelfmark_records::cells::CellsLayout;
use shelfmark_records::keys::{RowKey, Tree, tree_key};
use shelfmark_tables::catalogue::{StoredKey, Table, blank_table, stored_key, stored_table};
use shelfmark_tables::cells::Cells;
use shelfmark_tables::items::Items;
use shelfmark_tables::rows::{RawRow, RowKind as _, chunk_count};

use super::owners::KeyOwners;

/// Rows of one table that are looked at to tell whether a schema fits them.
pub(crate) const SAMPLE_ROWS_MAX: usize = 200;

/// A table that would be lost as a whole.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum TableLoss {
    /// Its rows are there, and nothing says what they are.
    Unknown {
        /// Its number.
        id: u64,
        /// Entries of rows that are there, older versions included.
        entries: u64,
    },
    /// It is known, and none of its rows is left, where there may have been some.
    Rows(TableName),
    /// The lost parts may have held both records of tables, and nothing tells which there were.
    Untold,
}

impl TableLoss {
    /// Returns the number of a table that nothing tells of but its rows.
    #[must_use]
    pub fn unknown_id(&self) -> Option<u64> {
        match self {
            Self::Unknown { id, .. } => Some(*id),
            Self::Rows(_) | Self::Untold => None,
        }
    }
}

impl fmt::Display for TableLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { id, entries } => write!(
                f,
                "table number {id}, for both records of what it is are lost; {entries} entries of \
                 its rows are there"
            ),
            Self::Rows(table) => write!(f, "every row of {table} that may have been there"),
            Self::Untold => f.write_str(
                "tables as a whole, if there were any whose both records and all rows lay there",
            ),
        }
    }
}

/// The number of entries of one id's rows, and a sample of the rows.
#[derive(Debug, Default)]
struct Rows {
    entries: u64,
    sample: Vec<RawRow>,
}

/// The entries that a salvage would keep, as far as they tell which tables there are.
#[derive(Debug, Default)]
pub struct Survivors {
    /// The newest version of each record of the catalogue and its copy.
    catalogue: BTreeMap<Bytes, (u64, Option<Bytes>)>,
    rows: BTreeMap<u64, Rows>,
}

impl Survivors {
    /// Notes a version of a key; of a deletion there is no value.
    pub fn see(&mut self, key: Bytes, value: Option<Bytes>, version: u64) {
        let tree = key.first().copied().unwrap_or_default();
        if tree == Tree::Catalogue as u8 || tree == Tree::CatalogueCopy as u8 {
            let newest = self.catalogue.entry(key).or_insert_with(|| (version, value.clone()));
            if newest.0 <= version {
                *newest = (version, value);
            }
            return;
        }
        let mut rest = key.get(1..).unwrap_or_default();
        if let (true, Some(value), Ok(id)) =
            (tree == Tree::Rows as u8, value, take_ordered_varint(&mut rest))
        {
            self.rows.entry(id).or_default().see(key, value);
        }
    }

    /// Returns the tables that would be lost as a whole: `parts` are the stretches of keys that are
    /// lost, with the last key before and the first key behind each, and `given` are schemas that are
    /// given anew.
    #[must_use]
    pub fn tables_lost(
        &self,
        parts: &[(Option<Bytes>, Option<Bytes>)],
        given: &[TableSchema],
    ) -> Vec<TableLoss> {
        let (tables, dropped) = self.tables();
        let used: BTreeSet<u64> = tables
            .values()
            .flat_map(|table| std::iter::once(&table.id).chain(&table.index_ids))
            .copied()
            .collect();
        let is_known = |id: &u64| used.contains(id) || dropped.contains(id);
        let unknown: BTreeMap<u64, &[RawRow]> = self
            .rows
            .iter()
            .filter(|(id, _)| !is_known(id))
            .map(|(id, rows)| (*id, rows.sample.as_slice()))
            .collect();
        let given: Vec<&TableSchema> =
            given.iter().filter(|own| !tables.contains_key(&own.name)).collect();
        let back = matches(&unknown, &given);
        let entries = |id: &u64| self.rows.get(id).map_or(0, |rows| rows.entries);
        let mut lost: Vec<TableLoss> = unknown
            .keys()
            .filter(|id| !back.contains_key(id))
            .map(|id| TableLoss::Unknown { id: *id, entries: entries(id) })
            .collect();
        for (name, table) in tables {
            let is_view = table.cells.as_ref().is_some_and(CellsLayout::is_view);
            let prefix = tree_key(Tree::Rows, table.id);
            if !is_view && entries(&table.id) == 0 && may_be_lost(parts, &prefix) {
                lost.push(TableLoss::Rows(name));
            }
        }
        // Whoever gives the schemas of all the rows that are left says which tables there were.
        let is_back = |(at, schema): (usize, &&TableSchema)| {
            let cells = blank_table((*schema).clone(), 0).cells;
            back.values().any(|own| *own == at) || cells.as_ref().is_some_and(CellsLayout::is_view)
        };
        let is_told = !given.is_empty() && given.iter().enumerate().all(is_back);
        let both = [Tree::Catalogue, Tree::CatalogueCopy];
        if !is_told && both.iter().all(|tree| may_be_lost(parts, &[*tree as u8])) {
            lost.push(TableLoss::Untold);
        }
        lost
    }

    /// Returns whose all keys are, as far as the records that are left tell.
    #[must_use]
    pub fn key_owners(&self) -> KeyOwners {
        let (tables, dropped) = self.tables();
        KeyOwners::of(tables.into_values(), dropped)
    }

    /// Returns the tables that a record or its copy tells of, and the ids that were dropped.
    fn tables(&self) -> (BTreeMap<TableName, Table>, BTreeSet<u64>) {
        let (mut tables, mut dropped) = (BTreeMap::<TableName, Table>::new(), BTreeSet::new());
        for (key, (_, value)) in &self.catalogue {
            let (Some(value), Ok(stored)) = (value, stored_key(&original_key(key))) else {
                continue;
            };
            match stored {
                StoredKey::Table(name) => {
                    let Ok(table) = stored_table(value) else { continue };
                    let age = |own: &Table| (own.origin, own.version);
                    if tables.get(&name).is_none_or(|own| age(own) < age(&table)) {
                        tables.insert(name, table);
                    }
                }
                StoredKey::Dropped(id) => drop(dropped.insert(id)),
                StoredKey::NextId | StoredKey::Other => {}
            }
        }
        (tables, dropped)
    }
}

impl Rows {
    fn see(&mut self, key: Bytes, value: Bytes) {
        self.entries += 1;
        if self.sample.len() < SAMPLE_ROWS_MAX
            && let Ok(key) = RowKey::of_head(key)
            && chunk_count(&value).is_ok_and(|chunks| chunks == 0)
        {
            self.sample.push(RawRow { key, head: value, chunks: Vec::new() });
        }
    }
}

/// Tells whether a lost part may have held keys that begin with `prefix`.
fn may_be_lost(parts: &[(Option<Bytes>, Option<Bytes>)], prefix: &[u8]) -> bool {
    let end = prefix_successor(prefix);
    parts.iter().any(|(after, before)| {
        after.as_ref().is_none_or(|after| end.as_ref().is_none_or(|end| after[..] < end[..]))
            && before.as_ref().is_none_or(|before| before[..] > *prefix)
    })
}

/// Says which of the schemas the rows of which id are of: ids ascend as tables were created, and
/// schemas are in the order in which they are given, so of several that fit the first one is taken.
pub(crate) fn matches(
    unknown: &BTreeMap<u64, &[RawRow]>,
    given: &[&TableSchema],
) -> BTreeMap<u64, usize> {
    let mut taken: BTreeMap<u64, usize> = BTreeMap::new();
    for (id, sample) in unknown {
        let is_free = |at: &usize| taken.values().all(|own| own != at);
        let found = (0..given.len())
            .filter(is_free)
            .find(|at| given.get(*at).is_some_and(|schema| fits(schema, *id, sample)));
        if let Some(at) = found {
            taken.insert(*id, at);
        }
    }
    taken
}

/// Tells whether rows can be read as those of a table of this schema.
fn fits(schema: &TableSchema, id: u64, sample: &[RawRow]) -> bool {
    let table = blank_table(schema.clone(), id);
    let is_one = |row: &RawRow| match &table.cells {
        None => Items { table: &table, now: 0 }.read(row).is_ok(),
        Some(layout) => Cells { table: &table, layout }.read(row).is_ok_and(|stored| {
            stored.columns().all(|column| schema.columns.iter().any(|own| own.id == column))
        }),
    };
    !sample.is_empty() && sample.iter().all(is_one)
}
