//! Takes the stored keys of a table or index apart: where its partition ends, and what is a row.

use bytes::Bytes;
use shelfmark_engine::Table;
use shelfmark_model::{IndexSchema, RowKind};
use shelfmark_records::cells::{CellKeys, Packs};
use shelfmark_records::keys::{KeySpec, Tree, tree_key, without_chunk};
use shelfmark_store::KeyRange;

/// The keys of one key line.
#[derive(Debug, Clone)]
pub enum StoredKeys {
    /// Of a table of items, or of one of its indexes.
    Items(KeySpec),
    /// Of a table of cells.
    Cells(CellKeys),
    /// Of something whose keys are not taken apart: the bytes that all of them begin with.
    Other(Bytes),
}

impl StoredKeys {
    /// Returns the keys of a table's rows.
    #[must_use]
    pub fn of_table(table: &Table) -> Self {
        if table.schema.rows == RowKind::Cells {
            let prefix = Bytes::from(tree_key(Tree::Rows, table.id));
            let packs = table.schema.cells.as_ref().is_some_and(|cells| cells.packs_long_keys);
            return Self::Cells(CellKeys::new(prefix, table.schema.sort.clone(), Packs(packs)));
        }
        Self::Items(KeySpec::of_table(table.id, &table.schema))
    }

    /// Returns the keys of an index of items.
    #[must_use]
    pub fn of_index(table: &Table, id: u64, index: &IndexSchema) -> Self {
        Self::Items(KeySpec::of_index(id, &table.schema, index))
    }

    /// Returns the keys of an index of cells, which are not taken apart.
    #[must_use]
    pub fn of_cell_index(id: u64) -> Self {
        Self::Other(tree_key(Tree::Index, id).into())
    }

    /// Returns the bytes that all keys begin with.
    #[must_use]
    pub fn prefix(&self) -> &Bytes {
        match self {
            Self::Items(spec) => &spec.prefix,
            Self::Cells(keys) => &keys.prefix,
            Self::Other(prefix) => prefix,
        }
    }

    /// Returns the range of all keys.
    #[must_use]
    pub fn whole(&self) -> KeyRange {
        KeyRange::prefix(self.prefix().clone())
    }

    /// Returns the bytes of a key that name its partition; `None` where there are none.
    #[must_use]
    pub fn partition<'k>(&self, key: &'k [u8]) -> Option<&'k [u8]> {
        let length = match self {
            Self::Items(spec) => {
                let own = key.strip_prefix(spec.prefix.as_ref())?;
                spec.prefix.len() + spec.split_partition(own).ok()?.0.len()
            }
            Self::Cells(keys) => keys.partition_length(key).ok()?,
            Self::Other(_) => return None,
        };
        key.get(..length)
    }

    /// Returns true if a stored key is that of a row, and not of a further chunk or of statics.
    #[must_use]
    pub fn is_row(&self, key: &[u8]) -> bool {
        let Ok(row) = without_chunk(key) else { return false };
        match self {
            Self::Cells(keys) => {
                let length = keys.partition_length(row).unwrap_or(row.len());
                row.get(length) == Some(&shelfmark_records::cells::ROW)
            }
            Self::Items(_) | Self::Other(_) => true,
        }
    }
}
