//! Counts the rows of a range and their bytes, and finds where to cut it.
//!
//! Rows are counted by their keys alone where bytes do not matter and a table has only short rows.

use bytes::Bytes;
use shelfmark_records::items::{RecordKind, kind_of};
use shelfmark_records::keys::without_chunk;
use shelfmark_store::{Direction, KeyRange, ScanLimits, Snapshot};

use crate::catalogue::Table;
use crate::error::Result;

/// The number of rows, and the bytes of their keys and records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sum {
    /// The rows.
    pub rows: u64,
    /// 0 where bytes are not counted.
    pub bytes: u64,
}

/// A row as a walk meets it: the bytes of the row before it are known by then.
struct Begun<'r> {
    /// Its key, without chunk.
    key: &'r [u8],
    /// Rows before it, and their bytes.
    before: Sum,
}

/// Walks over the rows of a range until `visit` says stop. Returns the sum of those before the one
/// that it stopped at.
fn each_row(
    snapshot: &dyn Snapshot,
    table: &Table,
    range: KeyRange,
    with_bytes: bool,
    mut visit: impl FnMut(&Begun<'_>) -> bool,
) -> Result<Sum> {
    // Looked at after the snapshot was taken: the flag is set before the first such row is written.
    let has_chunks = table.shared.chunked.load(std::sync::atomic::Ordering::Acquire);
    let keys_only = !with_bytes && !has_chunks;
    let limits = ScanLimits { keys_only, ..ScanLimits::default() };
    let mut sum = Sum::default();
    let mut rest = (!range.is_empty()).then_some(range);
    while let Some(range) = rest.take() {
        let page = Snapshot::scan(snapshot, &range, Direction::Ascending, limits)?;
        for row in &page.rows {
            if keys_only || kind_of(&row.value)? != RecordKind::Chunk {
                if !visit(&Begun { key: without_chunk(&row.key)?, before: sum }) {
                    return Ok(sum);
                }
                sum.rows += 1;
            }
            if with_bytes {
                sum.bytes += (row.key.len() + row.value.len()) as u64;
            }
        }
        rest = page.next;
    }
    Ok(sum)
}

/// Returns how many rows the range has, and their bytes if the table counts them.
///
/// # Errors
///
/// * [`crate::ErrorKind::Corrupt`]: a record cannot be read. Run `verify`.
/// * Those of the store.
pub fn sum_of(snapshot: &dyn Snapshot, table: &Table, range: KeyRange) -> Result<Sum> {
    each_row(snapshot, table, range, table.counts_bytes(), |_| true)
}

/// Returns the key of the row at `position` from 0, without chunk.
pub(super) fn row_at(
    snapshot: &dyn Snapshot,
    table: &Table,
    range: KeyRange,
    position: u64,
) -> Result<Option<Bytes>> {
    let mut found = None;
    each_row(snapshot, table, range, false, |row| {
        if row.before.rows == position {
            found = Some(Bytes::copy_from_slice(row.key));
        }
        found.is_none()
    })?;
    Ok(found)
}

/// Returns the key (without chunk) of the row before which about half of the range's `bytes` lie, at
/// least one row on either side; `None` if the range has no two rows.
pub(super) fn row_at_half(
    snapshot: &dyn Snapshot,
    table: &Table,
    range: KeyRange,
    bytes: u64,
) -> Result<Option<Bytes>> {
    let mut nearest: Option<(u64, Bytes)> = None;
    each_row(snapshot, table, range, true, |row| {
        if row.before.rows == 0 {
            return true;
        }
        let distance = bytes.abs_diff(row.before.bytes.saturating_mul(2));
        let is_nearer = nearest.as_ref().is_none_or(|(least, _)| distance < *least);
        if is_nearer {
            nearest = Some((distance, Bytes::copy_from_slice(row.key)));
        }
        is_nearer
    })?;
    Ok(nearest.map(|(_, key)| key))
}
