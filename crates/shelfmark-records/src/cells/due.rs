//! Due times of tables of cells: when dead cells and tombstones may be forgotten.

use bytes::Bytes;
use shelfmark_keycode::put_ordered_varint;

use super::layout::CellsLayout;
use crate::error::{Error, Result};
use crate::keys::Tree;

/// Dead cells of a row.
pub const ROW: u8 = 0;
/// A tombstone.
pub const TOMBSTONE: u8 = 1;

impl CellsLayout {
    /// Reads what of a due time comes behind the table's id.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: it names neither a row nor a tombstone.
    pub fn check_due(&self, rest: &[u8]) -> Result<()> {
        match rest.split_first() {
            Some((&ROW, name)) => self.keys.parse_rest(name).map(drop),
            Some((&TOMBSTONE, [_, _, ..])) => Ok(()),
            _ => Err(Error::corrupt("a due time of neither a row nor a tombstone")),
        }
    }

    /// Returns what of a row's due time comes behind the table's id, from the row's key without
    /// chunk.
    pub fn due_of_row(&self, row_key: &[u8]) -> Vec<u8> {
        named(ROW, row_key.get(self.keys.prefix.len()..).unwrap_or_default())
    }

    /// Works as [`CellsLayout::due_of_row`], of a tombstone, from its key behind `[tombstones][table id]`; and its
    /// second, from that at which its deletion happened.
    pub fn due_of_tombstone(&self, rest: &[u8], happened_at: u64) -> (Vec<u8>, u64) {
        let second = happened_at.saturating_add(self.grace_seconds).saturating_add(1);
        (named(TOMBSTONE, rest), second)
    }
}

/// Returns the key of a due time, from what of it comes behind the table's id.
pub fn due_key(table: u64, second: u64, rest: &[u8]) -> Bytes {
    let mut key = vec![Tree::Due as u8];
    key.extend_from_slice(&second.to_be_bytes());
    put_ordered_varint(&mut key, table);
    key.extend_from_slice(rest);
    key.into()
}

fn named(kind: u8, rest: &[u8]) -> Vec<u8> {
    let mut name = Vec::with_capacity(rest.len() + 1);
    name.push(kind);
    name.extend_from_slice(rest);
    name
}
