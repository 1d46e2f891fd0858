//! A cursor: a position in a table or index, from which a read goes on.
//!
//! A position, not a snapshot: it stays good after its row is gone and after a restart, and sees
//! what was written meanwhile.

use bytes::Bytes;

use crate::error::{Error, Result};

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
    /// * [`crate::ErrorKind::Invalid`]: these are no bytes of a cursor of this version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        match bytes.split_first() {
            Some((&VERSION, row_key)) if !row_key.is_empty() => {
                Ok(Self { row_key: Bytes::copy_from_slice(row_key) })
            }
            _ => Err(Error::invalid("this is no cursor; pass one that an answer gave back")),
        }
    }
}
