//! What the engine works out of a schema of a table of cells, once per form of the table.

use bytes::Bytes;
use shelfmark_model::{CellIndex, Direction, IndexState, SortColumn, TableSchema, ViewSchema};

use super::Timestamp;
use super::blind::blind_columns;
use super::keys::{CellKeys, Place};
use super::raw::take_raw;
use super::view_test::TestLayout;
use crate::error::{Error, Result};
use crate::keys::{Tree, tree_key};

/// The keys and numbers of one form of a table of cells.
#[derive(Debug)]
pub(crate) struct CellsLayout {
    pub(crate) keys: CellKeys,
    pub(super) indexes: Vec<IndexLayout>,
    pub(super) view_of: Option<ViewSchema>,
    /// The declared columns, sorted, if rows may hold cells that are not to be seen: of each its
    /// number, and up to when what was written into it is not.
    declared: Option<Vec<Declared>>,
    /// Those of them that have a time.
    revived: Vec<Declared>,
    /// Of a view, which rows of its base are in it.
    pub(super) tests: Vec<TestLayout>,
    /// Seconds for which deletions are remembered.
    pub(super) grace_seconds: u64,
    pub(super) partition_columns: usize,
    pub(super) has_views: bool,
    /// The rows are items, which the code of cells reads and does not write.
    pub(crate) is_of_items: bool,
    /// The columns that say all of a row, if one that is given all of them need not be read.
    pub(super) blind_columns: Option<Vec<u32>>,
}

/// A column's number, and the time up to which what was written into it is not to be seen, if any.
pub(super) type Declared = (u32, Option<Timestamp>);

/// Tells whether a cell is to be seen.
pub(super) fn is_seen(declared: Option<&[Declared]>, column: u32, timestamp: Timestamp) -> bool {
    declared.is_none_or(|all| {
        let found = all.binary_search_by_key(&column, |(id, _)| *id);
        let found = found.ok().and_then(|at| all.get(at));
        found.is_some_and(|(_, dropped_at)| dropped_at.is_none_or(|at| timestamp > at))
    })
}

/// One index of cells.
#[derive(Debug)]
pub(super) struct IndexLayout {
    /// `[index][id]`.
    pub(super) prefix: Bytes,
    pub(super) schema: CellIndex,
    /// The terms as key columns.
    pub(super) terms: Vec<SortColumn>,
}

impl IndexLayout {
    /// Returns the place that an entry's key (without chunk) leads to.
    pub(super) fn place_of(&self, keys: &CellKeys, entry: &[u8]) -> Result<Place> {
        let damaged = || Error::corrupt("an entry of an index of cells is damaged");
        let mut rest = entry.strip_prefix(self.prefix.as_ref()).ok_or_else(damaged)?;
        for term in &self.terms {
            take_raw(&term.key_type, Direction::Ascending, &mut rest)?;
        }
        keys.parse_rest(rest)
    }
}

impl CellsLayout {
    /// `None` for a table of items.
    pub(crate) fn of(id: u64, index_ids: &[u64], schema: &TableSchema) -> Option<Self> {
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
            keys: CellKeys::new(tree_key(Tree::Rows, id).into(), schema.sort.clone()),
            indexes,
            view_of: cells.view_of.clone(),
            revived: with_time.copied().collect(),
            declared,
            tests: TestLayout::all(schema),
            grace_seconds: u64::from(schema.options.gc_grace_seconds),
            partition_columns: schema.partition.len(),
            has_views: !cells.views.is_empty(),
            is_of_items: false,
            blind_columns: blind_columns(schema),
        })
    }

    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: it is a view.
    pub(crate) fn check_no_view(&self) -> Result<()> {
        match self.view_of {
            None if self.is_of_items => Err(Error::new(
                crate::error::ErrorKind::Internal,
                "rows that are items were about to be written as cells",
            )),
            None => Ok(()),
            Some(_) => Err(Error::invalid("a view is written by its base table alone")),
        }
    }

    /// Returns the columns whose cells are to be seen, sorted; `None` are all.
    pub(super) fn declared(&self) -> Option<&[Declared]> {
        self.declared.as_deref()
    }

    /// Tells whether a cell of this column is to be seen.
    pub(super) fn sees(&self, column: u32, timestamp: Timestamp) -> bool {
        is_seen(self.declared(), column, timestamp)
    }

    /// Tells whether a cell was written before its column was dropped and came back.
    pub(super) fn is_of_before(&self, column: u32, timestamp: Timestamp) -> bool {
        let found = self.revived.iter().find(|(id, _)| *id == column);
        found.and_then(|(_, dropped_at)| *dropped_at).is_some_and(|at| timestamp <= at)
    }

    /// Walks over the indexes that writes keep.
    pub(super) fn kept_indexes(&self) -> impl Iterator<Item = &IndexLayout> {
        self.indexes.iter().filter(|index| index.schema.state != IndexState::Dropping)
    }
}
