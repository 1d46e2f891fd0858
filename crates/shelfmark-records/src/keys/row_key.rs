//! The key of a row that was read: that of its head, without the number of the chunk.
//!
//! Cutting the number off a shared buffer would cost an allocation for each row that is walked over,
//! so it stays and is not shown.

use std::ops::Deref;

use bytes::Bytes;

use super::keyspec::without_chunk;
use crate::error::Result;

/// A row's key. Dereferences to it, without chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowKey {
    /// With the number of the chunk, which takes one byte.
    head: Bytes,
}

impl RowKey {
    /// Takes the stored key of a row's head.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: it is the key of no head.
    pub fn of_head(key: Bytes) -> Result<Self> {
        without_chunk(&key)?;
        Ok(Self { head: key })
    }

    /// Returns the buffer that the key lies in, for parts that share it.
    pub fn buffer(&self) -> &Bytes {
        &self.head
    }

    /// Returns the key as bytes of its own length.
    pub fn to_bytes(&self) -> Bytes {
        self.head.slice(..self.len())
    }
}

impl Deref for RowKey {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.head.split_last().map_or(&[], |(_, row)| row)
    }
}
