//! The target of a query or scan: a table, or one of its indexes.

use std::sync::Arc;

use shelfmark_engine::Table;
use shelfmark_model::{IndexSchema, IndexState, KeyColumn, Projected, SortColumn};

use super::meta::Meta;
use super::vectors::vector_indexes;
use crate::errors::{Error, Result, texts};

/// A table or one of its indexes.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) table: Arc<Table>,
    /// The index's position among the table's, and true if it is local.
    index: Option<(usize, bool)>,
}

impl Target {
    /// Finds the index; without a name the target is the table.
    pub(crate) fn find(table: Arc<Table>, index: Option<&str>) -> Result<Self> {
        let Some(name) = index else { return Ok(Self { table, index: None }) };
        let mut indexes = table.schema.indexes.iter().enumerate();
        match indexes
            .find(|(_, index)| index.name == name)
            .map(|(place, index)| (place, index.state))
        {
            Some((place, IndexState::Public)) => {
                let local = Meta::is_local_in(&table, name);
                Ok(Self { table, index: Some((place, local)) })
            }
            Some((_, IndexState::Building)) => {
                Err(Error::validation(texts::index_is_building(name)))
            }
            None if vector_indexes(&table.schema).contains_key(name) => {
                Err(Error::validation(texts::SCAN_OF_VECTORS))
            }
            Some((_, IndexState::Dropping)) | None => {
                Err(Error::validation(texts::index_not_found(name)))
            }
        }
    }

    /// Returns the index, and true if it is local.
    fn index(&self) -> Option<(&IndexSchema, bool)> {
        let (place, local) = self.index?;
        Some((self.table.schema.indexes.get(place)?, local))
    }

    /// Returns the index's name.
    pub(crate) fn index_name(&self) -> Option<&str> {
        self.index().map(|(index, _)| index.name.as_str())
    }

    /// Returns the index, if it is a global one.
    pub(crate) fn global_index(&self) -> Option<&IndexSchema> {
        self.index().filter(|(_, local)| !local).map(|(index, _)| index)
    }

    /// Returns the index, if it is a local one.
    pub(crate) fn local_index(&self) -> Option<&IndexSchema> {
        self.index().filter(|(_, local)| *local).map(|(index, _)| index)
    }

    /// Returns the columns of the partition key that is queried.
    pub(crate) fn partition(&self) -> &[KeyColumn] {
        self.index().map_or(&self.table.schema.partition, |(index, _)| &index.partition)
    }

    /// Returns the columns of the sort key that is queried.
    pub(crate) fn sort(&self) -> &[SortColumn] {
        self.index().map_or(&self.table.schema.sort, |(index, _)| &index.sort)
    }

    /// Returns true if the attribute is part of the queried key.
    pub(crate) fn is_key(&self, name: &str) -> bool {
        self.partition().iter().any(|column| column.name == name)
            || self.sort().iter().any(|column| column.name == name)
    }

    /// Returns true if every entry of the target has the attribute, if the item has it.
    pub(crate) fn holds(&self, attribute: &str) -> bool {
        let Some((index, _)) = self.index() else { return true };
        self.is_key(attribute)
            || self.table.schema.is_key(attribute)
            || match &index.projected {
                Projected::All => true,
                Projected::KeysOnly => false,
                Projected::Include(names) => names.iter().any(|name| name == attribute),
            }
    }

    /// Returns true if entries hold whole items.
    pub(crate) fn holds_all(&self) -> bool {
        self.index().is_none_or(|(index, _)| index.projected == Projected::All)
    }

    /// Returns the names of the attributes that make a position in the target: the table's key and
    /// the index's.
    pub(crate) fn position_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.table.schema.key_names().collect();
        let own = self.partition().iter().map(|column| column.name.as_str());
        for name in own.chain(self.sort().iter().map(|column| column.name.as_str())) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}
