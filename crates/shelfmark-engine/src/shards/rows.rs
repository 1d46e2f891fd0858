//! Counting the rows of a range, by their keys alone where a table has only short rows.

use bytes::Bytes;
use shelfmark_store::{Direction, KeyRange, ScanLimits, Snapshot};

use crate::catalogue::Table;
use crate::error::Result;
use crate::layout::without_chunk;
use crate::read::RowScan;

/// Walks over the keys (without chunk) of the rows of a range until `visit` says stop.
fn each_row(
    snapshot: &dyn Snapshot,
    table: &Table,
    range: KeyRange,
    mut visit: impl FnMut(&[u8]) -> bool,
) -> Result<()> {
    // Looked at after the snapshot was taken: the flag is set before the first such row is written.
    if table.shared.chunked.load(std::sync::atomic::Ordering::Acquire) {
        let mut rows = RowScan::new(&snapshot, range, Direction::Ascending, 1024);
        while let Some(row) = rows.next_row()? {
            if !visit(&row.key) {
                break;
            }
        }
        return Ok(());
    }
    let limits = ScanLimits { keys_only: true, ..ScanLimits::default() };
    let mut rest = (!range.is_empty()).then_some(range);
    while let Some(range) = rest.take() {
        let page = Snapshot::scan(snapshot, &range, Direction::Ascending, limits)?;
        for row in &page.rows {
            if !visit(without_chunk(&row.key)?) {
                return Ok(());
            }
        }
        rest = page.next;
    }
    Ok(())
}

/// Returns how many rows the range has.
pub(super) fn rows_in(snapshot: &dyn Snapshot, table: &Table, range: KeyRange) -> Result<u64> {
    let mut rows = 0;
    each_row(snapshot, table, range, |_| {
        rows += 1;
        true
    })?;
    Ok(rows)
}

/// Returns the key of the row at `position` from 0, without chunk.
pub(super) fn row_at(
    snapshot: &dyn Snapshot,
    table: &Table,
    range: KeyRange,
    position: u64,
) -> Result<Option<Bytes>> {
    let (mut left, mut found) = (position, None);
    each_row(snapshot, table, range, |key| {
        if left == 0 {
            found = Some(Bytes::copy_from_slice(key));
        }
        left = left.saturating_sub(1);
        found.is_none()
    })?;
    Ok(found)
}
