//! What the engine works out of a schema of a table of cells, once per form of the table.

use bytes::Bytes;
use shelfmark_model::{CellIndex, Direction, IndexState, SortColumn, TableSchema, ViewSchema};

use super::blind::blind_columns;
use super::keys::{CellKeys, Place};
use super::raw::take_raw;
use crate::error::{Error, Result};
use crate::layout::{Tree, tree_key};

/// The keys and numbers of one form of a table of cells.
#[derive(Debug)]
pub(crate) struct CellsLayout {
    pub(super) keys: CellKeys,
    pub(super) indexes: Vec<IndexLayout>,
    pub(super) view_of: Option<ViewSchema>,
    /// Numbers of the declared columns, sorted, if rows may hold cells of others.
    declared: Option<Vec<u32>>,
    /// Seconds for which deletions are remembered.
    pub(super) grace_seconds: u64,
    pub(super) partition_columns: usize,
    pub(super) has_views: bool,
    /// The columns that say all of a row, if one that is given all of them need not be read.
    pub(super) blind_columns: Option<Vec<u32>>,
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
        let declared = cells.has_dropped_columns.then(|| {
            let mut ids: Vec<u32> = schema.columns.iter().map(|column| column.id).collect();
            ids.sort_unstable();
            ids
        });
        Some(Self {
            keys: CellKeys::new(tree_key(Tree::Rows, id).into(), schema.sort.clone()),
            indexes,
            view_of: cells.view_of.clone(),
            declared,
            grace_seconds: u64::from(schema.options.gc_grace_seconds),
            partition_columns: schema.partition.len(),
            has_views: !cells.views.is_empty(),
            blind_columns: blind_columns(schema),
        })
    }

    /// Returns the numbers of the columns whose cells are to be seen, sorted; `None` are all.
    pub(super) fn declared(&self) -> Option<&[u32]> {
        self.declared.as_deref()
    }

    /// Tells whether cells of this column are to be seen.
    pub(super) fn is_declared(&self, column: u32) -> bool {
        self.declared().is_none_or(|ids| ids.binary_search(&column).is_ok())
    }

    /// Walks over the indexes that writes keep.
    pub(super) fn kept_indexes(&self) -> impl Iterator<Item = &IndexLayout> {
        self.indexes.iter().filter(|index| index.schema.state != IndexState::Dropping)
    }
}
