//! The order of the cells of a stored row, checked.

use bytes::Bytes;

use super::cell::CellKey;
use super::codec::{LISTED_PATH_BYTES_MAX, RowReader, StoredCell, each_cell_of_chunks, parts_of};
use crate::error::{Error, Result};

/// Checks that the cells of a row stand in order, and those of each chunk behind the first that the
/// head lists for it: what is written into single chunks relies on both.
///
/// # Errors
///
/// * `Corrupt`: they do not.
pub fn check_order(head: &Bytes, chunks: &[Bytes]) -> Result<()> {
    let mut reader = RowReader::new(head)?;
    let firsts = reader.firsts()?;
    let mut order = Order { last: None, least: None, is_kept: true };
    if firsts.is_empty() {
        reader.each_cell(head, chunks, |cell| order.next(cell))?;
    }
    let mut listed = firsts.into_iter();
    for part in parts_of(chunks) {
        // All chunks of a part are listed with its first cell.
        if let Some(first) = listed.by_ref().take(part.len()).min() {
            order.begin(first);
        }
        each_cell_of_chunks(part, &mut |cell| order.next(cell))?;
    }
    match order.is_kept {
        true => Ok(()),
        false => Err(Error::corrupt("the cells of a row stand out of order")),
    }
}

/// Checks that successive cells ascend.
struct Order {
    last: Option<CellKey>,
    /// The lower bound of the next cell, if a part begins.
    least: Option<CellKey>,
    is_kept: bool,
}

impl Order {
    /// Begins a part that is listed with this cell, which may be gone.
    fn begin(&mut self, listed: CellKey) {
        // Of a long path only the beginning is listed: that does not tell its place.
        if listed.path.len() < LISTED_PATH_BYTES_MAX {
            self.is_kept &= self.last.as_ref().is_none_or(|last| *last < listed);
        }
        self.least = Some(listed);
    }

    fn next(&mut self, cell: &StoredCell<'_>) {
        let key = CellKey { column: cell.column, path: cell.shared(cell.path) };
        self.is_kept &= self.last.as_ref().is_none_or(|last| *last < key);
        self.is_kept &= self.least.take().is_none_or(|least| least <= key);
        self.last = Some(key);
    }
}
