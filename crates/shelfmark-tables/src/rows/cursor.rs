//! A cursor: a position in a table or index, from which a read goes on.
//!
//! A position, not a snapshot: it stays good after its row is gone and after a restart, and sees
//! what was written meanwhile.

use std::ops::Range;

use bytes::Bytes;
use shelfmark_keycode::take_ordered_varint;

use shelfmark_model::Item;

use crate::catalogue::Table;
use crate::error::{Error, ErrorKind, Result};

const VERSION: u8 = 1;

/// Version 2 is version 1 after the number of rows of its partition answered before (8 bytes).
const VERSION_TAKEN: u8 = 2;

/// The position just behind a row, in the direction of the read that made it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// The key of the row without its chunk.
    row_key: Bytes,
    /// The number of rows of its partition that were answered, for reads that limit them.
    taken: u64,
}

impl Cursor {
    pub(crate) fn behind(row_key: Bytes) -> Self {
        Self { row_key, taken: 0 }
    }

    pub(crate) fn with_taken(self, taken: u64) -> Self {
        Self { taken, ..self }
    }

    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    pub(crate) fn row_key(&self) -> &Bytes {
        &self.row_key
    }

    /// Returns where a cursor of a table's former ids is under the prefix of its keys today.
    ///
    /// A truncation gives new ids, and a read that it meets goes on where it was: in an empty table that
    /// is its end.
    pub(crate) fn moved_to(&self, prefix: &[u8], former_ids: &Range<u64>) -> Option<Self> {
        let (tree, mut rest) = self.row_key.split_first()?;
        let id = take_ordered_varint(&mut rest).ok()?;
        let is_former = prefix.first() == Some(tree) && former_ids.contains(&id);
        is_former.then(|| Self { row_key: [prefix, rest].concat().into(), taken: self.taken })
    }

    /// Returns the cursor as opaque bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.row_key.len() + 9);
        if self.taken == 0 {
            bytes.push(VERSION);
        } else {
            bytes.push(VERSION_TAKEN);
            bytes.extend_from_slice(&self.taken.to_be_bytes());
        }
        bytes.extend_from_slice(&self.row_key);
        bytes
    }

    /// Reads a cursor back. That it belongs to the range being read is checked by the read.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: these are no bytes of a cursor of this version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (taken, row_key) = match bytes.split_first() {
            Some((&VERSION, row_key)) => (0, row_key),
            Some((&VERSION_TAKEN, rest)) => match rest.split_first_chunk::<8>() {
                Some((taken, row_key)) => (u64::from_be_bytes(*taken), row_key),
                None => (0, Default::default()),
            },
            _ => (0, Default::default()),
        };
        if row_key.is_empty() {
            return Err(Error::invalid("this is no cursor; pass one that an answer gave back"));
        }
        Ok(Self { row_key: Bytes::copy_from_slice(row_key), taken })
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
        if let Some(mapping) = &self.mapped {
            return Ok(Cursor::behind(mapping.row_key(&base)?.into()));
        }
        if let Some(readable) = &self.readable {
            return Ok(Cursor::behind(readable.row_key(&base)?.into()));
        }
        let Some(name) = index else { return Ok(Cursor::behind(self.key.row_key(&base)?.into())) };
        let index = self.index(name).ok_or_else(|| no_index(self, name))?;
        let entry = index.entry_key(self, &base, key)?.ok_or_else(|| {
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
        if let Some(mapping) = &self.mapped {
            return mapping.position(&cursor.row_key);
        }
        if let Some(readable) = &self.readable {
            return readable.position(cursor);
        }
        let spec = match index {
            None => &self.key,
            Some(name) => &self.index(name).ok_or_else(|| no_index(self, name))?.key,
        };
        let columns = spec
            .decode(&cursor.row_key)
            .map_err(|_| Error::invalid("the cursor belongs to another table or index"))?
            .columns;
        Ok(columns.into_iter().collect())
    }
}

fn no_index(table: &Table, name: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("table {} has no index {name}", table.schema.name))
}
