//! The layout of a table of cells, computed from its schema once per version.

use bytes::Bytes;
use shelfmark_model::{
    CellIndex, Column, ColumnType, Direction, IndexState, SortColumn, TableName, TableSchema,
    ViewSchema,
};

use super::Timestamp;
use super::clustering::take_raw;
use super::keys::{CellKeys, Packs, Place};
use super::view_filter::ViewFilter;
use crate::error::{Error, Result};
use crate::keys::{Tree, tree_key};

/// The keys and numbers of one form of a table of cells.
#[derive(Debug)]
pub struct CellsLayout {
    /// The name of the table.
    pub name: TableName,
    /// The keys of its rows.
    pub keys: CellKeys,
    /// Its indexes, in the order of the schema.
    pub indexes: Vec<IndexLayout>,
    /// The definition of the view, if it is one.
    pub view_of: Option<ViewSchema>,
    /// The declared columns, sorted, if rows may hold cells that are not to be seen: of each its
    /// number, and up to when what was written into it is not.
    declared: Option<Vec<Declared>>,
    /// Those of them that have a time.
    revived: Vec<Declared>,
    /// Of a view, which rows of its base are in it.
    pub tests: Vec<ViewFilter>,
    /// Seconds for which deletions are remembered.
    pub grace_seconds: u64,
    /// Number of columns in the partition key.
    pub partition_columns: usize,
    /// Other tables are views of it.
    pub has_views: bool,
    /// The rows are items, which the code of cells reads and does not write.
    pub is_of_items: bool,
    /// The columns that say all of a row, if one that is given all of them need not be read.
    pub blind_columns: Option<Vec<u32>>,
}

/// A column's number, and the time up to which what was written into it is not to be seen, if any.
pub(crate) type Declared = (u32, Option<Timestamp>);

/// Returns true if a cell is to be seen.
#[inline]
pub(crate) fn is_seen(declared: Option<&[Declared]>, column: u32, timestamp: Timestamp) -> bool {
    declared.is_none_or(|all| {
        let found = all.binary_search_by_key(&column, |(id, _)| *id);
        let found = found.ok().and_then(|at| all.get(at));
        found.is_some_and(|(_, dropped_at)| dropped_at.is_none_or(|at| timestamp > at))
    })
}

/// One index of cells.
#[derive(Debug)]
pub struct IndexLayout {
    /// `[index][id]`.
    pub prefix: Bytes,
    /// As it was declared.
    pub schema: CellIndex,
    /// The terms as key columns.
    pub terms: Vec<SortColumn>,
}

impl IndexLayout {
    /// Returns the place that an entry's key (without chunk) leads to.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the bytes are none that this crate makes.
    pub fn place_of(&self, keys: &CellKeys, entry: &[u8]) -> Result<Place> {
        let damaged = || Error::corrupt("an entry of an index of cells is damaged");
        let mut rest = entry.strip_prefix(self.prefix.as_ref()).ok_or_else(damaged)?;
        for term in &self.terms {
            take_raw(&term.key_type, Direction::Ascending, &mut rest)?;
        }
        keys.parse_rest(rest)
    }
}

impl CellsLayout {
    /// Returns the layout; `None` for a table of items.
    pub fn of(id: u64, index_ids: &[u64], schema: &TableSchema) -> Option<Self> {
        let cells = schema.cells.as_deref()?;
        let indexes = index_ids
            .iter()
            .zip(&cells.indexes)
            .map(|(id, index)| IndexLayout {
                prefix: tree_key(Tree::Index, *id).into(),
                terms: index
                    .terms
                    .iter()
                    .map(|term| SortColumn::clustering("term", term.clone(), Direction::Ascending))
                    .collect(),
                schema: index.clone(),
            })
            .collect();
        let declared = (cells.has_dropped_columns || !cells.revived.is_empty()).then(|| {
            let dropped_at = |id: u32| {
                let revived = cells.revived.iter().rfind(|revived| revived.column == id);
                revived.map(|revived| revived.dropped_at_micros)
            };
            let columns = schema.columns.iter().map(|column| (column.id, dropped_at(column.id)));
            let mut declared: Vec<Declared> = columns.collect();
            declared.sort_unstable();
            declared
        });
        let with_time = declared.iter().flatten().filter(|(_, dropped_at)| dropped_at.is_some());
        Some(Self {
            name: schema.name.clone(),
            keys: CellKeys {
                prefix: tree_key(Tree::Rows, id).into(),
                sort: schema.sort.clone(),
                partition_type: None,
                packs: Packs(cells.packs_long_keys),
                is_of_view: cells.view_of.is_some(),
            },
            indexes,
            view_of: cells.view_of.clone(),
            revived: with_time.copied().collect(),
            declared,
            tests: ViewFilter::all(schema),
            grace_seconds: u64::from(schema.options.gc_grace_seconds),
            partition_columns: schema.partition.len(),
            has_views: !cells.views.is_empty(),
            is_of_items: false,
            blind_columns: blind_columns(schema),
        })
    }

    /// Refuses a view, which only its base's writes change.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: it is a view.
    pub fn check_no_view(&self) -> Result<()> {
        match self.view_of {
            None if self.is_of_items => {
                Err(Error::invalid("rows that are items were about to be written as cells"))
            }
            None => Ok(()),
            Some(_) => Err(Error::invalid("a view is written by its base table alone")),
        }
    }

    /// Returns the columns whose cells are to be seen, sorted; `None` are all.
    #[inline]
    pub fn declared(&self) -> Option<&[Declared]> {
        self.declared.as_deref()
    }

    /// Returns true if a cell of this column is to be seen.
    #[inline]
    pub fn sees(&self, column: u32, timestamp: Timestamp) -> bool {
        is_seen(self.declared(), column, timestamp)
    }

    /// Returns true if a cell was written before its column was dropped and came back.
    pub(crate) fn is_of_before(&self, column: u32, timestamp: Timestamp) -> bool {
        let found = self.revived.iter().find(|(id, _)| *id == column);
        found.and_then(|(_, dropped_at)| *dropped_at).is_some_and(|at| timestamp <= at)
    }

    /// Walks over the indexes that writes keep.
    pub fn kept_indexes(&self) -> impl Iterator<Item = &IndexLayout> {
        self.indexes.iter().filter(|index| index.schema.state != IndexState::Dropping)
    }
}

/// Returns the columns that a write has to give to say all of a row, sorted; `None` if a row may hold
/// more than them or something follows from it.
fn blind_columns(schema: &TableSchema) -> Option<Vec<u32>> {
    let cells = schema.cells.as_deref()?;
    if !cells.indexes.is_empty() || !cells.views.is_empty() || cells.view_of.is_some() {
        return None;
    }
    let is_plain = |own: &Column| matches!(own.column_type, ColumnType::Value(_));
    if !schema.columns.iter().all(is_plain) {
        return None;
    }
    let regular = schema.columns.iter().filter(|own| !own.is_static);
    let mut columns: Vec<u32> = regular.map(|own| own.id).collect();
    columns.sort_unstable();
    Some(columns)
}
