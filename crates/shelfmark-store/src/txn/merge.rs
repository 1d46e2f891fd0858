//! Merges a page of the snapshot with the transaction's own writes.
//!
//! Invariant: the merged page is what a page of the store would be, had the writes been there.

use std::cmp::Ordering;
use std::iter::Peekable;

use bytes::Bytes;

use super::buffer::{Buffer, Change};
use crate::contract::{Direction, KeyRange, Page, Row, ScanLimits};

/// Merges the changes of `buffer` into `page`, which is the first page of `range`.
pub(super) fn merge(
    buffer: &Buffer,
    page: Page,
    range: &KeyRange,
    direction: Direction,
    limits: ScanLimits,
) -> Page {
    let covered = covered(range, page.next.as_ref(), direction);
    let mut changes = buffer.range(&covered).peekable();
    if changes.peek().is_none() {
        return page;
    }
    let Page { rows, next } = page;
    match direction {
        Direction::Ascending => fill(rows, changes, next, range, direction, limits),
        Direction::Descending => {
            drop(changes);
            fill(rows, buffer.range(&covered).rev().peekable(), next, range, direction, limits)
        }
    }
}

/// Returns the part of `range` that a page covers: all of it but the rest.
pub(super) fn covered(range: &KeyRange, next: Option<&KeyRange>, direction: Direction) -> KeyRange {
    let mut covered = range.clone();
    if let Some(next) = next {
        match direction {
            Direction::Ascending => covered.end = Some(next.start.clone()),
            Direction::Descending => {
                // What is left ends where this page began to answer.
                covered.start = next.end.clone().unwrap_or_else(|| covered.start.clone());
            }
        }
    }
    covered
}

fn fill<'a>(
    stored: Vec<Row>,
    mut changes: Peekable<impl Iterator<Item = (&'a Bytes, &'a Change)>>,
    next: Option<KeyRange>,
    range: &KeyRange,
    direction: Direction,
    limits: ScanLimits,
) -> Page {
    let mut merged = Page { rows: Vec::with_capacity(stored.len()), next };
    let mut stored = stored.into_iter().peekable();
    let mut bytes = 0;
    loop {
        let order = match (stored.peek(), changes.peek()) {
            (None, None) => return merged,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(row), Some((key, _))) => match direction {
                Direction::Ascending => row.key.cmp(key),
                Direction::Descending => (*key).cmp(&row.key),
            },
        };
        let row = match order {
            Ordering::Less => stored.next(),
            Ordering::Equal | Ordering::Greater => {
                if order == Ordering::Equal {
                    stored.next();
                }
                changes.next().and_then(|(key, change)| row_of(key, change, limits))
            }
        };
        let Some(row) = row else { continue };
        bytes += row.key.len() + row.value.len();
        merged.rows.push(row);
        if merged.rows.len() < limits.rows_max && bytes < limits.bytes_max {
            continue;
        }
        let is_more = stored.peek().is_some() || changes.peek().is_some();
        if let (true, Some(last)) = (is_more, merged.rows.last()) {
            merged.next = Some(range.after(&last.key, direction));
        }
        return merged;
    }
}

/// Returns the row that a change makes; a deletion makes none.
fn row_of(key: &Bytes, change: &Change, limits: ScanLimits) -> Option<Row> {
    let value = change.value.as_ref()?;
    let value = if limits.keys_only { Bytes::new() } else { value.clone() };
    Some(Row { key: key.clone(), value })
}
