//! The part of a schema that only tables of cells have: indexes of cells, views, and data of their
//! face.
//!
//! What it is not: a language. Types of columns are the face's; the engine knows key types only,
//! and those only where order is needed: in clustering columns and in the terms of indexes.

use bytes::Bytes;

use super::{IndexState, KeyType, SortColumn, TableName, TableSchema, TextFold};
use crate::error::{Error, Result};
use crate::limits::INDEXES_MAX;

/// The part of a schema that only tables of cells have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CellsSchema {
    /// Opaque data of a face about the table (types as text, options, definitions).
    pub attachment: Bytes,
    /// Indexes of cells and key components.
    pub indexes: Vec<CellIndex>,
    /// Names of the views of this table, whose rows are kept in the same commit.
    pub views: Vec<TableName>,
    /// Set if this table is a view itself; then only its base's writes change it.
    pub view_of: Option<ViewSchema>,
    /// True if a column was ever dropped: rows may hold cells of numbers that are not declared.
    pub has_dropped_columns: bool,
    /// Columns that were dropped and are declared again, with the time up to which cells are
    /// hidden.
    pub revived: Vec<Revived>,
    /// True if texts of more than 1,024 bytes in keys are packed; tables of before write them whole.
    pub packs_long_keys: bool,
}

/// A column that was dropped at a time and is declared again under its number: only cells written
/// later are visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revived {
    /// The column's number.
    pub column: u32,
    /// Microsecond since the Unix epoch up to which written cells are hidden.
    pub dropped_at_micros: i64,
}

/// The part of a row that an index of cells takes its terms from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CellIndexTarget {
    /// The value of a plain column, static or regular.
    Column(u32),
    /// The keys of a map, or the members of a set: the paths of the cells.
    Keys(u32),
    /// The values of a list or map: the values of the cells.
    Values(u32),
    /// Key and value of each entry of a map: two components.
    Entries(u32),
    /// A component of the partition key, by position.
    PartitionColumn(u32),
    /// A component of the clustering key, by position.
    SortColumn(u32),
}

/// An index of cells: one entry per term and row, kept in the same commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellIndex {
    /// Its name, unique in the table.
    pub name: String,
    /// The source of its terms.
    pub target: CellIndexTarget,
    /// The types that order terms: one, for [`CellIndexTarget::Entries`] two.
    pub terms: Vec<KeyType>,
    /// The folding under which texts are one term.
    pub fold: TextFold,
    /// The state of its building.
    pub state: IndexState,
}

/// The source of a component of a view's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ViewPart {
    /// A component of the base's partition key, by position.
    PartitionColumn(u32),
    /// A component of the base's clustering key, by position.
    SortColumn(u32),
    /// A plain regular column of the base.
    Column(u32),
}

/// A test of the key of a base's row; rows that fail it are not in the view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewTest {
    /// The components of the key that are compared, as a tuple; no [`ViewPart::Column`].
    pub parts: Vec<ViewPart>,
    /// The comparison.
    pub comparison: ViewComparison,
    /// The values to compare with: tuples of plain serialisations, in the order of the values. One,
    /// but for [`ViewComparison::Among`].
    pub values: Vec<Vec<Bytes>>,
}

/// The comparison of a [`ViewTest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewComparison {
    /// It is one of the values; of no value it never is.
    Among,
    /// It is below the value.
    Below,
    /// It is the value or below it.
    UpTo,
    /// It is above the value.
    Above,
    /// It is the value or above it.
    From,
}

/// The derivation of a view's rows from those of its base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewSchema {
    /// The base.
    pub base: TableName,
    /// Components of the view's partition key.
    pub partition: Vec<ViewPart>,
    /// Components of the view's clustering key.
    pub sort: Vec<ViewPart>,
    /// Numbers of the base's columns that the view's rows hold; `None` for all regular ones.
    pub columns: Option<Vec<u32>>,
    /// Tests of the keys of the base's rows; rows that pass all are in the view.
    pub tests: Vec<ViewTest>,
    /// The state of its building; reads are refused until it is public.
    pub state: IndexState,
}

impl SortColumn {
    /// Creates a clustering column of a table of cells: a value of `key_type`, null, or empty.
    #[must_use]
    pub fn clustering(
        name: impl Into<String>,
        key_type: KeyType,
        direction: super::Direction,
    ) -> Self {
        Self::new(name, KeyType::Kinded(Box::new(key_type)), direction)
    }
}

impl TableSchema {
    /// Returns the columns that are one value per partition.
    pub fn statics(&self) -> impl Iterator<Item = &super::Column> {
        self.columns.iter().filter(|column| column.is_static)
    }

    /// Checks the part of the schema that tables of cells have.
    pub(super) fn check_cells(&self) -> Result<()> {
        let Some(cells) = &self.cells else {
            if self.rows == super::RowKind::Items {
                return Ok(());
            }
            return Err(Error::invalid("a table of cells is created with its part of the schema"));
        };
        if self.rows != super::RowKind::Cells || self.placement != super::Placement::Hashed {
            return Err(Error::invalid(
                "only a hashed table of cells has indexes of cells or views",
            ));
        }
        if let Some(column) =
            self.sort.iter().find(|column| !matches!(column.key_type, KeyType::Kinded(_)))
        {
            return Err(Error::invalid(format!(
                "clustering column {} of a table of cells must be kinded",
                column.name
            )));
        }
        let options = &self.options;
        if !self.indexes.is_empty()
            || options.exact_counts
            || options.change_log
            || options.stream.is_some()
            || options.history.is_some()
            || options.dormant
            || options.ttl.is_some()
            || options.shard_items_max.is_some()
            || options.shard_bytes_max.is_some()
        {
            return Err(Error::invalid(
                "a table of cells has indexes of cells only, expiries per cell, and no counts, \
                 change log or shards",
            ));
        }
        if cells.indexes.len() > INDEXES_MAX || cells.views.len() > INDEXES_MAX {
            return Err(Error::limit(format!(
                "a table has at most {INDEXES_MAX} indexes and as many views"
            )));
        }
        for (position, index) in cells.indexes.iter().enumerate() {
            self.check_cell_index(index)?;
            if cells.indexes.iter().take(position).any(|other| other.name == index.name) {
                return Err(Error::invalid(format!("index {} is declared twice", index.name)));
            }
        }
        match &cells.view_of {
            Some(view)
                if (view.partition.len(), view.sort.len())
                    != (self.partition.len(), self.sort.len()) =>
            {
                Err(Error::invalid("a view's key has a source for each of its columns"))
            }
            _ => Ok(()),
        }
    }

    fn check_cell_index(&self, index: &CellIndex) -> Result<()> {
        if index.name.is_empty() {
            return Err(Error::invalid("an index needs a name"));
        }
        let (is_there, terms) = match index.target {
            CellIndexTarget::Column(id)
            | CellIndexTarget::Keys(id)
            | CellIndexTarget::Values(id) => (self.has_column(id), 1),
            CellIndexTarget::Entries(id) => (self.has_column(id), 2),
            CellIndexTarget::PartitionColumn(at) => ((at as usize) < self.partition.len(), 1),
            CellIndexTarget::SortColumn(at) => ((at as usize) < self.sort.len(), 1),
        };
        if is_there && index.terms.len() == terms {
            return Ok(());
        }
        Err(Error::invalid(format!("index {} names no column, or too few types", index.name)))
    }

    fn has_column(&self, id: u32) -> bool {
        self.columns.iter().any(|column| column.id == id)
    }
}
