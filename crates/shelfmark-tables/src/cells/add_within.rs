//! Adds to counters of a row without excluding others that add to it.
//!
//! Where several servers share a store, a counter that all of them add to would be one row that every
//! commit reads and writes. A row whose counters are all there is changed by the store itself instead,
//! which adds to numbers within values ([`shelfmark_store::Commit::additions`]).
//!
//! What it is not: the way of a row that has to be made, or of one that a deletion concerns. Those are
//! read, validated and written, which meets every addition.
//!
//! Invariant: after it a row is what reading, adding and writing would have made of it, but for the
//! timestamps of its counters, which stay.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_records::cells::{Cell, CellRow, Content, Timestamp};
use shelfmark_records::keys::chunk_key;
use shelfmark_store::AddWithin;

use super::find::Target;
use super::request::CellOperation;
use crate::error::Result;
use crate::rows::chunk_count;

/// Cells of a row beyond which it takes the other way: each is looked for in the whole row.
const CELLS_MAX: usize = 32;
/// Two numbers that differ in each byte, to find where one is kept.
const MARKS: [[u8; 8]; 2] = [[0x5A; 8], [0xA5; 8]];

/// Adds to counters that are all there. Returns false if the row takes the other way; nothing was
/// written then.
pub(super) fn add_within(
    target: &Target<'_>,
    key: &[u8],
    operations: &[CellOperation],
    deleted_at: Option<Timestamp>,
) -> Result<bool> {
    if target.purged_up_to(key)?.is_some() {
        return Ok(false);
    }
    let head_key = Bytes::from(chunk_key(key, 0));
    // Not validated: the store compares what is not a number with what was seen.
    let base = Arc::clone(target.writer.buffer.borrow().base());
    let Some(head) = base.get(&head_key)? else { return Ok(false) };
    if chunk_count(&head)? != 0 {
        return Ok(false);
    }
    let row = CellRow::decode(&head, &[])?;
    let mut forgotten = row.clone();
    target.forget(&mut forgotten);
    if let Some(deleted_at) = deleted_at {
        forgotten.delete_up_to(deleted_at);
    }
    if forgotten != row || row.cells.len() > CELLS_MAX || row.encode().head != head {
        return Ok(false);
    }
    let Some(deltas) = deltas(&row, operations) else { return Ok(false) };
    let addition = AddWithin { key: head_key, seen: head, deltas };
    target.writer.buffer.borrow_mut().add_within(addition);
    Ok(true)
}

/// Returns where the row's counters are in its head, and what is added to each; `None` if one that is
/// added to is not there.
fn deltas(row: &CellRow, operations: &[CellOperation]) -> Option<Vec<(u32, i64)>> {
    let mut sums: Vec<(u32, i64)> = Vec::with_capacity(operations.len());
    for operation in operations {
        let CellOperation::Add { column, delta } = operation else { return None };
        match sums.iter_mut().find(|(own, _)| own == column) {
            Some((_, sum)) => *sum = sum.wrapping_add(*delta),
            None => sums.push((*column, *delta)),
        }
    }
    let columns: Vec<u32> = row.cells.keys().map(|key| key.column).collect();
    if sums.iter().any(|(column, _)| !columns.contains(column)) {
        return None;
    }
    let delta_of = |column: u32| sums.iter().find(|(own, _)| *own == column).map_or(0, |own| own.1);
    columns.iter().map(|column| Some((place(row, *column)?, delta_of(*column)))).collect()
}

/// Returns where the number of a column is in the row's head.
fn place(row: &CellRow, column: u32) -> Option<u32> {
    let [one, other] = MARKS.map(|mark| {
        let mut marked = row.clone();
        let (_, cell) = marked.cells.iter_mut().find(|(key, _)| key.column == column)?;
        let Cell { content: Content::Live { value, expiry: None }, .. } = cell else { return None };
        if value.len() != mark.len() {
            return None;
        }
        *value = Bytes::copy_from_slice(&mark);
        let stored = marked.encode();
        stored.chunks.is_empty().then_some(stored.head)
    });
    let (one, other) = (one?, other?);
    let at = one.iter().zip(&other).position(|(one, other)| one != other)?;
    let is_whole = one.get(at..at + MARKS[0].len()) == Some(&MARKS[0])
        && other.get(at..at + MARKS[1].len()) == Some(&MARKS[1])
        && one.get(at + MARKS[0].len()..) == other.get(at + MARKS[1].len()..);
    is_whole.then_some(u32::try_from(at).ok()?)
}
