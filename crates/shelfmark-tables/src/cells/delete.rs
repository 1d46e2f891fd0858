//! Deletes a range of rows: they go away in the same commit, or, when they are too many, are hidden
//! by it and go away in the background, the rows of views with them (`purging`).
//!
//! The caller holds the partition exclusively, so no row of it is written between the reading and
//! the queueing.

use bytes::Bytes;
use shelfmark_records::cells::tombstones::RangeTombstone;
use shelfmark_records::cells::{CellRow, Deletion, Timestamp};
use shelfmark_records::keys::chunk_key;
use shelfmark_store::{Direction, KeyRange};

use super::find::Target;
use super::tombstones;
use crate::error::Result;
use crate::rows::RowScan;

/// Most rows deleted in the commit of a deletion; more go in the background.
///
/// Source: ours; with their index entries well within the smallest commit of a driver.
const ROWS_MAX: usize = 512;

/// Most bytes of rows read for it.
const BYTES_MAX: usize = 4 * 1024 * 1024;

/// Deletes what was written up to `timestamp` in a range of keys of one partition.
pub(super) fn range(target: &Target<'_>, range: KeyRange, timestamp: Timestamp) -> Result<()> {
    if range.is_empty() {
        return Ok(());
    }
    target.forget_kept();
    let deletion = Deletion { timestamp, at_seconds: target.now };
    let rest_of = |key: &Bytes| Bytes::copy_from_slice(target.rest_of(key));
    let end = range.end.as_ref().map_or_else(Bytes::new, rest_of);
    let tombstone = RangeTombstone { start: rest_of(&range.start), end, deletion };
    target.note_deletion(timestamp);
    let laid = tombstones::put_range_tombstone(&target.writer.buffer, target.table.id, &tombstone)?;
    target.table.shared.cells.raise_levels(laid.level + 1);
    for (key, at_seconds) in laid.keys {
        target.put_tombstone_due(&key, at_seconds);
    }
    let is_done = rows(target, range, timestamp)?.is_none();
    if !is_done {
        target.table.shared.cells.begin_purges();
        tombstones::put_purge(&mut target.writer.buffer.borrow_mut(), target.table.id, &tombstone);
        target.purges.forget();
    }
    Ok(())
}

/// Deletes the rows of the beginning of a range, as far as one commit goes. Returns what is left.
pub(super) fn rows(
    target: &Target<'_>,
    range: KeyRange,
    timestamp: Timestamp,
) -> Result<Option<KeyRange>> {
    // Of each row a row of every view may go with it.
    let rows_max = (ROWS_MAX / (1 + target.views.len())).max(1);
    let mut bytes = 0;
    let mut found = Vec::new();
    {
        let mut scan =
            RowScan::new(&target.writer.buffer, range.clone(), Direction::Ascending, ROWS_MAX);
        while let Some(raw) = scan.next_row()? {
            if found.len() >= rows_max || bytes > BYTES_MAX {
                let rest = KeyRange { start: raw.key.to_bytes(), end: range.end.clone() };
                delete_found(target, found, timestamp)?;
                return Ok(Some(rest));
            }
            bytes += raw.head.len() + raw.chunks.iter().map(Bytes::len).sum::<usize>();
            found.push(raw);
        }
    }
    delete_found(target, found, timestamp)?;
    Ok(None)
}

fn delete_found(
    target: &Target<'_>,
    rows: Vec<crate::rows::RawRow>,
    timestamp: Timestamp,
) -> Result<()> {
    for raw in rows {
        let stored = CellRow::decode(&raw.head, &raw.chunks)?;
        let place = target.layout.keys.parse(&raw.key)?;
        // Not read through the buffer: the latch of the partition stands for it.
        target.writer.buffer.borrow().validate(&chunk_key(&raw.key, 0));
        let found = target.found(place, raw.key.to_vec(), Some(stored), raw.chunks)?;
        let mut after = found.to_row();
        after.delete_up_to(timestamp);
        target.put(&found, after)?;
    }
    Ok(())
}
