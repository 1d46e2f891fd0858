//! What a table of rows of cells declares beyond its keys and columns: indexes of cells, views, and
//! what its face remembers.
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
    /// What a face remembers about the table (types as text, options, definitions); opaque.
    pub attachment: Bytes,
    /// Indexes of cells and key components.
    pub indexes: Vec<CellIndex>,
    /// Names of the views of this table, whose rows are kept in the same commit.
    pub views: Vec<TableName>,
    /// Set if this table is a view itself; then nobody writes it but its base.
    pub view_of: Option<ViewSchema>,
    /// A column was dropped some time: rows may hold cells of numbers that are not declared.
    pub has_dropped_columns: bool,
    /// Columns that were dropped and are back, with what of before is not.
    pub revived: Vec<Revived>,
}

/// A column that was dropped as of a moment of the past, and is back under its number: what was
/// written later than that moment is seen again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revived {
    /// The column's number.
    pub column: u32,
    /// Cells written up to this microsecond since the Unix epoch are not seen.
    pub dropped_at_micros: i64,
}

/// What of a row an index of cells has its terms from.
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
    /// Where its terms come from.
    pub target: CellIndexTarget,
    /// How terms are ordered: one type, for [`CellIndexTarget::Entries`] two.
    pub terms: Vec<KeyType>,
    /// Which texts are one term.
    pub fold: TextFold,
    /// How far it is.
    pub state: IndexState,
}

/// Where a component of a view's key comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ViewPart {
    /// A component of the base's partition key, by position.
    PartitionColumn(u32),
    /// A component of the base's clustering key, by position.
    SortColumn(u32),
    /// A plain regular column of the base.
    Column(u32),
}

/// What the key of a base's row must satisfy, for the row to be in a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewTest {
    /// The components of the key that are compared, as a tuple; no [`ViewPart::Column`].
    pub parts: Vec<ViewPart>,
    /// How.
    pub comparison: ViewComparison,
    /// What with: tuples of plain serialisations, in the order of the values. One, but for
    /// [`ViewComparison::Among`].
    pub values: Vec<Vec<Bytes>>,
}

/// How a [`ViewTest`] compares.
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

/// How the rows of a view follow from those of its base.
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
    /// Which rows of the base are in it, by their keys: those that satisfy all of these.
    pub tests: Vec<ViewTest>,
    /// How far it is: reads are refused until it is public.
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
