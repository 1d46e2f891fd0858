//! A cursor: a position in a table or index, from which a read goes on.
//!
//! A position, not a snapshot: it stays good after its row is gone and after a restart, and sees
//! what was written meanwhile.

use bytes::Bytes;

use shelfmark_model::Item;

use crate::catalogue::Table;
use crate::error::{Error, ErrorKind, Result};

const VERSION: u8 = 1;

/// The position just behind a row, in the direction of the read that made it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// The key of the row without its chunk.
    row_key: Bytes,
}

impl Cursor {
    pub(crate) fn behind(row_key: Bytes) -> Self {
        Self { row_key }
    }

    pub(crate) fn row_key(&self) -> &Bytes {
        &self.row_key
    }

    /// Returns the cursor as opaque bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.row_key.len() + 1);
        bytes.push(VERSION);
        bytes.extend_from_slice(&self.row_key);
        bytes
    }

    /// Reads a cursor back. That it belongs to the range being read is checked by the read.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: these are no bytes of a cursor of this version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        match bytes.split_first() {
            Some((&VERSION, row_key)) if !row_key.is_empty() => {
                Ok(Self { row_key: Bytes::copy_from_slice(row_key) })
            }
            _ => Err(Error::invalid("this is no cursor; pass one that an answer gave back")),
        }
    }
}

impl Table {
    /// Returns the position behind an item that need not be there, from its key attributes: those
    /// of the table, and for an index those of the index as well.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: a key attribute is missing or of another type.
    /// * [`ErrorKind::NotFound`]: there is no such index.
    pub fn cursor_behind(&self, index: Option<&str>, key: &Item) -> Result<Cursor> {
        let base = self.key_of(key)?;
        let Some(name) = index else { return Ok(Cursor::behind(self.key.row_key(&base)?.into())) };
        let index = self.index(name).ok_or_else(|| no_index(self, name))?;
        let entry = index.key.entry_key(&self.key, &base, key)?.ok_or_else(|| {
            Error::invalid(format!("the position lacks a key attribute of index {name}"))
        })?;
        Ok(Cursor::behind(entry.into()))
    }

    /// Returns the key attributes of the position that a cursor stands behind: those of the table,
    /// and for an index those of the index as well.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: the cursor belongs to another table or index.
    /// * [`ErrorKind::NotFound`]: there is no such index.
    pub fn cursor_key(&self, index: Option<&str>, cursor: &Cursor) -> Result<Item> {
        let spec = match index {
            None => &self.key,
            Some(name) => &self.index(name).ok_or_else(|| no_index(self, name))?.key,
        };
        let columns = spec
            .decode(&cursor.row_key)
            .map_err(|_| Error::invalid("the cursor belongs to another table or index"))?
            .columns;
        Ok(columns.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }
}

fn no_index(table: &Table, name: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("table {} has no index {name}", table.schema.name))
}
