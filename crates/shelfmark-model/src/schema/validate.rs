//! Validates a schema before it enters the catalogue.

use std::collections::HashSet;

use super::{IndexSchema, TableSchema};
use crate::error::{Error, Result};
use crate::limits::{INDEXES_MAX, KEY_COLUMNS_MAX, NAME_SIZE_BYTES_MAX};

impl TableSchema {
    /// Validates the schema of a table.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: a name is empty or used twice, or there is no partition
    ///   key. The message names it.
    /// * [`crate::ErrorKind::LimitExceeded`]: too many columns or indexes, or a name is too long.
    pub fn check(&self) -> Result<()> {
        check_name("namespace", &self.name.namespace)?;
        check_name("table", &self.name.name)?;
        let keys: Vec<&str> = self.key_names().collect();
        check_key(&format!("table {}", self.name), self.partition.len(), self.sort.len(), &keys)?;
        let mut names: HashSet<&str> = keys.into_iter().collect();
        let mut ids = HashSet::new();
        for column in &self.columns {
            check_name("column", &column.name)?;
            if !names.insert(&column.name) {
                return Err(Error::invalid(format!("column {} is declared twice", column.name)));
            }
            if !ids.insert(column.id) {
                return Err(Error::invalid(format!("column number {} is used twice", column.id)));
            }
        }
        if self.indexes.len() > INDEXES_MAX {
            return Err(Error::limit(format!("a table has at most {INDEXES_MAX} indexes")));
        }
        let mut names = HashSet::new();
        for index in &self.indexes {
            index.check()?;
            if !names.insert(&index.name) {
                return Err(Error::invalid(format!("index {} is declared twice", index.name)));
            }
        }
        self.check_cells()
    }
}

impl IndexSchema {
    /// Validates the schema of an index.
    ///
    /// # Errors
    ///
    /// As [`TableSchema::check`].
    pub fn check(&self) -> Result<()> {
        check_name("index", &self.name)?;
        let keys: Vec<&str> = self
            .partition
            .iter()
            .map(|column| column.name.as_str())
            .chain(self.sort.iter().map(|column| column.name.as_str()))
            .collect();
        check_key(&format!("index {}", self.name), self.partition.len(), self.sort.len(), &keys)
    }
}

fn check_key(what: &str, partition: usize, sort: usize, names: &[&str]) -> Result<()> {
    if partition == 0 {
        return Err(Error::invalid(format!("{what} has no partition key")));
    }
    if partition > KEY_COLUMNS_MAX || sort > KEY_COLUMNS_MAX {
        return Err(Error::limit(format!("{what} has more than {KEY_COLUMNS_MAX} key columns")));
    }
    let mut seen = HashSet::new();
    for name in names {
        check_name("column", name)?;
        if !seen.insert(name) {
            return Err(Error::invalid(format!("{what} uses column {name} twice in its key")));
        }
    }
    Ok(())
}

fn check_name(what: &str, name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(Error::invalid(format!("a {what} needs a name")));
    }
    if name.len() > NAME_SIZE_BYTES_MAX {
        return Err(Error::limit(format!(
            "the name of a {what} is longer than {NAME_SIZE_BYTES_MAX} bytes"
        )));
    }
    Ok(())
}
